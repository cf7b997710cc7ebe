//! The text of an editor with its cursor: changes, undo, and markers of long pastes. Knows no key, no width and no
//! screen.
//!
//! Why this is not `ratatui-textarea`: it deletes and moves by characters and so splits emoji and combining marks, has
//! no larger unit (a paste marker is one), keeps one deleted text and undoes letter by letter.

mod act;

use std::ops::Range;

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation as _};

use super::words;
use crate::text::strip_lines;
pub(crate) use act::Did;

/// Longer pastes, in lines, are shown as a marker, as in pi.
const LONG_PASTE_LINES: usize = 10;
/// Longer pastes, in characters, are shown as a marker, as in pi.
const LONG_PASTE_CHARS: usize = 1000;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EditBuffer {
    text: String,
    /// A byte offset, never inside a grapheme or a marker.
    cursor: usize,
    pastes: Vec<Paste>,
    undo: Vec<UndoStep>,
    kills: Vec<String>,
    last: Last,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Paste {
    marker: String,
    text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct UndoStep {
    changes: Vec<Change>,
    cursor: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Change {
    at: usize,
    removed: String,
    inserted: String,
}

/// The last operation: some are continued by the same operation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum Last {
    #[default]
    Other,
    Typed,
    Killed,
    /// The range of the inserted text.
    Yanked(Range<usize>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Back,
    Forward,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    Unit,
    Word,
    Line,
}

impl EditBuffer {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn cursor(&self) -> usize {
        self.cursor
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text with pastes in place of their markers.
    pub(crate) fn expanded(&self) -> String {
        let mut out = String::with_capacity(self.text.len());
        let mut done = 0;
        for (range, paste) in self.markers() {
            out.push_str(self.text.get(done..range.start).unwrap_or_default());
            out.push_str(&paste.text);
            done = range.end;
        }
        out.push_str(self.text.get(done..).unwrap_or_default());
        out
    }

    pub(crate) fn marked(&self) -> impl Iterator<Item = Range<usize>> {
        self.markers().into_iter().map(|(range, _)| range)
    }

    fn markers(&self) -> Vec<(Range<usize>, &Paste)> {
        let found = self.pastes.iter().flat_map(|paste| {
            self.text.match_indices(&paste.marker).map(move |(at, marker)| (at..at + marker.len(), paste))
        });
        let mut found: Vec<_> = found.collect();
        found.sort_by_key(|(range, _)| range.start);
        found
    }

    /// Sets the text, with the cursor at its end; can be undone.
    pub(crate) fn set(&mut self, text: &str) {
        self.last = Last::Other;
        let text = harmless(text);
        if text != self.text {
            self.change(0..self.text.len(), &text);
        }
        self.cursor = self.text.len();
    }

    /// Takes another text, which has undo steps of its own elsewhere.
    pub(crate) fn reset_to(&mut self, text: &str, cursor: Option<usize>) {
        *self = Self { text: harmless(text), ..Self::default() };
        self.go_to(cursor.unwrap_or(self.text.len()));
    }

    /// Removes the text and its undo steps: it was sent or discarded.
    pub(crate) fn reset(&mut self) {
        let kills = std::mem::take(&mut self.kills);
        *self = Self { kills, ..Self::default() };
    }

    /// Types a character. Letters of a word are undone together.
    pub(crate) fn type_char(&mut self, typed: char) {
        let mut small = [0; 4];
        let text = typed.encode_utf8(&mut small);
        let before = self.before(self.cursor);
        // A combining character is cleaned together with its base.
        let base = self.text.get(before..self.cursor).unwrap_or_default();
        let joined = strip_lines(&format!("{base}{text}")).strip_prefix(base).map(str::to_owned);
        let text = joined.unwrap_or_else(|| harmless(text));
        if text.is_empty() {
            return;
        }
        let goes_on = self.last == Last::Typed && !typed.is_whitespace();
        let cursor = self.cursor;
        self.change(cursor..cursor, &text);
        if goes_on && self.undo.len() > 1 {
            let step = self.undo.pop();
            if let (Some(step), Some(word)) = (step, self.undo.last_mut()) {
                word.changes.extend(step.changes);
            }
        }
        self.last = Last::Typed;
    }

    pub(crate) fn insert(&mut self, text: &str) {
        self.replace(self.cursor..self.cursor, text);
    }

    /// Replaces a range; the cursor goes after it.
    pub(crate) fn replace(&mut self, range: Range<usize>, text: &str) {
        self.last = Last::Other;
        self.change(range, &harmless(text));
    }

    /// Pastes a text: a long one becomes a marker. A path after a word gets a space, as in pi.
    pub(crate) fn paste(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let text: String = text.chars().filter(|at| matches!(at, '\n' | '\t') || !at.is_control()).collect();
        let behind_word = self.text.get(..self.cursor).and_then(|before| before.chars().next_back());
        let is_path =
            text.starts_with(['/', '~', '.']) && behind_word.is_some_and(|at| at.is_alphanumeric() || at == '_');
        let gap = if is_path { " " } else { "" };
        let (lines, letters) = (text.split('\n').count(), text.chars().count());
        if lines <= LONG_PASTE_LINES && letters <= LONG_PASTE_CHARS {
            return self.insert(&format!("{gap}{text}"));
        }
        let number = self.pastes.len() + 1;
        let marker = match lines {
            0..=LONG_PASTE_LINES => format!("[paste #{number} {letters} chars]"),
            _ => format!("[paste #{number} +{lines} lines]"),
        };
        self.pastes.push(Paste { marker: marker.clone(), text });
        self.insert(&format!("{gap}{marker}"));
    }

    pub(crate) fn go(&mut self, way: Way, reach: Reach) {
        self.last = Last::Other;
        self.cursor = self.target(way, reach);
    }

    /// Moves the cursor; inside a marker it goes to its start.
    pub(crate) fn go_to(&mut self, at: usize) {
        self.last = Last::Other;
        let mut at = at.min(self.text.len());
        while !self.is_boundary(at) {
            at -= 1;
        }
        let inside = self.marked().find(|range| range.start < at && at < range.end);
        self.cursor = inside.map_or(at, |range| range.start);
    }

    pub(crate) fn jump(&mut self, way: Way, wanted: char) -> bool {
        let found = match way {
            Way::Forward => {
                let from = self.after(self.cursor);
                self.text.get(from..).and_then(|rest| rest.find(wanted)).map(|at| from + at)
            }
            Way::Back => self.text.get(..self.cursor).and_then(|before| before.rfind(wanted)),
        };
        found.inspect(|at| self.go_to(*at)).is_some()
    }

    /// Deletes one grapheme, marker or line end.
    pub(crate) fn delete(&mut self, way: Way) {
        self.last = Last::Other;
        let range = self.range_to(self.target(way, Reach::Unit));
        if !range.is_empty() {
            self.change(range, "");
        }
    }

    /// Deletes up to a target and keeps the text for yank. At the edge of a line it deletes the line end.
    pub(crate) fn kill(&mut self, way: Way, reach: Reach) {
        let mut range = self.range_to(self.target(way, reach));
        if range.is_empty() {
            range = self.range_to(self.target(way, Reach::Unit));
        }
        let killed = self.text.get(range.clone()).unwrap_or_default().to_owned();
        if killed.is_empty() {
            return;
        }
        match (self.kills.last_mut().filter(|_| self.last == Last::Killed), way) {
            (Some(last), Way::Forward) => last.push_str(&killed),
            (Some(last), Way::Back) => last.insert_str(0, &killed),
            (None, _) => self.kills.push(killed),
        }
        self.change(range, "");
        self.last = Last::Killed;
    }

    pub(crate) fn yank(&mut self) {
        if let Some(text) = self.kills.last().cloned() {
            self.put_back(self.cursor..self.cursor, &text);
        }
    }

    /// After a yank, replaces its text with the one deleted before it.
    pub(crate) fn yank_pop(&mut self) {
        if let Last::Yanked(range) = self.last.clone() {
            self.kills.rotate_right(1);
            if let Some(text) = self.kills.last().cloned() {
                self.put_back(range, &text);
            }
        }
    }

    fn put_back(&mut self, range: Range<usize>, text: &str) {
        let start = range.start;
        self.change(range, text);
        self.last = Last::Yanked(start..self.cursor);
    }

    pub(crate) fn undo(&mut self) -> bool {
        self.last = Last::Other;
        let Some(step) = self.undo.pop() else { return false };
        for change in step.changes.iter().rev() {
            let end = change.at + change.inserted.len();
            if self.text.get(change.at..end).is_some() {
                self.text.replace_range(change.at..end, &change.removed);
            }
        }
        self.cursor = step.cursor.min(self.text.len());
        true
    }

    /// The only place where the text changes.
    fn change(&mut self, range: Range<usize>, inserted: &str) {
        let Some(removed) = self.text.get(range.clone()) else { return };
        let change = Change { at: range.start, removed: removed.to_owned(), inserted: inserted.to_owned() };
        self.undo.push(UndoStep { changes: vec![change], cursor: self.cursor });
        self.text.replace_range(range.clone(), inserted);
        self.cursor = range.start + inserted.len();
    }

    fn is_boundary(&self, at: usize) -> bool {
        let mut cursor = GraphemeCursor::new(at, self.text.len(), true);
        self.text.is_char_boundary(at) && cursor.is_boundary(&self.text, 0).unwrap_or(true)
    }

    fn range_to(&self, target: usize) -> Range<usize> {
        self.cursor.min(target)..self.cursor.max(target)
    }

    fn target(&self, way: Way, reach: Reach) -> usize {
        let at = self.cursor;
        let (before, after) = self.text.split_at_checked(at).unwrap_or((&self.text, ""));
        match (way, reach) {
            (Way::Back, Reach::Unit) => self.before(at),
            (Way::Forward, Reach::Unit) => self.after(at),
            (Way::Back, Reach::Line) => before.rfind('\n').map_or(0, |end| end + 1),
            (Way::Forward, Reach::Line) => after.find('\n').map_or(self.text.len(), |end| at + end),
            (Way::Back, Reach::Word) => {
                let spaces = before.trim_end().len();
                let marker = self.marked().find(|range| range.end == spaces).map(|range| range.start);
                marker.unwrap_or_else(|| words::start_of_last(before))
            }
            (Way::Forward, Reach::Word) => {
                let spaces = at + (after.len() - after.trim_start().len());
                let marker = self.marked().find(|range| range.start == spaces).map(|range| range.end);
                marker.unwrap_or_else(|| at + words::end_of_first(after))
            }
        }
    }

    /// The start of the grapheme or marker that ends at `at`.
    fn before(&self, at: usize) -> usize {
        if let Some(marker) = self.marked().find(|range| range.end == at) {
            return marker.start;
        }
        let before = self.text.get(..at).unwrap_or_default();
        at - before.graphemes(true).next_back().map_or(0, str::len)
    }

    /// The end of the grapheme or marker that starts at `at`.
    fn after(&self, at: usize) -> usize {
        if let Some(marker) = self.marked().find(|range| range.start == at) {
            return marker.end;
        }
        let after = self.text.get(at..).unwrap_or_default();
        at + after.graphemes(true).next().map_or(0, str::len)
    }
}

fn harmless(text: &str) -> String {
    strip_lines(text).into_owned()
}

#[cfg(test)]
mod tests;
