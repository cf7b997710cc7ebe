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

/// A message of the model with its usage.
fn answer(id: &str, parent: &str, minute: u32, cost: f64) -> String {
    let usage = format!(r#""usage":{{"totalTokens":1200,"cost":{{"total":{cost}}}}},"role":"assistant""#);
    message(id, Some(parent), minute, "assistant", "Yes.").replace(r#""role":"assistant""#, &usage)
}

#[test]
fn lists_are_narrowed_and_sorted() {
    let world = world();
    let [question, _] = talk("the dear one");
    let both = [answer("bbbb2222", "aaaa1111", 2, 0.5), answer("cccc3333", "aaaa1111", 3, 0.25)];
    world.own("0000bbbb", &[&question.replace("11:10", "11:01"), &both[0], &both[1]]);
    assert_snapshot!(world.run("list --all --sort cost -n 2"), @"
      WHEN  ID          MESSAGES  TOKENS   COST  FOLDER  SESSION
    50 min  0000b              3    2.4k  $0.75  ~/work  the dear one
    49 min  0000aaaa-1         2                 ~/work  why is the sky blue?
    ");
    assert_snapshot!(world.run("list --agent pi"), @"
          WHEN  ID          OF  MESSAGES  SESSION
    2026-01-01  0000aaaa-2  pi         0  a name
    ");
    assert_snapshot!(world.run("list --since 50m"), @"
      WHEN  ID          MESSAGES  TOKENS   COST  SESSION
    49 min  0000aaaa-1         2                 why is the sky blue?
    50 min  0000b              3    2.4k  $0.75  the dear one
    ");
    assert_snapshot!(world.run("list --cwd /srv/other"), @"
      WHEN  ID    OF   MESSAGES  SESSION
    50 min  ffff  omp         1  elsewhere
    ");
    assert_snapshot!(world.run("list --agent omp"), @"
    [stderr]
    note: no session matches these options
    ");
    assert_snapshot!(world.run("list --since soon"), @r#"
    [stderr]
    error: "soon" is not a time
    hint: an age is a number with s, m, h, d or w, such as 2h; a date is 2026-01-14 or 2026-01-14T10:00
    [exit code 2]
    "#);
    assert!(world.stdout("list --json -n 1 --sort tokens").contains(r#","tokens":2400,"cost":0.75}"#));
    assert_eq!(world.run("list --sort messages --no-index"), world.run("list --sort messages"));
    let narrow = world.command(&["list", "--all"]).env("COLUMNS", "80").output().unwrap();
    assert!(!world.shown(&narrow).contains("TOKENS"), "{}", world.shown(&narrow));
    let whole = world.run("show 0000bbbb --summary");
    assert!(whole.contains("2.4k tokens, $0.75"), "a list counts what the session counts: {whole}");
}

/// What `list` prints names its session, also where it is the end of another id.
#[test]
fn a_printed_id_names_its_session() {
    let world = World::new();
    let ids = ["abcd0000-1", "9999-abcd", "abce-77", "twins-1", "twins-2"];
    for id in ids {
        world.own(id, &[&message("aaaa1111", None, 10, "user", &format!("this is {id}"))]);
    }
    let list = world.stdout("list");
    let mut seen = Vec::new();
    for line in list.lines().skip(1) {
        let short = line.split_whitespace().nth(2).unwrap();
        let said = line.rsplit(' ').next().unwrap();
        assert!(world.stdout(&format!("show {short}")).contains(&format!("this is {said}")), "{line}");
        seen.push((said.to_owned(), short.to_owned()));
    }
    seen.sort();
    let short: Vec<&str> = seen.iter().map(|(_, short)| short.as_str()).collect();
    assert_eq!(short, ["9999", "abcd0", "abce", "twins-1", "twins-2"]);
}

#[test]
fn the_latest_of_every_folder() {
    let world = world();
    let [other, _] = talk("the newest, elsewhere");
    world.session(
        ".pi/agent/sessions",
        "newest-1",
        Path::new("/srv/other"),
        &[&other.replace("11:10", "11:59").replace("1769944200000", "1769947140000")],
    );
    assert!(world.stdout("show latest").contains("why is the sky blue?"));
    assert!(world.stdout("show latest --all").contains("the newest, elsewhere"));
    assert!(world.run("show newest-1 --all").ends_with("[exit code 2]\n"));
    assert!(World::new().run("tree latest --all").contains("error: no sessions yet"));
}

#[test]
fn a_narrow_screen_cuts_words_not_columns() {
    let world = World::new();
    let long = message("aaaa1111", None, 10, "user", &"日本語 words ".repeat(20));
    world.own("0000aaaa-1", &[&long]);
    let output = world.command(&["list", "--all"]).env("COLUMNS", "60").output().unwrap();
    assert_snapshot!(world.shown(&output), @"
      WHEN  ID    MESSAGES  FOLDER  SESSION
    50 min  0000         1  ~/work  日本語 words 日本語 words…
    ");
}

#[test]
fn json_is_pis_session_info() {
    let world = world();
    assert_snapshot!(world.run("list --json"), @r#"
    [{"path":"[HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl","id":"0000aaaa-1","cwd":"[WORK]","created":"2026-01-01T00:00:00.000Z","modified":"2026-02-01T11:11:00.000Z","messageCount":2,"firstMessage":"why is the sky blue?","tokens":0,"cost":0},
    {"path":"[HOME]/.pi/agent/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-2.jsonl","id":"0000aaaa-2","cwd":"[WORK]","name":"a name","created":"2026-01-01T00:00:00.000Z","modified":"2026-01-01T00:00:00.000Z","messageCount":0,"firstMessage":"(no messages)","tokens":0,"cost":0}]
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
    assert_snapshot!(World::new().run("list --session-dir sesions"), @"
    [stderr]
    note: the folder sesions does not exist
    ");
}

#[test]
fn what_is_no_session_hides_no_other() {
    let world = World::new();
    let path = world.own("0000aaaa-1", &[]);
    std::fs::write(path.with_file_name("notes.jsonl"), "{\"a\":1}\n").unwrap();
    assert_snapshot!(world.run("list"), @"
          WHEN  ID    MESSAGES  SESSION
    2026-01-01  0000         0  (no messages)
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

/// The folder of all sessions of a program was empty: only files in the folder itself were seen.
#[test]
fn a_root_is_a_folder_for_one_run_too() {
    let world = world();
    let here = world.stdout("list --json --session-dir ../.local/share/offshoot/sessions");
    assert!(here.contains("\"path\""), "{here}");
    let pi = world.stdout("list --all --json --session-dir ../.pi/agent/sessions");
    assert!(pi.contains("/.pi/agent/sessions/--"), "{pi}");
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
