//! One row: lines, marks, label and text as styled spans, panned so that the selected row's text is seen.

use std::collections::HashMap;
use std::ops::Range;

use offshoot_session::entry::Source;
use offshoot_session::kind::{Kind, Role};
use offshoot_session::outline::Outline;
use offshoot_session::text::one_line;
use offshoot_session::tree::NodeIx;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation as _;

use super::TreeSelector;
use crate::text;
use crate::theme::{Theme, Token};

/// What stands before the part that is panned.
const GUTTER: usize = 2;
/// How the entry is marked at which the session is.
const HERE: &str = " ← here";
/// How many texts are kept.
const KEPT: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Texts {
    texts: HashMap<NodeIx, String>,
}

impl Texts {
    /// Reads the texts of some entries.
    pub(super) fn fetch(&mut self, outline: &Outline, source: &dyn Source, entries: &[NodeIx]) {
        if self.texts.len() > KEPT {
            self.texts.clear();
        }
        for ix in entries {
            self.texts.entry(*ix).or_insert_with(|| read(outline, source, *ix));
        }
    }

    fn get(&self, outline: &Outline, source: &dyn Source, ix: NodeIx) -> String {
        self.texts.get(&ix).cloned().unwrap_or_else(|| read(outline, source, ix))
    }
}

fn read(outline: &Outline, source: &dyn Source, ix: NodeIx) -> String {
    outline.text(source, ix).unwrap_or_else(|error| one_line(&format!("({error})"), 200))
}

/// The rows that are seen, with the selected one in their middle if it can be.
pub(super) fn window(selected: usize, count: usize, room: usize) -> Range<usize> {
    let start = selected.saturating_sub(room / 2).min(count.saturating_sub(room));
    start..(start + room).min(count)
}

/// A row before it is cut to the screen.
struct Body {
    row: usize,
    /// The columns of the lines before the text.
    indent: usize,
    spans: Vec<Span<'static>>,
    /// Where the text begins, behind lines and marks.
    anchor: usize,
    width: usize,
    is_here: bool,
}

impl TreeSelector {
    pub fn lines(&self, theme: &Theme, columns: usize, room: usize) -> Vec<Line<'static>> {
        let seen = window(self.list.selected, self.list.len(), room);
        let here = self.list.outline.open().and_then(|open| self.list.outline.nearest(open));
        let bodies: Vec<Body> = seen.filter_map(|row| self.body(theme, row, Some(row) == here)).collect();
        let view = columns.saturating_sub(GUTTER);
        let pan = self.pan(&bodies, view);
        bodies.into_iter().map(|body| self.line(theme, &body, pan, view)).collect()
    }

    /// By how many columns the rows are moved left.
    fn pan(&self, bodies: &[Body], view: usize) -> usize {
        let most = bodies.iter().map(|body| body.width).max().unwrap_or(0).saturating_sub(view);
        let Some(selected) = bodies.iter().find(|body| body.row == self.list.selected) else { return 0 };
        let least_text = (view / 3).clamp(4, 20);
        if selected.anchor <= view.saturating_sub(least_text) {
            return 0;
        }
        selected.anchor.saturating_sub((view / 4).clamp(2, 12)).min(most)
    }

    fn body(&self, theme: &Theme, row: usize, is_here: bool) -> Option<Body> {
        let outline = &self.list.outline;
        let ix = outline.entry(row)?;
        let accent = theme.style(Token::Accent);
        let mut spans = Vec::new();
        if self.list.folded.contains(&ix) && !outline.has_connector(row) {
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
        spans.extend(self.text(theme, ix, row == self.list.selected));
        let width = indent + spans.iter().map(|span| text::width(&span.content)).sum::<usize>();
        Some(Body { row, indent, spans, anchor, width, is_here })
    }

    fn text(&self, theme: &Theme, ix: NodeIx, is_selected: bool) -> Vec<Span<'static>> {
        let said = self.rows.get(&self.list.outline, self.source.as_ref(), ix);
        let said = text::clean(&said).into_owned();
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
            return vec![Span::styled(said, style(what))];
        }
        let (before, after) = said.split_at(cut);
        vec![Span::styled(before.to_owned(), style(who)), Span::styled(after.to_owned(), style(what))]
    }

    fn line(&self, theme: &Theme, body: &Body, pan: usize, view: usize) -> Line<'static> {
        let is_selected = body.row == self.list.selected;
        let ix = self.list.outline.entry(body.row);
        let mark = match self.marks.iter().position(|marked| Some(*marked) == ix) {
            Some(0) => "A",
            Some(_) => "B",
            None => " ",
        };
        let accent = theme.style(Token::Accent);
        let mut spans = vec![
            Span::styled(if is_selected { "›" } else { " " }, accent),
            Span::styled(mark, accent.add_modifier(Modifier::BOLD)),
        ];
        let room = if body.is_here { view.saturating_sub(text::width(HERE)) } else { view };
        let is_folded = ix.is_some_and(|ix| self.list.folded.contains(&ix));
        spans.extend(self.prefix(theme, body, pan..pan + room, is_folded));
        let used = body.indent.clamp(pan, pan + room) - pan;
        spans.extend(cut(&body.spans, pan.saturating_sub(body.indent), room - used));
        if body.is_here {
            spans.push(Span::styled(HERE, theme.style(Token::Success)));
        }
        let style = if is_selected { theme.style(Token::SelectedBg) } else { Style::default() };
        Line::from(spans).style(style)
    }

    /// The connecting lines between two columns.
    fn prefix(&self, theme: &Theme, body: &Body, columns: Range<usize>, is_folded: bool) -> Option<Span<'static>> {
        let end = columns.end.min(body.indent);
        if columns.start >= end {
            return None;
        }
        // Whole levels of three columns, then without what is too much.
        let (first, last) = (columns.start / 3 * 3, end.div_ceil(3) * 3);
        let drawn = self.list.outline.prefix(body.row, first..last, is_folded);
        let drawn: String = drawn.chars().skip(columns.start - first).take(end - columns.start).collect();
        Some(Span::styled(drawn, theme.style(Token::Dim)))
    }
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
