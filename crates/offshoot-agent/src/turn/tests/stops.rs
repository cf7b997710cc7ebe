//! Stops in every state.

use super::*;

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
    run.put(TurnInput::Delta { ticket: stale, delta: Delta::Text { index: 0, delta: "late".to_owned() } });
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
    assert_eq!(run.abort().said(), "STOP TOOLS");
    assert_eq!(run.abort().said(), "", "they are being stopped");
    let (ticket, outcome) = (run.ticket(), ToolOutcome::stopped(Some(ToolOutcome::text("so far\n"))));
    assert_eq!(
        run.put(TurnInput::Ended { ticket, call: 2, outcome: ToolOutcome::stopped(None), at: 8 }).said(),
        "tool_execution_end"
    );
    assert_snapshot!(run.put(TurnInput::Ended { ticket, call: 1, outcome, at: 8 }).said(), @r#"
    tool_execution_end
    CANCEL
    APPEND error of c1: "so far\n\nThe user stopped this tool call before it was done." => message_start message_end
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

/// A prompt without a key for the model is refused before it is recorded; nothing is emitted.
#[test]
fn a_prompt_waits_until_it_is_known_that_the_model_can_be_asked() {
    let mut run = Run::new();
    run.put(TurnInput::Prompt(vec![user("go")])).put(ran("ls"));
    assert_snapshot!(run.said(), @"ADMIT");
    let ticket = run.ticket();
    let error = AgentError::Failed("no key".to_owned());
    assert_eq!(run.put(TurnInput::NotAdmitted { ticket, error }).said(), "APPEND bash ls => \nREFUSE no key");
    assert!(run.state.is_idle());
    run.put(TurnInput::Prompt(vec![user("go")])).said();
    assert_snapshot!(run.abort().said(), @r"
    CANCEL
    REFUSE stopped before there was a key for the model: nothing was recorded
    ");
    assert_snapshot!(run.put(TurnInput::Admitted { ticket: ticket + 1, added: Vec::new(), open: None }).said(), @"");
    assert!(run.state.is_idle());
}
