//! The event loop. It takes messages, runs commands, and draws once for each batch of messages. Only this module sets
//! up the terminal and gives it back.

mod decoder;
mod source;
mod tty;
mod input;

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use offshoot_session::clock::Millis;
use offshoot_session::transcript::Level;
use ratatui::layout::{Position, Rect, Size};

use super::cmd::{Cmd, ProgramTask, ScreenTask};
use super::model::{Model, Overlay};
use super::msg::{ModelAccess, Msg};
use super::pictures::Pictures;
use super::screen::{OnResize, Screen};
use super::update::{can_wait, changes_screen, expect_resizes, update};
use super::view;
use crate::image;
use crate::slash::AuthAction;

/// How long a drawing may wait for more messages that are not keys, in milliseconds.
const TOGETHER: Millis = 33;
/// After so many milliseconds a picture is on the screen, however slow the line is.
const SURELY_SHOWN: Millis = 10_000;

/// The two ends of the loop's message channel.
#[derive(Debug)]
pub struct Inbox {
    pub sender: Sender<Msg>,
    pub receiver: Receiver<Msg>,
}

/// The program around the front end.
pub trait Program {
    fn now(&self) -> Millis;

    /// Starts a task. Its result arrives as a message.
    fn take(&mut self, task: ProgramTask);

    /// Gives the terminal to the shell, and returns when the program resumes.
    fn stop(&mut self) -> io::Result<()>;

    /// Opens a text in the user's editor, which the setting `editor` names. `None` means that the text is unchanged.
    fn edit(&mut self, text: &str, editor: Option<&str>) -> io::Result<Option<String>>;

    /// Keeps or removes a provider's key. Whether something has changed.
    fn auth(&mut self, action: AuthAction, provider: Option<&str>) -> io::Result<bool>;

    /// Gives the terminal to a group of processes of extensions, and returns when it is back. The number names the wish.
    fn lend(&mut self, wish: u64, group: u32) -> io::Result<()>;
}

/// Runs the front end until it ends, and gives the terminal back. `open` opens the terminal for writing.
pub fn run(
    mut model: Model,
    inbox: &Inbox,
    program: &mut dyn Program,
    open: fn() -> Box<dyn Write>,
) -> io::Result<Model> {
    tty::watch_panics(open, &inbox.sender);
    let guard = tty::Guard::enter(open)?;
    let (woken, wake) = io::pipe()?;
    let mut source = source::Source::open(woken)?;
    if model.preferences.minds_background() {
        // The answer comes before that to the cursor query, which every terminal answers. So a missing answer costs no
        // time.
        guard.send(tty::AskBackground)?;
    }
    if model.preferences.answers_modes {
        guard.send(tty::AskPasteMarks)?;
    }
    source.expect_typed_ahead();
    let size = tty::columns_and_rows()?;
    let cursor = ask_cursor(&mut source, &guard);
    update(&mut model, Msg::Cell(tty::cell()));
    update(&mut model, Msg::Resized(size));
    update(&mut model, Msg::Now(program.now()));
    expect_resizes(&mut model);
    begin(&mut model, inbox, &mut source)?;
    let on_resize = OnResize { rewraps: model.preferences.rewraps, is_late: model.preferences.notifier.is_in_tmux };
    let mut screen = Screen::new(open(), size, cursor.unwrap_or(tty::lowest(size)), on_resize)?;
    let keys = input::Keys::start(inbox.sender.clone(), source, wake)?;
    let mut hands = Hands {
        screen: &mut screen,
        keys: &keys,
        guard: &guard,
        program,
        is_resized: false,
        tells_cursor: cursor.is_some(),
        was_stopped: false,
        is_covered: false,
        shows_work: false,
        title: None,
        pictures: Pictures::default(),
        shown: Vec::new(),
    };
    let ran = hands.work(&mut model, inbox).and_then(|()| hands.tell_work(false)).and_then(|()| hands.tell_title(None));
    let rest = view::rest(&mut model);
    screen.print(&rest, &[]);
    let closed = screen.close();
    let settled = screen.awaits_answers().then(|| settle(&keys, &guard));
    if model.is_choosing && settled.is_none() {
        // Another front end follows and needs the keys.
        keys.pause();
    }
    drop(guard);
    ran.and(closed).map(|()| model)
}

