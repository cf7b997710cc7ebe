//! The conversation on the screen: a list that lays out what is seen of it, however long it is.
//!
//! What stands in it comes from two places: the path of a session, whose bodies are asked for when they come into
//! sight, and the agent's events. Both give the same rows. Nothing is known of rows that were never seen: the place in
//! the list is a group and a row in it, and the list is walked from there. What was read and laid out is kept within
//! bounds.
//!
//! A frame is [`Transcript::lay_out`], then [`Transcript::view`]. Bodies that the first asks for are given by
//! [`Transcript::supply`], or read at once by [`Transcript::fill`].

mod cache;
mod live;
mod path;
mod fold;
mod frame;
mod travel;

use std::collections::HashMap;
use std::sync::Arc;

use offshoot_agent::event::Event;
use offshoot_agent::message::Message;
use offshoot_session::json::Json;
use offshoot_session::kind::Role;
use offshoot_session::transcript::{Item, ItemShape, Level, ToolResult};
use offshoot_session::tree::NodeIx;

use crate::message::{Habits, Laid, item_of_live};
use crate::theme::Theme;
use cache::Cache;
pub(crate) use live::{Streaming, Streams, first_thought, shown};
use path::{Group, Key};

pub use path::Path;
pub use travel::Move;

/// How many rows are kept laid out, beyond those on the screen.
pub const KEPT_ROWS: usize = 4_096;
/// How many bytes of bodies are kept, beyond those on the screen.
pub const KEPT_BYTES: usize = 4 << 20;
/// The answer that comes in.
const STREAMING: Key = Key::Live(u32::MAX);

/// A command of the user that is not recorded yet.
fn waiting_key(number: usize) -> Key {
    Key::Live(u32::MAX - 1 - u32::try_from(number).unwrap_or(u32::MAX / 2).min(u32::MAX / 2))
}

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

/// Which parts of all items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// Thoughts.
    Thinking,
    /// Tools, commands and summaries.
    Tools,
}

/// A group and a row of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Place {
    group: usize,
    row: usize,
}

/// Rows of a group that are on the screen.
#[derive(Debug, Clone, Copy)]
struct Slice {
    at: Place,
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
    /// How many there are.
    pub count: usize,
    /// Whether the end is on the screen, and stays there when more comes.
    pub is_at_end: bool,
}

/// The conversation.
pub struct Transcript {
    habits: Habits,
    theme: Theme,
    width: usize,
    height: usize,
    path: Path,
    /// What came in live, and has no entry here.
    live: HashMap<u32, Body>,
    next_live: u32,
    bodies: Cache<NodeIx, Body>,
    laid: Cache<Key, Arc<Laid>>,
    streaming: Option<Streaming>,
    /// The rows of the answer that comes in.
    streamed: Option<Arc<Laid>>,
    /// Results as far as they are known of tools that run.
    running: HashMap<String, Arc<ToolResult>>,
    is_at_work: bool,
    /// Whether what the user runs is recorded behind what is under way, rather than at once.
    holds_runs: bool,
    /// Commands of the user that ran beside a turn: they are recorded behind it.
    waiting: Vec<Item>,
    thinking: bool,
    tools: bool,
    /// Parts that are folded otherwise than the rest.
    flipped: HashMap<Key, Vec<usize>>,
    top: Place,
    is_at_end: bool,
    moves: Vec<Move>,
    visible: Vec<Slice>,
    wanted: Vec<NodeIx>,
    focus: Option<(Key, usize)>,
}

impl std::fmt::Debug for Transcript {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Transcript {{ {} items, {:?} }}", self.path.len(), self.top)
    }
}

impl Transcript {
    /// An empty one.
    #[must_use]
    pub fn new(habits: Habits) -> Self {
        Self {
            habits,
            theme: Theme::default(),
            width: 80,
            height: 24,
            path: Path::default(),
            live: HashMap::new(),
            next_live: 0,
            bodies: Cache::new(KEPT_BYTES),
            laid: Cache::new(KEPT_ROWS),
            streaming: None,
            streamed: None,
            running: HashMap::new(),
            is_at_work: false,
            holds_runs: false,
            waiting: Vec::new(),
            thinking: false,
            tools: false,
            flipped: HashMap::new(),
            top: Place::default(),
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
        self.laid.clear();
        self.streamed = None;
    }

    /// Shows a path of a session, from its end. Everything that was shown before is forgotten.
    pub fn open(&mut self, path: Path) {
        let habits = std::mem::take(&mut self.habits);
        let (thinking, tools) = (self.thinking, self.tools);
        *self = Self { path, thinking, tools, ..Self::new(habits) };
    }

    /// Takes the path of the same session after it has grown: what came in live stands in it now, and its bodies are
    /// read when they are seen. Words that no session holds go.
    pub fn rebase(&mut self, path: Path) {
        let old = std::mem::replace(&mut self.path, path);
        let same = old.common(&self.path);
        let new = self.path.len();
        let moved = |at: usize| if at < same { at } else { new.saturating_sub(old.len() - at.min(old.len())) };
        let key = |at: usize| self.path.get(moved(at)).map(|group| group.key);
        let flipped = (same..old.len()).filter_map(|at| {
            let parts = self.flipped.remove(&old.get(at)?.key)?;
            Some((key(at)?, parts))
        });
        let flipped: Vec<_> = flipped.collect();
        self.flipped.retain(|key, _| matches!(key, Key::Entry(_)));
        self.flipped.extend(flipped);
        self.top.group = moved(self.top.group);
        self.focus = None;
        self.live.clear();
        self.laid.clear();
        self.visible.clear();
    }

    /// How many items there are, the one that comes in not counted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.path.len()
    }

