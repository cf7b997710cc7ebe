//! The selector alone on the terminal, before there is a conversation: draws, listens, and gives the terminal back.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use offshoot_session::clock::Millis;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, DisableBracketedPaste, EnableBracketedPaste, Event, KeyEventKind};
use ratatui::crossterm::terminal::{
    BeginSynchronizedUpdate, EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode,
};
use ratatui::crossterm::{cursor, queue};
use ratatui::{Terminal, Viewport};

use super::{Answer, Outcome, Request, Sessions};
use crate::theme::Theme;

/// How long a key is waited for before answers are looked at, while some come in and when none is to come.
const BUSY: Duration = Duration::from_millis(4);
const LISTEN: Duration = Duration::from_millis(20);

/// What the selector needs of the program around it.
pub trait Around {
    /// What time it is.
    fn now(&self) -> Millis;

    /// Begins to do what is wanted.
    fn take(&mut self, request: Request);

    /// Opens the terminal for writing.
    fn terminal(&self) -> Box<dyn Write>;
}

/// Lets the person pick a session on the whole terminal; `None` if none is wanted.
///
/// # Errors
/// The terminal cannot be used.
pub fn pick(
    mut sessions: Sessions,
    theme: &Theme,
    answers: &Receiver<Answer>,
    around: &mut dyn Around,
) -> io::Result<Option<PathBuf>> {
    let guard = Guard::enter(around.terminal())?;
    let backend = CrosstermBackend::new(around.terminal());
    let mut terminal = Terminal::with_options(backend, ratatui::TerminalOptions { viewport: Viewport::Fullscreen })?;
    let mut is_stale = true;
    let picked = loop {
        sessions.set_now(around.now());
        for answer in answers.try_iter() {
            sessions.take(answer);
            is_stale = true;
        }
        for request in sessions.requests() {
            around.take(request);
        }
        if std::mem::take(&mut is_stale) {
            queue!(terminal.backend_mut(), BeginSynchronizedUpdate)?;
            terminal.draw(|frame| sessions.view(theme, frame.area(), frame.buffer_mut()))?;
            queue!(terminal.backend_mut(), EndSynchronizedUpdate)?;
            io::Write::flush(terminal.backend_mut())?;
        }
        if !event::poll(if sessions.is_waiting() { BUSY } else { LISTEN })? {
            continue;
        }
        is_stale = true;
        match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => match sessions.key(key) {
                Outcome::Open => {}
                Outcome::Cancelled => break None,
                Outcome::Chosen(file) => break Some(file),
            },
            Event::Paste(text) => sessions.paste(&text),
            Event::Key(_) | Event::Resize(..) | Event::FocusGained | Event::FocusLost | Event::Mouse(_) => {}
        }
    };
    drop(guard);
    Ok(picked)
}

/// The terminal's modes, as long as this lives.
struct Guard {
    out: Box<dyn Write>,
}

impl Guard {
    fn enter(out: Box<dyn Write>) -> io::Result<Self> {
        enable_raw_mode()?;
        let mut guard = Self { out };
        queue!(guard.out, EnterAlternateScreen, EnableBracketedPaste, cursor::Hide)?;
        guard.out.flush()?;
        Ok(guard)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // There is nobody left to tell.
        drop(queue!(self.out, cursor::Show, DisableBracketedPaste, LeaveAlternateScreen));
        drop(self.out.flush());
        drop(disable_raw_mode());
    }
}
