//! The subagents of another agent's session. Claude Code has transcripts in folders below the session's own, each with a note that
//! names the call; Gemini CLI has a folder of logs without notes; opencode and Crush have rows that name their parent. Never writes.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use offshoot_session::children::{ChildInfo, ChildList, MOST_CHILDREN};
use offshoot_session::clock::Millis;
use offshoot_session::entry::Source as _;
use offshoot_session::json::Json;
use offshoot_session::kind::Role;
use offshoot_session::list::session_info_of;
use offshoot_session::medium::read_regular_text;
use offshoot_session::session::{Options, Session};

use crate::agent::Agent;
use crate::formats::below;
use crate::opening::open_of;
use crate::rows;

/// More folders of workflows are not looked at.
const MOST_FOLDERS: usize = 1_000;
/// A longer note is not read.
const LARGEST_NOTE: u64 = 64 << 10;

/// The subagents of an agent's session at this path, each below the entry with its call if something says which that is: of opencode it
/// is the last call of `task` before it began. One that cannot be read is counted as left out. `options` are those of their sessions.
#[must_use]
pub fn subagents(agent: Agent, session: &Session, path: &Path, options: impl Fn() -> Options) -> ChildList {
    let mut found = match agent {
        Agent::Claude => {
            let all = transcripts(&path.with_extension("").join("subagents")).into_iter();
            all.map(|path| (SubagentNote::beside(&path), path)).collect()
        }
        Agent::Gemini => {
            let folder = Some(path.with_file_name(session.header().id())).filter(|folder| is_below(folder, path));
            let logs = folder.map(|folder| below(&folder, std::fs::FileType::is_file)).unwrap_or_default();
            let logs = logs.into_iter().filter(|log| log.extension().is_some_and(|ending| ending == "jsonl"));
            logs.map(|log| (SubagentNote::default(), log)).collect()
        }
        Agent::Opencode | Agent::Crush => of_rows(agent, path),
        Agent::Codex | Agent::Goose | Agent::Copilot | Agent::Cursor | Agent::Aider => Vec::new(),
    };
    let mut list = ChildList { left_out: found.len().saturating_sub(MOST_CHILDREN), ..ChildList::default() };
    found.truncate(MOST_CHILDREN);
    if found.is_empty() {
        return list;
    }
    let calls = MadeByCalls::of(session, &found.iter().filter_map(|(note, _)| note.call.as_deref()).collect());
    for (note, path) in found {
        let note = if agent == Agent::Opencode { calls.guessed(note) } else { note };
        match subagent(agent, &path, note, &calls, options()) {
            Some(child) => list.children.push(child),
            None => list.left_out += 1,
        }
    }
    list.children.sort_by(|one, other| one.id.cmp(&other.id));
    list
}

/// A name out of a file may be a path.
fn is_below(folder: &Path, file: &Path) -> bool {
    folder.parent() == file.parent() && folder.file_name().is_some_and(|name| name.len() >= 8)
}

/// Rows that name the session as their parent. The id of Crush's is that of the call.
fn of_rows(agent: Agent, path: &Path) -> Vec<(SubagentNote, PathBuf)> {
    let Some((store, id)) = rows::parts_of(path) else { return Vec::new() };
    let note = |child: &rows::ChildRow| SubagentNote {
        task: child.title.clone(),
        call: (agent == Agent::Crush).then(|| child.id.clone()),
        began: child.created,
        ..SubagentNote::default()
    };
    rows::children_of(agent, &store, &id).iter().map(|child| (note(child), store.join(&child.id))).collect()
}

fn subagent(agent: Agent, path: &Path, note: SubagentNote, calls: &MadeByCalls, options: Options) -> Option<ChildInfo> {
    let opened = open_of(agent, path, options).ok()?;
    let info = session_info_of(&opened.session, None, false).ok()?;
    let stem = path.file_stem()?.to_string_lossy().into_owned();
    let is_answered = note.call.as_ref().is_some_and(|call| calls.answered.contains(call));
    Some(ChildInfo {
        file: path.to_path_buf(),
        // A point would make it a child of another one.
        id: stem.replace('.', "-"),
        session_id: stem,
        agent: note.agent,
        task: note.task,
        parent_entry: note.call.as_ref().and_then(|call| calls.entries.get(call).cloned()),
        tool_call_id: note.call,
        status: is_answered.then(|| "completed".to_owned()),
        messages: info.message_count,
        tokens: info.tokens,
        cost: info.cost,
    })
}

/// What is said of a subagent outside of its own records. Empty where nothing is.
#[derive(Debug, Default)]
struct SubagentNote {
    agent: String,
    task: String,
    call: Option<String>,
    began: Option<Millis>,
}

impl SubagentNote {
    fn beside(transcript: &Path) -> Self {
        let Ok(text) = read_regular_text(&transcript.with_extension("meta.json"), LARGEST_NOTE) else {
            return Self::default();
        };
        let Ok(note) = Json::parse(&text) else { return Self::default() };
        let text = |name: &str| note.str(name).map(std::borrow::Cow::into_owned);
        Self {
            agent: text("agentType").unwrap_or_default(),
            task: text("description").unwrap_or_default(),
            call: text("toolUseId"),
            began: None,
        }
    }
}

/// The entries with some calls, and which calls have a result.
#[derive(Debug, Default)]
struct MadeByCalls {
    entries: HashMap<String, String>,
    /// All of `task`, by their times.
    tasks: Vec<(Millis, String)>,
    answered: HashSet<String>,
}

impl MadeByCalls {
    /// Reads what assistants have said and what tools have given. An entry that cannot be read has no calls.
    fn of(session: &Session, wanted: &HashSet<&str>) -> Self {
        let mut found = Self::default();
        let tree = session.tree();
        for ix in tree.entries() {
            let (node, Some(id)) = (tree.node(ix), tree.node(ix).id()) else { continue };
            if !matches!(node.role(), Some(Role::Assistant | Role::ToolResult)) {
                continue;
            }
            let Ok(entry) = session.entry(ix) else { continue };
            if node.role() == Some(Role::ToolResult) {
                let call = entry.message().and_then(|message| message.str("toolCallId"));
                found.answered.extend(call.map(std::borrow::Cow::into_owned));
                continue;
            }
            for call in entry.blocks().filter(|block| block.is("toolCall")) {
                let Some(call_id) = call.str("id") else { continue };
                let is_task = call.str("name").is_some_and(|name| name == "task");
                if is_task {
                    found.tasks.push((node.time().unwrap_or_default(), call_id.clone().into_owned()));
                }
                if is_task || wanted.contains(call_id.as_ref()) {
                    found.entries.insert(call_id.into_owned(), id.as_str().to_owned());
                }
            }
        }
        found.tasks.sort();
        found
    }

    /// With the last call of `task` before it began.
    fn guessed(&self, note: SubagentNote) -> SubagentNote {
        let call = note.began.and_then(|began| self.tasks.iter().rfind(|(at, _)| *at <= began));
        SubagentNote { call: call.map(|(_, id)| id.clone()), ..note }
    }
}

/// `agent-….jsonl` in the folder and in those of its workflows.
fn transcripts(folder: &Path) -> Vec<PathBuf> {
    let workflows = below(&folder.join("workflows"), std::fs::FileType::is_dir);
    let folders = std::iter::once(folder.to_path_buf()).chain(workflows.into_iter().take(MOST_FOLDERS));
    let is_transcript = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.starts_with("agent-") && name.ends_with(".jsonl")
    };
    folders.flat_map(|folder| below(&folder, std::fs::FileType::is_file)).filter(is_transcript).collect()
}
