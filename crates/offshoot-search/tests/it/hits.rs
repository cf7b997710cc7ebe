//! What a hit says: where it is, what it stands on, and which filters let it pass.

use serde_json::json;

use crate::corpus::{Corpus, assistant, call, message, name, result, said, user};

fn both(corpus: &Corpus, typed: &str) -> Vec<String> {
    let (mut indexed, mut scanned) = (said(&corpus.indexed(typed)), said(&corpus.scanned(typed)));
    indexed.sort();
    scanned.sort();
    assert_eq!(indexed, scanned, "{typed}");
    indexed
}

fn sample() -> Corpus {
    let corpus = Corpus::new();
    let mut other = assistant("a5", 2, "needle on another branch");
    other["parentId"] = json!("a1");
    let picture = json!([{"type": "text", "text": "a needle in a picture"}, {"type": "image", "data": "AAAA", "mimeType": "image/png"}]);
    corpus.session(
        "aaaa",
        &[
            user("a1", 9, "where is the needle"),
            call("a2", 8, "edit", &json!({"path": "src/list.rs", "edits": [{"oldText": "x", "newText": "needle"}]})),
            result("a3", 7, "bash", "needle: command not found", true),
            message("a4", 6, &json!({"role": "user", "content": picture})),
            other,
            name("a6", 1, "the needle's session"),
        ],
    );
    corpus
}

#[test]
fn filters_let_pass_what_they_name() {
    let corpus = sample();
    for (typed, expected) in [
        ("needle role:user", vec!["aaaa:a1 user", "aaaa:a4 user"]),
        ("needle role:tool", vec!["aaaa:a2 call", "aaaa:a3 result"]),
        ("needle tool:bash", vec!["aaaa:a3 result"]),
        ("needle file:list.rs", vec!["aaaa:a2 call"]),
        ("file:list.rs", vec!["aaaa:a2 call"]),
        ("needle is:error", vec!["aaaa:a3 result"]),
        ("needle has:image", vec!["aaaa:a4 user"]),
        ("needle on:leaf", vec!["aaaa:- title", "aaaa:a1 user", "aaaa:a5 assistant"]),
        ("needle since:8d until:7d", vec!["aaaa:a2 call"]),
        ("needle model:OPUS", vec!["aaaa:a5 assistant"]),
        ("needle role:title", vec!["aaaa:- title"]),
        ("needle agent:pi", vec![]),
        ("needle session:bbbb", vec![]),
        ("needle branch:main", vec![]),
        ("needle cwd:/elsewhere", vec![]),
        ("needle -command cwd:/work role:tool", vec!["aaaa:a2 call"]),
    ] {
        assert_eq!(both(&corpus, typed), expected, "{typed}");
    }
}

#[test]
fn what_fits_alike_comes_in_the_order_of_paths() {
    let corpus = Corpus::new();
    for id in ["bbbb", "dddd", "aaaa", "cccc"] {
        corpus.session(id, &[user(&format!("{id}1"), 3, "needle"), user(&format!("{id}2"), 3, "needle")]);
    }
    let expected: Vec<String> =
        ["aaaa", "bbbb", "cccc", "dddd"].iter().flat_map(|id| [1, 2].map(|at| format!("{id}:{id}{at} user"))).collect();
    for typed in ["needle", "needle sort:new", "needle sort:old"] {
        assert_eq!(said(&corpus.indexed(typed)), expected, "{typed}");
        assert_eq!(said(&corpus.scanned(typed)), expected, "{typed}");
    }
}

#[test]
fn a_hit_says_whether_it_is_on_the_way_to_the_leaf_or_compacted() {
    let corpus = Corpus::new();
    let compaction = json!({"type": "compaction", "id": "c3", "timestamp": "2025-12-30T00:00:00.000Z",
        "summary": "a summary of the needle", "firstKeptEntryId": "c2", "tokensBefore": 10});
    let mut aside = user("c5", 1, "needle aside");
    aside["parentId"] = json!("c1");
    corpus.session(
        "cccc",
        &[user("c1", 5, "needle before"), user("c2", 4, "needle kept"), aside, {
            let mut compaction = compaction;
            compaction["parentId"] = json!("c2");
            compaction
        }],
    );
    for found in [corpus.indexed("needle"), corpus.scanned("needle")] {
        let mut marks: Vec<(String, bool, bool)> = found
            .hits
            .iter()
            .map(|hit| (hit.entry.as_ref().unwrap().as_str().to_owned(), hit.is_on_path, hit.is_compacted))
            .collect();
        marks.sort();
        let expected = [("c1", true, true), ("c2", true, false), ("c3", true, false), ("c5", false, false)];
        assert_eq!(marks, expected.map(|(id, on, compacted)| (id.to_owned(), on, compacted)));
    }
}

#[test]
fn copies_of_an_entry_in_forks_are_one_hit() {
    let corpus = Corpus::new();
    for id in ["f1", "f2", "f3"] {
        corpus.session(id, &[user("e1", 5, "a needle"), user(&format!("{id}x"), 4, &format!("needle of {id}"))]);
    }
    for found in [corpus.indexed("needle"), corpus.scanned("needle")] {
        assert_eq!(found.count, 4);
        let copy = found.hits.iter().find(|hit| hit.entry.as_ref().unwrap().as_str() == "e1").unwrap();
        assert_eq!((copy.session.as_str(), copy.also_in.len()), ("f3", 2));
    }
}

