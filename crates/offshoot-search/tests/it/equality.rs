//! The index finds what the scan finds, after growth and removal, whatever is asked.

use std::time::{Duration, SystemTime};

use offshoot_search::{SearchIndex, SearchedPlace};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::corpus::{Corpus, NOW, assistant, call, name, result, said, user};

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
const ASKED: [&str; 34] = [
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
    "~é",
    "~s:",
    "~本語 の",
    "the ~ea",
    "eader ~arse OR x1",
    "/h[ae]+der|x\\d/ the",
    "aff~",
    "/(?i)PARSE.*(fin|stra)/",
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

/// A query of a few terms: words, their parts, phrases, beginnings, patterns, exclusions, filters.
fn asked() -> impl Strategy<Value = String> {
    let word = || prop::sample::select(&WORDS[..]);
    let part = (word(), 0..4_usize, 1..5_usize).prop_map(|(word, skip, take)| {
        let part: String = word.chars().skip(skip).take(take).filter(|c| *c != '-').collect();
        if part.is_empty() { "~e".to_owned() } else { format!("~{part}") }
    });
    let plain = |word: &str| word.trim_start_matches('-').to_owned();
    let term = prop_oneof![
        4 => word().prop_map(plain),
        3 => part,
        2 => (word(), word()).prop_map(|(one, other)| format!("\"{one} {other}\"")),
        1 => word().prop_map(move |word| format!("{}*", plain(word).chars().take(2).collect::<String>())),
        1 => word().prop_map(|word| format!("/{word}/")),
        1 => word().prop_map(move |word| format!("e -{}", plain(word))),
        1 => (word(), word()).prop_map(move |(one, other)| format!("{} OR ~{}", plain(one), plain(other))),
        1 => prop::sample::select(&["role:user", "tool:bash", "since:40d", "on:leaf", "sort:old"][..])
            .prop_map(str::to_owned),
    ];
    prop::collection::vec(term, 1..4).prop_map(|terms| terms.join(" "))
}

fn compare<T: AsRef<str>>(corpus: &Corpus, asked: &[T]) -> Result<(), TestCaseError> {
    for typed in asked {
        let typed = format!("{} limit:1000", typed.as_ref());
        let (mut indexed, mut scanned) = (said(&corpus.indexed_later(&typed)), said(&corpus.scanned(&typed)));
        indexed.sort();
        scanned.sort();
        prop_assert_eq!(indexed, scanned, "{}", typed);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]
    #[test]
    fn the_index_finds_what_the_scan_finds(
        first in entries(0),
        second in entries(1),
        more in entries(2),
        asked in prop::collection::vec(asked(), 10),
    ) {
        let corpus = Corpus::new();
        corpus.session("s0", &first);
        corpus.session("s1", &second);
        compare(&corpus, &asked)?;
        corpus.append("s0", Some("s0e0".to_owned()), &more);
        compare(&corpus, &asked)?;
        std::fs::remove_file(corpus.file("s1")).unwrap();
        compare(&corpus, &asked)?;
    }
}

#[test]
fn every_kind_of_query_finds_what_the_scan_finds() {
    let corpus = Corpus::new();
    let texts: Vec<String> = (0..60)
        .map(|at| WORDS.iter().cycle().skip(at).step_by(at % 7 + 1).take(at % 9).copied().collect::<Vec<_>>().join(" "))
        .collect();
    let entries: Vec<Value> = texts.iter().enumerate().map(|(at, text)| user(&format!("e{at}"), 1, text)).collect();
    corpus.session("s0", &entries);
    compare(&corpus, &ASKED).unwrap();
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

/// Another process is just writing: what it has not written yet is scanned.
#[test]
fn what_the_index_does_not_have_yet_is_scanned() {
    let corpus = Corpus::new();
    corpus.session("s0", &[user("e1", 9, "parse the header"), user("e2", 8, "parseHTTPHeader")]);
    corpus.session("s1", &[user("e3", 7, "the header is parsed")]);
    assert_eq!(corpus.indexed("header").count, 3);
    let other = rusqlite::Connection::open(corpus.index.file()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    corpus.append("s1", Some("e3".to_owned()), &[user("e4", 2, "a new header"), user("e5", 1, "reparsed")]);
    corpus.session("s2", &[assistant("e6", 1, "no header here")]);
    for (typed, count) in [("header", 5), ("parsed", 1), ("~arse", 4), ("eparse", 1), ("/par.ed|here/", 3)] {
        let (mut indexed, mut scanned) = (said(&corpus.indexed(typed)), said(&corpus.scanned(typed)));
        indexed.sort();
        scanned.sort();
        assert_eq!(indexed, scanned, "{typed}");
        assert_eq!(indexed.len(), count, "{typed}");
    }
}

/// In a large store words come first.
#[test]
fn sessions_without_blocks_are_scanned_until_they_have_them() {
    let mut corpus = Corpus::new();
    corpus.index = corpus.index.with_blocks_later_above(0);
    corpus.session("s0", &[user("e1", 9, "parse the header"), user("e2", 8, "parseHTTPHeader")]);
    corpus.session("s1", &[user("e3", 7, "x"), user("e4", 6, "needle")]);
    let lacking = || corpus.place(|place| corpus.index.refresh(place, NOW).unwrap().without_blocks.len());
    assert_eq!((lacking(), lacking()), (2, 2));
    compare(&corpus, &ASKED).unwrap();
    corpus.append("s0", Some("e2".to_owned()), &[user("e5", 1, "later arsenal")]);
    assert_eq!(lacking(), 2);
    assert!(!corpus.place(|place| corpus.index.make_blocks(SearchedPlace { is_over: &|| true, ..place })));
    assert!(corpus.place(|place| corpus.index.make_blocks(place)));
    assert_eq!(lacking(), 0);
    compare(&corpus, &ASKED).unwrap();
    assert_eq!(said(&corpus.indexed("rsena")), ["s0:e5 user"]);
}

/// What is much is not awaited: the newest sessions that fit are read into the index, the rest is scanned.
#[test]
fn a_search_reads_only_so_much_before_it_answers() {
    let mut corpus = Corpus::new();
    for (number, hour) in [("s0", 3), ("s1", 2), ("s2", 1)] {
        let file = corpus.session(number, &[user(number, 9, "parse the header"), user("x", 8, number)]);
        let written = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 - hour * 3600);
        std::fs::File::open(&file).unwrap().set_modified(written).unwrap();
    }
    let size = |number: &str| std::fs::metadata(corpus.file(number)).unwrap().len();
    let bytes = size("s1") + size("s2");
    corpus.index = SearchIndex::with_read_before_answer(corpus.index, bytes);
    let indexed = || corpus.index.state().sessions;
    let found = corpus.indexed_later("header");
    assert_eq!((found.count, found.is_index_behind, indexed()), (3, true, 2));
    for inside in ["eade", "s0", "\"parse the\" -s1"] {
        assert_eq!(said(&corpus.indexed_later(inside)), said(&corpus.scanned(inside)), "{inside}");
    }
    assert_eq!(indexed(), 3, "the next searches went on");
    assert!(!corpus.indexed_later("header").is_index_behind);
}

#[test]
fn a_file_that_was_made_anew_is_read_again() {
    let corpus = Corpus::new();
    corpus.session("s0", &[user("e1", 1, "old words"), user("e2", 1, "more")]);
    assert_eq!(corpus.indexed("old").count, 1);
    corpus.session("s0", &[user("e1", 1, "new words"), user("e2", 1, "more"), user("e3", 1, "and more")]);
    assert_eq!((corpus.indexed("old").count, corpus.indexed("new").count), (0, 1));
}

/// What is gone from a session is gone from the index: no block of it stays.
#[test]
fn blocks_of_old_texts_are_removed() {
    let corpus = Corpus::new();
    let blocks = || {
        let database = rusqlite::Connection::open(corpus.index.file()).unwrap();
        database.query_row("SELECT (SELECT count(*) FROM block), (SELECT count(*) FROM part)", [], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
        })
    };
    corpus.session("s0", &[name("e1", 1, "a name"), user("e2", 1, "old words")]);
    assert_eq!((corpus.indexed("~ords").count, blocks().unwrap()), (1, (2, 2)));
    corpus.append("s0", Some("e2".to_owned()), &[name("e3", 1, "another name")]);
    assert_eq!((corpus.indexed("~nother").count, blocks().unwrap()), (1, (2, 2)));
    corpus.session("s0", &[user("e4", 1, "new words")]);
    assert_eq!((corpus.indexed("~ords").count, blocks().unwrap()), (1, (1, 1)));
    std::fs::remove_file(corpus.file("s0")).unwrap();
    assert_eq!((corpus.indexed("~ords").count, blocks().unwrap()), (0, (0, 0)));
}

/// Blocks are read from the newest on until no older one can have a newer hit: some have old texts beside new ones.
#[test]
fn the_newest_parts_come_first_whatever_their_blocks_are() {
    let corpus = Corpus::new();
    for session in 0..6 {
        let age = |at: i64| 1 + session + at * (1 + (session * 5) % 7);
        let texts: Vec<Value> =
            (0..9).map(|at| user(&format!("s{session}e{at}"), age(9 - at), "some needles")).collect();
        corpus.session(&format!("s{session}"), &texts);
    }
    for typed in
        ["~eedle limit:4", "eedle limit:11", "/ne+d/ limit:7", "~eedle sort:old limit:5", "~eedle since:9d limit:6"]
    {
        let times = |found: &offshoot_search::Found| found.hits.iter().map(|hit| hit.at).collect::<Vec<_>>();
        assert_eq!(times(&corpus.indexed(typed)), times(&corpus.scanned(typed)), "{typed}");
    }
}

#[test]
fn a_new_leaf_moves_the_marks() {
    let corpus = Corpus::new();
    corpus.session("s0", &[user("e1", 3, "root"), user("e2", 2, "needle")]);
    assert!(corpus.indexed("needle").hits[0].is_on_path);
    corpus.append("s0", Some("e1".to_owned()), &[user("e3", 1, "elsewhere")]);
    assert!(!corpus.indexed("needle").hits[0].is_on_path);
}
