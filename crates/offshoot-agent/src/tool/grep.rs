//! The tool `grep`: matching lines, as ripgrep finds them.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch};
use ignore::overrides::OverrideBuilder;
use offshoot_protocol::Secrets;
use offshoot_session::medium::open_regular;
use offshoot_session::text::counted;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::key_guard::{CONTAINS_KEYS, KeyFiles, KeyGuard};
use super::listing::{self, Listing};
use super::truncate::{self, MAX_LINE};
use super::walk::{self, Stop};
use super::{Running, Tier, Tool, ToolContext, ToolOutcome, args};
use crate::provider::ToolSpec;

/// Searches file contents for a pattern and returns matching lines with paths and line numbers. Respects .gitignore; skips
/// binary files, but not hidden ones. Output is cut after 100 matches or 50 KB, lines after 500 characters.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GrepInput {
    /// A regular expression in ripgrep's syntax, or plain text if literal is set.
    pattern: String,
    /// Directory or file to search; by default the working directory.
    path: Option<String>,
    /// Only files that match this glob, such as `*.rs`; with `!` before it, only those that do not.
    glob: Option<String>,
    /// Ignore case.
    ignore_case: Option<bool>,
    /// Treat the pattern as plain text.
    literal: Option<bool>,
    /// Lines of context before and after each match.
    #[serde(default, deserialize_with = "args::whole")]
    context: Option<u64>,
    /// Maximum number of matches, by default 100.
    #[serde(default, deserialize_with = "args::whole")]
    limit: Option<u64>,
}

const NAME: &str = "grep";
const LIMIT: u64 = 100;

impl listing::Query for GrepInput {
    fn path(&self) -> Option<&str> {
        self.path.as_deref()
    }
}

/// The tool `grep`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Grep;

impl Tool for Grep {
    fn name(&self) -> &str {
        NAME
    }

    fn spec(&self) -> ToolSpec {
        args::spec::<GrepInput>(NAME)
    }

    fn summary(&self) -> Option<&str> {
        Some("search file contents (respects .gitignore)")
    }

    fn tier(&self, arguments: &Value, place: &ToolContext) -> Tier {
        Tier::read(arguments, place)
    }

    fn run(&self, arguments: Value, place: Arc<ToolContext>, _: UnboundedSender<ToolOutcome>) -> Running {
        let keys = place.keys.clone();
        listing::search(NAME, arguments, place, move |root, input: &GrepInput, stop| {
            grep(root, input, &keys, stop)
                .map(|listing| listing.outcome("no line fits the pattern"))
                .map_err(|why| ToolOutcome::failed(format!("cannot search {}: {why}", root.display())))
        })
    }
}

fn grep(root: &Path, input: &GrepInput, keys: &KeyGuard, stop: Stop) -> Result<Listing, String> {
    let about = std::fs::metadata(root).map_err(|error| super::files::reason(&error))?;
    let mut matcher = RegexMatcherBuilder::new();
    matcher.case_insensitive(input.ignore_case == Some(true)).fixed_strings(input.literal == Some(true));
    let matcher = matcher.line_terminator(Some(b'\n')).build(&input.pattern).map_err(|error| error.to_string())?;
    let around = usize::try_from(input.context.unwrap_or(0)).unwrap_or(usize::MAX);
    let limit = input.limit.unwrap_or(LIMIT).max(1);
    let mut found = GrepMatch::new(limit, around, keys, stop.clone());
    if about.is_dir() {
        let overrides = input.glob.as_deref().map(|glob| OverrideBuilder::new(root).add(&from_root(glob))?.build());
        let overrides = overrides.transpose();
        let overrides = overrides.map_err(|error| error.to_string())?;
        let mut searcher = searcher(around, BinaryDetection::quit(0));
        for entry in
            walk::below(root, overrides, stop).filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
        {
            found.name = walk::relative(entry.path(), root);
            found.search(&mut searcher, &matcher, entry.path());
            if found.count >= limit {
                break;
            }
        }
    } else {
        found.open(root).map_err(|error| super::files::reason(&error))?;
        found.name = walk::relative(root, root.parent().unwrap_or(root));
        found.search(&mut searcher(around, BinaryDetection::convert(0)), &matcher, root);
    }
    Ok(found.listing())
}

