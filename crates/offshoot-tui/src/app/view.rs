//! The view: functions from the model to lines and cells. They are pure, except for cached layouts.

mod extension;
mod status;
mod start;
mod awaited;
mod approval;
mod call_list;
mod todo;
mod reader;
pub(in crate::app) mod title;

use offshoot_session::clock::Millis;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect, Size};
use ratatui::text::Line;

pub use approval::question_rows;
pub use call_list::{listed_calls_in_full, opened_call_rows};
pub use reader::folded_block;

use super::live::Live;
use super::model::{Model, Overlay, Preferences};
use super::screen::{CursorReach, NextWidth, RegionCursor, RegionRows};
use super::text_cursor::TextCursor;
use crate::message::{Folds, RenderedRows, RowRenderer};
use crate::overlay::line::LineInput;
use crate::text::draw;

/// Rows above the editor that have kept their lengths for so many milliseconds may keep them.
const STILL: Millis = 1000;
/// The rows of an editor with one row of text.
const EDITOR: u16 = 3;

#[derive(Debug, Clone, Default)]
pub struct Bottom {
    live: Vec<Line<'static>>,
    /// So many of the live rows belong to the conversation.
    head: usize,
    middle: u16,
    /// So many rows come and go: those of completions, a list or a question of an extension.
    passing: u16,
    /// Below the editor.
    below: Vec<Line<'static>>,
    status: Vec<Line<'static>>,
}

/// The finished rows that were not printed. Marks them as printed.
pub fn print(model: &mut Model) -> RenderedRows {
    let mut laid = RenderedRows { lines: start::finished(model), ..RenderedRows::default() };
    laid.lines.extend(extension::header(model));
    let (look, folds) = look(&model.preferences, model.size, model.folds);
    laid.append(model.live.print(&model.conversation, &look, folds));
    model.conversation.forget(model.live.next());
    laid
}

/// The rows of the conversation that would still have changed. The terminal keeps them at the end of the program.
pub fn rest(model: &mut Model) -> Vec<Line<'static>> {
    let (look, folds) = look(&model.preferences, model.size, model.folds);
    model.live.rows(&model.conversation, &look, folds, usize::MAX)
}

fn look(preferences: &Preferences, size: Size, (thinking, tools): (bool, bool)) -> (RowRenderer<'_>, Folds<'static>) {
    let look = RowRenderer { theme: &preferences.theme, width: usize::from(size.width), habits: &preferences.habits };
    (look, Folds { thinking, tools, other: &[] })
}

/// The live rows: the work under way, the queue, the editor or a small list, and the status.
pub fn bottom(model: &mut Model) -> Bottom {
    let size = model.size;
    let status = status::lines(model);
    let under = extension::widgets(model, true);
    let below = u16::try_from(status.len() + under.len()).unwrap_or(1);
    let middle = middle(model, below);
    let (look, folds) = look(&model.preferences, size, model.folds);
    let mut live = model.live.rows(&model.conversation, &look, folds, usize::from(size.height));
    let head = live.len();
    live.extend(awaited::lines(model));
    live.extend(call_list::lines(model).unwrap_or_else(|| approval::lines(model)));
    if live.is_empty() {
        live = start::unfinished(model);
    }
    if !live.is_empty() || !model.conversation.is_empty() || model.live.has_start {
        live.push(Line::default());
    }
    live.extend(todo::rows(model));
    live.extend(extension::widgets(model, false));
    let room = usize::from(size.height.saturating_sub(middle).saturating_sub(below));
    let hidden = live.len().saturating_sub(room);
    Bottom {
        live: live.split_off(hidden),
        head: head.saturating_sub(hidden),
        middle,
        passing: passing(model, middle),
        below: under,
        status,
    }
}

/// Where the terminal's own cursor may be. While an answer comes in, rows above the editor change at any moment: then it is in the
/// editor if something is being written there, because input methods follow it.
fn cursor_reach(model: &Model) -> CursorReach {
    let is_still = !model.is_under_way() || model.now - model.laid_out_at >= STILL;
    match () {
        () if model.is_resizing() => CursorReach::FirstRow,
        () if model.is_under_way() && (model.overlay.is_some() || !model.editor.is_empty()) => CursorReach::Anywhere,
        () if is_still => CursorReach::Near,
        () => CursorReach::FirstRow,
    }
}

/// Whether nothing replaces the editor.
fn shows_editor(model: &Model) -> bool {
    model.overlay.is_none() && model.extensions.editor().is_none()
}

