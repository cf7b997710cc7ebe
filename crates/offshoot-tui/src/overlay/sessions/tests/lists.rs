//! The rows of the list, their order, and the cursor's position.

use super::*;

#[test]
fn families_stand_together_the_busiest_first() {
    let mut sessions = filled();
    sessions.requests();
    sessions.take(Answer::Preview(file("01a"), preview()));
    insta::assert_snapshot!(wide(&sessions), @r#"
    Resume session              ◉ current folder | ○ all  Names: all  Sort: threaded
    enter open · tab scope · re: pattern · "…" phrase · alt+p preview · esc leave
    ctrl+s sort · ctrl+n named · ctrl+p path · ctrl+r rename · ctrl+d trash
    >

    › the parser                                                               12 3m
         ├─ the same with a table                                              12 1m
         └─ the same by hand                                                   12 1h
            └─ slow tests                                                   pi 12 1d
      review 日本語 docs                                                   omp 12 1h
      a long question that goes on and on and on, and then some more of i…  pi 12 1w
      (no messages)                                                            12 1y



      (1/7)
    ── 3m · 12 messages · ~/proj · 01a ─────────────────────────────────────────────
    › write a parser for the grammar in docs/grammar.md, by hand, without a
      generator
      ⋯
    › and the errors?
      Each error names its line now. The tests are green.
    "#);
    insta::assert_snapshot!(narrow(&sessions), @"
    Resume   ◉ folder ○ all · all · threaded
    tab all ^s sort ^n named ^r name ^d del
    >
    › the parser                       12 3m
         ├─ the same with a table      12 1m
         └─ the same by hand           12 1h
            └─ slow tests           pi 12 1d
      review 日本語 docs           omp 12 1h
      (1/7)
    ── 3m · 12 messages · ~/proj · 01a ─────
    › write a parser for the grammar in doc…
      Each error names its line now. The te…
    ");
}

#[test]
fn sessions_whose_parents_come_later_move_below_them() {
    let mut sessions = filled();
    let parents = vec![(file("05e"), file("03c")), (file("gone"), file("01a")), (file("02b"), file("elsewhere"))];
    sessions.take(Answer::Parents(Scope::Folder, parents));
    insta::assert_snapshot!(narrow(&sessions), @"
    Resume   ◉ folder ○ all · all · threaded
    tab all ^s sort ^n named ^r name ^d del
    >
    › the parser                       12 3m
         ├─ the same with a table      12 1m
         └─ the same by hand           12 1h
            ├─ review 日本語 docs  omp 12 1h
            └─ slow tests           pi 12 1d
      (1/7)
    ── 3m · 12 messages · ~/proj · 01a ─────
    ");
}

#[test]
fn other_orders_and_paths() {
    let mut sessions = filled();
    press(&mut sessions, KeyCode::Down);
    ctrl(&mut sessions, 's');
    ctrl(&mut sessions, 'p');
    insta::assert_snapshot!(wide(&sessions), @r#"
    Resume session                ◉ current folder | ○ all  Names: all  Sort: recent
    enter open · tab scope · re: pattern · "…" phrase · alt+p preview · esc leave
    ctrl+s sort · ctrl+n named · ctrl+p no path · ctrl+r rename · ctrl+d trash
    >

    › the same with a table                               ~/sessions/02b.jsonl 12 1m
      the parser                                          ~/sessions/01a.jsonl 12 3m
      review 日本語 docs                              ~/sessions/05e.jsonl omp 12 1h
      the same by hand                                    ~/sessions/03c.jsonl 12 1h
      slow tests                                       ~/sessions/04d.jsonl pi 12 1d
      a long question that goes on and on and on, an…  ~/sessions/06f.jsonl pi 12 1w
      (no messages)                                       ~/sessions/07g.jsonl 12 1y



      (1/7)
    ── 1m · 12 messages · ~/proj · 02b ─────────────────────────────────────────────
    "#);
    ctrl(&mut sessions, 's');
    insta::assert_snapshot!(narrow(&sessions), @"
    Resume  ◉ folder ○ all · all · relevance
    tab all ^s sort ^n named ^r name ^d del
    >
    › the same …  ~/sessions/02b.jsonl 12 1m
      the parser  ~/sessions/01a.jsonl 12 3m
      review 日…  …sions/05e.jsonl omp 12 1h
      the same …  ~/sessions/03c.jsonl 12 1h
      slow tests  …ssions/04d.jsonl pi 12 1d
      (1/7)
    ── 1m · 12 messages · ~/proj · 02b ─────
    ");
}

#[test]
fn every_folder_s_sessions_show_their_folder() {
    let mut sessions = filled();
    press(&mut sessions, KeyCode::Tab);
    assert!(sessions.requests().contains(&Request::List(Scope::All)));
    sessions.take(Answer::Listed(Scope::All, WORLD.iter().map(listed).collect()));
    sessions.take(Answer::Done(Scope::All, Ok(0)));
    insta::assert_snapshot!(wide(&sessions), @r#"
    Resume session              ○ current folder | ◉ all  Names: all  Sort: threaded
    enter open · tab scope · re: pattern · "…" phrase · alt+p preview · esc leave
    ctrl+s sort · ctrl+n named · ctrl+p path · ctrl+r rename · ctrl+d trash
    >

    › the parser                                                        ~/proj 12 3m
         ├─ the same with a table                                       ~/proj 12 1m
         └─ the same by hand                                            ~/proj 12 1h
            └─ slow tests                                            ~/proj pi 12 1d
      review 日本語 docs                                            ~/proj omp 12 1h
      a long question that goes on and on and on, and then some mo…  ~/proj pi 12 1w
      (no messages)                                                     ~/proj 12 1y



      (1/7)
    ── 3m · 12 messages · ~/proj · 01a ─────────────────────────────────────────────
    "#);
    insta::assert_snapshot!(narrow(&sessions), @"
    Resume   ○ folder ◉ all · all · threaded
    tab all ^s sort ^n named ^r name ^d del
    >
    › the parser                ~/proj 12 3m
         ├─ the same with a t…  ~/proj 12 1m
         └─ the same by hand    ~/proj 12 1h
            └─ slow tests    ~/proj pi 12 1d
      review 日本語 docs    ~/proj omp 12 1h
      (1/7)
    ── 3m · 12 messages · ~/proj · 01a ─────
    ");
    press(&mut sessions, KeyCode::Tab);
    press(&mut sessions, KeyCode::Tab);
    assert!(!sessions.requests().contains(&Request::List(Scope::All)), "it is known already");
}

#[test]
fn only_what_is_named() {
    let mut sessions = filled();
    ctrl(&mut sessions, 'n');
    insta::assert_snapshot!(wide(&sessions), @r#"
    Resume session            ◉ current folder | ○ all  Names: named  Sort: threaded
    enter open · tab scope · re: pattern · "…" phrase · alt+p preview · esc leave
    ctrl+s sort · ctrl+n named · ctrl+p path · ctrl+r rename · ctrl+d trash
    >

    › the parser                                                               12 3m
      slow tests                                                            pi 12 1d








      (1/2) of 7
    ── 3m · 12 messages · ~/proj · 01a ─────────────────────────────────────────────
    "#);
    insta::assert_snapshot!(narrow(&sessions), @"
    Resume ◉ folder ○ all · named · threaded
    tab all ^s sort ^n named ^r name ^d del
    >
    › the parser                       12 3m
      slow tests                    pi 12 1d



      (1/2) of 7
    ── 3m · 12 messages · ~/proj · 01a ─────
    ");
}

#[test]
fn nothing_is_there() {
    let mut sessions = empty();
    insta::assert_snapshot!(narrow(&sessions), @"
    Resume        reading 0 · all · threaded
    tab all ^s sort ^n named ^r name ^d del
    >
      reading the sessions…
    ");
    sessions.take(Answer::Done(Scope::Folder, Ok(0)));
    insta::assert_snapshot!(wide(&sessions), @r#"
    Resume session              ◉ current folder | ○ all  Names: all  Sort: threaded
    enter open · tab scope · re: pattern · "…" phrase · alt+p preview · esc leave
    ctrl+s sort · ctrl+n named · ctrl+p path · ctrl+r rename · ctrl+d trash
    >

      no sessions of this folder yet · tab shows every folder's
    "#);
    insta::assert_snapshot!(narrow(&sessions), @"
    Resume   ◉ folder ○ all · all · threaded
    tab all ^s sort ^n named ^r name ^d del
    >
      no sessions of this folder yet · tab
      shows every folder's
    ");
    ctrl(&mut sessions, 'n');
    assert!(wide(&sessions).contains("no session here has a name"));
    ctrl(&mut sessions, 'n');
    sessions.take(Answer::Done(Scope::Folder, Ok(2)));
    assert!(wide(&sessions).contains("2 files cannot be read: `offshoot doctor` says why"), "{}", wide(&sessions));
    sessions.take(Answer::Done(Scope::Folder, Err("read folder /s: denied".to_owned())));
    assert!(wide(&sessions).contains("the list cannot be read: read folder /s: denied"));
    for key in [KeyCode::Down, KeyCode::PageUp, KeyCode::End, KeyCode::Enter] {
        assert_eq!(press(&mut sessions, key), SessionsOutcome::Open);
    }
    ctrl(&mut sessions, 'd');
    ctrl(&mut sessions, 'r');
    assert_eq!(press(&mut sessions, KeyCode::Esc), SessionsOutcome::Cancelled);
}

#[test]
fn the_chosen_session_stays_chosen_while_others_come_in() {
    let mut sessions = empty();
    sessions.take(Answer::Progress(Scope::Folder, 3, Some(7)));
    sessions.take(Answer::Listed(Scope::Folder, WORLD.iter().skip(4).map(listed).collect()));
    insta::assert_snapshot!(wide(&sessions), @r#"
    Resume session                           reading 3/7  Names: all  Sort: threaded
    enter open · tab scope · re: pattern · "…" phrase · alt+p preview · esc leave
    ctrl+s sort · ctrl+n named · ctrl+p path · ctrl+r rename · ctrl+d trash
    >

    › review 日本語 docs                                                   omp 12 1h
      a long question that goes on and on and on, and then some more of i…  pi 12 1w
      (no messages)                                                            12 1y







      (1/3)
    ── 1h · 12 messages · of omp · ~/proj · 05e ────────────────────────────────────
    "#);
    insta::assert_snapshot!(narrow(&sessions), @"
    Resume      reading 3/7 · all · threaded
    tab all ^s sort ^n named ^r name ^d del
    >
    › review 日本語 docs           omp 12 1h
      a long question that goes o…  pi 12 1w
      (no messages)                    12 1y


      (1/3)
    ── 1h · 12 messages · of omp · ~/proj …
    ");
    press(&mut sessions, KeyCode::Down);
    sessions.take(Answer::Listed(Scope::Folder, WORLD.iter().take(4).map(listed).collect()));
    assert_eq!(press(&mut sessions, KeyCode::Enter), SessionsOutcome::Chosen(file("06f")));
    ctrl(&mut sessions, 's');
    assert_eq!(press(&mut sessions, KeyCode::Enter), SessionsOutcome::Chosen(file("06f")));
}

#[test]
fn pages_and_ends() {
    let mut sessions = empty();
    let many: Vec<Listed> = (0..95)
        .map(|at| {
            let mut one = listed(&WORLD[4]);
            one.info.path = file(&format!("n{at:03}"));
            one.real = one.info.path.clone();
            one.info.modified = Some(NOW - at * MINUTE);
            one
        })
        .collect();
    sessions.take(Answer::Listed(Scope::Folder, many));
    let mut at = |code| {
        press(&mut sessions, code);
        match press(&mut sessions, KeyCode::Enter) {
            SessionsOutcome::Chosen(file) => file.file_stem().unwrap().to_string_lossy().into_owned(),
            other => panic!("{other:?}"),
        }
    };
    let keys =
        [KeyCode::PageDown, KeyCode::Down, KeyCode::End, KeyCode::Down, KeyCode::PageUp, KeyCode::Home, KeyCode::Up];
    assert_eq!(keys.map(&mut at), ["n010", "n011", "n094", "n094", "n084", "n000", "n000"]);
}

#[test]
fn deep_families_keep_room_for_words() {
    let mut sessions = empty();
    let deep: Vec<Listed> = (0..200)
        .map(|at: i64| {
            let mut one = listed(&WORLD[0]);
            one.info.path = file(&format!("d{at:03}"));
            one.real = one.info.path.clone();
            one.parent = (at > 0).then(|| file(&format!("d{:03}", at - 1)));
            one
        })
        .collect();
    sessions.take(Answer::Listed(Scope::Folder, deep));
    press(&mut sessions, KeyCode::End);
    insta::assert_snapshot!(narrow(&sessions), @"
    Resume        reading 0 · all · threaded
    tab all ^s sort ^n named ^r name ^d del
    >
      …          └─ the parser         12 3m
      …          └─ the parser         12 3m
      …          └─ the parser         12 3m
      …          └─ the parser         12 3m
    › …          └─ the parser         12 3m
      (200/200)
    ── 3m · 12 messages · ~/proj · 01a ─────
    ");
}

#[test]
fn colours_say_what_a_session_is() {
    let mut sessions = filled();
    sessions.key(KeyEvent::new(KeyCode::Char('d'), KeyModifiers::CONTROL));
    for theme in [Theme::dark(), Theme::light()] {
        let screen = drawn(&sessions, &theme, 80, 24);
        let colour_of = |word: &str| {
            let text = text_of(&screen);
            let (y, line) = text.lines().enumerate().find(|(_, line)| line.contains(word)).unwrap();
            let x = line.find(word).map(|at| crate::text::width(&line[..at])).unwrap();
            screen[(u16::try_from(x).unwrap(), u16::try_from(y).unwrap())].fg
        };
        let colour = |token| theme.style(token).fg.unwrap_or_default();
        assert_ne!(colour(Token::Error), colour(Token::Warning));
        assert_eq!(colour_of("the parser"), colour(Token::Error), "about to go");
        assert_eq!(colour_of("the same with"), colour(Token::Accent), "open");
        assert_eq!(colour_of("slow tests"), colour(Token::Warning), "named");
        assert_eq!(colour_of("the same by"), colour(Token::Text));
    }
}

#[test]
fn the_first_rows_of_an_empty_list_are_awaited() {
    let some = |from| Answer::Listed(Scope::Folder, WORLD.iter().skip(from).map(listed).collect());
    let mut sessions = empty();
    assert!(!sessions.awaits(&Answer::Progress(Scope::Folder, 0, Some(7))));
    assert!(!sessions.awaits(&Answer::Listed(Scope::Folder, Vec::new())));
    assert!(!sessions.awaits(&Answer::Listed(Scope::All, WORLD.iter().map(listed).collect())), "another scope's");
    assert!(sessions.awaits(&some(4)));
    sessions.take(some(4));
    assert!(!sessions.awaits(&some(0)));
}
