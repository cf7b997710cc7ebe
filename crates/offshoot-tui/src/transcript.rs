//! The conversation on the screen: a list that lays out what is seen of it, however long it is.
//!
//! What stands in it comes from two places: the path of a session, whose bodies are asked for when they come into
//! sight, and after it the conversation as it goes on. Both give the same rows. Nothing is known of rows that were never
//! seen: the place in the list is a group and a row in it, and the list is walked from there. What was read and laid out
//! is kept within bounds.
//!
//! A frame is [`Transcript::lay_out`], then [`Transcript::view`]. Bodies that the first asks for are given by
//! [`Transcript::supply`], or read at once by [`Transcript::fill`].

mod cache;
mod path;
mod streams;
mod fold;
mod follow;
mod frame;
mod travel;

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

pub use path::Path;
pub use travel::Move;

/// How many rows are kept laid out, beyond those on the screen.
pub const KEPT_ROWS: usize = 4_096;
/// How many bytes of bodies are kept, beyond those on the screen.
pub const KEPT_BYTES: usize = 4 << 20;
/// What an entry says to a person.
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

/// Rows of a group that are on the screen.
#[derive(Debug, Clone, Copy)]
struct Slice {
    at: RowPlace,
    key: Key,
    rows: usize,
}

/// Where in the conversation the screen stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The first item on the screen, from 0.
    pub first: usize,
    /// The last one.
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
    /// The finished blocks of the conversation that stand after the path.
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
}

/// How far the conversation is followed.
#[derive(Debug)]
struct Followed {
    place: u64,
    /// The first finished block that did not stand here.
    next: u64,
    /// How the conversation was laid out last; `None`: not as it looks now.
    version: Option<u64>,
    /// The answer that came in last, with its texts.
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
        }
    }

    /// Takes other habits, such as another size of pictures.
    pub fn set_habits(&mut self, habits: Habits) {
        self.habits = habits;
        self.forget_rows();
    }

    /// Shows a path of a session, from its end. Everything that was shown before is forgotten.
    pub fn open(&mut self, path: Path) {
        let habits = std::mem::take(&mut self.habits);
        let (thinking, tools) = (self.thinking, self.tools);
        *self = Self { path, thinking, tools, ..Self::new(habits) };
    }

    /// Shows after the path the blocks of the conversation from a number on, and follows it as it goes on. What is in the
    /// path is not shown again: see `Conversation::joint`.
    pub fn join(&mut self, conversation: &Conversation, first: u64) {
        let (answer, streams) = (0, Streams::default());
        self.followed = Some(Followed { place: conversation.place(), next: first, version: None, answer, streams });
    }

    /// Everything looks otherwise.
    fn forget_rows(&mut self) {
        self.laid.clear();
        self.forget_under_way();
    }

    fn forget_under_way(&mut self) {
        self.followed.iter_mut().for_each(|followed| followed.version = None);
    }

    #[must_use]
    pub fn standing(&self) -> Standing {
        let group = |slice: Option<&Slice>| slice.map_or(0, |slice| slice.at.group);
        Standing {
            first: group(self.visible.first()),
            last: group(self.visible.last()),
            count: self.count(),
            is_at_end: self.is_at_end,
        }
    }

    /// Groups, and what is under way.
    fn count(&self) -> usize {
        self.path.len() + self.under_way.len()
    }

    fn group(&self, at: usize) -> Option<Group> {
        self.path.get(at)
    }

    fn peek(&self, key: Key) -> Option<&RenderedRows> {
        match key {
            Key::UnderWay(at) => self.under_way.get(at).map(Arc::as_ref),
            Key::Entry(_) | Key::Live(_) => self.laid.peek(key).map(Arc::as_ref),
        }
    }
}

#[cfg(test)]
mod tests;
