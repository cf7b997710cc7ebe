//! Lists the subagents of a session, with the facts about each that are outside its own records. Claude Code has transcripts in folders below the
//! session's own, each with a note that names the call; Gemini CLI has a folder of logs without notes; opencode and Crush have rows that
//! name their parent. Those of a session that is read from its copy have their copies with it.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use offshoot_session::children::MOST_CHILDREN;
use offshoot_session::json::Json;

use super::SubagentsOf;
use super::beside::Beside;
use super::calls::{SpawningCalls, calls_in_transcript};
use super::standing::{end_of_transcript, written_at};
use crate::agent::Agent;
use crate::kept_copy::source_of;
use crate::rows::{self, ChildRow, CopiedRows, DEEPEST};
use crate::subagent_status::SubagentStatus;

/// What is said of a subagent outside of its own records. A text is empty where nothing is said.
#[derive(Debug, Clone)]
pub struct FoundSubagent {
    /// The path of its session.
    pub path: PathBuf,
    /// What names it: a subagent of `a` is `a.b`.
    pub id: String,
    /// The definition that it follows.
    pub agent: String,
    /// What it was to do, in short.
    pub task: String,
    /// The call that made it.
    pub call: Option<String>,
    /// The entry with the call, in the session of whoever made it.
    pub parent_entry: Option<String>,
    /// How it stands.
    pub status: SubagentStatus,
}

