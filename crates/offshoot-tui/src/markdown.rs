//! Markdown as wrapped rows, all at once or while it streams. Knows no widget, no message and no session.
//!
//! Foreign text is made harmless before parsing, and again afterwards, because `&#27;` is an escape too. Text that
//! streams in gives the same rows as the whole: see [`Stream`]. Later text therefore never changes earlier rows:
//! reference links (`[name]: address`) are shown as text, and lists are as loose as they were written.

pub(crate) mod flow;
mod code;
mod table;
mod layout;
mod stream;

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::text;
use crate::theme::{Theme, Token};
pub(crate) use code::row as code_row;
use layout::{Behind, Layout};

pub use stream::Stream;

/// Invisible, and removed again.
const APART: &str = "\u{2060}";

/// Further text is not shown; a row tells how much.
pub const MAX_BYTES: usize = 256 * 1024;

#[derive(Debug, Clone, Copy)]
pub struct Sheet<'a> {
    pub theme: &'a Theme,
    pub width: usize,
    pub base: Style,
}

impl<'a> Sheet<'a> {
    /// For plain text in the theme's colour.
    #[must_use]
    pub fn new(theme: &'a Theme, width: usize) -> Self {
        Self { theme, width: width.max(1), base: theme.style(Token::Text) }
    }
}

#[must_use]
pub fn lines(text: &str, sheet: &Sheet<'_>) -> Vec<Line<'static>> {
    let shown = text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or_default();
    let source = readable(shown);
    let mut lines = flow::lines(Layout::new(&source, sheet, Behind::Nothing).run(&events(&source)));
    lines.extend(rest(text.len() - shown.len(), sheet));
    lines
}

/// A text without markdown, on one line, cut to `columns`.
#[must_use]
pub fn plain(text: &str, columns: usize) -> String {
    if is_plain(text) && text.chars().count() <= columns {
        return text.split(' ').filter(is_word).collect::<Vec<_>>().join(" ");
    }
    parsed_plain(text, columns)
}

fn parsed_plain(text: &str, columns: usize) -> String {
    let mut words = String::new();
    let seen = text.get(..text.floor_char_boundary(columns.saturating_mul(16).max(1_024))).unwrap_or(text);
    for event in Parser::new_ext(&readable(&spans_for_fences(seen)), options()) {
        match event {
            Event::Text(piece) | Event::InlineHtml(piece) | Event::Html(piece) => words.push_str(&piece),
            Event::Code(piece) => words.extend(piece.split_inclusive(' ').flat_map(|word| [APART, word])),
            Event::Start(tag) if !is_inline(&tag) => words.push(' '),
            Event::SoftBreak | Event::HardBreak | Event::Rule => words.push(' '),
            _ => {}
        }
    }
    let words = words.split_whitespace().filter(is_word).collect::<Vec<_>>().join(" ");
    // What keeps words apart goes; the rest was made harmless.
    text::fit(&text::strip(&words), columns).into_owned()
}

/// Whether a word is more than a marker of a block, as it is between the words where line feeds were lost. In code such
/// markers are words.
fn is_word(word: &&str) -> bool {
    !word.chars().all(|c| "#*-=|>`~_+:".contains(c))
}

/// Whether a text is one line whose words Markdown surely leaves as they are: letters and digits, and signs that mean nothing
/// where they are. Most rows of a tree are so, and need no parser.
fn is_plain(text: &str) -> bool {
    let line = text.strip_suffix('…').unwrap_or(text).as_bytes();
    let is_in_word = |at: usize| line.get(at).is_some_and(u8::is_ascii_alphanumeric);
    let is_inert = |(at, byte): (usize, &u8)| match byte {
        b'a'..=b'z'
        | b'A'..=b'Z'
        | b'0'..=b'9'
        | b'-'
        | b'+'
        | b'='
        | b':'
        | b'.'
        | b','
        | b';'
        | b'?'
        | b'!'
        | b'\''
        | b'"'
        | b'('
        | b')'
        | b'{'
        | b'}'
        | b'/'
        | b'%'
        | b'$'
        | b'@' => true,
        b' ' => at + 1 < text.len() && line.get(at + 1) != Some(&b' '),
        b'\\' => is_in_word(at + 1),
        b'_' => is_in_word(at + 1) && at.checked_sub(1).is_some_and(is_in_word),
        _ => false,
    };
    line.first().is_some_and(u8::is_ascii_alphabetic) && line.iter().enumerate().all(is_inert)
}

/// In a text that lost its line feeds, blocks of code become spans of code, without the name of their language. What is
/// left of a block that was cut off is text.
fn spans_for_fences(text: &str) -> Cow<'_, str> {
    const FENCE: &str = "```";
    if text.contains('\n') || !text.contains(FENCE) {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split(FENCE);
    let mut spans = parts.next().unwrap_or_default().to_owned();
    let is_language = |word: &str| word.chars().all(|c| c.is_alphanumeric() || "+-#_.".contains(c));
    while let Some(code) = parts.next() {
        let block = code.split_once(' ').filter(|(word, _)| is_language(word)).map_or(code, |(_, block)| block);
        match parts.next() {
            // A closing fence was on a line of its own; a span's is not.
            Some(after) => spans.extend(["`` ", if code.ends_with(' ') { block } else { code }.trim(), " ``", after]),
            None => spans.push_str(block),
        }
    }
    Cow::Owned(spans)
}

/// The most columns of a row in the tree.
const ROW: usize = 200;

/// A text without markdown, as a row of the tree shows it.
#[must_use]
pub fn plain_row(text: &str) -> String {
    plain(text, ROW)
}

/// Makes a text harmless, line by line: a line's result does not depend on the others.
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

/// Makes a text harmless, and keeps definitions of reference links as text.
fn readable(foreign: &str) -> String {
    let text = harmless(foreign);
    let mut readable = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let is_mark = |c: char| c.is_ascii_digit() || " \t>-*+.)".contains(c);
        let (marks, rest) = line.split_at(line.find(|c| !is_mark(c)).unwrap_or(line.len()));
        readable.push_str(marks);
        if rest.starts_with('[') && (rest.contains("]:") || !rest.contains(']')) {
            readable.push_str(APART);
        }
        readable.push_str(rest);
    }
    readable
}

