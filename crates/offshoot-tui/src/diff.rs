//! Diffs as coloured rows, from the edit tool's `diff` text or from an old and a new text.
//!
//! A row is a sign, a line number and the line. Where one line replaced exactly one other, the changed words stand out.
//! Knows no message.

use offshoot_session::text::{counted, spell_lines};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use similar::{Algorithm, ChangeTag, TextDiff, capture_diff_slices};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::markdown::flow::{self, Prefix, SpanRow};
use crate::text;
use crate::theme::{Theme, Token};

/// Further lines are only counted.
const MAX_LINES: usize = 2_000;
/// The longest lines that are compared word by word.
const MAX_WORDS: usize = 2_000;
/// Larger texts are not compared: the old one is removed, the new one added.
const MAX_COMPARED: usize = 256 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Added,
    Removed,
    Same,
}

struct Change<'a> {
    sign: Sign,
    number: &'a str,
    line: &'a str,
}

/// The numbers of added and removed lines in a `diff` of the edit tool.
#[must_use]
pub fn counts(diff: &str) -> (usize, usize) {
    let count = |sign: Sign| diff.lines().filter(|line| parse(line).sign == sign).count();
    (count(Sign::Added), count(Sign::Removed))
}

/// The rows of a `diff` of the edit tool: lines `+12 new`, `-12 old`, ` 12 same`.
#[must_use]
pub fn lines(diff: &str, theme: &Theme, width: usize) -> Vec<Line<'static>> {
    flow::lines(rows(diff, theme, width))
}

pub(crate) fn rows(diff: &str, theme: &Theme, width: usize) -> Vec<SpanRow> {
    let all = diff.lines().count();
    let changes: Vec<_> = diff.lines().take(MAX_LINES).map(parse).collect();
    let mut rows = Vec::new();
    let mut at = 0;
    while let Some(change) = changes.get(at) {
        let emphasis = match changes.get(at..).unwrap_or_default() {
            [old, new, rest @ ..] if is_pair(at.checked_sub(1).and_then(|at| changes.get(at)), old, new, rest) => {
                word_pieces(&harmless_line(old.line), &harmless_line(new.line))
            }
            _ => None,
        };
        match (emphasis, changes.get(at + 1)) {
            (Some((old, new)), Some(next)) => {
                rows.extend(row(change, &old, theme, width));
                rows.extend(row(next, &new, theme, width));
                at += 2;
            }
            _ => {
                rows.extend(row(change, &[(false, harmless_line(change.line))], theme, width));
                at += 1;
            }
        }
    }
    if all > MAX_LINES {
        let told = format!("… {}", counted(all - MAX_LINES, "more line", "more lines"));
        rows.push(flow::cut(&[Span::styled(told, theme.style(Token::Muted))], width));
    }
    rows
}

