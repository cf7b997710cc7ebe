//! Marks an entry that was looked for elsewhere: goes to it, and shows where in it the words are.

use offshoot_session::entry::Source;
use offshoot_session::error::Result;
use offshoot_session::tree::NodeIx;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::matches::Needle;
use super::path::Key;
use super::search::Search;
use super::{Move, Transcript};
use crate::theme::{Theme, Token};

/// Stands beside the rows of the marked entry.
const BAR: &str = "▌";

impl Transcript {
    /// Goes to an entry of the path and marks it, and in it the first of the texts that it has. Returns whether it is on the path.
    pub fn mark(&mut self, source: &dyn Source, ix: NodeIx, found: &[String]) -> Result<bool> {
        let Some(at) = self.path.group_of(ix) else { return Ok(false) };
        self.marked = self.group(at).map(|group| group.key);
        self.go(Move::Group(at));
        for needle in found.iter().filter_map(|text| Needle::new(text)) {
            if !self.matches_in(source, &needle, at)?.0.is_empty() {
                self.search = Some(Box::new(Search::mark(needle, at)));
                break;
            }
        }
        Ok(true)
    }

    /// Draws the mark beside a row.
    pub(super) fn mark_group(&self, key: Key, area: Rect, theme: &Theme, buf: &mut Buffer) {
        if self.marked != Some(key) {
            return;
        }
        let style = theme.style(Token::Accent);
        if let Some(cell) = buf.cell_mut((area.x, area.y)) {
            if cell.symbol() == " " {
                cell.set_symbol(BAR);
            }
            cell.set_style(style);
        }
    }
}
