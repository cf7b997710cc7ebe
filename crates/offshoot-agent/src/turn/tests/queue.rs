//! Messages during a run.

use super::*;

#[test]
fn what_is_said_meanwhile_waits_for_its_turn() {
    let mut run = Run::working(&["bash"]);
    run.put(TurnInput::Steer(user("s1"))).put(TurnInput::Steer(user("s2"))).put(TurnInput::FollowUp(user("f1")));
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
    run.state.config.steering = offshoot_protocol::QueueMode::All;
    run.put(TurnInput::Steer(user("s1"))).put(TurnInput::Steer(user("s2"))).said();
    assert!(run.ended(0, "done").said().contains(r#"APPEND user "s1", user "s2""#));
}

#[test]
fn what_waits_can_be_taken_back_and_survives_a_stop() {
    let mut run = Run::working(&["bash"]);
    run.put(TurnInput::Steer(user("s1"))).abort();
    assert_eq!(run.state.queued(), (vec!["s1".to_owned()], Vec::new()));
    run.said();
    assert_snapshot!(run.put(TurnInput::ClearQueue).said(), @"queue [] []");
}

#[test]
fn a_prompt_that_comes_too_early_is_not_lost() {
    let mut run = Run::streaming();
    assert_snapshot!(run.prompt("and this").said(), @r#"queue [] ["and this"]"#);
}

#[test]
fn steering_an_idle_agent_begins_a_run() {
    let mut run = Run::new();
    assert!(run.put(TurnInput::Steer(user("go"))).said().starts_with("agent_start"));
}
