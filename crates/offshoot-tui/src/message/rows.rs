//! Items as rows, each after an empty row.

use std::borrow::Cow;

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::page::{LEAST, Page, tail};
use super::preview::Keep;
use super::{AnswerContext, Folds, PartRange, RenderedRows, RowRenderer, call};
use crate::markdown::flow::{self, SpanRow};
use crate::markdown::{self, harmless};
use crate::text;
use crate::theme::{Theme, Token};
use offshoot_session::text::{counted, one_line};
use offshoot_session::transcript::{
    Answer, End, Item, ItemPart, Level, Run, StoredPicture, Summarised, Summary, summary_words,
};

/// Visible rows of a folded user command.
const RUN_ROWS: usize = 20;
/// A message of the person with more lines, such as one with a paste, is folded to one row.
const USER_LINES: usize = 20;

pub(super) fn rows(
    item: &Item,
    look: &RowRenderer<'_>,
    folds: Folds<'_>,
    (beside, stretch): (AnswerContext<'_>, PartRange),
) -> RenderedRows {
    let mut page = Page::new(look, folds);
    match item {
        Item::User(parts) => user(&mut page, parts),
        Item::Answer(answer) => answer_rows(&mut page, answer, beside, stretch),
        Item::Result(result) => call::orphan(&mut page, result),
        Item::Run(run) => run_rows(&mut page, run),
        Item::Summary(summary) => summary_rows(&mut page, summary),
        Item::Note { label, parts } => note(&mut page, label, parts),
        Item::Notice(level, text) => notice(&mut page, *level, text),
        Item::System { .. } => {}
    }
    page.laid
}

pub(super) fn bytes(size: usize) -> String {
    match size {
        0..1024 => counted(size, "byte", "bytes"),
        1024..1_048_576 => format!("{} KB", size / 1024),
        _ => format!("{:.1} MB", size as f64 / 1_048_576.0),
    }
}

fn user(page: &mut Page<'_>, parts: &[ItemPart]) {
    page.block(page.style(Token::UserMessageBg));
    let style = page.style(Token::UserMessageText);
    let mark = page.style(Token::Accent).add_modifier(Modifier::BOLD);
    let mut is_marked = false;
    let mut pictures = parts.iter().filter_map(|part| match part {
        ItemPart::Picture(picture) => Some(&**picture),
        _ => None,
    });
    for (at, part) in parts.iter().enumerate() {
        match part {
            ItemPart::Text(words) if !words.trim().is_empty() => {
                let drawn = page.look.habits.drawn.clone();
                let words = with_named_pictures(drawn.shown(words).trim_end(), &mut pictures);
                let words = &*words;
                let lines = words.lines().count();
                let prefix = if is_marked { "  " } else { "› " };
                is_marked = true;
                if lines > USER_LINES && !page.fold(at, page.folds.tools) {
                    page.first_of((prefix, mark), words, style, lines);
                    continue;
                }
                let rows = shown_whole(words, style, page.room());
                page.marked(prefix, mark, rows);
            }
            ItemPart::Picture(picture) => page.picture(picture),
            ItemPart::Text(_) | ItemPart::Thinking(_) | ItemPart::Call(_) => {}
            ItemPart::Other(kind) => page.words(&format!("[{}]", one_line(kind, 40)), style),
        }
    }
}

/// A text in which each line that tells the model of an attached picture, `<file name="…">note</file>`, is its file's name and size.
fn with_named_pictures<'a>(words: &'a str, pictures: &mut dyn Iterator<Item = &StoredPicture>) -> Cow<'a, str> {
    if !words.contains("<file name=\"") {
        return Cow::Borrowed(words);
    }
    let named = words.split('\n').map(|line| {
        let attached =
            line.strip_prefix("<file name=\"").and_then(|rest| rest.strip_suffix("</file>")?.split_once("\">"));
        let Some(((path, note), picture)) = attached.and_then(|attached| Some((attached, pictures.next()?))) else {
            return Cow::Borrowed(line);
        };
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let note = if note.is_empty() { String::new() } else { format!(" {note}") };
        // A reference to a blob does not tell its size.
        let size = Some(picture.data.trim_end_matches('=').len() * 3 / 4).filter(|_| !picture.data.contains(':'));
        let size = size.map(|size| format!(" ({})", bytes(size))).unwrap_or_default();
        Cow::Owned(format!("@{name}{size}{note}"))
    });
    Cow::Owned(named.collect::<Vec<_>>().join("\n"))
}

