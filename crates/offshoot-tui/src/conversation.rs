//! The open conversation: finished blocks and the work under way, built from agent events and replies. The main screen
//! prints it, and the pager shows it after the path. This module has no layout and no file access.
//!
//! Finished blocks are numbered and never change. The work under way comes after them: the streaming answer, the items
//! that wait for its end, and the user's running command.

mod block;
mod answer;
mod shell;
mod notices;

use std::collections::VecDeque;
use std::sync::Arc;

use offshoot_protocol::message::Message;
use offshoot_protocol::{BashResult, CompactionResult, Event};
use offshoot_session::clock::Millis;
use offshoot_session::json::Json;
use offshoot_session::kind::{Kind, Role};

pub(crate) use answer::{AnswerProgress, LiveAnswer};
pub use block::ConversationBlock;
pub(crate) use notices::without_model;
use notices::{EndedRetries, compaction_end_words, compaction_words, name_words, notice_words};
use shell::RunningShell;

use crate::message::{MessageTime, item_of_live};
use offshoot_session::transcript::{Answer, End, Item, ItemPart, ItemShape, Level, ToolResult, error_words};

/// The minimum number of finished blocks to keep.
const KEPT: usize = 200;

/// The conversation of the open session. It starts with the session's last blocks.
#[derive(Debug, Default)]
pub struct Conversation {
    finished: VecDeque<FinishedBlock>,
    /// The number of the oldest kept block.
    oldest: u64,
    answer: Option<LiveAnswer>,
    /// The last answer, if it is only an error. It is asked for again, perhaps, and then the next one takes its place.
    failed: Option<FinishedBlock>,
    /// Retries that have ended without an answer. The next event says whether they were stopped.
    ended_retries: Option<EndedRetries>,
    answers: u64,
    /// Session items after the answer that is under way, and commands that are recorded later.
    waiting: Vec<WaitingItem>,
    /// Whether the user's command is recorded after the work under way, instead of at once.
    holds_runs: bool,
    job: Option<JobUnderWay>,
    arrival: Arrival,
    shell: Option<RunningShell>,
    place: ConversationPlace,
    entries: usize,
    version: u64,
    now: Millis,
    /// When the last prompt or answer was recorded.
    last_message: Option<Millis>,
}

/// An opened place in a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ConversationPlace {
    number: u64,
    /// The number of the first block that finished at this place.
    first: u64,
}

/// How much of a move in the tree has come: its place, its answer, or nothing yet.
#[derive(Debug, Default)]
enum Arrival {
    #[default]
    None,
    Opened,
    Answered(Vec<(Level, String)>),
}

/// A block that no longer changes.
#[derive(Debug)]
pub(crate) struct FinishedBlock {
    pub(crate) block: Arc<ConversationBlock>,
    /// The streaming progress, if the block is a streamed answer.
    pub(crate) progress: Option<AnswerProgress>,
    /// The number of shown entries before this block in the session, if the block is recorded.
    entries_before: Option<usize>,
}

impl FinishedBlock {
    fn is_only_an_error(&self) -> bool {
        let is_error =
            matches!(&self.block.item, Item::Answer(Answer { parts, end: End::Error(_), .. }) if parts.is_empty());
        // Words that have been shown are not taken back.
        is_error && self.progress.as_ref().is_some_and(|progress| progress.replaced.is_empty())
    }
}

#[derive(Debug)]
struct WaitingItem {
    item: Item,
    /// See [`FinishedBlock::entries_before`]. `None` means that the item is recorded later.
    entries_before: Option<usize>,
}

