//! Lays out markdown events as rows: blocks below each other, with the prefixes of the lists and quotes around them.
//!
//! There is an empty row between blocks; between list items only where one was written. So a block's rows do not depend
//! on what follows.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;

use super::flow::{self, Prefix, SpanRow};
use super::table::Table;
use super::{Sheet, code, is_inline};
use crate::text;
use crate::theme::Token;

/// A list, an item, a quote, or the document around blocks.
#[derive(Debug, Default)]
struct BlockFrame {
    prefix: Prefix,
    is_begun: bool,
    is_filled: bool,
    /// Whether the next block needs an empty row before it.
    wants_gap: bool,
    is_listed: bool,
    number: Option<u64>,
}

struct Link {
    url: String,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Behind {
    #[default]
    Nothing,
    /// Other blocks.
    Blocks,
    /// Items of the list that the first block continues.
    Items { number: Option<u64>, is_apart: bool },
}

pub(super) struct Layout<'a> {
    sheet: &'a Sheet<'a>,
    source: &'a str,
    behind: Behind,
    first_is_apart: bool,
    began: Option<usize>,
    rows: Vec<SpanRow>,
    frames: Vec<BlockFrame>,
    inline: SpanRow,
    styles: Vec<Style>,
    links: Vec<Link>,
    verbatim: Option<String>,
    language: String,
    table: Option<Table>,
}

impl<'a> Layout<'a> {
    pub(super) fn new(source: &'a str, sheet: &'a Sheet<'a>, behind: Behind) -> Self {
        Self {
            sheet,
            source,
            behind,
            first_is_apart: matches!(behind, Behind::Items { is_apart: true, .. }),
            began: None,
            rows: Vec::new(),
            frames: vec![BlockFrame { is_filled: behind != Behind::Nothing, ..BlockFrame::default() }],
            inline: SpanRow::new(),
            styles: vec![sheet.base],
            links: Vec::new(),
            verbatim: None,
            language: String::new(),
            table: None,
        }
    }

    pub(super) fn run(mut self, events: &[(Event<'_>, Range<usize>)]) -> Vec<SpanRow> {
        for (at, (event, range)) in events.iter().enumerate() {
            let next = events.get(at + 1..).unwrap_or_default();
            if begins_block(event) {
                self.end_text();
            }
            if !matches!(event, Event::End(_)) {
                self.began.get_or_insert(range.start);
            }
            match event {
                Event::Start(tag) => self.start(tag, next),
                Event::End(tag) => self.end(*tag),
                Event::Text(piece) => self.piece(piece),
                Event::Code(code) => self.styled(code, self.token(Token::MdCode)),
                Event::Html(html) | Event::InlineHtml(html) => self.html(html),
                Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => self.piece(text),
                Event::SoftBreak => self.piece(" "),
                Event::HardBreak => flow::append(&mut self.inline, "\n", Style::new()),
                Event::Rule => self.rule(),
                // Part of its item's mark.
                Event::TaskListMarker(_) => {}
            }
        }
        self.end_text();
        self.rows
    }

    fn token(&self, token: Token) -> Style {
        self.style().patch(self.sheet.theme.style(token))
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn push_style(&mut self, style: Style) {
        let style = self.style().patch(style);
        self.styles.push(style);
    }

    fn start(&mut self, tag: &Tag<'_>, next: &[(Event<'_>, Range<usize>)]) {
        match tag {
            Tag::Emphasis => self.push_style(Style::new().add_modifier(Modifier::ITALIC)),
            Tag::Strong => self.push_style(Style::new().add_modifier(Modifier::BOLD)),
            Tag::Strikethrough => self.push_style(Style::new().add_modifier(Modifier::CROSSED_OUT)),
            Tag::Superscript | Tag::Subscript => self.push_style(Style::new()),
            Tag::Link { dest_url, .. } => {
                self.links.push(Link { url: dest_url.to_string(), text: String::new() });
                self.push_style(self.sheet.theme.style(Token::MdLink).add_modifier(Modifier::UNDERLINED));
            }
            Tag::Image { dest_url, .. } => {
                self.piece("[image: ");
                self.links.push(Link { url: dest_url.to_string(), text: String::new() });
                self.push_style(Style::new());
            }
            Tag::Heading { level, .. } => self.heading(*level),
            Tag::BlockQuote(_) => {
                self.begin_block();
                let style = self.sheet.theme.style(Token::MdQuoteBorder);
                self.enter(Prefix::every("│ ", style), false);
                self.push_style(self.sheet.theme.style(Token::MdQuote).add_modifier(Modifier::ITALIC));
            }
            Tag::List(number) => self.list(*number),
            Tag::Item => self.item(next),
            Tag::CodeBlock(kind) => {
                self.language = match kind {
                    CodeBlockKind::Fenced(language) => language.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.verbatim = Some(String::new());
            }
            Tag::HtmlBlock => self.verbatim = Some(String::new()),
            Tag::Table(alignments) => self.table = Some(Table::new(alignments.clone())),
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.row();
                }
            }
            Tag::TableCell | Tag::Paragraph => {}
            Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Superscript | TagEnd::Subscript => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => self.end_link(tag == TagEnd::Image),
            TagEnd::Paragraph => self.end_text(),
            TagEnd::Heading(_) => {
                self.end_text();
                self.styles.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.end_text();
                self.styles.pop();
                self.leave();
            }
            TagEnd::List(_) => self.leave(),
            TagEnd::Item => {
                self.end_text();
                if self.frames.last().is_some_and(|frame| !frame.is_begun) {
                    self.write(vec![SpanRow::new()]);
                }
                self.leave();
            }
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::HtmlBlock => self.end_html(),
            TagEnd::Table => self.end_table(),
            TagEnd::TableHead => {
                if let Some(table) = &mut self.table {
                    table.head();
                }
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                if let Some(table) = &mut self.table {
                    table.cell(cell);
                }
            }
            TagEnd::TableRow
            | TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::MetadataBlock(_) => {}
        }
    }

