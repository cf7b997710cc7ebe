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
    assert_snapshot!(world().run("search sky"), @"
    why is the sky blue? · ~/work · 49 min
      0000a:aaaa1111  user           50 min  why is the sky blue?

    the Sky of parseSkyMap · /srv/other · 54 min · pi
      0000b:cccc3333  user           55 min  ⑂ the Sky of parseSkyMap
    ");
}

#[test]
fn a_hit_names_a_session_and_an_entry() {
    let world = world();
    assert_snapshot!(world.run("show 0000b:cccc3333"), @"
    0000bbbb-2  /srv/other

    user  cccc  2026-02-01 11:05
      the Sky of parseSkyMap

    1 entry, 1 more on other branches
    ");
    let shown = world.stdout("show 0000b:cccc3333");
    assert_eq!(world.stdout("show pi:0000b:cccc3333"), shown);
    assert_eq!(world.stdout("context pi:0000"), world.stdout("context 0000b"), "the only one of pi that begins so");
    assert!(world.run("show omp:0000b:cccc3333").contains("no session matches"));
    for (line, said) in [("show nothing:cccc3333", "no session matches"), ("show 0000b:ffff", "ffff")] {
        let shown = world.run(line);
        assert!(shown.contains(said) && shown.contains("[exit code 3]"), "{shown}");
    }
}

#[test]
fn hits_are_json_and_come_in_pages() {
    let world = world();
    assert_snapshot!(world.run("search sky -n 1 --json"), @r#"{"hits":[{"session":"0000aaaa-1","agent":"offshoot","path":"[HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl","entry":"aaaa1111","offset":122,"kind":"user","time":"2026-02-01T11:10:00.000Z","onPath":true,"compacted":false,"inside":false,"error":false,"title":"why is the sky blue?","cwd":"[WORK]","snippet":"why is the sky blue?","ranges":[[11,14]]}],"count":2,"more":false,"sessions":2,"leftOut":0}"#);
    let second = world.run("search sky -n 1 --skip 1");
    assert!(second.contains("0000b:cccc3333") && !second.contains("0000a:"), "{second}");
    let beyond = world.run("search sky --skip 9");
    assert!(beyond.contains("there are only 2 hits for sky") && beyond.contains("[exit code 3]"), "{beyond}");
    let first = world.run("search sky -n 1");
    assert!(
        first.contains("hits 1 to 1 of 2") && first.contains("`offshoot search sky --skip 1` shows the next"),
        "{first}"
    );
}

#[test]
fn nothing_found_is_exit_code_3() {
    let world = world();
    assert_snapshot!(world.run("search elephants"), @"
    [stderr]
    error: nothing was found for elephants in 2 sessions
    [exit code 3]
    ");
    let json = world.run("search elephants --json");
    assert!(json.contains(r#"{"hits":[],"count":0"#) && json.contains("[exit code 3]"), "{json}");
    for (line, said) in [("search", "nothing is searched for"), ("search since:soon x", "since:soon is not a time")] {
        let shown = world.run(line);
        assert!(shown.contains(said) && shown.contains("[exit code 2]"), "{shown}");
    }
}

#[test]
fn a_folder_and_its_filters_narrow_a_search() {
    let world = world();
    assert_snapshot!(world.run("search sky --here"), @"
    why is the sky blue? · ~/work · 49 min
      0000a:aaaa1111  user           50 min  why is the sky blue?
    ");
    assert!(world.run("search sky agent:pi -n 1").contains("0000b:cccc3333"));
    assert_eq!(world.stdout("search sky cwd:/srv/other --json"), world.stdout("search sky agent:pi --json"));
}

/// The index is made, grows, is made anew and can be done without; the hits are the same.
#[test]
fn the_index_is_told_of_and_changes_nothing() {
    let world = world();
    assert_snapshot!(world.run("search --status"), @"[HOME]/.cache/offshoot/search-v2.sqlite  not made yet: the next search makes it");
    let first = world.stdout("search sky sort:new --json");
    let state = world.stdout("search --status --json");
    assert!(state.contains(r#""state":"sound","sessions":2,"texts":"#), "{state}");
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

#[test]
fn keys_are_not_found_in_any_face() {
    let key = "sk-ant-0123456789abcdefghij";
    let world = World::new();
    let said = message("aaaa1111", None, 1, "user", &format!("the needle is {key}"));
    world.own("0000aaaa-1", &[&said]);
    let run = |arguments: &[&str]| {
        let output = world.command(arguments).env("ANTHROPIC_API_KEY", key).output().unwrap();
        world.shown(&output)
    };
    let shown = run(&["search", "needle"]);
    assert!(shown.contains("the needle is [key hidden by offshoot]") && !shown.contains("0123456789"), "{shown}");
    for query in [key, "~0123456789"] {
        assert!(run(&["search", query]).contains("[exit code 3]"), "{query}");
    }
    let mut program = world.command(&["--mode", "rpc"]);
    program.env("ANTHROPIC_API_KEY", key).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let mut program = program.spawn().unwrap();
    let asked = "{\"id\":\"1\",\"type\":\"search\",\"query\":[\"needle\"]}\n";
    std::io::Write::write_all(program.stdin.as_mut().unwrap(), asked.as_bytes()).unwrap();
    let output = program.wait_with_output().unwrap();
    let answer = String::from_utf8_lossy(&output.stdout);
    assert!(answer.contains("the needle is [key") && !answer.contains("0123456789"), "{answer}");
    let index = fs::read(world.home().join(".cache/offshoot/search-v2.sqlite")).unwrap();
    assert!(!String::from_utf8_lossy(&index).contains("0123456789"));
}