/// Compares two texts in the format of the edit tool's `diff`; numbers count from 1.
#[must_use]
pub fn account(old: &str, new: &str) -> String {
    if old.len() + new.len() > MAX_COMPARED {
        let signed = |sign: char, text: &str| -> Vec<String> {
            text.lines().enumerate().map(|(at, line)| format!("{sign}{} {line}", at + 1)).collect()
        };
        return [signed('-', old), signed('+', new)].concat().join("\n");
    }
    let (olds, news): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let diff = TextDiff::configure().algorithm(Algorithm::Patience).diff_slices(&olds, &news);
    let (mut before, mut after) = (0, 0);
    let lines = diff.iter_all_changes().map(|change| {
        let (sign, number) = match change.tag() {
            ChangeTag::Insert => ('+', &mut after),
            ChangeTag::Delete => ('-', &mut before),
            ChangeTag::Equal => {
                after += 1;
                (' ', &mut before)
            }
        };
        *number += 1;
        format!("{sign}{number} {}", change.value())
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What is about to be written is not hidden.
fn harmless_line(line: &str) -> String {
    text::clean(&spell_lines(line)).into_owned()
}

fn parse(line: &str) -> Change<'_> {
    let sign = match line.as_bytes().first() {
        Some(b'+') => Sign::Added,
        Some(b'-') => Sign::Removed,
        _ => Sign::Same,
    };
    let rest = line.get(1..).unwrap_or_default();
    let digits = rest.find(|c: char| !c.is_ascii_digit() && c != ' ').unwrap_or(rest.len());
    let end = rest.get(..digits).and_then(|numbers| {
        let from = numbers.find(|c: char| c.is_ascii_digit())?;
        numbers.get(from..)?.find(' ').map(|length| from + length)
    });
    match end {
        Some(end) => {
            let (number, line) = rest.split_at(end);
            Change { sign, number, line: line.get(1..).unwrap_or_default() }
        }
        // A last line without text, or a line without a number.
        None if !rest.is_empty() && digits == rest.len() => Change { sign, number: rest, line: "" },
        None => Change { sign, number: "", line: rest },
    }
}

/// Whether one line replaced exactly one other.
fn is_pair(before: Option<&Change<'_>>, old: &Change<'_>, new: &Change<'_>, rest: &[Change<'_>]) -> bool {
    (old.sign, new.sign) == (Sign::Removed, Sign::Added)
        && before.is_none_or(|before| before.sign != Sign::Removed)
        && rest.first().is_none_or(|next| next.sign != Sign::Added)
}

type Pieces = Vec<(bool, String)>;

/// The words of two lines, each marked if it is only in one of them.
fn word_pieces(old: &str, new: &str) -> Option<(Pieces, Pieces)> {
    if old.len().max(new.len()) > MAX_WORDS {
        return None;
    }
    let (olds, news) = (code_words(old), code_words(new));
    let (mut before, mut after) = (Pieces::new(), Pieces::new());
    for op in capture_diff_slices(Algorithm::Myers, &olds, &news) {
        let is_changed = op.tag() != similar::DiffTag::Equal;
        let (_, from, to) = op.as_tag_tuple();
        for (words, range, pieces) in [(&olds, from, &mut before), (&news, to, &mut after)] {
            let text = words.get(range).unwrap_or_default().concat();
            // A changed indentation would be a block of colour.
            let indent = text.len() - text.trim_start().len();
            let (blank, text) = text.split_at(if pieces.is_empty() { indent } else { 0 });
            pieces.extend(
                [(false, blank.to_owned()), (is_changed, text.to_owned())]
                    .into_iter()
                    .filter(|(_, text)| !text.is_empty()),
            );
        }
    }
    let is_akin = before.iter().chain(&after).any(|(is_changed, text)| !is_changed && !text.trim().is_empty());
    is_akin.then_some((before, after))
}

/// The words of a line. Punctuation within one parts it, since `a.b` is one word of prose but two of code.
fn code_words(line: &str) -> Vec<&str> {
    let parts = |word| {
        let is_mark = |c: char| c.is_ascii_punctuation() && c != '_';
        str::split_inclusive(word, is_mark).flat_map(move |part| match part.char_indices().next_back() {
            Some((at, last)) if is_mark(last) => <[&str; 2]>::from(part.split_at(at)),
            _ => [part, ""],
        })
    };
    line.split_word_bounds().flat_map(parts).filter(|part| !part.is_empty()).collect()
}

fn row(change: &Change<'_>, pieces: &[(bool, String)], theme: &Theme, width: usize) -> Vec<SpanRow> {
    let (mark, style) = match change.sign {
        Sign::Added => ("+", theme.style(Token::ToolDiffAdded)),
        Sign::Removed => ("-", theme.style(Token::ToolDiffRemoved)),
        Sign::Same => (" ", theme.style(Token::ToolDiffContext)),
    };
    let number = change.number.get(..change.number.len().min(9)).unwrap_or_default();
    let mark = format!("{number} {mark} ");
    let changed = |is_changed: bool| if is_changed { style.add_modifier(Modifier::REVERSED) } else { style };
    let spans: Vec<_> =
        pieces.iter().map(|(is_changed, text)| Span::styled(text.clone(), changed(*is_changed))).collect();
    if width <= mark.len() + 4 {
        return flow::chop(&[vec![Span::styled(mark, style)], spans].concat(), width);
    }
    let prefix = Prefix {
        rest: vec![Span::styled(" ".repeat(mark.len()), Style::new())],
        width: mark.len(),
        first: vec![Span::styled(mark, style)],
    };
    let rows = flow::chop(&spans, width - prefix.width);
    prefix.before(rows).collect()
}

#[cfg(test)]
mod tests;
