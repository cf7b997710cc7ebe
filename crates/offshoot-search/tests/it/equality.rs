//! The index finds what the scan finds, after growth and removal, whatever is asked.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::corpus::{Corpus, assistant, call, result, said, user};

const WORDS: [&str; 20] = [
    "parse",
    "parseHTTPHeader",
    "header_line",
    "Café",
    "cafe\u{301}",
    "naïve",
    "日本語",
    "検索が",
    "の",
    "한국어",
    "x1",
    "foo-bar",
    "--all",
    "std::fs",
    "The",
    "the",
    "e",
    "\u{1F600}",
    "ﬁn",
    "Straße",
];
const ASKED: [&str; 26] = [
    "parse",
    "http",
    "header",
    "\"header line\"",
    "header_line",
    "cafe",
    "café*",
    "naive -the",
    "日本",
    "語",
    "検索",
    "한국",
    "x1 OR e",
    "foo bar",
    "\"foo bar\"",
    "all",
    "std::fs",
    "the",
    "the the",
    "pars*",
    "fin",
    "straße",
    "arseH",
    "~arse",
    "/HTTP\\w+/",
    "zzz",
];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), 0..12).prop_map(|words| words.join(" "))
}

fn entry(id: String) -> impl Strategy<Value = Value> {
    (text(), 0..4_u8, 0..90_i64).prop_map(move |(text, kind, age)| match kind {
        0 => user(&id, age, &text),
        1 => assistant(&id, age, &text),
        2 => call(&id, age, "bash", &json!({ "command": text })),
        _ => result(&id, age, "bash", &text, false),
    })
}

fn entries(session: usize) -> impl Strategy<Value = Vec<Value>> {
    (1..8_usize).prop_flat_map(move |count| {
        let all: Vec<_> = (0..count).map(|at| entry(format!("s{session}e{at}"))).collect();
        all
    })
}

fn compare(corpus: &Corpus) -> Result<(), TestCaseError> {
    for typed in ASKED {
        let typed = format!("{typed} limit:1000");
        let (mut indexed, mut scanned) = (said(&corpus.indexed(&typed)), said(&corpus.scanned(&typed)));
        indexed.sort();
        scanned.sort();
        prop_assert_eq!(indexed, scanned, "{}", typed);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, ..ProptestConfig::default() })]
    #[test]
    fn the_index_finds_what_the_scan_finds(first in entries(0), second in entries(1), more in entries(2)) {
        let corpus = Corpus::new();
        corpus.session("s0", &first);
        corpus.session("s1", &second);
        compare(&corpus)?;
        corpus.append("s0", Some("s0e0".to_owned()), &more);
        compare(&corpus)?;
        std::fs::remove_file(corpus.file("s1")).unwrap();
        compare(&corpus)?;
    }
}

#[test]
fn long_texts_are_found_in_their_middle() {
    let corpus = Corpus::new();
    let text = format!("first {} middle {} last", "filler ".repeat(30_000), "filler ".repeat(30_000));
    corpus.session("s0", &[result("e1", 1, "bash", &text, false), user("e2", 1, "a middle")]);
    for typed in ["first", "middle", "last", "\"filler middle filler\"", "middle -last"] {
        let (mut indexed, mut scanned) = (said(&corpus.indexed(typed)), said(&corpus.scanned(typed)));
        indexed.sort();
        scanned.sort();
        assert_eq!(indexed, scanned, "{typed}");
        assert!(!indexed.is_empty(), "{typed}");
    }
}

#[test]
fn a_file_that_was_made_anew_is_read_again() {
    let corpus = Corpus::new();
    corpus.session("s0", &[user("e1", 1, "old words"), user("e2", 1, "more")]);
    assert_eq!(corpus.indexed("old").count, 1);
    corpus.session("s0", &[user("e1", 1, "new words"), user("e2", 1, "more"), user("e3", 1, "and more")]);
    assert_eq!((corpus.indexed("old").count, corpus.indexed("new").count), (0, 1));
}

#[test]
fn a_new_leaf_moves_the_marks() {
    let corpus = Corpus::new();
    corpus.session("s0", &[user("e1", 3, "root"), user("e2", 2, "needle")]);
    assert!(corpus.indexed("needle").hits[0].is_on_path);
    corpus.append("s0", Some("e1".to_owned()), &[user("e3", 1, "elsewhere")]);
    assert!(!corpus.indexed("needle").hits[0].is_on_path);
}
