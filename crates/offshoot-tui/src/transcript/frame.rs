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
use crate::conversation::{Conversation, ConversationBlock};
use crate::message::{AnswerContext, Folds, RenderedRows, RowRenderer};
use crate::text;
use crate::theme::{Theme, Token};
use offshoot_session::transcript::{Item, StoredPicture, ToolResult};

/// The maximum number of shown results of an answer. The number of the other results is reported.
const MAX_RESULTS: usize = 256;

/// What a group shows.
#[derive(Debug, Clone)]
pub(super) enum GroupContent {
    /// A body, and the results of its calls.
    Entry(Body, Vec<Arc<ToolResult>>),
    Live(Arc<ConversationBlock>),
}

fn body_of(entry: &Entry) -> Body {
    Body::of(Item::of_entry(entry).filter(Item::is_conversation))
}

impl Transcript {
    /// Takes the bodies that [`Transcript::lay_out`] asked for.
    pub fn supply(&mut self, entries: impl IntoIterator<Item = Entry>) {
        for entry in entries {
            self.bodies.put(entry.ix, body_of(&entry), entry.line().len() + 64);
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
        self.show_match();
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
            let laid = self.peek(slice.key).map(Arc::as_ref);
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
                self.mark_group(slice.key, line_area, theme, buf);
                self.mark_matches(slice.key, row, line_area, theme, buf);
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
        let laid = Arc::new(self.lay_out_group(at, group)?);
        self.laid.put(group.key, laid.clone(), laid.lines.len() + 1);
        Some((group.key, laid))
    }

    /// The results of an answer's calls, as far as they are known.
    fn results(&mut self, group: Group) -> Option<Vec<Arc<ToolResult>>> {
        let shown: Vec<NodeIx> = self.path.results(&group).iter().take(MAX_RESULTS).copied().collect();
        // All missing bodies are requested at once.
        let bodies: Vec<_> = shown.into_iter().map(|ix| self.body(ix)).collect();
        let mut results: Vec<Arc<ToolResult>> = Vec::with_capacity(bodies.len());
        for body in bodies {
            if let Body::Result(result) = body? {
                results.push(result);
            }
        }
        Some(results)
    }

    fn lay_out_group(&mut self, at: usize, group: Group) -> Option<RenderedRows> {
        let content = self.content(group)?;
        let time = match &content {
            GroupContent::Entry(..) => self.path.time(at),
            GroupContent::Live(block) => block.time,
        };
        let mut rows = self.render(group, &content, self.folds(group.key));
        self.look().put_time(&mut rows, time);
        Some(rows)
    }

    /// What a group shows, if all bodies are loaded.
    pub(super) fn content(&mut self, group: Group) -> Option<GroupContent> {
        match group.key {
            Key::Entry(ix) => {
                let body = self.body(ix);
                let results = self.results(group)?;
                Some(GroupContent::Entry(body?, results))
            }
            Key::Live(number) => self.live.get(&number).cloned().map(GroupContent::Live),
            Key::UnderWay(_) => None,
        }
    }

    /// What a group shows, read past the cache, and the bytes read.
    pub(super) fn read_content(&self, source: &dyn Source, group: Group) -> Result<(Option<GroupContent>, usize)> {
        let ix = match group.key {
            Key::Entry(ix) => ix,
            Key::Live(number) => return Ok((self.live.get(&number).cloned().map(GroupContent::Live), 0)),
            Key::UnderWay(_) => return Ok((None, 0)),
        };
        let entry = source.entry(ix)?;
        let (body, mut bytes, mut results) = (body_of(&entry), entry.line().len(), Vec::new());
        for ix in self.path.results(&group).iter().take(MAX_RESULTS) {
            let entry = source.entry(*ix)?;
            bytes += entry.line().len();
            if let Body::Result(result) = body_of(&entry) {
                results.push(result);
            }
        }
        Ok((Some(GroupContent::Entry(body, results)), bytes))
    }

    /// The rows without the time of the message, which is not searched.
    pub(super) fn render(&self, group: Group, content: &GroupContent, folds: Folds<'_>) -> RenderedRows {
        let (body, results) = match content {
            GroupContent::Entry(body, results) => (body, results),
            GroupContent::Live(block) => return block.rows(&self.look(), folds),
        };
        let beside = AnswerContext { results, ..AnswerContext::default() };
        let mut laid = match body {
            Body::Item(item) => self.look().rows(item, folds, beside),
            Body::Result(result) => self.look().rows(&Item::Result(result.as_ref().clone()), folds, beside),
            Body::Nothing => RenderedRows::default(),
        };
        let hidden = self.path.results(&group).len().saturating_sub(MAX_RESULTS);
        if hidden > 0 {
            let told = format!("  … {} not shown", counted(hidden, "more result is", "more results are"));
            laid.lines.push(Line::styled(told, self.theme.style(Token::Muted)));
        }
        laid
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