/// A text as written, up to [`markdown::MAX_BYTES`].
fn shown_whole(words: &str, style: Style, width: usize) -> Vec<SpanRow> {
    let seen = words.get(..words.floor_char_boundary(markdown::MAX_BYTES)).unwrap_or_default();
    let mut rows = flow::words(&[Span::styled(harmless(seen), style)], width);
    if seen.len() < words.len() {
        let told = format!("… {} more are not shown", bytes(words.len() - seen.len()));
        rows.push(flow::cut(&[Span::styled(told, style.add_modifier(Modifier::ITALIC))], width));
    }
    rows
}

fn answer_rows(page: &mut Page<'_>, answer: &Answer, beside: AnswerContext<'_>, stretch: PartRange) {
    let parts = answer.parts.iter().enumerate().take(stretch.to).skip(stretch.from);
    for (at, part) in parts {
        let known = beside.texts.and_then(|texts| texts.get(&at));
        let is_begun = stretch.is_begun && at == stretch.from;
        match part {
            ItemPart::Text(words) if !words.trim().is_empty() => text_rows(page, words, is_begun, known),
            ItemPart::Thinking(_) if is_thinking(at.checked_sub(1).and_then(|at| answer.parts.get(at))) => {}
            ItemPart::Thinking(_) => thinking(page, (at, answer.parts.get(at..).unwrap_or_default()), is_begun, known),
            ItemPart::Call(call) => {
                call::rows(page, at, call, call.result(beside.results), beside.is_live);
            }
            ItemPart::Picture(picture) => {
                page.block(Style::new());
                page.picture(picture);
            }
            ItemPart::Text(_) => {}
            ItemPart::Other(kind) => {
                page.block(Style::new());
                page.words(&format!("[{}]", one_line(kind, 40)), page.style(Token::Muted));
            }
        }
    }
    if stretch.to == usize::MAX {
        end_rows(page, answer, beside);
    }
}

/// The rows after an answer's parts: results without calls, and how it ended.
fn end_rows(page: &mut Page<'_>, answer: &Answer, beside: AnswerContext<'_>) {
    for result in beside.results.iter().filter(|result| !answer.has_called_for(result)) {
        call::orphan(page, result);
    }
    // Its calls show that it was stopped.
    let is_seen = answer.end == End::Aborted && answer.calls().next().is_some();
    let Some(told) = answer.end.words().filter(|_| !is_seen) else { return };
    page.block(Style::new());
    let style = page.style(Token::Error);
    let rows = flow::words(&[Span::styled(one_line(&told, 2_000), style)], page.room());
    page.marked("✗ ", style, rows);
}

/// The text of an answer, without the part that is already printed.
fn text_rows(page: &mut Page<'_>, words: &str, is_begun: bool, known: Option<&Vec<Line<'static>>>) {
    if is_begun {
        page.leave_background();
    } else {
        page.block(Style::new());
    }
    let shown = page.look.habits.drawn.shown(words);
    let lines = known.cloned().unwrap_or_else(|| markdown::lines(shown.trim_start(), &page.look.sheet()));
    if page.look.habits.is_flush {
        page.laid.lines.extend(lines);
    } else {
        page.lines(lines);
    }
}

fn is_thinking(part: Option<&ItemPart>) -> bool {
    matches!(part, Some(ItemPart::Thinking(_)))
}

pub(super) fn thinking_style(theme: &Theme) -> Style {
    theme.style(Token::ThinkingText).add_modifier(Modifier::ITALIC)
}

/// Consecutive thoughts: folded to their first words, or in full.
fn thinking(
    page: &mut Page<'_>,
    (at, parts): (usize, &[ItemPart]),
    is_begun: bool,
    known: Option<&Vec<Line<'static>>>,
) {
    let drawn = page.look.habits.drawn.clone();
    let thoughts = parts.iter().map_while(|part| match part {
        ItemPart::Thinking(thought) => Some(drawn.shown(thought).trim()),
        _ => None,
    });
    let thoughts: Vec<_> = thoughts.filter(|thought| !thought.is_empty()).collect();
    let Some(first) = thoughts.first() else { return };
    if is_begun && !page.folds.is_thinking_open(at) {
        // What was open when it came is above; the rest is folded.
        return;
    }
    if is_begun {
        page.leave_background();
    } else {
        page.block(Style::new());
    }
    let style = thinking_style(page.look.theme);
    if page.fold(at, page.folds.thinking) {
        let lines = known.cloned().unwrap_or_else(|| markdown::lines(&thoughts.join("\n\n"), &page.sheet(style)));
        page.marked(if is_begun { "  " } else { "∴ " }, style, lines.into_iter().map(|line| line.spans));
        return;
    }
    let shown = one_line(first.trim_start_matches(['#', '*', ' ']), page.room().saturating_mul(2));
    let shown = match &page.look.habits.thinking_label {
        Some(label) => one_line(label, page.room().saturating_mul(2)),
        None => shown.replace("**", ""),
    };
    let is_more = thoughts.len() > 1 || first.contains('\n') || text::width(&shown) > page.room();
    let key = Some(&page.look.habits.thinking_key).filter(|key| is_more && !key.is_empty());
    let hint = key.map(|key| format!(" ({})", text::clean(key))).filter(|hint| text::width(hint) < page.room() / 2);
    let room = page.room() - hint.as_ref().map_or(0, |hint| text::width(hint));
    let mut row = flow::cut(&[Span::styled(shown, style)], room);
    row.extend(hint.map(|hint| Span::styled(hint, page.style(Token::Muted))));
    page.marked("∴ ", style, [row]);
}

