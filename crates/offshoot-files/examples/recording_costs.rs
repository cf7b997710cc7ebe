//! What recording costs, in one run: `cargo run --release -p offshoot-files --example recording_costs [FILES]`.
//!
//! A look at all files of a folder beside `git status`, a command in a folder of 10,000 files, an `edit`, and the store after 500 turns.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "an example that measures and prints"
)]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use offshoot_files::{ChangingCall, FileLimits, Recorder, Workspace};
use offshoot_session::clock::SystemClock;

const ROUNDS: usize = 7;

fn main() {
    let files = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(100_000);
    scans(files);
    commands(10_000);
    edits();
    turns(500);
}

fn folder(files: usize) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for at in 0..files {
        let path = dir.path().join(format!("work/src{}/mod{}/file{at}.rs", at / 2000, at / 50));
        if at % 50 == 0 {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
        }
        fs::write(path, format!("// file {at}\nfn f() -> usize {{ {at} }}\n")).unwrap();
    }
    dir
}

fn recorder(dir: &Path) -> Recorder {
    let limits = FileLimits { files: 1 << 20, ..FileLimits::default() };
    let workspace = Workspace::open(&dir.join("work"), &dir.join("data"), limits).unwrap();
    Recorder::new(workspace, "s", Arc::new(SystemClock), &[])
}

fn call(name: &str) -> ChangingCall {
    ChangingCall { id: "c".to_owned(), name: name.to_owned() }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn timed(mut work: impl FnMut()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64() * 1000.0
}

fn look(recorder: &Recorder) {
    let batch = recorder.begin();
    recorder.before_any_change(batch, call("bash")).unwrap();
    recorder.drop_batch(batch);
}

fn git(dir: &Path, words: &[&str]) {
    let output = Command::new("git").args(words).current_dir(dir.join("work")).output().unwrap();
    assert!(output.status.success(), "{words:?} {output:?}");
}

fn scans(files: usize) {
    let dir = folder(files);
    git(dir.path(), &["init", "-q"]);
    git(dir.path(), &["add", "."]);
    git(dir.path(), &["-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x"]);
    // Stamps are trusted when they are some seconds old.
    std::thread::sleep(std::time::Duration::from_secs(4));
    let first = recorder(dir.path());
    println!("baseline of {files} files, nothing known: {:.0} ms", timed(|| look(&first)));
    let second = recorder(dir.path());
    println!("baseline of {files} files, seen before: {:.0} ms", timed(|| look(&second)));
    let (mut ours, mut gits) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        gits.push(timed(|| git(dir.path(), &["status", "--porcelain"])));
        ours.push(timed(|| look(&second)));
    }
    let (ours, gits) = (median(ours), median(gits));
    println!("look at {files} files: {ours:.0} ms, git status {gits:.0} ms, {:.2} ×", ours / gits);
}

fn commands(files: usize) {
    let dir = folder(files);
    std::thread::sleep(std::time::Duration::from_secs(4));
    let recorder = recorder(dir.path());
    look(&recorder);
    let times = (0..20).map(|at| {
        timed(|| {
            let batch = recorder.begin();
            recorder.before_any_change(batch, call("bash")).unwrap();
            fs::write(dir.path().join("work/changed"), format!("{at}\n")).unwrap();
            let changes = recorder.end(batch).unwrap().unwrap();
            recorder.compose(changes, &Default::default()).unwrap();
        })
    });
    println!("a command in a folder of {files} files: {:.1} ms more", median(times.collect()));
}

fn edits() {
    let dir = folder(100);
    let recorder = recorder(dir.path());
    let path = dir.path().join("work/src0/mod0/file0.rs");
    let text = "let x = 1;\n".repeat(2000);
    let times = (0..100).map(|at| {
        let batch = recorder.begin();
        let before = timed(|| recorder.before_change_of(batch, call("edit"), &path).unwrap());
        fs::write(&path, format!("{text}{at}\n")).unwrap();
        let after = timed(|| {
            let changes = recorder.end(batch).unwrap().unwrap();
            recorder.compose(changes, &Default::default()).unwrap();
        });
        before + after
    });
    println!("an edit of a file of 22 kB: {:.2} ms more", median(times.collect()));
}

fn turns(turns: usize) {
    let dir = folder(1000);
    let recorder = recorder(dir.path());
    look(&recorder);
    let base = recorder.workspace().store().size();
    let text = "let x = 1;\n".repeat(2000);
    for at in 0..turns {
        let path = dir.path().join(format!("work/src0/mod0/file{}.rs", at % 10));
        let batch = recorder.begin();
        recorder.before_change_of(batch, call("edit"), &path).unwrap();
        fs::write(&path, format!("{text}{at}\n")).unwrap();
        let changes = recorder.end(batch).unwrap().unwrap();
        recorder.compose(changes, &Default::default()).unwrap();
    }
    let size = recorder.workspace().store().size();
    println!(
        "store: {} contents, {} kB at the start (1,000 files); {} contents, {} kB after {turns} turns",
        base.contents,
        base.bytes / 1000,
        size.contents,
        size.bytes / 1000
    );
}