/// A glob with `./` before it is one from the folder searched.
fn from_root(glob: &str) -> String {
    let (not, pattern) = glob.strip_prefix('!').map_or(("", glob), |rest| ("!", rest));
    match walk::without_dot(pattern) {
        rest if rest.len() < pattern.len() => format!("{not}/{rest}"),
        rest => format!("{not}{rest}"),
    }
}

fn searcher(around: usize, binary: BinaryDetection) -> Searcher {
    let mut builder = SearcherBuilder::new();
    builder.line_number(true).before_context(around).after_context(around).binary_detection(binary);
    // A longer line is reported as an error.
    builder.heap_limit(Some(64 << 20)).build()
}

struct GrepMatch {
    key_files: KeyFiles,
    secrets: Secrets,
    limit: u64,
    around: usize,
    stop: Stop,
    name: String,
    rows: Vec<String>,
    count: u64,
    /// Context lines after the last allowed match that are still to come.
    to_come: usize,
    is_cut: bool,
    failed: Vec<String>,
}

impl GrepMatch {
    fn new(limit: u64, around: usize, keys: &KeyGuard, stop: Stop) -> Self {
        Self {
            key_files: keys.key_files(),
            secrets: keys.secrets.clone(),
            limit,
            around,
            stop,
            name: String::new(),
            rows: Vec::new(),
            count: 0,
            to_come: 0,
            is_cut: false,
            failed: Vec::new(),
        }
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        let file = open_regular(path)?;
        match self.key_files.contains(&file.metadata()?) {
            true => Err(io::Error::other(CONTAINS_KEYS)),
            false => Ok(file),
        }
    }

    fn search(&mut self, searcher: &mut Searcher, matcher: &RegexMatcher, path: &Path) {
        let opened = self.open(path);
        if let Err(error) = opened.and_then(|file| searcher.search_file(matcher, &file, &mut *self)) {
            self.failed.push(format!("{}: {error}", self.name));
        }
    }

    fn row(&mut self, number: Option<u64>, line: &[u8], sign: char) {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches('\n').replace('\r', "");
        // A key that is cut is not recognised.
        let line = self.secrets.masked(&line).unwrap_or(line);
        let cut = truncate::line(&line, MAX_LINE);
        self.is_cut |= cut.is_some();
        let number = number.unwrap_or_default();
        self.rows.push(format!("{}{sign}{number}{sign} {}", self.name, cut.unwrap_or(line)));
    }

    fn listing(self) -> Listing {
        let mut notes = Vec::new();
        if self.count >= self.limit {
            let more = self.limit.saturating_mul(2);
            let matches = counted(self.limit, "match", "matches");
            let text = format!("{matches}; see more with limit={more}, or narrow the pattern");
            notes.push((text, "matchLimitReached", json!(self.limit)));
        }
        if self.is_cut {
            let text = format!("lines cut at {MAX_LINE} characters; see them whole with read");
            notes.push((text, "linesTruncated", json!(true)));
        }
        if let Some(first) = self.failed.first() {
            let files = counted(self.failed.len(), "file", "files");
            let text = format!("{files} could not be searched, the first: {first}");
            notes.push((text, "unsearchable", json!(self.failed.len())));
        }
        Listing { rows: self.rows, notes }
    }
}

impl Sink for &mut GrepMatch {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        if self.count >= self.limit {
            return Ok(self.after(found.line_number(), found.bytes()));
        }
        self.row(found.line_number(), found.bytes(), ':');
        self.count += 1;
        self.to_come = self.around;
        Ok(!self.stop.is_set() && (self.count < self.limit || self.to_come > 0))
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, Self::Error> {
        if self.count < self.limit {
            self.row(context.line_number(), context.bytes(), '-');
            return Ok(!self.stop.is_set());
        }
        let is_after = matches!(context.kind(), SinkContextKind::After);
        Ok(is_after && self.after(context.line_number(), context.bytes()))
    }
}

impl GrepMatch {
    /// A context line after the last allowed match; returns whether more are wanted.
    fn after(&mut self, number: Option<u64>, line: &[u8]) -> bool {
        if self.to_come > 0 {
            self.row(number, line, '-');
            self.to_come -= 1;
        }
        self.to_come > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::testing::{call, place, text_of};

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let path = dir.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        dir
    }

