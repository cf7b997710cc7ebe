//! Reads the terminal's events on a thread. The thread can be paused while another program uses the terminal.

use std::io;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use ratatui::crossterm::event::{self, Event};
use ratatui::layout::Size;

use super::answer::{Answers, Heard};
use super::tty;
use crate::app::msg::Msg;

/// How long the thread listens before it checks for a pause. The short time is for when a pause will come soon.
pub(super) const LONG: Duration = Duration::from_millis(100);
pub(super) const SHORT: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(super) struct Keys(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<KeysState>,
    changed: Condvar,
}

impl Shared {
    /// Makes the thread wait before its next read.
    fn wait(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).shall_wait = true;
    }

    /// Whether the terminal was queried since the last call.
    fn is_asked(&self) -> bool {
        std::mem::take(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner).expects)
    }
}

#[derive(Debug, Default)]
struct KeysState {
    shall_wait: bool,
    expects: bool,
    waits: bool,
    shall_end: bool,
}

impl Keys {
    /// Starts the thread. `answers` contains the earlier queries to the terminal.
    pub(super) fn start(to: Sender<Msg>, answers: Answers, patience: Duration) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let own = shared.clone();
        std::thread::Builder::new().name("keys".to_owned()).spawn(move || listen(&own, &to, answers, patience))?;
        Ok(Self(shared))
    }

    /// Announces a query for the terminal's background.
    pub(super) fn expect(&self) {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).expects = true;
    }

    /// Pauses the reading, and returns when the thread no longer reads. After a resize it returns at once.
    pub(super) fn pause(&self) {
        self.0.wait();
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        while !state.waits && !state.shall_end {
            state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn resume_reading(&self) {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).shall_wait = false;
        self.0.changed.notify_all();
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).shall_end = true;
        self.0.changed.notify_all();
    }
}

/// The pending events. Does not wait.
pub(super) fn waiting(answers: &mut Answers) -> io::Result<Vec<Msg>> {
    let mut msgs = Vec::new();
    while event::poll(Duration::ZERO)? {
        msgs.extend(answers.take(event::read()?).into_iter().filter_map(msg));
    }
    Ok(msgs)
}

/// The size is checked after each wait, because a resize event is lost if keys or an answer arrive with it.
fn listen(shared: &Shared, to: &Sender<Msg>, mut answers: Answers, patience: Duration) {
    let mut known = tty::columns_and_rows().ok();
    while may_go_on(shared) {
        let event = event::poll(patience).and_then(|is_there| is_there.then(event::read).transpose());
        // The query may have been sent during the wait.
        if shared.is_asked() {
            answers.expect();
        }
        let heard = match event {
            Ok(Some(event)) => answers.take(event),
            Ok(None) => answers.give_up(),
            Err(_) => {
                drop(to.send(Msg::End));
                break;
            }
        };
        let mut msgs: Vec<_> = heard.into_iter().filter_map(msg).collect();
        if let Ok(size) = tty::columns_and_rows()
            && known.replace(size) != Some(size)
        {
            msgs.push(Msg::Resized(size));
        }
        if msgs.iter().any(|msg| matches!(msg, Msg::Resized(_))) {
            // The loop will query the cursor's position. The answer is not a key.
            shared.wait();
        }
        if msgs.into_iter().any(|msg| to.send(msg).is_err()) {
            break;
        }
    }
    let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
    state.shall_end = true;
    shared.changed.notify_all();
}

/// Waits as long as the thread is paused. Returns `false` at the end.
fn may_go_on(shared: &Shared) -> bool {
    let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
    while state.shall_wait && !state.shall_end {
        state.waits = true;
        shared.changed.notify_all();
        state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    state.waits = false;
    !state.shall_end
}

fn msg(heard: Heard) -> Option<Msg> {
    let event = match heard {
        Heard::Background(background) => return Some(Msg::Background(background)),
        Heard::Event(event) => event,
    };
    match event {
        Event::Key(key) => Some(Msg::Key(key)),
        Event::Paste(text) => Some(Msg::Paste(text)),
        Event::Resize(width, height) => Some(Msg::Resized(Size { width, height })),
        Event::FocusGained => Some(Msg::Focus(true)),
        Event::FocusLost => Some(Msg::Focus(false)),
        Event::Mouse(_) => None,
    }
}
