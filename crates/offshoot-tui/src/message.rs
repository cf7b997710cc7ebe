//! What was said, as a person reads it: messages, tool calls with their results, summaries, notices. Data, and its rows.
//!
//! `decode` reads it from entries and messages of any program that writes sessions, `rows` lays it out. Knows no file,
//! no tree, no scrolling.

mod call;
mod decode;
mod preview;
mod rows;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use ratatui::layout::Size;
use ratatui::text::{Line, Span};

use crate::image::{self, CellSize};
use crate::markdown::Sheet;
use crate::theme::{Theme, Token};
pub(crate) use decode::Telling;
pub(crate) use rows::error_words;

/// One thing that stands in a transcript.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// What the person said.
    User(Vec<Part>),
    /// What the model answered.
    Answer(Answer),
    /// What a tool gave back, where the call is not at hand.
    Result(ToolResult),
    /// A command that the person ran.
    Run(Run),
    /// What stands for a part of the conversation.
    Summary(Summary),
    /// A message of an extension.
    Note {
        /// Whose.
        label: String,
        /// What it says.
        parts: Vec<Part>,
    },
    /// Something about the conversation, in a few words.
    Notice(Level, String),
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Words.
    Text(String),
    /// What the model thought.
    Thinking(String),
    /// A call of a tool.
    Call(Call),
    /// A picture.
    Picture(Arc<Picture>),
    /// A block of another sort, by its type.
    Other(String),
}

/// A picture as it stands in a message.
#[derive(Debug, Clone)]
pub struct Picture {
    data: String,
    mime_type: String,
    about: OnceLock<image::About>,
}

impl Picture {
    /// Of its bytes in base64, or a reference to where they are, and its media type, such as `image/png`.
    #[must_use]
    pub fn new(data: String, mime_type: String) -> Self {
        Self { data, mime_type, about: OnceLock::new() }
    }

    /// What is known of it without its pixels; found out once.
    pub fn about(&self) -> &image::About {
        self.about.get_or_init(|| self.decoded().about().clone())
    }

    /// The picture itself.
    #[must_use]
    pub fn decoded(&self) -> image::Picture {
        image::Picture::of_block(&self.data, &self.mime_type)
    }
}

impl PartialEq for Picture {
    fn eq(&self, other: &Self) -> bool {
        (&self.mime_type, &self.data) == (&other.mime_type, &other.data)
    }
}

impl Eq for Picture {}

/// What the model answered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// In the order in which it came.
    pub parts: Vec<Part>,
    /// How it ended, if that is worth a word.
    pub end: End,
}

/// How an answer ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum End {
    /// As it should.
    #[default]
    Done,
    /// The person stopped it.
    Aborted,
    /// It reached its limit.
    Length,
    /// It failed, with these words.
    Error(String),
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Call {
    /// The call's id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments as JSON; while they come in, the beginning of it.
    pub arguments: String,
}

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolResult {
    /// The call that it answers.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// Text and pictures.
    pub parts: Vec<Part>,
    /// What only people and renderers see, as JSON.
    pub details: Option<String>,
    /// Whether it failed.
    pub is_error: bool,
    /// Whether more is to come.
    pub is_partial: bool,
}

/// A command that the person ran.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Run {
    /// What stands before it: `$`, or the name of another language.
    pub prompt: String,
    /// The command.
    pub command: String,
    /// What it printed.
    pub output: String,
    /// What else is to be said: the exit code, that it was stopped, where all the output is.
    pub remarks: Vec<String>,
    /// Whether it failed or was stopped.
    pub is_error: bool,
    /// Whether the model does not see it.
    pub is_private: bool,
}

/// What stands for a part of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// `compaction`, `branch summary`.
    pub label: &'static str,
    /// What it stands for.
    pub about: String,
    /// The summary.
    pub text: String,
}

/// How loud a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// For whoever looks.
    Info,
    /// To be known.
    Warning,
    /// Something went wrong.
    Error,
}

/// Which parts of an item show all they have.
#[derive(Debug, Clone, Copy, Default)]
pub struct Folds<'a> {
    /// Whether thoughts do.
    pub thinking: bool,
    /// Whether tools, commands and summaries do.
    pub tools: bool,
    /// The parts, by number, that do otherwise than the rest.
    pub other: &'a [usize],
}

/// How items are laid out.
#[derive(Debug, Clone, Copy)]
pub struct Look<'a> {
    /// The colours.
    pub theme: &'a Theme,
    /// How many columns there are.
    pub width: usize,
    /// The rest.
    pub habits: &'a Habits,
}

