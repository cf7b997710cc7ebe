//! The row for the work under way: its name, its duration, its tokens, and the key that stops it.

use ratatui::text::Line;

use crate::app::model::{Model, SPINNER_STEP};
use crate::conversation::LiveAnswer;
use crate::keymap::Action;
use crate::text::{clean, fit, width};
use crate::theme::Token;
use offshoot_session::transcript::ItemPart;

const SPINNER: [&str; 10] = ["⠋ ", "⠙ ", "⠹ ", "⠸ ", "⠼ ", "⠴ ", "⠦ ", "⠧ ", "⠇ ", "⠏ "];

/// With reduced motion, seconds are shown in steps of this many.
const CALM_SECONDS: u64 = 10;

/// The rows for the work under way.
pub(super) fn lines(model: &Model) -> Vec<Line<'static>> {
    let hint = model.wishes.keymap.hint(Action::Interrupt).unwrap_or_default();
    let mark = spinner(model);
    let room = usize::from(model.size.width).saturating_sub(2 + width(mark));
    let time = elapsed(model);
    let ends = [
        format!("{time}{} … {hint} stops it", come(model)),
        format!("{time} … {hint} stops it"),
        format!("{time} … {hint}"),
    ];
    let shell = model.conversation.has_shell().then(|| "running the command".to_owned());
    let job = model.conversation.job().map(str::to_owned);
    let said = shell.into_iter().chain(job.or_else(|| model.is_working.then(|| turn(model))));
    let line = |what: String| {
        // A narrow screen leaves out the tokens, then the longer name, then what the key does. The time stays.
        let [all, timed, least] = &ends;
        let rows = [(&*what, all), (&*what, timed), (brief(&what), timed), (brief(&what), least)];
        let (what, end) = rows.into_iter().find(|(what, end)| width(what) + width(end) <= room).unwrap_or(rows[3]);
        let what = fit(what, room.saturating_sub(width(end)));
        Line::styled(format!("  {mark}{what}{end}"), model.wishes.theme.style(Token::Muted))
    };
    let mut lines: Vec<_> = said.map(line).collect();
    if !lines.is_empty() {
        lines.insert(0, Line::default());
    }
    lines
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
        "waiting" | "summarising" => first,
        _ => what.strip_prefix("running ").unwrap_or(what),
    }
}

/// The state of the agent's turn: a question, a retry, the tools, or the model.
fn turn(model: &Model) -> String {
    if model.question.is_some() {
        return "waiting for your answer".to_owned();
    }
    if let Some(retry) = retry(model) {
        return retry;
    }
    let name = model.looked.model.as_ref().map_or("the model".into(), |answers| clean(&answers.id));
    let Some(answer) = model.conversation.answer() else { return format!("waiting for {name}") };
    let mut open = answer.block().parts().iter().filter(|part| answer.is_open(part)).filter_map(|part| match part {
        ItemPart::Call(call) => Some(clean(&call.name)),
        ItemPart::Text(_) | ItemPart::Thinking(_) | ItemPart::Picture(_) | ItemPart::Other(_) => None,
    });
    match (answer.is_complete(), open.next(), open.count()) {
        (true, Some(tool), 0) => format!("running {tool}"),
        (true, Some(tool), more) => format!("running {tool} and {more} more"),
        (true, None, _) => format!("waiting for {name}"),
        (false, ..) => format!("{name} is answering"),
    }
}

/// The countdown to the next try of a failed request.
fn retry(model: &Model) -> Option<String> {
    let left = (model.retry_at? - model.now).max(0).cast_unsigned().div_ceil(1000);
    Some(match left.div_ceil(CALM_SECONDS).max(1) * CALM_SECONDS {
        most if model.wishes.settings.reduced_motion => format!("retry in less than {most} s"),
        _ => format!("retry in {left} s"),
    })
}

/// The current frame of the spinner. It depends only on the clock.
fn spinner(model: &Model) -> &'static str {
    let at = usize::try_from(model.now / SPINNER_STEP).unwrap_or(0) % SPINNER.len();
    SPINNER.get(at).filter(|_| model.wishes.is_moving()).copied().unwrap_or_default()
}

/// The number of tokens of the streaming answer or summary. With reduced motion there is none: a screen reader would read
/// each one.
fn come(model: &Model) -> String {
    let answer = model.conversation.answer().filter(|answer| !answer.is_complete());
    let tokens = model.conversation.job_tokens().or(answer.map(LiveAnswer::tokens));
    match tokens.filter(|_| !model.wishes.settings.reduced_motion).unwrap_or(0) {
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
        return format!(" · {retry}");
    }
    let since = model.awaited_since.filter(|_| model.retry_at.is_none());
    let step = if model.wishes.settings.reduced_motion { CALM_SECONDS.cast_signed() } else { 1 };
    match since.map_or(0, |since| (model.now - since) / 1000 / step * step) {
        ..=0 => String::new(),
        seconds @ 1..=59 => format!(" · {seconds} s"),
        seconds => format!(" · {} min {} s", seconds / 60, seconds % 60),
    }
}
