//! How a form looks: tabs where there are several questions, the question, its options, and the line for one's own words.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use offshoot_protocol::{FieldKind, FormField, FormSource};

use super::{DraftAnswer, FormPanel, has_line, is_multi, labels};
use crate::keymap::{Action, Keymap};
use crate::overlay::hint;
use crate::text;
use crate::theme::{Theme, Token};

/// Longer texts are cut.
const MAX_BYTES: usize = 4 << 10;
/// Rows of a longer text beside an option.
const MOST_PREVIEW: usize = 8;

/// A row, and whether it is the selected one or belongs to it.
struct FormRow {
    line: Line<'static>,
    is_selected: bool,
    /// The line with the cursor is drawn in it.
    has_line: bool,
}

impl FormPanel {
    /// The number of rows that show everything at this width.
    #[must_use]
    pub fn height(&self, columns: u16) -> u16 {
        let theme = Theme::default();
        let rows = self.head(&theme, columns).len() + self.rows(&theme, columns).len() + 1;
        u16::try_from(rows).unwrap_or(u16::MAX)
    }

    /// Draws it over the whole area.
    pub fn view(&self, keymap: &Keymap, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let (mut head, rows) = (self.head(theme, area.width), self.rows(theme, area.width));
        let below = usize::from(area.height.saturating_sub(1));
        // The selected row is seen, whatever else is not.
        let most = below.saturating_sub(rows.len().min(3)).max(1);
        if head.len() > most {
            let left = head.len() - most + 1;
            head.truncate(most.saturating_sub(1));
            let rows = if left == 1 { "row" } else { "rows" };
            let words = format!("… {left} more {rows}; the call above has all of it");
            head.push(Line::styled(text::fit(&words, usize::from(area.width)).into_owned(), theme.style(Token::Dim)));
        }
        let room = below.saturating_sub(head.len());
        let selected_end = rows.iter().rposition(|row| row.is_selected).map_or(0, |at| at + 1);
        let selected = rows.iter().position(|row| row.is_selected).unwrap_or_default();
        let first = selected_end.saturating_sub(room).min(selected);
        let lines = head.into_iter().map(|line| (line, false));
        let shown = lines.chain(rows.into_iter().skip(first).take(room).map(|row| (row.line, row.has_line)));
        for ((line, has_line), row) in shown.zip(area.rows()) {
            match self.field().filter(|_| has_line) {
                Some((_, draft)) if self.is_on_line() => {
                    let prompt = line.spans.into_iter().next().unwrap_or_default();
                    draft.line.view(prompt, theme.style(Token::Text), row, buf);
                }
                _ => text::draw(&line, row, buf),
            }
        }
        let foot = Rect { y: area.y + area.height.saturating_sub(1), height: area.height.min(1), ..area };
        let hints = hint::fit(keymap, &self.hints(), usize::from(area.width).saturating_sub(2));
        text::draw(&Line::styled(format!("  {hints}"), theme.style(Token::Dim)), foot, buf);
    }

    fn hints(&self) -> Vec<hint::Hint<'static>> {
        let confirm = match self.field() {
            None => "send",
            Some((field, _)) if is_multi(&field.kind) => "next (space marks)",
            Some(_) => "answer",
        };
        let mut hints: Vec<hint::Hint<'static>> =
            vec![(&[Action::SelectConfirm], confirm), (&[Action::SelectCancel], "not answered")];
        if self.form.fields.len() > 1 {
            hints.push((&[Action::Tab], "next question"));
        }
        hints
    }

    /// Who asks, the tabs, and the question.
    fn head(&self, theme: &Theme, columns: u16) -> Vec<Line<'static>> {
        let mut head = Vec::new();
        if let FormSource::Mcp(server) = &self.form.source {
            let words = format!("the MCP server {} asks", one_line(server));
            head.extend(wrapped(&words, theme.style(Token::Muted), columns));
        }
        if let Some(message) = &self.form.message {
            head.extend(wrapped(message, theme.style(Token::Text), columns));
        }
        if self.form.fields.len() > 1 {
            head.extend(text::wrap(self.tabs(theme), usize::from(columns)));
        }
        let bold = theme.style(Token::Accent).add_modifier(Modifier::BOLD);
        let question = self.field().map_or("Send these answers?", |(field, _)| field.question.as_str());
        head.extend(wrapped(question, bold, columns));
        if let Some(problem) = &self.problem {
            head.extend(wrapped(problem, theme.style(Token::Warning), columns));
        }
        head
    }

    fn tabs(&self, theme: &Theme) -> Line<'static> {
        let mut spans = Vec::new();
        let tab = |at: usize, words: String| {
            let style = if at == self.at {
                theme.style(Token::Accent).add_modifier(Modifier::REVERSED)
            } else {
                theme.style(Token::Muted)
            };
            Span::styled(format!(" {words} "), style)
        };
        for (at, (field, draft)) in self.form.fields.iter().zip(&self.drafts).enumerate() {
            let mark = if draft.is_given { "✓ " } else { "" };
            let name = field.header.as_deref().unwrap_or(&field.id);
            spans.push(tab(at, format!("{mark}{}", text::fit(&one_line(name), 20))));
        }
        spans.push(tab(self.form.fields.len(), "Send".to_owned()));
        Line::from(spans)
    }

    fn rows(&self, theme: &Theme, columns: u16) -> Vec<FormRow> {
        match self.field() {
            Some((field, draft)) => field_rows(field, draft, theme, columns),
            None => self.review(theme, columns),
        }
    }

    /// All answers.
    fn review(&self, theme: &Theme, columns: u16) -> Vec<FormRow> {
        let answer = |(field, draft): (&FormField, &DraftAnswer)| {
            let answer = draft.answer(&field.kind);
            let texts = answer.map(|answer| answer.selected.into_iter().chain(answer.text).collect::<Vec<_>>());
            let words = match (&field.kind, texts) {
                (_, None) => "(no answer)".to_owned(),
                (FieldKind::Flag { .. }, Some(texts)) => if texts == ["true"] { "Yes" } else { "No" }.to_owned(),
                (_, Some(texts)) if texts.is_empty() => "(none)".to_owned(),
                (_, Some(texts)) => texts.join(", "),
            };
            let name = field.header.as_deref().unwrap_or(&field.id);
            wrapped(&format!("{}: {}", one_line(name), one_line(&words)), theme.style(Token::Text), columns)
        };
        let lines = self.form.fields.iter().zip(&self.drafts).flat_map(answer);
        lines.map(|line| FormRow { line, is_selected: false, has_line: false }).collect()
    }
}

