//! One line that is typed: a search, a name. Moves and deletes by what a reader sees as one character; knows no list.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line as TextLine, Span};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::text;

/// A line under the cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineInput {
    text: String,
    /// Where the cursor is: a byte between two graphemes.
    cursor: usize,
}

/// What a key did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typed {
    /// The text is another one.
    Changed,
    /// The cursor moved, or had nowhere to go.
    Moved,
    /// The key is not for a line.
    Ignored,
}

impl LineInput {
    /// A line with a text, the cursor behind it.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let text = text::clean(text).into_owned();
        Self { cursor: text.len(), text }
    }

    /// What was typed.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether nothing was typed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Puts a text in at the cursor, as one line without control characters.
    pub fn insert(&mut self, text: &str) -> Typed {
        let clean = text::clean(text);
        if clean.is_empty() {
            return Typed::Moved;
        }
        self.text.insert_str(self.cursor, &clean);
        self.cursor += clean.len();
        Typed::Changed
    }

    /// Takes a key.
    pub fn key(&mut self, key: KeyEvent) -> Typed {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        match key.code {
            KeyCode::Char(c) if !ctrl && !alt => self.insert(c.encode_utf8(&mut [0; 4])),
            KeyCode::Backspace if ctrl || alt => self.delete_to(self.word_left()),
            KeyCode::Char('w') if ctrl => self.delete_to(self.word_left()),
            KeyCode::Backspace => self.delete_to(self.left()),
            KeyCode::Delete if alt => self.delete_to(self.word_right()),
            KeyCode::Char('d') if alt => self.delete_to(self.word_right()),
            KeyCode::Delete => self.delete_to(self.right()),
            KeyCode::Char('u') if ctrl => self.delete_to(0),
            KeyCode::Char('k') if ctrl => self.delete_to(self.text.len()),
            KeyCode::Left if ctrl || alt => self.go(self.word_left()),
            KeyCode::Char('b') if alt => self.go(self.word_left()),
            KeyCode::Right if ctrl || alt => self.go(self.word_right()),
            KeyCode::Char('f') if alt => self.go(self.word_right()),
            KeyCode::Left => self.go(self.left()),
            KeyCode::Char('b') if ctrl => self.go(self.left()),
            KeyCode::Right => self.go(self.right()),
            KeyCode::Char('f') if ctrl => self.go(self.right()),
            KeyCode::Home => self.go(0),
            KeyCode::Char('a') if ctrl => self.go(0),
            KeyCode::End => self.go(self.text.len()),
            KeyCode::Char('e') if ctrl => self.go(self.text.len()),
            _ => Typed::Ignored,
        }
    }

    /// Draws the line behind a prompt, scrolled so that the cursor is seen, as a reversed cell.
    pub fn view(&self, prompt: Span<'static>, style: Style, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let columns = usize::from(area.width).saturating_sub(text::width(&prompt.content)).max(1);
        let (before, rest) = self.text.split_at(self.cursor);
        let mut after = rest.graphemes(true);
        let under = after.next().unwrap_or(" ");
        let mut room = columns.saturating_sub(text::width(under).max(1));
        let mut start = before.len();
        for (at, grapheme) in before.grapheme_indices(true).rev() {
            let width = text::width(grapheme);
            if width > room {
                break;
            }
            room -= width;
            start = at;
        }
        let seen = before.get(start..).unwrap_or_default();
        let line = TextLine::from(vec![
            prompt,
            Span::styled(seen.to_owned(), style),
            Span::styled(under.to_owned(), style.add_modifier(Modifier::REVERSED)),
            Span::styled(after.as_str().to_owned(), style),
        ]);
        text::draw(&line, area, buf);
    }

    fn delete_to(&mut self, place: usize) -> Typed {
        let (from, to) = (place.min(self.cursor), place.max(self.cursor));
        if from == to {
            return Typed::Moved;
        }
        self.text.replace_range(from..to, "");
        self.cursor = from;
        Typed::Changed
    }

    fn go(&mut self, place: usize) -> Typed {
        self.cursor = place;
        Typed::Moved
    }

    fn before(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or_default()
    }

    fn after(&self) -> &str {
        self.text.get(self.cursor..).unwrap_or_default()
    }

    fn left(&self) -> usize {
        self.before().grapheme_indices(true).next_back().map_or(0, |(at, _)| at)
    }

    fn right(&self) -> usize {
        self.cursor + self.after().graphemes(true).next().map_or(0, str::len)
    }

    fn word_left(&self) -> usize {
        let mut words = self.before().split_word_bound_indices().rev();
        words.find(|(_, word)| !word.trim().is_empty()).map_or(0, |(at, _)| at)
    }

    fn word_right(&self) -> usize {
        let mut words = self.after().split_word_bound_indices();
        words
            .find(|(_, word)| !word.trim().is_empty())
            .map_or(self.text.len(), |(at, word)| self.cursor + at + word.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(line: &mut LineInput, code: KeyCode, modifiers: KeyModifiers) -> Typed {
        line.key(KeyEvent::new(code, modifiers))
    }

    #[test]
    fn characters_are_what_a_reader_sees() {
        let mut line = LineInput::new("ae\u{301}👩‍👩‍👧");
        assert_eq!(press(&mut line, KeyCode::Backspace, KeyModifiers::NONE), Typed::Changed);
        assert_eq!(line.text(), "ae\u{301}");
        press(&mut line, KeyCode::Left, KeyModifiers::NONE);
        press(&mut line, KeyCode::Char('x'), KeyModifiers::NONE);
        assert_eq!(line.text(), "axe\u{301}");
        press(&mut line, KeyCode::Delete, KeyModifiers::NONE);
        assert_eq!(line.text(), "ax");
        assert_eq!(press(&mut line, KeyCode::Delete, KeyModifiers::NONE), Typed::Moved);
        assert_eq!(press(&mut line, KeyCode::Tab, KeyModifiers::NONE), Typed::Ignored);
    }

    #[test]
    fn words_and_ends() {
        let mut line = LineInput::new("one two  three");
        press(&mut line, KeyCode::Char('w'), KeyModifiers::CONTROL);
        assert_eq!(line.text(), "one two  ");
        press(&mut line, KeyCode::Left, KeyModifiers::ALT);
        press(&mut line, KeyCode::Char('k'), KeyModifiers::CONTROL);
        assert_eq!(line.text(), "one ");
        press(&mut line, KeyCode::Home, KeyModifiers::NONE);
        press(&mut line, KeyCode::Char('d'), KeyModifiers::ALT);
        assert_eq!(line.text(), " ");
        press(&mut line, KeyCode::End, KeyModifiers::NONE);
        press(&mut line, KeyCode::Char('u'), KeyModifiers::CONTROL);
        assert!(line.is_empty());
    }

    #[test]
    fn what_is_pasted_is_one_harmless_line() {
        let mut line = LineInput::default();
        assert_eq!(line.insert("a\n\u{1b}[2Jb"), Typed::Changed);
        assert!(!line.text().chars().any(char::is_control), "{:?}", line.text());
    }
}
