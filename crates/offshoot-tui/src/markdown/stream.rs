//! Incremental layout of streaming markdown. Finished rows are laid out once. Only the last block is laid out again
//! when more text arrives.
//!
//! A block is finished when another block begins after it in the complete lines, or when an empty line ends a
//! paragraph. Markdown is read line by line, and a closed block never reopens. A list item is finished when the next
//! item begins. Each complete line of a code block is finished. Any other long open block is laid out again only when
//! it has grown by a fraction of its size. So the cost stays proportional to the text, however long a block gets.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Tag};
use ratatui::style::Style;
use ratatui::text::Line;

use super::layout::{Behind, Layout};
use super::{MAX_BYTES, Sheet, code, events, flow, readable, rest};
use crate::highlight::Highlighter;
use crate::theme::Theme;

/// An open block of at most this many bytes is laid out again on every change.
const SMALL: usize = 4 * 1024;
/// A larger block is laid out again when it has grown by 1/`PART`.
const PART: usize = 4;

/// A streaming markdown text and its rows.
#[derive(Debug, Default)]
pub struct Stream {
    text: String,
    /// The incomplete last line, not yet sanitised.
    tail: String,
    /// The number of bytes received, and the number kept.
    came: usize,
    kept: usize,
    is_full: bool,
    is_ended: bool,
    settled_to: usize,
    looked_to: usize,
    behind: Behind,
    fence: Option<Fence>,
    settled: Vec<Line<'static>>,
    /// The position after the rows that were taken.
    taken: Taken,
    open: Vec<Line<'static>>,
    /// Below this number of kept bytes the text is not parsed again.
    next: usize,
    is_laid_out: bool,
    sheet: Option<(Theme, usize, Style)>,
    parsed: usize,
}

/// The position up to which rows were taken. Later rows can be laid out on another sheet.
#[derive(Debug, Default)]
struct Taken {
    to: usize,
    behind: Behind,
    fence: Option<Fence>,
}

/// An open code block.
#[derive(Debug, Clone)]
struct Fence {
    mark: char,
    count: usize,
    indent: usize,
    highlighter: Highlighter,
}

impl Stream {
    /// Adds received text.
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
                self.text.push_str(&readable(&self.tail));
                self.tail.clear();
                self.tail.push_str(tail);
            }
            None => self.tail.push_str(taken),
        }
    }

    /// Ends the text: all of it is finished.
    pub fn end(&mut self) {
        self.is_laid_out &= self.is_ended;
        self.is_ended = true;
    }

    /// Lays out the new text. If the sheet has changed, lays out all rows that were not taken.
    pub fn lay_out(&mut self, sheet: &Sheet<'_>) {
        let is_same = self
            .sheet
            .as_ref()
            .is_some_and(|(theme, width, base)| theme == sheet.theme && (*width, *base) == (sheet.width, sheet.base));
        if !is_same {
            self.sheet = Some((sheet.theme.clone(), sheet.width, sheet.base));
            self.begin_again();
        }
        if std::mem::replace(&mut self.is_laid_out, true) {
            return;
        }
        self.code(sheet);
        if self.kept >= self.next || self.is_ended {
            while self.fence.is_none() && self.looked_to < self.text.len() && self.settle(sheet) {}
            self.lay_out_open(sheet);
            let open = self.text.len() - self.settled_to + self.tail.len();
            self.next = self.kept + if open > SMALL { open / PART } else { 0 };
        } else if self.fence.is_some() {
            self.lay_out_open(sheet);
        }
        if self.is_ended {
            self.settled.append(&mut self.open);
        }
    }

    /// The finished rows, as of the last [`Stream::lay_out`].
    #[must_use]
    pub fn settled(&self) -> &[Line<'static>] {
        &self.settled
    }

    /// The rows below the finished rows. They may still change.
    #[must_use]
    pub fn open(&self) -> &[Line<'static>] {
        &self.open
    }

    /// Takes the finished rows out of the stream.
    pub fn take(&mut self) -> Vec<Line<'static>> {
        if self.settled.is_empty() {
            return Vec::new();
        }
        self.taken = Taken { to: self.settled_to, behind: self.behind, fence: self.fence.clone() };
        std::mem::take(&mut self.settled)
    }

    /// Resets to the position after the taken rows.
    fn begin_again(&mut self) {
        let Taken { to, behind, fence } = &self.taken;
        (self.settled_to, self.looked_to, self.next) = (*to, *to, 0);
        (self.behind, self.fence) = (*behind, fence.clone());
        self.settled.clear();
        self.open.clear();
        self.is_laid_out = false;
    }

    /// The total number of bytes parsed as markdown. A byte is parsed a few times on average.
    #[must_use]
    pub fn parsed(&self) -> usize {
        self.parsed
    }

    /// Lays out the complete lines of the open code block.
    fn code(&mut self, sheet: &Sheet<'_>) {
        let Some(mut fence) = self.fence.take() else { return };
        while let Some(line) = self.text.get(self.settled_to..).and_then(|rest| rest.split_inclusive('\n').next()) {
            self.settled_to += line.len();
            self.parsed += line.len();
            let line = line.trim_end_matches('\n');
            if fence.is_closed_by(line) {
                self.settled.push(Line::from(code::fence("", sheet)));
                (self.looked_to, self.next) = (self.settled_to, 0);
                return;
            }
            let indent = fence.indent_of(line);
            let rows = code::row(&mut fence.highlighter, line.get(indent..).unwrap_or_default(), sheet);
            self.settled.extend(flow::lines(rows));
        }
        self.fence = Some(fence);
    }

    /// Lays out the finished blocks. Returns whether more blocks may be finished.
    fn settle(&mut self, sheet: &Sheet<'_>) -> bool {
        self.looked_to = self.text.len();
        let new = self.text.get(self.settled_to..).unwrap_or_default();
        self.parsed += new.len();
        let events = events(new);
        let cut = Cut::of(&events, self.behind).after_paragraph(&events, new);
        // The indentation of a block belongs to the block.
        let start = new.get(..cut.at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
        let (above, below) = new.split_at(start);
        let fence = events.get(cut.events).and_then(|(event, _)| Fence::of(event, below));
        if cut.events == 0 && fence.is_none() {
            return false;
        }
        let finished = events.get(..cut.events).unwrap_or_default();
        let rows = flow::lines(Layout::new(new, sheet, self.behind).run(finished));
        if !rows.is_empty() && self.behind == Behind::Nothing {
            self.behind = Behind::Blocks;
        }
        self.settled.extend(rows);
        if let Some(number) = cut.item {
            self.behind = Behind::Items { number, is_apart: ends_blank(above) };
        } else if matches!(self.behind, Behind::Items { .. }) && cut.events > 0 {
            self.behind = Behind::Blocks;
        }
        self.settled_to += start;
        let Some((fence, language)) = fence else { return false };
        if self.behind != Behind::Nothing {
            self.settled.push(Line::default());
        }
        self.settled.push(Line::from(code::fence(&language, sheet)));
        let opening = self.text.get(self.settled_to..).and_then(|rest| rest.split_inclusive('\n').next());
        self.settled_to += opening.map_or(0, str::len);
        (self.behind, self.fence) = (Behind::Blocks, Some(fence));
        self.looked_to = self.settled_to;
        self.code(sheet);
        self.fence.is_none()
    }

    /// Lays out the block that may still change.
    fn lay_out_open(&mut self, sheet: &Sheet<'_>) {
        self.open.clear();
        let tail = readable(&self.tail);
        if let Some(fence) = &self.fence {
            if !tail.trim().is_empty() && !fence.is_closed_by(&tail) {
                let inside = tail.get(fence.indent_of(&tail)..).unwrap_or_default();
                let rows = code::row(&mut fence.highlighter.clone(), inside, sheet);
                self.open.extend(flow::lines(rows));
            }
            self.open.push(Line::from(code::fence("", sheet)));
        } else {
            let mut source = self.text.get(self.settled_to..).unwrap_or_default().to_owned();
            source.push_str(&tail);
            self.parsed += source.len();
            let rows = Layout::new(&source, sheet, self.behind).run(&events(&source));
            self.open.extend(flow::lines(rows));
        }
        self.open.extend(rest(self.came - self.kept, sheet));
    }
}

