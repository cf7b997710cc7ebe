//! Draws hits: a line for each session, and below it its hits with the words that were found. Changes nothing.

use std::ops::Range;

use offshoot_session::clock::Millis;
use offshoot_workspace::search::SearchHitRow;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation as _;

use super::HitList;
use crate::overlay::age::age;
use crate::text::{self, ELLIPSIS};
use crate::theme::{Theme, Token};

/// From this width on, who said it and when have columns of their own.
const WIDE: usize = 60;
const SPEAKER: usize = 9;
const AGE: usize = 4;

impl HitList {
    /// Draws the rows around the cursor; `is_chosen` says whether the cursor is here.
    pub(crate) fn view(&self, theme: &Theme, (area, now): (Rect, Millis), is_chosen: bool, buf: &mut Buffer) {
        let (height, columns) = (usize::from(area.height), usize::from(area.width));
        let first = self.cursor.saturating_sub(height);
        let last = self.cursor.saturating_add(height).min(self.rows.len());
        let (mut lines, mut chosen_at) = (Vec::new(), 0);
        for at in first..last {
            let Some(row) = self.rows.get(at) else { break };
            let before = at.checked_sub(1).and_then(|before| self.rows.get(before));
            if before.is_none_or(|before| before.file != row.file) {
                lines.push(heading(theme, row, columns));
            }
            let is_here = is_chosen && at == self.cursor;
            if at == self.cursor {
                chosen_at = lines.len();
            }
            lines.push(hit(theme, (row, is_here), columns, now));
        }
        // The heading of the first hit is seen.
        let middle = if self.cursor == 0 { 0 } else { chosen_at.saturating_sub(height / 2) };
        let top = middle.min(lines.len().saturating_sub(height));
        for (line, row) in lines.iter().skip(top).zip(area.rows()) {
            text::draw(line, row, buf);
        }
    }

    /// Draws the hit under the cursor: where it is, and all the words around it.
    pub(crate) fn preview(&self, theme: &Theme, (area, now): (Rect, Millis), buf: &mut Buffer) {
        let Some(row) = self.rows.get(self.cursor).filter(|_| !area.is_empty()) else { return };
        let columns = usize::from(area.width);
        let mut about = vec![row.name.clone(), row.speaker.clone()];
        about.extend(row.at.map(|at| age(at, now)));
        about.extend(standing(row).map(str::to_owned));
        if row.is_inside {
            about.push("inside of words".to_owned());
        }
        if row.copies > 0 {
            about.push(format!("also in {} more", row.copies));
        }
        let muted = theme.style(Token::BorderMuted);
        let title = text::fit(&about.join(" · "), columns.saturating_sub(4)).into_owned();
        let rule = "─".repeat(columns.saturating_sub(text::width(&title) + 4));
        let head = vec![
            Span::styled("── ", muted),
            Span::styled(title, theme.style(Token::Muted)),
            Span::styled(format!(" {rule}"), muted),
        ];
        let words = Line::from(marked(theme, &row.snippet, &row.ranges, theme.style(Token::Text)));
        let lines = std::iter::once(Line::from(head)).chain(text::wrap(words, columns.max(1)));
        for (line, row) in lines.zip(area.rows()) {
            text::draw(&line, row, buf);
        }
    }
}

/// What an entry is to the session's current branch.
fn standing(row: &SearchHitRow) -> Option<&'static str> {
    match (row.is_on_path, row.is_compacted) {
        (false, _) => Some("⑂ another branch"),
        (true, true) => Some("≡ compacted"),
        (true, false) => None,
    }
}

