//! The one loop: messages in, commands out, one drawing for all that has come in meanwhile. The only place that sets up
//! the terminal, and the one that gives it back.

mod input;
mod tty;

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use offshoot_session::clock::Millis;

use super::cmd::Cmd;
use super::model::{Model, Overlay};
use super::msg::Msg;
use super::screen::Screen;
use super::update::update;
use super::view;
use crate::message::Level;

/// How long a drawing may wait for more to come in.
const TOGETHER: Duration = Duration::from_millis(8);

/// The two ends of the way to the loop.
#[derive(Debug)]
pub struct Inbox {
    /// For all who tell the loop something.
    pub sender: Sender<Msg>,
    /// For the loop.
    pub receiver: Receiver<Msg>,
}

/// The program around the front end.
pub trait Program {
    /// What time it is.
    fn now(&self) -> Millis;

    /// Does what the loop itself does not; what comes of it arrives as a message.
    fn take(&mut self, cmd: Cmd);

    /// Gives the terminal to the shell, and returns when the user comes back.
    ///
    /// # Errors
    /// There is no shell to come back from.
    fn stop(&mut self) -> io::Result<()>;

    /// Has the user write on a text in an editor of his own; `None`: the text stays as it was.
    ///
    /// # Errors
    /// There is no editor, or it fails.
    fn edit(&mut self, text: &str) -> io::Result<Option<String>>;
}

/// Runs the front end until it ends, and gives the terminal back. `open` opens the terminal for writing.
///
/// # Errors
/// The terminal cannot be used.
pub fn run(
    mut model: Model,
    inbox: &Inbox,
    program: &mut dyn Program,
    open: fn() -> Box<dyn Write>,
) -> io::Result<Model> {
    tty::watch_panics(open, &inbox.sender);
    let guard = tty::Guard::enter(open)?;
    let (size, cursor) = tty::place()?;
    update(&mut model, Msg::Resized(size));
    let mut screen = Screen::new(open(), size, cursor)?;
    let keys = input::Keys::start(inbox.sender.clone())?;
    let mut hands =
        Hands { screen: &mut screen, keys: &keys, guard: &guard, program, is_stale: false, is_covered: false };
    let ran = hands.work(&mut model, inbox);
    let closed = screen.close();
    drop(guard);
    ran.and(closed).map(|()| model)
}

/// What does things.
struct Hands<'a> {
    screen: &'a mut Screen<Box<dyn Write>>,
    keys: &'a input::Keys,
    guard: &'a tty::Guard,
    program: &'a mut dyn Program,
    /// The size, or how things are shown, is another.
    is_stale: bool,
    /// Something has taken the whole screen since it was printed last.
    is_covered: bool,
}

impl Hands<'_> {
    fn work(&mut self, model: &mut Model, inbox: &Inbox) -> io::Result<()> {
        self.draw(model)?;
        while !model.is_ending {
            let mut next = Some(match inbox.receiver.try_recv() {
                Ok(msg) => msg,
                Err(_) if model.has_work => Msg::Idle,
                Err(_) => match inbox.receiver.recv() {
                    Ok(msg) => msg,
                    Err(_) => return Ok(()),
                },
            });
            while let Some(msg) = next {
                if matches!(msg, Msg::Key(_) | Msg::Resized(_)) {
                    // What comes of it may be another look of what is printed already.
                    self.print(model)?;
                }
                update(model, Msg::Now(self.program.now()));
                for cmd in update(model, msg) {
                    self.act(model, cmd)?;
                }
                next = inbox.receiver.recv_timeout(TOGETHER).ok().filter(|_| !model.is_ending);
            }
            self.draw(model)?;
        }
        Ok(())
    }

    fn draw(&mut self, model: &mut Model) -> io::Result<()> {
        if model.overlay.as_ref().is_some_and(Overlay::is_full) {
            self.is_covered = true;
            view::prepare_full(model);
            self.screen.draw_full(|frame| view::full(model, frame))?;
            return self.screen.send();
        }
        self.screen.leave_full()?;
        if std::mem::take(&mut self.is_stale) {
            self.repaint(model)?;
        }
        self.is_covered = false;
        self.print(model)?;
        let bottom = view::bottom(model);
        self.screen.draw(bottom.height(), |frame| bottom.draw(model, frame))?;
        self.screen.send()
    }

    /// Prints what is finished, unless the screen is covered.
    fn print(&mut self, model: &mut Model) -> io::Result<()> {
        if self.is_covered {
            return Ok(());
        }
        let laid = view::print(model);
        self.screen.print(&laid.lines)
    }

    fn act(&mut self, model: &mut Model, cmd: Cmd) -> io::Result<()> {
        match cmd {
            Cmd::Repaint => {
                // Several sizes on the way to one are drawn once.
                self.is_stale = true;
                self.screen.resize_full(model.size);
                Ok(())
            }
            Cmd::Edit(text) => self.edit(model, &text),
            Cmd::Suspend => self.suspend(model),
            Cmd::Copy(text) => self.screen.put(tty::Clipboard(&text)),
            Cmd::Quit => Ok(()),
            cmd => {
                self.program.take(cmd);
                Ok(())
            }
        }
    }

    fn repaint(&mut self, model: &mut Model) -> io::Result<()> {
        let waits = model.live.finished.waits();
        let mut laid = view::print_again(model);
        // What of an answer under way has scrolled away is not said again.
        if !self.is_covered && !waits {
            laid.append(view::print(model));
        }
        self.screen.repaint(model.size, &laid.lines)
    }

    fn suspend(&mut self, model: &mut Model) -> io::Result<()> {
        let stopped = self.aside(model, |program| program.stop())?;
        if let Err(error) = stopped {
            update(model, Msg::Notice(Level::Warning, error.to_string()));
        }
        Ok(())
    }

    fn edit(&mut self, model: &mut Model, text: &str) -> io::Result<()> {
        match self.aside(model, |program| program.edit(text))? {
            Ok(written) => {
                for cmd in update(model, Msg::Written(written)) {
                    self.act(model, cmd)?;
                }
            }
            Err(error) => {
                let text = format!("the text could not be written on in the editor: {error}");
                update(model, Msg::Notice(Level::Error, text));
            }
        }
        Ok(())
    }

    /// Gives the terminal to another program for a while.
    fn aside<T>(&mut self, model: &mut Model, with: impl FnOnce(&mut dyn Program) -> T) -> io::Result<T> {
        self.screen.close()?;
        self.keys.pause();
        self.guard.reset()?;
        let done = with(self.program);
        self.guard.set()?;
        let (size, cursor) = tty::place()?;
        update(model, Msg::Resized(size));
        self.screen.begin_again(size, cursor)?;
        self.keys.go_on();
        Ok(done)
    }
}