fn field_rows(field: &FormField, draft: &DraftAnswer, theme: &Theme, columns: u16) -> Vec<FormRow> {
    let mut rows = Vec::new();
    let (accent, dim) = (theme.style(Token::Accent), theme.style(Token::Dim));
    let labels = labels(&field.kind);
    for (at, label) in labels.iter().enumerate() {
        let is_selected = at == draft.row;
        let (description, preview, is_recommended) = match &field.kind {
            FieldKind::Choice { options, recommended, .. } => {
                let option = options.get(at);
                let about = option.and_then(|option| option.description.clone());
                (about, option.and_then(|option| option.preview.clone()), *recommended == Some(at))
            }
            _ => (None, None, false),
        };
        let mark = match is_multi(&field.kind) {
            true if draft.chosen.get(at) == Some(&true) => "[x] ",
            true => "[ ] ",
            false => "",
        };
        let cursor = if is_selected { "› " } else { "  " };
        let style = if is_selected { accent } else { theme.style(Token::Text) };
        let recommended = if is_recommended { " (recommended)" } else { "" };
        let words = format!("{cursor}{}. {mark}{}", at + 1, one_line(label));
        let spans = vec![Span::styled(words, style), Span::styled(recommended, dim)];
        let wrapped_label = text::wrap(Line::from(spans), usize::from(columns));
        let row = |line| FormRow { line, is_selected, has_line: false };
        rows.extend(wrapped_label.into_iter().map(row));
        let indent = columns.saturating_sub(5);
        let indented = |line: Line<'static>| {
            let style = line.style;
            let spans = std::iter::once(Span::raw("     ")).chain(line.spans);
            Line::from(spans.collect::<Vec<_>>()).style(style)
        };
        rows.extend(description.iter().flat_map(|about| wrapped(about, dim, indent)).map(|line| row(indented(line))));
        let preview = preview.filter(|_| is_selected);
        let preview = preview.iter().flat_map(|text| wrapped(text, theme.style(Token::Muted), indent));
        rows.extend(preview.take(MOST_PREVIEW).map(|line| row(indented(line))));
    }
    if has_line(&field.kind) {
        let is_selected = draft.row >= labels.len();
        let prompt = match (&field.kind, is_selected) {
            (FieldKind::Choice { .. }, true) => format!("› {}. ", labels.len() + 1),
            (FieldKind::Choice { .. }, false) => format!("  {}. ", labels.len() + 1),
            _ => "› ".to_owned(),
        };
        let typed = draft.line.text();
        let rest = if typed.is_empty() { "your own words".to_owned() } else { one_line(typed) };
        let line =
            Line::from(vec![Span::styled(prompt, if is_selected { accent } else { dim }), Span::styled(rest, dim)]);
        rows.push(FormRow { line, is_selected, has_line: true });
    }
    rows
}

fn bounded(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_BYTES)).unwrap_or_default()
}

fn one_line(foreign: &str) -> String {
    text::clean_lines(bounded(foreign)).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn wrapped(foreign: &str, style: Style, columns: u16) -> Vec<Line<'static>> {
    let clean = text::clean_lines(bounded(foreign).trim_end());
    let lines: Vec<String> = clean.lines().map(str::to_owned).collect();
    let wrapped = lines.into_iter().flat_map(|line| text::wrap(line, usize::from(columns)));
    wrapped.map(|line| line.style(style)).collect()
}
