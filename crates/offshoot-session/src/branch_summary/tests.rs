//! Vectors of pi's rules on trees of two branches.

use super::*;
use crate::error::Error;
use crate::session::{Options, Session};
use crate::summariser::Extractive;

/// A root with two branches, `e1`…`e5` and `f1`.
fn session() -> Session {
    let mut lines =
        vec![r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#.to_owned()];
    let mut add = |id: &str, parent: &str, rest: &str| {
        let (kind, members) = rest.split_once(' ').unwrap();
        lines.push(format!(
            r#"{{"type":"{kind}","id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:00.000Z",{members}}}"#
        ));
    };
    let said = |role: &str, tokens: usize| {
        format!(
            r#"message "message":{{"role":"{role}","content":[{{"type":"text","text":"{}"}}]}}"#,
            "x".repeat(tokens * 4)
        )
    };
    let call = r#"message "message":{"role":"assistant","content":[{"type":"toolCall","name":"edit","arguments":{"path":"new.rs"}}]}"#;
    add("e0", "null", &said("user", 10));
    add(
        "e1",
        "\"e0\"",
        r#"branch_summary "fromId":"x","summary":"nested","details":{"readFiles":["old.rs"],"modifiedFiles":[]}"#,
    );
    add("e2", "\"e1\"", &said("user", 100));
    add("e3", "\"e2\"", call);
    add("e4", "\"e3\"", &said("toolResult", 100));
    add("e5", "\"e4\"", &said("user", 100));
    add("f1", "\"e0\"", &said("user", 10));
    Session::from_text(&(lines.join("\n") + "\n"), Options::default()).unwrap()
}

fn planned(from: Option<&str>, target: Option<&str>, budget: u64) -> BranchPlan {
    let session = session();
    let find = |id: &str| session.find(id).unwrap();
    plan(&session, from.map(find), target.map(find), budget).unwrap()
}

fn indexes(plan: &BranchPlan) -> Vec<usize> {
    plan.said.iter().map(|said| said.ix.index()).collect()
}

#[test]
fn what_is_left_behind_stands_between_the_ancestor_and_the_leaf() {
    let plan = planned(Some("e5"), Some("f1"), 0);
    assert_eq!(plan.entries.len(), 5);
    assert_eq!(plan.ancestor.map(NodeIx::index), Some(0));
    assert_eq!(indexes(&plan), [1, 2, 3, 5], "results are left out: their calls say enough");
    assert_eq!(
        (plan.files.read.as_slice(), plan.files.modified.as_slice()),
        (&["old.rs".to_owned()][..], &["new.rs".to_owned()][..])
    );
    assert!(planned(None, Some("f1"), 0).entries.is_empty());
    assert_eq!(planned(Some("e5"), None, 0).entries.len(), 6, "going before the first entry leaves everything");
    assert!(planned(Some("e0"), Some("f1"), 0).entries.is_empty());
}

/// As in pi 1.6: what an edit took from the model or changed for it is not summarised as it was.
#[test]
fn edits_on_the_branch_count() {
    let mut session = session();
    session.switch(session.find("e5").unwrap()).unwrap();
    for (target, replacement) in [("e2", "null"), ("e5", r#"{"content":"instead"}"#)] {
        let replacement = crate::json::Json::parse(replacement).unwrap();
        session.append(&NewEntry::context_edit(target, Some(Role::User), replacement).unwrap()).unwrap();
    }
    let find = |id: &str| session.find(id).unwrap();
    let plan = plan(&session, session.leaf(), Some(find("f1")), 0).unwrap();
    assert_eq!(indexes(&plan), [1, 3, 5]);
    assert!(plan.text().ends_with("[User]: instead"), "{}", plan.text());
}

#[test]
fn the_newest_words_fill_the_budget() {
    let plan = planned(Some("e5"), Some("f1"), 150);
    assert_eq!((indexes(&plan), plan.left_out), (vec![3, 5], 2));
    assert_eq!(plan.files.read, ["old.rs"], "files of nested summaries are carried on all the same");
    let exact = plan.tokens + 100;
    assert_eq!(
        (indexes(&planned(Some("e5"), Some("f1"), exact))),
        [2, 3, 5],
        "an earlier summary behind 90 % does not fit"
    );
    assert_eq!(indexes(&planned(Some("e1"), Some("f1"), 1)), [1], "an earlier summary is taken all the same");
}

#[test]
fn the_summary_says_what_it_is_and_which_files() {
    let plan = planned(Some("e5"), Some("f1"), 0);
    let request = plan.request(Instructions::Focus("errors")).unwrap();
    assert!(request.prompt.ends_with("Pay special attention to this: errors"));
    assert!(
        plan.request(Instructions::Instead("list files")).unwrap().prompt.ends_with("</conversation>\n\nlist files")
    );
    let drafted =
        plan.summary(Some(&SummariserAnswer { text: "S".to_owned(), usage: Some("{}".to_owned()) }), None).unwrap();
    assert_eq!(
        drafted.text,
        format!("{LEAD}\n\nS\n\n<read-files>\nold.rs\n</read-files>\n\n<modified-files>\nnew.rs\n</modified-files>")
    );
    assert_eq!(drafted.branch_summary().usage.map(|usage| usage.text().to_owned()).as_deref(), Some("{}"));
    assert!(matches!(plan.summary(Some(&SummariserAnswer::default()), None), Err(Error::NoSummary(_))));
}

#[test]
fn nothing_said_needs_no_summariser() {
    let plan = planned(Some("e0"), Some("f1"), 0);
    assert!(plan.request(Instructions::Plain).is_none());
    let session = session();
    let drafted = plan.run(&Extractive::new(&session), Instructions::Plain).unwrap();
    assert_eq!(
        (drafted.text.as_str(), drafted.details.as_str()),
        (NOTHING_SAID, r#"{"readFiles":[],"modifiedFiles":[]}"#)
    );
}
