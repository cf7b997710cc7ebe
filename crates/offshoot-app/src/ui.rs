//! Everything that reaches the terminal: output, the pager, notes and errors, colours, progress.
//!
//! The only file that opens stdout and stderr. Session text must be made harmless before it gets here
//! (`offshoot_session::text`); errors and notes are made harmless here.

#![expect(clippy::disallowed_methods, reason = "the one place that prints")]

mod harmless;
mod pager;
mod progress;
pub mod style;
pub mod columns;

use std::io::{self, BufRead as _, BufWriter, IsTerminal as _, Read as _, StderrLock, StdoutLock, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anstream::adapter::StripBytes;
use anstream::{AutoStream, ColorChoice};
use anstyle::Style;
use offshoot_session::text::{clean_lines, width};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::config::Environment;
use crate::error::{CommandError, FailureKind, Result};
use harmless::Harmless;
use offshoot_workspace::{Line, nothing_to_do};
pub use progress::WorkProgress;
use style::{ERROR, HINT, NOTE, PaintedLine, WARNING};

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Also in files and pipes.
    Always,
    /// Never.
    Never,
}

/// The terminal of this run. Clones write to the same one.
#[derive(Debug, Clone)]
pub struct Ui {
    color: ColorChoice,
    pager: Option<String>,
    is_terminal: bool,
    /// Whether the front end owns the terminal: nothing is printed then.
    is_quiet: bool,
    /// Takes the warnings instead of stderr.
    warnings: Option<Arc<Mutex<Vec<String>>>>,
    /// Columns of a line; `None` for a pipe or a file, where lines may be long.
    pub width: Option<usize>,
    /// How many rows the terminal has; `None` without one.
    pub height: Option<usize>,
}

impl Ui {
    /// `paging` is false with `--no-pager`.
    pub fn new(environment: &Environment, color: ColorWhen, paging: bool) -> Self {
        let color = match color {
            ColorWhen::Auto => ColorChoice::Auto,
            ColorWhen::Always => ColorChoice::Always,
            ColorWhen::Never => ColorChoice::Never,
        };
        let is_terminal = io::stdout().is_terminal();
        let terminal = terminal_size::terminal_size().filter(|_| is_terminal);
        let (columns, height) = terminal.map(|(width, height)| (usize::from(width.0), usize::from(height.0))).unzip();
        let pager = environment.pager.clone().unwrap_or_else(|| pager::DEFAULT.to_owned());
        let pager = Some(pager).filter(|_| paging && is_terminal);
        Self {
            color,
            pager,
            is_terminal,
            is_quiet: false,
            warnings: None,
            width: environment.columns.or(columns),
            height,
        }
    }

    /// The same without output on stderr, while the front end owns the terminal.
    #[must_use]
    pub fn quiet(&self) -> Self {
        Self { is_quiet: true, ..self.clone() }
    }

    /// The same with warnings that are collected instead of printed.
    pub fn collecting(&self) -> (Self, Arc<Mutex<Vec<String>>>) {
        let warnings = Arc::new(Mutex::new(Vec::new()));
        (Self { is_quiet: true, warnings: Some(Arc::clone(&warnings)), ..self.clone() }, warnings)
    }

    /// The same with output on stderr, after the front end has ended.
    #[must_use]
    pub fn loud(&self) -> Self {
        Self { is_quiet: false, ..self.clone() }
    }

    /// Output of text: without colours where they are not wanted.
    pub fn text(&self) -> UiOutput {
        let stdout = BufWriter::with_capacity(BUFFER, io::stdout().lock());
        UiOutput::Screen(Box::new(strip(stdout, self.stdout_color())))
    }

    /// Says that a command had nothing to change, which is a success.
    pub fn nothing_to_do(&self, why: &str) -> Result<()> {
        let mut out = self.text();
        writeln!(out, "{}", nothing_to_do(why))?;
        Ok(out.finish()?)
    }

    /// Long output with colours: on a terminal it goes through the pager.
    pub fn paged(&self) -> UiOutput {
        match self.pager.as_deref().and_then(pager::start) {
            Some((child, stdin)) => {
                UiOutput::Pager(Some(Box::new(strip(BufWriter::new(stdin), self.stdout_color()))), child)
            }
            None => self.text(),
        }
    }

