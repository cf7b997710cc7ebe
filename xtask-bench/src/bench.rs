//! `cargo xtask bench`: whole processes against the peers, on generated inputs.
//!
//! Contestants take turns (A B C A B C ...), so that a drift of the machine affects all alike.

mod options;
mod floor;
mod contestants;
mod answers;
pub(crate) mod measure;
mod report;
mod bars;
mod again;
mod bring_back;

use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use xtask::{env, machine, out, run as programs};

use crate::figures::grouped;
use crate::inputs::{Input, Inputs, size, stamp};
use crate::release;
pub(crate) use contestants::bun;
use contestants::{Contestant, Task};
use measure::{Cost, Job};
use options::Options;
use report::{CaseRow, Cell, Report};

pub(crate) use floor::{FLOOR, FLOOR_APPEND, FLOOR_COPY, floor, floor_append, floor_copy};
pub(crate) use measure::{MEASURE, measure_one};

const TIMEOUT: Duration = Duration::from_secs(180);
/// A contestant slower than this many seconds runs at most this often.
const SLOW: [(f64, usize); 2] = [(2.0, 3), (15.0, 1)];
/// The copy of an input that a task changes, in the folder where it runs.
const COPY: &str = "session.jsonl";
/// The id of the request that makes a branch a session.
const BRANCHED: u64 = 2;

#[derive(Clone, Copy)]
struct Case {
    task: Task,
    input: Input,
}

const fn case(task: Task, input: Input) -> Case {
    Case { task, input }
}

const CASES: &[Case] = &[
    case(Task::Context, Input::S),
    case(Task::Context, Input::M),
    case(Task::Context, Input::L),
    case(Task::Context, Input::XL),
    case(Task::Context, Input::Deep),
    case(Task::Context, Input::Wide),
    case(Task::Context, Input::Early),
    case(Task::Context, Input::V1),
    case(Task::Tree, Input::L),
    case(Task::Tree, Input::Deep),
    case(Task::Tree, Input::Wide),
    case(Task::TreeFirst, Input::L),
    case(Task::TreeFirst, Input::Deep),
    case(Task::Drawn, Input::L),
    case(Task::Show, Input::L),
    case(Task::ShowFirst, Input::L),
    case(Task::Page, Input::L),
    case(Task::OneById, Input::Multitude),
    case(Task::Open, Input::Twin),
    case(Task::Open, Input::Claude),
    case(Task::Branches, Input::M),
    case(Task::Branches, Input::L),
    case(Task::Fork, Input::L),
    case(Task::ForkAll, Input::L),
    case(Task::Branched, Input::L),
    case(Task::Migrate, Input::V1),
    case(Task::Pick, Input::L),
    case(Task::Pick, Input::Deep),
    case(Task::Undo, Input::L),
    case(Task::Undo, Input::Deep),
    case(Task::MergePlan, Input::L),
    case(Task::MergePlan, Input::Deep),
    case(Task::Compare, Input::L),
    case(Task::Compare, Input::Deep),
    case(Task::Check, Input::L),
    case(Task::List, Input::Many),
    case(Task::ListAll, Input::Corpus),
    case(Task::Latest, Input::Many),
    case(Task::AppendOs, Input::Lines),
    case(Task::AppendData, Input::Requests),
];

/// Only with `--huge`: 10 GB, which the peers are not asked to hold in memory.
const HUGE: &[Case] =
    &[case(Task::Context, Input::Huge), case(Task::TreeFirst, Input::Huge), case(Task::Fork, Input::Huge)];

pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    let options = Options::parse(args)?;
    if cfg!(debug_assertions) {
        return release::again("bench", &[], args);
    }
    let cases: Vec<Case> = CASES
        .iter()
        .chain(if options.huge { HUGE } else { &[] })
        .copied()
        .filter(|case| options.selects(&name(*case)))
        .collect();
    if cases.is_empty() {
        bail!(
            "no case has that name; cases are {}",
            CASES.iter().chain(HUGE).map(|case| name(*case)).collect::<Vec<_>>().join(", ")
        );
    }
    let report = measure_all(&options, &cases)?;
    let mut text = report.markdown(&bars::table(&report));
    out::say(&text);
    if let Some(path) = &options.write {
        let old = fs::read_to_string(path).ok().filter(|_| !options.measures_all());
        if let Some(old) = old {
            let cases: Vec<String> = cases.iter().map(|case| name(*case)).collect();
            text = again::merged(&old, &text, &cases, report.fact("commit").unwrap_or("unknown"));
        }
        #[expect(clippy::disallowed_methods, reason = "a document of the work tree, kept by git")]
        fs::write(path, text).with_context(|| path.display().to_string())?;
        out::say(&format!("written to {}", path.display()));
    }
    Ok(ExitCode::SUCCESS)
}

