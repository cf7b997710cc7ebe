//! Decodes what a terminal sends, however its bytes are cut: keys, pastes, and answers to queries. Time comes in as silence,
//! so that a cut sequence and a key that looks like its beginning can be told apart. Does not read the terminal.

mod key;
mod string;
mod paste;
mod burst;

use memchr::memmem;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Position;

use crate::theme::Background;
use burst::Bursts;
use key::{Begins, ESCAPE};
use paste::OpenPaste;
use string::{OpenString, StringKind};

/// An escape is a key if nothing follows for so long, in milliseconds.
const ESCAPE_PATIENCE: u64 = 50;
/// A sequence that has begun is given up after so long.
const SEQUENCE_PATIENCE: u64 = 1000;
/// The answer of a terminal that works.
const SHOWN: &[u8] = b"\x1b[0n";
/// A sequence is not longer.
const LONGEST_SEQUENCE: usize = 256;

#[derive(Debug, PartialEq)]
pub(super) enum Decoded {
    Event(Event),
    Background(Background),
    /// Where the cursor is.
    Cursor(Position),
    /// The answer to the question after a picture.
    PictureShown,
    /// The end of a paste has been missing for a while, or has come.
    OpenPaste(bool),
}

#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// The beginning of a sequence or of a letter.
    begun: Vec<u8>,
    mode: Mode,
    /// How long nothing has come, in milliseconds.
    silence: u64,
    /// A key that may have been the beginning of a string.
    doubtful: Option<StringKind>,
    awaits_cursor: bool,
    bursts: Bursts,
}

#[derive(Debug, Default)]
enum Mode {
    #[default]
    Keys,
    Paste(OpenPaste),
    String(OpenString),
}

impl Decoder {
    /// An answer about the cursor is awaited, also within a paste.
    pub(super) fn await_cursor(&mut self, is_awaited: bool) {
        self.awaits_cursor = is_awaited;
        self.bursts.is_typed_ahead &= is_awaited;
    }

    /// Nobody has read for a while: what comes before the next answer about the cursor was typed meanwhile.
    pub(super) fn expect_typed_ahead(&mut self) {
        self.bursts.is_typed_ahead = true;
    }

    /// How long to wait for more bytes, at most `usual` milliseconds.
    pub(super) fn patience(&self, usual: u64) -> u64 {
        match self.mode {
            Mode::Keys if self.bursts.is_open => usual.min(burst::PATIENCE),
            Mode::Keys if !self.begun.is_empty() => usual.min(ESCAPE_PATIENCE),
            Mode::Paste(ref paste) if paste.may_end() => usual.min(ESCAPE_PATIENCE),
            Mode::Keys | Mode::Paste(_) | Mode::String(_) => usual,
        }
    }

    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<Decoded> {
        let silence = std::mem::take(&mut self.silence);
        let found = cursor(bytes).filter(|_| self.awaits_cursor);
        let Some((before, cursor, after)) = found else { return self.take_rest(bytes, silence) };
        self.awaits_cursor = false;
        let mut decoded = self.take_rest(before, silence);
        self.bursts.is_typed_ahead = false;
        decoded.push(Decoded::Cursor(cursor));
        decoded.extend(self.take_rest(after, silence));
        decoded
    }

    /// The same without answers about the cursor. Other answers may have come within a paste.
    fn take_rest(&mut self, bytes: &[u8], silence: u64) -> Vec<Decoded> {
        let mut decoded = Vec::new();
        let mut rest = bytes;
        while let Mode::Paste(_) = self.mode
            && let Some(at) = memmem::find(rest, SHOWN)
        {
            let (before, answer) = rest.split_at_checked(at).unwrap_or_default();
            decoded.extend(self.take_chunk(before, silence));
            decoded.push(Decoded::PictureShown);
            rest = answer.get(SHOWN.len()..).unwrap_or_default();
        }
        decoded.extend(self.take_chunk(rest, silence));
        decoded
    }