    /// Unchanged bytes; on a terminal, control characters are spelt out.
    pub fn raw(&self) -> UiOutput {
        let stdout = BufWriter::with_capacity(BUFFER, io::stdout().lock());
        if self.is_terminal { UiOutput::Shown(Harmless::new(stdout)) } else { UiOutput::Raw(stdout) }
    }

    /// Waits; fails when the reader of a pipe has gone meanwhile, which a program that writes nothing would not notice.
    pub fn wait(&self, pause: Duration) -> Result<()> {
        let stdout = io::stdout();
        // No event is requested: a closed pipe is always reported.
        let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
        let pause = Timespec { tv_sec: 0, tv_nsec: i64::from(pause.subsec_nanos()) };
        match poll(&mut watched, Some(&pause)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => Ok(()),
            Ok(_) => Err(io::Error::from(io::ErrorKind::BrokenPipe).into()),
            Err(error) => Err(CommandError::io("watch the output", &error.into())),
        }
    }

    /// Prints lines and a question, and reads the line of its answer; `None` at the end of the input.
    pub fn ask(&self, lines: &[String], question: &str) -> io::Result<Option<String>> {
        let mut out = self.text();
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
        write!(out, "{question}")?;
        out.finish()?;
        let mut answer = String::new();
        let read = io::stdin().lock().take(LONGEST_ANSWER).read_line(&mut answer)?;
        Ok((read > 0).then_some(answer))
    }

    fn stdout_color(&self) -> ColorChoice {
        match self.color {
            ColorChoice::Auto => AutoStream::choice(&io::stdout()),
            decided => decided,
        }
    }

    fn stderr(&self) -> AutoStream<StderrLock<'static>> {
        AutoStream::new(io::stderr().lock(), self.color)
    }

    /// Prints why a command failed; a closed pipe is not told.
    pub fn error(&self, error: &CommandError) {
        if error.kind == FailureKind::ClosedPipe {
            return;
        }
        let mut lines = vec![format!("{ERROR}error:{ERROR:#} {}", clean_lines(&error.message))];
        lines.extend(error.causes.iter().map(|cause| format!("{ERROR}caused by:{ERROR:#} {}", clean_lines(cause))));
        lines.extend(error.hints.iter().map(|hint| format!("{HINT}hint:{HINT:#} {}", clean_lines(hint))));
        self.say(&lines);
    }

    /// Prints what a person should know.
    pub fn note(&self, text: &str) {
        self.labelled("note", NOTE, text);
    }

    /// Prints what may be wrong; a [`Ui::collecting`] one keeps it instead.
    pub fn warning(&self, text: &str) {
        if let Some(warnings) = &self.warnings {
            return warnings.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
        }
        self.labelled("warning", WARNING, text);
    }

    /// Prints what can be done.
    pub fn hint(&self, text: &str) {
        self.say(&[format!("{HINT}hint:{HINT:#} {}", clean_lines(text))]);
    }

    /// A word in its colour, and a text. On a terminal its rows break between words.
    fn labelled(&self, label: &str, style: Style, text: &str) {
        let columns = terminal_size::terminal_size_of(io::stderr()).map(|(width, _)| usize::from(width.0));
        let text = wrapped(&clean_lines(text), width(label) + 2, columns.unwrap_or(usize::MAX));
        self.say(&[format!("{style}{label}:{style:#} {text}")]);
    }

    /// A closed stderr silences notes, nothing more.
    fn say(&self, lines: &[String]) {
        if self.is_quiet {
            return;
        }
        let mut stderr = self.stderr();
        drop(writeln!(stderr, "{}", lines.join("\n")));
    }

    /// A progress bar on stderr, shown on a terminal if the work takes more than a second.
    pub fn progress(&self, what: &'static str) -> WorkProgress {
        WorkProgress::new(what, io::stderr().is_terminal() && !self.is_quiet)
    }
}

/// The text in rows that break between words, the first one after `used` columns. A word that is longer than a row is left to
/// the terminal, so that it can be copied.
fn wrapped(text: &str, mut used: usize, columns: usize) -> String {
    let mut rows = String::new();
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            rows.push('\n');
            used = 0;
        }
        for (at, word) in line.split(' ').enumerate() {
            let wide = width(word);
            let gap = usize::from(at > 0);
            if used + gap + wide > columns && used > 0 && wide > 0 {
                rows.push('\n');
                used = wide;
            } else {
                rows.push_str(if at > 0 { " " } else { "" });
                used += gap + wide;
            }
            rows.push_str(word);
        }
    }
    rows
}

