//! Picks, merges, undos and their like under system calls that fail, limits and kills: a session opens before the operation
//! or after it, and never with a part of it.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Output};
use std::thread;

use crate::crashes::{damaged_lines, fed, in_bash, say, works_again};
use crate::kernel::{can_inject, injected};
use crate::world::{World, message, text};

/// An operation, and what a session needs before it: commands that are run first.
struct Case {
    words: &'static [&'static str],
    first: &'static [&'static str],
}

const CASES: [Case; 5] = [
    Case { words: &["pick", "s.jsonl", "..b9000000", "--force"], first: &[] },
    Case { words: &["merge", "s.jsonl", "b9000000", "--summary", "tried", "--force"], first: &[] },
    Case { words: &["merge", "s.jsonl", "b9000000", "--entries", "--force"], first: &[] },
    Case { words: &["undo", "s.jsonl"], first: &["pick s.jsonl ..b9000000 --force"] },
    Case { words: &["compact", "--undo", "s.jsonl", "--force"], first: &["switch s.jsonl dddd1111"] },
];

/// A trunk, a branch of ten entries, and a branch with a compaction before its last entry.
fn branches(size: usize) -> String {
    let said = "x".repeat(size);
    let mut entries = vec![message("aaaa1111", None, 1, "user", "question")];
    let mut parent = "aaaa1111".to_owned();
    for at in 0..10 {
        let id = format!("b{at}000000");
        entries.push(message(&id, Some(&parent), 2 + at, if at % 2 == 0 { "assistant" } else { "user" }, &said));
        parent = id;
    }
    entries.push(message("eeee1111", Some("aaaa1111"), 20, "assistant", &said));
    entries.push(
        r#"{"type":"compaction","id":"ffff1111","parentId":"eeee1111","timestamp":"2026-02-01T10:00:21.000Z","summary":"short","firstKeptEntryId":"eeee1111","tokensBefore":9}"#
            .to_owned(),
    );
    entries.push(message("dddd1111", Some("ffff1111"), 22, "user", &said));
    entries.push(message("cccc1111", Some("aaaa1111"), 23, "assistant", "other way"));
    text("s", "/w", &entries.iter().map(String::as_str).collect::<Vec<_>>())
}

/// A session at the moment before an operation, with the contexts of before and after.
struct Staged {
    world: World,
    file: PathBuf,
    bytes: Vec<u8>,
    before: String,
    after: String,
}

impl Case {
    fn staged(&self, size: usize) -> Staged {
        let world = World::new();
        let file = world.write("s.jsonl", branches(size));
        for line in self.first {
            world.stdout(line);
        }
        let bytes = fs::read(&file).unwrap();
        let before = context(&world);
        world.stdout(&self.words.join(" "));
        let after = context(&world);
        assert_ne!(before, after, "{:?}", self.words);
        fs::write(&file, &bytes).unwrap();
        Staged { world, file, bytes, before, after }
    }

    /// What must hold after a run that a fault or a kill may have ended.
    fn check(&self, staged: &Staged, output: &Output, what: &str) -> Opened {
        let Staged { world, file, bytes, before, after } = staged;
        let what = format!("{:?}, {what}", self.words);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!stderr.contains("panicked"), "{what}: {stderr}");
        assert!(fs::read(file).unwrap().starts_with(bytes), "{what}: the old bytes stay");
        let context = context(world);
        assert!(context == *before || context == *after, "{what}: a part of the operation is current");
        assert!(!output.status.success() || context == *after, "{what}: it said that it was done");
        let is_killed = output.status.signal().is_some();
        assert!(damaged_lines(world, file) <= usize::from(is_killed), "{what}");
        let is_whole = context == *after;
        let has_rest = fs::read(file).unwrap().len() > bytes.len();
        // The same operation is possible now, and brings nothing twice. A second undo would be a redo.
        if !is_whole {
            world.stdout(&self.words.join(" "));
            assert_eq!(self::context(world), *after, "{what}: again");
        } else if self.words[0] != "undo" && self.words[0] != "compact" {
            let again = world.stdout(&self.words.join(" "));
            assert!(again.starts_with("nothing to do"), "{what}: {again}");
        }
        works_again(world, file);
        if is_whole { Opened::After } else { Opened::Before { has_rest } }
    }
}

#[derive(Clone, Copy)]
enum Opened {
    Before { has_rest: bool },
    After,
}

/// How many runs left a session that opens before the operation, of these with a rest, and after it.
#[derive(Default)]
struct Counts {
    before: usize,
    rest: usize,
    after: usize,
}

impl Counts {
    fn add(&mut self, opened: Opened) {
        match opened {
            Opened::Before { has_rest } => {
                self.before += 1;
                self.rest += usize::from(has_rest);
            }
            Opened::After => self.after += 1,
        }
    }

    fn words(&self) -> String {
        let Self { before, rest, after } = self;
        format!("{before} opened before the operation, {rest} of them with a rest, {after} after it, 0 in between")
    }
}

/// The texts of the context, in order.
fn context(world: &World) -> String {
    world.normalised(&world.stdout("context s.jsonl --json"))
}

#[test]
fn a_system_call_that_fails_leaves_no_part_of_an_operation() {
    if !can_inject("operations whose system calls fail") {
        return;
    }
    let (mut counts, mut failed, mut tried) = (Counts::default(), 0, 0);
    for case in &CASES {
        for call in
            ["write:error=ENOSPC", "write:error=EIO", "write:retval=0", "fdatasync:error=EIO", "flock:error=EIO"]
        {
            for when in 1..=2 {
                let staged = case.staged(300);
                let injection = format!("{call}:when={when}");
                let inner = staged.world.command(case.words);
                let output = fed(injected(&inner, std::slice::from_ref(&injection), Some(&staged.file)), "");
                failed += usize::from(!output.status.success());
                counts.add(case.check(&staged, &output, &injection));
                tried += 1;
            }
        }
    }
    say(&format!("operations: {tried} injected failures, {failed} commands failed; {}", counts.words()));
    assert!(failed >= CASES.len() * 3, "the faults were hit: {failed}");
}