    fn take_chunk(&mut self, bytes: &[u8], silence: u64) -> Vec<Decoded> {
        let mut decoded = Vec::new();
        if bytes.is_empty() {
            return decoded;
        }
        self.begin_chunk(bytes, silence);
        self.begun.extend_from_slice(bytes);
        while !self.begun.is_empty() {
            let begun = std::mem::take(&mut self.begun);
            let (used, goes_on) = match &mut self.mode {
                Mode::Keys => {
                    let used = self.keys(&begun, &mut decoded);
                    (used, used > 0)
                }
                Mode::Paste(paste) => {
                    let (used, has_ended) = paste.take(&begun, &mut decoded);
                    if has_ended {
                        self.mode = Mode::Keys;
                    }
                    (used, true)
                }
                Mode::String(string) => {
                    let (used, has_ended) = string.take(&begun);
                    if has_ended {
                        decoded.extend(string.meaning());
                        self.mode = Mode::Keys;
                    }
                    (used, has_ended || used > 0)
                }
            };
            self.begun = begun.get(used..).unwrap_or_default().to_vec();
            if !goes_on {
                break;
            }
        }
        decoded
    }

    /// Nothing has come for so many milliseconds.
    pub(super) fn rest(&mut self, milliseconds: u64) -> Vec<Decoded> {
        self.silence = self.silence.saturating_add(milliseconds);
        let mut decoded = Vec::new();
        self.bursts.rest(self.silence);
        match &mut self.mode {
            Mode::Keys => self.rest_of_keys(&mut decoded),
            Mode::Paste(paste) => {
                if paste.rest(self.silence, ESCAPE_PATIENCE, &mut decoded) {
                    self.mode = Mode::Keys;
                }
            }
            // The escape may have been the key.
            Mode::String(_) if self.begun == [ESCAPE] && self.silence >= SEQUENCE_PATIENCE => {
                self.begun.clear();
                self.mode = Mode::Keys;
                decoded.push(Decoded::Event(Event::Key(KeyCode::Esc.into())));
            }
            Mode::String(_) => {}
        }
        decoded
    }

    /// What the time before these bytes decides.
    fn begin_chunk(&mut self, bytes: &[u8], silence: u64) {
        self.bursts.begin_chunk(bytes.len(), silence);
        let doubtful = self.doubtful.take().filter(|kind| kind.continues(bytes) && silence < string::PATIENCE);
        match &mut self.mode {
            Mode::Keys => {
                if let Some(kind) = doubtful {
                    self.mode = Mode::String(OpenString::of(kind));
                }
            }
            Mode::Paste(paste) => paste.begin_chunk(bytes, silence),
            Mode::String(_) if silence >= string::PATIENCE && !string::has_end(bytes) => {
                self.begun.clear();
                self.mode = Mode::Keys;
            }
            Mode::String(_) => {}
        }
    }

    /// Decodes as much as is whole. Answers how many bytes that is.
    fn keys(&mut self, bytes: &[u8], decoded: &mut Vec<Decoded>) -> usize {
        if let Some(length) = self.bursts.pasted(bytes) {
            let text = String::from_utf8_lossy(bytes.get(..length).unwrap_or_default());
            decoded.push(Decoded::Event(Event::Paste(text.into_owned())));
            return length;
        }
        match next(bytes) {
            Begins::Unfinished if bytes.len() > LONGEST_SEQUENCE => bytes.len(),
            Begins::Unfinished => 0,
            Begins::With(length, meant) => {
                match meant {
                    None => {}
                    Some(Meant::Event(event)) => decoded.push(Decoded::Event(event)),
                    Some(Meant::Cursor(position)) => decoded.push(Decoded::Cursor(position)),
                    Some(Meant::PictureShown) => decoded.push(Decoded::PictureShown),
                    Some(Meant::MarksPastes) => self.bursts.are_marked = true,
                    Some(Meant::Paste) => self.mode = Mode::Paste(OpenPaste::default()),
                    Some(Meant::String(kind)) => self.mode = Mode::String(OpenString::of(kind)),
                }
                length
            }
        }
    }

    fn rest_of_keys(&mut self, decoded: &mut Vec<Decoded>) {
        let (key, patience) = match *self.begun.as_slice() {
            [ESCAPE] => (Some(KeyCode::Esc.into()), ESCAPE_PATIENCE),
            [ESCAPE, introducer] => match StringKind::of(introducer) {
                Some(kind) => {
                    if self.silence >= ESCAPE_PATIENCE {
                        self.doubtful = Some(kind);
                    }
                    (alt(introducer), ESCAPE_PATIENCE)
                }
                None => (alt(introducer), SEQUENCE_PATIENCE),
            },
            [] => return,
            _ => (None, SEQUENCE_PATIENCE),
        };
        if self.silence >= patience {
            self.begun.clear();
            decoded.extend(key.map(|key| Decoded::Event(Event::Key(key))));
        }
    }
}

