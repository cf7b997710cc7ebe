//! The entries that picks, merges and comparisons name, and the file as it is before the clock starts.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use super::contestants::{Contestant, Task};
use super::tail;

/// The line whose entry is early.
const EARLY: usize = 100;
/// How many entries are picked.
const PICKED: usize = 10;

/// The arguments behind those that name the session.
pub(super) fn arguments(task: Task, session: &Path) -> Result<Vec<String>> {
    let early = early_id(session)?;
    let mut last = last_ids(session)?;
    Ok(match task {
        Task::Pick => [last, vec!["--onto".to_owned(), early]].concat(),
        Task::MergePlan => vec![last.pop().unwrap_or_default(), "--onto".to_owned(), early],
        Task::Compare => vec![last.pop().unwrap_or_default(), early],
        _ => Vec::new(),
    })
}

/// An undo needs a pick. A contestant that keeps its caches has opened the file before.
pub(super) fn prepare(contestant: &Contestant, task: Task, session: &Path, vars: &[(String, String)]) -> Result<()> {
    let run = |task: Task, more: &[&str]| -> Result<()> {
        let Some(words) = contestant.words(task, session) else { return Ok(()) };
        let words = [words, arguments(task, session)?, more.iter().map(|word| (*word).to_owned()).collect()].concat();
        let (program, arguments) = words.split_first().context("a command without a name")?;
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(vars.iter().cloned()).stdin(Stdio::null()).stdout(Stdio::null());
        let output = command.output().with_context(|| format!("cannot run {program}"))?;
        if !output.status.success() {
            bail!("{}: {}", words.join(" "), String::from_utf8_lossy(&output.stderr));
        }
        Ok(())
    };
    if task == Task::Undo {
        run(Task::Pick, &[])?;
    } else if task == Task::Pick && contestant.keeps_caches() {
        run(Task::Pick, &["--dry-run"])?;
    }
    let caches = vars.iter().find(|(name, _)| name == "XDG_CACHE_HOME").map(|(_, folder)| folder);
    if let Some(folder) = caches.filter(|folder| !contestant.keeps_caches() && Path::new(folder).exists()) {
        std::fs::remove_dir_all(folder).with_context(|| folder.clone())?;
    }
    Ok(())
}

fn early_id(session: &Path) -> Result<String> {
    let line = BufReader::new(File::open(session)?).lines().nth(EARLY).context("the session is too short")??;
    id_of(&line)
}

fn last_ids(session: &Path) -> Result<Vec<String>> {
    let text = tail(session)?;
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().checked_sub(PICKED).context("the last lines are too long")?;
    lines[from..].iter().map(|line| id_of(line)).collect()
}

fn id_of(line: &str) -> Result<String> {
    let entry: serde_json::Value = serde_json::from_str(line)?;
    Ok(entry["id"].as_str().context("an entry has no id")?.to_owned())
}
