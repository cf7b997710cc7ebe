//! Blocks of code as rows: fences, and between them the lines in their colours.

use ratatui::text::Span;

use super::Sheet;
use super::flow::{self, Row};
use crate::highlight::Highlighter;
use crate::text;
use crate::theme::Token;

/// The rows of a block that grows: only lines that are new are coloured anew.
#[derive(Debug, Default)]
pub(super) struct Memo {
    known: Option<Known>,
}

#[derive(Debug)]
struct Known {
    language: String,
    width: usize,
    /// The lines that the rows are made of, each with its line feed.
    code: String,
    rows: Vec<Row>,
    highlighter: Highlighter,
}

impl Memo {
    /// The rows of a block of code.
    pub(super) fn rows(&mut self, language: &str, code: &str, sheet: &Sheet<'_>) -> Vec<Row> {
        let fence = |text: &str| {
            flow::cut(&[Span::styled(text.to_owned(), sheet.theme.style(Token::MdCodeBlockBorder))], sheet.width)
        };
        let mut rows = vec![fence(&format!("```{}", text::clean(language)))];
        rows.extend(self.body(language, code, sheet));
        rows.push(fence("```"));
        rows
    }

    fn body(&mut self, language: &str, code: &str, sheet: &Sheet<'_>) -> Vec<Row> {
        let (language, width) = (language.split([',', ' ', '{']).next().unwrap_or_default(), sheet.width);
        let is_known =
            |known: &Known| known.language == language && known.width == width && code.starts_with(&known.code);
        let mut known = self.known.take().filter(is_known).unwrap_or_else(|| Known {
            language: language.to_owned(),
            width,
            code: String::new(),
            rows: Vec::new(),
            highlighter: Highlighter::of(&language.to_lowercase()),
        });
        let new = code.get(known.code.len()..).unwrap_or_default();
        let (whole, tail) = new.split_at(new.rfind('\n').map_or(0, |end| end + 1));
        for line in whole.lines() {
            let rows = row(&mut known.highlighter, line, sheet);
            known.rows.extend(rows);
        }
        known.code.push_str(whole);
        let mut rows = known.rows.clone();
        if !tail.is_empty() {
            rows.extend(row(&mut known.highlighter.clone(), tail, sheet));
        }
        self.known = Some(known);
        rows
    }
}

/// The rows of one line of code, given without its line feed.
pub(crate) fn row(highlighter: &mut Highlighter, line: &str, sheet: &Sheet<'_>) -> Vec<Row> {
    let style = |token: Option<Token>| sheet.theme.style(token.unwrap_or(Token::MdCodeBlock));
    let clean = text::clean(line);
    let pieces = highlighter.line(&clean).into_iter();
    let spans: Vec<_> = pieces.map(|(token, piece)| Span::styled(piece, style(token))).collect();
    flow::chop(&spans, sheet.width)
}