/// The rows of the editor, or of what replaces it.
fn middle(model: &Model, below: u16) -> u16 {
    let middle = match &model.overlay {
        Some(Overlay::Pick(pick, _)) => pick.height(model.size.width),
        Some(Overlay::ModelScope(list)) => list.height(model.size.width),
        Some(Overlay::Dialog(dialog, _)) => dialog.height(model.size.width),
        Some(Overlay::Component(open)) if open.place.is_none() => extension::height(model, *open),
        _ => match model.extensions.editor() {
            Some(editor) => extension::editor_height(model, editor),
            None => model.editor.height(),
        },
    };
    middle.min(model.size.height.saturating_sub(below).saturating_sub(1)).max(1)
}

/// The rows that come and go. Those of a draft do not count: who writes wants to see the end of the conversation.
fn passing(model: &Model, middle: u16) -> u16 {
    match &model.overlay {
        Some(Overlay::Pick(..) | Overlay::ModelScope(_) | Overlay::Dialog(..)) => middle.saturating_sub(EDITOR),
        None if model.extensions.editor().is_none() => model.editor.rows_around().1.min(middle.saturating_sub(EDITOR)),
        _ => 0,
    }
}

/// The rows above the editor, without the blank one before it.
fn room_above(model: &Model) -> usize {
    let below = status::lines(model).len() + extension::widgets(model, true).len();
    let beside = extension::widgets(model, false).len() + todo::rows(model).len();
    let below = u16::try_from(below + beside).unwrap_or(1);
    let taken = middle(model, below).saturating_add(below).saturating_add(1);
    usize::from(model.size.height.saturating_sub(taken))
}

impl Bottom {
    /// The number of rows.
    #[must_use]
    pub fn height(&self) -> u16 {
        let rows = self.live.len() + self.below.len() + self.status.len();
        u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(self.middle)
    }

    /// Draws as many rows as the terminal has room for, with the text cursor.
    pub fn draw(&self, model: &Model) -> RegionRows<Buffer> {
        let (rows, cursor) = self.drawn(model);
        let cursor = RegionCursor::new(cursor, cursor_reach(model));
        let next_width = if model.expects_sizes() { NextWidth::Any } else { NextWidth::Half };
        RegionRows { rows, cursor, head: self.head, passing: self.passing.into(), next_width }
    }

    fn drawn(&self, model: &Model) -> (Buffer, Option<TextCursor>) {
        let area = Rect::new(0, 0, model.size.width, self.height().min(model.size.height.max(1)));
        let mut buffer = Buffer::empty(area);
        let (mut cursor, mut marked) = (None, None);
        let theme = &model.preferences.theme;
        let live = u16::try_from(self.live.len()).unwrap_or(u16::MAX).min(area.height);
        for (line, row) in self.live.iter().zip(area.rows()) {
            draw(line, row, &mut buffer);
        }
        let middle = Rect { y: area.y + live, height: self.middle, ..area }.intersection(area);
        let below = Rect { y: middle.bottom(), height: area.bottom().saturating_sub(middle.bottom()), ..area };
        match &model.overlay {
            Some(Overlay::Pick(pick, _)) => {
                pick.view(theme, middle, &mut buffer);
                marked = LineInput::drawn_cursor(middle, &buffer);
            }
            Some(Overlay::ModelScope(list)) => {
                list.view(theme, middle, &mut buffer);
                marked = LineInput::drawn_cursor(middle, &buffer);
            }
            Some(Overlay::Component(open)) if open.place.is_none() => {
                cursor = extension::view(model, *open, middle, &mut buffer);
            }
            Some(Overlay::Dialog(dialog, _)) => {
                dialog.view(&model.preferences.keymap, theme, (middle, model.now), &mut buffer);
                cursor = dialog.cursor(theme, middle, model.now);
                marked = LineInput::drawn_cursor(middle, &buffer);
            }
            _ => cursor = self::editor(model, middle, &mut buffer),
        }
        for (line, row) in self.below.iter().chain(&self.status).zip(below.rows()) {
            draw(line, row, &mut buffer);
        }
        (buffer, cursor.map(TextCursor::Plain).or(marked.map(TextCursor::Marked)))
    }
}

/// Draws the editor, offshoot's or an extension's. The place of its cursor.
fn editor(model: &Model, middle: Rect, buf: &mut Buffer) -> Option<Position> {
    if let Some(editor) = model.extensions.editor() {
        return extension::editor_view(model, editor, middle, buf);
    }
    let title = awaited::title(model);
    model.editor.view_titled(&model.preferences.theme, (middle, title.as_ref()), buf);
    let cursor = model.editor.cursor(middle)?;
    let row = Rect { y: cursor.y, height: 1, ..model.editor.padded(middle) };
    if let Some(hint) = start::placeholder(model, row.width) {
        draw(&hint, row, buf);
    }
    Some(cursor)
}