/// The next message. While something is awaited, there always is one. `None` if no sender is left.
fn next(model: &Model, inbox: &Inbox) -> Option<Msg> {
    match inbox.receiver.try_recv() {
        Ok(msg) => Some(msg),
        Err(_) if model.has_work() => Some(Msg::Idle),
        Err(_) => match model.next_look().map(|wait| inbox.receiver.recv_timeout(Duration::from_millis(wait))) {
            None => inbox.receiver.recv().ok(),
            Some(Ok(msg)) => Some(msg),
            Some(Err(RecvTimeoutError::Timeout)) => Some(Msg::Idle),
            Some(Err(RecvTimeoutError::Disconnected)) => None,
        },
    }
}

/// Takes the pending input, so that the first drawing has the right colours.
fn begin(model: &mut Model, inbox: &Inbox, source: &mut source::Source) -> io::Result<()> {
    for msg in source.next(0)?.into_iter().filter_map(input::msg) {
        if matches!(msg, Msg::Background(_)) {
            update(model, msg);
        } else {
            // The loop owns the receiver, so this cannot fail.
            drop(inbox.sender.send(msg));
        }
    }
    Ok(())
}

/// Where the cursor is. `None` if the terminal does not say it.
fn ask_cursor(source: &mut source::Source, guard: &tty::Guard) -> Option<Position> {
    source.cursor(|| guard.send(tty::AskCursor)).ok().flatten()
}

/// Stops reading keys once the terminal has answered what it was asked: whoever has it next would take the answers for keys.
fn settle(keys: &input::Keys, guard: &tty::Guard) {
    keys.pause();
    // The answer to the last question comes last.
    let _last = ask_cursor(&mut keys.source(), guard);
}

/// The remaining time to wait for messages. `None` if it is time to draw, or if the clock was set back.
fn left(begun: Millis, now: Millis) -> Option<Duration> {
    let left = u64::try_from(TOGETHER - (now - begun)).ok().filter(|_| now >= begun)?;
    (left > 0).then(|| Duration::from_millis(left))
}

/// What messages did to the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScreenState {
    AsBefore,
    Changed,
}

/// Runs the commands of the front end.
struct Hands<'a> {
    screen: &'a mut Screen<Box<dyn Write>>,
    keys: &'a input::Keys,
    guard: &'a tty::Guard,
    program: &'a mut dyn Program,
    /// Whether the live rows still have to be resized.
    is_resized: bool,
    /// Whether the terminal reports the position of its cursor.
    tells_cursor: bool,
    /// Whether the program has suspended itself. A message that it continues will follow.
    was_stopped: bool,
    /// Whether something has taken the whole screen since the last printing.
    is_covered: bool,
    shows_work: bool,
    /// The title of the window, while its own is put aside.
    title: Option<String>,
    pictures: Pictures,
    shown: Vec<(Rect, Arc<str>)>,
}

