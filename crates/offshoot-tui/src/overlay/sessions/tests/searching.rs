//! Searches: what is known is found at once, what was said comes later.

use super::*;

#[test]
fn a_search_shows_what_it_knows_and_then_what_was_said() {
    let mut sessions = filled();
    write(&mut sessions, "\"parser\"");
    insta::assert_snapshot!(wide(&sessions), @r#"
    Resume session              ◉ current folder | ○ all  Names: all  Sort: threaded
    enter open · tab scope · re: pattern · "…" phrase · alt+p preview · esc leave
    ctrl+s sort · ctrl+n named · ctrl+p path · ctrl+r rename · ctrl+d trash
    > "parser"

    › the parser                                                               12 3m









      (1/1) of 7 · 7 still to be searched
    ── 3m · 12 messages · ~/proj · 01a ─────────────────────────────────────────────
    "#);
    insta::assert_snapshot!(narrow(&sessions), @r#"
    Resume   ◉ folder ○ all · all · threaded
    tab all ^s sort ^n named ^r name ^d del
    > "parser"
    › the parser                       12 3m




      (1/1) of 7 · 7 still to be searched
    ── 3m · 12 messages · ~/proj · 01a ─────
    "#);
    let requests = sessions.requests();
    let Some(Request::Search { search, query, files }) =
        requests.iter().find(|request| matches!(request, Request::Search { .. }))
    else {
        panic!("{requests:?}");
    };
    assert_eq!((query.as_str(), files.len()), ("\"parser\"", WORLD.len()));
    assert_eq!(files.first(), Some(&file("02b")), "the newest is searched first");
    sessions.take(Answer::Judged(search - 1, vec![(file("06f"), Some(0.0))]));
    assert!(!wide(&sessions).contains("a long question"), "an answer to another search");
    sessions.take(Answer::Judged(*search, vec![(file("06f"), Some(2.0)), (file("01a"), Some(3.0))]));
    insta::assert_snapshot!(wide(&sessions), @r#"
    Resume session              ◉ current folder | ○ all  Names: all  Sort: threaded
    enter open · tab scope · re: pattern · "…" phrase · alt+p preview · esc leave
    ctrl+s sort · ctrl+n named · ctrl+p path · ctrl+r rename · ctrl+d trash
    > "parser"

    › a long question that goes on and on and on, and then some more of i…  pi 12 1w
      the parser                                                               12 3m








      (1/2) of 7 · 5 still to be searched
    ── 1w · 12 messages · of pi · ~/proj · 06f ─────────────────────────────────────
    "#);
    let rest: Vec<_> =
        files.iter().filter(|at| ![file("06f"), file("01a")].contains(at)).map(|at| (at.clone(), None)).collect();
    sessions.take(Answer::Judged(*search, rest));
    insta::assert_snapshot!(narrow(&sessions), @r#"
    Resume   ◉ folder ○ all · all · threaded
    tab all ^s sort ^n named ^r name ^d del
    > "parser"
    › a long question that goes o…  pi 12 1w
      the parser                       12 3m



      (1/2) of 7
    ── 1w · 12 messages · of pi · ~/proj ·…
    "#);
}

#[test]
fn sessions_that_come_during_a_search_are_searched_too() {
    let mut sessions = empty();
    write(&mut sessions, "tests");
    assert_eq!(sessions.requests(), [Request::List(Scope::Folder)]);
    sessions.take(Answer::Listed(Scope::Folder, WORLD.iter().take(4).map(listed).collect()));
    let files = |sessions: &mut Sessions| {
        sessions.requests().into_iter().find_map(|request| match request {
            Request::Search { files, .. } => Some(files),
            _ => None,
        })
    };
    assert_eq!(files(&mut sessions).map(|files| files.len()), Some(4));
    sessions.take(Answer::Listed(Scope::Folder, WORLD.iter().skip(4).map(listed).collect()));
    assert_eq!(files(&mut sessions).map(|files| files.len()), Some(3));
    assert_eq!(files(&mut sessions), None);
    write(&mut sessions, "x");
    assert_eq!(files(&mut sessions).map(|files| files.len()), Some(7));
}

#[test]
fn a_search_that_is_none_says_why() {
    let mut sessions = filled();
    write(&mut sessions, "re:(");
    insta::assert_snapshot!(narrow(&sessions), @"
    Resume   ◉ folder ○ all · all · threaded
    tab all ^s sort ^n named ^r name ^d del
    > re:(
      no pattern: unclosed group
    ");
    assert!(!sessions.requests().iter().any(|request| matches!(request, Request::Search { .. })));
    write(&mut sessions, "x)|zzz");
    assert!(wide(&sessions).contains("searching…"), "{}", wide(&sessions));
}
