//! Retries of failed requests.

use offshoot_protocol::Retry;
use offshoot_session::zone::Zone;

use super::*;
use crate::turn::{NextTry, next_try};

#[test]
fn failed_requests_are_sent_again_later_and_later() {
    let mut run = Run::streaming();
    assert_snapshot!(run.answered(error("overloaded"), transient(None)).said(), @r#"
    message_start assistant "" Error
    APPEND assistant "" Error => message_end
    turn_end results=0
    agent_end 2 retry=true
    auto_retry_start 1/3 2000 "overloaded"
    OMIT the answer
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
    agent_end 1 retry=false
    auto_retry_end false 3 Some("overloaded")
    agent_settled aborted=false
    SETTLE Failed("overloaded")
    "#);
}

#[test]
fn a_server_that_asks_for_an_hour_is_not_asked_again() {
    let mut run = Run::streaming();
    let told = run.answered(error("busy"), transient(Some(3_600_000))).said();
    let later = "the provider can be asked again in 1 h 0 min, at 01:00";
    assert!(told.ends_with(&format!("SETTLE Failed(\"busy; {later}\")")), "{told}");
    assert!(told.contains(&format!("notice ask-later {later}")), "{told}");
}

/// Story: a usage limit ended the night's run after one request, and nobody knew when it could go on.
#[test]
fn a_servers_limit_is_waited_for_as_long_as_is_allowed() {
    let mut run = Run::streaming();
    run.state.config.limit_patience_ms = 7_200_000;
    run.state.config.zone = Zone::UTC;
    let hour = Some(3_600_000);
    let told = run.answered(error("busy"), transient(hour)).said();
    assert!(told.contains("auto_retry_start 1/3 3600000") && told.contains("WAIT 3600000"), "{told}");
    // Short failures in between are retried as ever; they do not use up the patience.
    for wait in ["WAIT 4000", "WAIT 8000"] {
        run.elapsed().built(10).said();
        let told = run.answered(error("busy"), transient(None)).said();
        assert!(told.contains(wait), "{told}");
    }
    run.elapsed().built(10).said();
    let told = run.answered(error("busy"), transient(hour)).said();
    assert!(told.contains("auto_retry_start 1/3 3600000"), "however many attempts there were: {told}");
    run.elapsed().built(10).said();
    let told = run.answered(error("busy"), transient(Some(61_000))).said();
    assert!(
        told.contains("the provider can be asked again in 1 min 1 s") && !told.contains("WAIT"),
        "both hours are over: {told}"
    );
}

/// What would not be sent again for another reason is not waited for, but the time is named.
#[test]
fn a_limit_that_lasts_is_named_and_not_waited_for() {
    let mut run = Run::streaming();
    run.state.config.limit_patience_ms = 7_200_000;
    let lasting = Failure { is_transient: false, ..transient(Some(3_600_000)).unwrap() };
    let told = run.answered(error("quota exceeded"), Some(lasting)).said();
    assert!(told.contains("asked again in 1 h 0 min") && !told.contains("WAIT"), "{told}");
    let mut run = Run::streaming();
    (run.state.config.limit_patience_ms, run.state.config.retry.enabled) = (7_200_000, false);
    let told = run.answered(error("busy"), transient(Some(3_600_000))).said();
    assert!(told.contains("asked again in 1 h 0 min") && !told.contains("WAIT"), "{told}");
}

#[test]
fn the_wait_has_an_end_and_an_answer_ends_the_trying() {
    let mut run = Run::streaming();
    assert!(run.answered(error("busy"), transient(Some(60_000))).said().contains("WAIT 60000"));
    run.elapsed().built(10).said();
    let told = run.answered(error("busy"), transient(Some(1000))).said();
    assert!(told.contains("WAIT 1000"), "shorter than offshoot would wait: {told}");
    run.elapsed().built(10).said();
    let told = run.answered(said("there"), None).said();
    assert!(told.contains("auto_retry_end true 2 None"), "{told}");
}

#[test]
fn other_failures_and_switched_off_retries_end_the_run() {
    let lasting = Some(Failure {
        status: Some(401),
        is_transient: false,
        is_overflow: false,
        is_about_pictures: false,
        retry_after: None,
        way_round: None,
    });
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

#[test]
fn rate_limits_are_no_overflows() {
    let mut run = Run::streaming();
    assert!(!run.answered(error("429"), transient(None)).said().contains("DRAFT"));
}

/// A server knows best when it can answer again, also if that is soon.
#[test]
fn the_wait_that_a_server_asks_for_is_kept() {
    let wait = |retry: Retry, attempts, asked| match next_try(&retry, attempts, 0, &transient(asked).unwrap()) {
        NextTry::After(wait) => Some(wait),
        NextTry::AfterLimit(_) | NextTry::TooLate(_) | NextTry::Never => None,
    };
    let usual = Retry::default();
    assert_eq!(wait(usual, 0, Some(1000)), Some(1000));
    assert_eq!(wait(usual, 2, Some(20_000)), Some(20_000));
    assert_eq!((wait(usual, 0, None), wait(usual, 2, None)), (Some(2000), Some(8000)));
    assert_eq!(wait(usual, 0, Some(90_000)), None, "nobody waits that long");
    let patient = Retry { max_asked_ms: None, max_delay_ms: 100_000, ..usual };
    assert_eq!(wait(patient, 0, Some(90_000)), Some(90_000));
}
