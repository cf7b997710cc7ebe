//! Finds the terminal's answers among the keys. The key reader does not know an answer to OSC 11, and reports it as
//! letters that were typed very fast. This module joins them again. It does not read the terminal.

use ratatui::crossterm::event::{Event, KeyCode, KeyModifiers};

use crate::theme::Background;

/// The maximum length of an answer.
const LONGEST: usize = 64;

/// The meaning of an event.
#[derive(Debug, PartialEq)]
pub(super) enum Heard {
    Event(Event),
    Background(Background),
}

/// Keys that may be part of an answer.
#[derive(Debug, Default)]
pub(super) struct Answers {
    is_expected: bool,
    held: Vec<Event>,
    text: String,
}

impl Answers {
    /// Expects an answer. Until it comes, keys that may be part of it are held back.
    pub(super) fn expect(&mut self) {
        self.is_expected = true;
    }

    /// Takes an event. Returns its meaning, after that of the events that were held back before it.
    pub(super) fn take(&mut self, event: Event) -> Vec<Heard> {
        if !self.is_expected {
            return vec![Heard::Event(event)];
        }
        let Some(piece) = piece(&event) else { return self.let_go(Some(event)) };
        if self.held.is_empty() != (piece == Piece::Start) {
            return self.let_go(Some(event));
        }
        match piece {
            Piece::Letter(letter) if fits(&self.text, letter) => self.text.push(letter),
            Piece::Letter('\\') if matches!(self.held.last().and_then(self::piece), Some(Piece::Escape)) => {
                return self.end(event);
            }
            Piece::Letter(_) => return self.let_go(Some(event)),
            Piece::End => return self.end(event),
            Piece::Start | Piece::Escape => {}
        }
        self.held.push(event);
        Vec::new()
    }

    /// Releases the held keys after a pause: they were not an answer.
    pub(super) fn give_up(&mut self) -> Vec<Heard> {
        self.let_go(None)
    }

    fn end(&mut self, event: Event) -> Vec<Heard> {
        let Some(answer) = self.text.strip_prefix("11;") else { return self.let_go(Some(event)) };
        let background = Background::of_answer(answer);
        *self = Self::default();
        background.map(Heard::Background).into_iter().collect()
    }

    fn let_go(&mut self, last: Option<Event>) -> Vec<Heard> {
        self.text.clear();
        let held = std::mem::take(&mut self.held);
        held.into_iter().chain(last).map(Heard::Event).collect()
    }
}

/// The role of a key in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    /// `ESC ]`.
    Start,
    Letter(char),
    Escape,
    /// `ESC \` or BEL.
    End,
}

fn piece(event: &Event) -> Option<Piece> {
    let Event::Key(key) = event else { return None };
    let modifiers = key.modifiers - KeyModifiers::SHIFT;
    match (key.code, modifiers) {
        (KeyCode::Char(']'), KeyModifiers::ALT) => Some(Piece::Start),
        (KeyCode::Char('\\'), KeyModifiers::ALT) | (KeyCode::Char('g'), KeyModifiers::CONTROL) => Some(Piece::End),
        (KeyCode::Esc, KeyModifiers::NONE) => Some(Piece::Escape),
        (KeyCode::Char(letter), KeyModifiers::NONE) => Some(Piece::Letter(letter)),
        _ => None,
    }
}

/// Whether an answer may continue with this letter.
fn fits(text: &str, letter: char) -> bool {
    let number = "11;";
    match number.chars().nth(text.len()) {
        Some(expected) => letter == expected,
        None => text.len() < LONGEST && (letter.is_ascii_alphanumeric() || matches!(letter, ':' | '/' | '#')),
    }
}

#[cfg(test)]
mod tests {
    use ratatui::crossterm::event::KeyEvent;

    use super::*;

    /// The events that crossterm makes of these bytes.
    fn events(text: &str) -> Vec<Event> {
        let mut events = Vec::new();
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            let (code, modifiers) = match letter {
                '\x1b' if letters.peek().is_some_and(|next| *next != '|') => {
                    (KeyCode::Char(letters.next().unwrap()), KeyModifiers::ALT)
                }
                '\x1b' => (KeyCode::Esc, KeyModifiers::NONE),
                '\x07' => (KeyCode::Char('g'), KeyModifiers::CONTROL),
                // The border between two reads.
                '|' => continue,
                letter if letter.is_uppercase() => (KeyCode::Char(letter), KeyModifiers::SHIFT),
                letter => (KeyCode::Char(letter), KeyModifiers::NONE),
            };
            events.push(Event::Key(KeyEvent::new(code, modifiers)));
        }
        events
    }

    /// The output as text: the background in brackets, keys as letters.
    fn heard(answers: &mut Answers, text: &str) -> String {
        let heard = events(text).into_iter().flat_map(|event| answers.take(event)).collect::<Vec<_>>();
        let shown = |heard: Heard| match heard {
            Heard::Background(background) => format!("[{background:?}]"),
            Heard::Event(Event::Key(key)) => key.code.to_string(),
            Heard::Event(other) => format!("{other:?}"),
        };
        heard.into_iter().map(shown).collect()
    }

    fn expecting() -> Answers {
        let mut answers = Answers::default();
        answers.expect();
        answers
    }

    #[test]
    fn an_answer_is_no_text() {
        for answer in [
            "\x1b]11;rgb:ffff/FFFF/ffff\x1b\\",
            "\x1b]11;rgb:ffff/ffff/ffff\x07",
            "\x1b]11;#ffffff\x1b|\\",
            "\x1b]11;rgba:ff/ff/ff/ff\x1b\\",
        ] {
            assert_eq!(heard(&mut expecting(), &format!("ab{answer}cd")), "ab[Light]cd", "{answer:?}");
        }
        assert_eq!(heard(&mut expecting(), "\x1b]11;nothing\x1b\\x"), "x", "a colour that is none is no text either");
    }

    #[test]
    fn keys_that_are_no_answer_stay_what_they_are() {
        let mut answers = expecting();
        assert_eq!(heard(&mut answers, "\x1b]12"), "]12");
        assert_eq!(heard(&mut answers, "\x1b]11;rg!"), "]11;rg!");
        assert_eq!(heard(&mut answers, "]11;rgb:0/0/0\\"), "]11;rgb:0/0/0\\");
        assert_eq!(heard(&mut answers, "\x1b]\x1b]"), "]]");
        assert_eq!(heard(&mut answers, "\x1b]1"), "");
        assert_eq!(answers.give_up().len(), 2, "nothing is lost when nothing more comes");
        assert_eq!(heard(&mut answers, "\x1b]11;rgb:0/0/0\x1b\\"), "[Dark]");
        assert_eq!(heard(&mut answers, "\x1b]"), "]", "once it has come, nothing is held back");
    }
}
