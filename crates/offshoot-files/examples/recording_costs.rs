//! What recording costs, in one run: `cargo run --release -p offshoot-files --example recording_costs [FILES]`.
//!
//! A look at all files of a folder beside `git status`; a command in a folder of 10,000 files, an `edit` and the store after 500 turns, the
//! first and the last beside a shadow repository. One line for each figure: its name, the figure and its unit, with tabs between.
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

fn said(name: &str, figure: f64, unit: &str) {
    println!("{name}\t{figure:.3}\t{unit}");
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
    said("first-look", timed(|| look(&first)), "ms");
    let second = recorder(dir.path());
    said("next-session", timed(|| look(&second)), "ms");
    let (mut ours, mut gits) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        gits.push(timed(|| git(dir.path(), &["status", "--porcelain"])));
        ours.push(timed(|| look(&second)));
    }
    said("look", median(ours), "ms");
    said("git-status", median(gits), "ms");
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
    said("command", median(times.collect()), "ms");
    let shadow = Shadow::new(dir.path());
    shadow.snapshot();
    let times = (0..20).map(|at| {
        fs::write(dir.path().join("work/changed"), format!("{at} again\n")).unwrap();
        timed(|| shadow.snapshot())
    });
    said("shadow-command", median(times.collect()), "ms");
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
    said("edit", median(times.collect()), "ms");
}

fn turns(turns: usize) {
    let dir = folder(1000);
    let recorder = recorder(dir.path());
    look(&recorder);
    let base = bytes_in(recorder.workspace().data());
    let shadow = Shadow::new(dir.path());
    shadow.snapshot();
    let shadow_base = bytes_in(&dir.path().join("shadow"));
    // The entries of the session count, too.
    let mut entries = 0;
    let text = "let x = 1;\n".repeat(2000);
    for at in 0..turns {
        let path = dir.path().join(format!("work/src0/mod0/file{}.rs", at % 10));
        let batch = recorder.begin();
        recorder.before_change_of(batch, call("edit"), &path).unwrap();
        fs::write(&path, format!("{text}{at}\n")).unwrap();
        let changes = recorder.end(batch).unwrap().unwrap();
        entries += recorder.compose(changes, &Default::default()).unwrap().len() as u64;
        shadow.snapshot();
    }
    let kilobytes = |bytes: u64| bytes as f64 / 1000.0;
    said("store", kilobytes(bytes_in(recorder.workspace().data()) - base + entries), "kB");
    said("shadow-store", kilobytes(bytes_in(&dir.path().join("shadow")) - shadow_base), "kB");
}

/// A repository beside the folder, as published tools keep one: a snapshot is `git add`, `git status` and `git commit`.
struct Shadow<'a> {
    dir: &'a Path,
}

impl<'a> Shadow<'a> {
    fn new(dir: &'a Path) -> Self {
        let shadow = Self { dir };
        fs::create_dir(dir.join("shadow")).unwrap();
        shadow.git(&["init", "-q"]);
        shadow
    }

    fn git(&self, words: &[&str]) {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=x", "-c", "user.email=x@x", "-c", "commit.gpgsign=false"]).args(words);
        let shadow = self.dir.join("shadow/.git");
        command.env("GIT_DIR", shadow).env("GIT_WORK_TREE", self.dir.join("work")).current_dir(self.dir.join("work"));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{words:?} {output:?}");
    }

    fn snapshot(&self) {
        self.git(&["add", "."]);
        self.git(&["status", "--porcelain"]);
        self.git(&["commit", "-q", "--no-verify", "--allow-empty", "-m", "snapshot"]);
    }
}

/// The lengths of all files in a folder.
fn bytes_in(folder: &Path) -> u64 {
    let (mut open, mut bytes) = (vec![folder.to_path_buf()], 0);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let meta = entry.metadata().unwrap();
            if meta.is_dir() { open.push(entry.path()) } else { bytes += meta.len() }
        }
    }
    bytes
}
