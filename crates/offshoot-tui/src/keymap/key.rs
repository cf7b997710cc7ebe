//! A key as text (`ctrl+shift+x`) and as a terminal's event. Knows no action.

use std::fmt;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A key with modifiers, normalised for comparison: letters are lower case with an explicit `shift`; other characters
/// have no `shift`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    code: KeyCode,
    modifiers: KeyModifiers,
}

/// Key names; a key is printed with its first name.
const NAMED: &[(&str, KeyCode)] = &[
    ("escape", KeyCode::Esc),
    ("esc", KeyCode::Esc),
    ("enter", KeyCode::Enter),
    ("return", KeyCode::Enter),
    ("tab", KeyCode::Tab),
    ("space", KeyCode::Char(' ')),
    ("backspace", KeyCode::Backspace),
    ("delete", KeyCode::Delete),
    ("insert", KeyCode::Insert),
    ("clear", KeyCode::KeypadBegin),
    ("home", KeyCode::Home),
    ("end", KeyCode::End),
    ("pageUp", KeyCode::PageUp),
    ("pageDown", KeyCode::PageDown),
    ("up", KeyCode::Up),
    ("down", KeyCode::Down),
    ("left", KeyCode::Left),
    ("right", KeyCode::Right),
];

/// In the order in which they are printed.
const MODIFIERS: &[(&str, KeyModifiers)] = &[
    ("ctrl", KeyModifiers::CONTROL),
    ("shift", KeyModifiers::SHIFT),
    ("alt", KeyModifiers::ALT),
    ("super", KeyModifiers::SUPER),
];

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("a key is missing")]
    Empty,
    #[error("{0:?} is no modifier: there are ctrl, shift, alt and super")]
    Modifier(String),
    #[error("{0:?} is no key: there are letters, digits, signs, f1 to f12 and names such as enter, pageUp and left")]
    Name(String),
}

impl Key {
    /// Parses modifiers in any order, then the key, joined by `+`. Case-insensitive.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let text = text.trim();
        // The last `+` of `ctrl++` is the key itself.
        let (before, name) = match text.strip_suffix("++") {
            Some(before) => (before, "+"),
            None if text == "+" => ("", "+"),
            None => text.rsplit_once('+').unwrap_or(("", text)),
        };
        if name.is_empty() {
            return Err(KeyError::Empty);
        }
        let mut modifiers = KeyModifiers::NONE;
        for part in before.split('+').filter(|_| !before.is_empty()) {
            let known = MODIFIERS.iter().find(|(name, _)| name.eq_ignore_ascii_case(part));
            modifiers |= known.ok_or_else(|| KeyError::Modifier(part.to_owned()))?.1;
        }
        let code = code(name).ok_or_else(|| KeyError::Name(name.to_owned()))?;
        Ok(Self::of(code, modifiers))
    }

    #[must_use]
    pub fn pressed(event: KeyEvent) -> Self {
        Self::of(event.code, event.modifiers)
    }

    /// The event that a terminal with the enhanced keyboard protocol sends.
    #[must_use]
    pub fn event(self) -> KeyEvent {
        KeyEvent::new(self.code, self.modifiers)
    }

    fn of(code: KeyCode, modifiers: KeyModifiers) -> Self {
        let known = MODIFIERS.iter().fold(KeyModifiers::NONE, |all, (_, one)| all | *one);
        let mut modifiers = modifiers & known;
        let code = match code {
            KeyCode::BackTab => {
                modifiers |= KeyModifiers::SHIFT;
                KeyCode::Tab
            }
            KeyCode::Char(letter) if letter.is_alphabetic() => {
                if letter.is_uppercase() {
                    modifiers |= KeyModifiers::SHIFT;
                }
                let mut small = letter.to_lowercase();
                KeyCode::Char(small.next().filter(|_| small.next().is_none()).unwrap_or(letter))
            }
            KeyCode::Char(sign) => {
                if sign != ' ' {
                    modifiers -= KeyModifiers::SHIFT;
                }
                KeyCode::Char(if modifiers.contains(KeyModifiers::CONTROL) { control_sign(sign) } else { sign })
            }
            code => code,
        };
        Self { code, modifiers }
    }
}

