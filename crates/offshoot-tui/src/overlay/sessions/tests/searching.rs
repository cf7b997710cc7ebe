//! Searches: fields match at once, and messages match later.

use super::*;
use crate::overlay::hits::{HitAnswer, HitPlace, HitRequest};
use crate::overlay::sessions::search::{FirstMatch, TextHits};

/// A match of the whole query, with these words around it.
fn found(snippet: &str) -> TextHits {
    let first = FirstMatch { entry: Some("0f".into()), words: "parser".to_owned(), snippet: snippet.to_owned() };
    TextHits { found: vec![true], first: Some(first).filter(|first| !first.snippet.is_empty()) }
}

/// What was found is read where it was said; another key opens the session where it ends.
#[test]
fn a_session_is_read_where_it_has_what_was_found() {
    let mut sessions = filled();
    write(&mut sessions, "\"deep\"");
    let search = sessions.requests().into_iter().find_map(|request| match request {
        Request::Search { search, .. } => Some(search),
        _ => None,
    });
    sessions.take(Answer::Judged(search.unwrap(), vec![(file("06f"), found("…and then the parser stopped."))]));
    assert!(wide(&sessions).contains("enter read · alt+enter open"), "{}", wide(&sessions));
    let enter = |modifiers| KeyEvent::new(KeyCode::Enter, modifiers);
    assert_eq!(sessions.key(enter(KeyModifiers::NONE)), SessionsOutcome::Open);
    let place = HitPlace {
        child: None,
        file: file("06f"),
        entry: Some("0f".into()),
        found: vec!["parser".to_owned()],
        title: "a long question that goes on and on and on, and then some more of it so that it is cut".to_owned(),
    };
    let requests = sessions.requests();
    assert!(requests.contains(&Request::Hits(HitRequest::Read(search.unwrap(), place))), "{requests:?}");
    sessions.take(Answer::Hits(HitAnswer::Read(1, Err("06f: it has gone".to_owned()))));
    assert!(wide(&sessions).contains("06f: it has gone"));
    assert_eq!(sessions.key(enter(KeyModifiers::ALT)), SessionsOutcome::Chosen(file("06f")));
}

