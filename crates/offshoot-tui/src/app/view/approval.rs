//! The rows of the question whether a call may run. Long lines are wrapped: nothing of a call is hidden at the right edge.

use offshoot_agent::approval::ApprovalDecision;
use ratatui::text::Line;

use crate::app::model::{Model, Question, QuestionStage};
use crate::keymap::Action;
use crate::text::{clean, wrap};
use crate::theme::Token;

/// Lines beyond these are only counted.
const LINES: usize = 2000;

/// The number of rows of the call that is asked about, and how many are shown at once.
pub fn question_rows(model: &Model) -> (usize, usize) {
    let rows = model.question.as_ref().map_or(0, |question| call(model, question).len());
    // Other rows of the question, the editor and the status have the rest.
    (rows, usize::from(model.size.height).saturating_sub(12).clamp(3, 20))
}

pub(super) fn lines(model: &Model) -> Vec<Line<'static>> {
    let Some(question) = &model.question else { return Vec::new() };
    let mut lines = vec![Line::default()];
    let title = match question.diff {
        _ if question.once == ApprovalDecision::OnceUnsandboxed => {
            format!("{} failed in the sandbox. Run it again outside? {}", question.tool, question.reason)
        }
        Some(_) => format!("May {} change {}? {}", question.tool, first_line(&question.what), question.reason),
        None => format!("May {} run? {}", question.tool, question.reason),
    };
    lines.extend(rows(model, &title, Token::Warning));
    let (count, page) = question_rows(model);
    let first = question.scrolled.min(count.saturating_sub(page));
    lines.extend(call(model, question).into_iter().skip(first).take(page));
    if let Some(more) = count.checked_sub(first + page).filter(|more| *more > 0) {
        let keys = if question.stage == QuestionStage::Answering { " · down, pageDown" } else { "" };
        lines.extend(rows(model, &format!("  … {more} more rows{keys}"), Token::Muted));
    }
    match question.waiting {
        0 => {}
        1 => lines.extend(rows(model, "1 more call waits", Token::Muted)),
        more => lines.extend(rows(model, &format!("{more} more calls wait"), Token::Muted)),
    }
    lines.extend(keys(model, question).iter().flat_map(|hint| rows(model, hint, Token::Muted)));
    lines
}

/// What would run, or would change.
fn call(model: &Model, question: &Question) -> Vec<Line<'static>> {
    let text = question.diff.as_ref().unwrap_or(&question.what);
    let token = |line: &str| match (question.diff.is_some(), line.chars().next()) {
        (true, Some('+')) => Token::ToolDiffAdded,
        (true, Some('-')) => Token::ToolDiffRemoved,
        (true, _) => Token::ToolDiffContext,
        (false, _) => Token::Text,
    };
    let mut shown: Vec<_> =
        text.lines().take(LINES).flat_map(|line| rows(model, &format!("  {line}"), token(line))).collect();
    let omitted = text.lines().count().saturating_sub(LINES);
    if omitted > 0 {
        shown.extend(rows(model, &format!("  … and {omitted} more lines that are not shown"), Token::Warning));
    }
    shown
}

fn keys(model: &Model, question: &Question) -> Vec<String> {
    let hint = |action| model.wishes.keymap.hint(action).unwrap_or_default();
    let (answer, leave) = (hint(Action::AnswerQuestion), hint(Action::Interrupt));
    match (question.stage, &question.rule) {
        (QuestionStage::Shown, _) => vec![format!("{answer} answers · typing goes to the text below")],
        (QuestionStage::Answering, Some(rule)) => vec![
            "y allow · n refuse · t refuse and say why".to_owned(),
            format!("s allow {} until the end · a always", first_line(rule)),
        ],
        (QuestionStage::Answering, None) => vec!["y allow · n refuse · t refuse and say why".to_owned()],
        (QuestionStage::Confirming, rule) => {
            let rule = rule.as_deref().unwrap_or_default();
            vec![format!("Put {} into your settings, for all folders? y yes · n no", clean(rule))]
        }
        (QuestionStage::Explaining, _) => {
            vec![format!("Say below what to do instead · {} refuses · {leave} back", hint(Action::Submit))]
        }
    }
}

/// The start of a text, for a title or a hint. The whole text is shown elsewhere.
fn first_line(text: &str) -> String {
    const LONG: usize = 60;
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(LONG) {
        None if line.len() == text.len() => line.to_owned(),
        None => format!("{line}…"),
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
    }
}

fn rows(model: &Model, text: &str, token: Token) -> Vec<Line<'static>> {
    let room = usize::from(model.size.width).saturating_sub(2);
    let style = model.wishes.theme.style(token);
    let indented = |row: Line<'static>| {
        let mut row = row.style(style);
        row.spans.insert(0, "  ".into());
        row
    };
    wrap(clean(text).into_owned(), room).into_iter().map(indented).collect()
}
