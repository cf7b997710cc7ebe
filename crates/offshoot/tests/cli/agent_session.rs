//! Which session a run continues, and its name.

use offshoot_agent::testing::script::Reply;
use serde_json::Value;

use crate::agent::Talk;
use crate::world::{message, text};

fn talk(replies: usize) -> Talk {
    Talk::new(std::iter::repeat_n(Reply::text("Yes."), replies))
}

fn names(lines: &[Value]) -> Vec<&str> {
    lines.iter().filter(|line| line["type"] == "session_info").filter_map(|line| line["name"].as_str()).collect()
}

#[test]
fn an_exact_id_is_started_and_then_continued() {
    let talk = talk(2);
    let first = talk.run(&["--session-id", "nightly", "-p", "one"]);
    assert!(first.contains("this folder has no session nightly: it is a new one"), "{first}");
    assert_eq!(talk.run(&["--session-id", "nightly", "-p", "two"]).trim(), "Yes.");
    let lines = talk.lines();
    assert_eq!(lines[0]["id"], "nightly");
    assert_eq!(lines.iter().filter(|line| line["message"]["role"] == "user").count(), 2);
    // The start of an id is not the id.
    let refused = talk.run(&["--session-id", "../x", "-p", "three"]);
    assert!(refused.contains("error:"), "{refused}");
    assert_eq!(talk.files().len(), 1);
    talk.no_problems();
}

#[test]
fn a_copy_gets_the_id_unless_it_is_taken() {
    let talk = talk(2);
    talk.run(&["--session-id", "nightly", "-p", "one"]);
    let taken = talk.run(&["--fork", "nightly", "--session-id", "nightly", "-p", "two"]);
    assert!(taken.contains("the session nightly exists already"), "{taken}");
    assert_eq!(talk.files().len(), 1);
    talk.run(&["--fork", "nightly", "--session-id", "night", "-p", "two"]);
    let ids = talk.files().iter().map(|file| std::fs::read_to_string(file).unwrap()).collect::<Vec<_>>();
    let ids: Vec<bool> = ids.iter().map(|text| text.lines().next().unwrap().contains("\"id\":\"night\"")).collect();
    assert_eq!(ids.iter().filter(|is_copy| **is_copy).count(), 1);
    talk.no_problems();
}

#[test]
fn the_name_is_written_once_and_before_the_prompt() {
    let talk = talk(3);
    talk.run(&["-n", "  tea  ", "-p", "one"]);
    assert_eq!(talk.lines()[1]["name"], "tea");
    talk.run(&["-c", "-n", "tea", "-p", "two"]);
    assert_eq!(names(&talk.lines()), ["tea"]);
    talk.run(&["-c", "-n", "coffee", "-p", "three"]);
    assert_eq!(names(&talk.lines()), ["tea", "coffee"]);
    let empty = talk.run(&["-n", " ", "-p", "x"]);
    assert!(empty.contains("a name is not empty"), "{empty}");
    talk.no_problems();
}

/// A start that fails leaves no session behind that has nothing but a name.
#[test]
fn a_name_is_not_written_when_the_start_fails() {
    let talk = talk(0);
    let failed = talk.run(&["-n", "tea", "--model", "nope/nope", "-p", "x"]);
    assert!(failed.contains("nope"), "{failed}");
    assert!(talk.files().is_empty());
}

/// A session of a program that records no thinking level gets the usual one, as in pi, not "off".
#[test]
fn a_session_without_a_thinking_level_has_the_usual_one() {
    let talk = talk(2);
    let cwd = talk.world.work().display().to_string();
    let path = talk.world.write("other.jsonl", text("other", &cwd, &[&message("aaaa1111", None, 1, "user", "hello")]));
    for prompt in ["one", "two"] {
        assert_eq!(talk.run(&["--session", "other.jsonl", "-p", prompt]).trim(), "Yes.");
    }
    let levels: Vec<String> = std::fs::read_to_string(path)
        .unwrap()
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).unwrap()["thinkingLevel"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(levels, ["medium"]);
    talk.no_problems();
}
