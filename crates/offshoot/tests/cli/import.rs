//! `offshoot import`.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;

use insta::assert_snapshot;

use crate::world::{SAMPLE, VERSION_1, World, talk, text};

#[test]
fn a_file_goes_to_the_folder_of_its_working_directory() {
    let world = World::with_sample();
    let path = world.stdout("import sample.jsonl");
    assert_snapshot!(world.normalised(&path), @"[HOME]/.local/share/offshoot/sessions/--home-ada-wordcount--/sample.jsonl");
    assert_eq!(fs::read_to_string(path.trim_end()).unwrap(), SAMPLE);
    assert_snapshot!(world.run("list --all"), @"
    WHEN  ID    MESSAGES  TOKENS   COST  FOLDER               SESSION
    18 d  019b        21     41k  $0.09  /home/ada/wordcount  word count off by the blanks
    ");
    assert_snapshot!(world.run("import sample.jsonl"), @"
    [HOME]/.local/share/offshoot/sessions/--home-ada-wordcount--/sample.jsonl
    [stderr]
    note: the same file is in the store already
    ");
}

/// `-c` went on with what somebody else had written, because it was the newest file.
#[test]
fn an_import_is_not_the_latest_before_it_was_named() {
    let world = World::new();
    let lines = talk("Whose?");
    let foreign = text("ffff-0000-1111", world.work().to_str().unwrap(), &[&lines[0], &lines[1]]);
    world.write("foreign.jsonl", foreign);
    world.stdout("import foreign.jsonl");
    assert_snapshot!(world.run("show latest"), @"
    [stderr]
    note: passed over the import [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/foreign.jsonl; `offshoot --session ffff-0000-1111` opens it
    error: no sessions in [WORK] yet
    hint: `offshoot list --all` shows the sessions of other folders
    [exit code 3]
    ");
    world.own("aaaa-0000-1111", &[&lines[0]]);
    assert!(world.stdout("tree latest --flat").contains("aaaa1111"));
    assert!(world.run("show ffff-0000").contains("Yes."), "a name finds it, and reading records nothing");
    assert!(!world.stdout("show latest").contains("Yes."));
    world.stdout("name ffff-0000 mine");
    assert!(world.stdout("show latest").contains("Yes."));
    world.stdout("import foreign.jsonl");
}

#[test]
fn another_file_of_the_same_name_stays() {
    let world = World::with_sample();
    let first = world.stdout("import sample.jsonl");
    world.run("label sample.jsonl 1b9d changed");
    assert_snapshot!(world.run("import sample.jsonl"), @"
    [HOME]/.local/share/offshoot/sessions/--home-ada-wordcount--/sample-1.jsonl
    [stderr]
    note: [HOME]/.local/share/offshoot/sessions/--home-ada-wordcount--/sample.jsonl has the same id; name a session by its path
    ");
    world.run("label sample.jsonl 1b9d again");
    assert_snapshot!(world.run("import sample.jsonl"), @"
    [HOME]/.local/share/offshoot/sessions/--home-ada-wordcount--/sample-2.jsonl
    [stderr]
    note: [HOME]/.local/share/offshoot/sessions/--home-ada-wordcount--/sample.jsonl has the same id; name a session by its path
    ");
    assert_eq!(fs::read_to_string(first.trim_end()).unwrap(), SAMPLE);
}

#[test]
fn a_file_of_the_store_stays_where_it_is() {
    let world = World::new();
    let path = world.own("0000aaaa-1", &[]);
    let before = world.snapshot();
    assert_snapshot!(world.run(&format!("import {}", path.display())), @"
    [HOME]/.local/share/offshoot/sessions/--[ROOT]-home-work--/2026-01-01T00-00-00-000Z_0000aaaa-1.jsonl
    [stderr]
    note: the file is in the store already
    ");
    assert_eq!(world.snapshot(), before);
}

#[test]
fn an_old_file_stays_old() {
    let world = World::new();
    world.write("old.jsonl", VERSION_1);
    let path = world.stdout("import old.jsonl");
    assert_eq!(fs::read_to_string(path.trim_end()).unwrap(), VERSION_1);
}

#[test]
fn what_is_no_session_is_not_taken_in() {
    let world = World::new();
    world.write("notes.jsonl", "{\"a\":1}\n");
    world.write("empty.jsonl", "");
    assert_snapshot!(world.run("import notes.jsonl"), @r#"
    [stderr]
    error: notes.jsonl is not a session: the first record is not a session header (line 1, byte 0)
    hint: a session file begins with a line like {"type":"session","id":…}
    [exit code 4]
    "#);
    assert_snapshot!(world.run("import empty.jsonl"), @"
    [stderr]
    error: the session is empty: there is nothing to copy
    [exit code 2]
    ");
    assert_snapshot!(world.run("import gone.jsonl"), @"
    [stderr]
    error: could not open gone.jsonl
    caused by: No such file or directory (os error 2)
    [exit code 3]
    ");
    assert_snapshot!(world.run("import claude:1"), @r#"
    [stderr]
    error: no session matches "claude:1"
    hint: `offshoot list --all` shows every session
    [exit code 3]
    "#);
    assert_snapshot!(world.run("list --all"), @"
    [stderr]
    note: there are no sessions yet
    ");
}

/// Another path was opened, whose odd letters were replaced.
#[test]
fn a_path_that_is_no_text_is_a_path() {
    let world = World::new();
    let name = OsStr::from_bytes(b"se\xffssion.jsonl");
    let header = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}"#;
    let text = format!("{header}\n{}\n", crate::world::message("aaaa0001", None, 1, "user", "hello"));
    std::fs::write(world.work().join(name), text).unwrap();
    let output = world.command(&["import"]).arg(name).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

/// Without `.jsonl` in its name the file is named after its header, which may be anybody's.
#[test]
fn a_hostile_header_names_a_file_of_the_folder() {
    let world = World::new();
    let header =
        r#"{"type":"session","version":3,"id":"../../../../../../.bashrc.d/x","timestamp":"/etc/cron.d/y","cwd":"/"}"#;
    world.write("evil", format!("{header}\n{}\n", crate::world::message("aaaa0001", None, 1, "user", "hello")));
    assert_snapshot!(world.run("import evil"), @"[HOME]/.local/share/offshoot/sessions/----/etc-cron-d-y_bashrc.d-x.jsonl");
}
