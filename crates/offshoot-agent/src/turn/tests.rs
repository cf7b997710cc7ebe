//! What the machine does in every state: inputs in, effects out, told in a few words each.

use insta::assert_snapshot;
use serde_json::json;

use super::*;
use crate::event::{Event, Raw, Reason, Update};
use crate::message::{AssistantMessage, Block, Message, StopReason, Usage, UserMessage};
use crate::provider::{Answer, Delta, Failure};
use crate::tool::Outcome;

/// A machine and what it said.
struct Run {
    state: State,
    said: Vec<String>,
}

impl Run {
    fn new() -> Self {
        Self::with(Config { compact_above: Some(1000), recover_overflow: true, ..Config::default() })
    }

    fn with(config: Config) -> Self {
        Self { state: State::new(config), said: Vec::new() }
    }

    fn put(&mut self, input: Input) -> &mut Self {
        self.said.extend(step(&mut self.state, input).iter().map(effect));
        self
    }

    /// What it said since the last time.
    fn said(&mut self) -> String {
        std::mem::take(&mut self.said).join("\n")
    }

    fn ticket(&self) -> Ticket {
        self.state.ticket
    }

    fn prompt(&mut self, text: &str) -> &mut Self {
        self.put(Input::Prompt(vec![user(text)]))
    }

    fn built(&mut self, tokens: u64) -> &mut Self {
        let ticket = self.ticket();
        self.put(Input::Built { ticket, tokens, blank: Box::new(answer(Vec::new(), StopReason::Stop)) })
    }

    fn delta(&mut self, delta: Delta) -> &mut Self {
        let ticket = self.ticket();
        self.put(Input::Delta { ticket, delta })
    }

    fn answered(&mut self, message: AssistantMessage, failure: Option<Failure>) -> &mut Self {
        self.delta(Delta::Done(Box::new(Answer { message, failure }))).recorded()
    }

    fn recorded(&mut self) -> &mut Self {
        let ticket = self.ticket();
        self.put(Input::Recorded { ticket })
    }

    fn ended(&mut self, call: usize, text: &str) -> &mut Self {
        let ticket = self.ticket();
        self.put(Input::Ended { ticket, call, outcome: Outcome::text(text), at: 7 })
    }

    fn drafted(&mut self, draft: Draft) -> &mut Self {
        let ticket = self.ticket();
        self.put(Input::Drafted { ticket, draft })
    }

