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
mod travel;

use std::collections::HashMap;
use std::sync::Arc;

use offshoot_agent::event::Event;
use offshoot_agent::message::Message;
use offshoot_session::entry::{Entry, Source};
use offshoot_session::error::Result;
use offshoot_session::json::Json;
use offshoot_session::kind::Role;
use offshoot_session::tree::NodeIx;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::message::{Beside, Folds, Habits, Item, Laid, Level, Look, Picture, ToolResult};
use crate::text;
use crate::theme::{Theme, Token};
use cache::Cache;
use live::Streaming;
use path::{Group, Key, Shape, shape_of};

pub use path::Path;
pub use travel::Move;

/// How many rows are kept laid out, beyond those on the screen.
pub const KEPT_ROWS: usize = 4_096;
/// How many bytes of bodies are kept, beyond those on the screen.
pub const KEPT_BYTES: usize = 4 << 20;
/// How many results of one answer are shown; the rest is told.
const MAX_RESULTS: usize = 256;

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

    /// Shows a path of a session, from its end. Everything that was shown before is forgotten.
    pub fn open(&mut self, path: Path) {
        self.path = path;
        self.live.clear();
        self.bodies.clear();
        self.laid.clear();
        self.streaming = None;
        self.streamed = None;
        self.running.clear();
        self.is_at_work = false;
        self.holds_runs = false;
        self.waiting.clear();
        self.flipped.clear();
        self.top = Place::default();
        self.is_at_end = true;
        self.moves.clear();
        self.visible.clear();
        self.focus = None;
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
                let result = live::shown(tool_call_id, tool_name, partial_result, false);
                self.runs(ToolResult { is_partial: true, ..result });
            }
            Event::ToolExecutionEnd { tool_call_id, tool_name, result, is_error } => {
                self.runs(live::shown(tool_call_id, tool_name, result, *is_error));
            }
            Event::CompactionEnd { result: Some(result), .. } => {
                let role = Role::CompactionSummary;
                let item = Json::parse(&result.0).ok().and_then(|json| Item::of_message(role, json));
                self.add(item);
            }
            Event::CompactionEnd { error_message: Some(why), aborted: false, .. } => {
                self.notice(Level::Warning, format!("nothing was compacted: {why}"));
            }
            Event::EntryAppended { entry } => self.add(Item::of_line(&entry.0)),
            Event::Failed { error } => self.notice(Level::Error, error.clone()),
            Event::AgentEnd { .. }
            | Event::TurnStart
            | Event::TurnEnd { .. }
            | Event::MessageStart { .. }
            | Event::ToolExecutionStart { .. }
            | Event::QueueUpdate { .. }
            | Event::AutoRetryEnd { .. }
            | Event::CompactionEnd { .. }
            | Event::SessionInfoChanged { .. }
            | Event::ThinkingLevelChanged { .. }
            | Event::SessionChanged { .. } => {}
        }
    }

    /// Takes a command of the user that ended: the JSON of its message. It stands where it is recorded: at once, or
    /// behind the turn that is under way.
    pub fn ran(&mut self, message: &str) {
        let item = Json::parse(message).ok().and_then(|json| Item::of_message(Role::BashExecution, json));
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
        let item = Item::of_live(message);
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
        if shape_of(&item) == Shape::Answer {
            // Another answer is the one whose tools run.
            self.forget_answer();
        }
        self.path.push(key, shape_of(&item));
        self.live.insert(number, Body::of(Some(item)));
    }

    /// Takes bodies that [`Transcript::lay_out`] asked for.
    pub fn supply(&mut self, entries: impl IntoIterator<Item = Entry>) {
        for entry in entries {
            self.bodies.put(entry.ix, Body::of(Item::of_entry(&entry)), entry.line().len() + 64);
        }
    }

    /// Lays out what is on a screen of this size, after what was moved. Returns the entries whose bodies it lacks, at
    /// most as many as are on the screen: supply them, and lay out again.
    pub fn lay_out(&mut self, theme: &Theme, width: u16, height: u16) -> Vec<NodeIx> {
        if self.theme != *theme || self.width != usize::from(width) {
            self.theme = theme.clone();
            self.width = usize::from(width);
            self.laid.clear();
            self.streamed = None;
        }
        self.height = usize::from(height);
        self.bodies.frame();
        self.laid.frame();
        self.wanted.clear();
        self.travel();
        self.show();
        std::mem::take(&mut self.wanted)
    }

    /// Lays out and reads what that takes.
    ///
    /// # Errors
    /// The session cannot be read. What could be read is shown.
    pub fn fill(&mut self, source: &dyn Source, theme: &Theme, width: u16, height: u16) -> Result<()> {
        loop {
            let wanted = self.lay_out(theme, width, height);
            if wanted.is_empty() {
                return Ok(());
            }
            for ix in wanted {
                let entry = source.entry(ix)?;
                self.supply([entry]);
            }
        }
    }

    /// Draws what was laid out.
    pub fn view(&self, theme: &Theme, area: Rect, buf: &mut Buffer) {
        let mut y = area.y;
        for slice in &self.visible {
            let laid = self.peek(slice.key);
            for row in slice.at.row..slice.at.row + slice.rows {
                if y >= area.bottom() {
                    return;
                }
                let line_area = Rect { y, height: 1, ..area };
                match laid.and_then(|laid| laid.lines.get(row)) {
                    Some(line) => text::draw(line, line_area, buf),
                    // Its body is still to come.
                    None if row == 1 => text::draw(&Line::styled("  …", theme.style(Token::Muted)), line_area, buf),
                    None => {}
                }
                if self.is_focused(slice.key, laid, row) {
                    buf.set_style(line_area, theme.style(Token::SelectedBg));
                }
                y += 1;
            }
        }
    }

    /// The pictures whose whole place is on the screen, and where in the area.
    pub fn pictures(&self, area: Rect) -> Vec<(Rect, Arc<Picture>)> {
        let mut found = Vec::new();
        let mut y = usize::from(area.y);
        for slice in &self.visible {
            for placed in self.peek(slice.key).into_iter().flat_map(|laid| &laid.pictures) {
                let rows = placed.row..placed.row + usize::from(placed.size.1);
                if rows.start >= slice.at.row && rows.end <= slice.at.row + slice.rows {
                    let y = u16::try_from(y + rows.start - slice.at.row).unwrap_or(u16::MAX);
                    let place = Rect { x: area.x + placed.column, y, width: placed.size.0, height: placed.size.1 };
                    found.push((place.intersection(area), placed.picture.clone()));
                }
            }
            y += slice.rows;
        }
        found
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

    /// The rows of a group, if all bodies are there; what lacks is noted.
    fn rows_of(&mut self, at: usize) -> Option<(Key, Arc<Laid>)> {
        let Some(group) = self.group(at) else { return self.beyond(at - self.path.len().min(at)) };
        if let Some(laid) = self.laid.get(group.key) {
            return Some((group.key, laid.clone()));
        }
        let body = self.body(group.key);
        let keys = self.path.results(&group);
        let shown: Vec<Key> = keys.iter().take(MAX_RESULTS).copied().collect();
        let hidden = keys.len() - shown.len();
        let bodies: Vec<_> = shown.into_iter().map(|key| self.body(key)).collect();
        let body = body?;
        let mut results: Vec<Arc<ToolResult>> = Vec::with_capacity(bodies.len());
        for body in bodies {
            if let Body::Result(result) = body? {
                results.push(result);
            }
        }
        let is_live = self.is_at_work && self.path.answer() == Some(at);
        if is_live {
            let new = self.running.values().filter(|new| results.iter().all(|known| known.call != new.call));
            let new: Vec<_> = new.cloned().collect();
            results.extend(new);
        }
        let mut laid = self.laid_out(group.key, &body, &results, is_live);
        if hidden > 0 {
            let told = format!("  … {hidden} more results are not shown");
            laid.lines.push(Line::styled(told, self.theme.style(Token::Muted)));
        }
        let laid = Arc::new(laid);
        self.laid.put(group.key, laid.clone(), laid.lines.len() + 1);
        Some((group.key, laid))
    }

    fn laid_out(&self, key: Key, body: &Body, results: &[Arc<ToolResult>], is_live: bool) -> Laid {
        let look = Look { theme: &self.theme, width: self.width, habits: &self.habits };
        let beside = Beside { results, is_live, texts: None };
        match body {
            Body::Item(item) => item.rows(&look, self.folds(key), beside),
            Body::Result(result) => Item::Result(result.as_ref().clone()).rows(&look, self.folds(key), beside),
            Body::Nothing => Laid::default(),
        }
    }

    fn folds(&self, key: Key) -> Folds<'_> {
        let other = self.flipped.get(&key).map(Vec::as_slice).unwrap_or_default();
        Folds { thinking: self.thinking, tools: self.tools, other }
    }

    /// The rows of what has no group yet: the answer that comes in, and commands of the user behind it.
    fn beyond(&mut self, at: usize) -> Option<(Key, Arc<Laid>)> {
        if at == 0 && self.streaming.is_some() {
            return self.streaming_rows();
        }
        let number = at - usize::from(self.streaming.is_some());
        let key = waiting_key(number);
        if let Some(laid) = self.laid.get(key) {
            return Some((key, laid.clone()));
        }
        let look = Look { theme: &self.theme, width: self.width, habits: &self.habits };
        let laid = Arc::new(self.waiting.get(number)?.rows(&look, self.folds(key), Beside::default()));
        self.laid.put(key, laid.clone(), laid.lines.len() + 1);
        Some((key, laid))
    }

    fn streaming_rows(&mut self) -> Option<(Key, Arc<Laid>)> {
        if let Some(laid) = &self.streamed {
            return Some((STREAMING, laid.clone()));
        }
        let mut streaming = self.streaming.take()?;
        let look = Look { theme: &self.theme, width: self.width, habits: &self.habits };
        let texts = streaming.rows(&look.sheet());
        let item = Item::Answer(std::mem::take(&mut streaming.answer));
        let beside = Beside { results: &[], is_live: true, texts: Some(&texts) };
        let laid = Arc::new(item.rows(&look, self.folds(STREAMING), beside));
        if let Item::Answer(answer) = item {
            streaming.answer = answer;
        }
        self.streaming = Some(streaming);
        self.streamed = Some(laid.clone());
        Some((STREAMING, laid))
    }

    fn body(&mut self, key: Key) -> Option<Body> {
        match key {
            Key::Live(number) => self.live.get(&number).cloned(),
            Key::Entry(ix) => {
                let body = self.bodies.get(ix).cloned();
                if body.is_none() {
                    self.wanted.push(ix);
                }
                body
            }
        }
    }

    fn is_focused(&self, key: Key, laid: Option<&Laid>, row: usize) -> bool {
        let Some((focused, part)) = self.focus.filter(|(focused, _)| *focused == key) else { return false };
        let starts = laid.map(|laid| laid.folds.as_slice()).unwrap_or_default();
        focused == key && starts.iter().any(|(start, own)| *own == part && *start == row)
    }

    /// Opens or closes these parts of all items.
    pub fn fold_all(&mut self, parts: Parts) {
        match parts {
            Parts::Thinking => self.thinking = !self.thinking,
            Parts::Tools => self.tools = !self.tools,
        }
        self.flipped.clear();
        self.laid.clear();
        self.streamed = None;
    }

    /// Whether these parts of all items are open.
    #[must_use]
    pub fn is_open(&self, parts: Parts) -> bool {
        match parts {
            Parts::Thinking => self.thinking,
            Parts::Tools => self.tools,
        }
    }

    /// Opens or closes one part.
    fn flip(&mut self, key: Key, part: usize) {
        let flipped = self.flipped.entry(key).or_default();
        match flipped.iter().position(|known| *known == part) {
            Some(at) => drop(flipped.swap_remove(at)),
            None => flipped.push(part),
        }
        self.laid.remove(key);
        self.streamed = None;
    }

    /// Opens or closes the part that has the focus; whether there is one.
    pub fn toggle(&mut self) -> bool {
        let focus = self.focus;
        if let Some((key, part)) = focus {
            self.flip(key, part);
        }
        focus.is_some()
    }

    /// Opens or closes the part that a row of the screen belongs to; whether there is one.
    pub fn toggle_at(&mut self, row: u16) -> bool {
        let mut y = usize::from(row);
        for slice in self.visible.clone() {
            if y >= slice.rows {
                y -= slice.rows;
                continue;
            }
            let row = slice.at.row + y;
            let starts = self.peek(slice.key).map(|laid| laid.folds.clone()).unwrap_or_default();
            let part = starts.iter().rev().find(|(start, _)| *start <= row).map(|(_, part)| *part);
            if let Some(part) = part {
                self.flip(slice.key, part);
            }
            return part.is_some();
        }
        false
    }

    /// Gives the focus to the next part on the screen that opens and closes, or to the one before.
    pub fn focus(&mut self, is_forward: bool) {
        let mut parts = Vec::new();
        for slice in &self.visible {
            let rows = slice.at.row..slice.at.row + slice.rows;
            let folds = self.peek(slice.key).map(|laid| laid.folds.as_slice()).unwrap_or_default();
            parts.extend(folds.iter().filter(|(row, _)| rows.contains(row)).map(|(_, part)| (slice.key, *part)));
        }
        let at = self.focus.and_then(|focus| parts.iter().position(|part| *part == focus));
        let next = match (at, is_forward) {
            (Some(at), true) => parts.get(at + 1).or(parts.first()),
            (Some(at), false) => at.checked_sub(1).and_then(|at| parts.get(at)).or(parts.last()),
            (None, true) => parts.first(),
            (None, false) => parts.last(),
        };
        self.focus = next.copied();
    }

    /// Takes the focus away.
    pub fn unfocus(&mut self) {
        self.focus = None;
    }
}

#[cfg(test)]
mod tests;
