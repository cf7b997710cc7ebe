//! The machine in every state: inputs in, effects out, in a short notation.

mod answers;
mod every;
mod endings;
mod queue;
mod retries;
mod room;
mod stops;
mod tools;

use std::sync::Arc;

use insta::assert_snapshot;
use offshoot_protocol::message::{AssistantMessage, Block, Message, StopReason, Usage, UserMessage};
use offshoot_protocol::{
    AgentError, BashResult, BashRun, CompactionResult, Event, NoticeCode, RawJson, Reason, Settled, Update,
};
use serde_json::json;

use super::*;
use crate::provider::{Answer, Delta, Failure};
use crate::tool::ToolOutcome;

struct Run {
    state: TurnState,
    said: Vec<String>,
}

impl Run {
    fn new() -> Self {
        Self::with(TurnConfig { compact_above: Some(1000), recover_overflow: true, ..TurnConfig::default() })
    }

    fn with(config: TurnConfig) -> Self {
        Self { state: TurnState::new(config), said: Vec::new() }
    }

    fn put(&mut self, input: TurnInput) -> &mut Self {
        self.said.extend(step(&mut self.state, input).iter().map(effect));
        self
    }

    /// The effects since the last call.
    fn said(&mut self) -> String {
        std::mem::take(&mut self.said).join("\n")
    }

    fn ticket(&self) -> Ticket {
        self.state.ticket
    }

    fn prompt(&mut self, text: &str) -> &mut Self {
        self.put(TurnInput::Prompt(vec![user(text)]));
        if matches!(self.state.phase, super::state::Phase::Admitting(_)) {
            self.said.retain(|said| said != "ADMIT");
            let ticket = self.ticket();
            self.put(TurnInput::Admitted { ticket, added: Vec::new(), open: None });
        }
        self
    }

    fn measured(&mut self, tokens: u64) -> &mut Self {
        let ticket = self.ticket();
        self.put(TurnInput::Measured { ticket, tokens })
    }

    fn built(&mut self, tokens: u64) -> &mut Self {
        let ticket = self.ticket();
        self.put(TurnInput::Built { ticket, tokens, blank: Box::new(answer(Vec::new(), StopReason::Pending)) })
    }

    fn delta(&mut self, delta: Delta) -> &mut Self {
        let ticket = self.ticket();
        self.put(TurnInput::Delta { ticket, delta })
    }

    fn answered(&mut self, message: AssistantMessage, failure: Option<Failure>) -> &mut Self {
        self.delta(Delta::Done(Box::new(Answer { message, failure }))).recorded()
    }

    fn recorded(&mut self) -> &mut Self {
        let ticket = self.ticket();
        self.put(TurnInput::Recorded { ticket })
    }

    fn ended(&mut self, call: usize, text: &str) -> &mut Self {
        let ticket = self.ticket();
        self.put(TurnInput::Ended { ticket, call, outcome: ToolOutcome::text(text), at: 7 })
    }

    fn planned(&mut self) -> &mut Self {
        let ticket = self.ticket();
        self.put(TurnInput::Planned { ticket })
    }

    fn trying(&mut self, trying: Trying) -> &mut Self {
        let ticket = self.ticket();
        self.put(TurnInput::Trying { ticket, trying })
    }

    /// A compaction with something to do, and a summary.
    fn summarised(&mut self) -> &mut Self {
        self.planned().drafted(JobDraft::Ready { warning: None })
    }

    fn drafted(&mut self, draft: JobDraft) -> &mut Self {
        let ticket = self.ticket();
        self.put(TurnInput::Drafted { ticket, draft })
    }

    fn committed(&mut self) -> &mut Self {
        let ticket = self.ticket();
        self.put(TurnInput::Committed { ticket, result: Ok(compacted()) })
    }

    fn closed(&mut self, continues: bool) -> &mut Self {
        let ticket = self.ticket();
        self.put(TurnInput::TurnClosed { ticket, continues })
    }

    fn may_settle(&mut self, continues: bool) -> &mut Self {
        let ticket = self.ticket();
        self.put(TurnInput::MaySettle { ticket, continues })
    }

