//! Items on the screen: a heading each, with indented text below it.

use std::io;

use offshoot_session::clock::Millis;
use offshoot_session::text::{clean_lines, counted, without_colours};
use offshoot_session::transcript::Item;

use super::{ItemHeading, ItemWords, Voice, say};
use crate::when;
use crate::words::{Line, Role, Say, WordsBlock};

/// Lines shown of a tool's output if it is cut.
const CUT: usize = 5;

/// The fields after an item's title.
#[derive(Debug, Clone, Default)]
pub struct Heading {
    /// The entry's id.
    pub id: String,
    /// The label on it.
    pub label: Option<String>,
    /// When it was written.
    pub time: Option<Millis>,
}

/// How much of results and thinking is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// The first lines.
    Cut,
    /// Everything.
    Whole,
}

/// Says items with an empty line between them; asides follow each other directly.
#[expect(missing_debug_implementations, reason = "it holds a closure")]
pub struct TranscriptScreen<'a> {
    say: &'a mut Say<'a>,
    last: Option<Voice>,
    /// The last model and day said: each is repeated only when it changes.
    model: String,
    day: String,
}

impl<'a> TranscriptScreen<'a> {
    /// Says items to whoever listens.
    pub fn new(say: &'a mut Say<'a>) -> Self {
        Self { say, last: None, model: String::new(), day: String::new() }
    }

    /// Says an item.
    ///
    /// # Errors
    /// Nobody listens any more.
    pub fn item(&mut self, ScreenItem { heading, lines }: &ScreenItem, beside: &Heading) -> io::Result<()> {
        let stays_close = heading.voice == Voice::Aside && self.last == Some(Voice::Aside);
        if self.last.is_some() && !stays_close {
            (self.say)(&Line::default().into())?;
        }
        self.last = Some(heading.voice);
        self.heading(heading, beside)?;
        lines.iter().try_for_each(&mut *self.say)
    }

    fn heading(&mut self, item: &ItemHeading, heading: &Heading) -> io::Result<()> {
        let role = match item.voice {
            Voice::User => Role::User,
            Voice::Assistant => Role::Assistant,
            Voice::Tool => Role::Tool,
            Voice::Mark => Role::Mark,
            Voice::Aside => Role::Dim,
        };
        let minute = heading.time.map(when::minute).unwrap_or_default();
        let day = minute.split_once(' ').map_or("", |(day, _)| day);
        let time = if day == self.day { minute.get(day.len()..).unwrap_or_default() } else { &minute };
        let is_known = item.voice == Voice::Assistant && item.beside == self.model;
        let beside = if is_known { "" } else { item.beside.as_str() };
        let label = heading.label.as_ref().map(|label| format!("[{label}]")).unwrap_or_default();
        let mut line = Line::of(role, item.title.as_str());
        for (role, word) in
            [(Role::Dim, heading.id.as_str()), (Role::Dim, time.trim()), (Role::Dim, beside), (Role::Label, &label)]
        {
            if !word.is_empty() {
                line = line.and(Role::Plain, "  ").and(role, word);
            }
        }
        day.clone_into(&mut self.day);
        if item.voice == Voice::Assistant {
            self.model.clone_from(&item.beside);
        }
        (self.say)(&line.into())
    }

    /// Says the last line, after an empty one.
    ///
    /// # Errors
    /// Nobody listens any more.
    pub fn close(self, line: &str) -> io::Result<()> {
        if self.last.is_some() {
            (self.say)(&Line::default().into())?;
        }
        (self.say)(&Line::of(Role::Dim, line).into())
    }
}

/// An item in lines, which do not depend on what was said before it.
#[derive(Debug)]
pub struct ScreenItem {
    heading: ItemHeading,
    lines: Vec<WordsBlock>,
}

impl ScreenItem {
    /// The lines of an item.
    #[must_use]
    pub fn of(item: &Item, length: Length) -> Self {
        let mut body = BodyLines { length, lines: Vec::new() };
        // Lines are gathered, so nothing can fail.
        drop(say(item, &mut body));
        Self { heading: ItemHeading::of(item), lines: body.lines }
    }
}

struct BodyLines {
    length: Length,
    lines: Vec<WordsBlock>,
}

