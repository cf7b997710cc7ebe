//! Keys and other events of the terminal, on a thread of their own that can be made to wait while another program has
//! the terminal.

use std::io;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use ratatui::crossterm::event::{self, Event};
use ratatui::layout::Size;

use crate::app::msg::Msg;

/// How long the thread listens before it looks whether it shall wait.
const LISTEN: Duration = Duration::from_millis(100);

/// The thread.
#[derive(Debug)]
pub(super) struct Keys(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    shall_wait: bool,
    waits: bool,
    shall_end: bool,
}

impl Keys {
    pub(super) fn start(to: Sender<Msg>) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let own = shared.clone();
        std::thread::Builder::new().name("keys".to_owned()).spawn(move || listen(&own, &to))?;
        Ok(Self(shared))
    }

    /// Returns when nobody reads from the terminal any more.
    pub(super) fn pause(&self) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.shall_wait = true;
        while !state.waits && !state.shall_end {
            state = self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Reads again.
    pub(super) fn go_on(&self) {
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

fn listen(shared: &Shared, to: &Sender<Msg>) {
    while may_go_on(shared) {
        let msg = match event::poll(LISTEN).and_then(|is_there| is_there.then(event::read).transpose()) {
            Ok(event) => event.and_then(msg),
            Err(_) => Some(Msg::End),
        };
        let is_last = matches!(msg, Some(Msg::End));
        if msg.is_some_and(|msg| to.send(msg).is_err()) || is_last {
            break;
        }
    }
    let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
    state.shall_end = true;
    shared.changed.notify_all();
}

/// Waits as long as it shall; `false` at the end.
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

fn msg(event: Event) -> Option<Msg> {
    match event {
        Event::Key(key) => Some(Msg::Key(key)),
        Event::Paste(text) => Some(Msg::Paste(text)),
        Event::Resize(width, height) => Some(Msg::Resized(Size { width, height })),
        Event::FocusGained => Some(Msg::Focus(true)),
        Event::FocusLost => Some(Msg::Focus(false)),
        Event::Mouse(_) => None,
    }
}