/// GitHub's markdown, as far as a terminal can show it.
fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

fn events(source: &str) -> Vec<(Event<'_>, Range<usize>)> {
    Parser::new_ext(source, options()).into_offset_iter().collect()
}

fn is_inline(tag: &Tag<'_>) -> bool {
    match tag {
        Tag::Emphasis
        | Tag::Strong
        | Tag::Strikethrough
        | Tag::Superscript
        | Tag::Subscript
        | Tag::Link { .. }
        | Tag::Image { .. } => true,
        Tag::Paragraph
        | Tag::Heading { .. }
        | Tag::BlockQuote(_)
        | Tag::CodeBlock(_)
        | Tag::HtmlBlock
        | Tag::List(_)
        | Tag::Item
        | Tag::FootnoteDefinition(_)
        | Tag::DefinitionList
        | Tag::DefinitionListTitle
        | Tag::DefinitionListDefinition
        | Tag::Table(_)
        | Tag::TableHead
        | Tag::TableRow
        | Tag::TableCell
        | Tag::MetadataBlock(_) => false,
    }
}

fn rest(bytes: usize, sheet: &Sheet<'_>) -> Option<Line<'static>> {
    let told = format!("… {} KB more are not shown", bytes.div_ceil(1024));
    (bytes > 0).then(|| Line::from(flow::cut(&[Span::styled(told, sheet.theme.style(Token::Muted))], sheet.width)))
}

#[cfg(test)]
mod tests;
