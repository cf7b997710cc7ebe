//! Renders transcript items as rows. Knows no file, no tree and no scrolling; `offshoot_session::transcript` decides
//! what an item is.

mod drawn;
mod pictures;
mod preview;
mod page;
mod call;
mod rows;
mod time;

use std::collections::HashMap;
use std::sync::Arc;

use offshoot_protocol::message::Message;
use offshoot_session::json::Json;
use offshoot_session::kind::Role;
use offshoot_session::transcript::{Item, StoredPicture, ToolResult};

use ratatui::layout::Size;
use ratatui::text::{Line, Span};

use crate::image::{About, CellSize};
use crate::markdown::Sheet;
use crate::theme::{Theme, Token};
pub use drawn::{DrawnByExtensions, DrawnCall, Foldable};
pub use pictures::PictureFacts;
pub(crate) use pictures::decoded;
pub use time::MessageTime;

/// The parts of an item that are unfolded.
#[derive(Debug, Clone, Copy, Default)]
pub struct Folds<'a> {
    pub thinking: bool,
    pub tools: bool,
    pub other: &'a [usize],
}

#[derive(Debug, Clone, Copy)]
pub struct RowRenderer<'a> {
    pub theme: &'a Theme,
    pub width: usize,
    pub habits: &'a Habits,
}

/// The part of the look that rarely changes.
#[derive(Debug, Clone, Default)]
pub struct Habits {
    /// Paths in this folder are shown relative to it.
    pub cwd: String,
    /// Shown as `~`.
    pub home: String,
    /// The key that unfolds tools and summaries, such as `ctrl+o`.
    pub expand_key: String,
    pub thinking_key: String,
    /// Shown instead of the first words of a folded thought; foreign.
    pub thinking_label: Option<String>,
    /// What extensions drew.
    pub drawn: Arc<DrawnByExtensions>,
    /// `None` shows placeholders.
    pub picture_size: Option<PictureSize>,
    pub pictures: PictureFacts,
    /// Whether answers start in the first column, without a margin.
    pub is_flush: bool,
    /// The zone of the shown times of messages; `None` hides them.
    pub times: Option<jiff::tz::TimeZone>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureSize {
    /// The pixels of a terminal cell.
    pub cell: CellSize,
    /// The maximum columns and rows of an image.
    pub most: Size,
}

impl PictureSize {
    /// The columns and rows of an image, at most `columns` wide; `None` if it cannot be shown.
    #[must_use]
    pub fn of(self, about: &About, columns: u16) -> Option<(u16, u16)> {
        let room = Size { width: self.most.width.min(columns), ..self.most };
        let Size { width, height } = about.cells(room, self.cell).ok()?;
        Some((width, height))
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct RenderedRows {
    pub lines: Vec<Line<'static>>,
    /// Foldable parts: first row and part number.
    pub folds: Vec<(usize, usize)>,
    pub pictures: Vec<Placed>,
}

impl RenderedRows {
    /// Replaces images for which `is_named` holds with placeholders.
    pub fn name_pictures(&mut self, theme: &Theme, is_named: impl Fn(&Placed) -> bool) {
        for placed in self.pictures.extract_if(.., |placed| is_named(placed)) {
            if let Some(line) = self.lines.get_mut(placed.row) {
                let words = placed.about.placeholder();
                let margin = " ".repeat(usize::from(placed.column));
                line.spans = vec![margin.into(), Span::styled(words, theme.style(Token::Muted))];
            }
        }
    }

    pub fn append(&mut self, other: Self) {
        let above = self.lines.len();
        self.lines.extend(other.lines);
        self.folds.extend(other.folds.into_iter().map(|(row, part)| (row + above, part)));
        self.pictures.extend(other.pictures.into_iter().map(|placed| Placed { row: placed.row + above, ..placed }));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartRange {
    pub from: usize,
    pub is_begun: bool,
    /// Exclusive; [`usize::MAX`] includes the end of the answer.
    pub to: usize,
}

impl Default for PartRange {
    fn default() -> Self {
        Self { from: 0, is_begun: false, to: usize::MAX }
    }
}

/// An image's place among the rows of its item, which are blank.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    pub row: usize,
    pub column: u16,
    pub size: (u16, u16),
    pub picture: Arc<StoredPicture>,
    pub about: About,
}

/// Context of an answer.
#[derive(Debug, Clone, Copy, Default)]
pub struct AnswerContext<'a> {
    /// The results of tools, in any order.
    pub results: &'a [Arc<ToolResult>],
    /// Whether more may follow: calls without a result are running, or will run.
    pub is_live: bool,
    /// The rows of streaming texts and thoughts, by part, without those already printed: they are not laid out again.
    pub texts: Option<&'a HashMap<usize, Vec<Line<'static>>>>,
}

impl<'a> RowRenderer<'a> {
    /// Whether an extension has drawn this message.
    pub(crate) fn has_drawn(&self, item: &Item) -> bool {
        matches!(item, Item::Note { label, parts } if self.habits.drawn.note(label, parts).is_some())
    }

    /// The rows of an item with an empty row above; none if it has nothing to show.
    #[must_use]
    pub fn rows(&self, item: &Item, folds: Folds<'_>, beside: AnswerContext<'_>) -> RenderedRows {
        self.rows_of(item, folds, beside, PartRange::default())
    }

    #[must_use]
    pub fn rows_of(
        &self,
        item: &Item,
        folds: Folds<'_>,
        beside: AnswerContext<'_>,
        stretch: PartRange,
    ) -> RenderedRows {
        rows::rows(item, self, folds, (beside, stretch))
    }

    /// The sheet of an answer's texts: without the margin, if it has one.
    #[must_use]
    pub fn sheet(&self) -> Sheet<'a> {
        Sheet::new(self.theme, if self.habits.is_flush { self.width } else { page::room(self.width) })
    }

    #[must_use]
    pub fn thoughts_sheet(&self) -> Sheet<'a> {
        Sheet { base: rows::thinking_style(self.theme), ..Sheet::new(self.theme, page::room(self.width)) }
    }
}

/// The item of a live message: the same as when it is read from a session.
#[must_use]
pub fn item_of_live(message: &Message) -> Option<Item> {
    let role = match message {
        Message::User(_) => Role::User,
        Message::Assistant(_) => Role::Assistant,
        Message::ToolResult(_) => Role::ToolResult,
        Message::Custom(_) => Role::Custom,
    };
    let json = serde_json::to_string(message).ok()?;
    Some(Item::of_message(role, Json::parse(&json).ok()?))
}

impl Folds<'_> {
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
