//! Changes of files that come along when entries of another branch are brought here: three-way, onto the files as they are. And what differs
//! between the files of two branches.

use std::collections::BTreeSet;
use std::path::Path;

use offshoot_agent::branch_files::{FilePatch, file_patch};
use offshoot_agent::file_entries::{files_between, files_data};
use offshoot_files::{ChangeSet, FileState, RelPath, files_at};
use offshoot_session::entry::Source;
use offshoot_session::kind::Role as Speaker;
use offshoot_session::session::Session;
use offshoot_session::tree::NodeIx;

use crate::failure::Result;
use crate::file_moves::{FileMove, open_workspace};
use crate::place::Place;

/// The data of the entries that record files for these: those among them, and those of calls whose results are among them.
fn files_of(from: &Session, entries: &[NodeIx]) -> Result<Vec<String>> {
    let tree = from.tree();
    let mut calls = BTreeSet::new();
    for ix in entries.iter().filter(|ix| tree.node(**ix).role() == Some(Speaker::ToolResult)) {
        let entry = from.entry(*ix)?;
        calls.extend(entry.message().and_then(|message| message.str("toolCallId").map(std::borrow::Cow::into_owned)));
    }
    let chosen: BTreeSet<NodeIx> = entries.iter().copied().collect();
    let is_of =
        |data: &str| ChangeSet::read(data).is_ok_and(|set| set.calls.iter().any(|call| calls.contains(&call.id)));
    let data = |ix: NodeIx| files_data(from, ix).filter(|data| chosen.contains(&ix) || is_of(data));
    Ok(tree.entries().filter_map(data).collect())
}

/// What the entries of a branch changed in files, planned onto the files as they are. Writes nothing.
pub(crate) fn patches_of(place: &Place, here: &Session, from: &Session, entries: &[NodeIx]) -> Result<FileMove> {
    let last = entries.iter().max().and_then(|last| from.tree().node(*last).id());
    FileMove::of_changes(place, here, &files_of(from, entries)?, last.map(ToString::to_string).unwrap_or_default())
}

/// What differs between the files of two entries, as far as this folder recorded them, in place of what is known from calls alone.
pub(crate) fn with_recorded(
    place: &Place,
    session: &(dyn Source + Send + Sync),
    (a, b): (NodeIx, NodeIx),
    known: Vec<FilePatch>,
) -> Vec<FilePatch> {
    let (up, down) = files_between(session, Some(a), Some(b));
    if up.is_empty() && down.is_empty() {
        return known;
    }
    // Without a store nothing is known but what calls say.
    let Ok(workspace) = open_workspace(place, place.cwd()) else { return known };
    let files = |at| workspace.way(&[], &files_between(session, None, Some(at)).1).way.down;
    let (of_a, of_b) = (files(a), files(b));
    let between = workspace.way(&up, &down).way;
    let changed: BTreeSet<RelPath> =
        between.up.into_iter().chain(between.down).flatten().map(|change| change.path).collect();
    let (at_a, at_b) = (files_at(of_a.clone(), of_b.clone()), files_at(of_b, of_a));
    let is_recorded = |patch: &FilePatch| {
        let below = RelPath::below(workspace.root(), &workspace.root().join(Path::new(&patch.path)));
        below.is_some_and(|path| changed.contains(&path))
    };
    let mut patches: Vec<FilePatch> = known.into_iter().filter(|patch| !is_recorded(patch)).collect();
    for path in &changed {
        let state =
            |files: &std::collections::BTreeMap<RelPath, FileState>| files.get(path).cloned().unwrap_or_default();
        let (before, after) = (state(&at_a), state(&at_b));
        let patch = match before == after {
            true => Some(String::new()),
            false => workspace
                .stored_texts(&before, &after)
                .map(|(before, after)| file_patch(path.as_str(), &before, &after)),
        };
        patches.push(FilePatch { path: path.to_string(), patch });
    }
    patches.sort_by(|one, other| one.path.cmp(&other.path));
    patches
}