/// Without the enhanced protocol, terminals send one byte for several characters with ctrl, which is reported as a
/// digit.
fn control_sign(sign: char) -> char {
    match sign {
        '4' => '\\',
        '5' => ']',
        '6' => '^',
        '7' | '_' => '-',
        sign => sign,
    }
}

fn code(name: &str) -> Option<KeyCode> {
    if let Some((_, code)) = NAMED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        return Some(*code);
    }
    let mut letters = name.chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) if !letter.is_control() && !letter.is_whitespace() => Some(KeyCode::Char(letter)),
        (Some('f' | 'F'), Some(_)) => {
            name.get(1..)?.parse().ok().filter(|number| (1..=12).contains(number)).map(KeyCode::F)
        }
        _ => None,
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, modifier) in MODIFIERS {
            if self.modifiers.contains(*modifier) {
                write!(f, "{name}+")?;
            }
        }
        match self.code {
            KeyCode::F(number) => write!(f, "f{number}"),
            code => match (NAMED.iter().find(|(_, known)| *known == code), code) {
                (Some((name, _)), _) => f.write_str(name),
                (None, KeyCode::Char(letter)) => write!(f, "{letter}"),
                (None, other) => write!(f, "{other}"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> String {
        Key::parse(text).map_or_else(|error| error.to_string(), |key| key.to_string())
    }

    #[test]
    fn keys_are_written_in_any_order_and_printed_in_one() {
        let cases = [
            ("ctrl+shift+x", "ctrl+shift+x"),
            ("Shift+CTRL+X", "ctrl+shift+x"),
            ("alt+ctrl+super+x", "ctrl+alt+super+x"),
            ("pageup", "pageUp"),
            ("esc", "escape"),
            ("return", "enter"),
            ("ctrl++", "ctrl++"),
            ("+", "+"),
            ("ctrl+-", "ctrl+-"),
            ("f12", "f12"),
            ("shift+space", "shift+space"),
            ("L", "shift+l"),
            ("?", "?"),
            ("é", "é"),
        ];
        for (text, expected) in cases {
            assert_eq!(printed(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_key_says_why() {
        assert_eq!(printed(""), "a key is missing");
        assert_eq!(printed("hyper+x"), "\"hyper\" is no modifier: there are ctrl, shift, alt and super");
        assert!(printed("f13").starts_with("\"f13\" is no key"));
        assert_eq!(printed("ctrl+"), "a key is missing");
        assert!(printed("ctrl+pagesideways").starts_with("\"pagesideways\" is no key"));
    }

    #[test]
    fn what_terminals_report_is_the_key_that_is_meant() {
        let cases = [
            (KeyCode::BackTab, KeyModifiers::SHIFT, "shift+tab"),
            (KeyCode::BackTab, KeyModifiers::NONE, "shift+tab"),
            (KeyCode::Char('L'), KeyModifiers::SHIFT, "shift+l"),
            (KeyCode::Char('L'), KeyModifiers::NONE, "shift+l"),
            (KeyCode::Char('?'), KeyModifiers::SHIFT, "?"),
            (KeyCode::Char('7'), KeyModifiers::CONTROL, "ctrl+-"),
            (KeyCode::Char('_'), KeyModifiers::CONTROL, "ctrl+-"),
            (KeyCode::Char('5'), KeyModifiers::CONTROL, "ctrl+]"),
            (KeyCode::Char('P'), KeyModifiers::CONTROL | KeyModifiers::SHIFT, "ctrl+shift+p"),
            (KeyCode::Enter, KeyModifiers::ALT | KeyModifiers::META, "alt+enter"),
        ];
        for (code, modifiers, expected) in cases {
            let pressed = Key::pressed(KeyEvent::new(code, modifiers));
            assert_eq!(pressed, Key::parse(expected).unwrap(), "{expected}");
            assert_eq!(pressed.to_string(), expected);
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_printed_reads_back(text in "((ctrl|alt|shift|super)[+]){0,3}([!-~]|f[1-9]|home|up|\\PC)") {
            if let Ok(key) = Key::parse(&text) {
                proptest::prop_assert_eq!(Key::parse(&key.to_string()), Ok(key));
            }
        }
    }
}
