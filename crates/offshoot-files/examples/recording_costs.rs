//! What recording costs, in one run: `cargo run --release -p offshoot-files --example recording_costs [FILES [SCRIPT MODULES]]`.
//!
//! A look at all files of a folder beside `git status`; a command in a folder of 10,000 files, an `edit` and the store after 500 turns, the
//! first and the last beside a shadow repository. SCRIPT is `conformance/shadow-tool.mjs`, which keeps one by the published tool in MODULES.
//! One line for each figure: its name, the figure and its unit, with tabs between.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "an example that measures and prints"
)]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use offshoot_files::{ChangingCall, FileLimits, Recorder, Workspace};
use offshoot_session::clock::SystemClock;

const ROUNDS: usize = 7;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let files = arguments.first().and_then(|count| count.parse().ok()).unwrap_or(100_000);
    let tool = arguments.get(1..3);
    scans(files);
    commands(10_000, tool);
    edits();
    turns(500, tool);
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

fn commands(files: usize, tool: Option<&[String]>) {
    let dir = folder(files);
    std::thread::sleep(std::time::Duration::from_secs(4));
    let recorder = recorder(dir.path());
    look(&recorder);
    let shadow = Shadow::new(dir.path());
    shadow.snapshot();
    let mut tool = tool.map(|tool| ShadowTool::start(tool, dir.path()));
    if let Some(tool) = &mut tool {
        tool.ask("snapshot");
    }
    let (mut ours, mut commands, mut tools) = (Vec::new(), Vec::new(), Vec::new());
    for at in 0..20 {
        ours.push(timed(|| {
            let batch = recorder.begin();
            recorder.before_any_change(batch, call("bash")).unwrap();
            fs::write(dir.path().join("work/changed"), format!("{at}\n")).unwrap();
            let changes = recorder.end(batch).unwrap().unwrap();
            recorder.compose(changes, &Default::default()).unwrap();
        }));
        commands.push(timed(|| shadow.snapshot()));
        tools.extend(tool.as_mut().map(|tool| tool.ask("snapshot")));
    }
    said("command", median(ours), "ms");
    said("shadow-command", median(commands), "ms");
    if let Some(mut tool) = tool {
        said("tool-command", median(tools), "ms");
        tool.ask("restore");
        assert!(!dir.path().join("work/changed").exists(), "the tool does restore");
        tool.end();
    }
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

fn turns(turns: usize, tool: Option<&[String]>) {
    let dir = folder(1000);
    let recorder = recorder(dir.path());
    look(&recorder);
    let base = bytes_in(recorder.workspace().data());
    let shadow = Shadow::new(dir.path());
    shadow.snapshot();
    let shadow_base = bytes_in(&dir.path().join("shadow"));
    let mut tool = tool.map(|tool| ShadowTool::start(tool, dir.path()));
    let tool_base = tool.as_mut().map(|tool| {
        tool.ask("snapshot");
        bytes_in(&dir.path().join("tool"))
    });
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
        tool.as_mut().map(|tool| tool.ask("snapshot"));
    }
    let kilobytes = |bytes: u64| bytes as f64 / 1000.0;
    said("store", kilobytes(bytes_in(recorder.workspace().data()) - base + entries), "kB");
    said("shadow-store", kilobytes(bytes_in(&dir.path().join("shadow")) - shadow_base), "kB");
    if let (Some(tool), Some(base)) = (tool, tool_base) {
        said("tool-store", kilobytes(bytes_in(&dir.path().join("tool")) - base), "kB");
        tool.end();
    }
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

/// A published tool that keeps such a repository, in a process that stays.
struct ShadowTool {
    child: Child,
    lines: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl ShadowTool {
    /// `tool` is the script and the folder of its modules.
    fn start(tool: &[String], dir: &Path) -> Self {
        fs::create_dir(dir.join("tool")).unwrap();
        let mut command = Command::new("node");
        command.args(tool).args([dir.join("work"), dir.join("tool")]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (lines, answers) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut tool = Self { child, lines, answers };
        assert_eq!(tool.answer(), "ready");
        tool
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The milliseconds that it took.
    fn ask(&mut self, line: &str) -> f64 {
        writeln!(self.lines, "{line}").unwrap();
        self.answer().parse().unwrap()
    }

    fn end(mut self) {
        drop(self.lines);
        assert!(self.child.wait().unwrap().success());
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
