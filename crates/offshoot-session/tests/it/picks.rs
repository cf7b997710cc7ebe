//! Picks: what a copy is, what comes along, what is here already, and what must hold for any tree.

use std::fs;

use offshoot_session::compose::NewEntry;
use offshoot_session::entry::Source as _;
use offshoot_session::error::{Conflict, Error};
use offshoot_session::header::Dialect;
use offshoot_session::json::Json;
use offshoot_session::llm::convert;
use offshoot_session::merge::{MergeRequest, progress};
use offshoot_session::pick::{Gone, PickOptions, PickRequest, shared_end};
use offshoot_session::selection::{range, turn};
use offshoot_session::session::{Brought, PlannedPick, Session};
use offshoot_session::stats::totals;
use offshoot_session::testing::fixed_options;
use offshoot_session::tree::NodeIx;
use proptest::prelude::*;

use super::common::{HEADER, line, open_messages, session, text};

fn ix(session: &Session, id: &str) -> NodeIx {
    session.find(id).unwrap()
}

fn plan(session: &Session, selected: &[&str], options: PickOptions) -> Result<PlannedPick, Error> {
    let selections: Vec<Vec<NodeIx>> = selected.iter().map(|id| vec![ix(session, id)]).collect();
    session.plan_pick(&PickRequest { from: None, selections: &selections, onto: session.leaf(), options })
}

fn pick(session: &mut Session, selected: &[&str], options: PickOptions) -> Option<Brought> {
    let planned = plan(session, selected, options).unwrap();
    session.pick(&planned).unwrap()
}

fn raw(session: &Session, id: &str) -> String {
    String::from_utf8(session.raw_line(ix(session, id)).unwrap()).unwrap()
}

fn left_out(planned: &PlannedPick) -> Vec<(&str, &str)> {
    planned.plan.left_out.iter().map(|(id, why)| (id.as_str(), why.word())).collect()
}

fn copied(planned: &PlannedPick) -> Vec<&str> {
    planned.plan.copies.iter().map(|copy| copy.id.as_str()).collect()
}

fn assistant(calls: &[&str], more: &str) -> String {
    let calls: Vec<String> = calls
        .iter()
        .map(|id| {
            format!(
                r#"{{"type":"toolCall","id":"{id}","name":"write","arguments":{{"path":"x-{id}","content":"1.0e2"}}}}"#
            )
        })
        .collect();
    format!(
        r#"{{"type":"message","message":{{"role":"assistant","content":[{}],"provider":"p2","model":"m2"{more},"usage":{{"input":5,"output":6,"totalTokens":190000,"cost":{{"total":0.5}}}},"timestamp":1.50}}}}"#,
        calls.join(",")
    )
}

fn result(call: &str) -> String {
    format!(
        r#"{{"type":"message","message":{{"role":"toolResult","toolCallId":"{call}","toolName":"write","content":[{{"type":"text","text":"ok"}}],"isError":false}}}}"#
    )
}

/// A trunk of two entries, and a branch that calls two tools.
fn tool_branch() -> Vec<String> {
    vec![
        "a - U".to_owned(),
        "b a A".to_owned(),
        "q b U".to_owned(),
        format!("t q {}", assistant(&["c1", "c2"], "")),
        format!("r t {}", result("c1")),
        format!("s r {}", result("c2")),
        "z s A".to_owned(),
        "h b U".to_owned(),
        "i h A".to_owned(),
    ]
}

