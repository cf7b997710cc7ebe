//! A home of its own for each test, with a clock that shows a fixed time, and what a command did there as text.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::overhead::without_overhead;

/// An empty home, a working directory in it, and the sessions that a test puts there.
pub(crate) struct World {
    folder: tempfile::TempDir,
}

/// The conversation that the documents show, too.
pub(crate) const SAMPLE: &str = include_str!("../../../../examples/sample-session.jsonl");

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let world = Self { folder };
        fs::create_dir_all(world.home()).unwrap();
        fs::create_dir_all(world.work()).unwrap();
        world
    }

    /// With the sample conversation as `sample.jsonl` in the working directory.
    pub(crate) fn with_sample() -> Self {
        let world = Self::new();
        world.write("sample.jsonl", SAMPLE);
        world
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// The working directory.
    pub(crate) fn work(&self) -> PathBuf {
        self.root().join("home/work")
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// A file in the working directory.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.work().join(name)).unwrap()
    }

    /// A session of offshoot's own for the working directory; its header says `id` and the cwd.
    pub(crate) fn own(&self, id: &str, entries: &[&str]) -> PathBuf {
        self.session(".local/share/offshoot/sessions", id, &self.work(), entries)
    }

    /// A session of any program, in a folder of the home, for any working directory.
    pub(crate) fn session(&self, root: &str, id: &str, cwd: &Path, entries: &[&str]) -> PathBuf {
        let cwd = cwd.to_str().unwrap();
        let folder = self.home().join(root).join(format!("--{}--", cwd[1..].replace('/', "-")));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("2026-01-01T00-00-00-000Z_{id}.jsonl"));
        fs::write(&path, text(id, cwd, entries)).unwrap();
        path
    }

    /// The program, with nothing in its surroundings but this world.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_offshoot"));
        command.args(arguments).current_dir(self.work()).env_clear();
        command.env("HOME", self.home()).env("OFFSHOOT_NOW", "2026-02-01T12:00:00.000Z").env("TZ", "UTC");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a command line; words are split at blanks, a word in `'…'` may hold some.
    pub(crate) fn run(&self, line: &str) -> String {
        let words = words(line);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.shown(&self.command(&words).output().unwrap())
    }

    /// The same with something on its standard input.
    pub(crate) fn run_with(&self, line: &str, input: impl AsRef<[u8]>) -> String {
        let words = words(line);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut child = self.command(&words).stdin(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_ref()).unwrap();
        self.shown(&child.wait_with_output().unwrap())
    }

    /// What a command that succeeds prints, as it is.
    pub(crate) fn stdout(&self, line: &str) -> String {
        let words = words(line);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = self.command(&words).output().unwrap();
        assert!(output.status.success(), "{line}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// stdout, then stderr below a line that says so, then the exit code if it is not 0; without what differs from run
    /// to run.
    pub(crate) fn shown(&self, output: &Output) -> String {
        let mut shown = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.stderr.is_empty() {
            shown += "[stderr]\n";
            shown += &String::from_utf8_lossy(&output.stderr);
        }
        match output.status.code() {
            Some(0) => {}
            code => shown += &format!("[exit code {}]\n", code.map_or("none".to_owned(), |code| code.to_string())),
        }
        let shown: Vec<&str> = shown.lines().map(str::trim_end).collect();
        self.normalised(&(shown.join("\n") + if shown.is_empty() { "" } else { "\n" }))
    }

    /// Text without what differs from run to run: the world's folder, and ids that no file of the test had.
    pub(crate) fn normalised(&self, text: &str) -> String {
        let root = self.root();
        let text = text.replace(&format!("{}/home/work", root.display()), "[WORK]");
        let text = text.replace(&format!("{}/home", root.display()), "[HOME]");
        let name = root.display().to_string()[1..].replace('/', "-");
        without_overhead(&fresh_ids_named(&text.replace(&name, "[ROOT]")))
    }

    /// Every file below the home, but for caches, with its bytes and its time.
    pub(crate) fn snapshot(&self) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
        self.files(|folder| !folder.ends_with(".cache"))
    }

    /// All files of the folders that `wanted` lets in.
    pub(crate) fn files(&self, wanted: impl Fn(&Path) -> bool) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.home()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.extend(Some(path).filter(|path| wanted(path)));
                } else {
                    let modified = fs::metadata(&path).unwrap().modified().unwrap();
                    files.insert(path.clone(), (fs::read(&path).unwrap(), modified));
                }
            }
        }
        files
    }
}

