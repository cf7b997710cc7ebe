//! The search in all sessions, and the hit that is read.

use std::path::PathBuf;

use offshoot_session::id::EntryId;
use offshoot_session::session::Session;
use offshoot_workspace::search::{SEARCH_PAGE, SearchHitRow, SearchPage, SearchWish};

use super::*;
use crate::app::cmd::{Cmd, ProgramTask, Purpose};
use crate::overlay::hits::{HitAnswer, HitPlace, HitRequest, ReadHit};
use crate::overlay::sessions::{Answer, Request, Sessions, Setting};
use crate::testing::{assert_plain, hostile_texts, working};

const SNIPPET: &str =
    "why does the build of the large workspace say that the linker finds no libssl after the update of yesterday?";

fn row(file: &str, entry: &str, title: &str) -> SearchHitRow {
    let at = SNIPPET.find("libssl").unwrap();
    SearchHitRow {
        file: PathBuf::from(file),
        entry: Some(EntryId::new(entry)),
        name: format!("019b:{entry}"),
        title: title.to_owned(),
        folder: "~/work/of/somebody".to_owned(),
        agent: "pi",
        speaker: "assistant".to_owned(),
        at: Some(0),
        is_on_path: true,
        is_compacted: false,
        is_inside: false,
        is_error: false,
        copies: 0,
        snippet: SNIPPET.to_owned(),
        ranges: std::iter::once(at..at + "libssl".len()).collect(),
    }
}

fn page(rows: Vec<SearchHitRow>, count: usize) -> SearchPage {
    SearchPage { rows, count, sessions: 812, unread: 1, ..SearchPage::default() }
}

/// Three hits in two sessions.
fn three() -> SearchPage {
    let aside = SearchHitRow { is_on_path: false, speaker: "user".to_owned(), ..row("/s/a", "bbbb2222", "the build") };
    let old = SearchHitRow {
        is_compacted: true,
        copies: 2,
        ..row("/s/b", "cccc3333", "a name that is so long that it does not fit")
    };
    page(vec![row("/s/a", "aaaa1111", "the build"), aside, old], 3)
}

/// The searches that are asked for.
fn searches(cmds: &[Cmd]) -> Vec<(u64, SearchWish)> {
    let asked = |cmd: &Cmd| match cmd {
        Cmd::Program(ProgramTask::Sessions(Request::Hits(HitRequest::Search(number, wish)))) => {
            Some((*number, wish.clone()))
        }
        _ => None,
    };
    cmds.iter().filter_map(asked).collect()
}

fn open(model: &mut Model, typed: &str) -> Vec<Cmd> {
    update(model, Msg::Paste(format!("/search {typed}")));
    key(model, "enter")
}

fn key(model: &mut Model, name: &str) -> Vec<Cmd> {
    update(model, Msg::Key(Key::parse(name).unwrap().event()))
}

fn found(model: &mut Model, number: u64, page: SearchPage) -> Vec<Cmd> {
    update(model, Msg::Sessions(Answer::Hits(HitAnswer::Found(number, Ok(page)))))
}

/// A search with three hits.
fn with_hits(model: &mut Model) {
    model.overlay = None;
    update(model, Msg::Now(3 * 3_600_000));
    let number = searches(&open(model, "libssl"))[0].0;
    found(model, number, three());
}

/// Reads a hit in the session of the tests, at the entry `c`.
fn reading(model: &mut Model, session: Session) {
    with_hits(model);
    let (leaf, entry) = (session.leaf(), session.tree().find("c"));
    let found = vec!["Twice".to_owned()];
    let place = HitPlace {
        file: "/s/a".into(),
        entry: Some(EntryId::new("c")),
        found,
        title: "the lexer".to_owned(),
        child: None,
    };
    let hit = ReadHit { place, real: "/s/a".into(), source: Arc::new(session), leaf, entry };
    update(model, Msg::Sessions(Answer::Hits(HitAnswer::Read(1, Ok(hit)))));
}