/// The first Escape empties the line, and the next one leaves.
#[test]
fn escape_clears_the_search_and_then_leaves() {
    let mut sessions = filled();
    write(&mut sessions, "zzz");
    assert!(!wide(&sessions).contains("the parser"));
    let escape = KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE);
    assert_eq!(sessions.key(escape), SessionsOutcome::Open);
    assert!(wide(&sessions).contains("the parser") && sessions.requests().contains(&Request::StopSearch));
    assert_eq!(sessions.key(escape), SessionsOutcome::Cancelled);
}

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









      (1/1) of 7 · 6 still to be searched
    ── 3m · 12 messages · ~/proj · 01a ─────────────────────────────────────────────
    "#);
    insta::assert_snapshot!(narrow(&sessions), @r#"
    Resume   ◉ folder ○ all · all · threaded
    tab all ^s sort ^n named ^r name ^d del
    > "parser"
    › the parser                       12 3m




      (1/1) of 7 · 6 still to be searched
    ── 3m · 12 messages · ~/proj · 01a ─────
    "#);
    let requests = sessions.requests();
    let Some(Request::Search { search, query, files }) =
        requests.iter().find(|request| matches!(request, Request::Search { .. }))
    else {
        panic!("{requests:?}");
    };
    assert_eq!((query.as_str(), files.len()), ("\"parser\"", WORLD.len() - 1));
    assert_eq!(files.first(), Some(&file("02b")), "the newest is searched first");
    sessions.take(Answer::Judged(search - 1, vec![(file("06f"), found(""))]));
    assert!(!wide(&sessions).contains("a long question"), "an answer to another search");
    sessions.take(Answer::Judged(*search, vec![(file("06f"), found("…and then the parser stopped."))]));
    insta::assert_snapshot!(wide(&sessions), @r#"
    Resume session              ◉ current folder | ○ all  Names: all  Sort: threaded
    enter open · tab scope · re: pattern · "…" phrase · alt+p preview · esc leave
    ctrl+s sort · ctrl+n named · ctrl+p path · ctrl+r rename · ctrl+d trash
    > "parser"

    › the parser                                                               12 3m
      …and then the parser stopped.                                         pi 12 1w








      (1/2) of 7 · 5 still to be searched
    ── 3m · 12 messages · ~/proj · 01a ─────────────────────────────────────────────
    "#);
    let rest: Vec<_> =
        files.iter().filter(|at| **at != file("06f")).map(|at| (at.clone(), TextHits::default())).collect();
    sessions.take(Answer::Judged(*search, rest));
    insta::assert_snapshot!(narrow(&sessions), @r#"
    Resume   ◉ folder ○ all · all · threaded
    tab all ^s sort ^n named ^r name ^d del
    > "parser"
    › the parser                       12 3m
      …and then the parser stoppe…  pi 12 1w



      (1/2) of 7
    ── 3m · 12 messages · ~/proj · 01a ─────
    "#);
}

#[test]
fn sessions_that_come_during_a_search_are_searched_too() {
    let mut sessions = empty();
    write(&mut sessions, "qq");
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

/// Rows, what was found and the preview show words without markdown, but for a match that lies in it. A name stays as given.
#[test]
fn words_are_shown_without_markdown() {
    let told = |id, first, name| Told { id, first, name, parent: None, ago: 1, origin: SessionProgram::Offshoot };
    let world = [
        told("01a", "**Fix** the `count` of pages", None),
        told("02b", "hello", Some("*the* name")),
        told("03c", "## Why?", None),
    ];
    let mut sessions = empty();
    sessions.take(Answer::Listed(Scope::Folder, world.iter().map(listed).collect()));
    sessions.take(Answer::Done(Scope::Folder, Ok(0)));
    sessions.requests();
    let said = said(Speaker::Model, "It is **done**:\n\n- `one`");
    sessions.take(Answer::Preview(file("03c"), Preview { first: Vec::new(), last: vec![said], trouble: None }));
    let screen = wide(&sessions);
    for words in ["› Why? ", "  *the* name ", "  Fix the count of pages ", "  It is done: one"] {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    for (typed, snippet, shown) in
        [("deep", "a **deep** `dive`", "a deep dive"), ("*deep", "a **deep** dive", "a **deep** dive")]
    {
        let mut sessions = empty();
        sessions.take(Answer::Listed(Scope::Folder, vec![listed(&world[2])]));
        sessions.take(Answer::Done(Scope::Folder, Ok(0)));
        write(&mut sessions, typed);
        let requests = sessions.requests();
        let search = requests.iter().find_map(|request| match request {
            Request::Search { search, .. } => Some(*search),
            _ => None,
        });
        sessions.take(Answer::Judged(search.unwrap(), vec![(file("03c"), found(snippet))]));
        assert!(wide(&sessions).contains(&format!("› {shown} ")), "{}", wide(&sessions));
    }
}

#[test]
fn the_first_hits_of_a_search_are_awaited() {
    let mut sessions = filled();
    write(&mut sessions, "qq");
    let number = sessions.requests().into_iter().find_map(|request| match request {
        Request::Search { search, .. } => Some(search),
        _ => None,
    });
    let judged = |number, id, snippet| Answer::Judged(number, vec![(file(id), found(snippet))]);
    let number = number.unwrap();
    assert!(!sessions.awaits(&judged(number, "01a", "")));
    assert!(!sessions.awaits(&judged(number - 1, "01a", "a qq")), "an earlier search");
    assert!(sessions.awaits(&judged(number, "01a", "a qq")));
    sessions.take(judged(number, "01a", "a qq"));
    assert!(!sessions.awaits(&judged(number, "02b", "a qq")));
}
