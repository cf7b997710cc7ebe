//! `offshoot check`.

use insta::assert_snapshot;

use crate::world::{SAMPLE, VERSION_1, World, message, text};

fn world() -> World {
    let world = World::with_sample();
    let orphan = message("aaaa1111", Some("gone"), 10, "user", "q");
    world.write("folder/deep/bad.jsonl", text("bad", "/w", &[&orphan, "no json"]) + "{\"type\":");
    world.write("folder/notes.jsonl", "{\"a\":1}\n");
    world.write("folder/notes.txt", "not looked at");
    world
}

#[test]
fn a_sound_file_is_ok() {
    assert_snapshot!(World::with_sample().run("check sample.jsonl"), @"sample.jsonl: ok");
}

#[test]
fn everything_odd_with_its_place() {
    assert_snapshot!(world().run("check sample.jsonl folder"), @"
    sample.jsonl: ok
    folder: 0 of 2 files ok
      deep/bad.jsonl:2: error[orphan]: parent gone is not in the file; shown as a root
      deep/bad.jsonl:3: error[malformed-line]: the line is not one JSON object; it stays in the file but not in the tree
      deep/bad.jsonl:4: error[torn-tail]: the last line is cut off; it stays in the file, and the next entry starts on a line of its own
      notes.jsonl:1: error[unreadable-session]: not a session: the first record is not a session header
    3 files: 1 ok, 2 damaged
    [stderr]
    error: 2 of 3 sessions damaged
    hint: what is damaged stays where it is; everything else can be read and continued
    [exit code 4]
    ");
}

#[test]
fn json_has_an_element_for_each_file() {
    assert_snapshot!(world().run("check sample.jsonl folder/deep --json"), @r#"
    [{"file":"sample.jsonl","diagnostics":[]},
    {"file":"folder/deep/bad.jsonl","diagnostics":[{"code":"orphan","severity":"error","line":2,"offset":92,"entryId":"aaaa1111","message":"parent gone is not in the file; shown as a root"},{"code":"malformed-line","severity":"error","line":3,"offset":275,"entryId":null,"message":"the line is not one JSON object; it stays in the file but not in the tree"},{"code":"torn-tail","severity":"error","line":4,"offset":291,"entryId":null,"message":"the last line is cut off; it stays in the file, and the next entry starts on a line of its own"}]}]
    [stderr]
    error: 1 of 2 sessions damaged
    hint: what is damaged stays where it is; everything else can be read and continued
    [exit code 4]
    "#);
}

/// One unreadable file ended the run, and the files after it were not checked.
#[test]
fn what_cannot_be_read_is_reported_and_the_others_are_checked() {
    let world = World::with_sample();
    std::fs::create_dir_all(world.work().join("folder/odd.jsonl/x")).unwrap();
    std::os::unix::fs::symlink("gone", world.work().join("folder/dangling.jsonl")).unwrap();
    world.write("folder/a.jsonl", SAMPLE);
    world.write("folder/b.jsonl", SAMPLE);
    assert_snapshot!(world.run("check gone.jsonl folder sample.jsonl"), @"
    folder: 2 of 3 files ok
    sample.jsonl: ok
    5 files: 3 ok, 0 damaged, 2 could not be read
    [stderr]
    error: could not open gone.jsonl
    caused by: No such file or directory (os error 2)
    error: could not open folder/dangling.jsonl
    caused by: No such file or directory (os error 2)
    error: 2 inputs could not be read
    [exit code 3]
    ");
    let json = world.run("check gone.jsonl sample.jsonl --json");
    assert_snapshot!(json.lines().take(2).collect::<Vec<_>>().join("\n"), @r#"
    [{"file":"gone.jsonl","diagnostics":[],"error":"could not open gone.jsonl: No such file or directory (os error 2)"},
    {"file":"sample.jsonl","diagnostics":[]}]
    "#);
}

/// A note is no damage: the file was counted as one that is not ok.
#[test]
fn a_file_with_notes_is_ok() {
    let world = World::new();
    let answer = r#"{"role":"assistant","content":[{"type":"toolCall","id":"t1","name":"bash","arguments":{}}]}"#;
    let call = format!(
        r#"{{"type":"message","id":"aaaa1111","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{answer}}}"#
    );
    world.write("folder/a.jsonl", text("a", "/w", &[&call]));
    world.write("folder/b.jsonl", SAMPLE);
    assert_snapshot!(world.run("check folder folder/b.jsonl"), @"
    folder: 2 files ok (1 with notes)
      a.jsonl: note[dangling-tool-call]: tool call t1 has no result; the model gets one that says so
    folder/b.jsonl: ok
    3 files: 3 ok (1 with notes), 0 damaged
    ");
}

#[test]
fn a_sound_folder_has_one_line() {
    let world = World::new();
    world.write("folder/a.jsonl", SAMPLE);
    world.write("folder/deep/b.jsonl", SAMPLE);
    assert_snapshot!(world.run("check folder"), @"folder: 2 files ok");
    assert_snapshot!(world.run("check folder -v"), @"
    folder: 2 files ok
      a.jsonl: ok
      deep/b.jsonl: ok
    ");
}

#[test]
fn notes_are_no_damage() {
    let world = World::new();
    world.write("old.jsonl", VERSION_1);
    assert_snapshot!(world.run("check old.jsonl"), @"old.jsonl:1: note[old-version]: version 1; upgraded in memory, and on disk by the first append");
}

#[test]
fn nothing_to_check() {
    let world = World::new();
    assert_snapshot!(world.run("check gone.jsonl"), @"
    [stderr]
    error: could not open gone.jsonl
    caused by: No such file or directory (os error 2)
    [exit code 3]
    ");
    std::fs::create_dir(world.work().join("empty")).unwrap();
    assert_snapshot!(world.run("check empty"), @"empty: no session files");
    assert_eq!(world.stdout("check empty --json"), "[]\n");
}

/// Nobody writes into the FIFO: opening it once waited for ever, and what is piped in was an empty session.
#[test]
fn what_is_no_regular_file_is_refused() {
    let world = World::new();
    let fifo = world.work().join("pipe.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for command in ["check", "show", "tree", "tail"] {
        insta::allow_duplicates! {
            assert_snapshot!(world.run(&format!("{command} pipe.jsonl")), @"
            [stderr]
            error: could not open pipe.jsonl
            caused by: it is a FIFO, not a regular file: save its content in one first
            [exit code 1]
            ");
        }
    }
    for command in [
        "context pipe.jsonl",
        "branches pipe.jsonl",
        "entry pipe.jsonl aaaa",
        "label pipe.jsonl aaaa x",
        "name pipe.jsonl x",
        "switch pipe.jsonl aaaa",
        "pop pipe.jsonl",
        "append pipe.jsonl",
        "fork pipe.jsonl",
        "import pipe.jsonl",
        "export pipe.jsonl -o page.html",
        "repair pipe.jsonl",
        "migrate pipe.jsonl",
        "compact pipe.jsonl",
        "trash pipe.jsonl",
        "--session pipe.jsonl -p hello",
    ] {
        let shown = world.run_with(command, "");
        let is_told = shown.contains("it is a FIFO, not a regular file");
        assert!(is_told && !shown.ends_with("[exit code 0]\n"), "{command}: {shown}");
    }
    assert_snapshot!(world.run("check ."), @"
    [stderr]
    error: could not open ./pipe.jsonl
    caused by: it is a FIFO, not a regular file: save its content in one first
    [exit code 1]
    ");
}

/// `append` wrote over the beginning of a block device, and `check` of an endless device said ok.
#[test]
fn a_device_is_neither_read_nor_written() {
    let world = World::new();
    for device in ["/dev/zero", "/dev/null", "/dev/full"] {
        for command in ["check", "append", "show", "import"] {
            let shown = world.run_with(&format!("{command} {device}"), "");
            assert!(shown.contains("it is a device, not a regular file"), "{command} {device}: {shown}");
        }
    }
}
