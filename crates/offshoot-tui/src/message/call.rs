//! Tool calls with their results: a title, and the most telling part of the result.

use std::sync::Arc;

use offshoot_agent::lenient_json;
use offshoot_agent::tool::{ASK_TOOL, PLAN_TOOL};
use ratatui::style::{Modifier, Style};
use ratatui::text::Span;

use offshoot_session::call_view::{CallChange, CallRole, CallVerb, CallView};
use offshoot_session::child::TASK_TOOL;
use offshoot_session::json::Json;
use offshoot_session::text::{counted, one_line, spell_lines, spell_name};
use offshoot_session::todo::TODO_TOOL;
use offshoot_session::transcript::{ItemPart, StoredPicture, ToolCall, ToolResult};

use super::page::{Page, head, more, tail};
use super::preview::{Keep, window};
use crate::diff;
use crate::highlight::Highlighter;
use crate::markdown::flow::{self, SpanRow};
use crate::markdown::{self, harmless};
use crate::text;
use crate::theme::Token;

/// Visible rows of a folded command output, list, file and diff.
const OUTPUT_ROWS: usize = 5;
const LIST_ROWS: usize = 10;
const FILE_ROWS: usize = 10;
const DIFF_ROWS: usize = 40;
/// Visible rows of a folded command.
const COMMAND_ROWS: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallState {
    Runs,
    Done,
    Failed,
    /// No result, and none will come.
    Lost,
}

struct ShownCall<'a> {
    call: CallView<'a>,
    result: Option<&'a ToolResult>,
    state: CallState,
    is_open: bool,
}

pub(super) fn rows(page: &mut Page<'_>, part: usize, call: &ToolCall, result: Option<&ToolResult>, is_live: bool) {
    let state = match result {
        Some(result) if result.is_partial => CallState::Runs,
        Some(result) if result.is_error => CallState::Failed,
        Some(_) => CallState::Done,
        None if is_live => CallState::Runs,
        None => CallState::Lost,
    };
    block(page, state);
    let is_open = page.fold(part, page.folds.tools);
    let shown = ShownCall { call: CallView::of_call(call), result, state, is_open };
    let drawn = page.look.habits.drawn.clone();
    // An extension draws what it was given, and it was given nothing.
    let drawn = drawn.call(&call.id).filter(|_| shown.call.not_run().is_none());
    let drawn = drawn.map(|drawn| drawn.form(is_open));
    match drawn.and_then(|drawn| drawn.call.as_ref()) {
        Some(rows) => {
            let (mark, style) = mark(page, state);
            page.foreign(mark, style, rows);
        }
        None => title(page, &shown),
    }
    match shown.call.verb() {
        _ if drawn.is_some_and(|drawn| drawn.result.is_some()) => {
            let rows = drawn.and_then(|drawn| drawn.result.as_deref()).unwrap_or_default();
            page.foreign("  ", Style::new(), rows);
        }
        CallVerb::Run => bash(page, &shown),
        CallVerb::Read => read(page, &shown),
        CallVerb::Write => write(page, &shown),
        CallVerb::Edit => edit(page, &shown),
        CallVerb::Grep | CallVerb::Find | CallVerb::List => listing(page, &shown),
        CallVerb::Other => other(page, &shown),
    }
    for part in result.into_iter().flat_map(|result| &result.parts) {
        if let ItemPart::Picture(picture) = part {
            page.picture(picture);
        }
    }
    if state == CallState::Lost {
        page.words("no result", page.style(Token::Muted));
    }
}

pub(super) fn orphan(page: &mut Page<'_>, result: &ToolResult) {
    let call = ToolCall { id: result.call.clone(), name: result.tool.clone(), ..ToolCall::default() };
    rows(page, usize::MAX, &call, Some(result), false);
}

fn block(page: &mut Page<'_>, state: CallState) {
    page.block(page.style(match state {
        CallState::Runs | CallState::Lost => Token::ToolPendingBg,
        CallState::Done => Token::ToolSuccessBg,
        CallState::Failed => Token::ToolErrorBg,
    }));
}

/// The mark of a call, with its style.
fn mark(page: &Page<'_>, state: CallState) -> (&'static str, Style) {
    let (mark, token) = match state {
        CallState::Runs => ("◦ ", Token::Muted),
        CallState::Done => ("• ", Token::Success),
        CallState::Failed => ("✗ ", Token::Error),
        CallState::Lost => ("◦ ", Token::Warning),
    };
    (mark, page.style(token))
}

