//! One row as styled spans: lines, marks, label, text and the content of a folded branch. Rows are panned so that the
//! selected row's text is visible.

use std::collections::HashMap;
use std::ops::Range;

use offshoot_session::entry::Source;
use offshoot_session::kind::{Kind, Role};
use offshoot_session::outline::{BranchNote, Outline, Sums};
use offshoot_session::provenance::mark;
use offshoot_session::text::one_line;
use offshoot_session::tree::NodeIx;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation as _;

use super::TreeSelector;
use crate::text;
use crate::theme::{Theme, Token};

/// The columns before the part that is panned.
const GUTTER: usize = 2;
/// The number of rows to keep.
const KEPT: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct RowTexts {
    rows: HashMap<(NodeIx, RowUse), RowText>,
}

/// The use of a row. The same entry has another text in each use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum RowUse {
    Entry,
    Branch,
    Run,
}

#[derive(Debug, Clone, Default)]
struct RowText {
    said: String,
    /// Where a copy or a merge comes from.
    origin: Option<String>,
    note: Option<BranchNote>,
}

impl RowTexts {
    /// Reads the texts of some rows.
    pub(super) fn fetch(&mut self, rows: Range<usize>, outline: &Outline, source: &dyn Source, sums: Option<&Sums>) {
        if self.rows.len() > KEPT {
            self.rows.clear();
        }
        for row in rows {
            let Some(key) = key(outline, row) else { continue };
            self.rows.entry(key).or_insert_with(|| {
                let note = sums.map_or(Ok(None), |sums| sums.note(source, outline, row));
                let origin = Some(key).filter(|(_, used)| *used != RowUse::Run).map(|(ix, _)| mark(source, ix));
                let origin = origin.and_then(Result::unwrap_or_default);
                RowText { said: read(outline, source, row), origin, note: note.unwrap_or_default() }
            });
        }
    }

    fn get(&self, outline: &Outline, source: &dyn Source, row: usize) -> RowText {
        let known = key(outline, row).and_then(|key| self.rows.get(&key)).cloned();
        known.unwrap_or_else(|| RowText { said: read(outline, source, row), ..RowText::default() })
    }
}

fn key(outline: &Outline, row: usize) -> Option<(NodeIx, RowUse)> {
    let used = match (outline.branch(row), outline.run(row)) {
        (Some(_), _) => RowUse::Branch,
        (None, Some(_)) => RowUse::Run,
        (None, None) => RowUse::Entry,
    };
    outline.entry(row).map(|ix| (ix, used))
}

fn read(outline: &Outline, source: &dyn Source, row: usize) -> String {
    outline.row_text(source, row).unwrap_or_else(|error| one_line(&format!("({error})"), 200))
}

/// A row before it is cut to the screen.
struct Body {
    row: usize,
    /// The columns of the lines before the text.
    indent: usize,
    spans: Vec<Span<'static>>,
    /// The start of the text, after lines and marks.
    anchor: usize,
    width: usize,
    /// The marker after the row of the current entry, or after the nearest row above it.
    here: String,
}

