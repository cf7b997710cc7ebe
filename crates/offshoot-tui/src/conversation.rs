//! The conversation as it goes on: what the agent's events and replies make of it, in one place. The main screen prints
//! it, the pager reads on in it. Knows neither: no layout, no file, and nothing of what is printed.
//!
//! Finished blocks have numbers and never change. After them comes what is under way: the answer that comes in, what
//! waits for its end, the command that the user runs.

mod block;
mod answer;
mod shell;

use std::collections::VecDeque;
use std::sync::Arc;

use offshoot_agent::command::Reply;
use offshoot_agent::event::{CompactionResult, Event, Reason};
use offshoot_agent::message::Message;
use offshoot_agent::turn::Navigated;
use offshoot_session::error::Code;
use offshoot_session::json::Json;
use offshoot_session::kind::{Kind, Role};

pub(crate) use answer::{AnswerProgress, LiveAnswer};
pub use block::ConversationBlock;
use shell::RunningShell;

use crate::message::{error_words, item_of_live};
use offshoot_session::transcript::{Item, ItemShape, Level, ToolResult};

/// How many finished blocks are kept at least.
const KEPT: usize = 200;

/// The conversation of the open session, from what was said last when it was opened.
#[derive(Debug, Default)]
pub struct Conversation {
    finished: VecDeque<FinishedBlock>,
    /// The number of the oldest block that is kept.
    oldest: u64,
    answer: Option<LiveAnswer>,
    answers: u64,
    /// Items of the session after the answer that is under way, and commands that are recorded later.
    waiting: Vec<WaitingItem>,
    /// Whether a command of the user is recorded after what is under way, rather than at once.
    holds_runs: bool,
    job: Option<String>,
    shell: Option<RunningShell>,
    place: ConversationPlace,
    entries: usize,
    version: u64,
}

/// A place in a session that was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ConversationPlace {
    number: u64,
    /// The first block that finished there.
    first: u64,
}

/// A block that does not change any more.
#[derive(Debug)]
pub(crate) struct FinishedBlock {
    pub(crate) block: Arc<ConversationBlock>,
    /// How it came, if it is an answer that came in.
    pub(crate) progress: Option<AnswerProgress>,
    /// How many shown entries stand before it in the session, if it is there.
    entries_before: Option<usize>,
}

#[derive(Debug)]
struct WaitingItem {
    item: Item,
    /// As [`FinishedBlock::entries_before`]; `None`: it is recorded later.
    entries_before: Option<usize>,
}

