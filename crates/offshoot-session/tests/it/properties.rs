//! Properties of random trees, against a simple reference.

use std::collections::HashMap;

use offshoot_session::context;
use offshoot_session::entry::Source as _;
use offshoot_session::header::Dialect;
use offshoot_session::session::{NewFork, Options, Session, SessionPart};
use offshoot_session::tokens::estimate;
use proptest::prelude::*;

use super::common::{HEADER, messages, text};

/// An entry of a random tree: its parent among earlier entries, and its kind.
type Seed = (u8, u8, u8);

fn pictures(seeds: &[Seed]) -> Vec<String> {
    let name = |at: usize| format!("e{at}");
    let picture = |(at, (parent, what, other)): (usize, &Seed)| {
        let parent = match *parent as usize {
            255 => "-".to_owned(),
            parent if at == 0 || parent > 250 => {
                if at == 0 {
                    "-".to_owned()
                } else {
                    name(at - 1)
                }
            }
            parent => name(at - 1 - parent % at.min(4)),
        };
        let other = if at == 0 { "none".to_owned() } else { name(*other as usize % at) };
        let what = match what % 16 {
            0..=4 => "U".to_owned(),
            5..=8 => "A".to_owned(),
            9 | 10 => format!("k={other}"),
            11 => "bs=summary".to_owned(),
            12 => format!("l={other}=mark"),
            13 => format!("l={other}="),
            14 => format!("edit={other}=null"),
            _ => r#"{"type":"custom","customType":"x"}"#.to_owned(),
        };
        format!("{} {parent} {what}", name(at))
    };
    seeds.iter().enumerate().map(picture).collect()
}

/// The context as documented, from the pictures.
fn reference(pictures: &[String], leaf: &str) -> Vec<String> {
    let words = |picture: &String| {
        let mut words = picture.splitn(3, ' ').map(str::to_owned);
        (words.next().unwrap(), (words.next().unwrap(), words.next().unwrap()))
    };
    let by_id: HashMap<String, (String, String)> = pictures.iter().map(words).collect();
    let mut path = Vec::new();
    let mut at = leaf.to_owned();
    while let Some((parent, what)) = by_id.get(&at) {
        path.insert(0, (at.clone(), what.clone()));
        at = parent.clone();
    }
    let compaction = path.iter().rposition(|(_, what)| what.starts_with("k="));
    let chosen: Vec<(String, String)> = match compaction {
        None => path.clone(),
        Some(k) => {
            let kept = path[k].1.strip_prefix("k=").unwrap();
            let from = path[..k].iter().position(|(id, _)| id == kept).unwrap_or(k);
            [&path[k..=k], &path[from..k], &path[k + 1..]].concat()
        }
    };
    let omitted = |id: &str| chosen.iter().any(|(_, what)| what == &format!("edit={id}=null"));
    let say = |(at, (id, what)): (usize, &(String, String))| match what.as_str() {
        _ if omitted(id) => None,
        "U" | "A" => Some(id.clone()),
        "bs=summary" => Some("branchSummary(summary)".to_owned()),
        k if k.starts_with("k=") && at == 0 => Some(format!("compactionSummary(S{id})")),
        _ => None,
    };
    chosen.iter().enumerate().filter_map(say).collect()
}

