//! The order of hits, held against the queries of the decided ranking.

use serde_json::Value;

use crate::corpus::{Corpus, assistant, call, name, result, said, thinking, user};

fn documents() -> Value {
    serde_json::from_str(include_str!("ranking.json")).unwrap()
}

fn corpus() -> Corpus {
    let corpus = Corpus::new();
    let ranking = documents();
    let mut sessions: Vec<(String, Vec<Value>)> = Vec::new();
    for document in ranking["docs"].as_array().unwrap() {
        let text = |at: usize| document[at].as_str().unwrap();
        let (id, session, words, age) = (text(0), text(1), text(5), document[3].as_i64().unwrap());
        let words =
            words.replace("migration migration migration ok (30 times)", &format!("{}ok", "migration ".repeat(30)));
        let entry = match text(2) {
            "user" => user(id, age, &words),
            "assistant" => assistant(id, age, &words),
            "thinking" => thinking(id, age, &words),
            "result" => result(id, age, "bash", &words, false),
            "args" => call(id, age, "bash", &serde_json::json!({ "command": words })),
            "title" => name(id, age, &words),
            other => panic!("{other}"),
        };
        let at = sessions.iter().position(|(known, _)| known == session).unwrap_or_else(|| {
            sessions.push((session.to_owned(), vec![user(&format!("{session}0"), age, "hello")]));
            sessions.len() - 1
        });
        let entries = &mut sessions[at].1;
        entries.push(entry);
        if document[4] == 0 {
            // The leaf is on another branch.
            let mut other = user(&format!("{session}1"), age, "something else");
            other["parentId"] = serde_json::json!(format!("{session}0"));
            entries.push(other);
        }
    }
    for at in 0..48_usize {
        let filler = &ranking["filler"];
        let text = filler["texts"][at % 6].as_str().unwrap();
        let entry = assistant(&format!("n{at}"), i64::try_from(at % 90).unwrap(), &format!("{text} ").repeat(8));
        sessions.push((format!("N{at}"), vec![entry]));
    }
    for (id, entries) in &sessions {
        corpus.session(id, entries);
    }
    corpus
}

#[test]
fn hits_come_in_the_decided_order() {
    let corpus = corpus();
    let mut wrong = Vec::new();
    for query in documents()["queries"].as_array().unwrap() {
        let typed = query["q"].as_str().unwrap();
        let hits = said(&corpus.indexed(typed));
        let place = |id: &str| {
            let is_it = |hit: &&String| {
                if id == "d4" { hit.starts_with("C:- title") } else { hit.contains(&format!(":{id} ")) }
            };
            hits.iter().position(|hit| is_it(&hit))
        };
        let mut check = |holds: bool, what: &str| {
            if !holds {
                wrong.push(format!("{typed}: {what}: {hits:?}"));
            }
        };
        let ids = |member: &str| query[member].as_array().cloned().unwrap_or_default();
        if let Some(first) = query["first"].as_str() {
            check(place(first) == Some(0), &format!("{first} is not the first"));
        }
        for pair in ids("before") {
            let (one, other) = (place(pair[0].as_str().unwrap()), place(pair[1].as_str().unwrap()));
            check(one.is_some() && other.is_some() && one < other, &format!("{pair} are not in this order"));
        }
        for absent in ids("absent") {
            check(place(absent.as_str().unwrap()).is_none(), &format!("{absent} is there"));
        }
        if let Some(only) = query["only"].as_array() {
            check(only.len() == hits.len(), &format!("there are others than {only:?}"));
            check(only.iter().all(|id| place(id.as_str().unwrap()).is_some()), &format!("{only:?} are not all there"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_scan_finds_the_same_entries() {
    let corpus = corpus();
    for query in documents()["queries"].as_array().unwrap() {
        let typed = query["q"].as_str().unwrap();
        let (mut indexed, mut scanned) = (said(&corpus.indexed(typed)), said(&corpus.scanned(typed)));
        indexed.sort();
        scanned.sort();
        assert_eq!(indexed, scanned, "{typed}");
    }
}
