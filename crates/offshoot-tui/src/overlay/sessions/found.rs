//! A row of the session list during a search: the title or a snippet, with the matches marked.

use ratatui::style::Style;
use ratatui::text::Span;

use super::list::SessionListRow;
use super::search::Query;
use crate::markdown::plain;
use crate::text::{fit, width};
use crate::theme::{Theme, Token};

/// The minimum columns of a snippet.
const LEAST: usize = 12;

/// The text for a session in these columns. If the title does not contain the match, the snippet follows the title. It
/// replaces the title if the session has no name.
pub(super) fn words(
    theme: &Theme,
    row: &SessionListRow,
    query: Option<&Query>,
    columns: usize,
    style: Style,
) -> Vec<Span<'static>> {
    let own = words_of(row, columns);
    let Some(query) = query else { return vec![Span::styled(own, style)] };
    let is_shown = !query.matches(&own).is_empty();
    let Some(snippet) = row.said.as_ref().map(|said| &said.snippet).filter(|_| !is_shown) else {
        return marked(theme, query, &own, style);
    };
    let own = if row.name.is_some() { words_of(row, columns / 2) } else { String::new() };
    let gap = if own.is_empty() { 0 } else { 2 };
    let room = columns.saturating_sub(width(&own) + gap);
    if room < LEAST {
        return vec![Span::styled(own, style)];
    }
    let mut spans = vec![Span::styled(own, style), Span::raw(" ".repeat(gap))];
    let words = plain(snippet, room);
    // A match may lie in what is left out of markdown.
    let words = if query.matches(&words).is_empty() { fit(snippet, room).into_owned() } else { words };
    spans.extend(marked(theme, query, &words, theme.style(Token::Muted)));
    spans
}

/// A session's name as it was given, or its first words without markdown.
fn words_of(row: &SessionListRow, columns: usize) -> String {
    match &row.name {
        Some(_) => fit(row.words(), columns).into_owned(),
        None => plain(row.words(), columns),
    }
}

/// A text with its matches marked.
fn marked(theme: &Theme, query: &Query, text: &str, style: Style) -> Vec<Span<'static>> {
    let mark = style.patch(theme.style(Token::SearchMatchText)).patch(theme.style(Token::SearchMatchBg));
    let mut spans = Vec::new();
    let mut end = 0;
    for found in query.matches(text) {
        spans.push(Span::styled(text.get(end..found.start).unwrap_or_default().to_owned(), style));
        end = found.end;
        spans.push(Span::styled(text.get(found).unwrap_or_default().to_owned(), mark));
    }
    spans.push(Span::styled(text.get(end..).unwrap_or_default().to_owned(), style));
    spans
}
