//! The rows of the question whether a call may run. Long lines are wrapped: nothing of a call is hidden at the right edge.

use offshoot_protocol::{ApprovalDecision, OfferedRule};
use offshoot_session::text::{counted, spell_name};
use ratatui::text::Line;

use crate::app::call_list::AskedCall;
use crate::app::model::{Model, Overlay, Question, QuestionStage};
use crate::keymap::Action;
use crate::text::{clean, wrap};
use crate::theme::Token;

/// Of a longer text only so many lines are shown.
const LINES: usize = 2000;
/// How many of them are its last ones.
const LAST_LINES: usize = 200;

/// Rows of the call that are shown at once, if there is room.
const PAGE: usize = 20;
/// Rows of the call that are shown in any case, before the title is cut.
const FEWEST: usize = 2;

/// The number of rows of the call that is asked about, and how many are shown at once.
pub fn question_rows(model: &Model) -> (usize, usize) {
    model.question.as_ref().map_or((0, 0), |question| {
        let panel = Panel::new(model, question);
        (panel.call.len(), panel.page)
    })
}

pub(super) fn lines(model: &Model) -> Vec<Line<'static>> {
    let Some(question) = &model.question else { return Vec::new() };
    let panel = Panel::new(model, question);
    let count = panel.call.len();
    let first = question.scrolled.min(count.saturating_sub(panel.page));
    let mut lines = vec![Line::default(); panel.blanks];
    lines.extend(panel.title);
    lines.extend(panel.call.into_iter().skip(first).take(panel.page));
    lines.extend(
        count
            .checked_sub(first + panel.page)
            .filter(|more| *more > 0)
            .into_iter()
            .flat_map(|more| rest(model, question, more)),
    );
    lines.extend(panel.below);
    lines
}

/// The parts of the question as they fit above the editor: the keys always, then some rows of the call, then the title.
struct Panel {
    blanks: usize,
    title: Vec<Line<'static>>,
    call: Vec<Line<'static>>,
    page: usize,
    /// What waits, and the keys.
    below: Vec<Line<'static>>,
}

impl Panel {
    fn new(model: &Model, question: &Question) -> Self {
        let room = super::room_above(model);
        let call = call(model, &question.call, "  ");
        let least = 1 + FEWEST.min(call.len());
        let with = |keys: Vec<String>| {
            let keys = keys.into_iter().flat_map(|hint| rows(model, &hint, Token::Muted));
            waiting(model, question).into_iter().chain(keys).collect::<Vec<_>>()
        };
        let mut below = with(keys(model, question));
        if least + below.len() > room {
            match question.stage {
                QuestionStage::Answering => below = with(short_keys(question)),
                QuestionStage::Choosing => below = with(choosing(question, "esc", Rules::Selected)),
                QuestionStage::Shown | QuestionStage::Explaining => {}
            }
        }
        let mut title = rows(model, &title(question), Token::Warning);
        let fits = room.saturating_sub(below.len() + FEWEST.min(call.len())).max(1);
        if title.len() > fits {
            title.truncate(fits);
            title.last_mut().into_iter().for_each(cut_short);
        }
        let left = room.saturating_sub(title.len() + below.len());
        let blanks = usize::from(left > call.len().min(FEWEST));
        let left = left.saturating_sub(blanks);
        let page = match call.len() <= left.min(PAGE) {
            true => call.len(),
            false => left.saturating_sub(rest(model, question, call.len()).len()).clamp(1, PAGE),
        };
        Self { blanks, title, call, page, below }
    }
}

/// An ellipsis in the place of the last character: the row may be full.
pub(super) fn cut_short(row: &mut Line<'static>) {
    if let Some(span) = row.spans.last_mut() {
        let mut text = std::mem::take(&mut span.content).into_owned();
        text.pop();
        text.push('…');
        span.content = text.into();
    }
}

fn title(question: &Question) -> String {
    match question.call.diff {
        _ if question.once == ApprovalDecision::OnceUnsandboxed => {
            format!("{} failed in the sandbox. Run it again outside? {}", question.call.tool, question.call.reason)
        }
        Some(_) => format!("Change {}? ({})", first_line(&question.call.what), question.call.reason),
        None if question.call.is_command() => format!("Run this command? ({})", question.call.reason),
        None => format!("Run {}? ({})", question.call.tool, question.call.reason),
    }
}

fn rest(model: &Model, question: &Question, more: usize) -> Vec<Line<'static>> {
    let keys = if question.stage == QuestionStage::Answering { " · down, pageDown" } else { "" };
    let unit = if more == 1 { "row" } else { "rows" };
    rows(model, &format!("  … {more} more {unit}{keys}"), Token::Muted)
}

fn waiting(model: &Model, question: &Question) -> Vec<Line<'static>> {
    match question.waiting {
        0 => Vec::new(),
        1 => rows(model, "1 more call waits", Token::Muted),
        more => rows(model, &format!("{more} more calls wait"), Token::Muted),
    }
}