    fn heading(&mut self, level: HeadingLevel) {
        let style = self.sheet.theme.style(Token::MdHeading).add_modifier(Modifier::BOLD);
        let (style, mark) = match level {
            HeadingLevel::H1 => (style.add_modifier(Modifier::UNDERLINED), ""),
            HeadingLevel::H2 => (style, ""),
            HeadingLevel::H3 => (style, "### "),
            HeadingLevel::H4 => (style, "#### "),
            HeadingLevel::H5 => (style, "##### "),
            HeadingLevel::H6 => (style, "###### "),
        };
        self.push_style(style);
        self.piece(mark);
    }

    fn list(&mut self, number: Option<u64>) {
        match std::mem::replace(&mut self.behind, Behind::Blocks) {
            // Its earlier items are above.
            Behind::Items { number, .. } if self.rows.is_empty() => {
                self.enter(Prefix::default(), true);
                if let Some(list) = self.frames.last_mut() {
                    (list.number, list.is_filled) = (number, true);
                }
            }
            Behind::Items { .. } | Behind::Blocks | Behind::Nothing => {
                self.begin_block();
                self.enter(Prefix::default(), true);
                if let Some(list) = self.frames.last_mut() {
                    list.number = number;
                }
            }
        }
    }

    fn item(&mut self, next: &[(Event<'_>, Range<usize>)]) {
        let task = match next {
            [(Event::TaskListMarker(is_done), _), ..]
            | [(Event::Start(Tag::Paragraph), _), (Event::TaskListMarker(is_done), _), ..] => Some(*is_done),
            _ => None,
        };
        self.begin_block();
        let mut mark = "• ".to_owned();
        if let Some(list) = self.frames.last_mut()
            && let Some(number) = list.number
        {
            mark = format!("{number}. ");
            list.number = Some(number.saturating_add(1));
        }
        if let Some(is_done) = task {
            mark = if is_done { "☑ " } else { "☐ " }.to_owned();
        }
        self.enter(Prefix::mark(&mark, self.sheet.theme.style(Token::MdListBullet)), true);
    }

    fn end_link(&mut self, is_image: bool) {
        self.styles.pop();
        let Some(Link { url, text }) = self.links.pop() else { return };
        if is_image {
            self.piece("]");
        }
        let bare = |url: &str| {
            let url = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://")).unwrap_or(url);
            url.strip_prefix("mailto:").unwrap_or(url).trim_end_matches('/').to_owned()
        };
        if !url.is_empty() && bare(&url) != bare(&text) {
            let style = self.token(Token::MdLinkUrl);
            self.styled(&format!(" ({url})"), style);
        }
    }

    fn html(&mut self, html: &str) {
        if let Some(verbatim) = &mut self.verbatim {
            verbatim.push_str(html);
        } else if matches!(html, "<br>" | "<br/>" | "<br />") {
            flow::append(&mut self.inline, "\n", Style::new());
        } else {
            self.piece(html);
        }
    }

    fn piece(&mut self, piece: &str) {
        match &mut self.verbatim {
            Some(verbatim) => verbatim.push_str(piece),
            None => self.styled(piece, self.style()),
        }
    }

    fn styled(&mut self, piece: &str, style: Style) {
        for link in &mut self.links {
            link.text.push_str(piece);
        }
        let piece = text::strip(piece);
        if !piece.is_empty() {
            flow::append(&mut self.inline, &piece, style);
        }
    }

    fn rule(&mut self) {
        self.begin_block();
        let row = vec![Span::styled("─".repeat(self.room()), self.sheet.theme.style(Token::MdHr))];
        self.write(vec![row]);
    }

    fn end_code(&mut self) {
        let code = self.verbatim.take().unwrap_or_default();
        self.begin_block();
        let language = std::mem::take(&mut self.language);
        let sheet = Sheet { width: self.room(), ..*self.sheet };
        let rows = code::rows(&language, &code, &sheet);
        self.write(rows);
    }

    fn end_html(&mut self) {
        let html = self.verbatim.take().unwrap_or_default();
        self.begin_block();
        let (style, room) = (self.style(), self.room());
        let rows: Vec<_> = html
            .lines()
            .flat_map(|line| flow::words(&[Span::styled(text::strip(line).into_owned(), style)], room))
            .collect();
        self.write(rows);
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        self.begin_block();
        let rows = table.rows(self.room(), self.sheet.theme.style(Token::MdHr));
        self.write(rows);
    }

    /// Writes the collected text as a block.
    fn end_text(&mut self) {
        let inline = std::mem::take(&mut self.inline);
        if !inline.is_empty() {
            self.begin_block();
            let rows = flow::words(&inline, self.room());
            self.write(rows);
        }
        self.began = None;
    }

    fn begin_block(&mut self) {
        let began = self.began.take();
        let is_apart = self.frames.last().is_some_and(|frame| !frame.is_listed) || self.is_apart(began);
        if let Some(frame) = self.frames.last_mut() {
            frame.wants_gap = frame.is_filled && is_apart;
        }
    }

    /// Whether the source has an empty line before the position.
    fn is_apart(&self, began: Option<usize>) -> bool {
        const MARKS: [char; 3] = [' ', '\t', '>'];
        let before = began.and_then(|began| self.source.get(..began)).unwrap_or_default();
        match before.rsplit_once('\n') {
            Some((above, indent)) => {
                let above = above.rsplit('\n').next().unwrap_or_default();
                indent.trim_matches(MARKS).is_empty() && above.trim_matches(MARKS).is_empty()
            }
            None => self.first_is_apart && before.trim_matches(MARKS).is_empty(),
        }
    }

    fn enter(&mut self, prefix: Prefix, is_listed: bool) {
        // Deeply nested text still needs room.
        let fits = self.depth() + prefix.width <= self.sheet.width / 2;
        let prefix = if fits { prefix } else { Prefix::default() };
        self.frames.push(BlockFrame { prefix, is_listed, ..BlockFrame::default() });
    }

    fn leave(&mut self) {
        if self.frames.len() > 1 {
            self.frames.pop();
        }
    }

    fn depth(&self) -> usize {
        self.frames.iter().map(|frame| frame.prefix.width).sum()
    }

    fn room(&self) -> usize {
        self.sheet.width.saturating_sub(self.depth()).max(1)
    }

    fn prefix(&mut self, frames: usize) -> SpanRow {
        let mut row = SpanRow::new();
        for frame in self.frames.iter_mut().take(frames) {
            let is_first = !std::mem::replace(&mut frame.is_begun, true);
            row.extend(if is_first { frame.prefix.first.clone() } else { frame.prefix.rest.clone() });
        }
        row
    }

    fn write(&mut self, rows: Vec<SpanRow>) {
        if rows.is_empty() {
            return;
        }
        // A block without rows gets no empty row either.
        if let Some(frame) = self.frames.iter().position(|frame| frame.wants_gap) {
            let mut gap = self.prefix(frame + 1);
            while gap.last().is_some_and(|span| span.content.trim().is_empty()) {
                gap.pop();
            }
            self.rows.push(gap);
        }
        for frame in &mut self.frames {
            (frame.wants_gap, frame.is_filled) = (false, true);
        }
        for row in rows {
            let mut whole = self.prefix(self.frames.len());
            whole.extend(row);
            self.rows.push(whole);
        }
    }
}

/// Whether an event starts a block, which ends the text before it.
fn begins_block(event: &Event<'_>) -> bool {
    match event {
        Event::Start(Tag::TableHead | Tag::TableRow | Tag::TableCell) => false,
        Event::Start(tag) => !is_inline(tag),
        Event::Rule => true,
        _ => false,
    }
}