/// An answer with a provider's report; every second of them failed, so that its report does not count.
fn report(at: usize) -> String {
    let stop = if at.is_multiple_of(2) { "stop" } else { "error" };
    let message =
        format!(r#"{{"role":"assistant","content":[],"stopReason":"{stop}","usage":{{"totalTokens":{at}}}}}"#);
    format!(r#"{{"type":"message","message":{message}}}"#)
}

fn open(text: &str) -> Session {
    Session::from_text(text, Options::default()).unwrap()
}

fn seeds() -> impl Strategy<Value = Vec<Seed>> {
    prop::collection::vec(any::<Seed>(), 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_context_equals_the_reference(seeds in seeds()) {
        let pictures = pictures(&seeds);
        let session = open(&text(&pictures.iter().map(String::as_str).collect::<Vec<_>>()));
        for ix in session.tree().entries() {
            let id = session.tree().node(ix).id().unwrap().to_string();
            prop_assert_eq!(messages(&session, Some(ix)), reference(&pictures, &id), "at {}", id);
        }
    }

    /// Counting from the end gives what counting every message gives.
    #[test]
    fn the_tokens_of_a_context_are_those_of_its_messages(seeds in seeds(), is_omp in any::<bool>()) {
        let reported = |(at, picture): (usize, String)| match (picture.strip_suffix(" A"), at % 3) {
            (Some(place), 0) => format!("{place} {}", report(at)),
            _ => picture,
        };
        let pictures: Vec<_> = pictures(&seeds).into_iter().enumerate().map(reported).collect();
        let session = open(&text(&pictures.iter().map(String::as_str).collect::<Vec<_>>()));
        let form = if is_omp { Dialect::Omp } else { Dialect::Pi };
        for leaf in session.tree().entries() {
            let context = context::build(&session, Some(leaf), form).unwrap();
            let messages = context.messages(&session).map(|message| estimate(message.unwrap().json())).sum::<u64>();
            let weight = context::weigh(&session, Some(leaf), form).unwrap();
            prop_assert_eq!(weight.messages, messages);
            let total = context::total_tokens(&session, Some(leaf), form, 7).unwrap();
            prop_assert_eq!(total, weight.total(7), "{:?}", leaf);
        }
    }

    #[test]
    fn an_extracted_path_has_the_sources_context(seeds in seeds(), at in any::<prop::sample::Index>()) {
        let pictures = pictures(&seeds);
        let mut session = open(&text(&pictures.iter().map(String::as_str).collect::<Vec<_>>()));
        if session.tree().is_empty() {
            return Ok(());
        }
        let all: Vec<_> = session.tree().entries().collect();
        let leaf = *at.get(&all);
        let before = messages(&session, Some(leaf));
        let fork = NewFork { part: SessionPart::Path(leaf), name: Some("f"), ..NewFork::default() };
        session.become_fork(&fork, |_, _| unreachable!()).unwrap();
        prop_assert!(session.is_named("f").unwrap());
        prop_assert_eq!(messages(&session, session.leaf()), before);
        prop_assert!(session.diagnostics().iter().all(|d| d.line.is_none()), "{:?}", session.diagnostics());
    }

    #[test]
    fn any_prefix_of_a_file_opens_and_grows(seeds in seeds(), cut in any::<prop::sample::Index>()) {
        let pictures = pictures(&seeds);
        let whole = text(&pictures.iter().map(String::as_str).collect::<Vec<_>>());
        let cut = HEADER.len() + cut.index(whole.len() - HEADER.len() + 1);
        let mut session = open(&whole[..cut]);
        let lines = whole[..cut].matches('\n').count().max(1) - 1;
        prop_assert!(session.tree().len() >= lines, "every whole line is an entry");
        let id = super::common::say(&mut session, "user", "more");
        let leaf = session.leaf();
        prop_assert_eq!(session.leaf_id().unwrap().as_str(), id);
        prop_assert!(messages(&session, leaf).contains(&"more".to_owned()));
        prop_assert_eq!(session.tree().walk().count(), session.tree().len());
    }

    #[test]
    fn any_lines_whatever_open_completely(lines in prop::collection::vec("[ -~]{0,30}|\\{\"type\":\"message\",\"id\":\"[a-c]\",\"parentId\":\"[a-c]\"\\}", 0..12)) {
        let session = open(&(HEADER.to_owned() + "\n" + &lines.join("\n") + "\n"));
        prop_assert_eq!(session.tree().walk().count(), session.tree().len(), "every entry is reachable");
        for ix in session.tree().entries() {
            messages(&session, Some(ix));
        }
    }

    #[test]
    fn one_changed_byte_loses_no_other_entry(seeds in seeds(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let pictures = pictures(&seeds);
        let mut bytes = text(&pictures.iter().map(String::as_str).collect::<Vec<_>>()).into_bytes();
        if bytes.len() <= HEADER.len() + 1 {
            return Ok(());
        }
        let at = HEADER.len() + 1 + at.index(bytes.len() - HEADER.len() - 1);
        bytes[at] = byte;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        std::fs::write(&path, &bytes).unwrap();
        let session = Session::open(&path, Options::default()).unwrap();
        // A lost or added line feed affects two lines, any other change one.
        prop_assert!(session.tree().len() + 2 >= pictures.len());
        prop_assert_eq!(session.tree().walk().count(), session.tree().len());
    }
}

#[test]
fn a_subtree_of_everything_is_everything() {
    let pictures = ["a - U", "b a A", "c a U"];
    let mut session = super::common::session(&pictures);
    let folder = tempfile::tempdir().unwrap();
    let root = session.find("a").unwrap();
    let fork = NewFork { part: SessionPart::Subtree(root), ..NewFork::default() };
    let file = session.export(&fork, |_, _| folder.path().join("x.jsonl")).unwrap().file.unwrap();
    let copy = Session::open(&file, Options::default()).unwrap();
    assert_eq!(super::common::shape(&copy), super::common::shape(&session));
}