fn name(case: Case) -> String {
    format!("{}/{}", case.task.name(), case.input.name())
}

struct Bench<'a> {
    options: &'a Options,
    inputs: Inputs,
    contestants: Vec<Contestant>,
    scratch: tempfile::TempDir,
}

fn measure_all(options: &Options, cases: &[Case]) -> Result<Report> {
    let (contestants, notes) = contestants(options)?;
    let scratch = tempfile::Builder::new().prefix("offshoot-bench-").tempdir_in(create_folder(&options.dir)?)?;
    let bench = Bench { options, inputs: Inputs::new(&options.dir)?, contestants, scratch };
    let mut rows = Vec::new();
    for case in cases {
        out::warn(&format!("{} ...", name(*case)));
        rows.push(bench.case(*case)?);
    }
    let huge = bench.inputs.path_if_there(Input::Huge);
    let mut inputs: Vec<Input> = cases.iter().map(|case| case.input).collect();
    inputs.sort_unstable();
    inputs.dedup();
    let described =
        inputs.into_iter().map(|input| Ok((input.name(), grouped(size(&bench.inputs.path(input)?)?), input.what())));
    let described: Vec<_> = described.collect::<Result<_>>()?;
    if huge.is_some() {
        bench.inputs.remove(Input::Huge)?;
    }
    Ok(Report {
        inputs: described,
        rows,
        facts: machine::facts(&env::root()),
        notes,
        contestants: bench.contestants.into_iter().map(|contestant| (contestant.name, contestant.version)).collect(),
    })
}

fn contestants(options: &Options) -> Result<(Vec<Contestant>, Vec<String>)> {
    let this = env::this_program()?;
    let binary = this.with_file_name("offshoot");
    let version =
        programs::first_line(&binary.to_string_lossy(), &["--version"]).unwrap_or_else(|| "unknown".to_owned());
    let (cold, warm) = (Contestant::offshoot(&binary, version.clone()), Contestant::warm(&binary, version));
    let mut list = vec![Contestant::floor(&this), cold, warm];
    let mut notes = Vec::new();
    for (peer, found) in [("pi", Contestant::pi(&options.peers)), ("omp", Contestant::omp(&options.peers))] {
        match found {
            Some(contestant) => list.push(contestant),
            None => {
                notes.push(format!("{peer} was NOT measured: it is not installed under {}", options.peers.display()));
            }
        }
    }
    for note in &notes {
        out::warn(&format!("NOTE: {note}"));
    }
    Ok((list, notes))
}