#[test]
fn screens_of_a_search() {
    let table: [(&str, Tell<'_>); 5] = [
        ("nothing is typed", &|model| drop(open(model, ""))),
        ("sessions are read", &|model| {
            let number = searches(&open(model, "libssl"))[0].0;
            update(model, Msg::Sessions(Answer::Hits(HitAnswer::Progress(number, 12, 8_000))));
        }),
        ("hits", &with_hits),
        ("the last hit", &|model| {
            with_hits(model);
            press(model, "down down");
        }),
        ("a hit is read", &|model| reading(model, working())),
    ];
    for size in SIZES {
        insta::assert_snapshot!(format!("search_at_{}x{}", size.0, size.1), screens(size, &table));
    }
}

#[test]
fn each_letter_supersedes_the_search_before() {
    let mut model = model(&Theme::default(), (80, 24));
    let first = searches(&open(&mut model, "lib"));
    assert_eq!(first[0].1, SearchWish { typed: "lib*".to_owned(), skip: 0, is_here: false });
    let second = searches(&key(&mut model, "s"));
    assert_eq!(second[0].1.typed, "libs*");
    found(&mut model, first[0].0, three());
    let shown = |model: &Model| match &model.overlay {
        Some(Overlay::Search(search)) => search.status(),
        other => panic!("{other:?}"),
    };
    assert_eq!(shown(&model), "searching…", "an answer to the letters before is not shown");
    found(&mut model, second[0].0, three());
    assert_eq!(shown(&model), "1 of 3 in 812 sessions · 1 file cannot be read");
    assert!(searches(&key(&mut model, "tab"))[0].1.is_here);
    let cmds = key(&mut model, "escape");
    assert_eq!(cmds, [ProgramTask::Sessions(Request::Hits(HitRequest::Stop)).into()]);
    key(&mut model, "escape");
    assert!(model.overlay.is_none());
}

#[test]
fn the_next_page_is_asked_for_at_the_last_hit() {
    let mut model = model(&Theme::default(), (80, 24));
    let number = searches(&open(&mut model, "libssl"))[0].0;
    let rows = |from: usize, to: usize| (from..to).map(|at| row("/s/a", &format!("e{at}"), "x")).collect::<Vec<_>>();
    found(&mut model, number, page(rows(0, SEARCH_PAGE), 70));
    assert!(searches(&key(&mut model, "pageDown")).is_empty(), "there are more to be seen");
    key(&mut model, "pageDown");
    let more = searches(&key(&mut model, "pageDown"));
    assert_eq!(more[0].1.skip, SEARCH_PAGE);
    found(&mut model, more[0].0, page(rows(SEARCH_PAGE, 2 * SEARCH_PAGE), 70));
    key(&mut model, "down");
    let Some(Overlay::Search(search)) = &model.overlay else { panic!("{:?}", model.overlay) };
    assert_eq!(search.status(), "31 of 70 in 812 sessions · 1 file cannot be read");
}

#[test]
fn a_hit_is_read_before_anything_moves() {
    let mut model = model(&Theme::default(), (80, 24));
    with_hits(&mut model);
    let cmds = key(&mut model, "enter");
    let [Cmd::Program(ProgramTask::Sessions(Request::Hits(HitRequest::Read(_, place))))] = cmds.as_slice() else {
        panic!("{cmds:?}")
    };
    assert_eq!((place.file.clone(), place.found.clone()), (PathBuf::from("/s/a"), vec!["libssl".to_owned(); 2]));
    reading(&mut model, working());
    assert!(matches!(model.overlay, Some(Overlay::Reader(..))));
    assert!(key(&mut model, "escape").is_empty());
    assert!(matches!(model.overlay, Some(Overlay::Search(_))), "back in the list");
    reading(&mut model, working());
    let cmds = key(&mut model, "enter");
    assert!(cmds.contains(&ProgramTask::Open("/s/a".into()).into()), "{cmds:?}");
    // The session is there: the entry is gone to as the tree does.
    let cmds = update(&mut model, Msg::Opened(Opened { reason: resumed(), ..Opened::default() }));
    assert!(cmds.contains(&ProgramTask::Snapshot(Purpose::GoOn).into()), "{cmds:?}");
    let session = working();
    let leaf = session.leaf();
    update(&mut model, Msg::Snapshot(Purpose::GoOn, Arc::new(session), leaf));
    let Some(Overlay::Tree(tree)) = &model.overlay else { panic!("{:?}", model.overlay) };
    assert!(tree.asks(), "whether the branch that is left is summarised");
    assert_eq!(model.goes_on_at, None);
}

fn resumed() -> crate::app::msg::OpenedReason {
    crate::app::msg::OpenedReason::Changed(offshoot_protocol::SessionChangeReason::Resume)
}

/// The session of a hit can be opened where it ends, from the hit and from the list.
#[test]
fn a_session_that_was_found_is_opened_at_its_end() {
    for is_read in [true, false] {
        let mut model = model(&Theme::default(), (80, 24));
        if is_read {
            reading(&mut model, working());
        } else {
            with_hits(&mut model);
        }
        let cmds = key(&mut model, "alt+enter");
        assert!(cmds.contains(&ProgramTask::Open("/s/a".into()).into()), "{cmds:?}");
        assert!(model.overlay.is_none() && model.goes_on_at.is_none());
    }
}

/// What is read from the list of sessions goes back to it, and its search ends with the list.
#[test]
fn a_session_of_the_list_is_read_over_it() {
    let mut model = model(&Theme::default(), (80, 24));
    let read = |model: &mut Model| {
        model.overlay = Some(Overlay::Sessions(Box::new(Sessions::new(Setting::default()))));
        let session = working();
        let (leaf, entry) = (session.leaf(), session.tree().find("c"));
        let found = vec!["Twice".to_owned()];
        let place =
            HitPlace { file: "/s/a".into(), entry: Some(EntryId::new("c")), found, title: "x".to_owned(), child: None };
        let hit = ReadHit { place, real: "/s/a".into(), source: Arc::new(session), leaf, entry };
        update(model, Msg::Sessions(Answer::Hits(HitAnswer::Read(1, Ok(hit)))));
    };
    read(&mut model);
    key(&mut model, "escape");
    assert!(matches!(model.overlay, Some(Overlay::Sessions(_))));
    read(&mut model);
    let cmds = key(&mut model, "enter");
    assert!(cmds.contains(&ProgramTask::Open("/s/a".into()).into()), "{cmds:?}");
    assert!(cmds.contains(&ProgramTask::Sessions(Request::StopSearch).into()), "{cmds:?}");
    assert_eq!(model.goes_on_at, Some(EntryId::new("c")));
}

/// The open session is not opened again, and a refusal forgets where the user wanted to go.
#[test]
fn going_on_in_the_open_session_leaves_nothing() {
    let mut model = model(&Theme::default(), (80, 24));
    model.facts.path = Some("/s/a".into());
    reading(&mut model, working());
    let cmds = key(&mut model, "enter");
    assert!(cmds.contains(&ProgramTask::Snapshot(Purpose::GoOn).into()), "{cmds:?}");
    model.facts.path = None;
    model.goes_on_at = None;
    model.is_working = true;
    reading(&mut model, working());
    key(&mut model, "enter");
    assert!(matches!(model.overlay, Some(Overlay::Pick(..))), "the agent works: it is asked first");
    key(&mut model, "escape");
    assert_eq!(model.goes_on_at, None);
}

#[test]
fn hostile_hits_are_plain_text() {
    for (name, text) in hostile_texts() {
        for size in SIZES {
            let bytes = sent(&Theme::default(), size, &|model| {
                let number = searches(&open(model, "libssl"))[0].0;
                let hostile = SearchHitRow {
                    name: text.clone(),
                    folder: text.clone(),
                    speaker: text.clone(),
                    snippet: text.clone(),
                    ..row("/s/a", "aaaa1111", &text)
                };
                found(model, number, page(vec![hostile.clone(), hostile], 2));
            });
            assert_plain(&bytes, &format!("{name} at {size:?}"));
        }
    }
}