fn title(page: &mut Page<'_>, shown: &ShownCall<'_>) {
    let name = page.style(Token::ToolTitle).add_modifier(Modifier::BOLD);
    let accent = page.style(Token::Accent);
    let quiet = page.style(Token::ToolOutput);
    let mut row: SpanRow = SpanRow::new();
    let mut say = |text: String, style: Style| row.push(Span::styled(text, style));
    let tool = shown.call.tool();
    let subject = || one_line(&shown.call.subject_start(&|path| page.path(path), 800), 800);
    match shown.call.verb() {
        _ if shown.call.not_run().is_some() => {
            say(format!("{tool} "), name);
            say(subject(), page.style(Token::Error));
        }
        CallVerb::Run => {
            say(format!("$ {}", harmless(shown.call.subject(&str::to_owned).trim_end())), name);
            if let Some(seconds) = shown.text(CallRole::Timeout) {
                say(format!("  at most {} s", one_line(&seconds, 20)), page.style(Token::Muted));
            }
            if let Some(duration) = shown.result.and_then(|result| result.duration.as_deref()) {
                say(format!("  {duration}"), page.style(Token::Muted));
            }
        }
        CallVerb::Read | CallVerb::Write | CallVerb::Edit => {
            say(format!("{tool} "), name);
            say(subject(), accent);
            let pixels = shown.pictures().find_map(|picture| page.look.habits.pictures.about(picture).pixels());
            let amount = pixels.map(|(width, height)| format!("  {width}×{height}"));
            say(amount.unwrap_or_else(|| shown.amount()), page.style(Token::Muted));
        }
        CallVerb::Grep | CallVerb::Find => {
            say(format!("{tool} "), name);
            say(subject(), accent);
            if let Some(glob) = shown.text(CallRole::Glob) {
                say(format!(" ({})", one_line(&spell_name(&glob), 100)), quiet);
            }
        }
        CallVerb::List => {
            say(format!("{tool} "), name);
            say(subject(), accent);
        }
        CallVerb::Other => {
            say(tool, name);
            let arguments = brief(&shown.call).unwrap_or_else(|| shown.call.subject_start(&str::to_owned, 2_000));
            let arguments = one_line(&arguments, 2_000);
            if shown.call.arguments().is_some() && arguments != "{}" && !shown.is_open {
                say(format!(" {arguments}"), page.style(Token::Muted));
            }
        }
    }
    row.retain(|span| !span.content.is_empty());
    let (mark, style) = mark(page, shown.state);
    let mut rows = flow::words(&row, page.room());
    let is_long = rows.len() > COMMAND_ROWS && !shown.is_open;
    let hidden = rows.len().saturating_sub(COMMAND_ROWS);
    if is_long {
        rows.truncate(COMMAND_ROWS);
    }
    page.marked(mark, style, rows);
    if is_long {
        more(page, hidden, false);
    }
}

/// What a call of the tools `todo`, `ask`, `plan` and `task` is about: their results, or the plan below it, say the rest.
fn brief(call: &CallView<'_>) -> Option<String> {
    let arguments = call.arguments()?;
    match call.name() {
        TODO_TOOL => {
            let about = arguments.str("task").or_else(|| arguments.str("phase")).unwrap_or_default();
            Some(spell_name(&format!("{} {about}", arguments.str("op")?)).trim_end().to_owned())
        }
        ASK_TOOL => {
            let questions = arguments.get("questions")?;
            let more = questions.items().skip(1).count();
            let more = if more == 0 { String::new() } else { format!(" (+{more})") };
            Some(format!("{}{more}", spell_name(&questions.items().next()?.str("question")?)))
        }
        TASK_TOOL => {
            let tasks = arguments.get("tasks")?;
            let words =
                |task: Json<'_>| task.str("name").or_else(|| task.str("task")).map(|words| one_line(&words, 60));
            let named: Vec<String> = tasks.items().filter_map(words).collect();
            let about = arguments.str("context").map(|context| format!(" · {}", one_line(&context, 200)));
            Some(spell_name(&format!("{}{}", named.join(", "), about.unwrap_or_default())).into_owned())
        }
        PLAN_TOOL => arguments.str("markdown").map(|_| "{}".to_owned()),
        _ => None,
    }
}