impl Bench<'_> {
    /// Warms up every contestant once, counting answers, then measures in turn.
    fn case(&self, case: Case) -> Result<CaseRow> {
        let input = self.inputs.path(case.input)?;
        let before = stamp(&input)?;
        let mut cells = Vec::new();
        for contestant in &self.contestants {
            cells.push(self.warm_up(contestant, case, &input)?);
        }
        let mut costs: Vec<Vec<Cost>> = vec![Vec::new(); cells.len()];
        for round in 0..self.options.runs {
            for (at, contestant) in self.contestants.iter().enumerate() {
                let Cell::Measured { cost: warm, .. } = &cells[at] else { continue };
                if round < rounds_for(warm) {
                    let Some(cost) = self.one_run(contestant, case, &input, None)? else { continue };
                    costs[at].push(cost);
                }
            }
        }
        if stamp(&input)? != before {
            bail!("{}: a contestant wrote to its input", name(case));
        }
        let cells = cells.into_iter().zip(&costs).map(|(cell, costs)| with_medians(cell, costs)).collect();
        Ok(CaseRow { case: name(case), unit: answers::unit(case.task), cells, runs: costs })
    }

    fn warm_up(&self, contestant: &Contestant, case: Case, input: &Path) -> Result<Cell> {
        let output = self.scratch.path().join("stdout");
        let Some(cost) = self.one_run(contestant, case, input, Some(&output))? else { return Ok(Cell::Absent) };
        let cell = match &cost.failure {
            Some(failure) => Cell::Failed(format!("{failure}{}", self.last_words())),
            None if contestant.is_floor() || case.task.has_no_count() => Cell::Measured { cost, runs: 0, count: None },
            None => match answers::count(case.task, &output, &self.home()) {
                None => Cell::Failed("its output is no answer".to_owned()),
                count => Cell::Measured { cost, runs: 0, count },
            },
        };
        fs::remove_file(&output).ok();
        Ok(cell)
    }

    /// One run from an empty home; `None` if the contestant has no such command.
    fn one_run(&self, contestant: &Contestant, case: Case, path: &Path, stdout: Option<&Path>) -> Result<Option<Cost>> {
        let Case { task, input } = case;
        if input == Input::Huge && contestant.is_peer() {
            return Ok(None);
        }
        let home = self.home();
        if home.exists() {
            fs::remove_dir_all(&home)?;
        }
        fs::create_dir_all(&home)?;
        let path =
            if task.changes_its_input() || input == Input::V1 { fresh_copy(path, &home)? } else { path.to_owned() };
        let Some(mut words) = contestant.words(task, &path) else { return Ok(None) };
        // The floor reads the file, whatever is asked of it.
        if task.brings_back() && !contestant.is_floor() {
            words.extend(bring_back::arguments(task, &path)?);
            bring_back::prepare(contestant, task, &path, &self.vars(contestant, task, &path))?;
        }
        let stdin = match task {
            Task::Branched if !contestant.is_peer() => Some(requests_to_branch(&path, &home)?),
            _ => task.reads_stdin().then(|| path.clone()),
        };
        let job = Job {
            words,
            folder: if matches!(task, Task::List | Task::Latest) {
                self.inputs.project().to_owned()
            } else {
                home.clone()
            },
            vars: self.vars(contestant, task, &path),
            stdin,
            first_line: task.ends_with_first_line(),
            stdout: stdout.map(Path::to_owned),
            stderr: self.scratch.path().join("stderr"),
            timeout: TIMEOUT,
        };
        measure::run(&job).map(Some)
    }

    /// Where a program runs and finds its settings and sessions.
    fn home(&self) -> PathBuf {
        self.scratch.path().join("home")
    }

    fn vars(&self, contestant: &Contestant, task: Task, input: &Path) -> Vec<(String, String)> {
        let mut vars = empty_home(&self.home());
        let mut set = |name: &str, value: String| {
            vars.retain(|(known, _)| known != name);
            vars.push((name.to_owned(), value));
        };
        if contestant.keeps_caches() {
            set("XDG_CACHE_HOME", self.scratch.path().join("kept").to_string_lossy().into_owned());
        }
        if matches!(task, Task::ListAll | Task::OneById) {
            let root = if contestant.is_peer() { "PI_CODING_AGENT_DIR" } else { "OFFSHOOT_HOME" };
            set(root, input.to_string_lossy().into_owned());
        }
        let durability = if task == Task::AppendOs { "os" } else { "data" };
        set("OFFSHOOT_DURABILITY", durability.to_owned());
        vars
    }

    /// The line of stderr that names the error, or the last line.
    fn last_words(&self) -> String {
        let text = fs::read(self.scratch.path().join("stderr")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let telling =
            |line: &&str| ["Error:", "error:", "FATAL", "panicked", "Invalid"].iter().any(|word| line.contains(word));
        let line = text.lines().find(telling).or_else(|| text.lines().last()).unwrap_or_default().trim();
        if line.is_empty() { String::new() } else { format!(": {}", line.chars().take(120).collect::<String>()) }
    }
}

/// Sets the medians; a run that failed after a good warm-up fails the cell.
fn with_medians(cell: Cell, costs: &[Cost]) -> Cell {
    let Cell::Measured { count, .. } = cell else { return cell };
    match (costs.iter().find_map(|cost| cost.failure.clone()), measure::median(costs)) {
        (Some(failure), _) => Cell::Failed(failure),
        (None, Some(cost)) => Cell::Measured { cost, runs: costs.len(), count },
        (None, None) => Cell::Absent,
    }
}