#[test]
fn hits_come_in_pages() {
    let corpus = Corpus::new();
    let entries: Vec<_> = (0..40).map(|at| user(&format!("e{at}"), 40 - at, "needle")).collect();
    corpus.session("pppp", &entries);
    let page = |skip| {
        corpus.place(|place| {
            corpus.index.search(place, &crate::corpus::query("needle limit:15 sort:new"), skip, crate::corpus::NOW)
        })
    };
    let (first, last) = (page(0).unwrap(), page(30).unwrap());
    assert_eq!((first.hits.len(), first.count, last.hits.len()), (15, 40, 10));
    assert_eq!(said(&last)[9], "pppp:e0 user");
    assert_eq!(said(&first)[0], "pppp:e39 user");
}

#[test]
fn a_snippet_is_one_line_around_what_was_found() {
    let corpus = sample();
    let found = corpus.indexed("command found");
    let snippet = &found.hits[0].snippet;
    let shown: Vec<&str> = snippet.ranges.iter().map(|range| &snippet.text[range.clone()]).collect();
    assert_eq!((snippet.text.as_str(), shown), ("needle: command not found", vec!["command", "found"]));
}

#[test]
fn labels_and_old_sessions_are_found() {
    let corpus = Corpus::new();
    corpus.session(
        "llll",
        &[
            user("l1", 3, "hello"),
            json!({"type": "label", "id": "l2", "timestamp": "2025-12-30T00:00:00.000Z",
        "targetId": "l1", "label": "the needle label"}),
        ],
    );
    let old = corpus.file("oooo");
    std::fs::write(
        &old,
        "{\"type\":\"session\",\"id\":\"oooo\",\"timestamp\":\"2025-12-30T00:00:00.000Z\",\"cwd\":\"/work\"}\n\
         {\"type\":\"message\",\"timestamp\":\"2025-12-30T00:00:00.000Z\",\"message\":{\"role\":\"user\",\"content\":\"an old needle\"}}\n",
    )
    .unwrap();
    let found = both(&corpus, "needle");
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.contains(&"llll:l1 label".to_owned()), "{found:?}");
}

/// What is inside of other words may be newer, and more than is wanted.
#[test]
fn a_whole_word_is_found_behind_many_parts_of_words() {
    let corpus = Corpus::new();
    let mut entries = vec![user("e0", 900, "the need is old")];
    entries.extend((1..1500).map(|at| user(&format!("e{at}"), 1, "needles")));
    corpus.session("s0", &entries);
    for typed in ["need sort:new limit:3", "need limit:3"] {
        for found in [corpus.indexed(typed), corpus.scanned(typed)] {
            assert_eq!((said(&found), found.count), (vec!["s0:e0 user".to_owned()], 1), "{typed}");
        }
    }
}

/// Copies of hits that are not wanted count once, too.
#[test]
fn copies_beyond_the_limit_count_once() {
    let corpus = Corpus::new();
    let entries: Vec<_> = (0..1500).map(|at| user(&format!("e{at}"), at, "needle")).collect();
    for id in ["s0", "s1"] {
        corpus.session(id, &entries);
    }
    for found in [corpus.indexed("needle limit:3"), corpus.scanned("needle limit:3")] {
        assert_eq!((found.hits.len(), found.count), (3, 1500));
    }
}

#[test]
fn a_word_that_very_many_texts_have_ranks_none_of_them() {
    let corpus = Corpus::new();
    let mut entries = vec![
        assistant("old2", 300, "common zebra zebra zebra"),
        assistant("old3", 299, "common once, and a zebra somewhere in a sentence with many other words"),
    ];
    entries.extend((0..20_001).map(|number| {
        let text = if number == 9 { "common common common common" } else { "common words" };
        let mut entry = assistant(&format!("n{number}"), 0, text);
        entry["timestamp"] = json!(offshoot_session::clock::to_iso(crate::corpus::NOW - number * 1000));
        entry
    }));
    corpus.session("aaaa", &entries);
    let best = |typed: &str| said(&corpus.indexed(&format!("{typed} limit:2")));
    assert_eq!(best("common"), ["aaaa:n0 assistant", "aaaa:n1 assistant"]);
    // The other word decides.
    assert_eq!(best("common zebra"), ["aaaa:old2 assistant", "aaaa:old3 assistant"]);
    assert_eq!(corpus.indexed("common zebra").count, 2);
    assert_eq!(best("common OR zebra"), ["aaaa:old2 assistant", "aaaa:old3 assistant"]);
    assert_eq!(best("\"common words\""), ["aaaa:n0 assistant", "aaaa:n1 assistant"]);
}

#[test]
fn a_filter_alone_finds_what_passes_it_among_very_many_texts() {
    let corpus = Corpus::new();
    let mut entries = vec![call("old", 300, "edit", &json!({"path": "src/rare.rs", "edits": []}))];
    entries.extend((0..3000).map(|number| {
        let mut entry = call(&format!("n{number}"), 0, "bash", &json!({"command": "true"}));
        entry["timestamp"] = json!(offshoot_session::clock::to_iso(crate::corpus::NOW - number * 1000));
        entry
    }));
    corpus.session("aaaa", &entries);
    for typed in ["tool:edit", "file:rare.rs", "tool:edit sort:old", "-true tool:edit"] {
        assert_eq!(both(&corpus, typed), ["aaaa:old call"], "{typed}");
    }
    assert_eq!(both(&corpus, "tool:write"), [""; 0]);
    assert_eq!(said(&corpus.indexed("tool:bash limit:1")), ["aaaa:n0 call"]);
    assert_eq!(said(&corpus.indexed("sort:old limit:1")), ["aaaa:old call"]);
    let over = corpus.place(|place| {
        let place = offshoot_search::SearchedPlace { is_over: &|| true, ..place };
        corpus.index.search(place, &crate::corpus::query("tool:edit"), 0, crate::corpus::NOW).unwrap()
    });
    assert!(over.is_least, "a search that is over says that it is not whole");
}
