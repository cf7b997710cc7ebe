//! What a restore would do, file by file: the route held against what is on disk. Writes nothing.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;

use serde::{Deserialize, Serialize};

use crate::error::{FilesResult, io_error};
use crate::folder::{Folder, Found};
use crate::merge::merge;
use crate::rel_path::RelPath;
use crate::route::{Route, RouteStep};
use crate::scan::{HAS_KEY, KeyCheck};
use crate::state::FileState;
use crate::store::ContentStore;

/// A file that would be written, or removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedFile {
    /// The file.
    pub path: RelPath,
    /// What is there now.
    pub current: FileState,
    /// What would be there.
    pub target: FileState,
    /// Whether it has changes of somebody else, which stay.
    pub is_merged: bool,
    /// Whether another path of the plan leads to the same file, as where only the case of a name changed. Then only this spelling counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_twin: bool,
    #[serde(skip)]
    pub(crate) merged: Option<Vec<u8>>,
}

impl PlannedFile {
    /// What is in its place now.
    pub(crate) fn found(&self, folder: &Folder) -> io::Result<Found> {
        folder.read_of(&self.path, self.has_twin)
    }
}

/// A file that stays as it is, because somebody else changed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileConflict {
    /// The file.
    pub path: RelPath,
    /// What would have been there: it goes beside the file.
    pub ours: FileState,
}

/// A file that cannot be restored, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftFile {
    /// The file.
    pub path: RelPath,
    /// Why, as a clause.
    pub why: String,
}

/// What a restore would do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RestorePlan {
    /// Files that would be written or removed.
    pub files: Vec<PlannedFile>,
    /// Files that somebody else changed where the tree did.
    pub conflicts: Vec<FileConflict>,
    /// Files whose content is not known.
    pub left: Vec<LeftFile>,
}

impl RestorePlan {
    /// Whether nothing is to be done.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.conflicts.is_empty() && self.left.is_empty()
    }
}

/// What became of a path.
enum Planned {
    Nothing,
    File { target: FileState, merged: Option<Vec<u8>> },
    Conflict(FileState),
    Left(String),
}

/// What a plan is held against.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlanPlace<'a> {
    pub(crate) folder: &'a Folder,
    pub(crate) store: &'a ContentStore,
    pub(crate) keys: &'a KeyCheck,
}

impl PlanPlace<'_> {
    /// The steps of each path, from what is there.
    pub(crate) fn plan(self, route: Route) -> FilesResult<RestorePlan> {
        let mut plan = RestorePlan::default();
        let twins = self.twins(route.keys())?;
        route.into_iter().try_for_each(|(path, steps)| self.add(&mut plan, &twins, path, |_| steps))?;
        Ok(plan)
    }

    /// These files, whatever is in their place.
    pub(crate) fn plan_to(self, files: BTreeMap<RelPath, FileState>) -> FilesResult<RestorePlan> {
        let mut plan = RestorePlan::default();
        let whole = |current: &FileState, to| vec![RouteStep { from: current.clone(), to }];
        let twins = self.twins(files.keys())?;
        files.into_iter().try_for_each(|(path, to)| self.add(&mut plan, &twins, path, |current| whole(current, to)))?;
        Ok(plan)
    }

    /// The paths that lead to a file to which another one leads, too.
    fn twins<'p>(self, paths: impl Iterator<Item = &'p RelPath>) -> FilesResult<HashSet<RelPath>> {
        let (mut known, mut twins) = (HashMap::new(), HashSet::new());
        for path in paths {
            let identity = self.folder.identity(path);
            let Some(identity) = identity.map_err(io_error("read", &self.folder.path.join(path.to_path())))? else {
                continue;
            };
            if let Some(other) = known.insert(identity, path) {
                twins.extend([path.clone(), other.clone()]);
            }
        }
        Ok(twins)
    }

    fn add(
        self,
        plan: &mut RestorePlan,
        twins: &HashSet<RelPath>,
        path: RelPath,
        steps: impl FnOnce(&FileState) -> Vec<RouteStep>,
    ) -> FilesResult<()> {
        let whole = self.folder.path.join(path.to_path());
        let has_twin = twins.contains(&path);
        let found = self.folder.read_of(&path, has_twin).map_err(io_error("read", &whole))?;
        // A folder in the place of a file goes with its files, if all of them do; otherwise the file finds it in its way.
        let has_key = found.bytes.as_deref().is_some_and(|bytes| (self.keys.0)(bytes));
        let current = match found.is_folder {
            true => FileState::Absent,
            // Its content would be stored before it goes.
            false if has_key => FileState::not_covered(HAS_KEY),
            false => found.state,
        };
        let steps = steps(&current);
        match steps_at(self.store, &steps, (&current, found.bytes.as_deref())) {
            Planned::Nothing => {}
            Planned::File { target, merged } => {
                let is_merged = merged.is_some();
                plan.files.push(PlannedFile { path, current, target, is_merged, has_twin, merged });
            }
            Planned::Conflict(ours) => plan.conflicts.push(FileConflict { path, ours }),
            Planned::Left(why) => plan.left.push(LeftFile { path, why }),
        }
        Ok(())
    }
}

