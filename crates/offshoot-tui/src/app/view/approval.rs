//! The rows of the question whether a call may run.

use ratatui::text::Line;

use crate::app::model::Model;
use crate::keymap::Action;
use crate::text::{clean, fit};
use crate::theme::Token;

/// How many lines of a command are shown.
const LINES: usize = 6;

pub(super) fn lines(model: &Model) -> Vec<Line<'static>> {
    let Some(question) = &model.question else { return Vec::new() };
    let room = usize::from(model.size.width).saturating_sub(4);
    let row = |text: &str, token: Token| {
        Line::styled(format!("  {}", fit(&clean(text), room)), model.wishes.theme.style(token))
    };
    let mut lines =
        vec![Line::default(), row(&format!("May {} run? {}", question.tool, question.reason), Token::Warning)];
    lines.extend(question.what.lines().take(LINES).map(|line| row(&format!("  {line}"), Token::Text)));
    if let Some(more) = question.what.lines().count().checked_sub(LINES).filter(|more| *more > 0) {
        lines.push(row(&format!("  … and {more} more lines"), Token::Muted));
    }
    let answer = model.wishes.keymap.hint(Action::AnswerQuestion).unwrap_or_default();
    let session = question.rule.as_ref().map(|rule| format!("s allow {rule} until the end · ")).unwrap_or_default();
    let choices = format!("y allow · {session}n refuse");
    let keys = if question.has_keys { choices } else { format!("{answer}, then: {choices}") };
    lines.push(row(&keys, Token::Muted));
    lines
}