fn open(pictures: &[String]) -> Session {
    session(&pictures.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_copy_is_the_sources_line_but_for_place_origin_and_usage() {
    let mut session = open(&tool_branch());
    let before = (open_messages(&session), totals(&session).unwrap());
    let brought = pick(&mut session, &["t"], PickOptions::default()).unwrap();
    let [turn, first, second, model] = brought.entries.as_slice() else { panic!("{brought:?}") };
    let nothing = r#"{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}"#;
    let source = raw(&session, "t");
    let expected = source
        .replace(r#""id":"t","parentId":"q""#, &format!(r#""id":"{turn}","parentId":"{}""#, brought.operation))
        .replace(r#""timestamp":"2026-01-01T00:00:04.000Z""#, r#""timestamp":"2026-01-01T00:00:00.000Z""#)
        .replace(r#"{"input":5,"output":6,"totalTokens":190000,"cost":{"total":0.5}}"#, nothing);
    let copy = raw(&session, turn.as_str());
    assert_eq!(copy.replace(r#","pickedFrom":"t""#, ""), expected);
    assert!(raw(&session, first.as_str()).contains(r#""pickedFrom":"r""#));
    assert!(raw(&session, second.as_str()).contains(r#""pickedFrom":"s""#));
    // The model of here stays.
    assert!(raw(&session, model.as_str()).contains(r#""type":"model_change""#));
    assert!(session.context().unwrap().model.unwrap().contains(r#""modelId":"m""#));
    let marker = raw(&session, brought.operation.as_str());
    assert!(marker.contains(r#""data":{"op":"pick","before":"i","lines":4}"#), "{marker}");
    let after = totals(&session).unwrap();
    assert_eq!((after.tokens, after.cost), (before.1.tokens, before.1.cost));
    assert_eq!(open_messages(&session).len(), before.0.len() + 3);
    let plan = session.plan_undo().unwrap().unwrap();
    session.undo(&plan).unwrap();
    assert_eq!(open_messages(&session), before.0);
}

#[test]
fn calls_and_results_stay_together() {
    let session = open(&tool_branch());
    for (selected, expected) in [
        (vec!["t"], vec!["t", "r", "s"]),
        (vec!["s"], vec!["t", "r", "s"]),
        (vec!["r", "t"], vec!["t", "r", "s"]),
        (vec!["q"], vec!["q"]),
        (vec!["z", "q"], vec!["z", "q"]),
    ] {
        let planned = plan(&session, &selected, PickOptions::default()).unwrap();
        assert_eq!(copied(&planned), expected, "{selected:?}");
    }
    let planned = plan(&session, &["s"], PickOptions::default()).unwrap();
    let added: Vec<&str> =
        planned.plan.copies.iter().filter(|copy| copy.is_added).map(|copy| copy.id.as_str()).collect();
    assert_eq!(added, ["t", "r"]);
    assert_eq!(planned.plan.files.modified, ["x-c1", "x-c2"]);
}

#[test]
fn ranges_and_turns_are_selections() {
    let session = open(&tool_branch());
    let ids = |entries: Vec<NodeIx>| -> Vec<String> {
        entries.iter().map(|ix| session.tree().node(*ix).id().unwrap().to_string()).collect()
    };
    let tree = session.tree();
    assert_eq!(ids(range(tree, Some(ix(&session, "q")), ix(&session, "s")).unwrap()), ["t", "r", "s"]);
    let base = shared_end(session.pick_end(), None, session.leaf(), ix(&session, "z"));
    assert_eq!(ids(range(tree, base, ix(&session, "z")).unwrap()), ["q", "t", "r", "s", "z"]);
    assert_eq!(ids(turn(tree, ix(&session, "r"), None).unwrap()), ["q", "t", "r", "s", "z"]);
    assert_eq!(ids(turn(tree, ix(&session, "i"), None).unwrap()), ["h", "i"]);
    assert!(range(tree, Some(ix(&session, "h")), ix(&session, "z")).is_err());
}

#[test]
fn what_is_here_is_not_copied_again() {
    let mut session = open(&tool_branch());
    assert!(pick(&mut session, &["a", "b", "h"], PickOptions::default()).is_none());
    assert!(pick(&mut session, &["t", "z"], PickOptions::default()).is_some());
    let before = open_messages(&session);
    assert!(pick(&mut session, &["t", "z", "s"], PickOptions::default()).is_none(), "picking twice changes nothing");
    let planned = plan(&session, &["t", "q"], PickOptions::default()).unwrap();
    assert_eq!(copied(&planned), ["q"]);
    assert_eq!(planned.plan.already.len(), 3);
    // A copy of a copy names the first original.
    let copy = session.tree().entries().find(|ix| session.tree().node(*ix).is_copy()).unwrap();
    let copy = session.tree().node(copy).id().unwrap().to_string();
    let again = PickOptions { again: true, ..PickOptions::default() };
    let brought = pick(&mut session, &[&copy], again).unwrap();
    let second = raw(&session, brought.entries[0].as_str());
    assert!(second.contains(r#""pickedFrom":"t""#), "{second}");
    assert!(!second.contains(r#""id":"c1""#), "equal call ids in one request are invalid: {second}");
    let context = session.context().unwrap();
    let messages: Vec<_> = context.messages(&session).map(Result::unwrap).collect();
    let (_, trouble) = convert(messages);
    assert!(trouble.is_empty(), "{trouble:?}");
    assert_eq!(open_messages(&session).len(), before.len() + 3);
}

#[test]
fn what_a_compaction_swallowed_comes_back() {
    let mut pictures = tool_branch();
    pictures.extend(["k i k=i".to_owned(), "l k U".to_owned(), "x l edit=i=null".to_owned()]);
    let session = open(&pictures);
    let planned = plan(&session, &["a", "h", "i", "k", "l"], PickOptions::default()).unwrap();
    assert_eq!(copied(&planned), ["a", "h", "i"]);
    let gone: Vec<_> = planned.plan.copies.iter().filter_map(|copy| copy.gone.map(Gone::word)).collect();
    assert_eq!(gone, ["compacted", "compacted", "compacted"]);
    assert_eq!(left_out(&planned), [("k", "compaction")]);
}

#[test]
fn what_is_not_said_is_left_out_unless_asked_for() {
    let custom = r#"{"type":"custom","customType":"x","data":1}"#;
    let pictures = [
        "a - U",
        "q a U",
        "e q edit=q=null",
        "f e edit=a=null",
        "l f l=q=mark",
        "n l {\"type\":\"session_info\",\"name\":\"x\"}",
        &format!("c n {custom}"),
        "m c {\"type\":\"model_change\",\"provider\":\"p\",\"modelId\":\"m3\"}",
        "h a A",
    ];
    let mut session = session(&pictures);
    let selected = ["q", "e", "f", "l", "n", "c", "m"];
    let planned = plan(&session, &selected, PickOptions::default()).unwrap();
    assert_eq!(copied(&planned), ["q", "e"]);
    let reasons = [("f", "edit-target"), ("l", "label"), ("n", "name"), ("c", "state"), ("m", "setting")];
    let single: Vec<_> = left_out(&planned);
    assert_eq!(single, reasons);

    let all = range(session.tree(), Some(ix(&session, "a")), ix(&session, "m")).unwrap();
    let options = PickOptions { settings: true, state: true, labels: true, again: false };
    let request = PickRequest { from: None, selections: &[all], onto: session.leaf(), options };
    let planned = session.plan_pick(&request).unwrap();
    assert_eq!(copied(&planned), ["q", "e", "c", "m"], "the edit finds its target");
    let brought = session.pick(&planned).unwrap().unwrap();
    let edit = raw(&session, brought.entries[1].as_str());
    assert!(edit.contains(&format!(r#""targetId":"{}""#, brought.entries[0])), "{edit}");
    assert_eq!(session.tree().label(&brought.entries[0]).unwrap().text, "mark");
    assert_eq!(open_messages(&session), ["a", "h"]);
    assert!(session.context().unwrap().model.unwrap().contains("m3"));
}

#[test]
fn between_sessions_nothing_comes_twice() {
    let other = |id: &str| {
        let text = text(&["oa - U", "ob oa A", "oc ob U"]).replace(r#""id":"s""#, &format!(r#""id":"{id}""#));
        Session::from_text(&text, fixed_options()).unwrap()
    };
    let (mut x, mut y) = (other("x"), session(&["a - U", "b a A"]));
    let take = |here: &mut Session, from: &Session| {
        let to = from.leaf().unwrap();
        let after = shared_end(here.pick_end(), Some(from.pick_end()), here.leaf(), to);
        let selections = [range(from.tree(), after, to).unwrap()];
        let request = PickRequest {
            from: Some(from.pick_end()),
            selections: &selections,
            onto: here.leaf(),
            options: PickOptions::default(),
        };
        let planned = here.plan_pick(&request).unwrap();
        here.pick(&planned).unwrap().map_or(0, |brought| brought.entries.len())
    };
    assert_eq!(take(&mut y, &x), 3);
    let line = raw(&y, y.tree().node(y.tree().entries().nth(3).unwrap()).id().unwrap().as_str());
    assert!(line.contains(r#""pickedFrom":{"session":"x","id":"oa"}"#), "{line}");
    assert_eq!(take(&mut y, &x), 0);
    assert_eq!(take(&mut x, &y), 2, "what y had of its own");
    assert_eq!(take(&mut y, &x), 0);
    assert_eq!(take(&mut x, &y), 0);
}

#[test]
fn a_plan_is_checked_again_when_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let pictures = tool_branch();
    fs::write(&path, text(&pictures.iter().map(String::as_str).collect::<Vec<_>>())).unwrap();
    let mut session = Session::open(&path, fixed_options()).unwrap();
    let planned = plan(&session, &["t"], PickOptions::default()).unwrap();
    let mut other = Session::open(&path, fixed_options()).unwrap();
    other.switch(other.find("b").unwrap()).unwrap();
    let before = fs::read(&path).unwrap();
    let refused = session.pick(&planned);
    assert!(matches!(refused, Err(Error::Conflict { why: Conflict::LeafMoved, .. })), "{refused:?}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn nothing_goes_between_a_call_and_its_result() {
    let mut session = open(&tool_branch());
    for (leaf, is_open) in [("t", true), ("r", true), ("s", false), ("q", false)] {
        session.branch(leaf).unwrap();
        let planned = plan(&session, &["i"], PickOptions::default());
        assert_eq!(
            matches!(planned, Err(Error::Conflict { why: Conflict::OpenToolTurn { .. }, .. })),
            is_open,
            "{leaf}"
        );
    }
}

#[test]
fn branches_say_how_much_of_them_is_here() {
    let mut session = open(&tool_branch());
    let of = |session: &Session, tip: &str| {
        let found = progress(session.pick_end(), &[ix(session, tip)]).unwrap()[0];
        (found.word(), found.lacking)
    };
    assert_eq!((of(&session, "z"), of(&session, "i")), (("no", 5), ("all", 0)));
    pick(&mut session, &["t"], PickOptions::default());
    assert_eq!((of(&session, "z"), of(&session, "r")), (("partly", 2), ("partly", 1)));
    let merge = |session: &mut Session, tip: &str| {
        let tip = ix(session, tip);
        let planned = session.plan_merge(&MergeRequest { from: None, tip, onto: session.leaf(), budget: 0 }).unwrap();
        session.merge(&planned, &planned.plan.in_words("found")).unwrap();
    };
    merge(&mut session, "s");
    assert_eq!((of(&session, "s"), of(&session, "z")), (("all", 0), ("partly", 1)));
    merge(&mut session, "z");
    assert_eq!(of(&session, "z"), ("all", 0));
    // Seen from the merged branch, the other one lacks nothing but what only it has; its copies are known here.
    session.branch("z").unwrap();
    assert_eq!(of(&session, "i"), ("no", 2));
}

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

proptest! {
    #![proptest_config(ProptestConfig { cases: 700, failure_persistence: None, ..ProptestConfig::default() })]

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
        if !is_omp {
            prop_assert_eq!(&after[..before.len()], &before[..]);
            prop_assert!(after.len() <= before.len() + planned.plan.copies.len());
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
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

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
        let undo = session.plan_undo().unwrap().unwrap();
        session.undo(&undo).unwrap();
        prop_assert_eq!(json_context(&session), full);
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

#[test]
fn entries_that_wait_for_nothing_are_appended_after_a_pick() {
    let mut session = open(&tool_branch());
    pick(&mut session, &["t"], PickOptions::default());
    let message = Json::parse(r#"{"role":"user","content":"next"}"#).unwrap();
    session.append(&NewEntry::message(message).unwrap()).unwrap();
    let refused = session.plan_undo();
    assert!(matches!(refused, Err(Error::Conflict { why: Conflict::SaidSince { .. }, .. })), "{refused:?}");
}