/// An item that may still change.
#[derive(Debug)]
pub(crate) enum UnderWay<'a> {
    Answer(&'a LiveAnswer),
    Item(&'a Item),
}

/// A job beside the agent's turns, such as a compaction.
#[derive(Debug)]
struct JobUnderWay {
    what: String,
    /// Of its summary, so far.
    tokens: u64,
    /// Why its last request failed, which is sent again.
    trouble: Option<Item>,
}

impl Conversation {
    /// Sets the time of the messages that come next.
    pub fn set_now(&mut self, now: Millis) {
        self.now = now;
    }

    pub fn apply(&mut self, event: &Event) {
        self.version += 1;
        let retries = self.ended_retries.take().map(|ended| ended.words(event));
        retries.into_iter().for_each(|(level, text)| self.notice(level, text));
        match event {
            Event::AgentStart => self.holds_runs = true,
            Event::AgentSettled { .. } => {
                self.close_answer();
                self.keep_failed();
                self.job = None;
                self.holds_runs = false;
                self.place_waiting();
            }
            Event::MessageStart { message: Message::Assistant(message) } => {
                self.close_answer();
                self.place_waiting();
                self.begin_answer().model.clone_from(&message.model);
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
            // Without a running command, the output belongs to a session that was left.
            Event::BashExecutionUpdate { delta, omitted } => {
                self.shell.iter_mut().for_each(|shell| shell.print(delta, *omitted));
            }
            Event::CompactionStart { reason } => {
                self.holds_runs = true;
                self.set_job(Some(compaction_words(*reason)));
            }
            Event::CompactionEnd { result, error_message, aborted, .. } => {
                self.job = None;
                self.end_compaction(result.as_deref(), error_message.as_deref(), *aborted);
            }
            Event::EntryAppended { entry } => self.append_entry(&entry.0),
            Event::SummarizationUpdate { tokens } => self.job.iter_mut().for_each(|job| job.tokens = *tokens),
            // The failed answer says why, and the front end when it is asked for again.
            Event::AutoRetryStart { .. } => self.holds_runs = false,
            Event::AutoRetryEnd { success: true, .. } => self.failed = None,
            Event::SummarizationRetryScheduled { error_message, .. } => {
                let trouble = Item::Notice(Level::Warning, error_words(error_message).into_owned());
                self.job.iter_mut().for_each(|job| job.trouble = Some(trouble.clone()));
            }
            Event::AutoRetryEnd { success: false, attempt, final_error: Some(error) } => {
                self.keep_failed();
                self.ended_retries = Some(EndedRetries { attempt: *attempt, error: error.clone() });
            }
            Event::AgentEnd { will_retry: false, .. } => self.keep_failed(),
            Event::SessionInfoChanged { name } => self.notice(Level::Info, name_words(name.as_deref())),
            Event::Failed { error } => self.notice(Level::Error, error.clone()),
            Event::Notice { code, message, entry_id } => {
                self.notice(Level::Info, notice_words(code.as_str(), message, entry_id.as_deref()));
            }
            Event::AgentEnd { .. }
            | Event::TurnStart
            | Event::TurnEnd { .. }
            | Event::MessageStart { message: Message::User(_) | Message::ToolResult(_) | Message::Custom(_) }
            | Event::SystemStart { .. }
            | Event::SystemEnd { .. }
            | Event::ToolExecutionStart { .. }
            | Event::QueueUpdate { .. }
            | Event::AutoRetryEnd { .. }
            | Event::ThinkingLevelChanged { .. }
            | Event::ApprovalModeChanged { .. }
            | Event::SummarizationRetryAttemptStart { .. }
            | Event::SummarizationRetryFinished
            | Event::ApprovalRequest { .. }
            | Event::ApprovalEnd { .. }
            | Event::QuestionRequest { .. }
            | Event::QuestionEnd { .. }
            | Event::ChildStart { .. }
            | Event::ChildUpdate { .. }
            | Event::ChildEnd { .. }
            | Event::BackgroundCommands { .. }
            | Event::SessionShutdown { .. }
            | Event::SessionChanged { .. } => {}
        }
    }

    /// Adds the user's shell command, which has ended.
    pub fn shell_ended(&mut self, ran: &BashResult) {
        self.version += 1;
        self.shell = None;
        let item = item_of(Role::BashExecution, &ran.to_json());
        self.waiting.extend(item.map(|item| WaitingItem { item, entries_before: None }));
        if !self.holds_runs {
            self.place_waiting();
        }
    }

    /// The summary for a move was stopped.
    pub fn stopped(&mut self) {
        self.arrival = Arrival::None;
        self.notice(Level::Info, "the summary was stopped; nothing has changed");
    }

    /// Adds the notices of a move after the blocks of its target, in whichever order both arrive.
    pub fn move_ended(&mut self, notices: Vec<(Level, String)>) {
        match std::mem::take(&mut self.arrival) {
            Arrival::None => self.arrival = Arrival::Answered(notices),
            Arrival::Opened | Arrival::Answered(_) => {
                notices.into_iter().for_each(|(level, text)| self.notice(level, text));
            }
        }
    }

    /// Leaves the open place: drops the work under way and keeps finished blocks.
    pub fn leave_place(&mut self) {
        let place = ConversationPlace { number: self.place.number + 1, first: self.next_number() };
        let finished = std::mem::take(&mut self.finished);
        let (oldest, answers, version) = (self.oldest, self.answers, self.version + 1);
        let (job, arrival, now) = (self.job.take(), std::mem::take(&mut self.arrival), self.now);
        *self = Self { finished, oldest, answers, version, place, job, arrival, now, ..Self::default() };
    }

    /// Adds the last blocks of the opened place. `entries` is the number of entries that its path shows.
    pub fn open_place(&mut self, tail: Vec<ConversationBlock>, entries: usize) {
        tail.into_iter().for_each(|block| self.push(block, None));
        self.place.first = self.next_number();
        self.entries = entries;
    }

    /// A move in the tree has led to the opened place.
    pub fn arrive(&mut self) {
        match std::mem::take(&mut self.arrival) {
            Arrival::Answered(notices) => notices.into_iter().for_each(|(level, text)| self.notice(level, text)),
            Arrival::None | Arrival::Opened => self.arrival = Arrival::Opened,
        }
    }

    /// Adds a notice for the user.
    pub fn notice(&mut self, level: Level, text: impl Into<String>) {
        self.push(ConversationBlock::new(Item::Notice(level, text.into())), None);
    }

    /// Starts the user's command, unless one is running.
    pub fn start_shell(&mut self, command: &str, is_private: bool) {
        self.version += 1;
        self.shell.get_or_insert_with(|| RunningShell::new(command, is_private));
    }

    /// Drops the user's running command.
    pub fn drop_shell(&mut self) {
        self.version += 1;
        self.shell = None;
    }

    /// Whether the user's command is running.
    #[must_use]
    pub fn has_shell(&self) -> bool {
        self.shell.is_some()
    }

    /// The description of another running job, such as a compaction.
    #[must_use]
    pub fn job(&self) -> Option<&str> {
        self.job.as_ref().map(|job| job.what.as_str())
    }

    /// The tokens of the job's summary so far.
    pub(crate) fn job_tokens(&self) -> Option<u64> {
        self.job.as_ref().map(|job| job.tokens)
    }

    /// Sets or clears the running job.
    pub fn set_job(&mut self, job: Option<&str>) {
        self.job = job.map(|what| JobUnderWay { what: what.to_owned(), tokens: 0, trouble: None });
    }

    /// Whether there are no finished blocks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.finished.is_empty()
    }

    /// Finished blocks, oldest first. The oldest blocks of a long conversation are dropped.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = &ConversationBlock> {
        self.finished.iter().map(|finished| finished.block.as_ref())
    }

    pub(crate) fn finished_from(&self, number: u64) -> impl Iterator<Item = (u64, &FinishedBlock)> {
        let skipped = usize::try_from(number.saturating_sub(self.oldest)).unwrap_or(usize::MAX);
        (self.oldest..).zip(&self.finished).skip(skipped)
    }

    /// The answer that is streaming, or that waits for its tools.
    pub(crate) fn answer(&self) -> Option<&LiveAnswer> {
        self.answer.as_ref()
    }

    /// Everything that may still change, in order.
    pub(crate) fn under_way(&self) -> impl Iterator<Item = UnderWay<'_>> {
        let failed =
            self.failed.iter().filter(|_| self.answer.is_none()).map(|failed| UnderWay::Item(&failed.block.item));
        let answer = self.answer.iter().map(UnderWay::Answer);
        let waiting = self.waiting.iter().map(|waiting| UnderWay::Item(&waiting.item));
        let trouble = self.job.iter().filter_map(|job| Some(UnderWay::Item(job.trouble.as_ref()?)));
        failed
            .chain(answer)
            .chain(waiting)
            .chain(trouble)
            .chain(self.shell.iter().map(|shell| UnderWay::Item(shell.item())))
    }

    /// A counter of changes.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// The number of the open place.
    pub(crate) fn place_number(&self) -> u64 {
        self.place.number
    }

    /// Where the blocks of the open place continue its path: the number of shown path entries before them, and the
    /// number of the first block. Dropped blocks count among these entries.
    pub(crate) fn joint(&self) -> (usize, u64) {
        let first = self.place.first.max(self.oldest);
        let kept = self.finished_from(first).find_map(|(_, finished)| finished.entries_before);
        let kept = kept.or_else(|| self.failed.as_ref()?.entries_before);
        let answer = || self.answer.as_ref().and_then(|answer| answer.entries_before);
        let waiting = || self.waiting.iter().find_map(|waiting| waiting.entries_before);
        (kept.or_else(answer).or_else(waiting).unwrap_or(self.entries), first)
    }

    /// Drops blocks before this number, but keeps at least `KEPT` blocks.
    pub(crate) fn forget(&mut self, before: u64) {
        while self.finished.len() > KEPT && self.oldest < before {
            self.finished.pop_front();
            self.oldest += 1;
        }
    }

    pub(crate) fn next_number(&self) -> u64 {
        self.oldest + self.finished.len() as u64
    }

    fn push(&mut self, mut block: ConversationBlock, entries_before: Option<usize>) {
        self.version += 1;
        if let Some(time) = &mut block.time {
            time.before = self.last_message.replace(time.at);
        }
        self.finished.push_back(FinishedBlock { block: Arc::new(block), progress: None, entries_before });
    }

    /// Counts a recorded entry and returns the number of entries before it.
    fn count_entry(&mut self) -> Option<usize> {
        self.entries += 1;
        Some(self.entries - 1)
    }

    /// The answer under way. Begins a new one if there is none or the last one is complete.
    fn begin_answer(&mut self) -> &mut LiveAnswer {
        if self.answer.as_ref().is_some_and(LiveAnswer::is_complete) {
            self.close_answer();
        }
        let time = MessageTime { at: self.now, before: self.last_message };
        let answers = &mut self.answers;
        self.answer.get_or_insert_with(|| {
            *answers += 1;
            LiveAnswer::new(*answers, time)
        })
    }

    fn end_message(&mut self, message: &Message) {
        let entries_before = self.count_entry();
        match item_of_live(message) {
            Some(Item::Answer(answer)) => {
                let now = self.now;
                let live = self.begin_answer();
                live.complete(answer, now);
                live.entries_before = entries_before;
                self.close_answer_if_done();
            }
            Some(Item::Result(result)) => {
                if let Some(orphan) = self.take_result(result) {
                    self.push(ConversationBlock::new(Item::Result(orphan)), entries_before);
                }
            }
            // A message of an extension that is not for people.
            Some(Item::System { .. }) | None => {}
            Some(item) => {
                self.close_answer();
                self.push(ConversationBlock::timed(item, Some(self.now)), entries_before);
            }
        }
    }

    /// Attaches a result to the answer that made the call. Returns the result if no answer made the call.
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

    /// Closes the answer once all its tools have finished.
    fn close_answer_if_done(&mut self) {
        if self.answer.as_ref().is_some_and(LiveAnswer::is_done) {
            self.close_answer();
        }
    }

    /// Finishes the answer, or drops it if it is incomplete.
    fn close_answer(&mut self) {
        let Some(answer) = self.answer.take_if(|answer| answer.is_complete()) else {
            self.answer = None;
            return;
        };
        let entries_before = answer.entries_before;
        let (block, progress) = answer.finish();
        let block = FinishedBlock { block: Arc::new(block), progress: Some(progress), entries_before };
        self.failed = None;
        self.last_message = block.block.time.map(|time| time.at).or(self.last_message);
        if block.is_only_an_error() { self.failed = Some(block) } else { self.finished.push_back(block) }
    }

    /// The failed answer is not asked for again.
    fn keep_failed(&mut self) {
        self.version += 1;
        self.finished.extend(self.failed.take());
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
        let words = compaction_end_words(result, why, aborted);
        words.into_iter().for_each(|(level, text)| self.notice(level, text));
    }

    /// Adds an entry that is not a message. An extension entry counts even if it shows no text.
    fn append_entry(&mut self, line: &str) {
        let kind = Json::parse(line).ok().and_then(|json| Some(Kind::from_word(json.str("type")?.as_bytes())));
        let shape = kind.and_then(|kind| ItemShape::of(kind, None)).filter(|shape| *shape != ItemShape::System);
        let entries_before = shape.and_then(|_| self.count_entry());
        if let Some(item) = Item::of_line(line).filter(Item::is_conversation) {
            self.add_recorded(item, entries_before);
        }
    }

    /// Adds a block that is named by its text: an extension drew its rows.
    pub(crate) fn add_note(&mut self, label: String, text: String) {
        self.version += 1;
        self.add_recorded(Item::Note { label, parts: vec![ItemPart::Text(text)] }, None);
    }

    /// Adds a recorded item. If the answer under way is complete, the item waits for the next answer or the end of the
    /// run.
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