/// The line above the hits of a session.
fn heading(theme: &Theme, row: &SearchHitRow, columns: usize) -> Line<'static> {
    let agent = if row.agent == "offshoot" { String::new() } else { format!(" {}", row.agent) };
    let folder =
        if columns < WIDE { String::new() } else { text::truncate_middle(&row.folder, columns / 3).into_owned() };
    let right = format!("{folder}{agent}");
    let room = columns.saturating_sub(text::width(&right) + 1);
    let title = if row.title.is_empty() { "?" } else { row.title.as_str() };
    let title = text::fit(title, room).into_owned();
    let gap = columns.saturating_sub(text::width(&title) + text::width(&right));
    Line::from(vec![
        Span::styled(title, theme.style(Token::Text).add_modifier(Modifier::BOLD)),
        Span::raw(" ".repeat(gap)),
        Span::styled(right, theme.style(Token::Dim)),
    ])
}

fn hit(theme: &Theme, (row, is_chosen): (&SearchHitRow, bool), columns: usize, now: Millis) -> Line<'static> {
    let age = row.at.map_or_else(|| "?".to_owned(), |at| age(at, now));
    let speaker = text::fit(&row.speaker, SPEAKER).into_owned();
    let facts = if columns < WIDE {
        format!("{speaker} {age} ")
    } else {
        let gap = SPEAKER.saturating_sub(text::width(&speaker));
        format!("{speaker}{}  {age:>AGE$}  ", " ".repeat(gap))
    };
    let mark = match (row.is_on_path, row.is_compacted) {
        (false, _) => "⑂ ",
        (true, true) => "≡ ",
        (true, false) => "",
    };
    let room = columns.saturating_sub(2 + text::width(&facts) + text::width(mark));
    let token = if row.is_error { Token::Error } else { Token::Dim };
    let style = theme.style(Token::Text);
    let style = if is_chosen { style.add_modifier(Modifier::BOLD) } else { style };
    let mut line = Line::from(vec![
        Span::styled(if is_chosen { "› " } else { "  " }, theme.style(Token::Accent)),
        Span::styled(facts, theme.style(token)),
        Span::styled(mark, theme.style(Token::Warning)),
    ]);
    let start = start_of(&row.snippet, row.ranges.first(), room);
    let shown = row.snippet.get(start..).unwrap_or_default();
    let ranges: Vec<_> =
        row.ranges.iter().map(|range| range.start - start.min(range.start)..range.end - start).collect();
    let mut words = Line::default();
    if start > 0 {
        words.push_span(Span::styled(ELLIPSIS, style));
    }
    words.spans.extend(marked(theme, shown, &ranges, style));
    line.spans.extend(text::truncate_line(&words, room, ELLIPSIS).spans);
    if is_chosen { line.style(theme.style(Token::SelectedBg)) } else { line }
}

/// Where a snippet begins so that what was found first is seen in these columns.
fn start_of(snippet: &str, first: Option<&Range<usize>>, columns: usize) -> usize {
    let Some(first) = first else { return 0 };
    if text::width(snippet.get(..first.end).unwrap_or_default()) < columns {
        return 0;
    }
    let (mut start, mut room) = (first.start, columns / 3);
    for (at, grapheme) in snippet.get(..first.start).unwrap_or_default().grapheme_indices(true).rev() {
        let Some(left) = room.checked_sub(text::width(grapheme)) else { break };
        (room, start) = (left, at);
    }
    start
}

/// A text with what was found in it marked.
fn marked(theme: &Theme, text: &str, ranges: &[Range<usize>], style: Style) -> Vec<Span<'static>> {
    let mark = style.patch(theme.style(Token::SearchMatchText)).patch(theme.style(Token::SearchMatchBg));
    let (mut spans, mut end) = (Vec::new(), 0);
    for range in ranges.iter().filter(|range| range.end <= text.len()) {
        spans.push(Span::styled(text.get(end..range.start).unwrap_or_default().to_owned(), style));
        spans.push(Span::styled(text.get(range.clone()).unwrap_or_default().to_owned(), mark));
        end = range.end;
    }
    spans.push(Span::styled(text.get(end..).unwrap_or_default().to_owned(), style));
    spans
}