fn run_rows(page: &mut Page<'_>, run: &Run) {
    page.block(Style::new());
    let style = page.style(Token::BashMode);
    let is_open = page.fold(0, page.folds.tools);
    let private = run.is_private.then(|| Span::styled("  not sent to the model", page.style(Token::Muted)));
    let command = Span::styled(harmless(run.command.trim_end()), style.add_modifier(Modifier::BOLD));
    let prompt = Span::styled(format!("{} ", run.language.prompt()), style);
    let title: SpanRow = [prompt, command].into_iter().chain(private).collect();
    page.marked("! ", style, flow::words(&title, page.room()));
    let output = page.style(Token::ToolOutput);
    let keep = if is_open { Keep::All } else { Keep::Last(RUN_ROWS) };
    tail(page, &run.output, output, keep);
    for remark in &run.remarks {
        let style = page.style(if run.is_error { Token::Error } else { Token::Warning });
        page.words(&one_line(remark, 400), style);
    }
}

fn summary_rows(page: &mut Page<'_>, summary: &Summary) {
    page.block(page.style(Token::CustomMessageBg));
    let label = page.style(Token::CustomMessageLabel);
    let about = page.style(Token::CustomMessageText);
    let is_open = page.fold(0, page.folds.tools);
    let key = &page.look.habits.expand_key;
    let has_key = !is_open && !summary.text.trim().is_empty() && !key.is_empty();
    let key = if has_key { format!("  ({} opens)", text::clean(key)) } else { String::new() };
    let room = page.room().saturating_sub(text::width(summary.label) + 2 + text::width(&key));
    let mut title = vec![Span::styled(summary.label, label.add_modifier(Modifier::BOLD))];
    let beside = match &summary.of {
        Summarised::Tokens(_) => summary.of.size_words(),
        // The text itself is below an open row.
        Summarised::BranchTo(_) | Summarised::Unknown if is_open => None,
        Summarised::BranchTo(_) | Summarised::Unknown => {
            summary_words(&summary.text).map(|words| markdown::plain(&format!("of “{words}”"), room.max(LEAST)))
        }
    };
    title.extend(beside.map(|beside| Span::styled(format!("  {beside}"), about)));
    let taken = title.iter().map(|span| text::width(&span.content)).sum::<usize>();
    let short = key.replace(" opens", "");
    let key = if taken + text::width(&key) <= page.room() { key } else { short };
    title.push(Span::styled(key, page.style(Token::Muted)));
    page.marked("≡ ", label, flow::words(&title, page.room()));
    if is_open {
        page.rows([SpanRow::new()]);
        page.lines(markdown::lines(summary.text.trim(), &page.sheet(about)));
    }
}

fn note(page: &mut Page<'_>, label: &str, parts: &[ItemPart]) {
    let drawn = page.look.habits.drawn.clone();
    if let Some(drawn) = drawn.note(label, parts) {
        page.block(Style::new());
        let is_open = page.fold(0, page.folds.tools);
        page.foreign("  ", Style::new(), drawn.form(is_open));
        return;
    }
    page.block(page.style(Token::CustomMessageBg));
    let style = page.style(Token::CustomMessageLabel);
    let title = Span::styled(one_line(label, 200), style.add_modifier(Modifier::BOLD));
    page.marked("◆ ", style, flow::words(&[title], page.room()));
    let base = page.style(Token::CustomMessageText);
    for part in parts {
        match part {
            ItemPart::Text(words) => page.lines(markdown::lines(words.trim(), &page.sheet(base))),
            ItemPart::Picture(picture) => page.picture(picture),
            ItemPart::Thinking(_) | ItemPart::Call(_) => {}
            ItemPart::Other(kind) => page.words(&format!("[{}]", one_line(kind, 40)), base),
        }
    }
}

fn notice(page: &mut Page<'_>, level: Level, words: &str) {
    let (mark, token) = match level {
        Level::Info => ("· ", Token::Muted),
        Level::Warning => ("! ", Token::Warning),
        Level::Error => ("✗ ", Token::Error),
    };
    page.block(Style::new());
    let style = page.style(token);
    let rows = flow::words(&[Span::styled(one_line(words, 2_000), style)], page.room());
    page.marked(mark, style, rows);
}
