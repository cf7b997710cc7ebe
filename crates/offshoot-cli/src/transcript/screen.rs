//! Items on the screen: a heading each, with indented text below it.

use std::io::{self, Write};

use offshoot_app::ui::style::{ASSISTANT, DIM, ERROR, LABEL, MARK, PLAIN, Painted, TOOL, USER};
use offshoot_session::clock::Millis;
use offshoot_session::text::{clean_lines, counted, without_colours};
use offshoot_session::transcript::Item;

use super::{ItemHeading, ItemWords, Voice, say};
use offshoot_workspace::when;

/// Lines shown of a tool's output if it is cut.
const CUT: usize = 5;

/// The fields after an item's title.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heading {
    pub(crate) id: String,
    pub(crate) label: Option<String>,
    pub(crate) time: Option<Millis>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    Cut,
    Whole,
}

/// Writes items with an empty line between them; asides follow each other directly.
pub(crate) struct Screen<'a> {
    out: &'a mut dyn Write,
    length: Length,
    last: Option<Voice>,
    /// The last model and day printed: each is repeated only when it changes.
    model: String,
    day: String,
}

impl<'a> Screen<'a> {
    pub(crate) fn new(out: &'a mut dyn Write, length: Length) -> Self {
        Self { out, length, last: None, model: String::new(), day: String::new() }
    }

    pub(crate) fn item(&mut self, item: &Item, beside: &Heading) -> io::Result<()> {
        let heading = ItemHeading::of(item);
        let stays_close = heading.voice == Voice::Aside && self.last == Some(Voice::Aside);
        if self.last.is_some() && !stays_close {
            writeln!(self.out)?;
        }
        self.last = Some(heading.voice);
        self.heading(&heading, beside)?;
        say(item, self)
    }

    fn heading(&mut self, item: &ItemHeading, heading: &Heading) -> io::Result<()> {
        let style = match item.voice {
            Voice::User => USER,
            Voice::Assistant => ASSISTANT,
            Voice::Tool => TOOL,
            Voice::Mark => MARK,
            Voice::Aside => DIM,
        };
        let day = heading.time.map(when::day).unwrap_or_default();
        let mut minute = heading.time.map(when::minute).unwrap_or_default();
        let time = if day == self.day { minute.split_off(day.len().min(minute.len())) } else { minute };
        let is_known = item.voice == Voice::Assistant && item.beside == self.model;
        let beside = if is_known { "" } else { item.beside.as_str() };
        let label = heading.label.as_ref().map(|label| format!("[{label}]")).unwrap_or_default();
        write!(self.out, "{}", Painted(style, &item.title))?;
        for (style, word) in [(DIM, heading.id.as_str()), (DIM, time.trim()), (DIM, beside), (LABEL, &label)] {
            if !word.is_empty() {
                write!(self.out, "  {}", Painted(style, word))?;
            }
        }
        self.day = day;
        if item.voice == Voice::Assistant {
            self.model.clone_from(&item.beside);
        }
        writeln!(self.out)
    }

    /// Writes the last line, after an empty one.
    pub(crate) fn close(self, line: &str) -> io::Result<()> {
        if self.last.is_some() {
            writeln!(self.out)?;
        }
        writeln!(self.out, "{}", Painted(DIM, line))
    }
}

impl ItemWords for Screen<'_> {
    fn text(&mut self, text: &str) -> io::Result<()> {
        clean_lines(text).lines().try_for_each(|line| indented(self.out, &Painted(PLAIN, line)))
    }

    fn thinking(&mut self, text: &str) -> io::Result<()> {
        let text = clean_lines(text);
        match self.length {
            Length::Whole => text.lines().try_for_each(|line| indented(self.out, &Painted(DIM, line))),
            Length::Cut => {
                let lines = counted(text.lines().count(), "line", "lines");
                indented(self.out, &Painted(DIM, &format!("(thinking, {lines})")))
            }
        }
    }

    fn call(&mut self, line: &str) -> io::Result<()> {
        indented(self.out, &Painted(TOOL, line))
    }

    fn output(&mut self, text: &str) -> io::Result<()> {
        output(self.out, &clean_lines(&without_colours(text)), self.length)
    }

    fn block(&mut self, kind: &str) -> io::Result<()> {
        indented(self.out, &Painted(DIM, &format!("[{kind}]")))
    }

    fn trouble(&mut self, line: &str) -> io::Result<()> {
        indented(self.out, &Painted(ERROR, line))
    }
}

fn output(out: &mut dyn Write, text: &str, length: Length) -> io::Result<()> {
    let lines = text.trim_end().lines().count();
    // A remark takes a line, so one line more than the cut is shown instead.
    let shown = if length == Length::Whole || lines <= CUT + 1 { lines } else { CUT };
    text.lines().take(shown).try_for_each(|line| indented(out, &Painted(PLAIN, line)))?;
    if lines > shown {
        indented(out, &Painted(DIM, &format!("… {}", counted(lines - shown, "more line", "more lines"))))?;
    }
    Ok(())
}

fn indented(out: &mut dyn Write, line: &Painted<'_>) -> io::Result<()> {
    if line.1.trim().is_empty() { writeln!(out) } else { writeln!(out, "  {line}") }
}
