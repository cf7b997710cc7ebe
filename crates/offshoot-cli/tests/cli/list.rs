//! `offshoot list`.

use std::path::Path;

use insta::assert_snapshot;

use crate::world::{World, message, talk};

fn world() -> World {
    let world = World::new();
    let [question, answer] = talk("why is the sky blue?");
    world.own("0000aaaa-1", &[&question, &answer]);
    let named = r#"{"type":"session_info","id":"cccc3333","parentId":null,"timestamp":"2026-01-02T00:00:00.000Z","name":"a name"}"#;
    world.session(".pi/agent/sessions", "0000aaaa-2", &world.work(), &[named]);
    let [other, _] = talk("elsewhere");
    world.session(".omp/agent/sessions", "ffff", Path::new("/srv/other"), &[&other]);
    world
}

#[test]
fn the_sessions_of_this_folder_newest_first() {
    assert_snapshot!(world().run("list"), @"
          WHEN  ID          OF  MESSAGES  SESSION
        49 min  0000aaaa-1             2  why is the sky blue?
    2026-01-01  0000aaaa-2  pi         0  a name
    ");
}

#[test]
fn the_sessions_of_every_folder() {
    assert_snapshot!(world().run("list --all"), @"
          WHEN  ID          OF   MESSAGES  FOLDER      SESSION
        49 min  0000aaaa-1              2  ~/work      why is the sky blue?
        50 min  ffff        omp         1  /srv/other  elsewhere
    2026-01-01  0000aaaa-2  pi          0  ~/work      a name
    ");
}

#[test]
fn a_narrow_screen_cuts_words_not_columns() {
    let world = World::new();
    let long = message("aaaa1111", None, 10, "user", &"日本語 words ".repeat(20));
    world.own("0000aaaa-1", &[&long]);
    let output = world.command(&["list", "--all"]).env("COLUMNS", "60").output().unwrap();
    assert_snapshot!(world.shown(&output), @"
      WHEN  ID        MESSAGES  FOLDER  SESSION
    50 min  0000aaaa         1  ~/work  日本語 words 日本語 wor…
    ");
}

#[test]
fn json_is_pis_session_info() {
    let world = world();
    assert_snapshot!(world.run("list --json"), @r#"
    [{"path":"[HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl","id":"0000aaaa-1","cwd":"[WORK]","created":"2026-01-01T00:00:00.000Z","modified":"2026-02-01T11:11:00.000Z","messageCount":2,"firstMessage":"why is the sky blue?"},
    {"path":"[HOME]/.pi/agent/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-2.jsonl","id":"0000aaaa-2","cwd":"[WORK]","name":"a name","created":"2026-01-01T00:00:00.000Z","modified":"2026-01-01T00:00:00.000Z","messageCount":0,"firstMessage":"(no messages)"}]
    "#);
    assert!(world.stdout("list --json --text").contains(r#""allMessagesText":"why is the sky blue? Yes.""#));
    assert_eq!(World::new().stdout("list --json"), "[]\n");
}

#[test]
fn nothing_there_says_where_to_look() {
    assert_snapshot!(World::new().run("list"), @"
    [stderr]
    note: there are no sessions of ~/work yet
    hint: `offshoot list --all` shows those of every folder
    ");
    assert_snapshot!(World::new().run("list --all"), @"
    [stderr]
    note: there are no sessions yet
    ");
}

#[test]
fn what_is_no_session_hides_no_other() {
    let world = World::new();
    let path = world.own("0000aaaa-1", &[]);
    std::fs::write(path.with_file_name("notes.jsonl"), "{\"a\":1}\n").unwrap();
    assert_snapshot!(world.run("list"), @"
          WHEN  ID        MESSAGES  SESSION
    2026-01-01  0000aaaa         0  (no messages)
    [stderr]
    warning: [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/notes.jsonl is not a session: the first record is no session header (line 1, byte 0)
    ");
}

#[test]
fn a_folder_for_one_run_hides_all_others() {
    let world = world();
    world.write("mine/s.jsonl", crate::world::text("mine", "/srv/other", &[]));
    assert_snapshot!(world.run("list --all --session-dir mine"), @"
          WHEN  ID    MESSAGES  FOLDER      SESSION
    2026-01-01  mine         0  /srv/other  (no messages)
    ");
}