impl FoundSubagent {
    fn at(path: PathBuf) -> Self {
        let stem = source_of(&path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Self {
            path,
            // A point would make it a child of another one.
            id: stem.replace('.', "-"),
            agent: String::new(),
            task: String::new(),
            call: None,
            parent_entry: None,
            status: SubagentStatus::Unknown,
        }
    }

    /// The agent's own id for it.
    #[must_use]
    pub fn native_id(&self) -> String {
        source_of(&self.path).file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// All of them, each after the one that made it.
pub(super) fn found(of: SubagentsOf<'_>) -> Vec<FoundSubagent> {
    let mut all = match of.agent {
        Agent::Claude => of_transcripts(of),
        Agent::Gemini => of_logs(of),
        Agent::Opencode | Agent::Crush => of_rows(of),
        Agent::Codex | Agent::Goose | Agent::Copilot | Agent::Cursor | Agent::Aider => Vec::new(),
    };
    all.sort_by(|one, other| one.id.cmp(&other.id));
    // Two folders may have files of one name.
    let mut taken = HashSet::new();
    for found in &mut all {
        let base = found.id.clone();
        let mut number = 2;
        while !taken.insert(found.id.clone()) {
            found.id = format!("{base}-{number}");
            number += 1;
        }
    }
    all
}

fn of_transcripts(of: SubagentsOf<'_>) -> Vec<FoundSubagent> {
    let beside = Beside::of(of.path);
    let journals: HashMap<String, SubagentStatus> = beside.journals().iter().flat_map(|text| ended_in(text)).collect();
    let transcripts = beside.transcripts(of.agent, None).into_iter();
    let mut all: Vec<FoundSubagent> =
        transcripts.map(|path| with_note(&beside, path)).take(MOST_CHILDREN + 1).collect();
    if all.is_empty() {
        return all;
    }
    let wanted: Vec<String> = all.iter().filter_map(|found| found.call.clone()).collect();
    let calls =
        if wanted.is_empty() { SpawningCalls::new() } else { calls_in_transcript(of.path, &wanted, of.session) };
    for found in &mut all {
        let call = found.call.as_ref().and_then(|call| calls.get(call));
        found.parent_entry = call.and_then(|call| call.entry.clone());
        let agent_id = found.id.strip_prefix("agent-").unwrap_or_default();
        let told = call.and_then(|call| call.outcome).or_else(|| journals.get(agent_id).copied());
        let told = told.or_else(|| end_of_transcript(&found.path));
        found.status = told.unwrap_or_else(|| SubagentStatus::by_time(written_at(&found.path), of.now));
    }
    let is_elsewhere = |found: &FoundSubagent| {
        found.call.as_ref().is_some_and(|call| calls.get(call).is_none_or(|call| call.at.is_none()))
    };
    let elsewhere: Vec<usize> = (0..all.len()).filter(|at| all.get(*at).is_some_and(is_elsewhere)).collect();
    below_each_other(&mut all, &elsewhere);
    all
}

/// A call that the session does not have may be that of another subagent.
fn below_each_other(all: &mut [FoundSubagent], elsewhere: &[usize]) {
    let wanted: Vec<String> = elsewhere.iter().filter_map(|at| all.get(*at)?.call.clone()).collect();
    if wanted.is_empty() {
        return;
    }
    let mut parents: HashMap<String, usize> = HashMap::new();
    for (at, found) in all.iter().enumerate() {
        let calls = calls_in_transcript(&found.path, &wanted, None);
        parents.extend(calls.into_iter().filter(|(_, call)| call.at.is_some()).map(|(id, _)| (id, at)));
    }
    let parent = |all: &[FoundSubagent], at: usize| {
        elsewhere.contains(&at).then(|| parents.get(all.get(at)?.call.as_ref()?).copied()).flatten()
    };
    let name = |at: usize| {
        let (mut names, mut above) = (Vec::new(), Some(at));
        // A circle has no first one.
        while let Some(found) = above.and_then(|at| all.get(at)).filter(|_| names.len() < DEEPEST) {
            names.push(found.id.clone());
            above = above.and_then(|at| parent(all, at));
        }
        names.reverse();
        if above.is_none() { names.join(".") } else { names.pop().unwrap_or_default() }
    };
    let names: Vec<String> = (0..all.len()).map(name).collect();
    for (found, name) in all.iter_mut().zip(names) {
        found.id = name;
    }
}

fn with_note(beside: &Beside, path: PathBuf) -> FoundSubagent {
    let note = beside.note(&path);
    let note = Json::parse(&note).unwrap_or(Json::NULL);
    let text = |name: &str| note.str(name).map(std::borrow::Cow::into_owned);
    FoundSubagent {
        agent: text("agentType").unwrap_or_default(),
        task: text("description").unwrap_or_default(),
        call: text("toolUseId"),
        ..FoundSubagent::at(path)
    }
}

/// The subagents that a journal says to have ended.
fn ended_in(journal: &str) -> Vec<(String, SubagentStatus)> {
    let ended = |line: &str| {
        let record = Json::parse(line).ok()?;
        let status = match record.str("type")?.as_ref() {
            "result" => SubagentStatus::Completed,
            "error" => SubagentStatus::Failed,
            _ => return None,
        };
        Some((record.str("agentId")?.into_owned(), status))
    };
    journal.lines().filter_map(ended).collect()
}

/// Gemini CLI says nothing of them but that they are there.
fn of_logs(of: SubagentsOf<'_>) -> Vec<FoundSubagent> {
    let id = of.session.map(|session| session.header().id());
    let with_status = |log: PathBuf| {
        let status = SubagentStatus::by_time(written_at(&log), of.now);
        FoundSubagent { status, ..FoundSubagent::at(log) }
    };
    Beside::of(of.path).transcripts(of.agent, id).into_iter().map(with_status).collect()
}

/// Rows that name the session as their parent, and those that name them. The id of Crush's is that of the call.
fn of_rows(of: SubagentsOf<'_>) -> Vec<FoundSubagent> {
    if let Some(copies) = CopiedRows::at(of.agent, of.path) {
        let id = copies.id().to_owned();
        return below_row(of, id, &|parent| copies.children_of(parent), &|id| copies.path_of(id));
    }
    let Some((store, id)) = rows::parts_of(of.path) else { return Vec::new() };
    below_row(of, id, &|parent| rows::children_of(of.agent, &store, parent), &|id| store.join(id))
}

/// The sessions below this one, each after its parent.
fn below_row(
    of: SubagentsOf<'_>,
    id: String,
    children: &dyn Fn(&str) -> Vec<ChildRow>,
    path: &dyn Fn(&str) -> PathBuf,
) -> Vec<FoundSubagent> {
    let mut all: Vec<FoundSubagent> = Vec::new();
    let mut seen = HashSet::from([id.clone()]);
    let mut level = vec![(id, String::new())];
    for _ in 0..DEEPEST {
        let mut next = Vec::new();
        for (parent, above) in level {
            for child in children(&parent) {
                if all.len() > MOST_CHILDREN || !seen.insert(child.id.clone()) {
                    continue;
                }
                let row = FoundSubagent::at(path(&child.id));
                let id = if above.is_empty() { row.id.clone() } else { format!("{above}.{}", row.id) };
                let status = child.outcome.unwrap_or_else(|| SubagentStatus::by_time(child.updated, of.now));
                next.push((child.id, id.clone()));
                all.push(FoundSubagent {
                    id,
                    task: child.title,
                    call: child.call,
                    parent_entry: child.entry,
                    status,
                    ..row
                });
            }
        }
        if next.is_empty() {
            break;
        }
        level = next;
    }
    all
}
