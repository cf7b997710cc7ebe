//! Faults while files are recorded, restored and picked: kills before system calls, and a full disk. What must hold is in `docs/files.md`.

use std::os::unix::process::ExitStatusExt as _;

use offshoot_agent::testing::script::Reply;

use crate::agent::Talk;
use crate::crashes::{fed, in_bash, say};
use crate::files::{bash, both, branches, files, session, talk, work};
use crate::kernel::{can_inject, injected};

/// The system calls that write, or that change a name.
const WRITING: [&str; 13] = [
    "renameat2",
    "rename",
    "fdatasync",
    "fsync",
    "unlinkat",
    "unlink",
    "symlinkat",
    "mkdirat",
    "mkdir",
    "write",
    "pwrite64",
    "ftruncate",
    "fchmod",
];

/// Killed before each system call that writes or changes a name, the files and the conversation are both before or both after it at the next
/// start.
#[test]
fn a_restore_that_is_killed_ends_whole_or_not_at_all() {
    if !can_inject("restores that are killed at a system call") {
        return;
    }
    let talk = talk();
    let prompt = session(&talk);
    let changed = files(&talk);
    let last = talk.lines().last().unwrap()["id"].as_str().unwrap().to_owned();
    let (mut before, mut after) = (0, 0);
    for call in WRITING {
        for when in 1.. {
            let inner = talk.command(&["switch", "latest", &prompt, "--files"]);
            let output = fed(injected(&inner, &[format!("{call}:signal=KILL:when={when}")], None), "");
            let is_killed = output.status.signal().is_some();
            let said = talk.run(&["switch", "latest", &prompt, "--files", "--dry-run"]);
            let has_moved = !talk.run(&["context", "latest"]).contains("done");
            let found = files(&talk);
            let what = format!("{call} {when}: {found:?} {said}");
            match has_moved {
                true => assert_eq!(found, ["one\n", "still here\n", "-"], "{what}"),
                false => assert_eq!(found, changed, "{what}"),
            }
            let names = std::fs::read_dir(talk.world.work()).unwrap().map(|entry| entry.unwrap().file_name());
            let rest: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with(".offshoot")).collect();
            assert!(rest.is_empty(), "{what} {rest:?}");
            if has_moved {
                talk.run(&["switch", "latest", &last, "--files"]);
                assert_eq!(files(&talk), changed, "{what}: the way back");
            }
            if !is_killed {
                break;
            }
            *(if has_moved { &mut after } else { &mut before }) += 1;
        }
    }
    assert!(before > 5 && after > 5, "kills before and after the move: {before}, {after}");
    say(&format!("restores: {before} killed before the move, {after} after it, 0 in between"));
}

