//! The terminal's modes. They are set while the front end runs. They are reset when it ends, panics or is suspended.
//! Does not use the screen.

use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use offshoot_session::transcript::Level;
use ratatui::crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, EnableBracketedPaste, EnableFocusChange, KeyboardEnhancementFlags,
    PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use ratatui::crossterm::terminal::{
    EnableLineWrap, EndSynchronizedUpdate, LeaveAlternateScreen, WindowSize, disable_raw_mode, enable_raw_mode, size,
    window_size,
};
use ratatui::crossterm::{Command, cursor, queue};
use ratatui::layout::{Position, Size};

use crate::app::msg::Msg;
use crate::image::CellSize;
use crate::terminal::NotificationWay;
use offshoot_settings::NotificationKind;

pub(super) type Open = fn() -> Box<dyn Write>;

static IS_SET: AtomicBool = AtomicBool::new(false);

/// Keeps the modes set until it is dropped.
#[derive(Debug)]
pub(super) struct Guard {
    open: Open,
}

impl Guard {
    pub(super) fn enter(open: Open) -> io::Result<Self> {
        let guard = Self { open };
        guard.set()?;
        Ok(guard)
    }

    pub(super) fn set(&self) -> io::Result<()> {
        enable_raw_mode()?;
        IS_SET.store(true, Ordering::SeqCst);
        let mut out = (self.open)();
        let keyboard = PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES);
        queue!(out, EnableBracketedPaste, EnableFocusChange, keyboard)?;
        out.flush()
    }

    /// Sends a sequence at once.
    pub(super) fn send(&self, command: impl Command) -> io::Result<()> {
        let mut out = (self.open)();
        queue!(out, command)?;
        out.flush()
    }

    pub(super) fn reset(&self) -> io::Result<()> {
        reset(self.open, false)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // An error cannot be reported any more.
        drop(self.reset());
    }
}

pub(super) fn columns_and_rows() -> io::Result<Size> {
    let (width, height) = size()?;
    Ok(Size { width, height })
}

/// The assumed cursor position if the terminal does not report it: the bottom row.
pub(super) fn lowest(size: Size) -> Position {
    Position::new(0, size.height.saturating_sub(1))
}

/// The size of a terminal cell in pixels, as far as the terminal reports it.
pub(super) fn cell() -> CellSize {
    let told = window_size().ok().filter(|told| told.width > 0 && told.height > 0);
    let of =
        |told: WindowSize| CellSize { width: told.width / told.columns.max(1), height: told.height / told.rows.max(1) };
    told.map(of).filter(|cell| cell.width > 0 && cell.height > 0).unwrap_or_default()
}

/// Resets the terminal before the message of a panic that ends the loop. Other panics become notices.
pub(super) fn watch_panics(open: Open, to: &Sender<Msg>) {
    let own = std::thread::current().id();
    let to = Mutex::new(to.clone());
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let is_own = std::thread::current().id() == own;
        if !is_own && IS_SET.load(Ordering::SeqCst) {
            if let Ok(to) = to.lock() {
                drop(to.send(Msg::Notice(Level::Error, format!("a part of the program failed: {panic}"))));
            }
            return;
        }
        if is_own {
            drop(reset(open, true));
        }
        before(panic);
    }));
}

/// Resets the modes. `is_sudden` means that the screen was not closed before.
fn reset(open: Open, is_sudden: bool) -> io::Result<()> {
    if !IS_SET.swap(false, Ordering::SeqCst) {
        return Ok(());
    }
    let mut out = open();
    if is_sudden {
        queue!(out, EndSynchronizedUpdate, LeaveAlternateScreen)?;
    }
    let keyboard = PopKeyboardEnhancementFlags;
    queue!(out, keyboard, DisableFocusChange, DisableBracketedPaste, EnableLineWrap, cursor::Show)?;
    let flushed = out.flush();
    disable_raw_mode()?;
    flushed
}

/// The query for the background colour (OSC 11).
pub(super) struct AskBackground;

impl Command for AskBackground {
    fn write_ansi(&self, out: &mut impl std::fmt::Write) -> std::fmt::Result {
        out.write_str("\x1b]11;?\x1b\\")
    }
}

/// The query whether the terminal marks pastes, asked once they are to be marked (DECRQM).
pub(super) struct AskPasteMarks;

impl Command for AskPasteMarks {
    fn write_ansi(&self, out: &mut impl std::fmt::Write) -> std::fmt::Result {
        out.write_str("\x1b[?2004$p")
    }
}

/// The query for the cursor's position.
pub(super) struct AskCursor;

impl Command for AskCursor {
    fn write_ansi(&self, out: &mut impl std::fmt::Write) -> std::fmt::Result {
        out.write_str("\x1b[6n")
    }
}

/// Shows or clears work of unknown length in the terminal's tab (OSC 9;4).
pub(super) struct Progress(pub(super) bool);

impl Command for Progress {
    fn write_ansi(&self, out: &mut impl std::fmt::Write) -> std::fmt::Result {
        out.write_str(if self.0 { "\x1b]9;4;3\x1b\\" } else { "\x1b]9;4;0\x1b\\" })
    }
}

/// The title of the terminal's window (OSC 2), and the stack on which it is put aside (XTWINOPS).
pub(super) enum Title<'a> {
    Save,
    /// A text without control characters.
    Set(&'a str),
    Restore,
}

impl Command for Title<'_> {
    fn write_ansi(&self, out: &mut impl std::fmt::Write) -> std::fmt::Result {
        match self {
            Self::Save => out.write_str("\x1b[22;2t"),
            Self::Set(title) => write!(out, "\x1b]2;{title}\x1b\\"),
            Self::Restore => out.write_str("\x1b[23;2t"),
        }
    }
}

/// Tells a person who is elsewhere. tmux drops what it does not know, and without its `allow-passthrough` also what is wrapped for
/// the terminal around it: a bell goes with that, which it always knows.
pub(super) struct Notification<'a> {
    pub(super) way: NotificationWay,
    /// A text without control characters.
    pub(super) text: &'a str,
}

impl Command for Notification<'_> {
    fn write_ansi(&self, out: &mut impl std::fmt::Write) -> std::fmt::Result {
        let text = self.text;
        let sequence = match self.way.notification {
            NotificationKind::Bell => return out.write_str("\x07"),
            NotificationKind::Osc9 => format!("\x1b]9;{text}\x1b\\"),
            // A semicolon ends a part of it.
            NotificationKind::Osc777 => format!("\x1b]777;notify;offshoot;{}\x1b\\", text.replace(';', ",")),
            NotificationKind::Osc99 => format!("\x1b]99;;{text}\x1b\\"),
        };
        if self.way.is_in_tmux {
            write!(out, "\x1bPtmux;{}\x1b\\\x07", sequence.replace('\x1b', "\x1b\x1b"))
        } else {
            out.write_str(&sequence)
        }
    }
}

/// Sends a text to the clipboard (OSC 52).
pub(super) struct Clipboard<'a>(pub(super) &'a str);

impl Command for Clipboard<'_> {
    fn write_ansi(&self, out: &mut impl std::fmt::Write) -> std::fmt::Result {
        write!(out, "\x1b]52;c;{}\x1b\\", STANDARD.encode(self.0))
    }
}