/// Every program starts with an empty home: no settings, caches or other sessions.
pub(crate) fn empty_home(home: &Path) -> Vec<(String, String)> {
    let places = [
        ("HOME", ""),
        ("XDG_CACHE_HOME", "cache"),
        ("XDG_DATA_HOME", "data"),
        ("XDG_CONFIG_HOME", "config"),
        ("OFFSHOOT_HOME", "offshoot"),
        ("PI_CODING_AGENT_DIR", "agent"),
    ];
    let folders =
        places.iter().map(|(name, place)| ((*name).to_owned(), home.join(place).to_string_lossy().into_owned()));
    folders.chain(std::iter::once(("PI_OFFLINE".to_owned(), "1".to_owned()))).collect()
}

fn rounds_for(warm_up: &Cost) -> usize {
    SLOW.iter().filter(|(slow, _)| warm_up.wall_s >= *slow).map(|(_, rounds)| *rounds).min().unwrap_or(usize::MAX)
}

/// A copy for programs that upgrade a file in place, synced before the clock starts.
fn fresh_copy(path: &Path, home: &Path) -> Result<PathBuf> {
    let copy = home.join(COPY);
    fs::copy(path, &copy).with_context(|| format!("cannot copy {}", path.display()))?;
    fs::File::open(&copy)?.sync_all()?;
    Ok(copy)
}

/// Requests that open a session and make the path to its last entry a session of its own.
fn requests_to_branch(input: &Path, home: &Path) -> Result<PathBuf> {
    let leaf = last_id(input)?;
    let requests = [
        serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "open", "params": {"path": input, "sessionDir": home}}),
        serde_json::json!({"jsonrpc": "2.0", "id": BRANCHED, "method": "createBranchedSession",
            "params": {"session": 1, "leafId": leaf}}),
    ];
    let path = home.join("requests.jsonl");
    #[expect(clippy::disallowed_methods, reason = "a scratch file")]
    fs::write(&path, requests.map(|request| format!("{request}\n")).concat())?;
    Ok(path)
}

/// The end of a file.
fn tail(input: &Path) -> Result<String> {
    let mut file = fs::File::open(input)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(1 << 20)))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    Ok(String::from_utf8_lossy(&tail).into_owned())
}

pub(crate) fn last_id(input: &Path) -> Result<String> {
    let text = tail(input)?;
    let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap_or_default())?;
    Ok(last["id"].as_str().context("the last entry has no id")?.to_owned())
}

/// Creates the folder if it is missing.
fn create_folder(folder: &Path) -> Result<&Path> {
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(wall_s: f64, failure: Option<&str>) -> Cost {
        Cost { wall_s, cpu_s: 0.0, peak_mib: 0.0, failure: failure.map(str::to_owned) }
    }

    #[test]
    fn one_failed_run_fails_the_cell() {
        let cell = Cell::Measured { cost: cost(9.0, None), runs: 0, count: Some(1) };
        let settled = with_medians(cell.clone(), &[cost(1.0, None), cost(2.0, Some("signal: 9"))]);
        assert!(matches!(settled, Cell::Failed(why) if why == "signal: 9"));
        let settled = with_medians(cell, &[cost(1.0, None), cost(3.0, None), cost(2.0, None)]);
        assert!(matches!(settled, Cell::Measured { cost, runs: 3, count: Some(1) } if cost.wall_s == 2.0));
    }

    #[test]
    fn the_slower_the_fewer_rounds() {
        assert_eq!([1.9, 2.0, 14.0, 15.0].map(|wall_s| rounds_for(&cost(wall_s, None))), [usize::MAX, 3, 3, 1]);
    }

    #[test]
    fn names_of_cases_differ() {
        let names: std::collections::BTreeSet<String> = CASES.iter().chain(HUGE).map(|case| name(*case)).collect();
        assert_eq!(names.len(), CASES.len() + HUGE.len());
    }

    #[test]
    fn no_program_sees_the_real_home() {
        let vars = empty_home(Path::new("scratch"));
        assert!(vars.iter().filter(|(name, _)| name != "PI_OFFLINE").all(|(_, value)| value.starts_with("scratch")));
    }
}
