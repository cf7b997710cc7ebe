//! What a search found, on a row of the list: the session's words or what was said, with what was found marked.

use ratatui::style::Style;
use ratatui::text::Span;

use super::list::SessionListRow;
use super::search::Query;
use crate::text::{fit, width};
use crate::theme::{Theme, Token};

/// The least columns that a snippet is shown in.
const LEAST: usize = 12;

/// What stands for a session in so many columns. Where its own words do not show what was found, the words around that
/// come after them, or in their place if nobody named the session.
pub(super) fn words(
    theme: &Theme,
    row: &SessionListRow,
    query: Option<&Query>,
    columns: usize,
    style: Style,
) -> Vec<Span<'static>> {
    let own = fit(row.words(), columns).into_owned();
    let Some(query) = query else { return vec![Span::styled(own, style)] };
    let is_shown = !query.matches(&own).is_empty();
    let Some(snippet) = row.snippet.as_ref().filter(|_| !is_shown) else { return marked(theme, query, &own, style) };
    let own = if row.name.is_some() { fit(row.words(), columns / 2).into_owned() } else { String::new() };
    let gap = if own.is_empty() { 0 } else { 2 };
    let room = columns.saturating_sub(width(&own) + gap);
    if room < LEAST {
        return vec![Span::styled(own, style)];
    }
    let mut spans = vec![Span::styled(own, style), Span::raw(" ".repeat(gap))];
    spans.extend(marked(theme, query, &fit(snippet, room), theme.style(Token::Muted)));
    spans
}

/// A text with what is found in it marked.
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
