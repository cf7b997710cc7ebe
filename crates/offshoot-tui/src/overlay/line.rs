//! A line of typed text, such as a search or a name. It has the keys of the editor.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line as TextLine, Span};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::editor::buffer::{Did, EditBuffer};
use crate::keymap::{Action, Context, Keymap};
use crate::text;

/// A line with a cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineInput {
    buffer: EditBuffer,
}

/// The effect of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typed {
    Changed,
    Moved,
    /// The key does not apply to a line.
    Ignored,
}

impl LineInput {
    /// A line with this text, and the cursor after it.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut buffer = EditBuffer::default();
        buffer.set(&text::strip(text));
        Self { buffer }
    }

    #[must_use]
    pub fn text(&self) -> &str {
        self.buffer.text()
    }

    /// Whether the line is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Inserts a text at the cursor, as one line without control characters.
    pub fn insert(&mut self, text: &str) -> Typed {
        let clean = text::strip(text);
        self.change(|buffer| buffer.insert(&clean))
    }

    /// Handles a key: applies the first of its actions that a line supports, or else inserts its letter.
    pub fn key(&mut self, keymap: &Keymap, key: KeyEvent) -> Typed {
        let done = keymap.actions(Context::Dialog, key).into_iter().find_map(|action| self.act(action));
        done.unwrap_or_else(|| self.letter(key))
    }

    /// Applies an action. `None` means that a line does not support it.
    pub fn act(&mut self, action: Action) -> Option<Typed> {
        if action == Action::Undo {
            return Some(self.change(|buffer| _ = buffer.undo()));
        }
        let before = self.buffer.text().to_owned();
        let did = self.buffer.act(action)?;
        Some(if did == Did::Edit && self.buffer.text() != before { Typed::Changed } else { Typed::Moved })
    }

    /// Inserts the letter of a key that has no other meaning.
    pub fn letter(&mut self, key: KeyEvent) -> Typed {
        let is_plain = key.modifiers.difference(KeyModifiers::SHIFT).is_empty() && !key.is_release();
        match key.code {
            KeyCode::Char(letter) if is_plain => self.change(|buffer| buffer.type_char(letter)),
            _ => Typed::Ignored,
        }
    }

    /// Draws the line after a prompt. It is scrolled to show the cursor, as a reversed cell.
    pub fn view(&self, prompt: Span<'static>, style: Style, area: Rect, buf: &mut Buffer) {
        if area.is_empty() {
            return;
        }
        let columns = usize::from(area.width).saturating_sub(text::width(&prompt.content)).max(1);
        let (before, rest) = self.text().split_at_checked(self.buffer.cursor()).unwrap_or((self.text(), ""));
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

    /// Where a line that was drawn in this area shows its cursor: the first reversed cell without a reversed one beside it.
    #[must_use]
    pub fn drawn_cursor(area: Rect, buf: &Buffer) -> Option<Position> {
        let is_reversed = |at: Position| {
            buf.cell(at).is_some_and(|cell| area.contains(at) && cell.modifier.contains(Modifier::REVERSED))
        };
        area.positions().find(|at| {
            let beside = at.x.checked_sub(1).into_iter().chain(at.x.checked_add(1));
            is_reversed(*at) && !beside.into_iter().any(|x| is_reversed(Position { x, ..*at }))
        })
    }

    fn change(&mut self, change: impl FnOnce(&mut EditBuffer)) -> Typed {
        let before = self.buffer.text().to_owned();
        change(&mut self.buffer);
        if self.buffer.text() == before { Typed::Moved } else { Typed::Changed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(line: &mut LineInput, code: KeyCode, modifiers: KeyModifiers) -> Typed {
        line.key(&Keymap::default(), KeyEvent::new(code, modifiers))
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
    fn keys_are_those_of_the_user() {
        let (keymap, _) = Keymap::read(r#"{"tui.editor.deleteToLineStart":"f5","tui.editor.undo":"f6"}"#);
        let mut line = LineInput::new("one two");
        let mut press = |code, modifiers| {
            line.key(&keymap, KeyEvent::new(code, modifiers));
            line.text().to_owned()
        };
        assert_eq!(
            press(KeyCode::Char('u'), KeyModifiers::CONTROL),
            "one two",
            "its usual key has no meaning any more"
        );
        assert_eq!(press(KeyCode::F(5), KeyModifiers::NONE), "");
        assert_eq!(press(KeyCode::F(6), KeyModifiers::NONE), "one two");
        assert_eq!(press(KeyCode::Char('w'), KeyModifiers::CONTROL), "one ");
        assert_eq!(press(KeyCode::Char('y'), KeyModifiers::CONTROL), "one two");
    }

    #[test]
    fn what_is_pasted_is_one_harmless_line() {
        let mut line = LineInput::default();
        assert_eq!(line.insert("a\n\u{1b}[2Jb"), Typed::Changed);
        assert!(!line.text().chars().any(char::is_control), "{:?}", line.text());
    }
}
