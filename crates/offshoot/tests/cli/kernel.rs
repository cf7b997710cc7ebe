//! The real kernel made to fail: `strace` lets the n-th system call fail, for every n that a command comes to.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use super::crashes::{acknowledged, append, damaged_lines, entry, fed, ids, in_bash, say, session, works_again};
use crate::world::{World, text};

/// Whether system calls can be made to fail here; says so aloud if not.
pub(crate) fn can_inject(what: &str) -> bool {
    let probe = Command::new("strace").args(["-f", "-o", "/dev/null", "-e", "trace=write", "true"]).output();
    let works = probe.is_ok_and(|output| output.status.success());
    if !works {
        say(&format!("NOT TESTED: {what}: strace is not installed, or may not trace here"));
    }
    works
}

/// A command under strace; each injection is `call:error=E:when=N`. With a path, only calls on that file count.
pub(crate) fn injected(inner: &Command, injections: &[String], path: Option<&Path>) -> Command {
    let mut line = "exec strace -f -o /dev/null".to_owned();
    for injection in injections {
        line += &format!(" -e inject={injection}");
    }
    if let Some(path) = path {
        line += &format!(" -P '{}'", path.display());
    }
    in_bash(inner, &(line + " -- \"$@\""))
}

fn count(file: &Path) -> usize {
    fs::read(file).unwrap().iter().filter(|byte| **byte == b'\n').count()
}

/// How one `append` of three entries under a fault ended.
struct Ended {
    output: Output,
    /// How many entries were kept outside the file.
    kept: usize,
}

/// One `append` of three entries with a fault: what was acknowledged is in the file, what was kept comes back, and what
/// was there before stays. Entries longer than a pipe holds come one by one, and are written one by one.
fn appends_under(injections: &[String]) -> Ended {
    let world = World::new();
    let file = session(&world);
    let before = fs::read(&file).unwrap();
    let output = fed(injected(&append(&world, &file), injections, Some(&file)), &entry(100_000).repeat(3));
    let given = acknowledged(&output.stdout);
    assert!(fs::read(&file).unwrap().starts_with(&before), "{injections:?}: the old bytes stay");
    assert!(given.iter().all(|id| ids(&file).contains(id)), "{injections:?}: an acknowledged entry is lost");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() || said.contains("error: "), "{injections:?}: {said}");
    assert!(!said.contains("panicked"), "{injections:?}: {said}");
    let kept: Vec<String> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter(|line| line.contains("\"spilled\":"))
        .filter_map(|line| Some(line.strip_prefix("{\"id\":\"")?.split('"').next()?.to_owned()))
        .collect();
    if !output.status.success() && !kept.is_empty() {
        let repaired = world.command(&["repair", file.to_str().unwrap()]).output().unwrap();
        assert!(repaired.status.success(), "{injections:?}: {repaired:?}");
    }
    assert!(kept.iter().all(|id| ids(&file).contains(id)), "{injections:?}: an entry that was kept is lost");
    works_again(&world, &file);
    assert_eq!(damaged_lines(&world, &file), 0, "{injections:?}");
    // Header, question, and the entry of the run that works again; a failed sync may leave an entry that was never announced.
    let beyond = count(&file) - given.len() - kept.len() - 3;
    assert!(beyond <= 1, "{injections:?}: {beyond} lines too many");
    Ended { output, kept: kept.len() }
}

#[test]
fn a_system_call_that_fails_loses_nothing_acknowledged() {
    if !can_inject("system calls that fail") {
        return;
    }
    let (mut failed, mut later) = (0, 0);
    for call in [
        "write:error=ENOSPC",
        "write:error=EIO",
        "write:error=EDQUOT",
        "write:retval=0",
        "fdatasync:error=EIO",
        "flock:error=EIO",
    ] {
        for when in 1..=6 {
            let ended = appends_under(&[format!("{call}:when={when}")]);
            failed += usize::from(!ended.output.status.success());
            later += ended.kept;
        }
    }
    say(&format!(
        "36 injected failures of write, fdatasync and flock: {failed} commands failed, 0 acknowledged entries lost, {later} kept and brought back"
    ));
    assert!(failed + later >= 12, "the faults were hit: {failed}, {later}");
}

