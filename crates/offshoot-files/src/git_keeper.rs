//! Brings contents that only git has into the store, when an entry needs them.

use std::cell::OnceCell;

use crate::content::ContentHash;
use crate::error::FilesResult;
use crate::git_objects::GitObjects;
use crate::rel_path::RelPath;
use crate::scan::Snapshot;
use crate::state::FileState;
use crate::workspace::Workspace;

/// Contents of files as a scan saw them.
pub(crate) struct GitKeeper<'a> {
    workspace: &'a Workspace,
    seen: Option<&'a Snapshot>,
    objects: OnceCell<Option<GitObjects>>,
}

impl<'a> GitKeeper<'a> {
    pub(crate) fn new(workspace: &'a Workspace, seen: Option<&'a Snapshot>) -> Self {
        Self { workspace, seen, objects: OnceCell::new() }
    }

    /// The state of a path as it was seen, with its content in the store. One that git has lost since is not covered.
    pub(crate) fn keep(&self, path: &RelPath, state: FileState) -> FilesResult<FileState> {
        let Workspace { store, limits, .. } = self.workspace;
        let Some(hash) = state.hash().filter(|hash| !store.has(hash)) else { return Ok(state) };
        let Some(id) = self.seen.and_then(|seen| seen.seen(path)).and_then(|seen| seen.git) else { return Ok(state) };
        let objects = self.objects.get_or_init(|| GitObjects::open(self.workspace.root(), limits.file));
        let content = objects.as_ref().and_then(|objects| objects.content(&id));
        match content.filter(|content| ContentHash::of(content) == *hash) {
            Some(content) => store.put(&content).map(|_| state),
            None => Ok(FileState::not_covered("git does not have its content any more")),
        }
    }
}
