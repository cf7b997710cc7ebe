//! Keys as terminals send them: single bytes, xterm's sequences, and those of kitty's protocol. Knows no pastes, no answers and
//! no time.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyEventState, KeyModifiers};

pub(super) const ESCAPE: u8 = 0x1b;

/// What the bytes begin with.
#[derive(Debug, PartialEq)]
pub(super) enum Begins<T> {
    /// So many bytes. `None` if they mean nothing here.
    With(usize, Option<T>),
    /// More bytes have to come.
    Unfinished,
}

impl<T> Begins<T> {
    pub(super) fn map<U>(self, with: impl FnOnce(T) -> U) -> Begins<U> {
        match self {
            Self::With(length, meant) => Begins::With(length, meant.map(with)),
            Self::Unfinished => Begins::Unfinished,
        }
    }
}

/// A key that is not a sequence.
pub(super) fn single(bytes: &[u8]) -> Begins<KeyEvent> {
    let Some(&first) = bytes.first() else { return Begins::Unfinished };
    let control = |letter: u8| KeyEvent::new(KeyCode::Char(char::from(letter)), KeyModifiers::CONTROL);
    let key = match first {
        b'\r' => KeyCode::Enter.into(),
        b'\t' => KeyCode::Tab.into(),
        0x7f => KeyCode::Backspace.into(),
        0 => control(b' '),
        0x01..=0x1a => control(first - 1 + b'a'),
        ESCAPE => KeyCode::Esc.into(),
        0x1c..=0x1f => control(first - 0x1c + b'4'),
        _ => return letter(bytes),
    };
    Begins::With(1, Some(key))
}

fn letter(bytes: &[u8]) -> Begins<KeyEvent> {
    let Some(chunk) = bytes.utf8_chunks().next() else { return Begins::Unfinished };
    if let Some(letter) = chunk.valid().chars().next() {
        let shift = if letter.is_uppercase() { KeyModifiers::SHIFT } else { KeyModifiers::NONE };
        return Begins::With(letter.len_utf8(), Some(KeyEvent::new(KeyCode::Char(letter), shift)));
    }
    let is_cut = chunk.invalid().len() == bytes.len()
        && std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none());
    if is_cut { Begins::Unfinished } else { Begins::With(chunk.invalid().len().max(1), None) }
}

/// A key after `ESC O`.
pub(super) fn ss3(end: u8) -> Option<KeyEvent> {
    Some(match end {
        b'P'..=b'S' => KeyCode::F(end - b'P' + 1).into(),
        _ => moving(end)?.into(),
    })
}

fn moving(end: u8) -> Option<KeyCode> {
    Some(match end {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        _ => return None,
    })
}

/// A key of the sequence `CSI parameters end`.
pub(super) fn csi(parameters: &str, end: char) -> Option<KeyEvent> {
    let mut parts = parameters.split(';');
    let first = parts.next().unwrap_or_default();
    let held = Held::parse(parts.next().unwrap_or_default())?;
    match end {
        'Z' => Some(KeyEvent::new(KeyCode::BackTab, KeyModifiers::SHIFT)),
        'u' => unicode(first, held),
        '~' if first == "27" => unicode(parts.next()?, held),
        '~' => Some(held.key(numbered(first.parse().ok()?)?)),
        'P' | 'Q' | 'S' => Some(held.key(KeyCode::F(u8::try_from(end).ok()? - b'P' + 1))),
        _ => Some(held.key(moving(u8::try_from(end).ok()?)?)),
    }
}

fn numbered(number: u8) -> Option<KeyCode> {
    Some(match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => KeyCode::F(number - 10),
        17..=21 => KeyCode::F(number - 11),
        23..=26 => KeyCode::F(number - 12),
        28..=29 => KeyCode::F(number - 15),
        31..=34 => KeyCode::F(number - 17),
        _ => return None,
    })
}

/// The modifiers that are held, and whether the key goes down.
struct Held {
    modifiers: KeyModifiers,
    kind: KeyEventKind,
    state: KeyEventState,
}

impl Held {
    /// `modifiers:kind`, both one more than what they say. `None` if it is no number.
    fn parse(text: &str) -> Option<Self> {
        let (mask, kind) = text.split_once(':').unwrap_or((text, ""));
        let mask = if mask.is_empty() { 0 } else { mask.parse::<u16>().ok()?.saturating_sub(1) };
        let known = [
            KeyModifiers::SHIFT,
            KeyModifiers::ALT,
            KeyModifiers::CONTROL,
            KeyModifiers::SUPER,
            KeyModifiers::HYPER,
            KeyModifiers::META,
        ];
        let is_set = |bit: usize| mask >> bit & 1 == 1;
        let modifiers = known.into_iter().enumerate().filter(|(bit, _)| is_set(*bit)).map(|(_, modifier)| modifier);
        let locks = [(6, KeyEventState::CAPS_LOCK), (7, KeyEventState::NUM_LOCK)];
        Some(Self {
            modifiers: modifiers.collect(),
            kind: match kind {
                "2" => KeyEventKind::Repeat,
                "3" => KeyEventKind::Release,
                _ => KeyEventKind::Press,
            },
            state: locks.into_iter().filter(|(bit, _)| is_set(*bit)).map(|(_, lock)| lock).collect(),
        })
    }

    fn key(self, code: KeyCode) -> KeyEvent {
        KeyEvent::new_with_kind_and_state(code, self.modifiers, self.kind, self.state)
    }
}

/// A key of kitty's protocol: its letter, or its number there. `codes` may name the shifted letter as well.
fn unicode(codes: &str, mut held: Held) -> Option<KeyEvent> {
    let mut codes = codes.split(':');
    let code: u32 = codes.next()?.parse().ok()?;
    let shifted = codes.next().and_then(|code| char::from_u32(code.parse().ok()?));
    if let Some(keypad) = keypad(code) {
        held.state |= KeyEventState::KEYPAD;
        return Some(held.key(keypad));
    }
    let is_shifted = held.modifiers.contains(KeyModifiers::SHIFT);
    let key = match code {
        27 => KeyCode::Esc,
        13 => KeyCode::Enter,
        9 if is_shifted => KeyCode::BackTab,
        9 => KeyCode::Tab,
        127 => KeyCode::Backspace,
        57_376..=57_398 => KeyCode::F(u8::try_from(code - 57_376).ok()? + 13),
        // Locks, media keys and modifiers by themselves.
        57_344..=63_743 => return None,
        _ => match shifted.filter(|_| is_shifted) {
            Some(shifted) => {
                held.modifiers -= KeyModifiers::SHIFT;
                KeyCode::Char(shifted)
            }
            None => KeyCode::Char(char::from_u32(code)?),
        },
    };
    Some(held.key(key))
}

fn keypad(code: u32) -> Option<KeyCode> {
    const SIGNS: [char; 15] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '.', '/', '*', '-', '+'];
    const MOVES: [KeyCode; 11] = [
        KeyCode::Left,
        KeyCode::Right,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::PageUp,
        KeyCode::PageDown,
        KeyCode::Home,
        KeyCode::End,
        KeyCode::Insert,
        KeyCode::Delete,
        KeyCode::KeypadBegin,
    ];
    let at = |from: u32| usize::try_from(code.checked_sub(from)?).ok();
    match code {
        57_399..=57_413 => SIGNS.get(at(57_399)?).map(|sign| KeyCode::Char(*sign)),
        57_414 => Some(KeyCode::Enter),
        57_415 => Some(KeyCode::Char('=')),
        57_416 => Some(KeyCode::Char(',')),
        _ => MOVES.get(at(57_417)?).copied(),
    }
}