#[test]
fn an_operation_that_is_killed_at_a_system_call_leaves_no_part() {
    if !can_inject("operations that are killed at a system call") {
        return;
    }
    let (mut counts, mut killed, mut tried) = (Counts::default(), 0, 0);
    for case in &CASES {
        for call in ["flock", "write", "fdatasync"] {
            for when in 1..=2 {
                let staged = case.staged(300);
                let injection = format!("{call}:signal=KILL:when={when}");
                let inner = staged.world.command(case.words);
                let output = fed(injected(&inner, std::slice::from_ref(&injection), Some(&staged.file)), "");
                killed += usize::from(output.status.signal() == Some(9));
                counts.add(case.check(&staged, &output, &injection));
                tried += 1;
            }
        }
    }
    say(&format!("operations: {tried} runs, {killed} killed at a system call; {}", counts.words()));
    assert!(killed >= CASES.len() * 2, "the kills were hit: {killed}");
}

/// A file that ends in the middle of an operation's one write, as a program that is killed there leaves it.
#[test]
fn an_operation_that_is_cut_in_its_write_leaves_a_rest_that_undo_takes_back() {
    let killed = || Output { status: ExitStatus::from_raw(9), stdout: Vec::new(), stderr: Vec::new() };
    let mut counts = Counts::default();
    for case in &CASES {
        for part in 1..=20 {
            let staged = case.staged(700);
            staged.world.stdout(&case.words.join(" "));
            let whole = fs::read(&staged.file).unwrap();
            let end = staged.bytes.len() + (whole.len() - staged.bytes.len()) * part / 21;
            let rest = whole.get(..end).unwrap();
            fs::write(&staged.file, rest).unwrap();
            // Half a line is no rest: an undo would take back what was before it.
            let has_line = rest.get(staged.bytes.len()..).unwrap().contains(&b'\n');
            if has_line && case.words[0] != "undo" {
                staged.world.stdout("undo s.jsonl");
                assert_eq!(context(&staged.world), staged.before, "{:?}, {end}", case.words);
                fs::write(&staged.file, rest).unwrap();
            }
            counts.add(case.check(&staged, &killed(), &format!("{end} bytes")));
        }
    }
    say(&format!("operations: {} cut in their write; {}", CASES.len() * 20, counts.words()));
    assert!(counts.rest > 10, "{}", counts.words());
}

/// The limit stops the program's one write in its middle, one KiB later in each round. What came through is taken back.
#[test]
fn an_operation_that_meets_a_limit_on_files_leaves_no_part() {
    let (mut counts, mut failed) = (Counts::default(), 0);
    for case in &CASES {
        let first = case.staged(700).bytes.len() / 1024;
        for limit in (first..first + 20).step_by(3) {
            let staged = case.staged(700);
            let inner = staged.world.command(case.words);
            let output = fed(in_bash(&inner, &format!("ulimit -c 0; ulimit -f {limit}; exec \"$@\"")), "");
            failed += usize::from(output.status.code().is_some_and(|code| code != 0));
            counts.add(case.check(&staged, &output, &format!("{limit} KiB")));
        }
    }
    say(&format!("operations: {failed} met a limit on files; {}", counts.words()));
    assert_eq!((counts.rest, failed > 5), (0, true), "{}", counts.words());
}

/// How often a program is looked at until it is done, or until its file is longer than `enough`, or so many looks are over.
fn looked_at(child: &mut Child, file: &Path, (enough, most): (u64, u64)) -> u64 {
    let mut looks = 0;
    while looks < most && child.try_wait().unwrap().is_none() && fs::metadata(file).unwrap().len() <= enough {
        looks += 1;
        thread::yield_now();
    }
    looks
}

/// Half of the kills come at a random moment of the run, half when a random part of the write is in the file.
/// `OFFSHOOT_KILL_ROUNDS` asks for more rounds than the usual 20.
#[test]
fn an_operation_that_is_killed_at_any_moment_leaves_no_part_of_it() {
    let rounds = std::env::var("OFFSHOOT_KILL_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(20_u64);
    let (mut counts, mut killed) = (Counts::default(), 0);
    for (at, case) in (0_u64..).zip(&CASES) {
        let staged = case.staged(400_000);
        let start = |world: &World| world.command(case.words).spawn().unwrap();
        let usual = looked_at(&mut start(&staged.world), &staged.file, (u64::MAX, u64::MAX));
        for round in (at..rounds).step_by(CASES.len()) {
            fs::write(&staged.file, &staged.bytes).unwrap();
            // Spread over 0..1024 without order.
            let part = round.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
            let written = staged.bytes.len() as u64 + (4 << 20) * part / 1024;
            let moment = if round % 2 == 0 { (u64::MAX, usual * part / 1024) } else { (written, u64::MAX) };
            let mut child = start(&staged.world);
            looked_at(&mut child, &staged.file, moment);
            child.kill().unwrap();
            let output = child.wait_with_output().unwrap();
            killed += u64::from(output.status.signal() == Some(9));
            counts.add(case.check(&staged, &output, &format!("round {round}")));
        }
    }
    say(&format!("operations: {rounds} rounds, {killed} killed before they ended; {}", counts.words()));
    assert_eq!((counts.before + counts.after) as u64, rounds);
    assert!(killed > rounds / 4, "the kills came in time: {killed}");
}
