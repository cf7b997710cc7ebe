//! When tools run, and their results.

use super::*;

#[test]
fn tools_run_at_once_when_their_calls_are_durable_and_results_keep_the_order() {
    let mut run = Run::streaming();
    run.delta(Delta::Done(Box::new(Answer { message: calling(&["read", "edit", "bash"]), failure: None })));
    assert!(!run.said().contains("RUN"), "nothing runs before the answer is in the file");
    assert_snapshot!(run.recorded().said(), @"
    tool_execution_start
    RUN 0 read
    tool_execution_start
    RUN 1 edit
    tool_execution_start
    RUN 2 bash
    ");
    assert_snapshot!(run.ended(1, "second").said(), @"tool_execution_end");
    assert_snapshot!(run.ended(2, "third").said(), @"tool_execution_end");
    assert_snapshot!(run.ended(0, "first").said(), @r#"
    tool_execution_end
    APPEND result of c0: "first" => message_start message_end
    APPEND result of c1: "second" => message_start message_end
    APPEND result of c2: "third" => message_start message_end
    turn_end results=3
    BUILD
    "#);
    assert_eq!(run.built(10).said(), "turn_start\nSEND", "what makes room for a request stands before its turn");
}

/// As in pi 1.6: `turn_start`, then `context`. What makes room for the request still stands before its turn.
#[test]
fn extensions_change_a_request_after_its_turn_has_started() {
    let worked = || {
        let mut run = Run::streaming();
        run.state.config.changes_requests = true;
        run.delta(Delta::Done(Box::new(Answer { message: calling(&["read"]), failure: None })));
        run.recorded().ended(0, "done").said();
        run
    };
    assert_eq!(worked().measured(10).said(), "turn_start\nBUILD");
    assert_eq!(worked().measured(10).built(10).said(), "turn_start\nBUILD\nSEND");
    let mut full = worked();
    assert!(!full.measured(2000).said().contains("turn_start"));
    assert_eq!(full.summarised().committed().said().lines().last(), Some("MEASURE"));
    assert_eq!(full.measured(10).said(), "turn_start\nBUILD");
}

#[test]
fn one_sequential_tool_makes_the_calls_of_its_answer_wait_for_each_other() {
    let one_after_another = |change: &dyn Fn(&mut TurnConfig)| {
        let mut run = Run::streaming();
        change(&mut run.state.config);
        run.delta(Delta::Done(Box::new(Answer { message: calling(&["read", "ask", "read"]), failure: None })));
        run.said();
        let mut started = vec![run.recorded().said()];
        started.extend([0, 1].map(|call| run.ended(call, "done").said()));
        started.iter().map(|said| said.matches("RUN").count()).collect::<Vec<_>>()
    };
    assert_eq!(one_after_another(&|_| {}), [3, 0, 0]);
    assert_eq!(one_after_another(&|config| config.sequential = ["ask".to_owned()].into()), [1, 1, 1]);
    assert_eq!(one_after_another(&|config| config.sequential = ["other".to_owned()].into()), [3, 0, 0]);
    assert_eq!(one_after_another(&|config| config.one_tool_at_a_time = true), [1, 1, 1]);
}

#[test]
fn what_a_tool_shows_on_the_way_is_told_and_not_recorded() {
    let mut run = Run::working(&["bash"]);
    let ticket = run.ticket();
    run.put(TurnInput::Partial { ticket, call: 0, outcome: ToolOutcome::text("so far") });
    assert_snapshot!(run.said(), @"tool_execution_update");
    run.put(TurnInput::Partial { ticket, call: 5, outcome: ToolOutcome::text("whose?") });
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
    BUILD
    "#);
}
