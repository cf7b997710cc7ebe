//! The page of an item: a narrow margin with a mark, rows beside it, cut outputs.

use std::sync::Arc;

use offshoot_session::text::counted;
use offshoot_session::transcript::StoredPicture;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::preview::{Keep, OutputLook, preview};
use super::{Folds, Placed, RenderedRows, RowRenderer};
use crate::markdown::flow::{self, Prefix, SpanRow};
use crate::markdown::{Sheet, harmless};
use crate::text;
use crate::theme::Token;

/// The width of the margin; 0 in a narrow terminal.
fn margin(width: usize) -> usize {
    if width < 8 { 0 } else { 2 }
}

/// The minimum columns of words beside what is always shown in their row.
pub(super) const LEAST: usize = 12;

pub(super) fn room(width: usize) -> usize {
    width.saturating_sub(margin(width)).max(1)
}

pub(super) struct Page<'a> {
    pub(super) look: &'a RowRenderer<'a>,
    pub(super) folds: Folds<'a>,
    pub(super) laid: RenderedRows,
    ground: Style,
}

impl<'a> Page<'a> {
    pub(super) fn new(look: &'a RowRenderer<'a>, folds: Folds<'a>) -> Self {
        Self { look, folds, laid: RenderedRows::default(), ground: Style::new() }
    }

    pub(super) fn style(&self, token: Token) -> Style {
        self.look.theme.style(token)
    }

    pub(super) fn margin(&self) -> usize {
        margin(self.look.width)
    }

    pub(super) fn room(&self) -> usize {
        room(self.look.width)
    }

    pub(super) fn sheet(&self, base: Style) -> Sheet<'a> {
        Sheet { theme: self.look.theme, width: self.room(), base }
    }

    /// Starts a block: an empty row, then rows on this background.
    pub(super) fn block(&mut self, ground: Style) {
        self.laid.lines.push(Line::default());
        self.ground = ground;
    }

    /// Continues rows without a background.
    pub(super) fn leave_background(&mut self) {
        self.ground = Style::new();
    }

    /// Starts a foldable part; returns whether it is unfolded.
    pub(super) fn fold(&mut self, part: usize, default: bool) -> bool {
        self.laid.folds.push((self.laid.lines.len(), part));
        self.folds.is_open(default, part)
    }

    pub(super) fn marked(&mut self, mark: &str, style: Style, rows: impl IntoIterator<Item = SpanRow>) {
        let prefix = if self.margin() == 0 { Prefix::default() } else { Prefix::mark(mark, style) };
        let lines = prefix.before(rows).map(|row| Line::from(row).style(self.ground));
        self.laid.lines.extend(lines);
    }

    /// Foreign rows, perhaps with styles, with a mark before the first one.
    pub(super) fn foreign(&mut self, mark: &str, style: Style, rows: &[String]) {
        let (theme, room) = (self.look.theme, self.room());
        let rows = rows.iter().map(|row| text::truncate_line(&theme.foreign_line(row), room, "").spans);
        self.marked(mark, style, rows.collect::<Vec<_>>());
    }

    pub(super) fn rows(&mut self, rows: impl IntoIterator<Item = SpanRow>) {
        self.marked("  ", Style::new(), rows);
    }

    pub(super) fn lines(&mut self, lines: impl IntoIterator<Item = Line<'static>>) {
        self.rows(lines.into_iter().map(|line| line.spans));
    }

    pub(super) fn words(&mut self, words: &str, style: Style) {
        self.rows(flow::words(&[Span::styled(harmless(words), style)], self.room()));
    }

    pub(super) fn hint(&mut self, what: &str, key: &str) {
        let row = flow::cut(&[self.told(what, key)], self.room());
        self.rows([row]);
    }

    /// One row for a long text: the start of its first line, if there is room, and how many of its `lines` follow.
    pub(super) fn first_of(&mut self, (mark, mark_style): (&str, Style), words: &str, style: Style, lines: usize) {
        let key = &self.look.habits.expand_key;
        let told = self.told(&counted(lines - 1, "more line", "more lines"), key);
        let room = self.room().saturating_sub(text::width(&told.content) + 1);
        let first = words.lines().find(|line| !line.trim().is_empty()).filter(|_| room >= LEAST);
        let row = match first {
            Some(line) => {
                let mut row = flow::cut(&[Span::styled(harmless(line.trim()), style)], room);
                row.extend([Span::raw(" "), told]);
                row
            }
            None => flow::cut(&[self.told(&counted(lines, "line", "lines"), key)], self.room()),
        };
        self.marked(mark, mark_style, [row]);
    }

    fn output_look(&self, style: Style) -> OutputLook<'_> {
        OutputLook { theme: self.look.theme, style }
    }

    fn told(&self, what: &str, key: &str) -> Span<'static> {
        let how = if key.is_empty() { String::new() } else { format!(" ({} opens)", text::clean(key)) };
        Span::styled(format!("… {what}{how}"), self.style(Token::Muted))
    }

    pub(super) fn picture(&mut self, picture: &Arc<StoredPicture>) {
        let width = u16::try_from(self.room()).unwrap_or(u16::MAX);
        let about = self.look.habits.pictures.about(picture);
        if let Some(size) = self.look.habits.picture_size.as_ref().and_then(|size| size.of(&about, width)) {
            let (row, column) = (self.laid.lines.len(), self.margin() as u16);
            self.laid.pictures.push(Placed { row, column, size, picture: picture.clone(), about });
            self.rows((0..size.1).map(|_| SpanRow::new()));
            return;
        }
        let words = about.placeholder();
        let row = flow::cut(&[Span::styled(words, self.style(Token::Muted))], self.room());
        self.rows([row]);
    }
}

/// The end of an output, after a hint if rows are hidden.
pub(super) fn tail(page: &mut Page<'_>, output: &str, style: Style, keep: Keep) {
    let preview = preview(output, page.output_look(style), page.room(), keep);
    let key = page.look.habits.expand_key.clone();
    match (preview.hidden, preview.is_cut) {
        (0, false) => {}
        (0, true) => page.hint("the end of a long line", &key),
        (hidden, _) => page.hint(&counted(hidden, "earlier line", "earlier lines"), &key),
    }
    page.rows(preview.rows);
}

/// The start of an output, before a hint if rows are hidden.
pub(super) fn head(page: &mut Page<'_>, output: &str, style: Style, keep: Keep) {
    let preview = preview(output, page.output_look(style), page.room(), keep);
    page.rows(preview.rows);
    more(page, preview.hidden, preview.is_cut);
}

pub(super) fn more(page: &mut Page<'_>, hidden: usize, is_cut: bool) {
    let key = page.look.habits.expand_key.clone();
    match (hidden, is_cut) {
        (0, false) => {}
        (0, true) => page.hint("a long line goes on", &key),
        (hidden, _) => page.hint(&counted(hidden, "more line", "more lines"), &key),
    }
}
