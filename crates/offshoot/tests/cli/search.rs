//! `offshoot search`.

use std::fs;
use std::path::Path;

use insta::assert_snapshot;

use crate::world::{World, message, talk};

fn world() -> World {
    let world = World::new();
    let [question, answer] = talk("why is the sky blue?");
    world.own("0000aaaa-1", &[&question, &answer]);
    let asked = message("cccc3333", None, 5, "user", "the Sky of parseSkyMap");
    let aside = message("dddd4444", None, 6, "user", "another start");
    world.session(".pi/agent/sessions", "0000bbbb-2", Path::new("/srv/other"), &[&asked, &aside]);
    world
}

#[test]
fn hits_say_where_they_are() {
    assert_snapshot!(world().run("search sky"), @"");
}

#[test]
fn a_hit_names_a_session_and_an_entry() {
    let world = world();
    assert_snapshot!(world.run("show 0000b:cccc3333"), @"");
    assert_snapshot!(world.run("show nothing:cccc3333"), @"");
    assert_snapshot!(world.run("show 0000b:ffff"), @"");
}

#[test]
fn hits_are_json_and_come_in_pages() {
    let world = world();
    assert_snapshot!(world.run("search sky -n 1 --json"), @"");
    assert_snapshot!(world.run("search sky -n 1 --skip 1"), @"");
    assert_snapshot!(world.run("search sky --skip 9"), @"");
}

#[test]
fn nothing_found_is_exit_code_3() {
    let world = world();
    assert_snapshot!(world.run("search elephants"), @"");
    assert_snapshot!(world.run("search elephants --json"), @"");
    assert_snapshot!(world.run("search"), @"");
    assert_snapshot!(world.run("search since:soon x"), @"");
}

#[test]
fn a_folder_and_its_filters_narrow_a_search() {
    let world = world();
    assert_snapshot!(world.run("search sky --here"), @"");
    assert_snapshot!(world.run("search sky agent:pi -n 1"), @"");
    assert_eq!(world.stdout("search sky cwd:/srv/other --json"), world.stdout("search sky agent:pi --json"));
}

/// The index is made, grows, is made anew and can be done without; the hits are the same.
#[test]
fn the_index_is_told_of_and_changes_nothing() {
    let world = world();
    assert_snapshot!(world.run("search --status"), @"");
    let first = world.stdout("search sky sort:new --json");
    assert_snapshot!(world.run("search --status --json"), @"");
    assert_eq!(world.stdout("search sky sort:new --json"), first);
    assert_eq!(world.stdout("search sky sort:new --rebuild --json"), first);
    assert_eq!(world.stdout("search sky sort:new --scan --json"), first);
    assert_eq!(world.stdout("search sky sort:new --no-index --json"), first);
}

#[test]
fn what_sessions_say_does_not_steer_the_screen() {
    let world = World::new();
    let hostile = message("aaaa1111", None, 1, "user", "needle \\u001b[31m\\u202e red");
    let named = r#"{"type":"session_info","id":"bbbb2222","parentId":"aaaa1111","timestamp":"2026-01-02T00:00:00.000Z","name":"x\u001b]0;title\u0007y"}"#;
    world.own("0000aaaa-1", &[&hostile, named]);
    let shown = world.run("search needle");
    assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{shown:?}");
    assert!(shown.contains("needle"), "{shown}");
}

/// A pipe where a session should be would never be read to its end.
#[test]
fn what_is_no_file_is_not_read() {
    let world = world();
    let folder = world.home().join(".pi/agent/sessions/--srv-other--");
    fs::create_dir_all(&folder).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(folder.join("pipe.jsonl")).status().unwrap().success());
    assert!(world.run("search sky").contains("why is the"), "{}", world.run("search sky"));
}