/// Something that may still change.
#[derive(Debug)]
pub(crate) enum UnderWay<'a> {
    Answer(&'a LiveAnswer),
    Item(&'a Item),
}

impl Conversation {
    pub fn apply(&mut self, event: &Event) {
        self.version += 1;
        match event {
            Event::AgentStart => self.holds_runs = true,
            Event::AgentSettled { .. } => {
                self.close_answer();
                self.holds_runs = false;
                self.place_waiting();
            }
            Event::MessageStart { message: Message::Assistant(_) } => {
                self.close_answer();
                self.place_waiting();
                self.begin_answer();
            }
            Event::MessageUpdate { usage, assistant_message_event } => {
                self.begin_answer().update(assistant_message_event, usage.output);
            }
            Event::MessageEnd { message } => self.end_message(message),
            Event::ToolExecutionUpdate { partial_result, .. } => {
                let result = answer::tool_result(partial_result);
                self.take_result(ToolResult { is_partial: true, ..result });
            }
            Event::ToolExecutionEnd { result, .. } => {
                self.take_result(answer::tool_result(result));
            }
            // Without a command that runs, it is one of a session that was left.
            Event::BashExecutionUpdate { delta, omitted } => {
                self.shell.iter_mut().for_each(|shell| shell.print(delta, *omitted));
            }
            Event::CompactionStart { reason } => {
                self.holds_runs = true;
                self.job = Some(compaction_words(*reason).to_owned());
            }
            Event::CompactionEnd { result, error_message, aborted, .. } => {
                self.job = None;
                self.end_compaction(result.as_deref(), error_message.as_deref(), *aborted);
            }
            Event::EntryAppended { entry } => self.append_entry(&entry.0),
            // The answer has said why.
            Event::AutoRetryStart { attempt, max_attempts, delay_ms, .. } => {
                self.holds_runs = false;
                self.notice(Level::Warning, format!("next try {}", after(*delay_ms, *attempt, *max_attempts)));
            }
            Event::SummarizationRetryScheduled { attempt, max_attempts, delay_ms, error_message } => {
                let (why, after) = (error_words(error_message), after(*delay_ms, *attempt, *max_attempts));
                self.notice(Level::Warning, format!("{why}; next try {after}"));
            }
            Event::AutoRetryEnd { success: false, attempt, final_error: Some(error) } => {
                self.notice(Level::Error, format!("given up after attempt {attempt}: {}", error_words(error)));
            }
            Event::SessionInfoChanged { name: Some(name) } => self.notice(Level::Info, format!("named {name}")),
            Event::SessionInfoChanged { name: None } => self.notice(Level::Info, "the session has no name now"),
            Event::Failed { error } => self.notice(Level::Error, error.clone()),
            Event::Notice { code, message, entry_id } => {
                self.notice(Level::Info, notice_words(code, message, entry_id.as_deref()));
            }
            Event::AgentEnd { .. }
            | Event::TurnStart
            | Event::TurnEnd { .. }
            | Event::MessageStart { message: Message::User(_) | Message::ToolResult(_) }
            | Event::ToolExecutionStart { .. }
            | Event::QueueUpdate { .. }
            | Event::AutoRetryEnd { .. }
            | Event::ThinkingLevelChanged { .. }
            | Event::SummarizationRetryAttemptStart { .. }
            | Event::SummarizationRetryFinished
            | Event::SessionChanged { .. } => {}
        }
    }

    /// Takes what a command was answered.
    pub fn take_reply(&mut self, reply: &Reply) {
        self.version += 1;
        match reply {
            Reply::Ran(message) => {
                self.shell = None;
                let item = item_of(Role::BashExecution, &message.to_json());
                self.waiting.extend(item.map(|item| WaitingItem { item, entries_before: None }));
                if !self.holds_runs {
                    self.place_waiting();
                }
            }
            Reply::Navigated(Navigated { aborted, warning, .. }) => {
                self.job = None;
                match warning {
                    _ if *aborted => self.notice(Level::Info, "the summary was stopped; nothing has changed"),
                    Some(why) => self.notice(Level::Warning, without_model(why)),
                    None => {}
                }
            }
            Reply::Done
            | Reply::Settled(_)
            | Reply::Queue(..)
            | Reply::Compacted(_)
            | Reply::Session(_)
            | Reply::Thinking(_)
            | Reply::Standing(_) => {}
        }
    }

    /// Another place is open: nothing is under way. Finished blocks stay.
    pub fn leave_place(&mut self) {
        let place = ConversationPlace { number: self.place.number + 1, first: self.next_number() };
        let finished = std::mem::take(&mut self.finished);
        let (oldest, answers, version) = (self.oldest, self.answers, self.version + 1);
        *self = Self { finished, oldest, answers, version, place, ..Self::default() };
    }

    /// Takes what was said last at the place, and how many entries its path shows.
    pub fn open_place(&mut self, tail: Vec<ConversationBlock>, entries: usize) {
        tail.into_iter().for_each(|block| self.push(block, None));
        self.place.first = self.next_number();
        self.entries = entries;
    }

    /// Adds a few words for the user.
    pub fn notice(&mut self, level: Level, text: impl Into<String>) {
        self.push(ConversationBlock::new(Item::Notice(level, text.into())), None);
    }

    /// The user runs a command, unless one runs already.
    pub fn start_shell(&mut self, command: &str, is_private: bool) {
        self.version += 1;
        self.shell.get_or_insert_with(|| RunningShell::new(command, is_private));
    }

    /// The command came to nothing.
    pub fn drop_shell(&mut self) {
        self.version += 1;
        self.shell = None;
    }

    /// Whether the user runs a command.
    #[must_use]
    pub fn has_shell(&self) -> bool {
        self.shell.is_some()
    }

    /// What else is under way, in words.
    #[must_use]
    pub fn job(&self) -> Option<&str> {
        self.job.as_deref()
    }

    /// Something else is under way, or nothing any more.
    pub fn set_job(&mut self, job: Option<&str>) {
        self.job = job.map(str::to_owned);
    }

    /// Whether nothing was said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.finished.is_empty()
    }

    /// Finished blocks, oldest first; the oldest of a long conversation are forgotten.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = &ConversationBlock> {
        self.finished.iter().map(|finished| finished.block.as_ref())
    }

    pub(crate) fn finished_from(&self, number: u64) -> impl Iterator<Item = (u64, &FinishedBlock)> {
        let skipped = usize::try_from(number.saturating_sub(self.oldest)).unwrap_or(usize::MAX);
        (self.oldest..).zip(&self.finished).skip(skipped)
    }

    /// The answer that comes in, or whose tools are at work.
    pub(crate) fn answer(&self) -> Option<&LiveAnswer> {
        self.answer.as_ref()
    }

    /// Everything that may still change, in order.
    pub(crate) fn under_way(&self) -> impl Iterator<Item = UnderWay<'_>> {
        let answer = self.answer.iter().map(UnderWay::Answer);
        let waiting = self.waiting.iter().map(|waiting| UnderWay::Item(&waiting.item));
        answer.chain(waiting).chain(self.shell.iter().map(|shell| UnderWay::Item(shell.item())))
    }

    /// Another number after every change.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Which place of which session is open, as a number.
    pub(crate) fn place(&self) -> u64 {
        self.place.number
    }

    /// Where the blocks of the open place join its path in the session: how many shown entries of the path come before
    /// them, and the number of the first block. What is forgotten is among these entries.
    pub(crate) fn joint(&self) -> (usize, u64) {
        let first = self.place.first.max(self.oldest);
        let kept = self.finished_from(first).find_map(|(_, finished)| finished.entries_before);
        let answer = || self.answer.as_ref().and_then(|answer| answer.entries_before);
        let waiting = || self.waiting.iter().find_map(|waiting| waiting.entries_before);
        (kept.or_else(answer).or_else(waiting).unwrap_or(self.entries), first)
    }

    /// Forgets old blocks before this number.
    pub(crate) fn forget(&mut self, before: u64) {
        while self.finished.len() > KEPT && self.oldest < before {
            self.finished.pop_front();
            self.oldest += 1;
        }
    }

    pub(crate) fn next_number(&self) -> u64 {
        self.oldest + self.finished.len() as u64
    }

    fn push(&mut self, block: ConversationBlock, entries_before: Option<usize>) {
        self.version += 1;
        self.finished.push_back(FinishedBlock { block: Arc::new(block), progress: None, entries_before });
    }

    /// The place in the session of what was just recorded.
    fn count_entry(&mut self) -> Option<usize> {
        self.entries += 1;
        Some(self.entries - 1)
    }

    /// The answer that comes in: a new one if the last is complete.
    fn begin_answer(&mut self) -> &mut LiveAnswer {
        if self.answer.as_ref().is_some_and(LiveAnswer::is_complete) {
            self.close_answer();
        }
        let answers = &mut self.answers;
        self.answer.get_or_insert_with(|| {
            *answers += 1;
            LiveAnswer::new(*answers)
        })
    }

    fn end_message(&mut self, message: &Message) {
        let entries_before = self.count_entry();
        match item_of_live(message) {
            Some(Item::Answer(answer)) => {
                let live = self.begin_answer();
                live.complete(answer);
                live.entries_before = entries_before;
                self.close_answer_if_done();
            }
            Some(Item::Result(result)) => {
                if let Some(orphan) = self.take_result(result) {
                    self.push(ConversationBlock::new(Item::Result(orphan)), entries_before);
                }
            }
            Some(item) => {
                self.close_answer();
                self.push(ConversationBlock::new(item), entries_before);
            }
            None => {}
        }
    }

    /// Gives a result to the answer that called for it; gives it back if no answer did.
    fn take_result(&mut self, result: ToolResult) -> Option<ToolResult> {
        match &mut self.answer {
            Some(answer) if answer.has_call(&result.call) => {
                answer.put(result);
                self.close_answer_if_done();
                None
            }
            Some(_) | None => {
                let is_known = self.blocks().rev().any(|block| block.has_call(&result.call));
                (!is_known).then_some(result)
            }
        }
    }

    /// An answer is finished once all its tools are.
    fn close_answer_if_done(&mut self) {
        if self.answer.as_ref().is_some_and(LiveAnswer::is_done) {
            self.close_answer();
        }
    }

    /// The answer is finished; one that did not come to its end is none.
    fn close_answer(&mut self) {
        let Some(answer) = self.answer.take_if(|answer| answer.is_complete()) else {
            self.answer = None;
            return;
        };
        let entries_before = answer.entries_before;
        let (block, progress) = answer.finish();
        self.finished.push_back(FinishedBlock { block: Arc::new(block), progress: Some(progress), entries_before });
    }

    fn place_waiting(&mut self) {
        for WaitingItem { item, entries_before } in std::mem::take(&mut self.waiting) {
            let entries_before = entries_before.or_else(|| self.count_entry());
            self.push(ConversationBlock::new(item), entries_before);
        }
    }

    fn end_compaction(&mut self, result: Option<&CompactionResult>, why: Option<&str>, aborted: bool) {
        if let Some(item) = result.and_then(|result| item_of(Role::CompactionSummary, &result.to_json())) {
            let entries_before = self.count_entry();
            self.add_recorded(item, entries_before);
        }
        match (result, why) {
            _ if aborted => self.notice(Level::Info, "the compaction was stopped; nothing has changed"),
            (Some(_), Some(why)) => self.notice(Level::Warning, without_model(why)),
            (None, Some(why)) => self.notice(Level::Warning, format!("nothing was compacted: {why}")),
            (_, None) => {}
        }
    }

    /// An entry that is no message. One of an extension counts also if it says nothing.
    fn append_entry(&mut self, line: &str) {
        let kind = Json::parse(line).ok().and_then(|json| Some(Kind::from_word(json.str("type")?.as_bytes())));
        let shape = kind.and_then(|kind| ItemShape::of(kind, None)).filter(|shape| *shape != ItemShape::System);
        let entries_before = shape.and_then(|_| self.count_entry());
        if let Some(item) = Item::of_line(line).filter(Item::is_conversation) {
            self.add_recorded(item, entries_before);
        }
    }

    /// Adds something of the session: after the answer that is under way, if that is there already.
    fn add_recorded(&mut self, item: Item, entries_before: Option<usize>) {
        match &self.answer {
            Some(answer) if answer.is_complete() => self.waiting.push(WaitingItem { item, entries_before }),
            Some(_) | None => self.push(ConversationBlock::new(item), entries_before),
        }
    }
}

fn item_of(role: Role, message: &str) -> Option<Item> {
    Some(Item::of_message(role, Json::parse(message).ok()?))
}

fn without_model(why: &str) -> String {
    format!("the summary was put together without a model: {why}")
}

/// When something is tried again, and how often still.
fn after(delay_ms: u64, attempt: u32, most: u32) -> String {
    format!("in {} s ({attempt} of {most})", delay_ms.div_ceil(1000))
}

/// What is to be known about the session's file, with the command that goes to another program's branch.
fn notice_words(code: &str, message: &str, entry: Option<&str>) -> String {
    match entry {
        Some(entry) if [Code::Diverged, Code::UnansweredPrompt].iter().any(|known| code == known.as_str()) => {
            format!("{message}; /switch {entry} goes there")
        }
        Some(_) | None => message.to_owned(),
    }
}

fn compaction_words(reason: Reason) -> &'static str {
    match reason {
        Reason::Manual => "summarising",
        Reason::Threshold => "summarising: the context is nearly full",
        Reason::Overflow => "summarising: the context is full",
    }
}
