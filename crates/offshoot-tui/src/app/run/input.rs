//! Reads the terminal's events on a thread. The thread can be paused while another program uses the terminal.

use std::io::{self, PipeWriter, Write as _};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use ratatui::crossterm::event::Event;
use ratatui::layout::Size;

use super::decoder::Decoded;
use super::source::Source;
use super::tty;
use crate::app::msg::Msg;

/// How often the size of the terminal is looked at, in milliseconds.
const STEP: u64 = 100;

#[derive(Debug)]
pub(super) struct Keys {
    shared: Arc<Shared>,
    /// Ends the thread's wait.
    wake: PipeWriter,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<KeysState>,
    changed: Condvar,
    source: Mutex<Source>,
}

impl Shared {
    /// Makes the thread wait before its next read.
    fn wait(&self) {
        self.state().shall_wait = true;
    }

    fn state(&self) -> MutexGuard<'_, KeysState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn source(&self) -> MutexGuard<'_, Source> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Default)]
struct KeysState {
    shall_wait: bool,
    waits: bool,
    shall_end: bool,
    /// Whether the terminal was resized, to another size or to one that is known.
    was_resized: bool,
}

impl Keys {
    /// Starts the thread. `wake` is the other end of what the source is woken by.
    pub(super) fn start(to: Sender<Msg>, source: Source, wake: PipeWriter) -> io::Result<Self> {
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new(), source: Mutex::new(source) });
        let own = shared.clone();
        std::thread::Builder::new().name("keys".to_owned()).spawn(move || listen(&own, &to))?;
        Ok(Self { shared, wake })
    }

    /// Pauses the reading, and returns when the thread no longer reads.
    pub(super) fn pause(&self) {
        self.shared.wait();
        self.look();
        let mut state = self.shared.state();
        while !state.waits && !state.shall_end {
            state = self.shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Makes the thread report the terminal's size, even if it is the one before: a lower terminal may have cut off rows
    /// and have its height again.
    pub(super) fn report_size(&self) {
        self.shared.state().was_resized = true;
        self.look();
    }

    /// Ends the thread's wait.
    pub(super) fn look(&self) {
        // A full pipe wakes as well, and one without a reader has nobody to wake.
        drop((&self.wake).write(b"!"));
    }

    /// The source, while the reading is paused.
    pub(super) fn source(&self) -> MutexGuard<'_, Source> {
        self.shared.source()
    }

    pub(super) fn resume_reading(&self) {
        self.shared.state().shall_wait = false;
        self.shared.changed.notify_all();
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.shared.state().shall_end = true;
        self.shared.changed.notify_all();
        self.look();
    }
}

fn listen(shared: &Shared, to: &Sender<Msg>) {
    let mut known = tty::columns_and_rows().ok();
    while may_go_on(shared) {
        let Ok(decoded) = shared.source().next(STEP) else {
            drop(to.send(Msg::End));
            break;
        };
        let mut msgs: Vec<_> = decoded.into_iter().filter_map(msg).collect();
        let was_resized = std::mem::take(&mut shared.state().was_resized);
        if let Ok(size) = tty::columns_and_rows()
            && (known.replace(size) != Some(size) || was_resized)
        {
            msgs.push(Msg::Resized(size));
            // The loop will query the cursor's position. The answer is not a key.
            shared.wait();
        }
        if msgs.into_iter().any(|msg| to.send(msg).is_err()) {
            break;
        }
    }
    let mut state = shared.state();
    state.shall_end = true;
    shared.changed.notify_all();
}

/// Waits as long as the thread is paused. Returns `false` at the end.
fn may_go_on(shared: &Shared) -> bool {
    let mut state = shared.state();
    while state.shall_wait && !state.shall_end {
        state.waits = true;
        shared.changed.notify_all();
        state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    state.waits = false;
    !state.shall_end
}

pub(super) fn msg(decoded: Decoded) -> Option<Msg> {
    let event = match decoded {
        Decoded::Background(background) => return Some(Msg::Background(background)),
        Decoded::PictureShown => return Some(Msg::PictureShown),
        Decoded::OpenPaste(is_open) => return Some(Msg::OpenPaste(is_open)),
        // Nobody waits for it any more.
        Decoded::Cursor(_) => return None,
        Decoded::Event(event) => event,
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