impl ShownCall<'_> {
    fn text(&self, role: CallRole) -> Option<String> {
        self.call.text(role)
    }

    fn amount(&self) -> String {
        let lines = |count: usize| format!("  {}", counted(count, "line", "lines"));
        match self.call.verb() {
            CallVerb::Write => self.text(CallRole::Content).map(|text| lines(text.lines().count())).unwrap_or_default(),
            CallVerb::Read if self.state == CallState::Done && self.pictures().next().is_none() => {
                let count: usize = self.outputs().map(|text| text.lines().count()).sum();
                if count == 0 { String::new() } else { lines(count) }
            }
            CallVerb::Edit => {
                let (added, removed) = self.change().map(|change| diff::counts(&change)).unwrap_or_default();
                if (added, removed) == (0, 0) { String::new() } else { format!("  +{added} -{removed}") }
            }
            CallVerb::Read | CallVerb::Run | CallVerb::Grep | CallVerb::Find | CallVerb::List | CallVerb::Other => {
                String::new()
            }
        }
    }

    /// The diff of an edit: from its result, else from its arguments.
    /// The change that the result names, as that of the built-in tool does.
    fn told_change(&self) -> Option<String> {
        let details = self.result.and_then(|result| result.details.as_deref())?;
        Json::parse(details).ok().and_then(|details| details.str("diff").map(std::borrow::Cow::into_owned))
    }

    fn change(&self) -> Option<String> {
        if let Some(told) = self.told_change() {
            return Some(told);
        }
        if self.state == CallState::Failed {
            return None;
        }
        let account = |change: CallChange<'_>| match change {
            CallChange::Replace { old, new } => diff::account(&old, &new),
            CallChange::Patch(patch) => patch.into_owned(),
        };
        let edits: Vec<String> = self.call.changes().into_iter().map(account).collect();
        (!edits.is_empty()).then(|| edits.join("\n    ...\n"))
    }

    fn outputs(&self) -> impl Iterator<Item = &str> {
        self.result.into_iter().flat_map(|result| &result.parts).filter_map(|part| match part {
            ItemPart::Text(text) => Some(text.as_str()),
            ItemPart::Thinking(_) | ItemPart::Call(_) | ItemPart::Picture(_) | ItemPart::Other(_) => None,
        })
    }

    fn pictures(&self) -> impl Iterator<Item = &Arc<StoredPicture>> {
        self.result.into_iter().flat_map(|result| &result.parts).filter_map(|part| match part {
            ItemPart::Picture(picture) => Some(picture),
            ItemPart::Thinking(_) | ItemPart::Call(_) | ItemPart::Text(_) | ItemPart::Other(_) => None,
        })
    }

    fn output(&self) -> String {
        self.outputs().collect::<Vec<_>>().join("\n")
    }

    fn keep(&self, keep: Keep) -> Keep {
        if self.is_open { Keep::All } else { keep }
    }
}

fn failed(page: &mut Page<'_>, shown: &ShownCall<'_>) -> bool {
    let is_failed = shown.state == CallState::Failed;
    if is_failed {
        let style = page.style(Token::Error);
        head(page, &shown.output(), style, shown.keep(Keep::First(LIST_ROWS)));
    }
    is_failed
}

fn bash(page: &mut Page<'_>, shown: &ShownCall<'_>) {
    let output = shown.output();
    let output = output.trim_end();
    // The exit status is on the last line.
    let (output, status) = match output.rsplit_once('\n') {
        Some((output, last)) if shown.state == CallState::Failed && last.starts_with('[') => (output, Some(last)),
        _ => (output, None),
    };
    let style = page.style(Token::ToolOutput);
    tail(page, output.trim_end(), style, shown.keep(Keep::Last(OUTPUT_ROWS)));
    if let Some(status) = status {
        page.words(&one_line(status, 2_000), page.style(Token::Error));
    }
}

fn read(page: &mut Page<'_>, shown: &ShownCall<'_>) {
    if failed(page, shown) || !shown.is_open {
        return;
    }
    let output = shown.output();
    code(page, &shown.call.path().unwrap_or_default(), &output, Keep::All);
}

