//! The view: functions from the model to lines and cells. They are pure, except for cached layouts.

mod status;
mod start;
mod awaited;
mod approval;
mod reader;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect, Size};
use ratatui::text::Line;

pub use approval::question_rows;
pub use reader::folded_block;

use super::model::{Model, Overlay, Wishes};
use super::screen::{RegionCursor, RegionRows};
use crate::message::{Folds, RenderedRows, RowRenderer};
use crate::text::draw;

#[derive(Debug, Clone, Default)]
pub struct Bottom {
    live: Vec<Line<'static>>,
    /// So many of the live rows belong to the conversation.
    head: usize,
    middle: u16,
    status: Vec<Line<'static>>,
    /// Whether rows change without a key.
    is_under_way: bool,
}

/// The finished rows that were not printed. Marks them as printed.
pub fn print(model: &mut Model) -> RenderedRows {
    let mut laid = RenderedRows { lines: start::finished(model), ..RenderedRows::default() };
    let (look, folds) = look(&model.wishes, model.size, model.folds);
    laid.append(model.live.print(&model.conversation, &look, folds));
    model.conversation.forget(model.live.next());
    laid
}

fn look(wishes: &Wishes, size: Size, (thinking, tools): (bool, bool)) -> (RowRenderer<'_>, Folds<'static>) {
    let look = RowRenderer { theme: &wishes.theme, width: usize::from(size.width), habits: &wishes.habits };
    (look, Folds { thinking, tools, other: &[] })
}

/// The live rows: the work under way, the queue, the editor or a small list, and the status.
pub fn bottom(model: &mut Model) -> Bottom {
    let size = model.size;
    let status = status::lines(model);
    let below = u16::try_from(status.len()).unwrap_or(1);
    let middle = middle(model, below);
    let (look, folds) = look(&model.wishes, size, model.folds);
    let mut live = model.live.rows(&model.conversation, &look, folds, usize::from(size.height));
    let head = live.len();
    live.extend(awaited::lines(model));
    live.extend(approval::lines(model));
    if live.is_empty() {
        live = start::unfinished(model);
    }
    if !live.is_empty() || !model.conversation.is_empty() || model.live.has_start {
        live.push(Line::default());
    }
    let room = usize::from(size.height.saturating_sub(middle).saturating_sub(below));
    let hidden = live.len().saturating_sub(room);
    let is_under_way = model.is_under_way() || model.is_resizing();
    Bottom { live: live.split_off(hidden), head: head.saturating_sub(hidden), middle, status, is_under_way }
}

/// The rows of the editor, or of what stands in its place.
fn middle(model: &Model, below: u16) -> u16 {
    let middle = match &model.overlay {
        Some(Overlay::Pick(pick, _)) => pick.height(model.size.width),
        Some(Overlay::ModelScope(list)) => list.height(model.size.width),
        _ => model.editor.height(),
    };
    middle.min(model.size.height.saturating_sub(below).saturating_sub(1)).max(1)
}

/// The rows above the editor, without the blank one before it.
fn room_above(model: &Model) -> usize {
    let below = u16::try_from(status::lines(model).len()).unwrap_or(1);
    let taken = middle(model, below).saturating_add(below).saturating_add(1);
    usize::from(model.size.height.saturating_sub(taken))
}

impl Bottom {
    /// Draws as many rows as the terminal has room for, with the text cursor.
    pub fn draw(&self, model: &Model) -> RegionRows<Buffer> {
        let rows = u16::try_from(self.live.len() + self.status.len()).unwrap_or(u16::MAX).saturating_add(self.middle);
        let area = Rect::new(0, 0, model.size.width, rows.min(model.size.height.max(1)));
        let mut buffer = Buffer::empty(area);
        let mut cursor = None;
        let theme = &model.wishes.theme;
        let live = u16::try_from(self.live.len()).unwrap_or(u16::MAX).min(area.height);
        for (line, row) in self.live.iter().zip(area.rows()) {
            draw(line, row, &mut buffer);
        }
        let middle = Rect { y: area.y + live, height: self.middle, ..area }.intersection(area);
        let below = Rect { y: middle.bottom(), height: area.bottom().saturating_sub(middle.bottom()), ..area };
        match &model.overlay {
            Some(Overlay::Pick(pick, _)) => pick.view(theme, middle, &mut buffer),
            Some(Overlay::ModelScope(list)) => list.view(theme, middle, &mut buffer),
            _ => {
                model.editor.view(theme, middle, &mut buffer);
                cursor = model.editor.cursor(middle);
                if let Some(cursor) = cursor {
                    let row = Rect { y: cursor.y, height: 1, ..model.editor.padded(middle) };
                    if let Some(hint) = start::placeholder(model, row.width) {
                        draw(&hint, row, &mut buffer);
                    }
                }
            }
        }
        for (line, row) in self.status.iter().zip(below.rows()) {
            draw(line, row, &mut buffer);
        }
        RegionRows { rows: buffer, cursor: RegionCursor::new(cursor, self.is_under_way), head: self.head }
    }
}

/// Lays out the overlay that takes the whole screen.
pub fn prepare_full(model: &mut Model) {
    if let Some(Overlay::Transcript(pager)) = &mut model.overlay {
        pager.lay_out(&model.conversation, &model.wishes.theme, model.size);
    }
}

/// Draws the overlay that takes the whole screen.
pub fn full(model: &Model, frame: &mut Frame<'_>) {
    let area = frame.area();
    if let Some(cursor) = overlay(model, area, frame.buffer_mut()) {
        frame.set_cursor_position(cursor);
    }
}

fn overlay(model: &Model, area: Rect, buf: &mut Buffer) -> Option<Position> {
    let (theme, keymap) = (&model.wishes.theme, &model.wishes.keymap);
    match model.overlay.as_ref()? {
        Overlay::Tree(tree) => {
            tree.view(theme, (area, &awaited::progress(model)), buf);
            return tree.cursor(area);
        }
        Overlay::Sessions(sessions) => sessions.view(theme, area, buf),
        Overlay::Fork(fork, _) => fork.view(keymap, theme, area, buf),
        Overlay::Transcript(pager) => pager.view(keymap, theme, area, buf),
        Overlay::Settings(settings) => settings.view(keymap, theme, area, buf),
        Overlay::Help(help) => help.view(theme, area, buf),
        Overlay::Page(page) => page.view(keymap, theme, area, buf),
        Overlay::Pick(pick, _) => pick.view(theme, area, buf),
        Overlay::ModelScope(list) => list.view(theme, area, buf),
    }
    None
}