impl Hands<'_> {
    fn work(&mut self, model: &mut Model, inbox: &Inbox) -> io::Result<()> {
        self.draw(model)?;
        while !model.is_ending {
            let Some(first) = next(model, inbox) else { return Ok(()) };
            if self.together(model, inbox, first)? == ScreenState::Changed {
                self.draw(model)?;
            }
        }
        self.uncover(model)
    }

    /// Applies a message and the messages that follow soon, for one drawing. The effect of a key is drawn at once.
    /// Neither a long answer nor a long search delays the drawing.
    fn together(&mut self, model: &mut Model, inbox: &Inbox, first: Msg) -> io::Result<ScreenState> {
        let begun = self.program.now();
        let mut state = ScreenState::AsBefore;
        let (mut next, mut is_burst) = (Some(first), true);
        while let Some(msg) = next {
            if matches!(msg, Msg::Resized(_)) {
                update(model, Msg::Cell(tty::cell()));
            }
            update(model, Msg::Now(self.program.now()));
            is_burst &= can_wait(model, &msg);
            if changes_screen(model, &msg) {
                state = ScreenState::Changed;
            }
            if matches!(msg, Msg::PictureShown) {
                self.screen.answered(self.program.now());
            }
            let is_idle = matches!(msg, Msg::Idle);
            for cmd in update(model, msg) {
                self.act(model, cmd)?;
            }
            let left = left(begun, self.program.now()).filter(|_| !model.is_ending);
            next = left.and_then(|left| match is_burst {
                true => inbox.receiver.recv_timeout(left).ok(),
                false => inbox.receiver.try_recv().ok().or((is_idle && model.has_work()).then_some(Msg::Idle)),
            });
        }
        Ok(state)
    }

    fn draw(&mut self, model: &mut Model) -> io::Result<()> {
        self.tell_work(model.preferences.settings.shows_progress && model.is_working)?;
        self.tell_title(view::title::title(model))?;
        if model.is_covered() || self.lends_screen(model) {
            if !std::mem::replace(&mut self.is_covered, true) && std::mem::take(&mut self.is_resized) {
                self.resize(model)?;
            }
            self.screen.resize_full(model.size);
            self.keys.resume_reading();
            return self.draw_full(model);
        }
        self.uncover(model)?;
        if Self::newest_size(model) != model.size {
            // The message of the new size is on its way. Rows for another one would miss their place, or scroll away on a lower terminal.
            self.keys.look();
            return Ok(());
        }
        let mut laid = view::print(model);
        let insets =
            self.pictures.insets(&mut laid, &model.preferences.theme, (model.preferences.protocol(), model.cell));
        self.screen.print(&laid.lines, &insets);
        if self.screen.draw(&view::bottom(model).draw(model))? {
            model.laid_out_at = self.program.now();
        }
        self.screen.send()
    }

    /// Returns to the live rows, at their new size.
    fn uncover(&mut self, model: &Model) -> io::Result<()> {
        self.forget_pictures(model, Vec::new())?;
        self.screen.leave_full()?;
        // The message of a new size may still be on its way.
        let is_late = std::mem::take(&mut self.is_covered) && Self::newest_size(model) != model.size;
        if std::mem::take(&mut self.is_resized) || is_late {
            self.resize(model)?;
        }
        Ok(())
    }

    /// Whether passing rows take the whole screen. They keep it until they go.
    fn lends_screen(&self, model: &mut Model) -> bool {
        model.has_passing_rows() && (self.is_covered || !self.screen.has_room(view::bottom(model).height()))
    }

    /// Resizes the live rows. Only the terminal knows where they begin now.
    fn resize(&mut self, model: &Model) -> io::Result<()> {
        if self.screen.is_lost() {
            self.screen.resize_full(Self::newest_size(model));
            let row = self.cursor_row()?;
            self.screen.find_rows(row)?;
        }
        let now = self.program.now();
        let age = now - model.laid_out_at;
        let shown_for = self.screen.shown_for(now).map_or_else(|| Ok(age - self.transit(age)?), Ok::<_, io::Error>)?;
        self.screen.resize(model.size, shown_for)?;
        if let Some(row) = self.cursor_row()? {
            self.screen.set_top(row);
        }
        self.keys.resume_reading();
        Ok(())
    }

    fn newest_size(model: &Model) -> Size {
        tty::columns_and_rows().unwrap_or(model.size)
    }

    /// How long the last picture may have been on its way to a terminal that does not say when it has shown one, in milliseconds: it
    /// answers where its cursor is once it has shown all of them. It is asked only where that matters.
    fn transit(&mut self, age: Millis) -> io::Result<Millis> {
        if !self.screen.has_cursor_below() || age > SURELY_SHOWN {
            return Ok(0);
        }
        let asked = self.program.now();
        let is_told = self.cursor_row()?.is_some();
        Ok(if is_told { self.program.now() - asked } else { 0 })
    }

    /// The screen row of the cursor, if the terminal reports it. Keys are not read until [`input::Keys::resume_reading`].
    fn cursor_row(&mut self) -> io::Result<Option<u16>> {
        if !self.tells_cursor {
            return Ok(None);
        }
        self.screen.send()?;
        self.keys.pause();
        Ok(self.ask_cursor().map(|cursor| cursor.y))
    }

    fn ask_cursor(&self) -> Option<Position> {
        ask_cursor(&mut self.keys.source(), self.guard)
    }

    fn draw_full(&mut self, model: &mut Model) -> io::Result<()> {
        view::prepare_full(model);
        let mut shown = Vec::new();
        if let (Some(Overlay::Transcript(pager)), Some(protocol)) = (&model.overlay, model.preferences.protocol()) {
            for (place, picture) in pager.pictures(model.size) {
                let how = (protocol, (place.width, place.height), model.cell);
                shown.extend(self.pictures.sequence(&picture, how).map(|sequence| (place, sequence)));
            }
        }
        self.forget_pictures(model, shown)?;
        self.screen.draw_full(|frame| {
            let marked = view::full(model, frame);
            self.shown.iter().for_each(|(place, sequence)| image::draw(sequence, *place, frame.buffer_mut()));
            marked
        })?;
        self.screen.send()
    }

    /// Wipes the pictures on the whole screen if other pictures replace them.
    fn forget_pictures(&mut self, model: &Model, new: Vec<(Rect, Arc<str>)>) -> io::Result<()> {
        if self.shown == new {
            return Ok(());
        }
        if !self.shown.is_empty() {
            self.screen.put_sequence(model.preferences.protocol().map_or("", image::forget))?;
            self.screen.clear_full()?;
        }
        self.shown = new;
        Ok(())
    }

    fn act(&mut self, model: &mut Model, cmd: Cmd) -> io::Result<()> {
        let task = match cmd {
            Cmd::Screen(task) => task,
            Cmd::Program(task) => {
                self.program.take(task);
                return Ok(());
            }
        };
        match task {
            ScreenTask::Resize => {
                // Several resizes in a row are drawn once.
                self.is_resized = true;
                Ok(())
            }
            ScreenTask::Redraw => self.screen.redraw(self.tells_cursor),
            ScreenTask::Edit(text) => self.edit(model, &text),
            ScreenTask::Auth(action, provider) => self.auth(model, action, provider.as_deref()),
            ScreenTask::Lend(wish, group) => self.lend(model, wish, group),
            ScreenTask::Suspend => self.suspend(model),
            ScreenTask::TakeBack => self.take_back(model),
            ScreenTask::AskBackground => self.guard.send(tty::AskBackground),
            ScreenTask::LookAtSize => {
                self.keys.report_size();
                Ok(())
            }
            ScreenTask::Notify(way, text) => self.screen.put(tty::Notification { way, text: &text }),
            ScreenTask::Copy(text) => self.screen.put(tty::Clipboard(&text)),
        }
    }

    /// Shows or clears the progress mark in the terminal's tab.
    fn tell_work(&mut self, is_working: bool) -> io::Result<()> {
        if std::mem::replace(&mut self.shows_work, is_working) == is_working {
            return Ok(());
        }
        self.screen.put(tty::Progress(is_working))
    }

    /// Names the window, or gives it its own title back.
    fn tell_title(&mut self, title: Option<String>) -> io::Result<()> {
        if title == self.title {
            return Ok(());
        }
        let before = std::mem::replace(&mut self.title, title);
        match (&before, &self.title) {
            (None, Some(_)) => self.screen.put(tty::Title::Save)?,
            (Some(_), None) => self.screen.put(tty::Title::Restore)?,
            (Some(_), Some(_)) | (None, None) => {}
        }
        self.title.as_ref().map_or(Ok(()), |title| self.screen.put(tty::Title::Set(title)))
    }

    fn suspend(&mut self, model: &mut Model) -> io::Result<()> {
        let stopped = self.aside(model, |program| program.stop())?;
        match stopped {
            Ok(()) => self.was_stopped = true,
            Err(error) => drop(update(model, Msg::Notice(Level::Warning, error.to_string()))),
        }
        Ok(())
    }

    /// Handles the program's continuation. If it did not suspend itself, other programs may have used the terminal.
    fn take_back(&mut self, model: &mut Model) -> io::Result<()> {
        if std::mem::take(&mut self.was_stopped) {
            return Ok(());
        }
        self.screen.leave_full()?;
        self.keys.pause();
        self.guard.reset()?;
        self.begin_again(model)
    }

    fn edit(&mut self, model: &mut Model, text: &str) -> io::Result<()> {
        let editor = model.preferences.settings.external_editor.clone();
        match self.aside(model, |program| program.edit(text, editor.as_deref()))? {
            Ok(written) => {
                for cmd in update(model, Msg::Written(written)) {
                    self.act(model, cmd)?;
                }
            }
            Err(error) => {
                let text = format!("the external editor failed: {error}");
                update(model, Msg::Notice(Level::Error, text));
            }
        }
        Ok(())
    }

    fn auth(&mut self, model: &mut Model, action: AuthAction, provider: Option<&str>) -> io::Result<()> {
        match self.aside(model, |program| program.auth(action, provider))? {
            Ok(true) => {
                self.act(model, ProgramTask::ReadSessionFacts.into())?;
                // A key for the model that is asked is enough; without one the person chooses.
                if action == AuthAction::Login && model.facts.access == ModelAccess::NoKeys {
                    self.act(model, ProgramTask::Models.into())?;
                }
            }
            Ok(false) => {}
            Err(error) => drop(update(model, Msg::Notice(Level::Error, format!("the dialogue failed: {error}")))),
        }
        Ok(())
    }

    fn lend(&mut self, model: &mut Model, wish: u64, group: u32) -> io::Result<()> {
        if let Err(error) = self.aside(model, |program| program.lend(wish, group))? {
            let text = format!("the terminal cannot be given to an extension: {error}");
            update(model, Msg::Notice(Level::Warning, text));
        }
        Ok(())
    }

    /// Gives the terminal to another program for a while.
    fn aside<T>(&mut self, model: &mut Model, with: impl FnOnce(&mut dyn Program) -> T) -> io::Result<T> {
        self.tell_work(false)?;
        self.tell_title(None)?;
        self.uncover(model)?;
        self.screen.close()?;
        if self.screen.awaits_answers() {
            settle(self.keys, self.guard);
        } else {
            self.keys.pause();
        }
        self.guard.reset()?;
        let done = with(self.program);
        self.begin_again(model)?;
        Ok(done)
    }

    /// Starts drawing again at the cursor.
    fn begin_again(&mut self, model: &mut Model) -> io::Result<()> {
        self.guard.set()?;
        let size = tty::columns_and_rows()?;
        self.keys.source().expect_typed_ahead();
        let cursor = self.ask_cursor();
        update(model, Msg::Cell(tty::cell()));
        update(model, Msg::Resized(size));
        self.screen.begin_again(size, cursor.unwrap_or(tty::lowest(size)))?;
        self.is_resized = false;
        self.keys.resume_reading();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use offshoot_session::list::SessionInfo;
    use offshoot_workspace::SessionProgram;

    use super::*;
    use crate::overlay::sessions::{Answer, Listed, Scope, Sessions, Setting};

    #[test]
    fn a_drawing_is_put_off_only_so_long() {
        assert_eq!(left(1000, 1000), Some(Duration::from_millis(33)));
        assert_eq!(left(1000, 1032), Some(Duration::from_millis(1)));
        assert_eq!((left(1000, 1033), left(1000, 5000), left(1000, 10)), (None, None, None));
    }

    fn sessions(count: usize) -> Msg {
        let listed = |at: usize| Listed {
            info: SessionInfo {
                path: format!("/s/{at}.jsonl").into(),
                id: at.to_string(),
                cwd: String::new(),
                name: None,
                parent_session_path: None,
                created: None,
                modified: None,
                message_count: 1,
                tokens: 0,
                cost: 0.0,
                first_message: "why?".to_owned(),
                all_messages_text: None,
            },
            real: format!("/s/{at}.jsonl").into(),
            parent: None,
            origin: SessionProgram::Offshoot,
        };
        Msg::Sessions(Answer::Listed(Scope::Folder, (0..count).map(listed).collect()))
    }

    /// Regression: the first sessions of a list were drawn 33 ms after they were there.
    #[test]
    fn the_first_sessions_are_drawn_at_once() {
        let selector = Sessions::new(Setting::default());
        let mut model =
            Model { overlay: Some(Overlay::Sessions(Box::new(selector))), is_choosing: true, ..Model::default() };
        assert!(!can_wait(&model, &sessions(2)));
        update(&mut model, sessions(2));
        assert!(can_wait(&model, &sessions(4)) && !can_wait(&model, &Msg::Idle));
    }
}