/// Whether a text ends with an empty line.
fn ends_blank(text: &str) -> bool {
    let line = text.strip_suffix('\n').unwrap_or(text).rsplit('\n').next().unwrap_or_default();
    line.trim().is_empty()
}

impl Fence {
    /// The code block that an event begins, and its language. `None` if the event begins another kind of block.
    fn of(event: &Event<'_>, source: &str) -> Option<(Self, String)> {
        let Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) = event else { return None };
        let mark = source.trim_start_matches(' ').chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let marks = source.trim_start_matches(' ');
        let count = marks.len() - marks.trim_start_matches(mark).len();
        let indent = source.len() - marks.len();
        Some((Self { mark, count, indent, highlighter: code::highlighter(language) }, language.to_string()))
    }

    fn is_closed_by(&self, line: &str) -> bool {
        let marks = line.trim_start_matches(' ');
        let behind = marks.trim_start_matches(self.mark);
        line.len() - marks.len() < 4
            && marks.len() - behind.len() >= self.count
            && behind.trim_matches([' ', '\t']).is_empty()
    }

    /// The number of leading spaces that belong to the block's indentation, not to the line.
    fn indent_of(&self, line: &str) -> usize {
        (line.len() - line.trim_start_matches(' ').len()).min(self.indent)
    }
}

/// The end of the finished text.
#[derive(Debug, Default)]
struct Cut {
    events: usize,
    at: usize,
    /// Set if the cut is before an item of a list with finished items. The inner value is the item's number.
    item: Option<Option<u64>>,
}

impl Cut {
    /// After the last block, if it is a heading, or a paragraph that an empty line has ended.
    fn after_paragraph(self, events: &[(Event<'_>, Range<usize>)], text: &str) -> Self {
        let is_ended = match events.get(self.events) {
            Some((Event::Start(Tag::Paragraph), _)) => ends_blank(text),
            Some((Event::Start(Tag::Heading { .. }), _)) => true,
            _ => false,
        };
        if is_ended { Self { events: events.len(), at: text.len(), item: None } } else { self }
    }

    /// Before the last block, or the last item of a list that is the last block.
    fn of(events: &[(Event<'_>, Range<usize>)], behind: Behind) -> Self {
        let (mut depth, mut cut, mut list) = (0_usize, Self::default(), None);
        for (number, (event, range)) in events.iter().enumerate() {
            match event {
                Event::Start(Tag::List(first)) if depth == 0 => {
                    cut = Self { events: number, at: range.start, item: None };
                    list = Some(match behind {
                        Behind::Items { number: first, .. } if number == 0 => first,
                        _ => *first,
                    });
                }
                // The first item begins where its list begins.
                Event::Start(Tag::Item) if depth == 1 && cut.events + 1 < number => {
                    if let Some(next) = &mut list {
                        *next = next.map(|number| number.saturating_add(1));
                        cut = Self { events: number, at: range.start, item: Some(*next) };
                    }
                }
                _ if depth == 0 => {
                    (cut, list) = (Self { events: number, at: range.start, item: None }, None);
                }
                _ => {}
            }
            match event {
                Event::Start(_) => depth += 1,
                Event::End(_) => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        cut
    }
}
