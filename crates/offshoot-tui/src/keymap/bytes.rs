//! A key as the bytes that a terminal sends for it: components of extensions read those. Plain keys as in xterm, others in the
//! form of the kitty protocol.

use std::sync::LazyLock;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The bytes of a pressed key, as text; `None` for a key that has none.
#[must_use]
pub fn bytes(key: KeyEvent) -> Option<String> {
    if key.is_release() {
        return None;
    }
    let modifiers =
        key.modifiers & (KeyModifiers::SHIFT | KeyModifiers::ALT | KeyModifiers::CONTROL | KeyModifiers::SUPER);
    let number = 1
        + u8::from(modifiers.contains(KeyModifiers::SHIFT))
        + 2 * u8::from(modifiers.contains(KeyModifiers::ALT))
        + 4 * u8::from(modifiers.contains(KeyModifiers::CONTROL))
        + 8 * u8::from(modifiers.contains(KeyModifiers::SUPER));
    let letter = |end: char| match number {
        1 => format!("\x1b[{end}"),
        number => format!("\x1b[1;{number}{end}"),
    };
    let numbered = |code: u8| match number {
        1 => format!("\x1b[{code}~"),
        number => format!("\x1b[{code};{number}~"),
    };
    // Enter, tab, backspace and escape by themselves, or with alt.
    let plain = |byte: char, code: u8| match number {
        1 => byte.to_string(),
        3 => format!("\x1b{byte}"),
        number => format!("\x1b[{code};{number}u"),
    };
    Some(match key.code {
        KeyCode::Char(sign) => character(sign, modifiers, number),
        KeyCode::Enter => plain('\r', 13),
        KeyCode::Tab if number == 2 => "\x1b[Z".to_owned(),
        KeyCode::BackTab => "\x1b[Z".to_owned(),
        KeyCode::Tab => plain('\t', 9),
        KeyCode::Backspace => plain('\x7f', 127),
        KeyCode::Esc => plain('\x1b', 27),
        KeyCode::Up => letter('A'),
        KeyCode::Down => letter('B'),
        KeyCode::Right => letter('C'),
        KeyCode::Left => letter('D'),
        KeyCode::Home => letter('H'),
        KeyCode::End => letter('F'),
        KeyCode::KeypadBegin => letter('E'),
        KeyCode::Insert => numbered(2),
        KeyCode::Delete => numbered(3),
        KeyCode::PageUp => numbered(5),
        KeyCode::PageDown => numbered(6),
        KeyCode::F(at @ 1..=4) if number == 1 => format!("\x1bO{}", char::from(b'P' + at - 1)),
        KeyCode::F(at @ 1..=4) => letter(char::from(b'P' + at - 1)),
        KeyCode::F(at @ 5..=12) => numbered(*[15, 17, 18, 19, 20, 21, 23, 24].get(usize::from(at - 5))?),
        _ => return None,
    })
}

fn character(sign: char, modifiers: KeyModifiers, number: u8) -> String {
    let without_shift = modifiers - KeyModifiers::SHIFT;
    let control = match sign {
        'a'..='z' => u8::try_from(sign).ok().map(|sign| sign - b'a' + 1),
        ' ' | '@' => Some(0),
        '[' => Some(27),
        '\\' => Some(28),
        ']' => Some(29),
        '^' => Some(30),
        '_' | '/' => Some(31),
        _ => None,
    };
    let is_shifted = modifiers.contains(KeyModifiers::SHIFT);
    match control.filter(|_| !is_shifted) {
        _ if without_shift.is_empty() => sign.to_string(),
        _ if without_shift == KeyModifiers::ALT => format!("\x1b{sign}"),
        Some(control) if without_shift == KeyModifiers::CONTROL => char::from(control).to_string(),
        Some(control) if without_shift == KeyModifiers::CONTROL | KeyModifiers::ALT => {
            format!("\x1b{}", char::from(control))
        }
        _ => format!("\x1b[{};{number}u", u32::from(sign.to_lowercase().next().unwrap_or(sign))),
    }
}

/// Keys whose bytes begin with an escape, by these bytes.
fn sequences() -> &'static [(String, KeyEvent)] {
    static SEQUENCES: LazyLock<Vec<(String, KeyEvent)>> = LazyLock::new(|| {
        let named = [
            KeyCode::Up,
            KeyCode::Down,
            KeyCode::Left,
            KeyCode::Right,
            KeyCode::Home,
            KeyCode::End,
            KeyCode::Insert,
            KeyCode::Delete,
            KeyCode::PageUp,
            KeyCode::PageDown,
            KeyCode::Enter,
            KeyCode::Tab,
            KeyCode::Backspace,
            KeyCode::Esc,
        ];
        let signs = (' '..='~').map(KeyCode::Char);
        let codes: Vec<KeyCode> = named.into_iter().chain((1..=12).map(KeyCode::F)).chain(signs).collect();
        let mut all = Vec::new();
        for modifiers in (0..16).map(KeyModifiers::from_bits_truncate) {
            for code in &codes {
                let event = KeyEvent::new(*code, modifiers);
                all.extend(bytes(event).filter(|bytes| bytes.starts_with('\x1b')).map(|bytes| (bytes, event)));
            }
        }
        // The longest that fits counts; of equal ones the first.
        all.sort_by_key(|(bytes, _)| std::cmp::Reverse(bytes.len()));
        all
    });
    &SEQUENCES
}

