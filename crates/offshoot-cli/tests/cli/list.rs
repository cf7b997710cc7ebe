//! `offshoot list`.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;

use crate::crashes::say;
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
    warning: [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/notes.jsonl is not a session: the first record is not a session header (line 1, byte 0)
    ");
}

/// A folder that nobody may read, or a link that leads to itself, hides the sessions in it and no others.
#[test]
fn a_folder_that_cannot_be_read_hides_no_other() {
    let world = world();
    let folder = world.home().join(".pi/agent/sessions/--srv-loop--");
    std::os::unix::fs::symlink(&folder, &folder).unwrap();
    assert_snapshot!(world.run("list --all"), @"
          WHEN  ID          OF   MESSAGES  FOLDER      SESSION
        49 min  0000aaaa-1              2  ~/work      why is the sky blue?
        50 min  ffff        omp         1  /srv/other  elsewhere
    2026-01-01  0000aaaa-2  pi          0  ~/work      a name
    [stderr]
    warning: could not read folder [HOME]/.pi/agent/sessions/--srv-loop--: Too many levels of symbolic links (os error 40)
    ");
    assert_eq!(world.run("list --all --no-index"), world.run("list --all"));
    assert_snapshot!(world.run("show elsewhere"), @"
    [stderr]
    warning: could not read folder [HOME]/.pi/agent/sessions/--srv-loop--: Too many levels of symbolic links (os error 40)
    error: no session matches \"elsewhere\"
    hint: `offshoot list --all` shows every session
    [exit code 3]
    ");
    assert!(world.stdout("show ffff").contains("elsewhere"));
}

/// The same with modes. They do not hold for root: then another user is asked.
#[test]
fn a_folder_without_permissions_hides_no_other() {
    let world = world();
    let hidden = world.session(".pi/agent/sessions", "0000bbbb", Path::new("/srv/mine"), &[]);
    let folder = hidden.parent().unwrap();
    let program = world.write("program", fs::read(env!("CARGO_BIN_EXE_offshoot")).unwrap());
    let (home, set) =
        (world.home(), |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap());
    for (path, mode) in [(home.parent().unwrap(), 0o755), (&program, 0o755), (folder, 0o000)] {
        set(path, mode);
    }
    let is_root = fs::read_dir(folder).is_ok();
    let mut command = Command::new(if is_root { Path::new("setpriv") } else { &program });
    if is_root {
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
    }
    let output = command.args(["list", "--all"]).current_dir(world.work()).env_clear().env("HOME", &home).output();
    set(folder, 0o700);
    match output {
        Ok(output) if output.status.success() => {
            let shown = world.shown(&output);
            assert!(
                shown.contains("why is the sky blue?") && shown.contains("--srv-mine--: Permission denied"),
                "{shown}"
            );
        }
        other if is_root => {
            say(&format!("NOT TESTED: a folder that may not be read: this is root, and setpriv says {other:?}"));
        }
        other => panic!("{other:?}"),
    }
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

/// Several programs list, open and grow sessions at the same time, and the cache is thrown away under them.
#[test]
fn many_processes_list_what_is_there() {
    let world = world();
    let expected = world.stdout("list --all --json --no-index");
    let database = world.home().join(".cache/offshoot/catalogue.sqlite");
    for round in 0..6 {
        match round % 3 {
            0 => drop(std::fs::remove_file(&database)),
            1 => std::fs::write(&database, "damaged").unwrap(),
            _ => {}
        }
        let start = || world.command(&["list", "--all", "--json"]).spawn().unwrap();
        let children: Vec<_> = (0..4).map(|_| start()).collect();
        for child in children {
            let output = child.wait_with_output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "round {round}");
            assert!(output.stderr.is_empty());
        }
    }
    world.stdout("name 0000aaaa-1 'another name'");
    assert!(world.stdout("list").contains("another name"));
    assert!(world.stdout("show 'another name'").contains("why is the sky blue?"));
}

/// A file's time says when it was written, copied or touched; `latest` is where something was said last.
#[test]
fn latest_is_the_first_of_the_list() {
    let world = world();
    let touched = world.own("0000aaaa-3", &[&message("aaaa1111", None, 1, "user", "an hour ago")]);
    std::fs::File::options().append(true).open(touched).unwrap().set_modified(std::time::SystemTime::now()).unwrap();
    for option in ["", " --no-index"] {
        assert!(world.stdout(&format!("show latest{option}")).contains("why is the sky blue?"));
    }
    world.own("0000aaaa-4", &[&message("aaaa1111", None, 59, "user", "just now")]);
    for option in ["", " --no-index"] {
        assert!(world.stdout(&format!("show latest{option}")).contains("just now"));
    }
}