impl TreeSelector {
    pub fn lines(&self, theme: &Theme, columns: usize, room: usize) -> Vec<Line<'static>> {
        let seen = self.list.window(room);
        let view = columns.saturating_sub(GUTTER);
        let bodies: Vec<Body> = seen.clone().filter_map(|row| self.body(theme, row, view)).collect();
        let pan = self.pan(&bodies, view);
        let shown = self.agents.window(seen, self.list.selected, room).into_iter();
        let line = |(row, agent)| match agent {
            Some(number) => self.agent_line(theme, (row, number), view),
            None => bodies.iter().find(|body| body.row == row).map(|body| self.line(theme, body, pan, view)),
        };
        shown.filter_map(line).collect()
    }

    /// `← here` at the current entry. If that has no row, the nearest row above it shows the distance.
    fn here(&self, row: usize) -> String {
        let outline = &self.list.outline;
        let is_nearest = outline.open().and_then(|open| outline.nearest(open)) == Some(row);
        // Counting the steps walks up the path.
        match is_nearest.then(|| outline.steps_to_open(row)).flatten() {
            None => String::new(),
            Some(0) => " ← here".to_owned(),
            Some(below) => format!(" ← here, {below} below"),
        }
    }

    /// The number of columns by which the rows are panned to the left.
    fn pan(&self, bodies: &[Body], view: usize) -> usize {
        let most = bodies.iter().map(|body| body.width).max().unwrap_or(0).saturating_sub(view);
        let Some(selected) = bodies.iter().find(|body| body.row == self.list.selected) else { return 0 };
        let least_text = (view / 3).clamp(4, 20);
        if selected.anchor <= view.saturating_sub(least_text) {
            return 0;
        }
        selected.anchor.saturating_sub((view / 4).clamp(2, 12)).min(most)
    }

    fn body(&self, theme: &Theme, row: usize, view: usize) -> Option<Body> {
        let outline = &self.list.outline;
        let ix = outline.entry(row)?;
        let accent = theme.style(Token::Accent);
        let mut spans = Vec::new();
        if outline.is_folded(row) && !outline.has_connector(row) {
            spans.push(Span::styled("⊞ ", accent));
        }
        if outline.is_on_path(row) {
            spans.push(Span::styled("• ", accent));
        }
        let indent = outline.columns(row);
        let anchor = indent + 2 * spans.len();
        if let Some(label) = self.label(ix) {
            spans.push(Span::styled(format!("[{}] ", text::fit(&label.text, 80)), theme.style(Token::Warning)));
            let time = label.timestamp.as_deref().filter(|_| self.shows_label_times);
            if let Some(time) = time.and_then(|time| super::draw::wall_time(time, self.setup.now, &self.setup.zone)) {
                spans.push(Span::styled(format!("{time} "), theme.style(Token::Muted)));
            }
        }
        let here = self.here(row);
        let RowText { said, origin, note } = self.rows.get(outline, self.source.as_ref(), row);
        let said = text::clean(&said);
        if let Some(origin) = origin {
            spans.push(Span::styled(format!("{} ", text::clean(&origin)), theme.style(Token::Dim)));
        }
        match note {
            None => spans.extend(self.text(theme, ix, &said)),
            Some(note) => {
                let room = view.saturating_sub(indent + spans_width(&spans) + text::width(&here));
                let fitted = note.fit(text::width(&said), Some(room), self.setup.now);
                spans.extend(self.text(theme, ix, &text::fit(&said, fitted.words)));
                spans.push(Span::styled(fitted.note, theme.style(Token::Dim)));
            }
        }
        let width = indent + spans_width(&spans);
        Some(Body { row, indent, spans, anchor, width, here })
    }

    fn text(&self, theme: &Theme, ix: NodeIx, said: &str) -> Vec<Span<'static>> {
        let is_selected = self.list.entry() == Some(ix);
        let node = self.source.tree().node(ix);
        let (who, what) = match (node.kind(), node.role()) {
            (Kind::Message, Some(Role::User)) => (Token::Accent, Token::Text),
            (Kind::Message, Some(Role::Assistant)) => (Token::Success, Token::Text),
            (Kind::Message, Some(Role::ToolResult)) => (Token::Muted, Token::Muted),
            (Kind::CustomMessage, _) => (Token::CustomMessageLabel, Token::Text),
            (Kind::BranchSummary, _) => (Token::Warning, Token::Text),
            (Kind::Compaction, _) => (Token::BorderAccent, Token::BorderAccent),
            _ => (Token::Dim, Token::Dim),
        };
        let bold = if is_selected { Modifier::BOLD } else { Modifier::empty() };
        let style = |token| theme.style(token).add_modifier(bold);
        let cut = said.find(": ").map_or(0, |at| at + 2);
        if who == what || cut == 0 {
            return vec![Span::styled(said.to_owned(), style(what))];
        }
        let (before, after) = said.split_at(cut);
        vec![Span::styled(before.to_owned(), style(who)), Span::styled(after.to_owned(), style(what))]
    }

    fn line(&self, theme: &Theme, body: &Body, pan: usize, view: usize) -> Line<'static> {
        let is_selected = body.row == self.list.selected && !self.agents.has_cursor();
        let ix = self.list.outline.entry(body.row);
        let is_of_two = self.marks.len() <= 2;
        let mark = match self.marks.iter().position(|marked| Some(*marked) == ix) {
            Some(0) if is_of_two => "A",
            Some(_) if is_of_two => "B",
            Some(_) => "+",
            None => " ",
        };
        let accent = theme.style(Token::Accent);
        let mut spans = vec![
            Span::styled(if is_selected { "›" } else { " " }, accent),
            Span::styled(mark, accent.add_modifier(Modifier::BOLD)),
        ];
        let room = view.saturating_sub(text::width(&body.here));
        spans.extend(self.prefix(theme, body, pan..pan + room));
        let used = body.indent.clamp(pan, pan + room) - pan;
        let (start, room) = (pan.saturating_sub(body.indent), room - used);
        let is_cut = spans_width(&body.spans) > start + room;
        spans.extend(cut(&body.spans, start, if is_cut { room.saturating_sub(1) } else { room }));
        if is_cut && room > 0 {
            spans.push(Span::styled("…", theme.style(Token::Dim)));
        }
        if !body.here.is_empty() {
            spans.push(Span::styled(body.here.clone(), theme.style(Token::Success)));
        }
        let style = if is_selected { theme.style(Token::SelectedBg) } else { Style::default() };
        Line::from(spans).style(style)
    }

    /// The connecting lines between two columns.
    fn prefix(&self, theme: &Theme, body: &Body, columns: Range<usize>) -> Option<Span<'static>> {
        let end = columns.end.min(body.indent);
        if columns.start >= end {
            return None;
        }
        // Draws whole levels of three columns, then cuts the excess.
        let (first, last) = (columns.start / 3 * 3, end.div_ceil(3) * 3);
        let drawn = self.list.outline.prefix(body.row, first..last);
        let drawn: String = drawn.chars().skip(columns.start - first).take(end - columns.start).collect();
        Some(Span::styled(drawn, theme.style(Token::Dim)))
    }
}

fn spans_width(spans: &[Span<'static>]) -> usize {
    spans.iter().map(|span| text::width(&span.content)).sum()
}

/// The part of spans between two columns. A wide character that is only half inside is left out.
fn cut(spans: &[Span<'static>], start: usize, columns: usize) -> Vec<Span<'static>> {
    let (mut at, mut out) = (0, Vec::new());
    for span in spans {
        let mut kept = String::new();
        for grapheme in span.content.graphemes(true) {
            let width = text::width(grapheme);
            if at >= start && at + width <= start + columns {
                kept.push_str(grapheme);
            }
            at += width;
            if at > start + columns {
                break;
            }
        }
        if !kept.is_empty() {
            out.push(Span::styled(kept, span.style));
        }
    }
    out
}