impl BodyLines {
    fn indented(&mut self, role: Role, line: &str) {
        let line = match role {
            _ if line.trim().is_empty() => Line::default(),
            Role::Plain => Line::of(role, ["  ", line].concat()),
            _ => Line::from("  ").and(role, line),
        };
        self.lines.push(line.into());
    }

    fn add_lines(&mut self, role: Role, text: &str) {
        text.lines().for_each(|line| self.indented(role, line));
    }
}

impl ItemWords for BodyLines {
    fn text(&mut self, text: &str) -> io::Result<()> {
        self.add_lines(Role::Plain, &clean_lines(text));
        Ok(())
    }

    fn thinking(&mut self, text: &str) -> io::Result<()> {
        let text = clean_lines(text);
        match self.length {
            Length::Whole => self.add_lines(Role::Dim, &text),
            Length::Cut => {
                let lines = counted(text.lines().count(), "line", "lines");
                self.indented(Role::Dim, &format!("(thinking, {lines})"));
            }
        }
        Ok(())
    }

    fn call(&mut self, line: &str) -> io::Result<()> {
        self.indented(Role::Tool, line);
        Ok(())
    }

    fn output(&mut self, text: &str) -> io::Result<()> {
        let text = without_colours(text);
        if self.length == Length::Cut
            && let Some((start, lines)) = long_output(&text)
        {
            clean_lines(start).lines().for_each(|line| self.indented(Role::Plain, line));
            self.indented(Role::Dim, &format!("… {}", counted(lines - CUT, "more line", "more lines")));
            return Ok(());
        }
        let text = clean_lines(&text);
        let lines = text.trim_end().lines().count();
        text.lines().take(lines).for_each(|line| self.indented(Role::Plain, line));
        Ok(())
    }

    fn block(&mut self, kind: &str) -> io::Result<()> {
        self.indented(Role::Dim, &format!("[{kind}]"));
        Ok(())
    }

    fn trouble(&mut self, line: &str) -> io::Result<()> {
        self.indented(Role::Error, line);
        Ok(())
    }
}

/// The lines that are shown of an output of more, and how many it has without empty ones at its end. `None` if it has few lines.
fn long_output(text: &str) -> Option<(&str, usize)> {
    let mut is_line_end = false;
    let is_blank = |c: char| {
        let was_line_end = std::mem::replace(&mut is_line_end, c == '\n');
        match c {
            ' ' | '\t' | '\n' => true,
            '\r' => was_line_end,
            // The others are spelled out.
            _ => c.is_whitespace() && !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}'),
        }
    };
    let seen = text.trim_end_matches(is_blank);
    let lines = 1 + seen.bytes().filter(|byte| *byte == b'\n').count();
    let start = text.match_indices('\n').nth(CUT - 1).map(|(end, _)| text.split_at(end + 1).0)?;
    // The remark takes a line, so one line more than the cut is shown instead.
    (lines > CUT + 1).then_some((start, lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, length: Length) -> Vec<String> {
        let mut body = BodyLines { length, lines: Vec::new() };
        body.output(text).unwrap();
        body.lines.iter().map(|line| format!("{line:?}")).collect()
    }

    #[test]
    fn a_long_output_shows_what_its_whole_would() {
        let ends = [
            "",
            "\n",
            "\r\n",
            " \n\t\n",
            "\r",
            "\n\u{a0}\u{3000}\n",
            "\n\u{2028}",
            "\n\u{b}\n",
            "\n\u{85}",
            "\n\r\n\r",
            "\n\u{1b}[0m\n",
        ];
        for end in ends {
            for count in 0..12 {
                let lines = (0..count).map(|at| format!("line {at} é\t\u{202e}\r\n")).collect::<String>();
                let text = format!("{lines}end{end}");
                let whole = shown(&text, Length::Whole);
                let cleaned = clean_lines(&without_colours(&text)).trim_end().lines().count();
                assert_eq!(whole.len(), cleaned, "{text:?}");
                let cut = shown(&text, Length::Cut);
                if cleaned <= CUT + 1 {
                    assert_eq!(cut, whole, "{text:?}");
                } else {
                    assert_eq!(cut[..CUT], whole[..CUT], "{text:?}");
                    let more = format!("… {} more lines", cleaned - CUT);
                    assert!(cut.len() == CUT + 1 && cut[CUT].contains(&more), "{text:?}: {cut:?}");
                }
            }
        }
    }
}
