//! Prompts, answers, and the user's shell commands.

use super::*;

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
    message_start assistant "" Pending
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
fn arguments_come_in_pieces() {
    let mut run = Run::streaming();
    run.delta(Delta::Start).delta(Delta::ToolCallStart { index: 0, id: "c".to_owned(), name: "ls".to_owned() });
    run.delta(Delta::ToolCall { index: 0, delta: r#"{"path":"#.to_owned() });
    run.delta(Delta::ToolCall { index: 0, delta: r#""/x"}"#.to_owned() }).delta(Delta::ToolCallEnd { index: 0 });
    assert!(run.said().ends_with(&format!("toolcall_end {}", json!({ "path": "/x" }))));
}

#[test]
fn commands_of_the_user_stand_between_turns() {
    let bash = || ran("{}");
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
fn a_request_that_cannot_be_made_ends_the_run() {
    let mut run = Run::new();
    run.prompt("go").said();
    let ticket = run.ticket();
    assert_snapshot!(run.put(TurnInput::BuildFailed { ticket, error: AgentError::Failed("no key".to_owned()) }).said(), @r#"
    failed
    agent_end 1 retry=false
    agent_settled aborted=false
    SETTLE Failed("no key")
    "#);
}

#[test]
fn nothing_goes_on_when_the_session_cannot_be_written() {
    for mut run in [Run::streaming(), Run::working(&["bash"])] {
        let error = AgentError::Failed("disk full".to_owned());
        let told = run.put(TurnInput::WriteFailed { run: run.state.run, error, records: Vec::new() }).said();
        assert!(told.starts_with("CANCEL\nfailed\nagent_end"), "{told}");
        assert!(told.ends_with(r#"SETTLE Broken("disk full")"#), "{told}");
        assert!(run.state.is_idle());
    }
}

/// The tokens that a provider reports before the end are in the updates after it.
#[test]
fn updates_say_the_tokens_so_far() {
    let mut run = Run::streaming();
    run.delta(Delta::Start).delta(Delta::Usage(Usage { input: 7, ..Usage::default() }));
    let ticket = run.ticket();
    let out = step(&mut run.state, TurnInput::Delta { ticket, delta: Delta::TextStart { index: 0 } });
    let Some(Effect::Emit(Event::MessageUpdate { usage, .. })) = out.first() else { panic!("{out:?}") };
    assert_eq!(usage.input, 7);
}

#[test]
fn an_answer_without_a_word_is_said_as_such() {
    for (content, words) in [
        (Vec::new(), "the model gave an empty answer"),
        (vec![Block::text(" \n")], "the model gave an empty answer"),
        (vec![Block::thinking("hm")], "the model only thought"),
    ] {
        let mut run = Run::new();
        run.prompt("hi").built(1).answered(answer(content, StopReason::Stop), None);
        let told = empty_answers(&run);
        assert!(told.iter().any(|told| told.contains(words)), "{told:?}");
    }
    let mut run = Run::new();
    run.prompt("hi").built(1).answered(answer(vec![Block::thinking("hm"), Block::text("x")], StopReason::Stop), None);
    assert!(empty_answers(&run).is_empty());
}

fn empty_answers(run: &Run) -> Vec<&String> {
    run.said.iter().filter(|said| said.starts_with("empty answer")).collect()
}