/// Takes the steps from what is there. A step that meets what it does not expect is merged.
fn steps_at(store: &ContentStore, steps: &[RouteStep], (current, bytes): (&FileState, Option<&[u8]>)) -> Planned {
    let Some(ours) = steps.last().map(|step| step.to.clone()) else { return Planned::Nothing };
    // Two contents that are not known may differ: nobody's goes.
    if let FileState::NotCovered { why } = current {
        return if ours.is_covered() { Planned::Left(why.clone()) } else { Planned::Nothing };
    }
    let (mut state, mut merged) = (current.clone(), None::<Vec<u8>>);
    for RouteStep { from, to } in steps {
        if state == *to {
            continue;
        }
        if state == *from {
            (state, merged) = (to.clone(), None);
            continue;
        }
        // Nobody knows whether it is what was there, such as a file of keys.
        if let FileState::NotCovered { why } = from {
            return Planned::Left(why.clone());
        }
        let own = merged.as_deref().or(bytes.filter(|_| state == *current));
        match merge_step(store, (from, to), &state, own) {
            Some((new, bytes)) => (state, merged) = (new, Some(bytes)),
            None => return unless_left(ours, Planned::Conflict),
        }
    }
    if state == *current {
        return Planned::Nothing;
    }
    if merged.is_none() && state.hash().is_some_and(|hash| !store.has(hash)) {
        return Planned::Left("its content is not in the store any more".to_owned());
    }
    unless_left(state, |target| Planned::File { target, merged })
}

fn unless_left(target: FileState, planned: impl FnOnce(FileState) -> Planned) -> Planned {
    match target {
        FileState::NotCovered { why } => Planned::Left(why),
        target => planned(target),
    }
}

fn merge_step(
    store: &ContentStore,
    (from, to): (&FileState, &FileState),
    state: &FileState,
    own: Option<&[u8]>,
) -> Option<(FileState, Vec<u8>)> {
    let FileState::File { hash: base, mode: base_mode } = from else { return None };
    let FileState::File { hash: ours, mode: our_mode } = to else { return None };
    let FileState::File { hash: theirs, mode: their_mode } = state else { return None };
    let stored = |hash| store.get(hash).ok();
    let own = match own {
        Some(own) => own.to_vec(),
        None => stored(theirs)?,
    };
    let mode = if their_mode == base_mode { *our_mode } else { *their_mode };
    let bytes = match base == ours {
        // Only its mode changes.
        true => own,
        false => merge(&stored(base)?, &stored(ours)?, &own)?,
    };
    let hash = crate::content::ContentHash::of(&bytes);
    Some((FileState::File { hash, mode }, bytes))
}
