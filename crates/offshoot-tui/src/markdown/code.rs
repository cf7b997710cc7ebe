//! Code blocks as rows: fences, and highlighted lines between them.

use ratatui::text::Span;

use super::Sheet;
use super::flow::{self, SpanRow};
use crate::highlight::Highlighter;
use crate::text;
use crate::theme::Token;

pub(super) fn rows(language: &str, code: &str, sheet: &Sheet<'_>) -> Vec<SpanRow> {
    let mut highlighter = highlighter(language);
    let mut rows = vec![fence(language, sheet)];
    // A last line that is blank so far is not shown yet.
    let (lines, last) = code.split_at(code.rfind('\n').map_or(0, |end| end + 1));
    let code = if last.trim().is_empty() { lines } else { code };
    rows.extend(code.lines().flat_map(|line| row(&mut highlighter, line, sheet)));
    rows.push(fence("", sheet));
    rows
}

pub(super) fn fence(language: &str, sheet: &Sheet<'_>) -> SpanRow {
    let style = sheet.theme.style(Token::MdCodeBlockBorder);
    flow::cut(&[Span::styled(format!("```{}", text::strip(language)), style)], sheet.width)
}

pub(super) fn highlighter(language: &str) -> Highlighter {
    Highlighter::of(&language.split([',', ' ', '{']).next().unwrap_or_default().to_lowercase())
}

/// The rows of one line of code, given without its line feed.
pub(crate) fn row(highlighter: &mut Highlighter, line: &str, sheet: &Sheet<'_>) -> Vec<SpanRow> {
    let style = |token: Option<Token>| sheet.theme.style(token.unwrap_or(Token::MdCodeBlock));
    let clean = text::strip(line);
    let clean = text::spell_blanks(&clean);
    let pieces = highlighter.line(&clean).into_iter();
    let spans: Vec<_> = pieces.map(|(token, piece)| Span::styled(piece, style(token))).collect();
    flow::chop(&spans, sheet.width)
}
