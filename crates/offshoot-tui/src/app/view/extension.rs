//! The rows of extensions: statuses below the status line, and widgets beside the editor.

use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Widget as _};

use crate::app::extension::{ComponentId, ExtensionWidget, OpenComponent, WidgetContent};
use crate::app::model::Model;
use crate::app::text_cursor::TextCursor;
use crate::text::{ELLIPSIS, draw, truncate_line};
use crate::theme::Token;

/// The rows that all widgets on one side of the editor may take.
const ROWS: usize = 20;

/// The texts of the status line in one row, by their keys; none without a text.
pub(super) fn statuses(model: &Model) -> Option<Line<'static>> {
    let texts = model.extensions.screen.statuses.values();
    let style = model.preferences.theme.style(Token::Dim);
    let mut spans: Vec<Span<'static>> = Vec::new();
    for text in texts {
        let line = foreign(model, text);
        if line.spans.is_empty() {
            continue;
        }
        if !spans.is_empty() {
            spans.push(Span::raw("  "));
        }
        spans.extend(line.spans.into_iter().map(|span| Span { style: style.patch(span.style), ..span }));
    }
    let row = truncate_line(&Line::from(spans), usize::from(model.size.width), ELLIPSIS);
    (!row.spans.is_empty()).then_some(row)
}

/// Foreign text in one row.
fn foreign(model: &Model, text: &str) -> Line<'static> {
    let one = text.split(['\n', '\r', '\t']).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>();
    model.preferences.theme.foreign_line(&one.join(" "))
}

/// The rows of the widgets above the editor, or below it. A third of the screen at most.
pub(super) fn widgets(model: &Model, is_below: bool) -> Vec<Line<'static>> {
    let widgets = model.extensions.screen.widgets.iter().filter(|widget| widget.is_below == is_below);
    let mut rows: Vec<Line<'static>> = widgets.flat_map(|widget| widget_rows(model, widget)).collect();
    let most = ROWS.min(usize::from(model.size.height) / 3).max(1);
    if rows.len() > most {
        let hidden = rows.len() - most + 1;
        rows.truncate(most - 1);
        rows.push(Line::styled(
            format!("… {hidden} more rows of extensions"),
            model.preferences.theme.style(Token::Muted),
        ));
    }
    rows
}

fn widget_rows(model: &Model, widget: &ExtensionWidget) -> Vec<Line<'static>> {
    let columns = usize::from(model.size.width);
    match &widget.content {
        WidgetContent::Lines(lines) => lines
            .iter()
            .map(|line| truncate_line(&model.preferences.theme.foreign_line(line), columns, ELLIPSIS))
            .collect(),
        WidgetContent::Component(component) => component_lines(model, *component),
    }
}

/// The rows of a component, cut at the edge of the screen.
fn component_lines(model: &Model, component: ComponentId) -> Vec<Line<'static>> {
    let columns = usize::from(model.size.width);
    let rows = model.extensions.rows(component).iter();
    rows.map(|row| truncate_line(&model.preferences.theme.foreign_line(row), columns, "")).collect()
}

/// The rows in place of the status line, if an extension has its own: a third of the screen at most.
pub(super) fn footer(model: &Model) -> Option<Vec<Line<'static>>> {
    let footer = model.extensions.screen.footer?;
    let mut rows = component_lines(model, footer);
    rows.truncate((usize::from(model.size.height) / 3).max(1));
    Some(rows)
}

/// The rows of a header that is not printed yet. Marks them as printed.
pub(super) fn header(model: &mut Model) -> Vec<Line<'static>> {
    let Some(header) = model.extensions.screen.header else { return Vec::new() };
    if model.extensions.printed_header == Some(header) || model.extensions.rows(header).is_empty() {
        return Vec::new();
    }
    let rows = component_lines(model, header);
    model.extensions.printed_header = Some(header);
    rows
}

/// The height of the editor of an extension, with what offshoot shows around it.
pub(super) fn editor_height(model: &Model, editor: ComponentId) -> u16 {
    let (above, below) = model.editor.rows_around();
    let rows = u16::try_from(model.extensions.rows(editor).len()).unwrap_or(u16::MAX);
    rows.saturating_add(above).saturating_add(below).max(1)
}

/// Draws the editor of an extension between the waiting messages and the completions. It has the room before they do.
pub(super) fn editor_view(model: &Model, editor: ComponentId, area: Rect, buf: &mut Buffer) -> Option<Position> {
    let (above, below) = model.editor.rows_around();
    let rows = u16::try_from(model.extensions.rows(editor).len()).unwrap_or(u16::MAX).min(area.height);
    let below = below.min(area.height - rows);
    let above = above.min(area.height - rows - below);
    let own = Rect { y: area.y + above, height: rows, ..area };
    let under = Rect { y: own.bottom(), height: below, ..area };
    model.editor.view_around(&model.preferences.theme, (Rect { height: above, ..area }, under), buf);
    component_view(model, editor, own, buf)
}

/// The height of a component in place of the editor.
pub(super) fn height(model: &Model, open: OpenComponent) -> u16 {
    u16::try_from(model.extensions.rows(open.component).len()).unwrap_or(u16::MAX).max(1)
}

/// Draws a component in place of the editor: its last rows, where it has more than there is room. The cursor, if it has one.
pub(super) fn view(model: &Model, open: OpenComponent, area: Rect, buf: &mut Buffer) -> Option<Position> {
    component_view(model, open.component, area, buf)
}

/// Draws overlays above what is beneath them. The cursor of the one that has the keys, else the editor's.
pub(super) fn overlays(model: &Model, area: Rect, buf: &mut Buffer) -> Option<TextCursor> {
    let (beneath, mut cursor) = model.extensions.beneath.clone()?;
    let shared = beneath.area.intersection(area);
    for at in shared.positions() {
        if let (Some(from), Some(to)) = (beneath.cell(at), buf.cell_mut(at)) {
            *to = from.clone();
        }
    }
    let top = model.extensions.top();
    for (open, place) in model.extensions.overlays() {
        let own = place.area(model.extensions.rows(open.component).len(), area.as_size());
        Clear.render(own, buf);
        for (line, row) in component_lines(model, open.component).iter().zip(own.rows()) {
            draw(line, row, buf);
        }
        if top == Some(open) {
            let at = model.extensions.components.get(&open.component).and_then(|shown| shown.drawn.cursor);
            let at = at.map(|(column, row)| Position::new(own.x.saturating_add(column), own.y.saturating_add(row)));
            cursor = at.filter(|at| own.contains(*at)).map(TextCursor::Plain);
        }
    }
    cursor
}

fn component_view(model: &Model, component: ComponentId, area: Rect, buf: &mut Buffer) -> Option<Position> {
    let lines = component_lines(model, component);
    let hidden = lines.len().saturating_sub(usize::from(area.height));
    for (line, row) in lines.iter().skip(hidden).zip(area.rows()) {
        draw(line, row, buf);
    }
    let cursor = model.extensions.components.get(&component)?.drawn.cursor?;
    let (column, row) = cursor;
    let row = usize::from(row).checked_sub(hidden).and_then(|row| u16::try_from(row).ok())?;
    let place = Position::new(area.x.saturating_add(column), area.y.saturating_add(row));
    area.contains(place).then_some(place)
}