/// A session file: a header and entries, one line each.
pub(crate) fn text(id: &str, cwd: &str, entries: &[&str]) -> String {
    let header =
        format!(r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-01-01T00:00:00.000Z","cwd":"{cwd}"}}"#);
    let lines: Vec<&str> = std::iter::once(header.as_str()).chain(entries.iter().copied()).collect();
    lines.join("\n") + "\n"
}

/// A message entry whose time is a minute of the first of February 2026 (the clock says 12:00).
pub(crate) fn message(id: &str, parent: Option<&str>, minute: u32, role: &str, said: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent}\""));
    let time = format!("2026-02-01T11:{minute:02}:00.000Z");
    let millis = 1_769_943_600_000_u64 + u64::from(minute) * 60_000;
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"{time}","message":{{"role":"{role}","content":[{{"type":"text","text":"{said}"}}],"timestamp":{millis}}}}}"#
    )
}

/// A question and its answer, as entries of a session.
pub(crate) fn talk(question: &str) -> [String; 2] {
    [message("aaaa1111", None, 10, "user", question), message("bbbb2222", Some("aaaa1111"), 11, "assistant", "Yes.")]
}

/// A version 1 file: no ids, no parents.
pub(crate) const VERSION_1: &str = concat!(
    r#"{"type":"session","id":"old-one","timestamp":"2025-11-01T10:00:00.000Z","cwd":"/old","provider":"anthropic","modelId":"claude","thinkingLevel":"off"}"#,
    "\n",
    r#"{"type":"message","timestamp":"2025-11-01T10:00:01.000Z","message":{"role":"user","content":"first","timestamp":1761991201000}}"#,
    "\n",
    r#"{"type":"message","timestamp":"2025-11-01T10:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"answer"}],"timestamp":1761991202000}}"#,
    "\n",
);

fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in line.split('\'').enumerate() {
        if at % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// Fresh ids as `[ID1]`, `[ID2]`, … in the order of their appearance. Ids of the tests are known by their shape: they
/// stand in the sample or repeat two characters. A sample's id that is shown longer, because a fresh one happens to begin
/// as it does, is shown as short as ever.
fn fresh_ids_named(text: &str) -> String {
    let mut names: Vec<String> = Vec::new();
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_hexdigit()) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c: char| !c.is_ascii_hexdigit() && c != '-').unwrap_or(from.len());
        let (word, after) = from.split_at(end);
        out.push_str(before);
        let is_inside = before.ends_with(|c: char| c.is_ascii_alphanumeric())
            || after.starts_with(|c: char| c.is_ascii_alphanumeric());
        if !is_inside && is_fresh_id(word) {
            let at = names.iter().position(|name| name == word).unwrap_or_else(|| {
                names.push(word.to_owned());
                names.len() - 1
            });
            out.push_str(&format!("[ID{}]", at + 1));
        } else if !is_inside && (5..8).contains(&word.len()) && SAMPLE.contains(&format!("\"id\":\"{word}")) {
            out.push_str(&word[..4]);
        } else {
            out.push_str(word);
        }
        rest = after;
    }
    out + rest
}

fn is_fresh_id(word: &str) -> bool {
    let is_one_character = |part: &str| part.bytes().all(|byte| byte == part.as_bytes()[0]);
    let is_of_a_test = || is_one_character(&word[..4]) && is_one_character(&word[4..7]);
    let is_entry_id = word.len() == 8 && !word.contains('-') && !is_of_a_test();
    let is_session_id = word.len() == 36 && word.split('-').count() == 5;
    (is_entry_id || is_session_id) && !SAMPLE.contains(word)
}
