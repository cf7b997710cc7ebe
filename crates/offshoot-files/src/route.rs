//! What has to be done to files between two entries: the way up from one, and down to the other, path by path. Pure.

use std::collections::BTreeMap;

use crate::changes::{ChangedBy, FileChange};
use crate::rel_path::RelPath;
use crate::state::FileState;

/// A change that is to be made, or unmade.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RouteStep {
    pub(crate) from: FileState,
    pub(crate) to: FileState,
}

/// The steps of each path that the tree owns.
pub(crate) type Route = BTreeMap<RelPath, Vec<RouteStep>>;

/// The changes of one entry after the other.
#[derive(Debug, Clone, Default)]
pub struct FilesWay {
    /// Those of the entries that are left, the last one first.
    pub up: Vec<Vec<FileChange>>,
    /// Those of the entries that are entered, the first one first.
    pub down: Vec<Vec<FileChange>>,
}

/// The route of a way. What somebody else changed is not undone: a step after it meets other content than it expects.
pub(crate) fn route(way: FilesWay) -> Route {
    let mut route = Route::new();
    let owned = |set: Vec<FileChange>| set.into_iter().filter(|change| change.by == ChangedBy::Calls);
    for FileChange { path, before, after, .. } in way.up.into_iter().flat_map(owned) {
        add(route.entry(path).or_default(), RouteStep { from: after, to: before });
    }
    for FileChange { path, before, after, .. } in way.down.into_iter().flat_map(owned) {
        add(route.entry(path).or_default(), RouteStep { from: before, to: after });
    }
    route.retain(|_, steps| !steps.is_empty());
    route
}

/// Steps that follow on one another are one.
fn add(steps: &mut Vec<RouteStep>, next: RouteStep) {
    match steps.last_mut() {
        Some(last) if last.to == next.from && last.to.is_covered() => {
            last.to = next.to;
            if last.from == last.to {
                steps.pop();
            }
        }
        _ if next.from == next.to => {}
        _ => steps.push(next),
    }
}

/// The files at an entry, as far as calls changed any on its path.
#[must_use]
pub fn fold(sets: impl IntoIterator<Item = Vec<FileChange>>) -> BTreeMap<RelPath, FileState> {
    let mut files = BTreeMap::new();
    for FileChange { path, after, .. } in sets.into_iter().flatten() {
        files.insert(path, after);
    }
    files
}

/// The files at an entry, from the changes on its path, and those on other paths from which one comes there: a file that only these
/// changed is as it was before.
#[must_use]
pub fn files_at(path: Vec<Vec<FileChange>>, others: Vec<Vec<FileChange>>) -> BTreeMap<RelPath, FileState> {
    let mut files = BTreeMap::new();
    for FileChange { path, before, .. } in others.into_iter().flatten() {
        files.entry(path).or_insert(before);
    }
    files.extend(fold(path));
    files
}