fn write(page: &mut Page<'_>, shown: &ShownCall<'_>) {
    if failed(page, shown) {
        return;
    }
    // A tool of an extension with this name may take other arguments.
    let Some(content) = shown.text(CallRole::Content) else { return output(page, shown) };
    code(page, &shown.call.path().unwrap_or_default(), &content, shown.keep(Keep::First(FILE_ROWS)));
}

fn edit(page: &mut Page<'_>, shown: &ShownCall<'_>) {
    if failed(page, shown) {
        return;
    }
    let Some(change) = shown.change() else { return output(page, shown) };
    let mut rows = diff::rows(&change, page.look.theme, page.room());
    let hidden = if shown.is_open { 0 } else { rows.len().saturating_sub(DIFF_ROWS) };
    rows.truncate(rows.len() - hidden);
    page.rows(rows);
    more(page, hidden, false);
    // A tool of an extension with this name says in words what it did.
    if shown.told_change().is_none() {
        output(page, shown);
    }
}

fn listing(page: &mut Page<'_>, shown: &ShownCall<'_>) {
    if !failed(page, shown) {
        output(page, shown);
    }
}

/// The first rows of the result's text.
fn output(page: &mut Page<'_>, shown: &ShownCall<'_>) {
    let style = page.style(Token::ToolOutput);
    head(page, &shown.output(), style, shown.keep(Keep::First(LIST_ROWS)));
}

fn other(page: &mut Page<'_>, shown: &ShownCall<'_>) {
    if let Some(arguments) = shown.call.arguments().filter(|_| shown.is_open) {
        let pretty = lenient_json::from_str::<serde_json::Value>(arguments.text()).ok();
        let pretty = pretty.and_then(|value| serde_json::to_string_pretty(&value).ok());
        code(page, "arguments.json", &pretty.unwrap_or_else(|| arguments.text().to_owned()), Keep::All);
    }
    // It is what the question is about.
    if let Some(plan) = shown.call.arguments().filter(|_| !shown.is_open && shown.call.name() == PLAN_TOOL)
        && let Some(plan) = plan.str("markdown")
    {
        let seen = plan.get(..plan.floor_char_boundary(markdown::MAX_BYTES)).unwrap_or_default();
        page.lines(markdown::lines(spell_lines(seen).trim(), &page.sheet(Style::new())));
    }
    if !failed(page, shown) {
        output(page, shown);
    }
}

fn code(page: &mut Page<'_>, path: &str, text: &str, keep: Keep) {
    let text = text.trim_end();
    let seen = text.get(..text.floor_char_boundary(markdown::MAX_BYTES)).unwrap_or_default();
    let most = match keep {
        Keep::First(most) | Keep::Last(most) => most,
        Keep::All => usize::MAX,
    };
    let mut lines = seen.lines();
    let mut highlighter = Highlighter::of_path(path);
    let sheet = page.sheet(Style::new());
    let (mut rows, mut is_cut) = (Vec::new(), seen.len() < text.len());
    for line in lines.by_ref().take(most) {
        let room = most.saturating_sub(rows.len());
        let seen = line.get(..line.floor_char_boundary(window(room, page.room()))).unwrap_or_default();
        let new = markdown::code_row(&mut highlighter, &text::clean(&spell_lines(seen)), &sheet);
        is_cut |= new.len() > room || seen.len() < line.len();
        rows.extend(new.into_iter().take(room));
    }
    page.rows(rows);
    more(page, lines.count() + text.get(seen.len()..).unwrap_or_default().matches('\n').count(), is_cut);
}

impl Page<'_> {
    /// A path relative to the working folder or home.
    fn path(&self, path: &str) -> String {
        let habits = self.look.habits;
        let below = |folder: &str| {
            let rest = path.strip_prefix(folder.trim_end_matches('/')).filter(|_| !folder.is_empty())?;
            (rest.is_empty() || rest.starts_with('/')).then(|| rest.trim_start_matches('/').to_owned())
        };
        match (below(&habits.cwd), below(&habits.home)) {
            (Some(rest), _) if !rest.is_empty() => rest,
            (Some(_), _) => ".".to_owned(),
            (None, Some(rest)) => format!("~/{rest}").trim_end_matches('/').to_owned(),
            (None, None) => path.to_owned(),
        }
    }
}