/// Lays out the overlay that takes the whole screen.
pub fn prepare_full(model: &mut Model) {
    match &mut model.overlay {
        Some(Overlay::Reader(reader, _)) => {
            let talk = reader.child().and_then(|id| model.agents.talk(id));
            let conversation = talk.map_or(&model.conversation, |talk| &talk.conversation);
            reader.lay_out(conversation, &model.preferences.theme, model.size);
        }
        Some(Overlay::Transcript(pager)) => pager.lay_out(&model.conversation, &model.preferences.theme, model.size),
        Some(overlay) if overlay.is_full() => {}
        _ => model.extensions.beneath = Some(beneath(model)),
    }
}

/// The screen under overlays of extensions, or with passing rows: the end of the conversation, and the live rows.
fn beneath(model: &mut Model) -> (Buffer, Option<TextCursor>) {
    let area = Rect::new(0, 0, model.size.width, model.size.height);
    let bottom = bottom(model);
    let (drawn, cursor) = bottom.drawn(model);
    let head = u16::try_from(bottom.head).unwrap_or(u16::MAX).min(drawn.area.height);
    let live = drawn.area.height - head;
    let (look, folds) = look(&model.preferences, model.size, model.folds);
    let chat = Live::last_rows(&model.conversation, &look, folds, usize::from(area.height.saturating_sub(live)));
    let mut buf = Buffer::empty(area);
    for (line, row) in chat.iter().zip(area.rows()) {
        draw(line, row, &mut buf);
    }
    let top = u16::try_from(chat.len()).unwrap_or(u16::MAX);
    let moved = |at: Position| Some(Position { y: (at.y + top).checked_sub(head)?, ..at });
    for from in drawn.area.positions().filter(|at| at.y >= head) {
        if let (Some(cell), Some(to)) = (drawn.cell(from), moved(from).and_then(|to| buf.cell_mut(to))) {
            *to = cell.clone();
        }
    }
    (buf, cursor.and_then(|cursor| cursor.moved(moved)))
}

/// Draws the overlay that takes the whole screen. The answer is where a line of it shows its cursor.
pub fn full(model: &Model, frame: &mut Frame<'_>) -> Option<Position> {
    let area = frame.area();
    let cursor = match &model.overlay {
        Some(shown) if shown.is_full() => {
            let plain = overlay(model, area, frame.buffer_mut());
            let marked = line_area(shown, area).and_then(|area| LineInput::drawn_cursor(area, frame.buffer_mut()));
            plain.map(TextCursor::Plain).or(marked.map(TextCursor::Marked))
        }
        _ => extension::overlays(model, area, frame.buffer_mut()),
    };
    match cursor? {
        TextCursor::Plain(place) => {
            frame.set_cursor_position(place);
            None
        }
        TextCursor::Marked(place) => Some(place),
    }
}

/// The part of an overlay in which the line to type in has the only reversed cells; `None` if it has no line.
fn line_area(overlay: &Overlay, area: Rect) -> Option<Rect> {
    let has_line = match overlay {
        Overlay::Tree(tree) => tree.is_labelling(),
        Overlay::Transcript(pager) => return pager.has_search_line().then(|| area.rows().next_back()).flatten(),
        Overlay::Reader(reader, _) => return reader.has_search_line().then(|| area.rows().next_back()).flatten(),
        Overlay::Sessions(_)
        | Overlay::Search(_)
        | Overlay::Settings(_)
        | Overlay::Help(_)
        | Overlay::Pick(..)
        | Overlay::ModelScope(_)
        | Overlay::Prompts(_)
        | Overlay::Dialog(..) => true,
        Overlay::Fork(..) | Overlay::Page(_) | Overlay::Component(_) => false,
    };
    has_line.then_some(area)
}

fn overlay(model: &Model, area: Rect, buf: &mut Buffer) -> Option<Position> {
    let (theme, keymap) = (&model.preferences.theme, &model.preferences.keymap);
    match model.overlay.as_ref()? {
        Overlay::Tree(tree) => {
            tree.view(theme, (area, &awaited::progress(model)), buf);
            return tree.cursor(area);
        }
        Overlay::Sessions(sessions) => sessions.view(theme, area, buf),
        Overlay::Search(search) => search.view(theme, area, buf),
        Overlay::Reader(reader, _) => reader.view(keymap, theme, area, buf),
        Overlay::Fork(fork, _) => fork.view(keymap, theme, area, buf),
        Overlay::Transcript(pager) => pager.view(keymap, theme, area, buf),
        Overlay::Settings(settings) => settings.view(keymap, theme, area, buf),
        Overlay::Help(help) => help.view(theme, area, buf),
        Overlay::Page(page) => page.view(keymap, theme, area, buf),
        Overlay::Pick(pick, _) => pick.view(theme, area, buf),
        Overlay::ModelScope(list) => list.view(theme, area, buf),
        Overlay::Prompts(search) => search.view(keymap, theme, area, buf),
        Overlay::Dialog(dialog, _) => dialog.view(keymap, theme, (area, model.now), buf),
        Overlay::Component(open) => return extension::view(model, *open, area, buf),
    }
    None
}
