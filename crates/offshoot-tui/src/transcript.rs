//! The transcript: a list that lays out only the visible rows, however long the conversation is.
//!
//! Its items have two sources. A session's path comes first; its bodies are read when they become visible. The live
//! conversation follows. Both give the same rows. The transcript knows nothing of rows that were never visible: its
//! position is a group and a row in it, and it walks the list from there. It caches bodies and rows within bounds.
//!
//! A frame is [`Transcript::lay_out`], then [`Transcript::view`]. [`Transcript::supply`] gives the bodies that the
//! layout asks for, or [`Transcript::fill`] reads them at once.

mod cache;
mod path;
mod streams;
mod matches;
mod fold;
mod follow;
mod frame;
mod travel;
mod search;
mod reveal;
mod mark;

use std::collections::HashMap;
use std::sync::Arc;

use offshoot_session::tree::NodeIx;

use crate::conversation::{Conversation, ConversationBlock};
use crate::message::{Habits, RenderedRows};
use crate::theme::Theme;
use cache::Cache;
use offshoot_session::transcript::{Item, ToolResult};
use path::{Group, Key};
pub(crate) use streams::{Streams, first_thought};

pub use path::{Path, PathLength};
pub use search::{SearchStatus, SearchStep, SearchWrap};
pub use travel::Move;

/// The number of cached rows, besides the visible rows.
pub const KEPT_ROWS: usize = 4_096;
/// The number of cached bytes of bodies, besides the visible ones.
pub const KEPT_BYTES: usize = 4 << 20;
/// The shown content of an entry.
#[derive(Debug, Clone)]
enum Body {
    Item(Arc<Item>),
    Result(Arc<ToolResult>),
    Nothing,
}

impl Body {
    fn of(item: Option<Item>) -> Self {
        match item {
            Some(Item::Result(result)) => Self::Result(Arc::new(result)),
            Some(item) => Self::Item(Arc::new(item)),
            None => Self::Nothing,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    Thinking,
    Tools,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct RowPlace {
    group: usize,
    row: usize,
}

/// The visible rows of a group.
#[derive(Debug, Clone, Copy)]
struct Slice {
    at: RowPlace,
    key: Key,
    rows: usize,
}

/// The position of the screen in the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScrollPosition {
    /// The first visible item, from 0.
    pub first: usize,
    /// The last visible item.
    pub last: usize,
    pub count: usize,
    pub is_at_end: bool,
}

pub struct Transcript {
    habits: Habits,
    theme: Theme,
    width: usize,
    height: usize,
    path: Path,
    bodies: Cache<NodeIx, Body>,
    laid: Cache<Key, Arc<RenderedRows>>,
    /// The finished blocks of the conversation after the path.
    live: HashMap<u64, Arc<ConversationBlock>>,
    followed: Option<Followed>,
    under_way: Vec<Arc<RenderedRows>>,
    thinking: bool,
    tools: bool,
    flipped: HashMap<Key, Vec<usize>>,
    top: RowPlace,
    is_at_end: bool,
    moves: Vec<Move>,
    visible: Vec<Slice>,
    wanted: Vec<NodeIx>,
    focus: Option<(Key, usize)>,
    search: Option<Box<search::Search>>,
    /// The group that was looked for.
    marked: Option<Key>,
}

/// The state of following the conversation.
#[derive(Debug)]
struct Followed {
    place: u64,
    /// The first finished block that is not in the transcript.
    next: u64,
    /// The version of the conversation that was laid out last; `None` if it must be laid out again.
    version: Option<u64>,
    /// The number of the last streaming answer, and its texts.
    answer: u64,
    streams: Streams,
}

impl std::fmt::Debug for Transcript {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Transcript {{ {} items, {:?} }}", self.path.len(), self.top)
    }
}

impl Transcript {
    #[must_use]
    pub fn new(habits: Habits) -> Self {
        Self {
            habits,
            theme: Theme::default(),
            width: 80,
            height: 24,
            path: Path::default(),
            bodies: Cache::new(KEPT_BYTES),
            laid: Cache::new(KEPT_ROWS),
            live: HashMap::new(),
            followed: None,
            under_way: Vec::new(),
            thinking: false,
            tools: false,
            flipped: HashMap::new(),
            top: RowPlace::default(),
            is_at_end: true,
            moves: Vec::new(),
            visible: Vec::new(),
            wanted: Vec::new(),
            focus: None,
            search: None,
            marked: None,
        }
    }

    /// Sets the rendering habits, such as the size of pictures.
    pub fn set_habits(&mut self, habits: Habits) {
        self.habits = habits;
        self.forget_rows();
    }

    /// Shows the end of a session's path. The previous content is dropped.
    pub fn open(&mut self, path: Path) {
        let habits = std::mem::take(&mut self.habits);
        let (thinking, tools) = (self.thinking, self.tools);
        *self = Self { path, thinking, tools, ..Self::new(habits) };
    }

    /// Shows the conversation's blocks after the path, from the block number `first` on, and follows the conversation.
    /// Entries of the path are not shown again: see `Conversation::joint`.
    pub fn join(&mut self, conversation: &Conversation, first: u64) {
        let (answer, streams) = (0, Streams::default());
        self.followed =
            Some(Followed { place: conversation.place_number(), next: first, version: None, answer, streams });
    }

    /// Drops all rows, because their look has changed.
    fn forget_rows(&mut self) {
        self.laid.clear();
        self.forget_under_way();
    }

    fn forget_under_way(&mut self) {
        self.followed.iter_mut().for_each(|followed| followed.version = None);
    }

    #[must_use]
    pub fn scroll_position(&self) -> ScrollPosition {
        let group = |slice: Option<&Slice>| slice.map_or(0, |slice| slice.at.group);
        ScrollPosition {
            first: group(self.visible.first()),
            last: group(self.visible.last()),
            count: self.count(),
            is_at_end: self.is_at_end,
        }
    }

    /// The number of groups and of items under way.
    fn count(&self) -> usize {
        self.path.len() + self.under_way.len()
    }

    fn group(&self, at: usize) -> Option<Group> {
        self.path.get(at)
    }

    fn peek(&self, key: Key) -> Option<&Arc<RenderedRows>> {
        match key {
            Key::UnderWay(at) => self.under_way.get(at),
            Key::Entry(_) | Key::Live(_) => self.laid.peek(key),
        }
    }
}

#[cfg(test)]
mod tests;