/// What would run, or would change. Each line begins with the indent; its further rows do not, so that nothing is cut.
pub(super) fn call(model: &Model, call: &AskedCall, indent: &str) -> Vec<Line<'static>> {
    let text = call.diff.as_ref().unwrap_or(&call.what);
    let token = |line: &str| match (call.diff.is_some(), line.chars().next()) {
        (true, Some('+')) => Token::ToolDiffAdded,
        (true, Some('-')) => Token::ToolDiffRemoved,
        (true, _) => Token::ToolDiffContext,
        (false, _) => Token::Text,
    };
    let row = |line: &str| rows(model, &format!("{indent}{line}"), token(line));
    let count = text.lines().count();
    let omitted = count.saturating_sub(LINES);
    // The end of a long text may be what matters.
    let (first, last) = if omitted > 0 { (LINES - LAST_LINES, LAST_LINES) } else { (count, 0) };
    let mut shown: Vec<_> = text.lines().take(first).flat_map(row).collect();
    if omitted > 0 {
        let words = format!("{indent}… {} not shown …", counted(omitted, "line", "lines"));
        shown.extend(rows(model, &words, Token::Warning));
    }
    shown.extend(text.lines().skip(count - last).flat_map(row));
    let beside = call.beside.iter().flat_map(|(name, value)| argument(name, value));
    shown.extend(beside.flat_map(|line| rows(model, &format!("{indent}{line}"), Token::Muted)));
    shown
}

/// Whether some lines of a call are never shown.
pub(super) fn omits_lines(call: &AskedCall) -> bool {
    let texts = call.beside.iter().map(|(_, value)| value).chain(&call.diff).chain([&call.what]);
    texts.into_iter().any(|text| text.lines().count() > LINES)
}

/// An argument that the call has besides: all its lines below its name, unless it has only one.
fn argument(name: &str, value: &str) -> Vec<String> {
    let lines: Vec<&str> = value.lines().collect();
    match lines.as_slice() {
        [] => vec![format!("{name}:")],
        [line] => vec![format!("{name}: {line}")],
        lines => {
            let indented = |line: &&str| format!("  {line}");
            let (start, end) = lines.split_at(lines.len().min(LINES - LAST_LINES));
            let (hidden, end) = end.split_at(end.len().saturating_sub(LAST_LINES));
            let mark =
                (!hidden.is_empty()).then(|| format!("  … {} not shown …", counted(hidden.len(), "line", "lines")));
            std::iter::once(format!("{name}:"))
                .chain(start.iter().map(indented))
                .chain(mark)
                .chain(end.iter().map(indented))
                .collect()
        }
    }
}

/// How many of the rules are listed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rules {
    All,
    /// On screens with few rows.
    Selected,
}

/// The rules that can be kept, what the selected one allows, and the keys.
fn choosing(question: &Question, leave: &str, rules: Rules) -> Vec<String> {
    let numbered = question.rules.iter().enumerate();
    let row = |(at, offered): (usize, &OfferedRule)| {
        let mark = if at == question.selected { "›" } else { " " };
        format!("{mark} {} {}", at + 1, clean(&spell_name(&offered.rule)))
    };
    let is_listed = |(at, _): &(usize, &OfferedRule)| rules == Rules::All || *at == question.selected;
    let allows = question
        .rules
        .get(question.selected)
        .map(|offered| format!("  allows {}", clean(&spell_name(&offered.allows))));
    let keys = format!("enter until the end · p this project · e everywhere · ↑/↓ · {leave} back");
    numbered.filter(is_listed).map(row).chain(allows).chain([keys]).collect()
}

fn keys(model: &Model, question: &Question) -> Vec<String> {
    let hint = |action| model.preferences.keymap.hint(action).unwrap_or_default();
    let (answer, leave) = (hint(Action::AnswerQuestion), hint(Action::Interrupt));
    match (question.stage, &question.rule) {
        (QuestionStage::Shown, _) if matches!(model.overlay, Some(Overlay::Dialog(..))) => {
            vec!["waits until the question below is answered".to_owned()]
        }
        (QuestionStage::Shown, _) => vec![format!("{answer} answers · typing goes to the text below")],
        (QuestionStage::Answering, Some(rule)) => vec![
            "y allow · n refuse · t refuse and say why".to_owned(),
            format!("s allow {} until the end · a always…", first_line(rule)),
        ],
        (QuestionStage::Answering, None) => {
            let always = if question.rules.is_empty() { "" } else { " · a always…" };
            vec![format!("y allow · n refuse · t refuse and say why{always}")]
        }
        (QuestionStage::Choosing, _) => choosing(question, &leave, Rules::All),
        (QuestionStage::Explaining, _) => {
            vec![format!("Say below what to do instead · {} refuses · {leave} back", hint(Action::Submit))]
        }
    }
}

/// Where there is little room: the rule is shown when it is kept.
fn short_keys(question: &Question) -> Vec<String> {
    let always = question.rule.as_ref().map(|_| "s until the end · a always".to_owned());
    std::iter::once("y allow · n refuse · t say why".to_owned()).chain(always).collect()
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

pub(super) fn rows(model: &Model, text: &str, token: Token) -> Vec<Line<'static>> {
    let room = usize::from(model.size.width).saturating_sub(2);
    let style = model.preferences.theme.style(token);
    let indented = |row: Line<'static>| {
        let mut row = row.style(style);
        row.spans.insert(0, "  ".into());
        row
    };
    wrap(clean(text).into_owned(), room).into_iter().map(indented).collect()
}
