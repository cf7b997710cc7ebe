//! The one loop: messages in, commands out, one drawing for all that has come in meanwhile. The only place that sets up
//! the terminal, and the one that gives it back.

mod input;
mod tty;

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender};
use std::time::Duration;

use offshoot_session::clock::Millis;
use ratatui::layout::Size;

use super::cmd::Cmd;
use super::model::{Item, Model};
use super::msg::{Level, Msg};
use super::screen::Screen;
use super::update::update;
use super::view;

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
    model.size = size;
    let mut screen = Screen::new(open(), size, cursor)?;
    let keys = input::Keys::start(inbox.sender.clone())?;
    let mut hands = Hands { screen: &mut screen, keys: &keys, guard: &guard, program };
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
}

impl Hands<'_> {
    fn work(&mut self, model: &mut Model, inbox: &Inbox) -> io::Result<()> {
        self.draw(model)?;
        while !model.is_ending {
            let Ok(first) = inbox.receiver.recv() else { return Ok(()) };
            let mut next = Some(first);
            while let Some(msg) = next {
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
        let finished = model.finished.take();
        self.screen.print(&view::lines(model, finished.iter()))?;
        let bottom = view::bottom(model);
        self.screen.draw(bottom.height(), |frame| bottom.draw(frame))?;
        self.screen.send()
    }

    fn act(&mut self, model: &mut Model, cmd: Cmd) -> io::Result<()> {
        match cmd {
            Cmd::Repaint => self.repaint(model),
            Cmd::Suspend => self.suspend(model),
            Cmd::Copy(text) => self.screen.put(tty::Clipboard(&text)),
            Cmd::Quit => Ok(()),
            cmd => {
                self.program.take(cmd);
                Ok(())
            }
        }
    }

    fn repaint(&mut self, model: &Model) -> io::Result<()> {
        let Size { width, height } = model.size;
        let mut items: Vec<&Item> = model.finished.printed().rev().take(usize::from(height)).collect();
        items.reverse();
        let lines = view::lines(model, items.into_iter());
        self.screen.repaint(Size { width, height }, &lines)
    }

    fn suspend(&mut self, model: &mut Model) -> io::Result<()> {
        self.screen.close()?;
        self.keys.pause();
        self.guard.reset()?;
        let stopped = self.program.stop();
        self.guard.set()?;
        let (size, cursor) = tty::place()?;
        model.size = size;
        self.screen.begin_again(size, cursor)?;
        self.keys.go_on();
        if let Err(error) = stopped {
            update(model, Msg::Notice(Level::Warning, error.to_string()));
        }
        Ok(())
    }
}
