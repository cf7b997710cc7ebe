//! What an operation says to a person, without a screen: lines and tables whose parts have a role, and what can be done next as
//! data. Front ends paint the roles and spell the next steps as one types them there.

use std::io;

use offshoot_session::error::Diagnostic;

/// The meaning of a piece of text. Front ends give it a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// Nothing in particular.
    #[default]
    Plain,
    /// Less important.
    Dim,
    /// A name.
    Bold,
    /// The id of an entry.
    Id,
    /// A label.
    Label,
    /// What offshoot wrote itself, such as a summary.
    Mark,
    /// The user, who speaks.
    User,
    /// The model, which speaks.
    Assistant,
    /// A tool or a command.
    Tool,
    /// Good to know.
    Note,
    /// Something is wrong.
    Warning,
    /// Something failed, or is damaged.
    Error,
}

/// A line: pieces of text with their roles.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line(pub Vec<(Role, String)>);

impl Line {
    /// Adds a piece.
    #[must_use]
    pub fn and(mut self, role: Role, text: impl Into<String>) -> Self {
        self.0.push((role, text.into()));
        self
    }

    /// Adds the pieces of another line.
    #[must_use]
    pub fn then(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// A line of one role.
    pub fn of(role: Role, text: impl Into<String>) -> Self {
        Self::default().and(role, text)
    }

    /// Without roles.
    #[must_use]
    pub fn plain(&self) -> String {
        self.0.iter().map(|(_, text)| text.as_str()).collect()
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Self::of(Role::Plain, text)
    }
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Self::of(Role::Plain, text)
    }
}

/// An operation that helps now. Each front end spells it as one types it there, with its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextStep {
    /// The operation's name.
    pub operation: &'static str,
    /// Its arguments after the session, as a command line has them.
    pub with: Vec<String>,
    /// What it does, such as `takes it back`.
    pub says: String,
    /// Whether it is about the session at hand.
    pub is_of_session: bool,
}

impl NextStep {
    /// An operation without arguments.
    pub fn new(operation: &'static str, says: impl Into<String>) -> Self {
        Self { operation, with: Vec::new(), says: says.into(), is_of_session: true }
    }

    /// An operation that is about no particular session.
    pub fn of_all(operation: &'static str, says: impl Into<String>) -> Self {
        Self { is_of_session: false, ..Self::new(operation, says) }
    }

    /// The same with a further argument.
    #[must_use]
    pub fn with(mut self, argument: impl Into<String>) -> Self {
        self.with.push(argument.into());
        self
    }
}

/// A column of a [`WordsTable`].
#[derive(Debug, Clone, Copy)]
pub struct TableColumn {
    /// Its title.
    pub title: &'static str,
    /// Whether its cells stand at the right.
    pub is_right: bool,
    /// The role of its cells.
    pub role: Role,
    /// How wide it is on a screen at most.
    pub widest: Option<usize>,
    /// A narrow screen does first without the column that has the smallest number.
    pub leaves: Option<u8>,
}

impl TableColumn {
    /// A column whose cells stand at the left.
    #[must_use]
    pub const fn left(title: &'static str, role: Role) -> Self {
        Self { title, is_right: false, role, widest: None, leaves: None }
    }

    /// A column whose cells stand at the right.
    #[must_use]
    pub const fn right(title: &'static str, role: Role) -> Self {
        Self { is_right: true, ..Self::left(title, role) }
    }

    /// Limits its width on a screen.
    #[must_use]
    pub const fn cut_to(self, widest: usize) -> Self {
        Self { widest: Some(widest), ..self }
    }

    /// Leaves a screen on which the last column would be too narrow; the smallest `order` leaves first.
    #[must_use]
    pub const fn leaves(self, order: u8) -> Self {
        Self { leaves: Some(order), ..self }
    }
}

/// A table. The last column takes the remaining width, in the row's role.
#[derive(Debug)]
pub struct WordsTable {
    /// Its columns.
    pub columns: Vec<TableColumn>,
    /// The cells of each row, and the role of its last one.
    pub rows: Vec<(Vec<String>, Role)>,
}

/// A part of [`Words`].
#[derive(Debug)]
pub enum WordsBlock {
    /// A line.
    Line(Line),
    /// A table.
    Table(WordsTable),
}

impl WordsBlock {
    /// Without roles; nothing of a table.
    #[must_use]
    pub fn plain(&self) -> Option<String> {
        match self {
            Self::Line(line) => Some(line.plain()),
            Self::Table(_) => None,
        }
    }
}

impl From<Line> for WordsBlock {
    fn from(line: Line) -> Self {
        Self::Line(line)
    }
}

impl From<WordsTable> for WordsBlock {
    fn from(table: WordsTable) -> Self {
        Self::Table(table)
    }
}

/// Takes what is said while it is made. Fails when nobody reads it.
pub type Say<'a> = dyn FnMut(&WordsBlock) -> io::Result<()> + 'a;

/// What is told beside the result.
#[derive(Debug, Clone, PartialEq)]
pub enum Note {
    /// Good to know.
    Told(String),
    /// Something is wrong, and the operation went on.
    Warning(String),
    /// What can be typed now, in words.
    Helps(String),
    /// What is odd about files that were read.
    Odd(Vec<Diagnostic>),
    /// The same of the session, or the file, that a hint names so.
    OddOf(String, Vec<Diagnostic>),
}

/// What an operation says.
#[derive(Debug, Default)]
pub struct Words {
    /// The result, part by part.
    pub blocks: Vec<WordsBlock>,
    /// Whether it may be longer than a screen.
    pub is_long: bool,
    /// Whether they only answer a question, though the operation can write.
    pub is_answer: bool,
    /// Whether it is printed byte for byte.
    pub is_exact: bool,
    /// Whether the rest of the result is said while it is made: see `Output::stream`.
    pub is_streamed: bool,
    /// What is told beside it.
    pub notes: Vec<Note>,
    /// What can be done next.
    pub next: Vec<NextStep>,
    /// What the person said here, to be said otherwise.
    pub to_edit: Option<String>,
}

impl Words {
    /// Adds a line.
    pub fn line(&mut self, line: impl Into<Line>) {
        self.blocks.push(WordsBlock::Line(line.into()));
    }

    /// Adds a table.
    pub fn table(&mut self, table: WordsTable) {
        self.blocks.push(WordsBlock::Table(table));
    }

    /// The lines without roles and tables, for front ends with one line or no colours.
    #[must_use]
    pub fn plain(&self) -> String {
        self.blocks.iter().filter_map(WordsBlock::plain).collect::<Vec<_>>().join("\n")
    }
}
