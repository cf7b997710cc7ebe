//! Picks: what a copy is, what comes along, and what is here already.

use std::fs;

use offshoot_session::compose::NewEntry;
use offshoot_session::entry::Source as _;
use offshoot_session::error::{Conflict, Error};
use offshoot_session::header::Dialect;
use offshoot_session::json::Json;
use offshoot_session::llm::convert;
use offshoot_session::merge::{MergeRequest, progress};
use offshoot_session::pick::{Gone, PickOptions, PickRequest, shared_end};
use offshoot_session::provenance::Ancestor;
use offshoot_session::selection::{range, turn};
use offshoot_session::session::{Brought, NewFork, Options, PlannedPick, Session, SessionPart};
use offshoot_session::stats::totals;
use offshoot_session::testing::fixed_options;
use offshoot_session::tree::NodeIx;

use super::common::{HEADER, assistant, open_messages, result, session, text};

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

fn ids(ancestors: &[Ancestor]) -> Vec<&str> {
    ancestors.iter().map(|ancestor| ancestor.id.as_str()).collect()
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

/// A fork has the copies that its source made, and not the originals. It copied these again.
#[test]
fn a_fork_and_its_source_know_each_others_copies() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let pictures = tool_branch();
    fs::write(file("s.jsonl"), text(&pictures.iter().map(String::as_str).collect::<Vec<_>>())).unwrap();
    let mut source = Session::open(&file("s.jsonl"), fixed_options()).unwrap();
    pick(&mut source, &["t", "z"], PickOptions::default()).unwrap();
    let tip = ix(&source, "z");
    let planned = source.plan_merge(&MergeRequest { from: None, tip, onto: source.leaf(), budget: 0 }).unwrap();
    source.merge(&planned, &planned.plan.in_words("found")).unwrap();
    let fork_of = |session: &mut Session, id: &str| {
        let part = SessionPart::Path(session.leaf().unwrap());
        let new = NewFork { part, id: Some(id), ..NewFork::default() };
        session.export(&new, |_, _| file(id)).unwrap();
        Session::open(&file(id), fixed_options()).unwrap()
    };
    let mut fork = fork_of(&mut source, "f");
    let second = fork_of(&mut fork, "g");
    assert_eq!(ids(second.ancestors()), ["f", "s"]);
    for here in [&fork, &second] {
        let selections = [vec![ix(&source, "t"), ix(&source, "r"), ix(&source, "s"), ix(&source, "z")]];
        let (from, options) = (Some(source.pick_end()), PickOptions::default());
        let request = PickRequest { from, selections: &selections, onto: here.leaf(), options };
        let planned = here.plan_pick(&request).unwrap();
        assert_eq!((copied(&planned), planned.plan.already.len()), (vec![], 4), "{}", here.id());
        let merged = here.plan_merge(&MergeRequest { from, tip, onto: here.leaf(), budget: 0 }).unwrap();
        assert!(merged.plan.is_empty() && merged.plan.is_repeated, "{:?}", merged.plan);
    }
    // What the fork has of its own comes, and once.
    let selections = [vec![ix(&source, "q")]];
    let onto = fork.leaf();
    let from = Some(source.pick_end());
    let planned = fork.plan_pick(&PickRequest { from, selections: &selections, onto, options: PickOptions::default() });
    assert_eq!(copied(planned.as_ref().unwrap()), ["q"]);
    fork.pick(&planned.unwrap()).unwrap();
    assert!(raw(&fork, fork.leaf_id().unwrap().as_str()).contains(r#""pickedFrom":{"session":"s","id":"q"}"#));
    let onto = fork.leaf();
    let planned = fork.plan_pick(&PickRequest { from, selections: &selections, onto, options: PickOptions::default() });
    assert!(planned.unwrap().plan.is_empty());
}

/// What two forks share came again into a third session, because each fork named itself as where it was written.
#[test]
fn what_forks_share_is_named_after_the_session_that_wrote_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let written = |name: &str, text: &str| {
        fs::write(file(name), text).unwrap();
        Session::open(&file(name), fixed_options()).unwrap()
    };
    let header = |id: &str, minute: &str, parent: &str| {
        let named = HEADER.replace(r#""id":"s""#, &format!(r#""id":"{id}""#));
        let from =
            |time: &str| named.split_once(r#""timestamp":""#).map(|(_, rest)| rest.split_once('"').unwrap().0 == time);
        assert_eq!(from("2026-01-01T00:00:00.000Z"), Some(true), "{named}");
        let named = named.replace("T00:00:00.000Z", &format!("T00:{minute}:00.000Z"));
        named.replace('}', &format!(r#","parentSession":"{}"}}"#, file(parent).display()))
    };
    let body = |pictures: &[&str]| text(pictures).lines().skip(1).fold(String::new(), |text, line| text + line + "\n");
    let shared = ["oa - U", "ob oa A"];
    let trunk = written("x", &text(&shared).replace(r#""id":"s""#, r#""id":"x""#));
    // Two forks an hour later, and a fork of the first one; the second one has an entry of its own.
    let first = written("f", &format!("{}\n{}", header("f", "30", "x"), body(&shared)));
    let own = body(&["oa - U", "ob oa A", "oc ob U"]).replace("T00:00:03", "T00:50:03");
    let second = written("g", &format!("{}\n{own}", header("g", "30", "x")));
    let third = written("h", &format!("{}\n{}", header("h", "40", "f"), body(&shared)));
    assert!(raw(&second, "oc").contains("T00:50:0"), "{}", raw(&second, "oc"));
    let of = |from: &Session| {
        let mut here = session(&["a - U"]);
        let mut counts = Vec::new();
        for from in [from, &trunk, &first, &second, &third] {
            let selections = [range(from.tree(), None, from.leaf().unwrap()).unwrap()];
            let (onto, options) = (here.leaf(), PickOptions::default());
            let request = PickRequest { from: Some(from.pick_end()), selections: &selections, onto, options };
            let planned = here.plan_pick(&request).unwrap();
            counts.push(planned.plan.copies.len());
            here.pick(&planned).unwrap();
        }
        let lines = here.tree().entries().map(|ix| String::from_utf8(here.raw_line(ix).unwrap()).unwrap());
        let lines = lines.collect::<Vec<_>>().join("\n");
        assert!(lines.contains(r#""pickedFrom":{"session":"x","id":"oa"}"#), "{lines}");
        assert!(lines.contains(r#""pickedFrom":{"session":"g","id":"oc"}"#), "{lines}");
        counts
    };
    assert_eq!(of(&trunk), [2, 0, 0, 1, 0]);
    assert_eq!(of(&first), [2, 0, 0, 1, 0]);
    assert_eq!(of(&second), [3, 0, 0, 0, 0]);
    assert_eq!(of(&third), [2, 0, 0, 1, 0]);
    // A merge, too.
    let mut here = session(&["a - U"]);
    for (from, lacks) in [(&third, true), (&first, false), (&trunk, false), (&second, true)] {
        let (tip, onto) = (from.leaf().unwrap(), here.leaf());
        let planned = here.plan_merge(&MergeRequest { from: Some(from.pick_end()), tip, onto, budget: 0 }).unwrap();
        assert_eq!(!planned.plan.is_empty(), lacks, "{}: {:?}", from.id(), planned.plan.merged);
        if lacks {
            here.merge(&planned, &planned.plan.in_words("found")).unwrap();
        }
    }
}

/// Forks of each other, one of itself, and files that are gone or no sessions: none of them is an error.
#[test]
fn the_sources_of_a_fork_are_followed_with_care() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, parent: &str| {
        let header = HEADER.replace(r#""id":"s""#, &format!(r#""id":"{name}","parentSession":"{parent}""#));
        fs::write(folder.path().join(name), header + "\n").unwrap();
    };
    let path = |name: &str| folder.path().join(name).display().to_string();
    let of = |name: &str| {
        let session = Session::open(&folder.path().join(name), fixed_options()).unwrap();
        ids(session.ancestors()).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    write("a", &path("b"));
    write("b", &path("a"));
    write("own", &path("own"));
    write("orphan", "0198c2aa");
    write("child", &path("orphan"));
    fs::write(folder.path().join("text"), "no session\n").unwrap();
    write("odd", &path("text"));
    fs::create_dir(folder.path().join("folder")).unwrap();
    write("in", &path("folder"));
    assert_eq!((of("a"), of("b"), of("own")), (vec!["b".to_owned()], vec!["a".to_owned()], vec![]));
    assert_eq!(
        (of("orphan"), of("child")),
        (vec!["0198c2aa".to_owned()], vec!["orphan".to_owned(), "0198c2aa".to_owned()])
    );
    assert_eq!((of("odd"), of("in")), (vec![path("text")], vec![path("folder")]));
    for at in 0..300 {
        write(&format!("long{at}"), &path(&format!("long{}", at + 1)));
    }
    assert_eq!(of("long0").len(), 256);
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

/// omp hides a turn whose results are on another branch. When both were selected, the result was copied alone, and made omp
/// show the turn again.
#[test]
fn a_turn_that_omp_hides_stays_hidden() {
    let (turn, result) = (format!("t a {}", assistant(&["c1"], "")), format!("r t {}", result("c1")));
    let pictures = ["a - U", &turn, &result, "h t U"];
    let options = Options { dialect: Dialect::Omp, ..fixed_options() };
    let mut session = Session::from_text(&text(&pictures), options).unwrap();
    assert_eq!(open_messages(&session), ["a", "h"]);
    assert_eq!(copied(&plan(&session, &["t", "r"], PickOptions::default()).unwrap()), ["t", "r"]);
    let brought = pick(&mut session, &["r"], PickOptions::default()).unwrap();
    let [turn, result, ..] = brought.entries.as_slice() else { panic!("{brought:?}") };
    assert!(!raw(&session, turn.as_str()).contains("c1\",\"name"), "{}", raw(&session, turn.as_str()));
    assert!(!raw(&session, result.as_str()).contains(r#""toolCallId":"c1""#));
    assert_eq!(open_messages(&session), ["a", "h", "", "ok"]);
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

#[test]
fn entries_that_wait_for_nothing_are_appended_after_a_pick() {
    let mut session = open(&tool_branch());
    pick(&mut session, &["t"], PickOptions::default());
    let message = Json::parse(r#"{"role":"user","content":"next"}"#).unwrap();
    session.append(&NewEntry::message(message).unwrap()).unwrap();
    let refused = session.plan_undo();
    assert!(matches!(refused, Err(Error::Conflict { why: Conflict::SaidSince { .. }, .. })), "{refused:?}");
}
