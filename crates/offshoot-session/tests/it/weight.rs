//! What contexts weigh: which report of a provider still counts, and the same numbers however they are counted.

use offshoot_session::context::{ContextReport, ContextWeight, total_tokens, weigh};
use offshoot_session::header::Dialect;
use offshoot_session::pick::{PickOptions, PickRequest};
use offshoot_session::session::Session;

use super::common::session;

const OVERHEAD: u64 = 10_000;

/// A message of so many tokens.
fn weighing(role: &str, tokens: usize, more: &str) -> String {
    let text = "x".repeat(tokens * 4);
    format!(r#"{{"type":"message","message":{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}]{more}}}}}"#)
}

fn user(tokens: usize) -> String {
    weighing("user", tokens, "")
}

fn answer(tokens: usize, usage: &str) -> String {
    weighing("assistant", tokens, &format!(r#","provider":"p","model":"m","stopReason":"stop","usage":{usage}"#))
}

fn chain(lines: &[String]) -> Session {
    chained(lines, |at| at.checked_sub(1).map_or("-".to_owned(), |at| format!("e{at}")))
}

/// Entries `e0`, `e1`, … below those that `parent` names.
fn chained(lines: &[String], parent: impl Fn(usize) -> String) -> Session {
    let pictures: Vec<String> =
        lines.iter().enumerate().map(|(at, what)| format!("e{at} {} {what}", parent(at))).collect();
    session(&pictures.iter().map(String::as_str).collect::<Vec<_>>())
}

fn weight(session: &Session) -> ContextWeight {
    let (leaf, form) = (session.leaf(), session.dialect());
    let weight = weigh(session, leaf, form).unwrap();
    assert_eq!(total_tokens(session, leaf, form, OVERHEAD).unwrap(), weight.total(OVERHEAD), "counted from the end");
    weight
}

/// Messages and total.
fn numbers(session: &Session) -> (u64, u64) {
    let weight = weight(session);
    (weight.messages, weight.total(OVERHEAD))
}

/// A reported total.
fn reported(total: u64) -> String {
    format!(r#"{{"input":{},"output":9,"cacheRead":0,"cacheWrite":0,"totalTokens":{total}}}"#, total - 9)
}

#[test]
fn a_report_counts_the_overhead_and_what_follows_is_added() {
    let estimated = chain(&[user(30)]);
    assert_eq!(numbers(&estimated), (30, OVERHEAD + 30), "without a report");
    let session = chain(&[user(30), answer(20, &reported(5000)), user(7)]);
    let report = ContextReport { index: 1, tokens: 5000, trailing: 7, trailing_system: 0 };
    assert_eq!(weight(&session), ContextWeight { messages: 57, stored_overhead: 0, report: Some(report) });
    assert_eq!(numbers(&session), (57, 5007));
}

/// The report of a kept answer is about what the compaction took away.
#[test]
fn after_a_compaction_reports_before_it_do_not_count() {
    let lines = [user(300), answer(20, &reported(50_000)), user(5), answer(5, &reported(50_010)), "k=e2".to_owned()];
    let compacted = chain(&lines);
    assert_eq!(numbers(&compacted), (1 + 10, OVERHEAD + 11));
    let asked = chain(&[&lines[..], &[user(8)]].concat());
    assert_eq!(numbers(&asked), (1 + 18, OVERHEAD + 19));
    let answered = chain(&[&lines[..], &[user(8), answer(2, &reported(700)), user(4)]].concat());
    assert_eq!(numbers(&answered), (1 + 24, 704));
}

#[test]
fn after_an_edit_reports_before_it_do_not_count() {
    let lines = [user(300), answer(20, &reported(50_000)), "edit=e0=null".to_owned()];
    assert_eq!(numbers(&chain(&lines)), (20, OVERHEAD + 20));
    let answered = chain(&[&lines[..], &[user(8), answer(2, &reported(700))]].concat());
    assert_eq!(numbers(&answered), (30, 700));
    // The edited content is what is weighed.
    let replaced = r#"edit=e0={"content":[{"type":"text","text":"12345678"}]}"#.to_owned();
    assert_eq!(numbers(&chain(&[user(300), answer(20, &reported(50_000)), replaced])), (22, OVERHEAD + 22));
}

/// What the request for a summary cost is not the size of the context that has the summary.
#[test]
fn the_usage_of_a_summary_is_no_report() {
    let usage = reported(90_000);
    let compaction = format!(
        r#"{{"type":"compaction","summary":"12345678","firstKeptEntryId":"e1","tokensBefore":9,"usage":{usage}}}"#
    );
    assert_eq!(numbers(&chain(&[user(300), user(5), compaction])), (7, OVERHEAD + 7));
    let branch = format!(r#"{{"type":"branch_summary","fromId":"x","summary":"12345678","usage":{usage}}}"#);
    assert_eq!(numbers(&chain(&[user(30), answer(20, &reported(1000)), branch])), (52, 1002));
}

/// A report of a branch is not on the path of its sibling; the one above the fork is.
#[test]
fn a_sibling_has_the_report_that_both_branches_share() {
    let lines = [user(30), answer(20, &reported(1000)), user(3), answer(400, &reported(9000)), user(6)];
    let fork = |at: usize| match at {
        0 => "-".to_owned(),
        4 => "e1".to_owned(),
        at => format!("e{}", at - 1),
    };
    assert_eq!(numbers(&chained(&lines, fork)), (56, 1006));
    let from_root = |at: usize| if at == 4 || at == 0 { "-".to_owned() } else { format!("e{}", at - 1) };
    assert_eq!(numbers(&chained(&lines, from_root)), (6, OVERHEAD + 6));
}

/// The path decides what follows a compaction, not the order of the lines.
#[test]
fn in_a_shuffled_file_a_report_after_a_compaction_counts() {
    let lines = [answer(20, &reported(5000)), user(30), "k=e1".to_owned(), user(7)];
    let shuffled = ["e2", "-", "e1", "e0"];
    let session = chained(&lines, |at| shuffled[at].to_owned());
    assert_eq!(numbers(&session).1, 5007);
}

/// A compaction on another branch changes nothing here.
#[test]
fn what_changes_a_sibling_changes_nothing_here() {
    let fork = |at: usize| match at {
        0 => "-".to_owned(),
        3 => "e1".to_owned(),
        at => format!("e{}", at - 1),
    };
    for change in ["k=e1", "edit=e0=null"] {
        let session = chained(&[user(30), answer(20, &reported(1000)), change.to_owned(), user(6)], fork);
        assert_eq!(numbers(&session), (56, 1006), "{change}");
    }
}

#[test]
fn failed_and_empty_reports_do_not_count() {
    let odd = [
        r#","stopReason":"aborted""#,
        r#","stopReason":"aborted","usage":{"totalTokens":7777}"#,
        r#","stopReason":"error","usage":{"totalTokens":7777}"#,
        r#","stopReason":"stop","usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0}"#,
        r#","stopReason":"stop","usage":null"#,
        r#","stopReason":"stop","usage":{}"#,
        r#","stopReason":"stop","usage":{"totalTokens":-5}"#,
    ];
    for odd in odd {
        let first = [user(30), weighing("assistant", 20, odd)];
        assert_eq!(numbers(&chain(&first)), (50, OVERHEAD + 50), "{odd}");
        let later = [user(30), answer(20, &reported(1000)), user(3), weighing("assistant", 4, odd), user(2)];
        assert_eq!(numbers(&chain(&later)), (59, 1009), "{odd}");
    }
}

/// Reports without a total are summed; omp's have more members; another model's counts, as in pi.
#[test]
fn reports_have_many_shapes() {
    for (usage, total) in [
        (r#"{"input":90,"output":10,"cacheRead":800,"cacheWrite":100}"#, 1000),
        (
            r#"{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":1000,"premiumRequests":1,"reasoningTokens":4}"#,
            1000,
        ),
        (r#"{"input":90,"output":910,"totalTokens":null,"cost":{"total":0.5}}"#, 1000),
    ] {
        assert_eq!(numbers(&chain(&[user(30), answer(20, usage), user(5)])).1, total + 5, "{usage}");
    }
    let change = r#"{"type":"model_change","provider":"other","modelId":"n"}"#.to_owned();
    let session = chain(&[user(30), answer(20, &reported(1000)), change, user(5)]);
    assert_eq!(numbers(&session), (55, 1005));
}

/// pi stores system prompts. A request has its own, so they are no messages; `tokensBefore` counts them as pi does.
#[test]
fn stored_system_prompts_are_not_messages() {
    let system = |tokens| weighing("system", tokens, "");
    let session = chain(&[system(100), user(30)]);
    let counted = weight(&session);
    assert_eq!((counted.messages, counted.stored_overhead, counted.stored_total()), (30, 100, 130));
    assert_eq!(counted.total(OVERHEAD), OVERHEAD + 30);
    let session = chain(&[system(100), user(30), answer(20, &reported(1000)), user(5), system(40)]);
    let counted = weight(&session);
    assert_eq!((counted.messages, counted.total(OVERHEAD), counted.stored_total()), (55, 1005, 1045));
}

#[test]
fn omp_is_weighed_by_the_same_rules() {
    let title = r#"{"type":"title_change","title":"T"}"#.to_owned();
    let developer = weighing("developer", 11, "");
    let session = chain(&[title.clone(), user(300), answer(20, &reported(50_000)), developer, user(5)]);
    assert_eq!(session.dialect(), Dialect::Omp);
    assert_eq!(numbers(&session), (336, 50_016));
    let kept = chain(&[title.clone(), user(300), answer(20, &reported(50_000)), user(5), "k=e2".to_owned(), user(4)]);
    let (messages, total) = numbers(&kept);
    assert_eq!(total, OVERHEAD + messages, "the kept report does not count");
    assert!((29..100).contains(&messages), "{messages}");
    let reset = r#"{"type":"reset_boundary"}"#.to_owned();
    let session = chain(&[title, user(300), answer(20, &reported(50_000)), reset, user(5)]);
    assert_eq!(numbers(&session), (5, OVERHEAD + 5));
}

/// Copies bring no report, and a merge none either; the one above them still counts.
#[test]
fn after_a_pick_and_its_undo_the_report_of_here_counts() {
    let lines = [user(30), answer(20, &reported(1000)), user(3), answer(400, &reported(9000)), user(6)];
    let fork = |at: usize| match at {
        0 => "-".to_owned(),
        4 => "e1".to_owned(),
        at => format!("e{}", at - 1),
    };
    let mut session = chained(&lines, fork);
    let selections = [vec![session.find("e2").unwrap(), session.find("e3").unwrap()]];
    let (onto, options) = (session.leaf(), PickOptions::default());
    let planned = session.plan_pick(&PickRequest { from: None, selections: &selections, onto, options }).unwrap();
    assert_eq!((planned.plan.before, planned.plan.tokens), (weight(&session), 403));
    session.pick(&planned).unwrap();
    assert_eq!(numbers(&session), (459, 1006 + 403));
    let undo = session.plan_undo().unwrap().unwrap();
    session.undo(&undo).unwrap();
    assert_eq!(numbers(&session), (56, 1006));
}

/// A plan to take a compaction back weighs the context before it, whose report counts again.
#[test]
fn before_a_compaction_its_reports_count_again() {
    let lines = [user(300), answer(20, &reported(50_000)), user(5), answer(5, &reported(50_010)), "k=e2".to_owned()];
    let mut session = chain(&[&lines[..], &[user(8)]].concat());
    let planned = session.plan_uncompact().unwrap().unwrap();
    assert_eq!((planned.plan.before.total(OVERHEAD), planned.plan.tokens), (50_010, 8));
    session.uncompact(&planned).unwrap();
    assert_eq!(numbers(&session), (338, 50_018));
}