    fn committed(&mut self) -> &mut Self {
        let ticket = self.ticket();
        self.put(Input::Committed { ticket, result: Raw(r#"{"summary":"S"}"#.to_owned()) })
    }

    fn abort(&mut self) -> &mut Self {
        self.put(Input::Abort { at: 9 })
    }

    fn elapsed(&mut self) -> &mut Self {
        let ticket = self.ticket();
        self.put(Input::Elapsed { ticket })
    }

    /// A run that waits for its answer.
    fn streaming() -> Self {
        let mut run = Self::new();
        run.prompt("go").built(10);
        run.said.clear();
        run
    }

    /// A run whose tools are at work.
    fn working(calls: &[&str]) -> Self {
        let mut run = Self::streaming();
        run.state.config.shared.insert("read".to_owned());
        run.answered(calling(calls), None);
        run.said.clear();
        run
    }
}

fn user(text: &str) -> UserMessage {
    UserMessage::new(text, Vec::new(), 1)
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
    Some(Failure { status: Some(529), is_transient: true, is_overflow: false, retry_after })
}

fn overflow() -> Option<Failure> {
    Some(Failure { status: Some(400), is_transient: false, is_overflow: true, retry_after: None })
}

fn message(message: &Message) -> String {
    match message {
        Message::User(message) => format!("user {:?}", message.text()),
        Message::Assistant(message) => {
            let calls = work_calls(message);
            format!("assistant {:?}{calls} {:?}", crate::message::text_of(&message.content), message.stop_reason)
        }
        Message::ToolResult(result) => {
            let sort = if result.is_error { "error" } else { "result" };
            format!("{sort} of {}: {:?}", result.tool_call_id, crate::message::text_of(&result.content))
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
        Event::CompactionEnd { result, aborted, will_retry, error_message, .. } => {
            let result = result.is_some();
            format!("compaction_end result={result} aborted={aborted} retry={will_retry} {error_message:?}")
        }
        other => serde_json::to_value(other).unwrap()["type"].as_str().unwrap().to_owned(),
    }
}

fn effect(effect: &Effect) -> String {
    match effect {
        Effect::Emit(told) => event(told),
        Effect::Append { records, then, .. } => {
            let record = |record: &Record| match record {
                Record::Message(said) => message(said),
                Record::Bash(json) => format!("bash {}", json.0),
            };
            let records: Vec<_> = records.iter().map(record).collect();
            let then: Vec<_> = then.iter().map(|told| event(told).split(' ').next().unwrap().to_owned()).collect();
            format!("APPEND {} => {}", records.join(", "), then.join(" "))
        }
        Effect::OmitAnswer => "OMIT the answer".to_owned(),
        Effect::Build { .. } => "BUILD".to_owned(),
        Effect::Send { .. } => "SEND".to_owned(),
        Effect::Run { index, call, .. } => format!("RUN {index} {}", call.name),
        Effect::Wait { ms, .. } => format!("WAIT {ms}"),
        Effect::Draft { job: Job::Navigation, .. } => "DRAFT navigation".to_owned(),
        Effect::Draft { job: Job::Compaction { reason, .. }, .. } => format!("DRAFT {reason:?}"),
        Effect::Commit { .. } => "COMMIT".to_owned(),
        Effect::Cancel => "CANCEL".to_owned(),
        Effect::Settle(how) => format!("SETTLE {how:?}"),
    }
}

#[test]
fn a_prompt_is_appended_before_its_request_is_made() {
    let mut run = Run::new();
    assert_snapshot!(run.prompt("hi").said(), @r#"
    agent_start
    turn_start
    APPEND user "hi" => message_start message_end
    BUILD
    "#);
    assert_snapshot!(run.built(10).said(), @"SEND");
    run.delta(Delta::Start).delta(Delta::TextStart { index: 0 });
    run.delta(Delta::Text { index: 0, delta: "hel".to_owned() })
        .delta(Delta::Text { index: 0, delta: "lo".to_owned() });
    run.delta(Delta::TextEnd { index: 0 });
    assert_snapshot!(run.said(), @r#"
    message_start assistant "" Stop
    text_start
    text_delta "hel"
    text_delta "lo"
    text_end "hello"
    "#);
    run.delta(Delta::Done(Box::new(Answer { message: said("hello"), failure: None })));
    assert_snapshot!(run.said(), @r#"APPEND assistant "hello" Stop => message_end"#);
    assert_snapshot!(run.recorded().said(), @"
    turn_end results=0
    agent_end 2 retry=false
    agent_settled aborted=false
    SETTLE Done
    ");
    assert!(run.state.is_idle());
}

#[test]
fn tools_run_when_their_calls_are_durable_and_alone_unless_shared() {
    let mut run = Run::streaming();
    run.state.config.shared.insert("read".to_owned());
    run.delta(Delta::Done(Box::new(Answer { message: calling(&["read", "read", "edit", "read"]), failure: None })));
    assert!(!run.said().contains("RUN"), "nothing runs before the answer is in the file");
    assert_snapshot!(run.recorded().said(), @"
    tool_execution_start
    RUN 0 read
    tool_execution_start
    RUN 1 read
    ");
    assert_snapshot!(run.ended(1, "second").said(), @"tool_execution_end");
    assert_snapshot!(run.ended(0, "first").said(), @r#"
    tool_execution_end
    APPEND result of c0: "first" => message_start message_end
    APPEND result of c1: "second" => message_start message_end
    tool_execution_start
    RUN 2 edit
    "#);
    assert_snapshot!(run.ended(2, "third").said(), @r#"
    tool_execution_end
    APPEND result of c2: "third" => message_start message_end
    tool_execution_start
    RUN 3 read
    "#);
    assert_snapshot!(run.ended(3, "fourth").said(), @r#"
    tool_execution_end
    APPEND result of c3: "fourth" => message_start message_end
    turn_end results=4
    turn_start
    BUILD
    "#);
}

#[test]
fn what_a_tool_shows_on_the_way_is_told_and_not_recorded() {
    let mut run = Run::working(&["bash"]);
    let ticket = run.ticket();
    run.put(Input::Partial { ticket, call: 0, outcome: Outcome::text("so far") });
    assert_snapshot!(run.said(), @"tool_execution_update");
    run.put(Input::Partial { ticket, call: 5, outcome: Outcome::text("whose?") });
    assert_eq!(run.said(), "");
}

#[test]
fn calls_of_an_answer_that_was_cut_off_are_not_run() {
    let mut run = Run::streaming();
    let cut = AssistantMessage { stop_reason: StopReason::Length, ..calling(&["write"]) };
    run.answered(cut, None);
    assert_snapshot!(run.said(), @r#"
    message_start assistant "" +write Length
    APPEND assistant "" +write Length => message_end
    tool_execution_start
    tool_execution_end
    APPEND error of c0: "Not run: the answer reached its limit, so these arguments may be cut off. Call the tool again." => message_start message_end
    turn_end results=1
    turn_start
    BUILD
    "#);
}

#[test]
fn arguments_come_in_pieces() {
    let mut run = Run::streaming();
    run.delta(Delta::Start).delta(Delta::ToolCallStart { index: 0, id: "c".to_owned(), name: "ls".to_owned() });
    run.delta(Delta::ToolCall { index: 0, delta: r#"{"path":"#.to_owned() });
    run.delta(Delta::ToolCall { index: 0, delta: r#""/x"}"#.to_owned() }).delta(Delta::ToolCallEnd { index: 0 });
    assert!(run.said().ends_with(&format!("toolcall_end {}", json!({ "path": "/x" }))));
}

#[test]
fn stopping_an_answer_keeps_what_was_said_and_no_call() {
    let mut run = Run::streaming();
    run.delta(Delta::Start).delta(Delta::TextStart { index: 0 });
    run.delta(Delta::Text { index: 0, delta: "half".to_owned() });
    run.delta(Delta::ToolCallStart { index: 1, id: "c".to_owned(), name: "ls".to_owned() });
    run.said();
    let stale = run.ticket();
    assert_snapshot!(run.abort().said(), @r#"
    CANCEL
    APPEND assistant "half" Aborted => message_end
    "#);
    run.put(Input::Delta { ticket: stale, delta: Delta::Text { index: 0, delta: "late".to_owned() } });
    assert_eq!(run.said(), "", "what still comes in belongs to nobody");
    assert_snapshot!(run.recorded().said(), @"
    turn_end results=0
    agent_end 2 retry=false
    agent_settled aborted=true
    SETTLE Aborted
    ");
}

#[test]
fn stopping_while_tools_run_answers_every_call() {
    let mut run = Run::working(&["read", "edit", "bash"]);
    run.ended(0, "first");
    run.said();
    assert_snapshot!(run.abort().said(), @r#"
    CANCEL
    tool_execution_end
    APPEND error of c1: "The user stopped this tool call before it was done." => message_start message_end
    APPEND error of c2: "The user stopped this tool call before it was done." => message_start message_end
    turn_end results=3
    agent_end 5 retry=false
    agent_settled aborted=true
    SETTLE Aborted
    "#);
    assert!(run.state.is_idle());
}

#[test]
fn stopping_while_the_answer_is_written_answers_every_call() {
    let mut run = Run::streaming();
    run.delta(Delta::Done(Box::new(Answer { message: calling(&["bash"]), failure: None })));
    assert_eq!(run.abort().said().lines().filter(|line| line.starts_with("SETTLE")).count(), 0);
    assert_snapshot!(run.recorded().said(), @r#"
    APPEND error of c0: "The user stopped this tool call before it was done." => message_start message_end
    turn_end results=1
    agent_end 3 retry=false
    agent_settled aborted=true
    SETTLE Aborted
    "#);
}

#[test]
fn stopping_before_the_request_and_while_waiting() {
    let mut run = Run::new();
    run.prompt("go").said();
    assert_snapshot!(run.abort().said(), @"
    CANCEL
    agent_end 1 retry=false
    agent_settled aborted=true
    SETTLE Aborted
    ");
    let mut run = Run::streaming();
    run.answered(error("overloaded"), transient(None)).said();
    assert_snapshot!(run.abort().said(), @r#"
    CANCEL
    auto_retry_end false 1 Some("stopped by the user")
    agent_settled aborted=true
    SETTLE Aborted
    "#);
    assert_eq!(run.elapsed().said(), "");
    assert_eq!(Run::new().abort().said(), "", "there is nothing to stop");
}

#[test]
fn what_is_said_meanwhile_waits_for_its_turn() {
    let mut run = Run::working(&["bash"]);
    run.put(Input::Steer(user("s1"))).put(Input::Steer(user("s2"))).put(Input::FollowUp(user("f1")));
    assert_snapshot!(run.said(), @r#"
    queue ["s1"] []
    queue ["s1", "s2"] []
    queue ["s1", "s2"] ["f1"]
    "#);
    assert_snapshot!(run.ended(0, "done").said(), @r#"
    tool_execution_end
    APPEND result of c0: "done" => message_start message_end
    turn_end results=1
    turn_start
    queue ["s2"] ["f1"]
    APPEND user "s1" => message_start message_end
    BUILD
    "#);
    run.built(10).answered(said("a"), None);
    assert_snapshot!(run.said(), @r#"
    SEND
    message_start assistant "a" Stop
    APPEND assistant "a" Stop => message_end
    turn_end results=0
    turn_start
    queue [] ["f1"]
    APPEND user "s2" => message_start message_end
    BUILD
    "#);
    run.built(10).answered(said("b"), None);
    assert_snapshot!(run.said(), @r#"
    SEND
    message_start assistant "b" Stop
    APPEND assistant "b" Stop => message_end
    turn_end results=0
    turn_start
    queue [] []
    APPEND user "f1" => message_start message_end
    BUILD
    "#);
    run.built(10).answered(said("c"), None);
    assert!(run.said().ends_with("SETTLE Done"));
}

#[test]
fn all_of_a_queue_may_be_said_at_once() {
    let mut run = Run::working(&["bash"]);
    run.state.config.steering = QueueMode::All;
    run.put(Input::Steer(user("s1"))).put(Input::Steer(user("s2"))).said();
    assert!(run.ended(0, "done").said().contains(r#"APPEND user "s1", user "s2""#));
}

#[test]
fn what_waits_can_be_taken_back_and_survives_a_stop() {
    let mut run = Run::working(&["bash"]);
    run.put(Input::Steer(user("s1"))).abort();
    assert_eq!(run.state.queued(), (vec!["s1".to_owned()], Vec::new()));
    run.said();
    assert_snapshot!(run.put(Input::ClearQueue).said(), @"queue [] []");
}

#[test]
fn a_prompt_that_comes_too_early_is_not_lost() {
    let mut run = Run::streaming();
    assert_snapshot!(run.prompt("and this").said(), @r#"queue [] ["and this"]"#);
}

#[test]
fn steering_an_idle_agent_begins_a_run() {
    let mut run = Run::new();
    assert!(run.put(Input::Steer(user("go"))).said().starts_with("agent_start"));
}

#[test]
fn failed_requests_are_sent_again_later_and_later() {
    let mut run = Run::streaming();
    assert_snapshot!(run.answered(error("overloaded"), transient(None)).said(), @r#"
    message_start assistant "" Error
    APPEND assistant "" Error => message_end
    turn_end results=0
    agent_end 2 retry=true
    auto_retry_start 1/3 2000 "overloaded"
    WAIT 2000
    "#);
    assert_snapshot!(run.elapsed().said(), @"
    agent_start
    turn_start
    BUILD
    ");
    assert!(run.built(10).answered(error("overloaded"), transient(None)).said().contains("WAIT 4000"));
    run.elapsed().built(10).said();
    assert!(
        run.answered(error("overloaded"), transient(Some(30_000))).said().contains("WAIT 30000"),
        "as the server asks"
    );
    run.elapsed().built(10).said();
    assert_snapshot!(run.answered(error("overloaded"), transient(None)).said(), @r#"
    message_start assistant "" Error
    APPEND assistant "" Error => message_end
    turn_end results=0
    auto_retry_end false 3 Some("overloaded")
    agent_end 1 retry=false
    agent_settled aborted=false
    SETTLE Failed("overloaded")
    "#);
}

#[test]
fn the_wait_has_an_end_and_an_answer_ends_the_trying() {
    let mut run = Run::streaming();
    assert!(run.answered(error("busy"), transient(Some(3_600_000))).said().contains("WAIT 60000"));
    run.elapsed().built(10).said();
    let told = run.answered(said("there"), None).said();
    assert!(told.contains("auto_retry_end true 1 None"), "{told}");
}

#[test]
fn other_failures_and_switched_off_retries_end_the_run() {
    let lasting = Some(Failure { status: Some(401), is_transient: false, is_overflow: false, retry_after: None });
    let mut run = Run::streaming();
    assert_snapshot!(run.answered(error("bad key"), lasting).said(), @r#"
    message_start assistant "" Error
    APPEND assistant "" Error => message_end
    turn_end results=0
    agent_end 2 retry=false
    agent_settled aborted=false
    SETTLE Failed("bad key")
    "#);
    let mut run = Run::streaming();
    run.state.config.retry.enabled = false;
    assert!(run.answered(error("busy"), transient(None)).said().ends_with(r#"SETTLE Failed("busy")"#));
}

/// An answer that ended for its length although more was wanted: the file keeps it, the model does not see it again.
#[test]
fn an_answer_that_was_cut_short_is_asked_for_once_more() {
    let config = Config { recover_overflow: true, recover_length: true, ..Config::default() };
    let half = || Block::Text { text: "half".to_owned(), text_signature: None };
    let cut = || answer(vec![half()], StopReason::Length);
    let mut run = Run::with(config);
    run.prompt("hi").built(10).said();
    assert_snapshot!(run.answered(cut(), overflow()).said(), @r#"
    message_start assistant "half" Length
    APPEND assistant "half" Length => message_end
    turn_end results=0
    agent_end 2 retry=true
    OMIT the answer
    compaction_start
    DRAFT Overflow
    "#);
    run.drafted(Draft::Ready { warning: None });
    run.committed().said();
    assert_snapshot!(run.built(10).answered(cut(), overflow()).said(), @r#"
    SEND
    message_start assistant "half" Length
    APPEND assistant "half" Length => message_end
    turn_end results=0
    agent_end 1 retry=false
    agent_settled aborted=false
    SETTLE Done
    "#);
}

#[test]
fn a_context_that_is_too_long_is_compacted_once_for_each_input() {
    let mut run = Run::streaming();
    assert_snapshot!(run.answered(error("too long"), overflow()).said(), @r#"
    message_start assistant "" Error
    APPEND assistant "" Error => message_end
    turn_end results=0
    agent_end 2 retry=true
    compaction_start
    DRAFT Overflow
    "#);
    run.drafted(Draft::Ready { warning: None });
    assert_snapshot!(run.committed().said(), @"
    COMMIT
    compaction_end result=true aborted=false retry=true None
    agent_start
    turn_start
    BUILD
    ");
    assert_snapshot!(run.built(10).answered(error("too long"), overflow()).said(), @r#"
    SEND
    message_start assistant "" Error
    APPEND assistant "" Error => message_end
    turn_end results=0
    agent_end 1 retry=false
    agent_settled aborted=false
    SETTLE Failed("too long")
    "#);
    assert!(run.prompt("again").built(10).answered(error("too long"), overflow()).said().contains("DRAFT Overflow"));
}

#[test]
fn rate_limits_are_no_overflows() {
    let mut run = Run::streaming();
    assert!(!run.answered(error("429"), transient(None)).said().contains("DRAFT"));
}

#[test]
fn a_full_context_is_compacted_before_the_request_at_most_once() {
    let mut run = Run::new();
    run.prompt("go").said();
    assert_snapshot!(run.built(1001).said(), @"
    compaction_start
    DRAFT Threshold
    ");
    run.drafted(Draft::Ready { warning: None }).committed();
    assert_snapshot!(run.said(), @"
    COMMIT
    compaction_end result=true aborted=false retry=false None
    BUILD
    ");
    assert_eq!(run.built(1001).said(), "SEND", "it does not go round in circles");
}

#[test]
fn a_full_context_is_compacted_after_the_run() {
    let mut run = Run::streaming();
    let full = AssistantMessage { usage: Usage { total_tokens: 2000, ..Usage::default() }, ..said("long") };
    assert!(run.answered(full, None).said().ends_with("compaction_start\nDRAFT Threshold"));
    run.put(Input::FollowUp(user("and"))).said();
    run.drafted(Draft::Failed("no model".to_owned()));
    assert_snapshot!(run.said(), @r#"
    compaction_end result=false aborted=false retry=false Some("no model")
    queue [] []
    agent_start
    turn_start
    APPEND user "and" => message_start message_end
    BUILD
    "#);
}

#[test]
fn an_answer_that_is_complete_is_not_asked_for_again() {
    let mut run = Run::streaming();
    run.answered(said("done"), overflow()).said();
    run.drafted(Draft::Ready { warning: None });
    assert!(run.committed().said().ends_with("SETTLE Done"));
}

#[test]
fn a_compaction_that_is_asked_for_succeeds_fails_or_is_stopped() {
    let manual = || Input::Do(Job::Compaction { reason: Reason::Manual, instructions: None });
    let mut run = Run::new();
    run.put(manual()).drafted(Draft::Ready { warning: Some("no model".to_owned()) }).committed();
    assert_snapshot!(run.said(), @r#"
    compaction_start
    DRAFT Manual
    COMMIT
    compaction_end result=true aborted=false retry=false Some("no model")
    agent_settled aborted=false
    SETTLE Done
    "#);
    run.put(manual()).drafted(Draft::Nothing("too small".to_owned()));
    assert!(run.said().ends_with(r#"SETTLE Failed("too small")"#));
    run.put(manual()).said();
    assert_snapshot!(run.abort().said(), @"
    CANCEL
    compaction_end result=false aborted=true retry=false None
    agent_settled aborted=true
    SETTLE Aborted
    ");
    assert_eq!(run.drafted(Draft::Ready { warning: None }).said(), "", "what comes in later is not written");
}

#[test]
fn a_stop_while_the_compaction_is_written_comes_too_late_for_it() {
    let mut run = Run::new();
    run.prompt("go").built(1001).drafted(Draft::Ready { warning: None }).said();
    assert_eq!(run.abort().said(), "");
    assert_snapshot!(run.committed().said(), @"
    compaction_end result=true aborted=false retry=false None
    agent_end 1 retry=false
    agent_settled aborted=true
    SETTLE Aborted
    ");
}

#[test]
fn a_walk_through_the_tree() {
    let mut run = Run::new();
    run.put(Input::Do(Job::Navigation)).drafted(Draft::Ready { warning: None }).committed();
    assert_snapshot!(run.said(), @"
    DRAFT navigation
    COMMIT
    agent_settled aborted=false
    SETTLE Done
    ");
    run.put(Input::Do(Job::Navigation)).abort();
    assert!(run.said().ends_with("SETTLE Aborted"));
}

#[test]
fn commands_of_the_user_stand_between_turns() {
    let bash = || Input::Ran(Raw("{}".to_owned()));
    let mut run = Run::working(&["bash"]);
    assert_eq!(run.put(bash()).said(), "", "not between a call and its result");
    let told = run.ended(0, "done").said();
    let at = |what: &str| told.find(what).unwrap();
    assert!(at("APPEND result of c0") < at("APPEND bash") && at("APPEND bash") < at("BUILD"), "{told}");
    run.built(10).put(bash()).said();
    let told = run.answered(said("ok"), None).said();
    assert!(told.find("APPEND bash").unwrap() < told.find("SETTLE").unwrap(), "{told}");
    assert_snapshot!(run.put(bash()).said(), @"APPEND bash {} =>");
}

#[test]
fn nothing_goes_on_when_the_session_cannot_be_written() {
    for mut run in [Run::streaming(), Run::working(&["bash"])] {
        let told = run.put(Input::WriteFailed { error: "disk full".to_owned() }).said();
        assert!(told.starts_with("CANCEL\nfailed\nagent_end"), "{told}");
        assert!(told.ends_with(r#"SETTLE Broken("disk full")"#), "{told}");
        assert!(run.state.is_idle());
    }
}

#[test]
fn a_request_that_cannot_be_made_ends_the_run() {
    let mut run = Run::new();
    run.prompt("go").said();
    let ticket = run.ticket();
    assert_snapshot!(run.put(Input::BuildFailed { ticket, error: "no key".to_owned() }).said(), @r#"
    failed
    agent_end 1 retry=false
    agent_settled aborted=false
    SETTLE Failed("no key")
    "#);
}

/// Whatever comes in whichever state: the machine does not lose its way, and every run that began ends.
#[test]
fn every_input_in_every_state() {
    let inputs = |ticket: Ticket| {
        vec![
            Input::Prompt(vec![user("p")]),
            Input::Steer(user("s")),
            Input::FollowUp(user("f")),
            Input::ClearQueue,
            Input::Do(Job::Navigation),
            Input::Ran(Raw("{}".to_owned())),
            Input::Built { ticket, tokens: 5, blank: Box::new(said("")) },
            Input::BuildFailed { ticket, error: "e".to_owned() },
            Input::Delta { ticket, delta: Delta::Start },
            Input::Delta { ticket, delta: Delta::Done(Box::new(Answer { message: calling(&["x"]), failure: None })) },
            Input::Recorded { ticket },
            Input::Partial { ticket, call: 0, outcome: Outcome::text("x") },
            Input::Ended { ticket, call: 0, outcome: Outcome::text("x"), at: 1 },
            Input::Elapsed { ticket },
            Input::Drafted { ticket, draft: Draft::Ready { warning: None } },
            Input::Committed { ticket, result: Raw("null".to_owned()) },
            Input::WriteFailed { error: "w".to_owned() },
            Input::Abort { at: 3 },
        ]
    };
    let states: [fn() -> Run; 8] = [
        Run::new,
        || {
            let mut run = Run::new();
            run.prompt("go");
            run
        },
        Run::streaming,
        || {
            let mut run = Run::streaming();
            run.delta(Delta::Done(Box::new(Answer { message: said("x"), failure: None })));
            run
        },
        || Run::working(&["bash", "read"]),
        || {
            let mut run = Run::streaming();
            run.answered(error("busy"), transient(None));
            run
        },
        || {
            let mut run = Run::new();
            run.put(Input::Do(Job::Compaction { reason: Reason::Manual, instructions: None }));
            run
        },
        || {
            let mut run = Run::new();
            run.put(Input::Do(Job::Navigation)).drafted(Draft::Ready { warning: None });
            run
        },
    ];
    for (number, state) in states.iter().enumerate() {
        for at in 0..inputs(0).len() {
            let mut run = state();
            let input = inputs(run.ticket()).swap_remove(at);
            let named = format!("state {number}, {input:?}");
            run.put(input);
            // From wherever it is now, a stop and the answers that are still due bring it to rest.
            run.abort();
            run.recorded();
            run.committed();
            assert!(run.state.is_idle(), "{named}: {:?}", run.state);
            let told = run.said();
            let (started, settled) = (told.matches("agent_start").count(), told.matches("SETTLE").count());
            assert!(settled >= 1 || started == 0, "{named}: {told}");
        }
    }
}