    fn found(dir: &Path, arguments: Value) -> String {
        text_of(&call(&Grep, arguments, place(dir)))
    }

    #[test]
    fn lines_are_found_as_asked_for() {
        let dir = folder(&[
            ("b.rs", "fn main() {}\r\nlet a = f(x);\n"),
            ("a/c.txt", "Main\nmain.\n"),
            (".gitignore", "out\n"),
            ("out/d.txt", "main"),
            (".git/e", "main"),
            (".env", "main"),
            ("bin", "main\0main"),
        ]);
        let run = |arguments| found(dir.path(), arguments);
        assert_eq!(run(json!({"pattern": "main"})), ".env:1: main\na/c.txt:2: main.\nb.rs:1: fn main() {}");
        assert_eq!(run(json!({"pattern": "main", "glob": "*.rs"})), "b.rs:1: fn main() {}");
        assert_eq!(run(json!({"pattern": "MAIN.", "literal": true, "ignoreCase": true})), "a/c.txt:2: main.");
        assert_eq!(run(json!({"pattern": "f(x)", "literal": true, "path": "b.rs"})), "b.rs:2: let a = f(x);");
        assert_eq!(run(json!({"pattern": "^M", "path": "a"})), "c.txt:1: Main");
        assert_eq!(run(json!({"pattern": "nothing"})), "no line fits the pattern");
    }

    #[test]
    fn lines_around_a_match_are_marked_and_shown_once() {
        let dir = folder(&[("f", "1\n2 x\n3\n4 x\n5\n6\n7 x\n8")]);
        let run = |arguments| found(dir.path(), arguments);
        assert_eq!(
            run(json!({"pattern": "x", "context": 1})),
            "f-1- 1\nf:2: 2 x\nf-3- 3\nf:4: 4 x\nf-5- 5\nf-6- 6\nf:7: 7 x\nf-8- 8"
        );
        let text = run(json!({"pattern": "x", "context": 2, "limit": 1}));
        assert_eq!(
            text,
            "f-1- 1\nf:2: 2 x\nf-3- 3\nf-4- 4 x\n\n[1 match; see more with limit=2, or narrow the pattern]"
        );
    }

    /// `.gitignore -> /dev/zero` of a cloned project filled the memory, and a FIFO waited for ever.
    #[test]
    fn what_never_ends_is_not_read() {
        let dir = folder(&[("a/x", "main"), ("b/x", "main")]);
        let device = |name: &str| std::os::unix::fs::symlink("/dev/zero", dir.path().join(name)).unwrap();
        device("a/.gitignore");
        device("b/zero");
        assert!(std::process::Command::new("mkfifo").arg(dir.path().join("fifo")).status().unwrap().success());
        let run = |arguments| found(dir.path(), arguments);
        assert_eq!(run(json!({"pattern": "main"})), "b/x:1: main");
        assert!(run(json!({"pattern": "main", "path": "fifo"})).contains("fifo: it is a FIFO, not a regular file"));
        device(".gitignore");
        assert_eq!(run(json!({"pattern": "main"})), "b/x:1: main");
    }

    #[test]
    fn limits_and_long_lines_are_told() {
        let dir = folder(&[("f", &format!("{}\n", "x".repeat(600)).repeat(150))]);
        let outcome = call(&Grep, json!({"pattern": "x"}), place(dir.path()));
        let details = outcome.details.clone().unwrap();
        assert_eq!((&details["matchLimitReached"], &details["linesTruncated"]), (&json!(100), &json!(true)));
        assert_eq!(details["truncation"]["truncatedBy"], "bytes");
        let text = text_of(&outcome);
        assert!(text.contains("x... [truncated]\n") && text.ends_with("; cut at 50.0KB]"), "{text}");
    }

    #[test]
    fn bad_patterns_and_missing_paths_are_failures() {
        let dir = folder(&[]);
        for (arguments, words) in [
            (json!({"pattern": "("}), "regex"),
            (json!({"pattern": "a", "path": "none"}), "no such file or folder"),
            (json!({"pattern": "a", "glob": "{"}), "glob"),
        ] {
            let outcome = call(&Grep, arguments, place(dir.path()));
            assert!(outcome.is_error && text_of(&outcome).contains(words), "{outcome:?}");
        }
    }
}
