//! Ends of turns and runs to which extensions may add.

use super::*;

fn asked() -> Run {
    let mut run = Run::with(TurnConfig { asks_at_turn_end: true, asks_before_settling: true, ..TurnConfig::default() });
    run.prompt("go").built(10);
    run.said.clear();
    run
}

#[test]
fn an_extension_asks_for_another_turn_and_another_run() {
    let mut run = asked();
    assert_snapshot!(run.answered(said("one"), None).said(), @r#"
    message_start assistant "one" Stop
    APPEND assistant "one" Stop => message_end
    CLOSE TURN
    "#);
    assert_snapshot!(run.closed(true).said(), @"
    BUILD
    ");
    assert_snapshot!(run.built(10).answered(said("two"), None).closed(false).said(), @r#"
    turn_start
    SEND
    message_start assistant "two" Stop
    APPEND assistant "two" Stop => message_end
    CLOSE TURN
    agent_end 3 retry=false
    BEFORE SETTLING completed
    "#);
    assert_snapshot!(run.may_settle(true).said(), @"
    agent_start
    turn_start
    BUILD
    ");
    assert_snapshot!(run.built(10).answered(said("three"), None).closed(false).may_settle(false).said(), @r#"
    SEND
    message_start assistant "three" Stop
    APPEND assistant "three" Stop => message_end
    CLOSE TURN
    agent_end 1 retry=false
    BEFORE SETTLING completed
    agent_settled aborted=false
    SETTLE Done
    "#);
}

/// An extension that continues every run made a run without end of one that had reached its limit, or whose requests all fail.
#[test]
fn an_extension_does_not_continue_past_a_limit_nor_for_ever_after_failures() {
    let continued = |error: &AgentError| {
        let mut run = Run::with(TurnConfig { asks_before_settling: true, ..TurnConfig::default() });
        run.prompt("go");
        (0..100)
            .take_while(|_| {
                let ticket = run.ticket();
                run.put(TurnInput::BuildFailed { ticket, error: error.clone() }).may_settle(true);
                !run.said().contains("SETTLE Failed")
            })
            .count()
    };
    let reached = AgentError::LimitReached("stopped after 1 answer, the limit of this run".to_owned());
    assert_eq!(continued(&reached), 0);
    assert_eq!(continued(&AgentError::Failed("no".to_owned())), 10);
}

#[test]
fn a_stop_while_extensions_add_to_a_turn_ends_the_run() {
    let mut run = asked();
    run.answered(said("one"), None);
    assert_snapshot!(run.abort().closed(true).said(), @r#"
    message_start assistant "one" Stop
    APPEND assistant "one" Stop => message_end
    CLOSE TURN
    agent_end 2 retry=false
    BEFORE SETTLING aborted
    "#);
    assert_snapshot!(run.abort().may_settle(true).said(), @"
    agent_settled aborted=true
    SETTLE Aborted
    ");
}

#[test]
fn calls_that_end_the_run_are_asked_about_too() {
    let mut run = asked();
    run.answered(calling(&["read"]), None).ended(0, "x");
    assert_snapshot!(run.said(), @r#"
    message_start assistant "" +read ToolUse
    APPEND assistant "" +read ToolUse => message_end
    tool_execution_start
    RUN 0 read
    tool_execution_end
    APPEND result of c0: "x" => message_start message_end
    CLOSE TURN
    "#);
    assert_snapshot!(run.closed(false).said(), @"
    BUILD
    ");
}
