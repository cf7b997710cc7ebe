//! What goes on in the conversation, from the agent's events: things that may still change, and when each is finished.
//! Finished things belong to the terminal and change no more. Knows no screen.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use offshoot_agent::event::{Event, Raw, Reason};
use offshoot_agent::message::Message;
use offshoot_session::json::Json;
use offshoot_session::kind::Role;
use ratatui::text::Line;

use crate::message::{Beside, Folds, Item, Level, Look, Part, ToolResult, error_words};
use crate::transcript::{Streaming, shown};

/// How many finished things are kept to draw the screen anew.
const KEPT: usize = 200;

/// A thing of the conversation with what belongs to it.
#[derive(Debug, Clone)]
pub struct Block {
    /// The thing.
    pub item: Item,
    /// What the tools that it calls gave back.
    pub results: Vec<Arc<ToolResult>>,
}

impl Block {
    /// A thing by itself.
    #[must_use]
    pub fn new(item: Item) -> Self {
        Self { item, results: Vec::new() }
    }

    /// A few words for the user.
    #[must_use]
    pub fn notice(level: Level, text: impl Into<String>) -> Self {
        Self::new(Item::Notice(level, text.into()))
    }

    /// Its rows.
    #[must_use]
    pub fn rows(&self, look: &Look<'_>, folds: Folds<'_>) -> Vec<Line<'static>> {
        self.item.rows(look, folds, Beside { results: &self.results, is_live: false, texts: None }).lines
    }

    /// The calls of an answer.
    fn calls(&self) -> impl Iterator<Item = &str> {
        let parts = if let Item::Answer(answer) = &self.item { answer.parts.as_slice() } else { &[] };
        parts.iter().filter_map(|part| if let Part::Call(call) = part { Some(call.id.as_str()) } else { None })
    }

    /// The words of an answer; `None` if it has none, or is none.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        let Item::Answer(answer) = &self.item else { return None };
        let text = |part: &Part| if let Part::Text(text) = part { Some(text.clone()) } else { None };
        let words = answer.parts.iter().filter_map(text).collect::<Vec<_>>().join("\n\n");
        (!words.trim().is_empty()).then_some(words)
    }
}

/// What may still change.
#[derive(Debug, Default)]
pub struct Live {
    streaming: Option<Streaming>,
    /// An answer whose tools are at work.
    open: Option<Block>,
    /// Results of its tools, by call.
    running: HashMap<String, Arc<ToolResult>>,
    /// What else is under way, in words.
    pub job: Option<String>,
    /// The command of the user that runs.
    pub bash: Option<String>,
    /// Finished things, the newest of which are not printed yet.
    pub finished: Finished,
}

impl Live {
    /// Another place is open: nothing is under way. What is finished stays.
    pub fn begin_again(&mut self) {
        *self = Self { finished: std::mem::take(&mut self.finished), ..Self::default() };
    }

    /// Takes an event.
    pub fn apply(&mut self, event: &Event) {
        match event {
            Event::MessageStart { message: Message::Assistant(_) } => {
                self.close();
                self.streaming = Some(Streaming::default());
            }
            Event::MessageUpdate { assistant_message_event, .. } => {
                self.streaming.get_or_insert_default().take(assistant_message_event);
            }
            Event::MessageEnd { message } => self.ended(message),
            Event::ToolExecutionUpdate { tool_call_id, tool_name, partial_result, .. } => {
                let result = shown(tool_call_id, tool_name, partial_result, false);
                self.result(ToolResult { is_partial: true, ..result });
            }
            Event::ToolExecutionEnd { tool_call_id, tool_name, result, is_error } => {
                self.result(shown(tool_call_id, tool_name, result, *is_error));
                self.close_if_done();
            }
            Event::AgentSettled { .. } => {
                self.streaming = None;
                self.close();
            }
            Event::CompactionStart { reason } => self.job = Some(about(*reason).to_owned()),
            Event::CompactionEnd { result, error_message, aborted, .. } => {
                self.job = None;
                self.compacted(result.as_ref(), error_message.as_deref(), *aborted);
            }
            Event::EntryAppended { entry } => self.finish_item(Item::of_line(&entry.0)),
            // The answer has said why.
            Event::AutoRetryStart { attempt, max_attempts, delay_ms, .. } => {
                self.notice(Level::Warning, format!("trying again {}", after(*delay_ms, *attempt, *max_attempts)));
            }
            Event::SummarizationRetryScheduled { attempt, max_attempts, delay_ms, error_message } => {
                let (why, after) = (error_words(error_message), after(*delay_ms, *attempt, *max_attempts));
                self.notice(Level::Warning, format!("{why}; trying again {after}"));
            }
            Event::AutoRetryEnd { success: false, attempt, final_error: Some(error) } => {
                self.notice(Level::Error, format!("given up after attempt {attempt}: {}", error_words(error)));
            }
            Event::Failed { error } => self.notice(Level::Error, error.clone()),
            _ => {}
        }
    }