    /// Whether there is nothing to show.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Takes an event of the agent. Events that change nothing here are ignored.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::AgentStart | Event::CompactionStart { .. } => (self.is_at_work, self.holds_runs) = (true, true),
            Event::AutoRetryStart { .. } => self.holds_runs = false,
            Event::AgentSettled { .. } => self.settled(),
            Event::MessageStart { message: Message::Assistant(_) } => {
                self.place_waiting();
                self.streaming = Some(Streaming::default());
                self.streamed = None;
            }
            Event::MessageUpdate { assistant_message_event, .. } => {
                self.streaming.get_or_insert_default().take(assistant_message_event);
                self.streamed = None;
            }
            Event::MessageEnd { message } => self.ended(message),
            Event::ToolExecutionUpdate { tool_call_id, tool_name, partial_result, .. } => {
                let result = shown(tool_call_id, tool_name, partial_result, false);
                self.runs(ToolResult { is_partial: true, ..result });
            }
            Event::ToolExecutionEnd { tool_call_id, tool_name, result, is_error } => {
                self.runs(shown(tool_call_id, tool_name, result, *is_error));
            }
            Event::CompactionEnd { result: Some(result), .. } => {
                let role = Role::CompactionSummary;
                let item = Json::parse(&result.0).ok().map(|json| Item::of_message(role, json));
                self.add(item);
            }
            Event::CompactionEnd { error_message: Some(why), aborted: false, .. } => {
                self.notice(Level::Warning, format!("nothing was compacted: {why}"));
            }
            Event::EntryAppended { entry } => self.add(Item::of_line(&entry.0).filter(Item::is_conversation)),
            Event::Failed { error } => self.notice(Level::Error, error.clone()),
            Event::AgentEnd { .. }
            | Event::TurnStart
            | Event::TurnEnd { .. }
            | Event::MessageStart { .. }
            | Event::ToolExecutionStart { .. }
            | Event::BashExecutionUpdate { .. }
            | Event::QueueUpdate { .. }
            | Event::AutoRetryEnd { .. }
            | Event::CompactionEnd { .. }
            | Event::SessionInfoChanged { .. }
            | Event::ThinkingLevelChanged { .. }
            | Event::SummarizationRetryScheduled { .. }
            | Event::SummarizationRetryAttemptStart { .. }
            | Event::SummarizationRetryFinished
            | Event::SessionChanged { .. } => {}
        }
    }

    /// Takes a command of the user that ended: the JSON of its message. It stands where it is recorded: at once, or
    /// behind the turn that is under way.
    pub fn ran(&mut self, message: &str) {
        let item = Json::parse(message).ok().map(|json| Item::of_message(Role::BashExecution, json));
        self.waiting.extend(item);
        if !self.holds_runs {
            self.place_waiting();
        }
    }

    /// Says something that no session holds.
    pub fn notice(&mut self, level: Level, words: impl Into<String>) {
        self.add(Some(Item::Notice(level, words.into())));
    }

    fn ended(&mut self, message: &Message) {
        let item = item_of_live(message);
        match message {
            Message::Assistant(_) => {
                self.streaming = None;
                self.streamed = None;
            }
            Message::ToolResult(result) => {
                self.running.remove(&result.tool_call_id);
                self.forget_answer();
            }
            Message::User(_) => {}
        }
        self.add(item);
    }

    fn settled(&mut self) {
        (self.is_at_work, self.holds_runs) = (false, false);
        self.running.clear();
        self.streaming = None;
        self.streamed = None;
        self.forget_answer();
        self.place_waiting();
    }

    fn place_waiting(&mut self) {
        for (at, item) in std::mem::take(&mut self.waiting).into_iter().enumerate() {
            self.laid.remove(waiting_key(at));
            self.add(Some(item));
        }
    }

    fn runs(&mut self, result: ToolResult) {
        self.running.insert(result.call.clone(), Arc::new(result));
        self.forget_answer();
    }

    /// The answer whose tools run looks otherwise now.
    fn forget_answer(&mut self) {
        if let Some(group) = self.path.answer().and_then(|answer| self.path.get(answer)) {
            self.laid.remove(group.key);
        }
    }

    fn add(&mut self, item: Option<Item>) {
        let Some(item) = item else { return };
        let key = Key::Live(self.next_live);
        let number = self.next_live;
        self.next_live = self.next_live.wrapping_add(1);
        if item.shape() == ItemShape::Answer {
            // Another answer is the one whose tools run.
            self.forget_answer();
        }
        self.path.push(key, item.shape());
        self.live.insert(number, Body::of(Some(item)));
    }

    /// Where the screen stands.
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

    /// Groups, and the answer that comes in.
    fn count(&self) -> usize {
        self.path.len() + usize::from(self.streaming.is_some()) + self.waiting.len()
    }

    fn group(&self, at: usize) -> Option<Group> {
        self.path.get(at)
    }

    fn peek(&self, key: Key) -> Option<&Laid> {
        match key {
            STREAMING => self.streamed.as_deref(),
            key => self.laid.peek(key).map(Arc::as_ref),
        }
    }
}

#[cfg(test)]
mod tests;
