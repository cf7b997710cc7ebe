//! Names, the trash and previews: requests to the surrounding program, and its answers.

use super::*;

#[test]
fn a_session_is_renamed_in_its_place() {
    let mut sessions = filled();
    press(&mut sessions, KeyCode::Down);
    ctrl(&mut sessions, 'r');
    write(&mut sessions, "the table");
    insta::assert_snapshot!(above(&sessions), @"
    Resume session              ◉ current folder | ○ all  Names: all  Sort: threaded
    enter saves the name · esc leaves it

    Name: the table
    Resume   ◉ folder ○ all · all · threaded
    enter saves the name · esc leaves it
    Name: the table
    ");
    assert_eq!(press(&mut sessions, KeyCode::Enter), SessionsOutcome::Open);
    assert_eq!(deeds(&mut sessions), [Request::Rename(file("02b"), "the table".to_owned())]);
    sessions.take(Answer::Renamed(file("02b"), Ok("the table".to_owned())));
    insta::assert_snapshot!(above(&sessions), @"
    Resume session              ◉ current folder | ○ all  Names: all  Sort: threaded
    named the table

    >
    Resume   ◉ folder ○ all · all · threaded
    named the table
    >
    ");
    assert!(list(&sessions).contains("├─ the table "), "{}", list(&sessions));
    ctrl(&mut sessions, 'r');
    ctrl(&mut sessions, 'u');
    assert_eq!(press(&mut sessions, KeyCode::Enter), SessionsOutcome::Open, "an empty name is none");
    assert_eq!(press(&mut sessions, KeyCode::Esc), SessionsOutcome::Open);
    assert_eq!(press(&mut sessions, KeyCode::Esc), SessionsOutcome::Cancelled);
    sessions.take(Answer::Renamed(file("02b"), Err("write: no space left".to_owned())));
    assert!(wide(&sessions).contains("no space left"));
}

#[test]
fn the_trash_is_asked_for_twice_and_gives_back() {
    let mut sessions = filled();
    ctrl(&mut sessions, 'd');
    insta::assert_snapshot!(above(&sessions), @"
    Resume session              ◉ current folder | ○ all  Names: all  Sort: threaded
    Into the trash? enter yes · esc no

    >
    Resume   ◉ folder ○ all · all · threaded
    Into the trash? enter yes · esc no
    >
    ");
    let before = list(&sessions);
    write(&mut sessions, "x");
    assert_eq!(press(&mut sessions, KeyCode::Esc), SessionsOutcome::Open);
    sessions.key(KeyEvent::new(KeyCode::Backspace, KeyModifiers::CONTROL));
    assert_eq!(press(&mut sessions, KeyCode::Enter), SessionsOutcome::Open);
    assert_eq!(deeds(&mut sessions), [Request::Trash(file("01a"))]);
    assert!(wide(&sessions).contains("the parser"), "it is there until it is gone");
    sessions.take(Answer::Trashed(file("01a"), Ok(())));
    insta::assert_snapshot!(above(&sessions), @"
    Resume session              ◉ current folder | ○ all  Names: all  Sort: threaded
    in the trash (alt+u brings it back): the parser

    >
    Resume   ◉ folder ○ all · all · threaded
    in the trash (alt+u undoes): the parser
    >
    ");
    insta::assert_snapshot!(list(&sessions), @"
    › the same with a table                                                    12 1m
      review 日本語 docs                                                   omp 12 1h
      the same by hand                                                         12 1h
         └─ slow tests                                                      pi 12 1d
      a long question that goes on and on and on, and then some more of i…  pi 12 1w
      (no messages)                                                            12 1y
    ");
    ctrl(&mut sessions, 'y');
    assert_eq!(deeds(&mut sessions), [Request::Restore(file("01a"))]);
    sessions.take(Answer::Restored(file("01a"), Ok(())));
    insta::assert_snapshot!(above(&sessions), @"
    Resume session              ◉ current folder | ○ all  Names: all  Sort: threaded
    brought back: the parser

    >
    Resume   ◉ folder ○ all · all · threaded
    brought back: the parser
    >
    ");
    assert_eq!(list(&sessions), before);
    ctrl(&mut sessions, 'y');
    assert!(deeds(&mut sessions).is_empty(), "nothing is left to bring back");
}

#[test]
fn the_open_session_stays() {
    let mut sessions = filled();
    press(&mut sessions, KeyCode::Down);
    ctrl(&mut sessions, 'd');
    assert!(wide(&sessions).contains("cannot go to the trash"));
    assert_eq!(press(&mut sessions, KeyCode::Enter), SessionsOutcome::Chosen(file("02b")), "nothing was begun");
    let mut sessions = filled();
    write(&mut sessions, "a");
    sessions.key(KeyEvent::new(KeyCode::Backspace, KeyModifiers::CONTROL));
    assert_eq!(
        press(&mut sessions, KeyCode::Enter),
        SessionsOutcome::Chosen(file("01a")),
        "with a search the key deletes a word"
    );
}

#[test]
fn previews_are_asked_for_once_and_late_ones_dropped() {
    let mut sessions = filled();
    let asked = |sessions: &mut Sessions| {
        let mut requests = sessions.requests();
        requests.retain(|request| matches!(request, Request::Preview(_)));
        requests
    };
    assert_eq!(asked(&mut sessions), [Request::Preview(file("01a"))]);
    assert!(asked(&mut sessions).is_empty());
    press(&mut sessions, KeyCode::Down);
    press(&mut sessions, KeyCode::Down);
    assert_eq!(asked(&mut sessions), [Request::Preview(file("03c"))], "what is passed over is not asked for");
    sessions.take(Answer::Preview(file("01a"), preview()));
    assert!(!wide(&sessions).contains("tests are green"));
    sessions.take(Answer::Preview(file("03c"), preview()));
    assert!(wide(&sessions).contains("tests are green"));
    sessions
        .take(Answer::Preview(file("03c"), Preview { trouble: Some("open: gone".to_owned()), ..Preview::default() }));
    assert!(wide(&sessions).contains("open: gone"));
}
