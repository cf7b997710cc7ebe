//! Markdown that is still coming in. Blocks that can no longer change are laid out once; only the last one is laid out
//! anew when more of it comes.
//!
//! A block is finished when, of the lines that are complete, another one begins behind it: markdown is read line by
//! line, and a block that was closed is never opened again. Definitions of links (`[name]: address`) change what
//! stands anywhere: a text that holds one is laid out as a whole.

use std::ops::Range;

use pulldown_cmark::{Event, Parser};
use ratatui::style::Style;
use ratatui::text::Line;

use super::code::Memo;
use super::{MAX_BYTES, Sheet, harmless, options, rest, rows};
use crate::theme::Theme;

/// A text that grows.
#[derive(Debug, Default)]
pub struct Stream {
    /// The lines that are complete, made harmless.
    text: String,
    /// The line that is not, as it came.
    tail: String,
    /// How many bytes came, and how many were kept.
    came: usize,
    kept: usize,
    is_full: bool,
    /// How much of the text was taken away: its rows stand elsewhere.
    taken_to: usize,
    /// How much of the text is laid out for good.
    settled_to: usize,
    settled: Vec<Line<'static>>,
    open: Vec<Line<'static>>,
    /// How much of the text has been looked at for blocks that are finished.
    looked_to: usize,
    is_whole: bool,
    is_laid_out: bool,
    sheet: Option<(Theme, usize, Style)>,
    memo: Memo,
}

impl Stream {
    /// Adds what came.
    pub fn push(&mut self, delta: &str) {
        self.came += delta.len();
        self.is_laid_out = false;
        if self.is_full {
            return;
        }
        let room = MAX_BYTES - self.kept;
        let taken = delta.get(..delta.floor_char_boundary(room)).unwrap_or_default();
        self.is_full = taken.len() < delta.len();
        self.kept += taken.len();
        match taken.rfind('\n') {
            Some(end) => {
                let (lines, tail) = taken.split_at(end + 1);
                self.tail.push_str(lines);
                self.text.push_str(&harmless(&self.tail));
                self.tail.clear();
                self.tail.push_str(tail);
            }
            None => self.tail.push_str(taken),
        }
    }

    /// Lays out what has come since.
    pub fn lay_out(&mut self, sheet: &Sheet<'_>) {
        let is_same = self
            .sheet
            .as_ref()
            .is_some_and(|(theme, width, base)| theme == sheet.theme && (*width, *base) == (sheet.width, sheet.base));
        if !is_same {
            self.sheet = Some((sheet.theme.clone(), sheet.width, sheet.base));
            self.begin_anew();
        }
        if self.is_laid_out {
            return;
        }
        if self.looked_to < self.text.len() && !self.is_whole {
            self.settle(sheet);
        }
        let mut open = self.text.get(self.settled_to..).unwrap_or_default().to_owned();
        open.push_str(&harmless(&self.tail));
        let parser = Parser::new_ext(&open, options());
        if !self.is_whole && parser.reference_definitions().iter().next().is_some() {
            self.is_whole = true;
            self.begin_anew();
            return self.lay_out(sheet);
        }
        let events: Vec<_> = parser.collect();
        let is_behind = self.is_behind();
        self.open = rows(&events, sheet, is_behind, &mut self.memo);
        self.open.extend(rest(self.came - self.kept, sheet));
        self.is_laid_out = true;
    }

    /// The rows that will not change any more, as of the last [`Stream::lay_out`].
    #[must_use]
    pub fn settled(&self) -> &[Line<'static>] {
        &self.settled
    }

    /// The rows below them, which may.
    #[must_use]
    pub fn open(&self) -> &[Line<'static>] {
        &self.open
    }

    /// Gives away the rows that will not change any more: they are not among the rows from now on.
    pub fn take(&mut self) -> Vec<Line<'static>> {
        self.taken_to = self.settled_to;
        std::mem::take(&mut self.settled)
    }

    /// How many lines of the text were taken.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.text.get(..self.taken_to).unwrap_or_default().matches('\n').count()
    }

    /// Takes back what was given away.
    pub fn untake(&mut self) {
        self.taken_to = 0;
        self.begin_anew();
    }

    fn is_behind(&self) -> bool {
        self.taken_to > 0 || !self.settled.is_empty()
    }

    fn begin_anew(&mut self) {
        self.settled.clear();
        (self.settled_to, self.looked_to) = (self.taken_to, self.taken_to);
        self.is_laid_out = false;
        self.memo = Memo::default();
    }

    /// Lays out the blocks behind which another one begins.
    fn settle(&mut self, sheet: &Sheet<'_>) {
        self.looked_to = self.text.len();
        let new = self.text.get(self.settled_to..).unwrap_or_default();
        let parser = Parser::new_ext(new, options());
        if parser.reference_definitions().iter().next().is_some() {
            self.is_whole = true;
            return self.begin_anew();
        }
        let events: Vec<_> = parser.into_offset_iter().collect();
        let Some((first, at)) = last_block(&events).filter(|(first, _)| *first > 0) else { return };
        // What a block is indented by belongs to it.
        let start = new.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
        let events: Vec<_> = events.into_iter().take(first).map(|(event, _)| event).collect();
        let is_behind = self.is_behind();
        let finished = rows(&events, sheet, is_behind, &mut self.memo);
        self.settled.extend(finished);
        self.settled_to += start;
    }
}

/// Which event begins the last block, and where in the text it begins.
fn last_block(events: &[(Event<'_>, Range<usize>)]) -> Option<(usize, usize)> {
    let (mut depth, mut last) = (0_usize, None);
    for (number, (event, range)) in events.iter().enumerate() {
        if depth == 0 {
            last = Some((number, range.start));
        }
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    last
}
