//! What goes on in the conversation, from the agent's events: things that may still change, and when each is finished.
//! Finished things belong to the terminal and change no more. Knows no screen.

mod answering;
mod finished;
mod shell;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use offshoot_agent::event::{Event, Raw, Reason};
use offshoot_agent::message::Message;
use offshoot_session::json::Json;
use offshoot_session::kind::Role;
use offshoot_session::transcript::{Item, Level, Part, ToolResult};
use ratatui::text::Line;

use crate::message::{Beside, Folds, Laid, Look, error_words, item_of_live};
use crate::transcript::shown;
use answering::Answering;
pub use finished::Finished;
pub use shell::Shell;

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
    pub fn rows(&self, look: &Look<'_>, folds: Folds<'_>) -> Laid {
        look.rows(&self.item, folds, Beside { results: &self.results, is_live: false, texts: None })
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
    /// The answer that comes in, or whose tools are at work.
    answer: Option<Answering>,
    /// Results of its tools, by call.
    running: HashMap<String, Arc<ToolResult>>,
    /// Whether what the user runs is recorded behind what is under way, rather than at once.
    holds_runs: bool,
    /// Commands of the user that are recorded later, and what stands in the session behind the answer that is under way.
    waiting: Vec<Item>,
    /// What else is under way, in words.
    pub job: Option<String>,
    /// The command of the user that runs.
    pub bash: Option<Shell>,
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
            Event::AgentStart => self.holds_runs = true,
            Event::MessageStart { message: Message::Assistant(_) } => {
                self.close();
                self.place_waiting();
                self.answer = Some(Answering::default());
            }
            Event::MessageUpdate { assistant_message_event, .. } => {
                self.answer.get_or_insert_default().streaming.take(assistant_message_event);
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
            Event::BashExecutionUpdate { delta, omitted } => {
                // Without a command that runs, it is one of a session that was left.
                if let Some(bash) = &mut self.bash {
                    bash.printed(delta, *omitted);
                }
            }
            Event::AgentSettled { .. } => {
                self.close();
                self.holds_runs = false;
                self.place_waiting();
            }
            Event::CompactionStart { reason } => {
                self.holds_runs = true;
                self.job = Some(about(*reason).to_owned());
            }
            Event::CompactionEnd { result, error_message, aborted, .. } => {
                self.job = None;
                self.compacted(result.as_ref(), error_message.as_deref(), *aborted);
            }
            Event::EntryAppended { entry } => self.finish_item(Item::of_line(&entry.0).filter(Item::is_conversation)),
            // The answer has said why.
            Event::AutoRetryStart { attempt, max_attempts, delay_ms, .. } => {
                self.holds_runs = false;
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
        let Some(item) = item_of_live(message) else { return };
        match item {
            Item::Answer(answer) => {
                self.running.clear();
                self.answer.get_or_insert_default().complete(answer);
                self.close_if_done();
            }
            Item::Result(shown) => {
                self.result(shown);
                self.close_if_done();
            }
            item => {
                self.close();
                self.finished.push(Block::new(item));
            }
        }
    }

    /// Takes a command of the user that ended. It stands where it is recorded: at once, or behind what is under way.
    pub fn ran(&mut self, run: Option<Item>) {
        self.waiting.extend(run);
        if !self.holds_runs {
            self.place_waiting();
        }
    }

    fn place_waiting(&mut self) {
        for item in std::mem::take(&mut self.waiting) {
            self.finished.push(Block::new(item));
        }
    }

    fn result(&mut self, result: ToolResult) {
        self.running.insert(result.call.clone(), Arc::new(result));
    }

    /// An answer is finished once all its tools are.
    fn close_if_done(&mut self) {
        if self.answer.as_ref().is_some_and(|answer| answer.is_complete && answer.open(&self.running).is_none()) {
            self.close();
        }
    }

    /// What is under way is finished; an answer that did not come to its end is none.
    fn close(&mut self) {
        let Some(answer) = self.answer.take().filter(|answer| answer.is_complete) else { return };
        let results = answer.calls().filter_map(|call| self.running.get(call).cloned()).collect();
        self.finished.push_rest(answer, results);
    }

    fn compacted(&mut self, result: Option<&Raw>, why: Option<&str>, aborted: bool) {
        let item =
            result.and_then(|result| Some(Item::of_message(Role::CompactionSummary, Json::parse(&result.0).ok()?)));
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

    /// Adds a finished thing; behind the answer that is under way, if it is one of the session.
    pub fn finish_item(&mut self, item: Option<Item>) {
        let Some(item) = item else { return };
        match &self.answer {
            Some(answer) if answer.is_complete => self.waiting.push(item),
            _ => self.finished.push(Block::new(item)),
        }
    }

    /// Adds a few words for the user.
    pub fn notice(&mut self, level: Level, text: impl Into<String>) {
        self.finished.push(Block::notice(level, text));
    }

    /// The rows of what is finished and was not printed yet: whole things, and of the answer that is under way the parts
    /// and blocks that will not change any more. They are taken as printed from now on.
    pub fn print(&mut self, look: &Look<'_>, folds: Folds<'_>) -> Laid {
        let mut laid = self.finished.print(look, folds);
        if let Some(answer) = &mut self.answer {
            laid.append(answer.print(look, folds, &self.running));
        }
        laid
    }

    /// The last things that were printed, no more than so many, what of the answer under way was, and behind them what was
    /// not yet, such as thoughts that were folded until now: to be printed anew, with another look. Says also how many of
    /// the rows were printed before.
    pub fn print_again(&mut self, look: &Look<'_>, folds: Folds<'_>, most: usize) -> (Laid, usize) {
        let mut laid = self.finished.print_again(look, folds, most);
        if let Some(answer) = &mut self.answer {
            laid.append(answer.print_again(look, folds, &self.running));
        }
        let again = laid.lines.len();
        laid.append(self.print(look, folds));
        (laid, again)
    }

    /// The rows of what may still change: the last, no more than so many. Pictures are named until they are printed.
    pub fn rows(&mut self, look: &Look<'_>, folds: Folds<'_>, most: usize) -> Vec<Line<'static>> {
        let mut rows = Vec::new();
        if let Some(answer) = &mut self.answer {
            let mut laid = answer.rest(look, folds, (&self.running, most));
            laid.name_pictures(look.theme, |_| true);
            rows.extend(laid.lines);
        }
        for item in &self.waiting {
            rows.extend(look.rows(item, folds, Beside::default()).lines);
        }
        rows.extend(self.bash.iter().flat_map(|bash| bash.rows(look, folds)));
        rows.split_off(rows.len().saturating_sub(most))
    }

    /// How many bytes of the answer under way were read as markdown.
    #[cfg(test)]
    pub(crate) fn parsed(&self) -> usize {
        self.answer.as_ref().map_or(0, |answer| answer.streaming.streams.parsed())
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
