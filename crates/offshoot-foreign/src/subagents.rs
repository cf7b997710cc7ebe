//! The subagents of another agent's session, as rows below the calls that made them. Each is found by a note, by its folder or by a row; its
//! own session is read for its sums alone. Never writes.

mod calls;
mod standing;
mod beside;
mod found;

use std::path::{Path, PathBuf};

use offshoot_session::children::{ChildInfo, ChildList, MOST_CHILDREN};
use offshoot_session::clock::Millis;
use offshoot_session::list::{SessionInfo, session_info_of};
use offshoot_session::session::{Options, Session};

use crate::agent::Agent;
use crate::opening::open_of;
pub use found::FoundSubagent;
use found::found;

/// Whose subagents are meant.
#[derive(Debug, Clone, Copy)]
pub struct SubagentsOf<'a> {
    /// Whose session it is.
    pub agent: Agent,
    /// Its path.
    pub path: &'a Path,
    /// The session, if it is open: then the entries with the calls are named.
    pub session: Option<&'a Session>,
    /// A subagent that has just been written to is running.
    pub now: Millis,
}

/// What is known of the subagents without reading their sessions: all that are found, and how many were left out.
#[must_use]
pub fn found_subagents(of: SubagentsOf<'_>) -> (Vec<FoundSubagent>, usize) {
    let mut all = found(of);
    let left_out = all.len().saturating_sub(MOST_CHILDREN);
    all.truncate(MOST_CHILDREN);
    (all, left_out)
}

/// The subagents of an agent's session, each below the entry with its call if something says which that is: of opencode it is the last call
/// of `task` before it began. `infos` gives what lists show of the sessions in some files, as far as it knows them; the others are read.
/// One that cannot be read is counted as left out. `options` are those of their sessions.
#[must_use]
pub fn subagents(
    of: SubagentsOf<'_>,
    infos: impl FnOnce(&[PathBuf]) -> Vec<SessionInfo>,
    options: impl Fn() -> Options,
) -> ChildList {
    let (all, left_out) = found_subagents(of);
    let mut list = ChildList { left_out, ..ChildList::default() };
    if all.is_empty() {
        return list;
    }
    let files: Vec<PathBuf> = all.iter().map(|found| found.path.clone()).collect();
    let mut known: std::collections::HashMap<PathBuf, SessionInfo> =
        infos(&files).into_iter().map(|info| (info.path.clone(), info)).collect();
    for found in all {
        let read = || {
            let opened = open_of(of.agent, &found.path, options()).ok()?;
            session_info_of(&opened.session, None, false).ok()
        };
        match known.remove(&found.path).or_else(read) {
            Some(info) => list.children.push(found.into_child(&info)),
            None => list.left_out += 1,
        }
    }
    list.children.sort_by(|one, other| one.id.cmp(&other.id));
    list
}

impl FoundSubagent {
    fn into_child(self, info: &SessionInfo) -> ChildInfo {
        ChildInfo {
            session_id: self.native_id(),
            file: self.path,
            id: self.id,
            agent: self.agent,
            task: self.task,
            parent_entry: self.parent_entry,
            tool_call_id: self.call,
            status: Some(self.status.word().to_owned()),
            messages: info.message_count,
            tokens: info.tokens,
            cost: info.cost,
        }
    }
}