/// Whether both input and output are a terminal.
pub fn is_interactive() -> bool {
    io::stdout().is_terminal() && io::stdin().is_terminal()
}

/// The terminal, for the front end.
pub fn terminal() -> Box<dyn Write> {
    Box::new(io::stdout())
}

/// Stderr, for what is printed before the command line is known.
pub fn errors() -> Box<dyn Write> {
    Box::new(io::stderr())
}

const BUFFER: usize = 64 << 10;
/// A terminal's line is not longer.
const LONGEST_ANSWER: u64 = 4096;

/// A stream of text with colours, which are taken out where they are not wanted.
pub struct ColoredOutput {
    out: Box<dyn Write>,
    /// How far a sequence of colours has come, where they are taken out.
    stripped: Option<StripBytes>,
}

fn strip(out: impl Write + 'static, color: ColorChoice) -> ColoredOutput {
    let is_wanted = matches!(color, ColorChoice::Always | ColorChoice::AlwaysAnsi);
    ColoredOutput { out: Box::new(out), stripped: (!is_wanted).then(StripBytes::default) }
}

impl ColoredOutput {
    /// Writes a line. One without colours is not painted first.
    fn line(&mut self, line: &Line) -> io::Result<()> {
        let is_clean =
            |text: &str| !text.as_bytes().iter().fold(false, |any, byte| any | (*byte < b' ' || *byte == 0x7f));
        if self.stripped.is_none() || !line.0.iter().all(|(_, text)| is_clean(text)) {
            return writeln!(self, "{}", PaintedLine(line));
        }
        line.0.iter().try_for_each(|(_, text)| self.out.write_all(text.as_bytes()))?;
        self.out.write_all(b"\n")
    }
}

impl Write for ColoredOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.stripped {
            Some(state) => state.strip_next(bytes).try_for_each(|text| self.out.write_all(text))?,
            None => self.out.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Where a command writes. `finish` reports errors of the last write.
#[must_use]
pub enum UiOutput {
    /// Standard output, as text.
    Screen(Box<ColoredOutput>),
    /// The pager, until it is closed.
    Pager(Option<Box<ColoredOutput>>, std::process::Child),
    /// Standard output, as bytes.
    Raw(BufWriter<StdoutLock<'static>>),
    /// A terminal that shows bytes.
    Shown(Harmless<BufWriter<StdoutLock<'static>>>),
}

impl UiOutput {
    /// Writes a line in the colours of its roles.
    ///
    /// # Errors
    /// The stream's.
    pub fn line(&mut self, line: &Line) -> io::Result<()> {
        match self {
            Self::Screen(out) | Self::Pager(Some(out), _) => out.line(line),
            Self::Raw(_) | Self::Shown(_) | Self::Pager(None, _) => writeln!(self, "{}", PaintedLine(line)),
        }
    }

    /// Flushes; waits for the pager.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush()
    }
}

impl Write for UiOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Screen(out) | Self::Pager(Some(out), _) => out.write(bytes),
            Self::Raw(out) => out.write(bytes),
            Self::Shown(out) => out.write(bytes),
            Self::Pager(None, _) => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Screen(out) | Self::Pager(Some(out), _) => out.flush(),
            Self::Raw(out) => out.flush(),
            Self::Shown(out) => out.flush(),
            Self::Pager(None, _) => Ok(()),
        }
    }
}

impl Drop for UiOutput {
    /// Closes the pager's input and waits until the user leaves it, also after an error.
    fn drop(&mut self) {
        if let Self::Pager(out, child) = self {
            drop(out.take());
            drop(child.wait());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `(approval: auto)` was broken within its first word on a terminal of 40 columns.
    #[test]
    fn rows_break_between_words() {
        let told = "the calls run unasked (approval: auto); see /a/path/that/is/longer/than/a/row/of/it\nand more";
        assert_eq!(
            wrapped(told, 6, 30),
            "the calls run unasked\n(approval: auto); see\n/a/path/that/is/longer/than/a/row/of/it\nand more"
        );
        assert_eq!(wrapped(told, 6, usize::MAX), told);
        assert_eq!(wrapped("", 6, 3), "");
    }
}
