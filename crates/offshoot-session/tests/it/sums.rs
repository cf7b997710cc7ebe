//! The stored sums of a session equal fresh ones, whatever was appended, by whom, and however it was opened.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use offshoot_session::compose::NewEntry;
use offshoot_session::entry::Source as _;
use offshoot_session::facts::Totals;
use offshoot_session::json::Json;
use offshoot_session::kind::{Kind, Role};
use offshoot_session::outline::{Outline, OutlineSetup, Sums};
use offshoot_session::session::{Options, Session};
use offshoot_session::stats::{Overview, branches, overview};
use offshoot_session::text::one_line;
use offshoot_session::tokens::Usage;
use offshoot_session::tree::{NodeIx, Tree};
use proptest::prelude::*;

use super::common::HEADER;

#[derive(Debug, Clone, Copy)]
enum Step {
    Say(u8),
    Answer(u16),
    Label(prop::sample::Index),
    Setting,
    Name,
    Branch(prop::sample::Index),
    Switch(prop::sample::Index),
    Foreign(prop::sample::Index, u8),
    /// The missing parent of an earlier entry.
    Late(prop::sample::Index),
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let at = any::<prop::sample::Index>;
    let step = prop_oneof![
        any::<u8>().prop_map(Step::Say),
        any::<u16>().prop_map(Step::Answer),
        at().prop_map(Step::Label),
        Just(Step::Setting),
        Just(Step::Name),
        at().prop_map(Step::Branch),
        at().prop_map(Step::Switch),
        (at(), any::<u8>()).prop_map(|(at, what)| Step::Foreign(at, what)),
        at().prop_map(Step::Late),
        Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..30)
}

fn message(text: &str) -> NewEntry {
    NewEntry::message(Json::parse(text).unwrap()).unwrap()
}

fn options(folder: &Path) -> Options {
    Options { index: Some(folder.join("index")), ..Options::default() }
}

fn id_of(session: &Session, at: prop::sample::Index) -> String {
    let all: Vec<NodeIx> = session.tree().entries().collect();
    session.tree().node(*at.get(&all)).id().unwrap().to_string()
}

