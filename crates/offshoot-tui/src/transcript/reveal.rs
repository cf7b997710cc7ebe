//! Brings the current match of a search to the screen, unfolds its part, and marks the visible matches. It searches no
//! other group.

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use super::matches::row_of;
use super::path::Key;
use super::search::{FoundMatch, Search, UNFOLDED};
use super::{RowPlace, Transcript};
use crate::theme::{Theme, Token};

impl Transcript {
    /// Brings the current match to the screen, unless bodies are missing.
    pub(super) fn show_match(&mut self) {
        let Some(mut search) = self.search.take() else { return };
        if search.is_to_show && self.wanted.is_empty() {
            let is_shown = search.current.is_none_or(|current| self.go_to_match(&mut search, current));
            search.is_to_show = !is_shown;
            search.visible.clear();
            self.show();
        }
        self.find_visible(&mut search);
        self.search = Some(search);
    }

    fn go_to_match(&mut self, search: &mut Search, current: FoundMatch) -> bool {
        let Some(needle) = &search.needle else { return true };
        let Some(group) = self.group(current.group) else { return true };
        let Some(content) = self.content(group) else { return false };
        let all = self.render(group, &content, UNFOLDED);
        let found = needle.find(&all.lines, self.width);
        let Some(found) = found.get(current.nth).or(found.last()) else { return true };
        self.refold(search);
        let mut now = self.render(group, &content, self.folds(group.key));
        let mut place = row_of(&now, &all, found);
        if let Some(part) = place.folded {
            self.flip(group.key, part);
            search.unfolded = Some((group.key, part));
            now = self.render(group, &content, self.folds(group.key));
            place = row_of(&now, &all, found);
        }
        self.show();
        let rows = found.last().map_or(0, |last| last.row) - found.first().map_or(0, |first| first.row);
        let is_visible = self.visible.iter().any(|slice| {
            let shown = slice.at.row..slice.at.row + slice.rows;
            slice.key == group.key && shown.contains(&place.row) && shown.contains(&(place.row + rows))
        });
        if is_visible {
            return true;
        }
        self.top = RowPlace { group: current.group, row: place.row };
        self.is_at_end = false;
        self.up(self.height / 3)
    }

    /// Folds the part again that was unfolded for a match.
    pub(super) fn refold(&mut self, search: &mut Search) {
        if let Some((key, part)) = search.unfolded.take()
            && self.flipped.get(&key).is_some_and(|flipped| flipped.contains(&part))
        {
            self.flip(key, part);
        }
    }

    /// Finds the matches in the visible groups, as they are laid out, and the current one among them.
    fn find_visible(&mut self, search: &mut Search) {
        let mut known = std::mem::take(&mut search.visible);
        let Some(needle) = &search.needle else { return };
        let current = search.current.and_then(|current| self.group(current.group));
        let mut has_changed = false;
        for slice in &self.visible {
            let Some(laid) = self.peek(slice.key) else { continue };
            let old = known.remove(&slice.key).filter(|(rows, _)| Arc::ptr_eq(rows, laid));
            has_changed |= old.is_none() && current.is_some_and(|group| group.key == slice.key);
            let found = old.map_or_else(|| needle.find(&laid.lines, self.width), |(_, found)| found);
            search.visible.insert(slice.key, (Arc::clone(laid), found));
        }
        if has_changed {
            search.shown_at = self.place_of_current(search);
        }
    }

    /// The current match in its group as it is laid out; `None` if it is folded.
    fn place_of_current(&mut self, search: &Search) -> Option<(Key, usize, u16)> {
        let (current, needle) = (search.current?, search.needle.as_ref()?);
        let group = self.group(current.group)?;
        let content = self.content(group)?;
        let all = self.render(group, &content, UNFOLDED);
        let found = needle.find(&all.lines, self.width);
        let found = found.get(current.nth).or(found.last())?;
        let place = row_of(self.peek(group.key)?, &all, found);
        let column = found.first().map_or(0, |part| part.columns.start);
        place.folded.is_none().then_some((group.key, place.row, column))
    }

    /// Marks the matches in a row of a group.
    pub(super) fn mark_matches(&self, key: Key, row: usize, area: Rect, theme: &Theme, buf: &mut Buffer) {
        let Some(search) = &self.search else { return };
        let Some((_, found)) = search.visible.get(&key) else { return };
        let mark = theme.style(Token::SearchMatchText).patch(theme.style(Token::SearchMatchBg));
        let first = found.partition_point(|found| found.last().is_none_or(|part| part.row < row));
        for found in found.get(first..).unwrap_or_default() {
            let Some(start) = found.first().filter(|start| start.row <= row) else { break };
            let is_current = search.shown_at == Some((key, start.row, start.columns.start));
            let mark = if is_current { mark.add_modifier(Modifier::REVERSED | Modifier::BOLD) } else { mark };
            for part in found.iter().filter(|part| part.row == row) {
                let columns = part.columns.clone();
                let place =
                    Rect { x: area.x.saturating_add(columns.start), width: columns.end - columns.start, ..area };
                buf.set_style(place.intersection(area), mark);
            }
        }
    }
}