/// A copy of a folder with times and links.
fn copied(from: &std::path::Path, to: &std::path::Path) {
    let output = std::process::Command::new("cp").arg("-a").args([from, to]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Every so many kills one is tried, and all of them where that is asked for.
fn kill_step() -> usize {
    if std::env::var_os("OFFSHOOT_ALL_KILLS").is_some() { 1 } else { 2 }
}

/// Killed before each system call that writes or changes a name, the files come with their entry, or not at all.
#[test]
fn a_pick_that_is_killed_brings_files_with_their_entry_or_not_at_all() {
    if !can_inject("picks that are killed at a system call") {
        return;
    }
    let (talk, other) = branches();
    let before = work(&talk);
    let kept = talk.world.home().with_file_name("kept");
    copied(&talk.world.home(), &kept);
    let (mut without, mut with) = (0, 0);
    for (first, call) in WRITING.iter().enumerate() {
        for when in (1 + first % kill_step()..).step_by(kill_step()) {
            std::fs::remove_dir_all(talk.world.home()).unwrap();
            copied(&kept, &talk.world.home());
            let inner = talk.command(&["pick", "latest", &format!("..{other}"), "--files"]);
            let output = fed(injected(&inner, &[format!("{call}:signal=KILL:when={when}")], None), "");
            // The next program completes it, or takes it back.
            let status = talk.run(&["files", "status", "latest"]);
            let is_recorded = talk.lines().iter().any(|line| line["data"]["calls"][0]["name"] == "pick");
            let expected = if is_recorded { &both() } else { &before };
            let what = format!("{call} {when} {} {status}", output.status);
            assert_eq!(work(&talk), *expected, "{what}");
            let names = std::fs::read_dir(talk.world.work()).unwrap().map(|entry| entry.unwrap().file_name());
            let rest: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with(".offshoot")).collect();
            assert!(rest.is_empty(), "{what} {rest:?}");
            if is_recorded {
                talk.run(&["undo", "latest", "--files"]);
                assert_eq!(work(&talk), before, "{what}");
            }
            if output.status.signal().is_none() {
                break;
            }
            *(if is_recorded { &mut with } else { &mut without }) += 1;
        }
    }
    assert!(without > 5 && with > 5, "kills before and after the entry: {without}, {with}");
    say(&format!("picks with files: {without} killed before their entry, {with} after it, 0 in between"));
}

/// The largest file that can be written is smaller than a content: as on a full disk, a write fails half way.
#[test]
fn on_a_full_disk_a_restore_changes_nothing_and_a_recording_says_that_it_failed() {
    let large = format!("{}\n", "x".repeat(20_000));
    let talk = Talk::new([
        bash("c1", "echo small > a.txt; echo new > b.txt; echo 1 > 0.txt"),
        Reply::text("done"),
        bash("c2", "cat a.txt b.txt > c.txt; head -c 200000 /dev/urandom > d.bin"),
        Reply::text("done"),
    ]);
    talk.world.write("a.txt", &large);
    // It is made ready before the write that fails.
    talk.world.write("0.txt", "0\n");
    talk.run(&["-p", "change it", "--approval", "auto"]);
    talk.no_problems();
    let prompt = talk.lines().iter().find(|line| line["message"]["role"] == "user").unwrap()["id"].clone();
    let full = |arguments: &[&str], blocks: u32| {
        let output = in_bash(&talk.command(arguments), &format!("ulimit -f {blocks}; exec \"$@\"")).output().unwrap();
        talk.world.shown(&output)
    };
    let before = talk.world.snapshot();
    let said = full(&["switch", "latest", prompt.as_str().unwrap(), "--files"], 8);
    assert!(said.contains("could not write") && said.contains("[exit code 1]"), "{said}");
    let after = talk.world.snapshot();
    let of_folder = |copy: &std::collections::BTreeMap<std::path::PathBuf, _>| -> Vec<std::path::PathBuf> {
        copy.keys().filter(|path| path.starts_with(talk.world.work())).cloned().collect()
    };
    assert_eq!(of_folder(&after), of_folder(&before), "no name more, no name less");
    assert!(
        before.iter().filter(|(path, _)| path.starts_with(talk.world.work())).all(|(path, file)| after[path] == *file)
    );
    assert!(talk.run(&["context", "latest"]).contains("done"), "the conversation did not move");
    // The command's own file is too large for its disk, and its content is too large for the store.
    let said = full(&["-c", "-p", "more", "--approval", "auto"], 64);
    assert!(
        said.contains("done") && said.contains("changes of files are not recorded"),
        "the conversation goes on: {said}"
    );
    let said = talk.run(&["switch", "latest", prompt.as_str().unwrap(), "--files"]);
    assert_eq!(talk.world.read("a.txt"), large, "{said}");
}

/// A program that is killed while it records leaves every file as the command did, and the next one goes on.
#[test]
fn a_recording_that_is_killed_loses_no_file_and_the_next_one_goes_on() {
    if !can_inject("recordings that are killed at a system call") {
        return;
    }
    let (mut killed, mut recorded) = (0, 0);
    for call in ["renameat2", "rename", "fdatasync", "fsync", "mkdir", "mkdirat", "unlink", "unlinkat"] {
        for when in 1.. {
            let command = "cat a.txt > c.txt; echo changed > a.txt";
            let talk = Talk::new([
                bash("c1", command),
                Reply::text("done"),
                bash("c1", command),
                Reply::text("done"),
                Reply::text("done"),
            ]);
            talk.world.write("a.txt", "one\n");
            let inner = talk.command(&["-p", "change it", "--approval", "auto"]);
            let output = fed(injected(&inner, &[format!("{call}:signal=KILL:when={when}")], None), "");
            if output.status.signal().is_none() {
                break;
            }
            killed += 1;
            let files = ["a.txt", "c.txt"]
                .map(|name| std::fs::read_to_string(talk.world.work().join(name)).unwrap_or_default());
            let what = format!("{call} {when} {} {files:?}", output.status);
            // Before the command, or after it.
            assert!([["one\n", ""], ["changed\n", "one\n"]].iter().any(|state| files == *state), "{what}");
            if talk.files().is_empty() {
                continue;
            }
            let said = talk.run(&["-c", "-p", "go on", "--approval", "auto"]);
            assert!(said.contains("done"), "{what} {said}");
            let has_entry = talk.lines().iter().any(|line| line["customType"] == "offshoot.files");
            recorded += usize::from(has_entry);
            let prompt = talk.lines().iter().find(|line| line["message"]["role"] == "user").unwrap()["id"].clone();
            let said = talk.run(&["switch", "latest", prompt.as_str().unwrap(), "--files"]);
            let names = std::fs::read_dir(talk.world.work()).unwrap().map(|entry| entry.unwrap().file_name());
            assert!(names.into_iter().all(|name| !name.to_string_lossy().starts_with(".offshoot")), "{what} {said}");
            let now = talk.world.read("a.txt");
            // What was recorded comes back; what was not stays.
            assert!(["one\n", "changed\n"].contains(&now.as_str()), "{what} {said} {now}");
        }
    }
    assert!(killed > 2 && recorded > 2, "{killed} {recorded}");
    say(&format!("recordings: {killed} killed, {recorded} times an entry afterwards, 0 bytes lost"));
}