fn perform(session: &mut Session, path: &Path, (number, step): (usize, Step)) {
    match step {
        Step::Say(what) => drop(session.append(&message(&format!(r#"{{"role":"user","content":"said {what}"}}"#)))),
        Step::Answer(tokens) => {
            let usage = format!(r#"{{"totalTokens":{tokens},"cost":{{"total":0.{tokens}}}}}"#);
            let text = format!(r#"{{"role":"assistant","content":"answered {tokens}","usage":{usage}}}"#);
            session.append(&message(&text)).unwrap();
        }
        Step::Label(at) => {
            let target = id_of(session, at);
            session.append(&NewEntry::label(&target, Some(&format!("mark {number}")))).unwrap();
        }
        Step::Setting => drop(session.append(&NewEntry::thinking_level("high", session.dialect())).unwrap()),
        Step::Name => drop(session.append(&NewEntry::session_info("named")).unwrap()),
        Step::Branch(at) => session.branch(&id_of(session, at)).unwrap(),
        Step::Switch(at) => session.switch(session.find(&id_of(session, at)).unwrap()).unwrap(),
        Step::Foreign(at, what) => {
            let parent = id_of(session, at);
            foreign(session, path, &format!("f{number}"), &parent, what);
        }
        Step::Late(at) if session.tree().find("late").is_none() => {
            let parent = id_of(session, at);
            foreign(session, path, "late", &parent, 9);
        }
        Step::Late(_) => {}
        Step::Reopen => *session = Session::open(path, options(path.parent().unwrap())).unwrap(),
    }
}

/// An entry of another program.
fn foreign(session: &mut Session, path: &Path, id: &str, parent: &str, tokens: u8) {
    let usage = format!(r#"{{"totalTokens":{tokens},"cost":{{"total":0.1}}}}"#);
    let message = format!(r#"{{"role":"assistant","content":"theirs","usage":{usage}}}"#);
    let time = format!("2026-01-01T00:00:{:02}.000Z", tokens % 60);
    let envelope = format!(r#""id":"{id}","parentId":"{parent}","timestamp":"{time}""#);
    let line = format!(r#"{{"type":"message",{envelope},"message":{message}}}"#) + "\n";
    OpenOptions::new().append(true).open(path).unwrap().write_all(line.as_bytes()).unwrap();
    session.refresh().unwrap();
}

/// What an entry reports, from its body.
fn reported(session: &Session, ix: NodeIx) -> Totals {
    let tree = session.tree();
    let entry = session.entry(ix).unwrap();
    let usage = entry.message().and_then(|message| message.get("usage")).map(Usage::read);
    Totals {
        entries: u64::from(!tree.node(ix).is_leaf_marker()),
        messages: u64::from(tree.node(ix).kind() == Kind::Message),
        tokens: usage.as_ref().map_or(0, |usage| usage.total),
        cost: usage.map_or(0.0, |usage| usage.cost),
    }
}

fn sum(all: &[Totals], entries: impl Iterator<Item = NodeIx>) -> Totals {
    entries.map(|ix| all[ix.index()]).fold(Totals::default(), |sum, more| Totals {
        entries: sum.entries + more.entries,
        messages: sum.messages + more.messages,
        tokens: sum.tokens + more.tokens,
        cost: sum.cost + more.cost,
    })
}

/// The sums of some entries' branches are those from scratch.
fn branches_hold(session: &Session) {
    let tree = session.tree();
    let outline = Outline::new(session, session.leaf(), OutlineSetup::default()).unwrap();
    let sums = Sums::new(session, &outline).unwrap();
    let entries: Vec<NodeIx> = tree.entries().collect();
    let all: Vec<Totals> = entries.iter().map(|ix| reported(session, *ix)).collect();
    for ix in entries.iter().copied().step_by(97).chain(entries.iter().rev().copied().take(4)) {
        let found = sums.branch(session, &outline, ix).unwrap();
        let branch: Vec<NodeIx> = tree.walk_from(found.start).map(|(_, at)| at).collect();
        assert_eq!(found.newest, branch.iter().filter_map(|at| tree.node(*at).time()).max(), "{ix:?}");
        let (own, path) = (sum(&all, branch.into_iter()), sum(&all, tree.ancestors(ix)));
        for (found, expected) in [(found.own, own), (found.path, path)] {
            assert!((found.cost - expected.cost).abs() < 1e-6, "{ix:?}: {} for {}", found.cost, expected.cost);
            assert_eq!(found, Totals { cost: found.cost, ..expected }, "{ix:?}");
        }
    }
}

/// Every branch of a session is what a walk over its entries finds.
fn listed_branches_hold(session: &Session) {
    let tree = session.tree();
    let all: Vec<Totals> = tree.entries().map(|ix| reported(session, ix)).collect();
    let listed = branches(session, session.leaf()).unwrap();
    let ends: Vec<NodeIx> = listed.iter().map(|branch| branch.leaf).collect();
    assert_eq!(ends, branch_ends(tree, session.leaf().and_then(|leaf| end_of(tree, leaf))));
    let mut passing = vec![0; all.len()];
    ends.iter().flat_map(|end| tree.ancestors(*end)).for_each(|ix| passing[ix.index()] += 1);
    for branch in &listed {
        let own: Vec<NodeIx> = tree.ancestors(branch.leaf).take_while(|ix| passing[ix.index()] == 1).collect();
        let shared = tree.ancestors(branch.leaf).nth(own.len());
        let label = own.iter().find_map(|ix| tree.label_of(*ix)).map(|label| label.text.clone());
        let told = (branch.forks_from, &branch.label, branch.time);
        assert_eq!(told, (shared, &label, tree.node(branch.leaf).time()), "{:?}", branch.leaf);
        let (own, path) = (sum(&all, own.into_iter()), sum(&all, tree.ancestors(branch.leaf)));
        for (found, expected) in [(branch.own, own), (branch.whole, path)] {
            assert!((found.cost - expected.cost).abs() < 1e-6, "{} for {}", found.cost, expected.cost);
            assert_eq!(found, Totals { cost: found.cost, ..expected }, "{:?}", branch.leaf);
        }
    }
}

/// The overview computed from scratch, as simply as possible.
fn from_scratch(session: &Session) -> Overview {
    let tree = session.tree();
    let all: Vec<Totals> = tree.entries().map(|ix| reported(session, ix)).collect();
    let totals = sum(&all, tree.entries());
    let open = session.leaf().and_then(|leaf| end_of(tree, leaf));
    let ends = branch_ends(tree, open);
    let mut all = Overview { totals, branches: ends.len(), ..Overview::default() };
    for ix in open.into_iter().flat_map(|open| tree.ancestors(open)) {
        if matches!(tree.node(ix).role(), Some(Role::User | Role::Assistant)) && all.last_words.is_empty() {
            let words = session.entry(ix).unwrap().message().unwrap().str("content").unwrap().into_owned();
            all.last_words = one_line(&words, 200);
        }
    }
    let is_shared = |ix: NodeIx| ends.iter().filter(|end| tree.ancestors(**end).any(|at| at == ix)).count() > 1;
    let mut own = open.into_iter().flat_map(|open| tree.ancestors(open)).take_while(|ix| !is_shared(*ix));
    all.label = own.find_map(|ix| tree.label(tree.node(ix).id()?).map(|label| label.text.clone()));
    all
}

fn end_of(tree: &Tree, ix: NodeIx) -> Option<NodeIx> {
    let is_tail = |ix: &NodeIx| {
        tree.node(*ix).is_leaf_marker() || matches!(tree.node(*ix).kind(), Kind::Label | Kind::SessionInfo)
    };
    tree.ancestors(ix).find(|ix| !is_tail(ix))
}

fn branch_ends(tree: &Tree, open: Option<NodeIx>) -> Vec<NodeIx> {
    let above = |ends: &[NodeIx]| ends.iter().flat_map(|end| tree.ancestors(*end).skip(1)).collect::<HashSet<_>>();
    let mut ends: Vec<NodeIx> = tree.leaves().filter_map(|leaf| end_of(tree, leaf)).chain(open).collect();
    ends.sort_unstable();
    ends.dedup();
    let inner = above(&ends);
    ends.retain(|end| Some(*end) == open || !inner.contains(end));
    let is_setting = |ix: &NodeIx| tree.node(*ix).kind() == Kind::ThinkingLevelChange;
    let work = |end: NodeIx| tree.ancestors(end).find(|ix| !is_setting(ix)).unwrap_or(end);
    let works: Vec<NodeIx> = ends.iter().map(|end| work(*end)).collect();
    let inner = above(&works);
    let is_last = |end: NodeIx| ends.iter().rev().find(|other| work(**other) == work(end)) == Some(&end);
    let goes_on = |end: NodeIx| inner.contains(&work(end)) || open.map(work) == Some(work(end)) || !is_last(end);
    ends.iter().copied().filter(|end| Some(*end) == open || *end == work(*end) || !goes_on(*end)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn kept_sums_are_those_from_scratch(steps in steps()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        fs::write(&path, format!("{HEADER}\n")).unwrap();
        let mut session = Session::open(&path, options(folder.path())).unwrap();
        // Big enough for an index, and for stored facts.
        let answer = message(r#"{"role":"assistant","content":"earlier","usage":{"totalTokens":7,"cost":{"total":0.3}}}"#);
        session.append(&message(&format!(r#"{{"role":"user","content":"{}"}}"#, "x".repeat(1 << 20)))).unwrap();
        session.append_all(&vec![answer.clone(); 300]).unwrap();
        foreign(&mut session, &path, "early", "late", 7);
        foreign(&mut session, &path, "below", "early", 7);
        session.append_all(&vec![answer; 300]).unwrap();
        session = Session::open(&path, options(folder.path())).unwrap();
        for step in steps.into_iter().enumerate() {
            perform(&mut session, &path, step);
            prop_assert_eq!(overview(&session, session.leaf()).unwrap(), from_scratch(&session), "after {:?}", step);
            if step.0 % 8 == 0 || matches!(step.1, Step::Late(_) | Step::Reopen) {
                branches_hold(&session);
                listed_branches_hold(&session);
            }
        }
        let again = Session::open(&path, options(folder.path())).unwrap();
        prop_assert_eq!(overview(&again, again.leaf()).unwrap(), from_scratch(&again));
        branches_hold(&again);
        listed_branches_hold(&again);
        prop_assert!(fs::read_dir(folder.path().join("index")).unwrap().count() > 1, "sums are kept beside the index");
    }
}
