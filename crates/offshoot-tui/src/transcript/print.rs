//! The conversation as rows that are printed once, above a part of the screen that changes: for a terminal that keeps
//! what has scrolled away.
//!
//! What is finished is given by [`Transcript::print`] and never again; what may still change is given by
//! [`Transcript::pending`], as often as it is wanted. Of an answer that comes in, the blocks that are complete are
//! finished, and of one whose tools run, what stands above the first call without a result. How far it is printed is
//! known in words, not in rows, so that nothing is lost or said twice when the terminal gets another width.

use offshoot_session::tree::NodeIx;
use ratatui::text::Line;

use super::path::{Group, Key};
use super::{Body, STREAMING, Transcript};
use crate::message::{Item, Laid, Part, Skip};
use crate::theme::Theme;

/// Rows to be printed.
#[derive(Debug, Default)]
pub struct Printed {
    /// The rows, oldest first.
    pub lines: Vec<Line<'static>>,
    /// Entries whose bodies are needed to go on: supply them, and print again.
    pub wanted: Vec<NodeIx>,
}

impl Transcript {
    /// Takes everything as printed, but for the last items.
    pub fn print_last(&mut self, items: usize) {
        self.printed = self.path.len().saturating_sub(items);
        self.begun = None;
        if let Some(streaming) = &mut self.streaming {
            streaming.untake();
        }
    }

    /// The rows of what is finished and was not printed yet.
    pub fn print(&mut self, theme: &Theme, width: u16) -> Printed {
        self.adopt(theme, width);
        let mut printed = Printed::default();
        while let Some(group) = self.path.get(self.printed) {
            let skip = self.skip(group.key);
            self.wanted.clear();
            let Some(end) = self.finished_to(self.printed, group, skip) else {
                printed.wanted = std::mem::take(&mut self.wanted);
                return printed;
            };
            let Some(mut laid) = self.lay_out_group(self.printed, group, skip) else { return printed };
            if let Some(part) = end {
                printed.lines.extend(rows_before(&mut laid, part));
                if part > skip.part {
                    self.begun = Some((group.key, Skip { part, lines: 0 }));
                }
                return printed;
            }
            printed.lines.append(&mut laid.lines);
            self.printed += 1;
            if self.begun.is_some_and(|(key, _)| key == group.key) {
                self.begun = None;
            }
        }
        printed.lines.extend(self.print_streaming());
        printed
    }

    /// The rows of what is not printed yet: of all of them the last, no more than so many. What lacks its body is left
    /// out.
    pub fn pending(&mut self, theme: &Theme, width: u16, rows: usize) -> Vec<Line<'static>> {
        self.adopt(theme, width);
        let (mut groups, mut count) = (Vec::new(), 0);
        for at in (self.printed..self.count()).rev() {
            if count >= rows {
                break;
            }
            let lines = self.unprinted(at).map(|laid| laid.lines).unwrap_or_default();
            count += lines.len();
            groups.push(lines);
        }
        let mut lines: Vec<_> = groups.into_iter().rev().flatten().collect();
        lines.split_off(lines.len().saturating_sub(rows))
    }

    fn unprinted(&mut self, at: usize) -> Option<Laid> {
        match self.path.get(at) {
            Some(group) => self.lay_out_group(at, group, self.skip(group.key)),
            None if at == self.path.len() && self.streaming.is_some() => self.lay_out_streaming(self.skip(STREAMING)),
            None => self.rows_of(at).map(|(_, laid)| laid.as_ref().clone()),
        }
    }

    fn skip(&self, key: Key) -> Skip {
        self.begun.filter(|(begun, _)| *begun == key).map(|(_, skip)| skip).unwrap_or_default()
    }

    /// Which part of a group is the first that is not finished: `Some(None)` if all is, `None` if bodies lack.
    fn finished_to(&mut self, at: usize, group: Group, skip: Skip) -> Option<Option<usize>> {
        let body = self.body(group.key);
        let (results, _) = self.results(at, group)?;
        let Body::Item(item) = body? else { return Some(None) };
        let Item::Answer(answer) = item.as_ref() else { return Some(None) };
        if !self.is_live(at) {
            return Some(None);
        }
        let is_open = |part: &Part| match part {
            Part::Call(call) => results.iter().all(|result| result.call != call.id || result.is_partial),
            Part::Text(_) | Part::Thinking(_) | Part::Picture(_) | Part::Other(_) => false,
        };
        let open = answer.parts.iter().skip(skip.part).position(is_open);
        Some(open.map(|open| open + skip.part))
    }

    /// What is finished of the answer that comes in: the parts before the last, and the last one's complete blocks.
    fn print_streaming(&mut self) -> Vec<Line<'static>> {
        let skip = self.skip(STREAMING);
        let Some(streaming) = &self.streaming else { return Vec::new() };
        let parts = &streaming.answer.parts;
        let is_call = |part: &Part| matches!(part, Part::Call(_));
        let mut last = parts.iter().position(is_call).unwrap_or(parts.len().saturating_sub(1));
        // Thoughts that follow each other are one.
        let is_thought = |at: usize| matches!(parts.get(at), Some(Part::Thinking(_)));
        while last > 0 && is_thought(last) && is_thought(last - 1) {
            last -= 1;
        }
        let Some(mut laid) = self.lay_out_streaming(skip) else { return Vec::new() };
        let mut lines = rows_before(&mut laid, last);
        let mut skip = if last > skip.part { Skip { part: last, lines: 0 } } else { skip };
        if let Some(stream) = self.streaming.as_mut().and_then(|streaming| streaming.stream(last)) {
            let new = stream.take();
            let is_first = stream.taken() > 0 && skip.lines == 0;
            skip.lines = stream.taken();
            if is_first {
                lines.push(Line::default());
            }
            lines.extend(self.in_margin(new));
        }
        if skip != Skip::default() {
            self.begun = Some((STREAMING, skip));
            self.streamed = None;
        }
        lines
    }

    /// Rows beside the margin that texts of an answer have.
    fn in_margin(&self, lines: Vec<Line<'static>>) -> impl Iterator<Item = Line<'static>> {
        let margin = crate::message::margin(self.width);
        lines.into_iter().map(move |mut line| {
            if margin > 0 {
                line.spans.insert(0, " ".repeat(margin).into());
            }
            line
        })
    }
}

/// The rows above a part.
fn rows_before(laid: &mut Laid, part: usize) -> Vec<Line<'static>> {
    let end = laid.parts.iter().find(|(_, own)| *own >= part).map_or(laid.lines.len(), |(row, _)| *row);
    laid.lines.drain(..end).collect()
}
