//! The items of a transcript as rows. Knows no file, no tree, no scrolling; what an item is, the library decides
//! (`offshoot_session::transcript`).

mod pictures;
mod preview;
mod page;
mod call;
mod rows;

use std::collections::HashMap;
use std::sync::Arc;

use offshoot_agent::message::Message;
use offshoot_session::json::Json;
use offshoot_session::kind::Role;
use offshoot_session::transcript::{Item, StoredPicture, ToolResult};

use ratatui::layout::Size;
use ratatui::text::{Line, Span};

use crate::image::{About, CellSize};
use crate::markdown::Sheet;
use crate::theme::{Theme, Token};
pub use pictures::PictureFacts;
pub(crate) use pictures::decoded;
pub(crate) use rows::error_words;

/// Which parts of an item show all they have.
#[derive(Debug, Clone, Copy, Default)]
pub struct Folds<'a> {
    pub thinking: bool,
    pub tools: bool,
    pub other: &'a [usize],
}

/// How items are laid out.
#[derive(Debug, Clone, Copy)]
pub struct Look<'a> {
    pub theme: &'a Theme,
    /// How many columns there are.
    pub width: usize,
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
    pub thinking_key: String,
    /// How large pictures are shown; `None` shows words in their place.
    pub picture_size: Option<PictureSize>,
    pub pictures: PictureFacts,
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
    pub fn of(self, about: &About, columns: u16) -> Option<(u16, u16)> {
        let room = Size { width: self.most.width.min(columns), ..self.most };
        let Size { width, height } = about.cells(room, self.cell).ok()?;
        Some((width, height))
    }
}

/// An item as rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Laid {
    pub lines: Vec<Line<'static>>,
    /// Where parts begin that can be opened and closed: the row, and the part's number.
    pub folds: Vec<(usize, usize)>,
    pub pictures: Vec<Placed>,
}

impl Laid {
    /// Names pictures instead of leaving their rows free: those for which that is so.
    pub fn name_pictures(&mut self, theme: &Theme, is_named: impl Fn(&Placed) -> bool) {
        for placed in self.pictures.extract_if(.., |placed| is_named(placed)) {
            if let Some(line) = self.lines.get_mut(placed.row) {
                let words = placed.about.placeholder();
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
    pub picture: Arc<StoredPicture>,
    pub about: About,
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

impl<'a> Look<'a> {
    /// The rows of an item, an empty one above them; none if it has nothing to show.
    #[must_use]
    pub fn rows(&self, item: &Item, folds: Folds<'_>, beside: Beside<'_>) -> Laid {
        self.rows_of(item, folds, beside, Stretch::default())
    }

    /// The same of some parts of an answer.
    #[must_use]
    pub fn rows_of(&self, item: &Item, folds: Folds<'_>, beside: Beside<'_>, stretch: Stretch) -> Laid {
        rows::rows(item, self, folds, (beside, stretch))
    }

    /// What the texts of an answer are laid out on: the page without its margin, if it has one there.
    #[must_use]
    pub fn sheet(&self) -> Sheet<'a> {
        Sheet::new(self.theme, if self.habits.is_flush { self.width } else { page::room(self.width) })
    }

    /// What thoughts are laid out on.
    #[must_use]
    pub fn thoughts_sheet(&self) -> Sheet<'a> {
        Sheet { base: rows::thinking_style(self.theme), ..Sheet::new(self.theme, page::room(self.width)) }
    }
}

/// What a message of this agent says: the same as when it is read from a session.
#[must_use]
pub fn item_of_live(message: &Message) -> Option<Item> {
    let role = match message {
        Message::User(_) => Role::User,
        Message::Assistant(_) => Role::Assistant,
        Message::ToolResult(_) => Role::ToolResult,
    };
    let json = serde_json::to_string(message).ok()?;
    Some(Item::of_message(role, Json::parse(&json).ok()?))
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