    fn abort(&mut self) -> &mut Self {
        self.put(TurnInput::Abort { at: 9 })
    }

    fn elapsed(&mut self) -> &mut Self {
        let ticket = self.ticket();
        self.put(TurnInput::Elapsed { ticket })
    }

    fn streaming() -> Self {
        let mut run = Self::new();
        run.prompt("go").built(10);
        run.said.clear();
        run
    }

    fn working(calls: &[&str]) -> Self {
        let mut run = Self::streaming();
        run.answered(calling(calls), None);
        run.said.clear();
        run
    }
}

fn compacted() -> JobResult {
    JobResult::Compaction(Arc::new(CompactionResult {
        summary: "S".to_owned(),
        first_kept_entry_id: "e".to_owned(),
        tokens_before: 1000,
        estimated_tokens_after: 10,
        details: RawJson("{}".to_owned()),
        usage: None,
        report: RawJson("{}".to_owned()),
    }))
}

fn ran(command: &str) -> TurnInput {
    let (command, run) = (command.to_owned(), BashRun::stopped());
    TurnInput::Ran(Arc::new(BashResult { command, run, timestamp: 3, exclude_from_context: false }))
}

fn walk() -> TurnInput {
    TurnInput::Do(Job::Operation)
}

fn user(text: &str) -> Message {
    UserMessage::new(text, Vec::new(), 1).into()
}

fn answer(content: Vec<Block>, stop_reason: StopReason) -> AssistantMessage {
    AssistantMessage {
        content,
        api: "a".to_owned(),
        provider: "p".to_owned(),
        model: "m".to_owned(),
        response_id: None,
        usage: Usage { total_tokens: 100, ..Usage::default() },
        stop_reason,
        error_message: None,
        timestamp: 5,
    }
}

fn said(text: &str) -> AssistantMessage {
    answer(vec![Block::text(text)], StopReason::Stop)
}

fn calling(tools: &[&str]) -> AssistantMessage {
    let calls = tools.iter().enumerate().map(|(at, tool)| Block::call(format!("c{at}"), *tool)).collect();
    answer(calls, StopReason::ToolUse)
}

fn error(text: &str) -> AssistantMessage {
    AssistantMessage { error_message: Some(text.to_owned()), ..answer(Vec::new(), StopReason::Error) }
}

fn transient(retry_after: Option<u64>) -> Option<Failure> {
    Some(Failure {
        status: Some(529),
        is_transient: true,
        is_overflow: false,
        is_about_pictures: false,
        retry_after,
        way_round: None,
    })
}

fn overflow() -> Option<Failure> {
    Some(Failure {
        status: Some(400),
        is_transient: false,
        is_overflow: true,
        is_about_pictures: false,
        retry_after: None,
        way_round: None,
    })
}

fn message(message: &Message) -> String {
    match message {
        Message::User(message) => format!("user {:?}", message.text()),
        Message::Assistant(message) => {
            let calls = work_calls(message);
            format!(
                "assistant {:?}{calls} {:?}",
                offshoot_protocol::message::text_of(&message.content),
                message.stop_reason
            )
        }
        Message::Custom(custom) => format!("custom {:?}", custom.content.text()),
        Message::ToolResult(result) => {
            let sort = if result.is_error { "error" } else { "result" };
            format!("{sort} of {}: {:?}", result.tool_call_id, offshoot_protocol::message::text_of(&result.content))
        }
    }
}

fn work_calls(message: &AssistantMessage) -> String {
    super::work::calls(message).iter().map(|call| format!(" +{}", call.name)).collect()
}

