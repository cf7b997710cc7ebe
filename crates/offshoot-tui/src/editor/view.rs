//! Draws the editor: queued messages, the border, the text, the list of completions.

use ratatui::buffer::Buffer;
use ratatui::layout::{Margin, Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::Editor;
use super::layout::Layout;
use crate::text::{ELLIPSIS, draw, fit, line_width, truncate_line, width};
use crate::theme::{Theme, Token};

/// What is before a title in a border.
const TITLE_EDGE: &str = "─ ";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Parts {
    queue: u16,
    border: u16,
    text: u16,
    popup: u16,
}

impl Editor {
    #[must_use]
    pub fn height(&self) -> u16 {
        let Parts { queue, border, text, popup } = self.parts(u16::MAX);
        queue + 2 * border + text + popup
    }

    /// The rows of waiting messages above an editor in this one's place, and those of completions below it.
    #[must_use]
    pub fn rows_around(&self) -> (u16, u16) {
        let Parts { queue, popup, .. } = self.parts(u16::MAX);
        (queue, popup)
    }

    /// Draws these rows around another editor.
    pub fn view_around(&self, theme: &Theme, (above, below): (Rect, Rect), buf: &mut Buffer) {
        self.view_queue(theme, above.intersection(buf.area), buf);
        self.completion.view(theme, self.padded(below.intersection(buf.area)), buf);
    }

    /// The position of the terminal's cursor when the editor is drawn on `area`; `None` if there is no room.
    #[must_use]
    pub fn cursor(&self, area: Rect) -> Option<Position> {
        let parts = self.parts(area.height);
        let at = self.buffer.cursor();
        let row = self.layout.row_of(at).checked_sub(self.first(parts.text))?;
        let row = u16::try_from(row).ok().filter(|row| *row < parts.text)?;
        let column = u16::try_from(self.layout.column_of(self.buffer.text(), at)).ok()?;
        let x = (self.padded(area).x + column).min(area.right().checked_sub(1)?);
        Some(Position { x, y: area.y + parts.queue + parts.border + row })
    }

    pub fn view(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        self.view_titled(theme, (area, None), buf);
    }

    /// The columns for a title in the upper border.
    #[must_use]
    pub fn title_room(columns: u16) -> usize {
        usize::from(columns).saturating_sub(2 * width(TITLE_EDGE))
    }

    /// Draws the editor, with a title in its upper border.
    pub fn view_titled(&self, theme: &Theme, (area, title): (Rect, Option<&Line<'_>>), buf: &mut Buffer) {
        let area = area.intersection(buf.area);
        if area.is_empty() {
            return;
        }
        let parts = self.parts(area.height);
        let mut y = area.y;
        let mut next = |height: u16| {
            let part = Rect { y, height, ..area };
            y += height;
            part
        };
        self.view_queue(theme, next(parts.queue), buf);
        let (first, shown) = (self.first(parts.text), usize::from(parts.text));
        let above = next(parts.border);
        self.view_text(theme, first, self.padded(next(parts.text)), buf);
        let below = next(parts.border);
        if parts.border > 0 {
            let hidden = self.layout.len().saturating_sub(first + shown);
            let token = if self.is_bash() { Token::BashMode } else { self.border };
            let style = theme.style(token);
            draw(&titled(title, ('↑', first), (usize::from(above.width), style)), above, buf);
            draw(&titled(None, ('↓', hidden), (usize::from(below.width), style)), below, buf);
        }
        self.completion.view(theme, self.padded(next(parts.popup)), buf);
    }

    /// Sets the free columns on either side of the text, where there is room.
    pub fn set_padding(&mut self, columns: u16) {
        self.padding = columns;
        self.settle();
    }

    #[must_use]
    pub fn padded(&self, area: Rect) -> Rect {
        area.inner(Margin::new(self.padding_in(area.width), 0))
    }

    /// The padding on either side, which leaves at least one of `columns`, as in pi.
    fn padding_in(&self, columns: u16) -> u16 {
        self.padding.min(columns.saturating_sub(1) / 2)
    }

    /// The text has priority, then its border, then completions, then queued messages.
    fn parts(&self, height: u16) -> Parts {
        let text = u16::try_from(self.layout.len().min(self.text_rows())).unwrap_or(u16::MAX).min(height);
        let border = u16::from(height.saturating_sub(text) >= 2);
        let left = height.saturating_sub(text).saturating_sub(2 * border);
        let popup = self.completion.height().min(left);
        let waiting = self.queue.steering.len() + self.queue.follow_up.len();
        let wanted = if waiting == 0 { 0 } else { waiting.min(self.queue_rows()) + 1 };
        let queue = u16::try_from(wanted).unwrap_or(u16::MAX).min(left - popup);
        Parts { queue, border, text, popup }
    }

    /// The most rows of text: a third of the terminal.
    pub(super) fn text_rows(&self) -> usize {
        usize::from(self.rows / 3).max(1)
    }

    fn queue_rows(&self) -> usize {
        usize::from(self.rows / 4).max(1)
    }

    /// The first visible row of the text, which keeps the cursor visible.
    fn first(&self, shown: u16) -> usize {
        let row = self.layout.row_of(self.buffer.cursor());
        self.top.max((row + 1).saturating_sub(usize::from(shown))).min(row)
    }

    /// Wraps the text again and scrolls to the cursor.
    pub(super) fn settle(&mut self) {
        // One column stays free for the cursor after a full row.
        let free = (2 * self.padding_in(self.columns)).max(1);
        self.layout = Layout::new(self.buffer.text(), usize::from(self.columns.saturating_sub(free)));
        let shown = self.layout.len().min(self.text_rows());
        let row = self.layout.row_of(self.buffer.cursor());
        self.top = self.top.min(row).max((row + 1).saturating_sub(shown)).min(self.layout.len() - shown);
    }

    fn view_queue(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let dim = theme.style(Token::Dim);
        let columns = usize::from(area.width);
        let named = |name: &'static str, list: &[String]| -> Vec<String> {
            list.iter().map(|text| format!("{name}: {}", fit(text, columns))).collect()
        };
        let all = [named("Steering", &self.queue.steering), named("Follow-up", &self.queue.follow_up)].concat();
        let hint = match &self.dequeue_hint {
            Some(key) => format!("↳ {key} to edit all queued messages"),
            None => "↳ queued".to_owned(),
        };
        let room = usize::from(area.height).saturating_sub(1);
        let hint = match all.len().saturating_sub(room) {
            0 => hint,
            more => format!("{hint} ({more} more)"),
        };
        for (row, text) in area.rows().zip(all.iter().take(room).chain([&hint])) {
            draw(&Line::styled(fit(text, columns).into_owned(), dim), row, buf);
        }
    }

    fn view_text(&self, theme: &Theme, first: usize, area: Rect, buf: &mut Buffer) {
        let text = self.buffer.text();
        let (plain, marker) = (theme.style(Token::Text), theme.style(Token::Accent));
        let markers: Vec<_> = self.buffer.marked().collect();
        for (nth, row) in area.rows().enumerate() {
            let bytes = self.layout.bytes(first + nth);
            let mut spans = Vec::new();
            let mut done = bytes.start;
            for range in markers.iter().filter(|range| range.start < bytes.end && range.end > bytes.start) {
                let (start, end) = (range.start.max(done), range.end.min(bytes.end));
                spans.push(Span::styled(text.get(done..start).unwrap_or_default(), plain));
                spans.push(Span::styled(text.get(start..end).unwrap_or_default(), marker));
                done = end;
            }
            spans.push(Span::styled(text.get(done..bytes.end).unwrap_or_default(), plain));
            draw(&Line::from(spans), row, buf);
        }
    }
}

/// A border with a title, and with the number of hidden rows where there is room.
fn titled(title: Option<&Line<'_>>, (arrow, hidden): (char, usize), (columns, style): (usize, Style)) -> Line<'static> {
    let Some(title) = title else { return Line::styled(border(arrow, hidden, columns), style) };
    let title = truncate_line(title, columns.saturating_sub(2 * width(TITLE_EDGE)), ELLIPSIS);
    let rest = columns.saturating_sub(width(TITLE_EDGE) + line_width(&title) + 1);
    let mut spans = vec![Span::styled(TITLE_EDGE, style)];
    spans.extend(title.spans.into_iter().map(|span| Span { style: title.style.patch(span.style), ..span }));
    spans.push(Span::styled(format!(" {}", border(arrow, hidden, rest)), style));
    Line::from(spans)
}

fn border(arrow: char, hidden: usize, columns: usize) -> String {
    let label = if hidden > 0 { format!(" {arrow} {hidden} more ") } else { String::new() };
    let label = if width(&label) <= columns { label } else { String::new() };
    let left = (columns - width(&label)) / 2;
    let right = columns - width(&label) - left;
    format!("{}{label}{}", "─".repeat(left), "─".repeat(right))
}