/// A file that can be read and never written: the command fails, asks no model, and keeps nothing.
#[test]
fn a_read_only_file_refuses_commands() {
    if !can_inject("files that cannot be written") {
        return;
    }
    for words in [&["label", "FILE", "aaaa", "x"][..], &["name", "FILE", "x"], &["append", "FILE"]] {
        let world = World::new();
        let file = session(&world);
        let words: Vec<&str> =
            words.iter().map(|word| if *word == "FILE" { file.to_str().unwrap() } else { word }).collect();
        let before = world.snapshot();
        // `-P` counts the calls on the file alone: it is read first.
        let injection = "openat:error=EROFS:when=2+".to_owned();
        let output = fed(injected(&world.command(&words), &[injection], Some(&file)), "");
        let shown = world.shown(&output);
        assert!(shown.contains("error: could not append to ") && shown.contains("Read-only file system"), "{shown}");
        assert_eq!((output.status.code(), world.snapshot()), (Some(1), before), "{words:?}");
    }
}

#[test]
fn a_write_that_is_interrupted_is_tried_again() {
    if !can_inject("interrupted system calls") {
        return;
    }
    for when in 1..=3 {
        let ended = appends_under(&[format!("write:error=EINTR:when={when}")]);
        assert!(ended.output.status.success() && ended.kept == 0, "{:?}", ended.output);
    }
}

/// A file that is about to be born, upgraded or repaired appears whole or not at all, whichever call fails.
#[test]
fn a_system_call_that_fails_leaves_the_old_file_or_the_new_one() {
    if !can_inject("system calls that fail during upgrades, repairs and births") {
        return;
    }
    let old = crate::world::VERSION_1.to_owned();
    let torn = text("s", "/w", &["no json"]);
    let mut refused = 0;
    for (words, before) in [(["migrate", "s.jsonl"], &old), (["repair", "s.jsonl"], &torn)] {
        let new = rewritten(&words, before);
        for call in [
            "fsync:error=EIO",
            "fdatasync:error=EIO",
            "rename:error=EIO",
            "renameat2:error=EIO",
            "linkat:error=EIO",
            "write:error=ENOSPC",
        ] {
            for when in 1..=3 {
                let world = World::new();
                let file = world.write("s.jsonl", before);
                let output = fed(injected(&world.command(&words), &[format!("{call}:when={when}")], None), "");
                refused += usize::from(!output.status.success());
                let now = fs::read_to_string(&file).unwrap();
                assert!(now == *before || now == new, "{words:?} {call} {when}: {now}");
                assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"), "{output:?}");
                goes_on(&world, &file);
            }
        }
    }
    for call in
        ["fsync:error=EIO", "fdatasync:error=EIO", "linkat:error=EIO", "renameat2:error=EIO", "write:error=ENOSPC"]
    {
        let world = World::new();
        let file = world.work().join("new.jsonl");
        let output = fed(injected(&append(&world, &file), &[format!("{call}:when=1")], None), &entry(100));
        let given = acknowledged(&output.stdout);
        assert!(given.is_empty() || given.iter().all(|id| ids(&file).contains(id)), "{call}: {output:?}");
        refused += usize::from(!output.status.success());
        goes_on(&world, &file);
    }
    say(&format!(
        "41 injected failures during upgrades, repairs and births: {refused} commands failed, every file whole"
    ));
    assert!(refused >= 6, "the faults were hit: {refused}");
}

/// What a command makes of a file when nothing fails.
fn rewritten(words: &[&str], before: &str) -> String {
    let world = World::new();
    let file = world.write("s.jsonl", before);
    assert!(world.command(words).output().unwrap().status.success());
    fs::read_to_string(file).unwrap()
}

/// An append works now, also where it has to upgrade the file or to bear it.
fn goes_on(world: &World, file: &Path) {
    let output = fed(append(world, file), &entry(10));
    assert!(output.status.success(), "{output:?}");
    assert!(acknowledged(&output.stdout).iter().all(|id| ids(file).contains(id)));
}
