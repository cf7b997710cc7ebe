//! Markdown as rows of a width: at once, or as it comes in. Knows no widget, no message and no session.
//!
//! Everything foreign is made harmless before it is read as markdown, and again behind it, since `&#27;` is an escape
//! too. Text that comes in piece by piece gives the same rows as the whole of it: see [`Stream`].

mod code;
pub(crate) mod flow;
mod layout;
mod stream;
mod table;

use pulldown_cmark::{Event, Options, Parser};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::text;
use crate::theme::{Theme, Token};
use code::Memo;
pub(crate) use code::row as code_row;
use layout::Layout;

pub use stream::Stream;

/// How many bytes of one text are laid out. The rest is not shown, and a row says how much it is.
pub const MAX_BYTES: usize = 256 * 1024;

/// What text is laid out on.
#[derive(Debug, Clone, Copy)]
pub struct Sheet<'a> {
    /// The colours.
    pub theme: &'a Theme,
    /// How many columns there are.
    pub width: usize,
    /// The style of plain text.
    pub base: Style,
}

impl<'a> Sheet<'a> {
    /// A sheet for plain text in the theme's colour.
    #[must_use]
    pub fn new(theme: &'a Theme, width: usize) -> Self {
        Self { theme, width: width.max(1), base: theme.style(Token::Text) }
    }
}

/// A text as rows.
#[must_use]
pub fn lines(text: &str, sheet: &Sheet<'_>) -> Vec<Line<'static>> {
    let shown = text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or_default();
    let shown_clean = harmless(shown);
    let events: Vec<_> = Parser::new_ext(&shown_clean, options()).collect();
    let mut lines = rows(&events, sheet, false, &mut Memo::default());
    lines.extend(rest(text.len() - shown.len(), sheet));
    lines
}

/// The rows of a text behind its first lines, which stand elsewhere: as [`Stream::take`] left it.
#[must_use]
pub fn lines_behind(text: &str, skipped: usize, sheet: &Sheet<'_>) -> Vec<Line<'static>> {
    let shown = text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or_default();
    let start = shown.match_indices('\n').nth(skipped.saturating_sub(1)).map_or(shown.len(), |(at, _)| at + 1);
    let behind = harmless(shown.get(start..).unwrap_or_default());
    let events: Vec<_> = Parser::new_ext(&behind, options()).collect();
    let mut lines = rows(&events, sheet, skipped > 0, &mut Memo::default());
    lines.extend(rest(text.len() - shown.len(), sheet));
    lines
}

/// A text made harmless, line by line: what a line becomes does not depend on the others.
pub(crate) fn harmless(foreign: &str) -> String {
    let mut clean = String::with_capacity(foreign.len());
    for (at, line) in foreign.split('\n').enumerate() {
        if at > 0 {
            clean.push('\n');
        }
        clean.push_str(&text::clean(line.trim_end_matches('\r')));
    }
    clean
}

/// What of markdown is read: that of GitHub, as far as it means something in a terminal.
fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

fn rows(events: &[Event<'_>], sheet: &Sheet<'_>, is_behind: bool, memo: &mut Memo) -> Vec<Line<'static>> {
    flow::lines(Layout::new(sheet, is_behind, memo).run(events))
}

/// The row that tells what is not shown.
fn rest(bytes: usize, sheet: &Sheet<'_>) -> Option<Line<'static>> {
    let told = format!("… {} KB more are not shown", bytes.div_ceil(1024));
    (bytes > 0).then(|| Line::from(flow::cut(&[Span::styled(told, sheet.theme.style(Token::Muted))], sheet.width)))
}

#[cfg(test)]
mod tests;
