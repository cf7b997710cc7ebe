//! Where an imported session goes: one of its own into the store, that of a subagent beside its parent's.

use std::path::{Path, PathBuf};

use offshoot_foreign::{Agent, FoundSubagent, ImportedChild, SubagentStatus, imported_id};
use offshoot_session::child::{ChildStart, child_file, children_folder};

use super::ForeignSource;
use crate::failure::Result;
use crate::place::Place;

/// A file that is or would be there.
pub(super) struct ImportTarget {
    pub(super) id: String,
    pub(super) file: PathBuf,
    pub(super) is_there: bool,
}

/// The places of a session, one after another: the first is the usual one.
pub(super) trait ImportTargets {
    fn at(&self, number: u32) -> Result<ImportTarget>;
}

/// What links a subagent's session to that of its parent.
#[derive(Debug)]
pub(super) struct ChildOf {
    pub(super) start: ChildStart,
    pub(super) parent: PathBuf,
    pub(super) status: SubagentStatus,
}

impl ChildOf {
    pub(super) fn linked(&self) -> ImportedChild<'_> {
        ImportedChild { start: &self.start, parent: &self.parent, status: self.status }
    }
}

/// The link of a subagent of the imported session in a file.
pub(super) fn child_of(agent: Agent, parent_id: &str, parent: &Path, found: &FoundSubagent) -> ChildOf {
    let above = found.id.rsplit_once('.').map(|(above, _)| above.rsplit('.').next().unwrap_or_default());
    let start = ChildStart {
        parent_id: above.map_or_else(|| parent_id.to_owned(), |above| imported_id(agent, above)),
        parent_entry: found.parent_entry.clone(),
        tool_call_id: found.call.clone().unwrap_or_default(),
        index: 0,
        id: found.id.clone(),
        agent: found.agent.clone(),
        depth: found.id.matches('.').count() as u64 + 1,
        task: found.task.clone(),
        context: None,
        limits: "{}".to_owned(),
        schema: None,
        fork: false,
    };
    ChildOf { start, parent: parent.to_path_buf(), status: found.status }
}

/// In the store, by its id.
pub(super) struct InStore<'a> {
    pub(super) place: &'a Place,
    pub(super) foreign: &'a ForeignSource<'a>,
}

impl ImportTargets for InStore<'_> {
    fn at(&self, number: u32) -> Result<ImportTarget> {
        let id = numbered(self.foreign, number);
        let store = self.place.store()?;
        if let Ok(file) = store.path_of(&id) {
            return Ok(ImportTarget { id, file, is_there: true });
        }
        let header = self.foreign.session.header();
        let here = self.place.cwd().to_string_lossy();
        let cwd = header.cwd().filter(|cwd| !cwd.is_empty()).unwrap_or(&here);
        let file = store.path_for(cwd, &id, header.timestamp().unwrap_or_default());
        Ok(ImportTarget { id, file, is_there: false })
    }
}

/// In the folder of the parent's subagents, by its name.
pub(super) struct BesideParent<'a> {
    pub(super) parent: &'a Path,
    pub(super) name: &'a str,
    pub(super) foreign: &'a ForeignSource<'a>,
}

impl ImportTargets for BesideParent<'_> {
    fn at(&self, number: u32) -> Result<ImportTarget> {
        let name = if number == 1 { self.name.to_owned() } else { format!("{}-{number}", self.name) };
        let file = child_file(&children_folder(self.parent), &name);
        let is_there = std::fs::symlink_metadata(&file).is_ok();
        Ok(ImportTarget { id: numbered(self.foreign, number), file, is_there })
    }
}

fn numbered(foreign: &ForeignSource<'_>, number: u32) -> String {
    let usual = imported_id(foreign.agent, foreign.native);
    if number == 1 { usual } else { format!("{usual}.{number}") }
}
