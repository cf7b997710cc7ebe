//! A frame: what of the conversation is on the screen, as rows and as cells.

use std::sync::Arc;

use offshoot_session::entry::{Entry, Source};
use offshoot_session::error::Result;
use offshoot_session::transcript::{Item, StoredPicture, ToolResult};
use offshoot_session::tree::NodeIx;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::path::{Group, Key};
use super::{Body, STREAMING, Transcript, waiting_key};
use crate::message::{Beside, Laid, Look, Stretch};
use crate::text;
use crate::theme::{Theme, Token};

/// How many results of one answer are shown; the rest is told.
const MAX_RESULTS: usize = 256;

impl Transcript {
    /// Takes bodies that [`Transcript::lay_out`] asked for.
    pub fn supply(&mut self, entries: impl IntoIterator<Item = Entry>) {
        for entry in entries {
            self.bodies.put(
                entry.ix,
                Body::of(Item::of_entry(&entry).filter(Item::is_conversation)),
                entry.line().len() + 64,
            );
        }
    }

    /// Lays out what is on a screen of this size, after what was moved. Returns the entries whose bodies it lacks, at
    /// most as many as are on the screen: supply them, and lay out again.
    pub fn lay_out(&mut self, theme: &Theme, width: u16, height: u16) -> Vec<NodeIx> {
        self.adopt(theme, width);
        self.height = usize::from(height);
        self.bodies.frame();
        self.laid.frame();
        self.wanted.clear();
        self.travel();
        self.show();
        std::mem::take(&mut self.wanted)
    }

    fn adopt(&mut self, theme: &Theme, width: u16) {
        if self.theme != *theme || self.width != usize::from(width) {
            self.theme = theme.clone();
            self.width = usize::from(width);
            self.laid.clear();
            self.streamed = None;
        }
    }

    /// Lays out and reads what that takes.
    ///
    /// # Errors
    /// The session cannot be read. What could be read is shown.
    pub fn fill(&mut self, source: &dyn Source, theme: &Theme, width: u16, height: u16) -> Result<()> {
        loop {
            let wanted = self.lay_out(theme, width, height);
            if wanted.is_empty() {
                return Ok(());
            }
            for ix in wanted {
                let entry = source.entry(ix)?;
                self.supply([entry]);
            }
        }
    }

    /// Draws what was laid out.
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
                    // Its body is still to come.
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

    /// The pictures whose whole place is on the screen, and where in the area.
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

    /// The rows of a group, if all bodies are there; what lacks is noted.
    pub(super) fn rows_of(&mut self, at: usize) -> Option<(Key, Arc<Laid>)> {
        let Some(group) = self.group(at) else { return self.beyond(at - self.path.len().min(at)) };
        if let Some(laid) = self.laid.get(group.key) {
            return Some((group.key, laid.clone()));
        }
        let laid = Arc::new(self.lay_out_group(at, group)?);
        self.laid.put(group.key, laid.clone(), laid.lines.len() + 1);
        Some((group.key, laid))
    }

    /// The results of the calls of an answer, as far as they are known.
    fn results(&mut self, at: usize, group: Group) -> Option<(Vec<Arc<ToolResult>>, usize)> {
        let keys = self.path.results(&group);
        let shown: Vec<Key> = keys.iter().take(MAX_RESULTS).copied().collect();
        let hidden = keys.len() - shown.len();
        // All that lack are asked for at once.
        let bodies: Vec<_> = shown.into_iter().map(|key| self.body(key)).collect();
        let mut results: Vec<Arc<ToolResult>> = Vec::with_capacity(bodies.len());
        for body in bodies {
            if let Body::Result(result) = body? {
                results.push(result);
            }
        }
        if self.is_live(at) {
            let new = self.running.values().filter(|new| results.iter().all(|known| known.call != new.call));
            let new: Vec<_> = new.cloned().collect();
            results.extend(new);
        }
        Some((results, hidden))
    }

    /// Whether results of an answer's calls are still to come.
    fn is_live(&self, at: usize) -> bool {
        self.is_at_work && self.path.answer() == Some(at)
    }

    fn lay_out_group(&mut self, at: usize, group: Group) -> Option<Laid> {
        let body = self.body(group.key);
        let (results, hidden) = self.results(at, group)?;
        let beside = Beside { results: &results, is_live: self.is_live(at), texts: None };
        let mut laid = self.laid_out(group.key, &body?, beside);
        if hidden > 0 {
            let told = format!("  … {hidden} more results are not shown");
            laid.lines.push(Line::styled(told, self.theme.style(Token::Muted)));
        }
        Some(laid)
    }

    fn laid_out(&self, key: Key, body: &Body, beside: Beside<'_>) -> Laid {
        let look = Look { theme: &self.theme, width: self.width, habits: &self.habits };
        match body {
            Body::Item(item) => look.rows(item, self.folds(key), beside),
            Body::Result(result) => look.rows(&Item::Result(result.as_ref().clone()), self.folds(key), beside),
            Body::Nothing => Laid::default(),
        }
    }

    /// The rows of what has no group yet: the answer that comes in, and commands of the user behind it.
    fn beyond(&mut self, at: usize) -> Option<(Key, Arc<Laid>)> {
        if at == 0 && self.streaming.is_some() {
            return self.streaming_rows();
        }
        let number = at - usize::from(self.streaming.is_some());
        let key = waiting_key(number);
        if let Some(laid) = self.laid.get(key) {
            return Some((key, laid.clone()));
        }
        let look = Look { theme: &self.theme, width: self.width, habits: &self.habits };
        let laid = Arc::new(look.rows(self.waiting.get(number)?, self.folds(key), Beside::default()));
        self.laid.put(key, laid.clone(), laid.lines.len() + 1);
        Some((key, laid))
    }

    fn streaming_rows(&mut self) -> Option<(Key, Arc<Laid>)> {
        if let Some(laid) = &self.streamed {
            return Some((STREAMING, laid.clone()));
        }
        let laid = Arc::new(self.lay_out_streaming()?);
        self.streamed = Some(laid.clone());
        Some((STREAMING, laid))
    }

    fn lay_out_streaming(&mut self) -> Option<Laid> {
        let mut streaming = self.streaming.take()?;
        let look = Look { theme: &self.theme, width: self.width, habits: &self.habits };
        let folds = self.folds(STREAMING);
        let texts = streaming.streams.rows(&look, folds, (Stretch::default(), usize::MAX));
        let item = Item::Answer(std::mem::take(&mut streaming.answer));
        let beside = Beside { results: &[], is_live: true, texts: Some(&texts) };
        let laid = look.rows(&item, folds, beside);
        if let Item::Answer(answer) = item {
            streaming.answer = answer;
        }
        self.streaming = Some(streaming);
        Some(laid)
    }

    fn body(&mut self, key: Key) -> Option<Body> {
        match key {
            Key::Live(number) => self.live.get(&number).cloned(),
            Key::Entry(ix) => {
                let body = self.bodies.get(ix).cloned();
                if body.is_none() && !self.wanted.contains(&ix) {
                    self.wanted.push(ix);
                }
                body
            }
        }
    }
}
