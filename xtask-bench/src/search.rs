//! `cargo xtask bench search`: what searches of 10,000 sessions cost, beside a list of the files, SQLite alone on the same rows,
//! `rg` and pi. Whole processes, measured as those of `bench`; the clock stops at a search's first line of output.

mod questions;
mod page;

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use xtask::{env, machine, out, run as programs};

use crate::bench::measure::{self, Cost, Job};
use crate::bench::{empty_home, last_id};
use crate::figures::{grouped, median};
use crate::inputs::{Input, Inputs, size};
use crate::release;
use page::{Figures, page};
use questions::{GREW, GROWN, INSIDE, RANKED, Ranked};

const TIMEOUT: Duration = Duration::from_secs(900);
/// The example of offshoot-search that asks SQLite alone.
const BARE: &str = "bare";
/// Also the number of times that one session grows.
const ROUNDS: usize = 5;
/// Of what reads everything.
const SLOW_ROUNDS: usize = 2;

/// What SQLite alone took for the same rows, in seconds.
#[derive(Debug, Clone, Copy, Deserialize)]
struct BareTimes {
    documents: u64,
    words: f64,
    blocks: u64,
    trigrams: f64,
}

struct Place {
    scratch: tempfile::TempDir,
    /// A copy of the generated sessions, since one of them grows.
    store: PathBuf,
    offshoot: PathBuf,
    bare: PathBuf,
    peers: PathBuf,
}

pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    if let Some(other) = args.first() {
        bail!("unexpected argument `{other}`");
    }
    let example = ["--package", "offshoot-search", "--example", BARE, "--features", "offshoot-search/testing"];
    if cfg!(debug_assertions) {
        release::also(&example)?;
        return release::again("search", &[], args);
    }
    let place = Place::make()?;
    let figures = place.measure()?;
    let text = page(&figures, &machine::facts(&env::root()));
    out::say(&text);
    let file = env::root().join("docs/benchmarks-search.md");
    #[expect(clippy::disallowed_methods, reason = "a document of the work tree, kept by git")]
    fs::write(&file, text).with_context(|| file.display().to_string())?;
    Ok(ExitCode::SUCCESS)
}

impl Place {
    fn make() -> Result<Self> {
        let cache = env::cache_home().context("neither XDG_CACHE_HOME nor HOME is set")?.join("offshoot-bench");
        fs::create_dir_all(&cache)?;
        let corpus = Inputs::new(&cache)?.path(Input::Corpus)?;
        let scratch = tempfile::Builder::new().prefix("offshoot-bench-").tempdir_in(&cache)?;
        let store = scratch.path().join("store");
        copy(&corpus, &store)?;
        let this = env::this_program()?;
        Ok(Self {
            offshoot: this.with_file_name("offshoot"),
            bare: this.with_file_name("examples").join(BARE),
            peers: env::root().join("conformance/node_modules/@earendil-works/pi-coding-agent"),
            scratch,
            store,
        })
    }

    fn measure(&self) -> Result<Figures> {
        let sessions = size(&self.store)?;
        let files = self.times(ROUNDS, &self.find(), false)?;
        out::warn("first searches, without an index ...");
        let mut first = Vec::new();
        for _ in 0..SLOW_ROUNDS {
            self.forget_index()?;
            first.push(self.timed(&self.search(&["return"]), true)?);
        }
        let scan = self.times(SLOW_ROUNDS, &self.search(&["--scan", "return"]), true)?;
        out::warn("the whole index ...");
        self.forget_index()?;
        let whole = self.timed(&self.search(&["--rebuild"]), false)?;
        let index = size(&self.cache())?;
        out::warn("SQLite alone on the same rows ...");
        let bare_file = self.scratch.path().join("bare/search.sqlite");
        let bare = self.bare_inserts(&bare_file)?;
        let mut ranked = Vec::new();
        for question in RANKED {
            out::warn(&format!("{} ...", question.typed));
            ranked.push(self.ranked(question)?);
        }
        let inside = INSIDE.iter().map(|typed| Ok((*typed, self.times(ROUNDS, &self.search(&[typed]), true)?)));
        let inside = inside.collect::<Result<Vec<_>>>()?;
        let grown = self.grown()?;
        let others = self.others()?;
        Ok(Figures { sessions, files, first, scan, whole, index, bare, ranked, inside, grown, others })
    }