fn event(event: &Event) -> String {
    match event {
        Event::AgentStart => "agent_start".to_owned(),
        Event::AgentEnd { messages, will_retry } => format!("agent_end {} retry={will_retry}", messages.len()),
        Event::AgentSettled { aborted } => format!("agent_settled aborted={aborted}"),
        Event::TurnStart => "turn_start".to_owned(),
        Event::TurnEnd { tool_results, .. } => format!("turn_end results={}", tool_results.len()),
        Event::MessageStart { message: said } => format!("message_start {}", message(said)),
        Event::MessageEnd { message: said } => format!("message_end {}", message(said)),
        Event::MessageUpdate { assistant_message_event: update, .. } => match update {
            Update::TextDelta { delta, .. } => format!("text_delta {delta:?}"),
            Update::TextEnd { content, .. } => format!("text_end {content:?}"),
            Update::ToolCallEnd { tool_call: Block::ToolCall { arguments, .. }, .. } => {
                format!("toolcall_end {arguments}")
            }
            other => serde_json::to_value(other).unwrap()["type"].as_str().unwrap().to_owned(),
        },
        Event::QueueUpdate { steering, follow_up } => format!("queue {steering:?} {follow_up:?}"),
        Event::AutoRetryStart { attempt, max_attempts, delay_ms, error_message } => {
            format!("auto_retry_start {attempt}/{max_attempts} {delay_ms} {error_message:?}")
        }
        Event::AutoRetryEnd { success, attempt, final_error } => {
            format!("auto_retry_end {success} {attempt} {final_error:?}")
        }
        Event::SummarizationRetryScheduled { attempt, max_attempts, delay_ms, error_message } => {
            format!("summarization_retry_scheduled {attempt}/{max_attempts} {delay_ms} {error_message:?}")
        }
        Event::SummarizationRetryAttemptStart { source, reason } => {
            format!("summarization_retry_attempt_start {source:?} {reason:?}")
        }
        Event::CompactionEnd { result, aborted, will_retry, error_message, .. } => {
            let result = result.is_some();
            format!("compaction_end result={result} aborted={aborted} retry={will_retry} {error_message:?}")
        }
        Event::Notice { code: NoticeCode::EmptyAnswer, message, .. } => format!("empty answer: {message}"),
        Event::Notice { code: code @ NoticeCode::AskLater, message, .. } => format!("notice {code} {message}"),
        other => serde_json::to_value(other).unwrap()["type"].as_str().unwrap().to_owned(),
    }
}

fn effect(effect: &Effect) -> String {
    match effect {
        Effect::Emit(told) => event(told),
        Effect::Append { records, then, .. } => {
            let record = |record: &Record| match record {
                Record::Message(said) => message(said),
                Record::Rules(names) => format!("rules {}", names.join(", ")),
                Record::Bash(result) => format!("bash {}", result.command),
            };
            let records: Vec<_> = records.iter().map(record).collect();
            let then: Vec<_> = then.iter().map(|told| event(told).split(' ').next().unwrap().to_owned()).collect();
            format!("APPEND {} => {}", records.join(", "), then.join(" "))
        }
        Effect::OmitAnswer { .. } => "OMIT the answer".to_owned(),
        Effect::TakeBackPrompt { .. } => "TAKE BACK the prompt".to_owned(),
        Effect::Measure { .. } => "MEASURE".to_owned(),
        Effect::Build { .. } => "BUILD".to_owned(),
        Effect::Send { .. } => "SEND".to_owned(),
        Effect::StopTools => "STOP TOOLS".to_owned(),
        Effect::Run { index, call, .. } => format!("RUN {index} {}", call.name),
        Effect::Wait { ms, .. } => format!("WAIT {ms}"),
        Effect::JobDraft { job: Job::Operation, .. } => "DRAFT navigation".to_owned(),
        Effect::JobDraft { job: Job::Compaction { reason, .. }, .. } => format!("DRAFT {reason:?}"),
        Effect::Commit { .. } => "COMMIT".to_owned(),
        Effect::Cancel => "CANCEL".to_owned(),
        Effect::Admit { .. } => "ADMIT".to_owned(),
        Effect::Refuse { error, .. } => format!("REFUSE {error}"),
        Effect::Settle { how: Settled::Failed(why), .. } => format!("SETTLE Failed({:?})", why.to_string()),
        Effect::Settle { how: Settled::Broken(why), .. } => format!("SETTLE Broken({:?})", why.to_string()),
        Effect::CloseTurn { .. } => "CLOSE TURN".to_owned(),
        Effect::BeforeSettle { outcome, .. } => format!("BEFORE SETTLING {}", outcome.as_str()),
        Effect::Settle { how, .. } => format!("SETTLE {how:?}"),
    }
}