/// What of the look stays the same for as long as the program runs.
#[derive(Debug, Clone, Default)]
pub struct Habits {
    /// The working folder: paths in it are shown without it.
    pub cwd: String,
    /// The home folder: `~` stands for it.
    pub home: String,
    /// The key that opens tools and summaries, such as `ctrl+o`.
    pub expand_key: String,
    /// The key that opens thoughts.
    pub thinking_key: String,
    /// How large pictures are shown; `None` shows words in their place.
    pub picture_size: Option<PictureSize>,
    /// Whether the words of answers begin in the first column, without a margin.
    pub is_flush: bool,
}

/// How large pictures are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureSize {
    /// How many pixels a cell of the terminal has.
    pub cell: CellSize,
    /// How many columns and rows a picture takes at most.
    pub most: Size,
}

impl PictureSize {
    /// The columns and rows of a picture, no more columns than there are; `None` if it cannot be shown.
    #[must_use]
    pub fn of(self, picture: &Picture, columns: u16) -> Option<(u16, u16)> {
        let room = Size { width: self.most.width.min(columns), ..self.most };
        let Size { width, height } = picture.about().cells(room, self.cell).ok()?;
        Some((width, height))
    }
}

/// An item as rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Laid {
    /// The rows.
    pub lines: Vec<Line<'static>>,
    /// Where parts begin that can be opened and closed: the row, and the part's number.
    pub folds: Vec<(usize, usize)>,
    /// Where pictures stand.
    pub pictures: Vec<Placed>,
}

impl Laid {
    /// Names pictures instead of leaving their rows free: those for which that is so.
    pub fn name_pictures(&mut self, theme: &Theme, is_named: impl Fn(&Placed) -> bool) {
        for placed in self.pictures.extract_if(.., |placed| is_named(placed)) {
            if let Some(line) = self.lines.get_mut(placed.row) {
                let words = placed.picture.about().placeholder();
                let margin = " ".repeat(usize::from(placed.column));
                line.spans = vec![margin.into(), Span::styled(words, theme.style(Token::Muted))];
            }
        }
    }

    /// Puts other rows below.
    pub fn append(&mut self, other: Self) {
        let above = self.lines.len();
        self.lines.extend(other.lines);
        self.folds.extend(other.folds.into_iter().map(|(row, part)| (row + above, part)));
        self.pictures.extend(other.pictures.into_iter().map(|placed| Placed { row: placed.row + above, ..placed }));
    }
}

/// Which parts of an answer are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// The first one.
    pub from: usize,
    /// Whether the beginning of that one stands elsewhere already.
    pub is_begun: bool,
    /// The one behind the last; [`usize::MAX`]: all, and how the answer ended.
    pub to: usize,
}

impl Default for Stretch {
    fn default() -> Self {
        Self { from: 0, is_begun: false, to: usize::MAX }
    }
}

/// A picture's place among the rows of its item. The rows are blank.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    /// The first row.
    pub row: usize,
    /// The first column.
    pub column: u16,
    /// How many columns and rows.
    pub size: (u16, u16),
    /// The picture.
    pub picture: Arc<Picture>,
}

/// What belongs to an answer besides itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Beside<'a> {
    /// What the tools gave back, in any order.
    pub results: &'a [Arc<ToolResult>],
    /// Whether more may come: calls without a result run, or will.
    pub is_live: bool,
    /// The rows of texts and thoughts that come in, by part, those that stand elsewhere left out: they are not laid out
    /// anew.
    pub texts: Option<&'a HashMap<usize, Vec<Line<'static>>>>,
}

impl Item {
    /// The rows of an item, an empty one above them; none if it has nothing to show.
    #[must_use]
    pub fn rows(&self, look: &Look<'_>, folds: Folds<'_>, beside: Beside<'_>) -> Laid {
        self.rows_of(look, folds, beside, Stretch::default())
    }

    /// The same of some parts of an answer.
    #[must_use]
    pub fn rows_of(&self, look: &Look<'_>, folds: Folds<'_>, beside: Beside<'_>, stretch: Stretch) -> Laid {
        rows::rows(self, look, folds, (beside, stretch))
    }
}

impl<'a> Look<'a> {
    /// What the texts of an answer are laid out on: the page without its margin, if it has one there.
    #[must_use]
    pub fn sheet(&self) -> Sheet<'a> {
        Sheet::new(self.theme, if self.habits.is_flush { self.width } else { rows::room(self.width) })
    }

    /// What thoughts are laid out on.
    #[must_use]
    pub fn thoughts_sheet(&self) -> Sheet<'a> {
        Sheet { base: rows::thinking_style(self.theme), ..Sheet::new(self.theme, rows::room(self.width)) }
    }
}

impl Folds<'_> {
    /// Whether a thought shows all it has.
    #[must_use]
    pub fn is_thinking_open(self, part: usize) -> bool {
        self.is_open(self.thinking, part)
    }

    fn is_open(self, default: bool, part: usize) -> bool {
        default != self.other.contains(&part)
    }
}

#[cfg(test)]
mod tests;
