//! Turns on the screen: a heading each, what was said below it, a little in.

use std::io::{self, Write};

use offshoot_session::clock::Millis;

use super::{Part, Turn, Who};
use crate::ui::style::{ASSISTANT, DIM, ERROR, ID, LABEL, MARK, PLAIN, Painted, TOOL, USER};
use crate::ui::when;

/// How many lines of a tool's output are shown where output is cut.
const CUT: usize = 5;

/// What stands beside a turn's title.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heading {
    pub(crate) id: String,
    pub(crate) label: Option<String>,
    pub(crate) time: Option<Millis>,
}

/// Whether long output of tools is shown as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    /// A few lines, and how many more there are.
    Cut,
    /// All of it.
    Whole,
}

/// A transcript on its way to the screen: turns with an empty line between them, asides close together.
pub(crate) struct Screen<'a> {
    out: &'a mut dyn Write,
    length: Length,
    last: Option<Who>,
    /// The last model and the last day said: neither is said again until it changes.
    model: String,
    day: String,
}

impl<'a> Screen<'a> {
    pub(crate) fn new(out: &'a mut dyn Write, length: Length) -> Self {
        Self { out, length, last: None, model: String::new(), day: String::new() }
    }

    /// Writes a turn.
    pub(crate) fn turn(&mut self, turn: &Turn, heading: &Heading) -> io::Result<()> {
        let stays_close = turn.who == Who::Aside && self.last == Some(Who::Aside);
        if self.last.is_some() && !stays_close {
            writeln!(self.out)?;
        }
        self.last = Some(turn.who);
        self.heading(turn, heading)?;
        turn.parts.iter().try_for_each(|part| write_part(self.out, part, self.length))
    }

    fn heading(&mut self, turn: &Turn, heading: &Heading) -> io::Result<()> {
        let style = match turn.who {
            Who::User => USER,
            Who::Assistant => ASSISTANT,
            Who::Tool => TOOL,
            Who::Mark => MARK,
            Who::Aside => DIM,
        };
        let day = heading.time.map(when::day).unwrap_or_default();
        let mut minute = heading.time.map(when::minute).unwrap_or_default();
        let time = if day == self.day { minute.split_off(day.len().min(minute.len())) } else { minute };
        let is_known = turn.who == Who::Assistant && turn.beside == self.model;
        let beside = if is_known { "" } else { turn.beside.as_str() };
        let label = heading.label.as_ref().map(|label| format!("[{label}]")).unwrap_or_default();
        write!(self.out, "{}", Painted(style, &turn.title))?;
        for (style, word) in [(ID, heading.id.as_str()), (DIM, time.trim()), (DIM, beside), (LABEL, &label)] {
            if !word.is_empty() {
                write!(self.out, "  {}", Painted(style, word))?;
            }
        }
        self.day = day;
        if turn.who == Who::Assistant {
            self.model.clone_from(&turn.beside);
        }
        writeln!(self.out)
    }

    /// Writes the last line, apart from the turns.
    pub(crate) fn close(self, line: &str) -> io::Result<()> {
        if self.last.is_some() {
            writeln!(self.out)?;
        }
        writeln!(self.out, "{}", Painted(DIM, line))
    }
}

fn write_part(out: &mut dyn Write, part: &Part, length: Length) -> io::Result<()> {
    match part {
        Part::Text(text) => text.lines().try_for_each(|line| indented(out, &Painted(PLAIN, line))),
        Part::Thinking(text) if length == Length::Whole => {
            text.lines().try_for_each(|line| indented(out, &Painted(DIM, line)))
        }
        Part::Thinking(text) => {
            indented(out, &Painted(DIM, &format!("(thinking, {})", count(text.lines().count(), "line"))))
        }
        Part::Call(call) => indented(out, &Painted(TOOL, call)),
        Part::Output(text) => output(out, text, length),
        Part::Image(kind) => indented(out, &Painted(DIM, &format!("[{kind}]"))),
        Part::Trouble(what) => indented(out, &Painted(ERROR, what)),
    }
}

fn output(out: &mut dyn Write, text: &str, length: Length) -> io::Result<()> {
    let lines = text.trim_end().lines().count();
    // One line more than the cut is not worth a remark that takes a line itself.
    let shown = if length == Length::Whole || lines <= CUT + 1 { lines } else { CUT };
    text.lines().take(shown).try_for_each(|line| indented(out, &Painted(PLAIN, line)))?;
    if lines > shown {
        indented(out, &Painted(DIM, &format!("… {}", count(lines - shown, "more line"))))?;
    }
    Ok(())
}

fn indented(out: &mut dyn Write, line: &Painted<'_>) -> io::Result<()> {
    if line.1.trim().is_empty() { writeln!(out) } else { writeln!(out, "  {line}") }
}

/// `1 line`, `2 lines`.
pub(crate) fn entries(number: usize) -> String {
    if number == 1 { "1 entry".to_owned() } else { format!("{number} entries") }
}

/// So many of something whose name just gets an `s`.
pub(crate) fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
