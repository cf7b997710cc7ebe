//! What is shown: pure functions from the model to lines and cells.

mod item;
mod status;

use ratatui::Frame;
use ratatui::layout::Position;
use ratatui::text::{Line, Span};

use super::model::{Item, Model};
use crate::text::{clean, width};
use crate::theme::Token;

/// The rows at the bottom.
#[derive(Debug, Clone, Default)]
pub struct Bottom {
    /// From top to bottom.
    pub lines: Vec<Line<'static>>,
    /// Where the cursor stands: column and row.
    pub cursor: (u16, u16),
}

/// What is finished, as lines.
pub fn lines<'a>(model: &Model, items: impl Iterator<Item = &'a Item>) -> Vec<Line<'static>> {
    items.flat_map(|item| item::lines(item, &model.theme, model.size.width)).collect()
}

/// The rows at the bottom: what goes on, what waits to be said, the editor, the status.
pub fn bottom(model: &Model) -> Bottom {
    let mut live = lines(model, model.live.iter());
    for (text, when) in queued(model) {
        live.push(Line::styled(format!("{when}: {}", clean(text)), model.theme.style(Token::Dim)));
    }
    let rule = || Line::styled("─".repeat(usize::from(model.size.width)), model.theme.style(Token::Border));
    let typed = format!("> {}", clean(&model.editor));
    let column = u16::try_from(width(&typed)).unwrap_or(u16::MAX).min(model.size.width.saturating_sub(1));
    let fixed = [rule(), Line::from(Span::raw(typed)), rule(), status::line(model)];
    let room = usize::from(model.size.height).saturating_sub(fixed.len());
    let hidden = live.len().saturating_sub(room);
    let mut lines = live.split_off(hidden);
    let row = u16::try_from(lines.len() + 1).unwrap_or(u16::MAX);
    lines.extend(fixed);
    Bottom { lines, cursor: (column, row) }
}

impl Bottom {
    /// How many rows there are.
    pub fn height(&self) -> u16 {
        u16::try_from(self.lines.len()).unwrap_or(u16::MAX)
    }

    /// Draws them.
    pub fn draw(&self, frame: &mut Frame<'_>) {
        let area = frame.area();
        for (line, row) in self.lines.iter().zip(area.rows()) {
            frame.buffer_mut().set_line(row.x, row.y, line, row.width);
        }
        let (x, y) = self.cursor;
        frame.set_cursor_position(Position::new(area.x + x, area.y.saturating_add(y)));
    }
}

fn queued(model: &Model) -> impl Iterator<Item = (&String, &'static str)> {
    let (steering, follow_up) = &model.queue;
    steering.iter().map(|text| (text, "Steering")).chain(follow_up.iter().map(|text| (text, "Follow-up")))
}
