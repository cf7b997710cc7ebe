//! `offshoot trash`.

use insta::assert_snapshot;

use crate::world::{World, talk};

#[test]
fn a_session_goes_and_comes_back() {
    let world = World::new();
    let [question, answer] = talk("why?");
    let file = world.own("0000aaaa-1", &[&question, &answer]);
    world.run("name 0000 'the why of it'");
    let before = world.snapshot();
    assert_snapshot!(world.run("trash 0000"), @"
    in the trash: the why of it
    [stderr]
    hint: `offshoot trash --restore` brings it back
    ");
    assert!(!file.exists());
    assert_snapshot!(world.run("list"), @"
    [stderr]
    note: there are no sessions of ~/work yet
    hint: `offshoot list --all` shows those of every folder
    ");
    assert_snapshot!(world.run("trash --list"), @"
    WHEN  ID          SESSION        FROM
     now  0000aaaa-1  the why of it  ~/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl
    ");
    assert_snapshot!(world.run("trash --restore"), @"
    brought back: the why of it
    ~/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl
    ");
    assert_eq!(world.snapshot(), before, "every byte and every time is as it was");
    assert_snapshot!(world.run("trash --restore"), @"
    [stderr]
    error: the trash is empty
    [exit code 3]
    ");
    assert_snapshot!(world.run("trash --list"), @"
    [stderr]
    note: the trash is empty
    ");
}

#[test]
fn the_one_that_is_meant_comes_back() {
    let world = World::new();
    for id in ["0000aaaa-1", "0000bbbb-2", "1111cccc-3"] {
        let [question, answer] = talk(id);
        world.own(id, &[&question, &answer]);
        world.run(&format!("trash {id}"));
    }
    assert_snapshot!(world.run("trash --restore 0000"), @r#"
    [stderr]
    error: "0000" fits several in the trash: 0000aaaa-1, 0000bbbb-2
    hint: give more of the id
    [exit code 2]
    "#);
    assert_snapshot!(world.run("trash --restore 0000a"), @"
    brought back: 0000aaaa-1
    ~/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl
    ");
    assert_snapshot!(world.run("trash --restore zzzz"), @r#"
    [stderr]
    error: nothing in the trash fits "zzzz"
    hint: `offshoot trash --list` shows what is in the trash
    [exit code 3]
    "#);
    assert_snapshot!(world.run("trash --list --json"), @r#"
    [{"id":"1111cccc-3","firstMessage":"1111cccc-3","path":"[HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_1111cccc-3.jsonl","trashed":"2026-02-01T12:00:00.000Z","file":"[HOME]/.local/share/offshoot/trash/1769947200000-2/2026-01-01T00-00-00-000Z_1111cccc-3.jsonl"},
    {"id":"0000bbbb-2","firstMessage":"0000bbbb-2","path":"[HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000bbbb-2.jsonl","trashed":"2026-02-01T12:00:00.000Z","file":"[HOME]/.local/share/offshoot/trash/1769947200000-1/2026-01-01T00-00-00-000Z_0000bbbb-2.jsonl"}]
    "#);
}

#[test]
fn several_go_at_once_or_none() {
    let world = World::new();
    for id in ["0000aaaa-1", "0000bbbb-2", "1111cccc-3"] {
        let [question, answer] = talk(id);
        world.own(id, &[&question, &answer]);
    }
    let before = world.snapshot();
    assert!(world.run("trash 0000a nobody").ends_with("[exit code 3]\n"));
    assert_eq!(world.snapshot(), before, "nothing is moved if a name is wrong");
    assert_snapshot!(world.run("trash 0000a 1111 0000aaaa-1"), @"
    in the trash: 0000aaaa-1
    in the trash: 1111cccc-3
    [stderr]
    hint: `offshoot trash --restore` brings back the last one; with the id, another one
    ");
    assert_snapshot!(world.run("list"), @"
      WHEN  ID    MESSAGES  SESSION
    49 min  0000         2  0000bbbb-2
    ");
    assert!(world.run("trash --restore 0000 1111").ends_with("[exit code 2]\n"));
    world.stdout("trash --restore 1111");
    world.stdout("trash --restore");
    assert_eq!(world.snapshot(), before);
}

#[test]
fn words_that_make_no_sense_together() {
    let world = World::new();
    for line in ["trash", "trash --list --restore", "trash x --list", "trash --list --dry-run"] {
        assert!(world.run(line).contains("[exit code 2]"), "{line}");
    }
    assert_snapshot!(world.run("trash nobody"), @r#"
    [stderr]
    error: no session matches "nobody"
    hint: `offshoot list --all` shows every session
    [exit code 3]
    "#);
}

/// It once took the only session.
#[test]
fn an_empty_text_names_nothing() {
    let world = World::new();
    world.own("0000aaaa-1", &[&crate::world::message("aaaa0001", None, 1, "user", "hello")]);
    let before = world.snapshot();
    for arguments in [&["trash", ""][..], &["name", "", "x"], &["show", ""]] {
        let output = world.command(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", world.shown(&output));
    }
    assert_eq!(world.snapshot(), before);
}