/// The key `ESC letter`.
fn alt(letter: u8) -> Option<KeyEvent> {
    match key::single(&[letter]) {
        Begins::With(_, Some(key)) => Some(with_alt(key)),
        Begins::With(_, None) | Begins::Unfinished => None,
    }
}

fn with_alt(key: KeyEvent) -> KeyEvent {
    KeyEvent { modifiers: key.modifiers | KeyModifiers::ALT, ..key }
}

/// The meaning of whole bytes outside a paste and a string.
#[derive(Debug)]
enum Meant {
    Event(Event),
    Cursor(Position),
    PictureShown,
    Paste,
    /// The terminal marks where pastes begin and end.
    MarksPastes,
    String(StringKind),
}

fn next(bytes: &[u8]) -> Begins<Meant> {
    let key = |key| Meant::Event(Event::Key(key));
    match *bytes {
        [ESCAPE] => Begins::Unfinished,
        [ESCAPE, ESCAPE, ..] => Begins::With(1, Some(key(KeyCode::Esc.into()))),
        [ESCAPE, b'O', end, ..] => Begins::With(3, key::ss3(end).map(key)),
        [ESCAPE, b'O'] => Begins::Unfinished,
        [ESCAPE, b'[', ref rest @ ..] => csi(rest),
        [ESCAPE, introducer, ref rest @ ..] => match (StringKind::of(introducer), rest) {
            (Some(_), []) => Begins::Unfinished,
            (Some(kind), [first, ..]) if kind.begins_with(*first) => Begins::With(2, Some(Meant::String(kind))),
            (Some(_) | None, _) => match key::single(bytes.get(1..).unwrap_or_default()) {
                Begins::With(length, single) => Begins::With(length + 1, single.map(with_alt).map(key)),
                Begins::Unfinished => Begins::Unfinished,
            },
        },
        _ => key::single(bytes).map(key),
    }
}

/// A sequence, without the `CSI` before it.
fn csi(rest: &[u8]) -> Begins<Meant> {
    match *rest {
        // F1 to F5 of the Linux console.
        [b'[', end, ..] => {
            let function = matches!(end, b'A'..=b'E').then(|| KeyCode::F(end - b'A' + 1));
            return Begins::With(4, function.map(|code| Meant::Event(Event::Key(code.into()))));
        }
        // A mouse, which is not asked for.
        [b'M', _, _, _, ..] => return Begins::With(6, None),
        [b'[' | b'M', ..] => return Begins::Unfinished,
        _ => {}
    }
    let is_parameter = |byte: &u8| matches!(byte, 0x20..=0x3f);
    let length = rest.iter().take_while(|byte| is_parameter(byte)).count();
    let Some(&end) = rest.get(length) else { return Begins::Unfinished };
    if !matches!(end, 0x40..=0x7e) {
        // Something else has come in between.
        return Begins::With(2 + length, None);
    }
    let parameters = std::str::from_utf8(rest.get(..length).unwrap_or_default()).unwrap_or_default();
    let meant = match (parameters, end) {
        ("", b'I') => Some(Meant::Event(Event::FocusGained)),
        ("", b'O') => Some(Meant::Event(Event::FocusLost)),
        ("200", b'~') => Some(Meant::Paste),
        ("0", b'n') => Some(Meant::PictureShown),
        ("?2004;1$" | "?2004;3$", b'y') => Some(Meant::MarksPastes),
        (_, b'R') => position(parameters).map(Meant::Cursor),
        _ => key::csi(parameters, char::from(end)).map(|key| Meant::Event(Event::Key(key))),
    };
    Begins::With(2 + length + 1, meant)
}

fn position(parameters: &str) -> Option<Position> {
    let (row, column) = parameters.split_once(';')?;
    let number = |text: &str| text.parse::<u16>().ok()?.checked_sub(1);
    Some(Position::new(number(column)?, number(row)?))
}

/// The position, with what comes before and after the answer that has it.
fn cursor(bytes: &[u8]) -> Option<(&[u8], Position, &[u8])> {
    memmem::find_iter(bytes, b"\x1b[").find_map(|at| {
        let (before, answer) = bytes.split_at_checked(at)?;
        let parameters = answer.get(2..)?;
        let length = parameters.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
        let (parameters, rest) = parameters.split_at_checked(length)?;
        let after = rest.strip_prefix(b"R")?;
        Some((before, position(std::str::from_utf8(parameters).ok()?)?, after))
    })
}

#[cfg(test)]
mod tests;