    /// A ranked query in turn with SQLite's own answer from the same index.
    fn ranked(&self, question: &Ranked) -> Result<(&'static str, Vec<Cost>, Vec<Cost>)> {
        let index = self.cache().join("offshoot/search-v2.sqlite");
        let raw = vec![text(&self.bare), "query".to_owned(), text(&index), question.expression.to_owned()];
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            ours.push(self.timed(&self.search(&[question.typed]), true)?);
            theirs.push(self.timed(&raw, true)?);
        }
        Ok((question.typed, ours, theirs))
    }

    /// One session grows by 20 KB; its new word is looked for, and then looked for again.
    fn grown(&self) -> Result<Vec<(Cost, Cost)>> {
        let session = some_session(&self.store)?;
        let mut rounds = Vec::new();
        for round in 0..ROUNDS {
            let word = format!("{GROWN}{round}");
            grow(&session, &word, round)?;
            let found = self.timed(&self.search(&[&word]), true)?;
            // Its file is so new that the next searches read it again.
            let again = self.timed(&self.search(&[&word]), true)?;
            rounds.push((found, again));
        }
        Ok(rounds)
    }

    fn others(&self) -> Result<Vec<(String, Cost)>> {
        let mut others = Vec::new();
        if let Some(version) = programs::first_line("rg", &["--version"]) {
            let words = ["rg", "--count", "--no-messages", "--word-regexp", "return", &text(&self.store)];
            let cost = self.times(ROUNDS, &words.map(str::to_owned), false)?;
            others.extend(middle(&cost).map(|cost| (format!("{version}, all matching lines counted"), cost)));
        }
        let module = self.peers.join("dist/core/session-manager.js");
        if let Some(node) = programs::first_line("node", &["--version"]).filter(|_| module.is_file()) {
            let script = env::root().join("xtask-bench/peer.mjs");
            let words = ["node", &text(&script), &text(&module), "search", "return"].map(str::to_owned);
            let cost = self.timed(&words, false)?;
            others.push((format!("pi's own search of its list of sessions (node {node}), once"), cost));
        }
        Ok(others)
    }

    fn bare_inserts(&self, file: &Path) -> Result<BareTimes> {
        let sessions = self.store.join("sessions");
        let words = vec![text(&self.bare), "insert".to_owned(), text(&sessions), text(file)];
        let answer = self.scratch.path().join("bare.json");
        self.job(&words, false, Some(&answer))?;
        serde_json::from_slice(&fs::read(&answer)?).context("the answer of the bare inserts")
    }

    fn find(&self) -> Vec<String> {
        ["find", &text(&self.store), "-name", "*.jsonl", "-printf", "%s\n"].map(str::to_owned).to_vec()
    }

    fn search(&self, words: &[&str]) -> Vec<String> {
        [
            &[text(&self.offshoot), "search".to_owned()],
            &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>()[..],
        ]
        .concat()
    }

    fn times(&self, rounds: usize, words: &[String], first_line: bool) -> Result<Vec<Cost>> {
        (0..rounds).map(|_| self.timed(words, first_line)).collect()
    }

    fn timed(&self, words: &[String], first_line: bool) -> Result<Cost> {
        self.job(words, first_line, None)
    }

    fn job(&self, words: &[String], first_line: bool, stdout: Option<&Path>) -> Result<Cost> {
        let home = self.scratch.path().join("home");
        fs::create_dir_all(&home)?;
        let stderr = self.scratch.path().join("stderr");
        let mut vars = empty_home(&home);
        vars.retain(|(name, _)| !["OFFSHOOT_HOME", "PI_CODING_AGENT_DIR", "XDG_CACHE_HOME"].contains(&name.as_str()));
        vars.push(("OFFSHOOT_HOME".to_owned(), text(&self.store)));
        vars.push(("PI_CODING_AGENT_DIR".to_owned(), text(&self.store)));
        vars.push(("XDG_CACHE_HOME".to_owned(), text(&self.cache())));
        let job = Job {
            words: words.to_vec(),
            folder: home,
            vars,
            stdin: None,
            first_line,
            stdout: stdout.map(Path::to_owned),
            stderr: stderr.clone(),
            timeout: TIMEOUT,
        };
        let cost = measure::run(&job)?;
        match &cost.failure {
            None => Ok(cost),
            Some(why) => {
                bail!("{}: {why}: {}", words.join(" "), fs::read_to_string(&stderr).unwrap_or_default().trim())
            }
        }
    }

    fn cache(&self) -> PathBuf {
        self.scratch.path().join("cache")
    }

    fn forget_index(&self) -> Result<()> {
        if self.cache().exists() {
            fs::remove_dir_all(self.cache())?;
        }
        Ok(())
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The cost with the median wall time.
fn middle(costs: &[Cost]) -> Option<Cost> {
    let wall = median(costs.iter().map(|cost| cost.wall_s))?;
    costs.iter().find(|cost| cost.wall_s == wall).cloned()
}

/// A copy of a folder, with the times of its files.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for item in fs::read_dir(from)? {
        let item = item?;
        let target = to.join(item.file_name());
        if item.file_type()?.is_dir() {
            copy(&item.path(), &target)?;
        } else {
            fs::copy(item.path(), &target)?;
            File::options().write(true).open(&target)?.set_modified(item.metadata()?.modified()?)?;
        }
    }
    Ok(())
}

fn some_session(store: &Path) -> Result<PathBuf> {
    let mut at = store.to_owned();
    while at.is_dir() {
        let mut below: Vec<PathBuf> = fs::read_dir(&at)?.map(|item| Ok(item?.path())).collect::<Result<_>>()?;
        below.sort();
        at = below.into_iter().next().with_context(|| format!("{} is empty", at.display()))?;
    }
    Ok(at)
}

/// Adds a message of 20 KB that ends with a word.
fn grow(session: &Path, word: &str, round: usize) -> Result<()> {
    let parent = last_id(session)?;
    let said = format!("{}{word}", "one more line of a longer answer. ".repeat(GREW / 34));
    let entry = serde_json::json!({"type": "message", "id": format!("9000000{round}"), "parentId": parent,
        "timestamp": "2026-09-01T10:00:00.000Z", "message": {"role": "user", "content": said, "timestamp": 0}});
    let mut file = File::options().append(true).open(session)?;
    writeln!(file, "{entry}")?;
    // Long enough ago to be no file that is just being written.
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000 + round as u64))?;
    Ok(())
}

/// How many sessions and bytes a page speaks of.
fn described(bytes: u64) -> String {
    format!("10,000 sessions, {} bytes", grouped(bytes))
}
