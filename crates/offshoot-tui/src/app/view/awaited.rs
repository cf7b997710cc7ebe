//! The work under way: its name, its duration, its tokens, and the key that stops it. It is named in the editor's upper
//! border, so the rows at the bottom do not move when it begins and ends.

use ratatui::text::{Line, Span};

use super::shows_editor;
use crate::app::model::{Model, Overlay, SPINNER_STEP};
use crate::conversation::LiveAnswer;
use crate::editor::Editor;
use crate::keymap::Action;
use crate::text::{ELLIPSIS, clean, fit, joined, line_width, truncate_line, width};
use crate::theme::Token;
use offshoot_session::clock::{Millis, took};
use offshoot_session::text::one_line;
use offshoot_session::transcript::ItemPart;
use offshoot_session::zone::Zone;

const SPINNER: [&str; 10] = ["⠋ ", "⠙ ", "⠹ ", "⠸ ", "⠼ ", "⠴ ", "⠦ ", "⠧ ", "⠇ ", "⠏ "];

/// With reduced motion, seconds are shown in steps of this many.
const CALM_SECONDS: u64 = 10;
/// An answer of which nothing has come for so many seconds has stalled.
const STALLED_SECONDS: Millis = 20;
/// A longer wait for a retry is named with the clock's time.
const LONG_WAIT_SECONDS: u64 = 60;
/// The columns of a frame of an extension.
const FRAME: usize = 12;

/// The longest message of an extension.
const LONGEST: usize = 200;

/// The rows above the editor for the work under way: what the editor's border does not name.
pub(super) fn lines(model: &Model) -> Vec<Line<'static>> {
    if matches!(model.overlay, Some(Overlay::Component(_))) {
        return component_lines(model);
    }
    let mut lines = works(model);
    if shows_editor(model) {
        lines.pop();
    }
    for line in &mut lines {
        line.spans.insert(0, Span::raw("  "));
    }
    if !lines.is_empty() {
        lines.insert(0, Line::default());
    }
    lines
}

/// The work under way that the editor's border names.
pub(super) fn title(model: &Model) -> Option<Line<'static>> {
    works(model).pop().filter(|_| shows_editor(model))
}

/// A line for each work under way.
fn works(model: &Model) -> Vec<Line<'static>> {
    let hint = model.preferences.keymap.hint(Action::Interrupt).unwrap_or_default();
    let mark = spinner(model);
    let room = Editor::title_room(model.size.width).saturating_sub(line_width(&mark));
    let time = elapsed(model);
    let ends = [
        format!("{time}{} … {hint} stops it", come(model)),
        format!("{time} … {hint} stops it"),
        format!("{time} … {hint}"),
    ];
    let work = &model.extensions.screen.work;
    let shell = model.conversation.has_shell().then(|| "running the command".to_owned());
    let job = model.conversation.job().map(str::to_owned);
    let loads = model.editor.awaits_called().then(|| "loading extensions and skills".to_owned());
    let shell = shell.or(loads);
    let said = shell.into_iter().chain(job.or_else(|| model.is_working.then(|| turn(model))));
    let warning = |text| Line::styled(text, model.preferences.theme.style(Token::Warning));
    let open_paste = model.has_open_paste.then(|| warning(open_paste(Editor::title_room(model.size.width))));
    let said = said.filter(|_| !work.is_hidden);
    let line = |what: String| {
        // A narrow screen leaves out the tokens, then the longer name, then what the key does. The time stays.
        let [all, timed, least] = &ends;
        let rows = [(&*what, all), (&*what, timed), (brief(&what), timed), (brief(&what), least)];
        let (what, end) = rows.into_iter().find(|(what, end)| width(what) + width(end) <= room).unwrap_or(rows[3]);
        let what = fit(what, room.saturating_sub(width(end)));
        let mut spans = mark.spans.clone();
        spans.push(Span::raw(format!("{what}{end}")));
        Line::from(spans).style(model.preferences.theme.style(Token::Muted))
    };
    said.map(line).chain(open_paste).collect()
}

/// Every key is part of the paste until one of these ends it.
fn open_paste(columns: usize) -> String {
    let texts = ["the paste has no end … escape or ctrl+c ends it", "paste without an end … escape ends it"];
    let text = texts.into_iter().find(|text| width(text) <= columns).unwrap_or("open paste: escape ends it");
    fit(text, columns).into_owned()
}

/// An extension has the keys: what stops it is known here, whatever it draws.
fn component_lines(model: &Model) -> Vec<Line<'static>> {
    let columns = usize::from(model.size.width).saturating_sub(2);
    let words = joined(&["an extension has the keys", "ctrl+c twice closes it"], columns);
    vec![Line::default(), Line::styled(format!("  {words}"), model.preferences.theme.style(Token::Muted))]
}

/// The duration and the tokens of the work under way, such as ` · 12 s · 40 tokens`.
pub(super) fn progress(model: &Model) -> String {
    elapsed(model) + &come(model)
}

/// The short name of a wait. The status line names the model, the block above names what runs.
fn brief(what: &str) -> &str {
    let first = what.split([' ', ':']).next().unwrap_or(what);
    match first {
        _ if what.ends_with(" is answering") => "answering",
        "nothing" => "stalled",
        "waiting" | "summarising" => first,
        // The time is enough.
        "retry" => what.split([',', '(']).next().unwrap_or(what).trim_end(),
        _ => what.strip_prefix("running ").unwrap_or(what),
    }
}

