//! Draws the list of completions.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::Completion;
use crate::slash::Argument;
use crate::text::{clean, draw, fit, truncate_middle, width};
use crate::theme::{Theme, Token};

/// Names are cut to this width to leave room for the details.
const NAME: usize = 32;

impl Completion {
    pub(in crate::editor) fn height(&self) -> u16 {
        let count = self.popup.as_ref().map_or(0, |popup| popup.matches.len());
        let counter = usize::from(count > self.rows);
        u16::try_from(count.min(self.rows) + counter).unwrap_or(u16::MAX)
    }

    pub(in crate::editor) fn view(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let Some(popup) = &self.popup else { return };
        let columns = usize::from(area.width);
        let shown: Vec<_> = popup.matches.iter().enumerate().skip(popup.first).take(self.rows).collect();
        let choices: Vec<_> =
            shown.iter().filter_map(|(nth, at)| Some((*nth, self.offers.choice(popup.token.of, **at)?))).collect();
        let widest = choices.iter().map(|(_, choice)| width(&fit(&choice.label, NAME))).max().unwrap_or(0);
        let mut areas = area.rows();
        for (nth, choice) in &choices {
            let Some(row) = areas.next() else { return };
            let selected = *nth == popup.selected;
            let (mark, name, detail) =
                if selected { ("→ ", Token::Accent, Token::Accent) } else { ("  ", Token::Text, Token::Muted) };
            let label_room = if choice.detail.is_empty() { columns.saturating_sub(2) } else { widest };
            let label = match popup.token.of.argument() {
                // The end of a path is more telling than its start.
                Some(Argument::File) => truncate_middle(&clean(&choice.label), label_room).into_owned(),
                _ => fit(&choice.label, label_room).into_owned(),
            };
            let gap = " ".repeat((widest + 2).saturating_sub(width(&label)));
            let room = columns.saturating_sub(2 + widest + 2);
            let detail_text = fit(&choice.detail, room).into_owned();
            let line = Line::from(vec![
                Span::styled(mark, theme.style(name)),
                Span::styled(label, theme.style(name)),
                Span::raw(gap),
                Span::styled(detail_text, theme.style(detail)),
            ]);
            draw(&line, row, buf);
        }
        if let Some(row) = areas.next().filter(|_| popup.matches.len() > self.rows) {
            let counter = format!("  ({}/{})", popup.selected + 1, popup.matches.len());
            draw(&Line::styled(fit(&counter, columns).into_owned(), theme.style(Token::Dim)), row, buf);
        }
    }
}
