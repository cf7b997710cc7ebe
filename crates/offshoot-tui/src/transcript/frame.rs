//! A frame: the visible part of the conversation, as rows and as cells.

use std::sync::Arc;

use offshoot_session::entry::{Entry, Source};
use offshoot_session::error::Result;
use offshoot_session::text::counted;
use offshoot_session::tree::NodeIx;
use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use ratatui::text::Line;

use super::path::{Group, Key};
use super::{Body, Transcript};
use crate::conversation::Conversation;
use crate::message::{AnswerContext, RenderedRows, RowRenderer};
use crate::text;
use crate::theme::{Theme, Token};
use offshoot_session::transcript::{Item, StoredPicture, ToolResult};

/// The maximum number of shown results of an answer. The number of the other results is reported.
const MAX_RESULTS: usize = 256;

impl Transcript {
    /// Takes the bodies that [`Transcript::lay_out`] asked for.
    pub fn supply(&mut self, entries: impl IntoIterator<Item = Entry>) {
        for entry in entries {
            self.bodies.put(
                entry.ix,
                Body::of(Item::of_entry(&entry).filter(Item::is_conversation)),
                entry.line().len() + 64,
            );
        }
    }

    /// Lays out a screen of this size, after moves and changes of the conversation. Returns the entries with missing
    /// bodies, at most as many as are on the screen. Supply them, and lay out again.
    pub fn lay_out(&mut self, conversation: &Conversation, theme: &Theme, size: Size) -> Vec<NodeIx> {
        self.adopt(theme, size.width);
        self.height = usize::from(size.height);
        self.bodies.frame();
        self.laid.frame();
        self.wanted.clear();
        self.follow(conversation);
        self.travel();
        self.show();
        std::mem::take(&mut self.wanted)
    }

    fn adopt(&mut self, theme: &Theme, width: u16) {
        if self.theme != *theme || self.width != usize::from(width) {
            self.theme = theme.clone();
            self.width = usize::from(width);
            self.forget_rows();
        }
    }

    /// Lays out a screen, and reads the missing bodies.
    pub fn fill(&mut self, source: &dyn Source, conversation: &Conversation, theme: &Theme, size: Size) -> Result<()> {
        loop {
            let wanted = self.lay_out(conversation, theme, size);
            if wanted.is_empty() {
                return Ok(());
            }
            for ix in wanted {
                let entry = source.entry(ix)?;
                self.supply([entry]);
            }
        }
    }

    /// Draws the last layout.
    pub fn view(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let mut y = area.y;
        for slice in &self.visible {
            let laid = self.peek(slice.key);
            for row in slice.at.row..slice.at.row + slice.rows {
                if y >= area.bottom() {
                    return;
                }
                let line_area = Rect { y, height: 1, ..area };
                match laid.and_then(|laid| laid.lines.get(row)) {
                    Some(line) => text::draw(line, line_area, buf),
                    // The body is not loaded yet.
                    None if row == 1 => text::draw(&Line::styled("  …", theme.style(Token::Muted)), line_area, buf),
                    None => {}
                }
                if self.is_focused(slice.key, laid, row) {
                    buf.set_style(line_area, theme.style(Token::SelectedBg));
                }
                y += 1;
            }
        }
    }

    /// The pictures that are completely visible, and their places in the area.
    pub fn pictures(&self, area: Rect) -> Vec<(Rect, Arc<StoredPicture>)> {
        let mut found = Vec::new();
        let mut y = usize::from(area.y);
        for slice in &self.visible {
            for placed in self.peek(slice.key).into_iter().flat_map(|laid| &laid.pictures) {
                let rows = placed.row..placed.row + usize::from(placed.size.1);
                if rows.start >= slice.at.row && rows.end <= slice.at.row + slice.rows {
                    let y = u16::try_from(y + rows.start - slice.at.row).unwrap_or(u16::MAX);
                    let place = Rect { x: area.x + placed.column, y, width: placed.size.0, height: placed.size.1 };
                    found.push((place.intersection(area), placed.picture.clone()));
                }
            }
            y += slice.rows;
        }
        found
    }

    /// The rows of a group, if all bodies are loaded. Notes the missing bodies.
    pub(super) fn rows_of(&mut self, at: usize) -> Option<(Key, Arc<RenderedRows>)> {
        let Some(group) = self.group(at) else {
            let at = at - self.path.len().min(at);
            return Some((Key::UnderWay(at), self.under_way.get(at)?.clone()));
        };
        if let Some(laid) = self.laid.get(group.key) {
            return Some((group.key, laid.clone()));
        }
        let laid = Arc::new(self.lay_out_group(group)?);
        self.laid.put(group.key, laid.clone(), laid.lines.len() + 1);
        Some((group.key, laid))
    }

    /// The results of an answer's calls, as far as they are known.
    fn results(&mut self, group: Group) -> Option<(Vec<Arc<ToolResult>>, usize)> {
        let results = self.path.results(&group);
        let shown: Vec<NodeIx> = results.iter().take(MAX_RESULTS).copied().collect();
        let hidden = results.len() - shown.len();
        // All missing bodies are requested at once.
        let bodies: Vec<_> = shown.into_iter().map(|ix| self.body(ix)).collect();
        let mut results: Vec<Arc<ToolResult>> = Vec::with_capacity(bodies.len());
        for body in bodies {
            if let Body::Result(result) = body? {
                results.push(result);
            }
        }
        Some((results, hidden))
    }

    fn lay_out_group(&mut self, group: Group) -> Option<RenderedRows> {
        let ix = match group.key {
            Key::Entry(ix) => ix,
            Key::Live(number) => return Some(self.live.get(&number)?.rows(&self.look(), self.folds(group.key))),
            Key::UnderWay(_) => return None,
        };
        let body = self.body(ix);
        let (results, hidden) = self.results(group)?;
        let beside = AnswerContext { results: &results, ..AnswerContext::default() };
        let mut laid = match &body? {
            Body::Item(item) => self.look().rows(item, self.folds(group.key), beside),
            Body::Result(result) => {
                self.look().rows(&Item::Result(result.as_ref().clone()), self.folds(group.key), beside)
            }
            Body::Nothing => RenderedRows::default(),
        };
        if hidden > 0 {
            let told = format!("  … {} not shown", counted(hidden, "more result is", "more results are"));
            laid.lines.push(Line::styled(told, self.theme.style(Token::Muted)));
        }
        Some(laid)
    }

    pub(super) fn look(&self) -> RowRenderer<'_> {
        RowRenderer { theme: &self.theme, width: self.width, habits: &self.habits }
    }

    fn body(&mut self, ix: NodeIx) -> Option<Body> {
        let body = self.bodies.get(ix).cloned();
        if body.is_none() && !self.wanted.contains(&ix) {
            self.wanted.push(ix);
        }
        body
    }
}
