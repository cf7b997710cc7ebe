//! Contexts that are too long or too full, and requested compactions.

use super::*;

/// An answer that reached a length limit early: the file keeps it, but the model does not see it again.
#[test]
fn an_answer_that_was_cut_short_is_asked_for_once_more() {
    let config = TurnConfig { recover_overflow: true, ..TurnConfig::default() };
    let half = || Block::Text { text: "half".to_owned(), text_signature: None };
    let cut = || answer(vec![half()], StopReason::Length);
    let mut run = Run::with(config);
    run.prompt("hi").built(10).said();
    assert_snapshot!(run.answered(cut(), overflow()).said(), @r#"
    message_start assistant "half" Length
    APPEND assistant "half" Length => message_end
    turn_end results=0
    agent_end 2 retry=false
    OMIT the answer
    DRAFT Overflow
    "#);
    run.summarised().committed().said();
    assert_snapshot!(run.built(10).answered(cut(), overflow()).said(), @r#"
    SEND
    message_start assistant "half" Length
    APPEND assistant "half" Length => message_end
    turn_end results=0
    agent_end 1 retry=false
    compaction_end result=false aborted=false retry=false Some("the answer was cut short again after room had been made once")
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
    agent_end 2 retry=false
    OMIT the answer
    DRAFT Overflow
    "#);
    run.summarised();
    assert_snapshot!(run.committed().said(), @"
    compaction_start
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
    compaction_end result=false aborted=false retry=false Some("the context is still too long after it was compacted once: shorten it, or take a model with more room")
    agent_settled aborted=false
    SETTLE Failed("too long")
    "#);
    assert!(run.prompt("again").built(10).answered(error("too long"), overflow()).said().contains("DRAFT Overflow"));
}

#[test]
fn a_full_context_is_compacted_before_the_request_at_most_once() {
    let mut run = Run::new();
    run.prompt("go").said();
    assert_snapshot!(run.built(1001).said(), @"DRAFT Threshold");
    run.summarised().committed();
    assert_snapshot!(run.said(), @"
    compaction_start
    COMMIT
    compaction_end result=true aborted=false retry=false None
    BUILD
    ");
    assert_eq!(run.built(1001).said(), "notice\nSEND", "it does not go round in circles, and says so");
}

#[test]
fn a_full_context_is_compacted_after_the_run() {
    let mut run = Run::streaming();
    let full = AssistantMessage { usage: Usage { total_tokens: 2000, ..Usage::default() }, ..said("long") };
    assert!(run.answered(full, None).said().ends_with("DRAFT Threshold"));
    run.put(TurnInput::FollowUp(user("and"))).said();
    run.planned().drafted(JobDraft::Failed(AgentError::Failed("no model".to_owned())));
    assert_snapshot!(run.said(), @r#"
    compaction_start
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
    run.summarised();
    assert!(run.committed().said().ends_with("SETTLE Done"));
}

#[test]
fn a_compaction_that_is_asked_for_succeeds_fails_or_is_stopped() {
    let manual = || TurnInput::Do(Job::Compaction { reason: Reason::Manual, instructions: None });
    let mut run = Run::new();
    run.put(manual()).drafted(JobDraft::Ready { warning: Some("no model".to_owned()) }).committed();
    assert_snapshot!(run.said(), @r#"
    compaction_start
    DRAFT Manual
    COMMIT
    compaction_end result=true aborted=false retry=false Some("no model")
    agent_settled aborted=false
    SETTLE Done
    "#);
    run.put(manual()).drafted(JobDraft::Nothing("too small"));
    assert!(run.said().ends_with(r#"SETTLE Failed("too small")"#));
    run.put(manual()).said();
    assert_snapshot!(run.abort().said(), @"
    CANCEL
    compaction_end result=false aborted=true retry=false None
    agent_settled aborted=true
    SETTLE Aborted
    ");
    assert_eq!(run.drafted(JobDraft::Ready { warning: None }).said(), "", "what comes in later is not written");
}

#[test]
fn a_stop_while_the_compaction_is_written_comes_too_late_for_it() {
    let mut run = Run::new();
    run.prompt("go").built(1001).summarised().said();
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
    run.put(walk()).drafted(JobDraft::Ready { warning: None }).committed();
    assert_snapshot!(run.said(), @"
    DRAFT navigation
    COMMIT
    agent_settled aborted=false
    SETTLE Done
    ");
    run.put(walk()).abort();
    assert!(run.said().ends_with("SETTLE Aborted"));
}

/// Without anything to summarise, no compaction is emitted.
#[test]
fn a_context_that_cannot_be_made_smaller() {
    let mut run = Run::new();
    run.prompt("go").built(1001).said();
    assert_snapshot!(run.drafted(JobDraft::Nothing("too small")).said(), @"BUILD");
    run.built(1001).answered(error("too long"), overflow()).said();
    assert_snapshot!(run.drafted(JobDraft::Nothing("too small")).said(), @r#"
    agent_settled aborted=false
    SETTLE Failed("too long (no room was made: too small)")
    "#);
}

/// pi 0.87: queued messages go before a second attempt.
#[test]
fn an_answer_that_was_cut_short_stays_if_something_waits_to_be_said() {
    let mut run = Run::streaming();
    run.put(TurnInput::Steer(user("shorter"))).said();
    let cut = answer(vec![Block::text("half")], StopReason::Length);
    assert_snapshot!(run.answered(cut, overflow()).said(), @r#"
    message_start assistant "half" Length
    APPEND assistant "half" Length => message_end
    turn_end results=0
    turn_start
    queue [] []
    APPEND user "shorter" => message_start message_end
    BUILD
    "#);
}

#[test]
fn asking_again_for_a_summary_is_told() {
    let again =
        || Trying::Scheduled { attempt: 1, max_attempts: 3, delay_ms: 2000, error_message: "overloaded".to_owned() };
    let mut run = Run::new();
    run.prompt("go").built(1001).planned().said();
    run.trying(again()).trying(Trying::Started).trying(Trying::Finished).drafted(JobDraft::Ready { warning: None });
    assert_snapshot!(run.said(), @r#"
    summarization_retry_scheduled 1/3 2000 "overloaded"
    summarization_retry_attempt_start Compaction Some(Threshold)
    summarization_retry_finished
    COMMIT
    "#);
    let mut run = Run::new();
    run.put(walk()).trying(again()).trying(Trying::Started).said();
    assert_snapshot!(run.abort().said(), @"
    CANCEL
    summarization_retry_finished
    agent_settled aborted=true
    SETTLE Aborted
    ");
    assert_eq!(run.trying(Trying::Finished).said(), "", "nobody waits for it any more");
}

/// 16 summaries were written for 25 answers, because each compaction left the context above the threshold.
#[test]
fn a_compaction_that_makes_no_room_is_not_repeated_and_says_so_once() {
    let window = Some(offshoot_protocol::Window { model: "p/m".to_owned(), tokens: 2000 });
    let mut run = Run::with(TurnConfig { compact_above: Some(1000), window, ..TurnConfig::default() });
    let mut compactions = Vec::new();
    let mut said = String::new();
    for tokens in (1100..3100).step_by(50) {
        run.prompt("go").built(tokens);
        let effects = run.said();
        if effects.contains("DRAFT Threshold") {
            compactions.push(tokens);
            run.summarised().committed().said();
            run.built(tokens - 20);
        }
        said.push_str(&effects);
        said.push_str(&run.answered(answer(Vec::new(), StopReason::Stop), None).said());
    }
    assert_eq!(compactions, [1100, 1350, 1850, 2850], "each waits twice as long as the one before");
    let told: Vec<&str> = said.lines().filter(|line| line.contains("notice")).collect();
    assert_eq!(told.len(), 1, "{told:?}");
}

#[test]
fn a_compaction_that_makes_room_may_soon_be_followed_by_another() {
    let window = Some(offshoot_protocol::Window { model: "p/m".to_owned(), tokens: 2000 });
    let mut run = Run::with(TurnConfig { compact_above: Some(1000), window, ..TurnConfig::default() });
    for _ in 0..3 {
        assert!(run.prompt("go").built(1100).said().contains("DRAFT Threshold"));
        run.summarised().committed().built(400).answered(answer(Vec::new(), StopReason::Stop), None);
        assert!(!run.said().contains("notice"));
    }
}

/// The provider refuses a prompt that is most of the request: it is taken back, whatever was tried before.
#[test]
fn a_prompt_that_is_refused_as_too_long_is_taken_back() {
    let window = Some(offshoot_protocol::Window { model: "p/m".to_owned(), tokens: 2000 });
    let config = TurnConfig { recover_overflow: true, window, ..TurnConfig::default() };
    let mut run = Run::with(config.clone());
    run.prompt(&"word ".repeat(1600)).built(2100).answered(error("too long"), overflow()).said();
    run.drafted(JobDraft::Nothing("there is nothing to summarise"));
    assert_snapshot!(run.said(), @r#"
    TAKE BACK the prompt
    agent_settled aborted=false
    SETTLE Failed("p/m refused the prompt, which alone has about 2,000 tokens, as too long for its window of 2,000: shorten it, name a file instead of its text, or choose a model with a larger window")
    "#);
    let mut run = Run::with(TurnConfig { recover_overflow: false, ..config });
    run.prompt(&"word ".repeat(1600)).built(2100).answered(error("too long"), overflow());
    assert!(run.said().contains("TAKE BACK the prompt"));
}

/// A small prompt after a large result is not to blame.
#[test]
fn a_prompt_that_is_a_small_part_of_the_request_stays() {
    let window = Some(offshoot_protocol::Window { model: "p/m".to_owned(), tokens: 2000 });
    let mut run = Run::with(TurnConfig { recover_overflow: true, window, ..TurnConfig::default() });
    run.prompt("short").built(2100).answered(error("too long"), overflow()).said();
    run.drafted(JobDraft::Nothing("there is nothing to summarise"));
    assert_snapshot!(run.said(), @r#"
    agent_settled aborted=false
    SETTLE Failed("too long (no room was made: there is nothing to summarise)")
    "#);
}