/// The keys of a text that a terminal would send. Sequences that are not keys are left out.
#[must_use]
pub fn keys(text: &str) -> Vec<KeyEvent> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let known = (first == '\x1b').then(|| sequences().iter().find(|(bytes, _)| rest.starts_with(bytes))).flatten();
        let (length, key) = match (known, first) {
            (Some((bytes, event)), _) => (bytes.len(), *event),
            (None, '\r') => (1, KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE)),
            (None, '\t') => (1, KeyEvent::new(KeyCode::Tab, KeyModifiers::NONE)),
            (None, '\x7f') => (1, KeyEvent::new(KeyCode::Backspace, KeyModifiers::NONE)),
            (None, '\0') => (1, KeyEvent::new(KeyCode::Char(' '), KeyModifiers::CONTROL)),
            (None, control @ '\x01'..='\x1a') => {
                let letter = char::from(b'a' + u8::try_from(control).unwrap_or(1) - 1);
                (1, KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL))
            }
            (None, other) => (other.len_utf8(), KeyEvent::new(KeyCode::Char(other), KeyModifiers::NONE)),
        };
        if !matches!(key.code, KeyCode::Char(sign) if sign.is_control()) {
            found.push(key);
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keymap::Key;

    #[test]
    fn what_a_terminal_sends_is_read_as_the_keys_that_it_was() {
        let names = "a space ctrl+c ctrl+space alt+b ctrl+alt+x ctrl+shift+p ctrl+1 enter shift+enter alt+enter tab \
                     shift+tab escape backspace up ctrl+left home delete shift+pageUp f1 f5 ctrl+f12";
        for name in names.split_whitespace() {
            let key = Key::parse(name).unwrap();
            let read: Vec<Key> = keys(&bytes(key.event()).unwrap()).into_iter().map(Key::pressed).collect();
            assert_eq!(read, [key], "{name}");
        }
        let names =
            |text| keys(text).into_iter().map(|key| Key::pressed(key).to_string()).collect::<Vec<_>>().join(" ");
        assert_eq!(names("aé\x1b[A\x1b\r\r"), "a é up alt+enter enter");
        assert_eq!(names("\x1b[D\x1b[D\x1b"), "left left escape");
    }

    /// Names and bytes as pi 0.87.1 knows them; the conformance tests read them with its `matchesKey`.
    #[test]
    fn keys_are_the_bytes_of_a_terminal() {
        for (name, sent) in [
            ("a", "a"),
            ("shift+a", "a"),
            ("space", " "),
            ("ctrl+c", "\x03"),
            ("ctrl+space", "\0"),
            ("alt+b", "\x1bb"),
            ("ctrl+alt+x", "\x1b\x18"),
            ("ctrl+shift+p", "\x1b[112;6u"),
            ("ctrl+1", "\x1b[49;5u"),
            ("enter", "\r"),
            ("shift+enter", "\x1b[13;2u"),
            ("alt+enter", "\x1b\r"),
            ("tab", "\t"),
            ("shift+tab", "\x1b[Z"),
            ("escape", "\x1b"),
            ("backspace", "\x7f"),
            ("up", "\x1b[A"),
            ("ctrl+left", "\x1b[1;5D"),
            ("home", "\x1b[H"),
            ("delete", "\x1b[3~"),
            ("shift+pageUp", "\x1b[5;2~"),
            ("f1", "\x1bOP"),
            ("f5", "\x1b[15~"),
            ("ctrl+f12", "\x1b[24;5~"),
        ] {
            assert_eq!(bytes(Key::parse(name).unwrap().event()).as_deref(), Some(sent), "{name}");
        }
        assert_eq!(bytes(KeyEvent::new(KeyCode::Char('A'), KeyModifiers::SHIFT)).as_deref(), Some("A"));
        assert_eq!(bytes(KeyEvent::new(KeyCode::Char('é'), KeyModifiers::NONE)).as_deref(), Some("é"));
        assert_eq!(bytes(KeyEvent::new(KeyCode::CapsLock, KeyModifiers::NONE)), None);
    }
}