    fn ended(&mut self, message: &Message) {
        let Some(item) = Item::of_live(message) else { return };
        match message {
            Message::Assistant(_) => {
                self.streaming = None;
                self.running.clear();
                let block = Block::new(item);
                self.open = Some(block);
                self.close_if_done();
            }
            Message::User(_) => {
                self.close();
                self.finished.push(Block::new(item));
            }
            Message::ToolResult(_) => {
                if let Item::Result(shown) = item {
                    self.result(shown);
                    self.close_if_done();
                }
            }
        }
    }

    fn result(&mut self, result: ToolResult) {
        self.running.insert(result.call.clone(), Arc::new(result));
    }

    /// An answer is finished once all its tools are.
    fn close_if_done(&mut self) {
        let is_done = |call: &str| self.running.get(call).is_some_and(|result| !result.is_partial);
        if self.open.as_ref().is_some_and(|open| open.calls().all(is_done)) {
            self.close();
        }
    }

    fn close(&mut self) {
        if let Some(mut open) = self.open.take() {
            open.results = open.calls().filter_map(|call| self.running.get(call).cloned()).collect();
            self.finished.push(open);
        }
    }

    fn compacted(&mut self, result: Option<&Raw>, why: Option<&str>, aborted: bool) {
        let item = result.and_then(|result| Item::of_message(Role::CompactionSummary, Json::parse(&result.0).ok()?));
        self.finish_item(item);
        match (result, why, aborted) {
            (_, _, true) => self.notice(Level::Info, "the compaction was stopped; nothing has changed"),
            (Some(_), Some(why), _) => {
                self.notice(Level::Warning, format!("the summary was put together without a model: {why}"));
            }
            (None, Some(why), _) => self.notice(Level::Warning, format!("nothing was compacted: {why}")),
            (_, None, _) => {}
        }
    }

    /// Adds a finished thing.
    pub fn finish_item(&mut self, item: Option<Item>) {
        if let Some(item) = item {
            self.finished.push(Block::new(item));
        }
    }

    /// Adds a few words for the user.
    pub fn notice(&mut self, level: Level, text: impl Into<String>) {
        self.finished.push(Block::notice(level, text));
    }

    /// The rows of what may still change.
    pub fn rows(&mut self, look: &Look<'_>, folds: Folds<'_>) -> Vec<Line<'static>> {
        let mut rows = Vec::new();
        if let Some(open) = &self.open {
            let results: Vec<_> = self.running.values().cloned().collect();
            let beside = Beside { results: &results, is_live: true, texts: None };
            rows.extend(open.item.rows(look, folds, beside).lines);
        }
        if let Some(streaming) = &mut self.streaming {
            let texts = streaming.rows(&look.sheet());
            let item = Item::Answer(std::mem::take(&mut streaming.answer));
            let beside = Beside { results: &[], is_live: true, texts: Some(&texts) };
            rows.extend(item.rows(look, folds, beside).lines);
            if let Item::Answer(answer) = item {
                streaming.answer = answer;
            }
        }
        rows
    }
}

/// When something is tried again, and how often still.
fn after(delay_ms: u64, attempt: u32, most: u32) -> String {
    format!("in {} s ({attempt} of {most})", delay_ms.div_ceil(1000))
}

fn about(reason: Reason) -> &'static str {
    match reason {
        Reason::Manual => "summarising",
        Reason::Threshold => "summarising: the context is nearly full",
        Reason::Overflow => "summarising: the context is full",
    }
}

/// Things that are finished; the newest wait to be printed.
#[derive(Debug, Clone, Default)]
pub struct Finished {
    blocks: VecDeque<Block>,
    unprinted: usize,
}

impl Finished {
    /// Adds one.
    pub fn push(&mut self, block: Block) {
        self.blocks.push_back(block);
        self.unprinted += 1;
        while self.blocks.len() > KEPT.max(self.unprinted) {
            self.blocks.pop_front();
        }
    }

    /// Those that wait to be printed; they are taken as printed from now on.
    pub fn take(&mut self) -> Vec<Block> {
        let from = self.blocks.len().saturating_sub(std::mem::take(&mut self.unprinted));
        self.blocks.iter().skip(from).cloned().collect()
    }

    /// All, oldest first.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &Block> {
        self.blocks.iter()
    }

    /// Those that have been printed, oldest first.
    pub fn printed(&self) -> impl DoubleEndedIterator<Item = &Block> {
        self.blocks.iter().take(self.blocks.len().saturating_sub(self.unprinted))
    }
}
