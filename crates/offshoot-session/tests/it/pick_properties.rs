//! What must hold for picks, merges and compactions that are taken back, in any tree of both dialects.
//! `PROPTEST_CASES` runs more cases, `PROPTEST_RNG_SEED` those of a seed that a failure named.

use std::io::Write as _;

use offshoot_session::entry::{Entry, Source as _};
use offshoot_session::error::{Conflict, Error};
use offshoot_session::header::Dialect;
use offshoot_session::json::Json;
use offshoot_session::kind::Role;
use offshoot_session::llm::convert;
use offshoot_session::merge::MergeRequest;
use offshoot_session::pick::{PickOptions, PickPlan, PickRequest};
use offshoot_session::selection::range;
use offshoot_session::session::{Durability, NewFork, Options, Session, SessionPart};
use offshoot_session::stats::totals;
use offshoot_session::testing::fixed_options;
use offshoot_session::tree::NodeIx;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::common::{HEADER, assistant, line, result};

/// An entry of a random tree: how far up its parent is, and what it is.
type Seed = (u8, u8);

/// A tree of prompts, turns with calls and their results, summaries, settings and edits.
fn random_tree(seeds: &[Seed], prefix: &str, is_omp: bool) -> String {
    let mut pictures: Vec<String> = Vec::new();
    let mut open_call: Option<String> = None;
    for (at, (up, what)) in seeds.iter().enumerate() {
        let name = |at: usize| format!("{prefix}{at}");
        let parent = match (at, &open_call) {
            (0, _) => "-".to_owned(),
            // A result follows its call.
            (_, Some(_)) => name(at - 1),
            _ if *up < 200 => name(at - 1),
            _ => name(at - 1 - usize::from(*up) % at.min(6)),
        };
        if let Some(call) = open_call.take() {
            pictures.push(format!("{} {parent} {}", name(at), result(&call)));
            continue;
        }
        let entry = match what % 14 {
            0..=4 => "U".to_owned(),
            5..=7 => "A".to_owned(),
            8..=10 => {
                let call = format!("call{prefix}{at}");
                open_call = Some(call.clone());
                let stop = if what % 28 > 14 { r#","stopReason":"aborted""# } else { r#","stopReason":"toolUse""# };
                assistant(&[&call], stop)
            }
            11 if at > 0 => format!("k={}", name(at - 1)),
            12 => "bs=tried".to_owned(),
            _ if is_omp => r#"{"type":"model_change","model":"p/m","role":"default"}"#.to_owned(),
            _ => r#"{"type":"model_change","provider":"p","modelId":"m"}"#.to_owned(),
        };
        pictures.push(format!("{} {parent} {entry}", name(at)));
    }
    let lines = pictures.iter().enumerate().map(|(at, picture)| line(picture, at + 1));
    let header = HEADER.replace(r#""id":"s""#, &format!(r#""id":"{prefix}""#));
    std::iter::once(header).chain(lines).fold(String::new(), |text, line| text + &line + "\n")
}

fn open_text(text: &str, is_omp: bool) -> Session {
    let dialect = if is_omp { Dialect::Omp } else { Dialect::Pi };
    let options = offshoot_session::session::Options { dialect, ..fixed_options() };
    Session::from_text(text, options).unwrap()
}

fn context_messages(session: &Session) -> Vec<String> {
    let context = session.context().unwrap();
    context.messages(session).map(|message| message.unwrap().json).collect()
}

fn json_context(session: &Session) -> String {
    let mut out = Vec::new();
    session.context().unwrap().write_json(session, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// No two calls with one id, no call without result, no result without call.
fn check_request(session: &Session) {
    let context = session.context().unwrap();
    let (messages, _) = convert(context.messages(session).map(Result::unwrap).collect());
    let mut ids = std::collections::HashSet::new();
    let mut waiting: Vec<String> = Vec::new();
    for message in &messages {
        let json = message.json();
        if let Some(answered) = json.str("toolCallId") {
            let at = waiting.iter().position(|id| *id == answered).expect("every result has its call");
            waiting.remove(at);
            continue;
        }
        assert!(waiting.is_empty(), "a call without result");
        for block in json.get("content").map(Json::items).into_iter().flatten() {
            if block.str("type").is_some_and(|kind| kind == "toolCall") {
                let id = block.str("id").unwrap().into_owned();
                assert!(ids.insert(id.clone()), "two calls have the id {id}");
                waiting.push(id);
            }
        }
    }
}

/// `PROPTEST_CASES` counts for all properties. The seed is printed, and shown when a test fails.
fn config(cases: u32) -> ProptestConfig {
    let asked = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { asked.cases } else { cases };
    let seed = match asked.rng_seed {
        RngSeed::Fixed(seed) => seed,
        RngSeed::Random => rand_seed(),
    };
    let _written = writeln!(std::io::stderr(), "{cases} cases, PROPTEST_RNG_SEED={seed}");
    ProptestConfig { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(seed), ..asked }
}

fn rand_seed() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    RandomState::new().hash_one(0)
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn a_pick_adds_the_copies_and_nothing_else(
        seeds in prop::collection::vec(any::<Seed>(), 1..40),
        chosen in prop::collection::vec(any::<prop::sample::Index>(), 1..5),
        at in any::<prop::sample::Index>(),
        is_omp in any::<bool>(),
        again in any::<bool>(),
    ) {
        let mut session = open_text(&random_tree(&seeds, "e", is_omp), is_omp);
        let all: Vec<NodeIx> = session.tree().entries().collect();
        let leaf = *at.get(&all);
        session.switch(leaf).unwrap();
        let selections: Vec<Vec<NodeIx>> = chosen.iter().map(|at| vec![*at.get(&all)]).collect();
        let options = PickOptions { again, ..PickOptions::default() };
        let request = PickRequest { from: None, selections: &selections, onto: session.leaf(), options };
        let planned = match session.plan_pick(&request) {
            Ok(planned) => planned,
            Err(Error::Conflict { why: Conflict::OpenToolTurn { .. }, .. }) => return Ok(()),
            Err(error) => panic!("{error}"),
        };
        let (before, full, sums) = (context_messages(&session), json_context(&session), totals(&session).unwrap());
        let settings = |context: &str| context.rsplit_once(']').map(|(_, settings)| settings.to_owned());
        let Some(brought) = session.pick(&planned).unwrap() else {
            prop_assert!(planned.plan.copies.is_empty());
            return Ok(());
        };
        // The context before, then the copies.
        let after = context_messages(&session);
        prop_assert_eq!(&after[..before.len()], &before[..]);
        prop_assert_eq!(without_place(&after[before.len()..]), copied_messages(&session, &planned.plan, is_omp));
        if !is_omp {
            let has_model = session.context().unwrap().model;
            if !full.ends_with(r#""model":null}"#) {
                prop_assert_eq!(settings(&json_context(&session)), settings(&full), "{:?}", has_model);
            }
        }
        check_request(&session);
        // Costs count once.
        let now = totals(&session).unwrap();
        prop_assert_eq!((now.tokens, now.cost), (sums.tokens, sums.cost));
        // Picking twice is picking once.
        if !again {
            let request = PickRequest { onto: session.leaf(), ..request };
            let second = session.plan_pick(&request).unwrap();
            prop_assert!(second.plan.copies.is_empty(), "{:?}", second.plan.copies);
        }
        // Every cut of the operation opens, before it, until it is whole.
        let written = session.raw_bytes(0, session.raw_length() as usize).unwrap();
        let written = String::from_utf8(written).unwrap();
        let lines: Vec<&str> = written.lines().collect();
        for cut in lines.len() - brought.entries.len()..lines.len() {
            let rest = open_text(&(lines[..cut].join("\n") + "\n"), is_omp);
            prop_assert_eq!(context_messages(&rest), before.clone(), "cut after line {}", cut);
        }
        // Undone, everything is as before.
        let picked = json_context(&session);
        let undo = session.plan_undo().unwrap().unwrap();
        session.undo(&undo).unwrap();
        prop_assert_eq!(json_context(&session), full.clone());
        // Undone again, it is redone.
        let redo = session.plan_undo().unwrap().unwrap();
        session.undo(&redo).unwrap();
        prop_assert_eq!(json_context(&session), picked);
        let undo = session.plan_undo().unwrap().unwrap();
        session.undo(&undo).unwrap();
        prop_assert_eq!(json_context(&session), full);
    }

    #[test]
    fn there_and_back_brings_nothing_new(
        (ours, theirs) in (prop::collection::vec(any::<Seed>(), 1..25), prop::collection::vec(any::<Seed>(), 1..25)),
        is_omp in any::<bool>(),
    ) {
        // What a compaction swallowed comes back, so there is none here.
        let said = |seeds: &[Seed]| -> Vec<Seed> {
            seeds.iter().map(|(up, what)| (*up, if what % 14 == 11 { 0 } else { *what })).collect()
        };
        let (ours, theirs) = (said(&ours), said(&theirs));
        let mut x = open_text(&random_tree(&ours, "x", is_omp), is_omp);
        let mut y = open_text(&random_tree(&theirs, "y", is_omp), is_omp);
        let take = |here: &mut Session, from: &Session| {
            let entries = range(from.tree(), None, from.leaf().unwrap()).unwrap();
            let request = PickRequest {
                from: Some(from.pick_end()),
                selections: &[entries],
                onto: here.leaf(),
                options: PickOptions::default(),
            };
            let planned = here.plan_pick(&request).ok()?;
            let origins: Vec<String> = planned.plan.copies.iter().map(|copy| copy.id.to_string()).collect();
            here.pick(&planned).unwrap();
            check_request(here);
            Some(origins)
        };
        if take(&mut y, &x).is_none() {
            return Ok(());
        }
        if take(&mut x, &y).is_none() {
            return Ok(());
        }
        prop_assert_eq!(take(&mut y, &x).unwrap_or_default(), Vec::<String>::new());
    }
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn a_fork_takes_nothing_from_its_source_that_it_has(
        seeds in prop::collection::vec(any::<Seed>(), 2..30),
        (at, tip, other) in (any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        is_omp in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let seeds: Vec<Seed> = seeds.iter().map(|(up, what)| (*up, if what % 14 == 11 { 0 } else { *what })).collect();
        std::fs::write(file("s.jsonl"), random_tree(&seeds, "s", is_omp)).unwrap();
        let dialect = if is_omp { Dialect::Omp } else { Dialect::Pi };
        let opened = |name: &str| {
            let options = Options { dialect, durability: Durability::Os, ..fixed_options() };
            Session::open(&file(name), options).unwrap()
        };
        let mut source = opened("s.jsonl");
        let all: Vec<NodeIx> = source.tree().entries().collect();
        let (leaf, tip) = (*at.get(&all), *tip.get(&all));
        source.switch(leaf).unwrap();
        let selection = |to: NodeIx, session: &Session| vec![range(session.tree(), None, to).unwrap()];
        // The source brings a branch here; the fork has the copies, and not the branch.
        let entries = selection(tip, &source);
        let options = PickOptions::default();
        let request = PickRequest { from: None, selections: &entries, onto: source.leaf(), options };
        let Ok(planned) = source.plan_pick(&request) else { return Ok(()) };
        source.pick(&planned).unwrap();
        let part = SessionPart::Path(source.leaf().unwrap());
        source.export(&NewFork { part, id: Some("f"), ..NewFork::default() }, |_, _| file("f.jsonl")).unwrap();
        let fork = opened("f.jsonl");
        let lacks = |here: &Session, from: &Session, entries: &[Vec<NodeIx>]| {
            let request = PickRequest { from: Some(from.pick_end()), selections: entries, onto: here.leaf(), options };
            let planned = here.plan_pick(&request).unwrap();
            planned.plan.copies.iter().map(|copy| copy.id.to_string()).collect::<Vec<_>>()
        };
        prop_assert_eq!(lacks(&fork, &source, &entries), Vec::<String>::new());
        let of_fork = selection(fork.leaf().unwrap(), &fork);
        prop_assert_eq!(lacks(&source, &fork, &of_fork), Vec::<String>::new(), "nor the other way");
        // A second fork, from elsewhere, takes what the source has here, and then nothing from the first fork.
        let part = SessionPart::Path(*other.get(&all));
        source.export(&NewFork { part, id: Some("g"), ..NewFork::default() }, |_, _| file("g.jsonl")).unwrap();
        let mut second = opened("g.jsonl");
        let of_source = selection(source.leaf().unwrap(), &source);
        let (from, onto) = (Some(source.pick_end()), second.leaf());
        let Ok(planned) = second.plan_pick(&PickRequest { from, selections: &of_source, onto, options }) else {
            return Ok(());
        };
        second.pick(&planned).unwrap();
        check_request(&second);
        prop_assert_eq!(lacks(&second, &fork, &of_fork), Vec::<String>::new());
    }
}

/// What the copies of a plan show: the messages of their originals. omp leaves out turns that failed, with their
/// results, and those that still wait for theirs.
fn copied_messages(session: &Session, plan: &PickPlan, is_omp: bool) -> Vec<String> {
    let of_role = |role| plan.copies.iter().filter(move |copy| copy.role == Some(role));
    let results: Vec<String> =
        of_role(Role::ToolResult).map(|copy| call_of(&session.entry(copy.ix).unwrap())).collect();
    let turns = session.tree().entries().map(|ix| session.entry(ix).unwrap());
    let turns = turns.filter(|entry| entry.message().is_some_and(|message| message.text().contains("aborted")));
    let failed: Vec<String> = turns.flat_map(|turn| calls_of(&turn)).collect();
    let mut messages = Vec::new();
    for copy in &plan.copies {
        let entry = session.entry(copy.ix).unwrap();
        let Some(message) = entry.message() else {
            let summary = entry.str("summary").unwrap();
            messages.push(format!(r#"{{"role":"branchSummary","summary":"{summary}"}}"#));
            continue;
        };
        let is_lost = |call: &String| failed.contains(call) || !results.contains(call);
        let is_left_out = match copy.role {
            Some(Role::Assistant) => calls_of(&entry).iter().any(is_lost),
            Some(Role::ToolResult) => failed.contains(&call_of(&entry)),
            _ => false,
        };
        if !(is_omp && is_left_out) {
            messages.push(message.text().to_owned());
        }
    }
    without_place(&messages)
}

fn calls_of(turn: &Entry) -> Vec<String> {
    let blocks = turn.message().and_then(|message| message.get("content")).into_iter().flat_map(Json::items);
    blocks.filter_map(|block| block.str("id").map(std::borrow::Cow::into_owned)).collect()
}

fn call_of(result: &Entry) -> String {
    result.message().and_then(|message| message.str("toolCallId").map(std::borrow::Cow::into_owned)).unwrap_or_default()
}

/// The messages without usage, ids of calls, times, and the origin of a summary, which differ in copies.
fn without_place(messages: &[String]) -> Vec<String> {
    let cut = |message: &String| {
        let json = Json::parse(message).unwrap();
        let hidden = ["usage", "timestamp", "fromId", "toolCallId"];
        let members = json.members().filter(|(name, _)| !hidden.contains(&name.as_ref()));
        let shown = |text: &str| if text.contains("toolCall") { "calls".to_owned() } else { text.to_owned() };
        members.map(|(name, value)| format!("{name}:{}", shown(value.text()))).collect::<Vec<_>>().join(",")
    };
    messages.iter().map(cut).collect()
}

/// The messages without usage, and without the times of entries, which a copy has of its own.
fn without_usage(messages: &[String]) -> Vec<String> {
    let cut = |message: &String| {
        let json = Json::parse(message).unwrap();
        let members = json.members().filter(|(name, _)| name != "usage" && name != "timestamp");
        members.map(|(name, value)| format!("{name}:{}", value.text())).collect::<Vec<_>>().join(",")
    };
    messages.iter().map(cut).collect()
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn a_merge_leaves_nothing_to_merge(
        seeds in prop::collection::vec(any::<Seed>(), 1..40),
        (tip, at) in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        is_omp in any::<bool>(),
    ) {
        let mut session = open_text(&random_tree(&seeds, "e", is_omp), is_omp);
        let all: Vec<NodeIx> = session.tree().entries().collect();
        let (tip, leaf) = (*tip.get(&all), *at.get(&all));
        session.switch(leaf).unwrap();
        let request = |session: &Session| MergeRequest { from: None, tip, onto: session.leaf(), budget: 0 };
        let Ok(planned) = session.plan_merge(&request(&session)) else { return Ok(()) };
        if planned.plan.is_empty() {
            return Ok(());
        }
        let (before, full) = (context_messages(&session), json_context(&session));
        let drafted = planned.plan.in_words("what was found");
        session.merge(&planned, &drafted).unwrap();
        prop_assert_eq!(context_messages(&session).len(), before.len() + 1);
        check_request(&session);
        let again = session.plan_merge(&request(&session)).unwrap();
        prop_assert!(again.plan.is_repeated && again.plan.entries.is_empty(), "{:?}", again.plan);
        let merged = json_context(&session);
        for expected in [&full, &merged, &full] {
            let undo = session.plan_undo().unwrap().unwrap();
            session.undo(&undo).unwrap();
            prop_assert_eq!(&json_context(&session), expected);
        }
    }

    #[test]
    fn a_compaction_that_is_taken_back_never_was(
        seeds in prop::collection::vec(any::<Seed>(), 1..30),
        later in prop::collection::vec(any::<Seed>(), 1..8),
    ) {
        // A path with one compaction; what follows has none.
        let straight = |seed: &Seed| (0, if seed.1 % 14 == 11 { 0 } else { seed.1 });
        let mut path: Vec<Seed> = seeds.iter().map(straight).collect();
        path.extend([(0, 0), (0, 11)]);
        path.extend(later.iter().map(straight));
        let text = random_tree(&path, "e", false);
        if !text.contains(r#""type":"compaction""#) {
            return Ok(());
        }
        let never = open_text(&text.replace(r#""type":"compaction""#, r#""type":"custom","customType":"x""#), false);
        let mut session = open_text(&text, false);
        let full = json_context(&session);
        let planned = session.plan_uncompact().unwrap().unwrap();
        session.uncompact(&planned).unwrap();
        prop_assert_eq!(without_usage(&context_messages(&session)), without_usage(&context_messages(&never)));
        prop_assert!(session.plan_uncompact().unwrap().is_none());
        let undo = session.plan_undo().unwrap().unwrap();
        session.undo(&undo).unwrap();
        prop_assert_eq!(json_context(&session), full);
    }
}