/// The state of the agent's turn: a question, a retry, the tools, or the model.
fn turn(model: &Model) -> String {
    if model.question.is_some() || matches!(model.overlay, Some(Overlay::Dialog(..))) {
        return "waiting for your answer".to_owned();
    }
    if let Some(retry) = retry(model) {
        return retry;
    }
    if let Some(message) = &model.extensions.screen.work.message {
        return one_line(message, LONGEST);
    }
    if let Some(called) = &model.extensions.called {
        return format!("running {}", one_line(called, LONGEST));
    }
    let name = model.facts.model.as_ref().map_or("the model".into(), |answers| clean(&answers.id));
    let Some(answer) = model.conversation.answer() else { return format!("waiting for {name}") };
    let mut open = answer.block().parts().iter().filter(|part| answer.is_open(part)).filter_map(|part| match part {
        ItemPart::Call(call) => Some(clean(&call.name)),
        ItemPart::Text(_) | ItemPart::Thinking(_) | ItemPart::Picture(_) | ItemPart::Other(_) => None,
    });
    match (answer.is_complete(), open.next(), open.count()) {
        (true, Some(tool), 0) => format!("running {tool}"),
        (true, Some(tool), more) => format!("running {tool} and {more} more"),
        (true, None, _) => format!("waiting for {name}"),
        // Another model may have been chosen since.
        (false, ..) => {
            let name = answer.model().map_or(name, clean);
            match stalled(model) {
                Some(seconds) => format!("nothing from {name} for {seconds} s"),
                None => format!("{name} is answering"),
            }
        }
    }
}

/// For how many seconds nothing has come of the answer, if that is long.
fn stalled(model: &Model) -> Option<Millis> {
    let step = if model.preferences.settings.reduced_motion { CALM_SECONDS.cast_signed() } else { 1 };
    let seconds = (model.now - model.heard_at) / 1000 / step * step;
    (seconds >= STALLED_SECONDS).then_some(seconds)
}

/// The countdown to the next try of a failed request.
fn retry(model: &Model) -> Option<String> {
    let at = model.retry_at?;
    let wait = (at - model.now).max(0);
    let left = wait.cast_unsigned().div_ceil(1000);
    if left > LONG_WAIT_SECONDS {
        // The time stays, and only the clock's is read again and again.
        let clock = Zone::from(model.preferences.zone.clone()).until(at, model.now);
        let rest = took(wait).filter(|_| !model.preferences.settings.reduced_motion);
        return Some(rest.map_or(format!("retry at {clock}"), |rest| format!("retry at {clock}, in {rest}")));
    }
    let (attempt, most) = model.retry_number;
    let number = format!(" ({attempt} of {most})");
    Some(match left.div_ceil(CALM_SECONDS).max(1) * CALM_SECONDS {
        most if model.preferences.settings.reduced_motion => format!("retry in less than {most} s{number}"),
        _ => format!("retry in {left} s{number}"),
    })
}

/// The current frame of the spinner. It depends only on the clock. An extension may have frames of its own.
fn spinner(model: &Model) -> Line<'static> {
    let work = &model.extensions.screen.work;
    if let Some(frames) = &work.frames {
        let step = Millis::from(work.step.max(1));
        let count = if model.preferences.is_moving() { frames.len() } else { frames.len().min(1) };
        let at = usize::try_from(model.now / step).unwrap_or(0) % count.max(1);
        let Some(frame) = frames.get(at) else { return Line::default() };
        let mut line = truncate_line(&model.preferences.theme.foreign_line(frame), FRAME, ELLIPSIS);
        line.push_span(" ");
        return line;
    }
    let at = usize::try_from(model.now / SPINNER_STEP).unwrap_or(0) % SPINNER.len();
    Line::from(SPINNER.get(at).filter(|_| model.preferences.is_moving()).copied().unwrap_or_default())
}

/// The number of tokens of the streaming answer or summary. With reduced motion there is none: a screen reader would read
/// each one.
fn come(model: &Model) -> String {
    let answer = model.conversation.answer().filter(|answer| !answer.is_complete());
    let tokens = model.conversation.job_tokens().or(answer.map(LiveAnswer::tokens));
    match tokens.filter(|_| !model.preferences.settings.reduced_motion).unwrap_or(0) {
        0 => String::new(),
        1 => " · 1 token".to_owned(),
        tokens @ 2..1000 => format!(" · {tokens} tokens"),
        tokens @ 1000..10_000 => format!(" · {}.{}k tokens", tokens / 1000, tokens % 1000 / 100),
        tokens => format!(" · {}k tokens", tokens / 1000),
    }
}

/// The duration of the wait, from the first whole second on. A retry shows a countdown instead.
fn elapsed(model: &Model) -> String {
    if let Some(retry) = retry(model).filter(|_| model.conversation.job().is_some()) {
        // A job's name is long, and its last error is above it.
        return format!(" · {}", retry.split(" (").next().unwrap_or(&retry));
    }
    let since = model.awaited_since.filter(|_| model.retry_at.is_none());
    let step = if model.preferences.settings.reduced_motion { CALM_SECONDS.cast_signed() } else { 1 };
    match since.map_or(0, |since| (model.now - since) / 1000 / step * step) {
        ..=0 => String::new(),
        seconds @ 1..=59 => format!(" · {seconds} s"),
        seconds => format!(" · {} min {} s", seconds / 60, seconds % 60),
    }
}
