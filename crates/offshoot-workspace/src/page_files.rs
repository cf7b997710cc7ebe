//! What the entries of a session changed in files, for a page: paths with what differs, from the store of the session's folder. Bounded in
//! all, the newest entries first. Writes nothing, and knows no page but the members that its script reads.

use std::collections::BTreeMap;
use std::path::Path;

use offshoot_agent::branch_files::file_patch;
use offshoot_agent::file_entries::files_data;
use offshoot_files::{ChangedBy, FileChange, FileState, Workspace};
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::json::Object;
use offshoot_session::session::{Session, SessionPart};
use offshoot_session::text::one_line;
use offshoot_session::tree::NodeIx;

use crate::file_moves::{MOST_PATCH_LINES, MOST_PREVIEWED, change_verb, open_workspace};
use crate::place::Place;

/// How many files and lines a page still has room for.
#[derive(Debug, Clone, Copy)]
pub struct PageFilesRoom {
    files: usize,
    lines: usize,
}

impl Default for PageFilesRoom {
    fn default() -> Self {
        Self { files: MOST_PREVIEWED, lines: MOST_PATCH_LINES }
    }
}

impl PageFilesRoom {
    /// What a page says of entries for which there was no room.
    #[must_use]
    pub fn note() -> String {
        format!("A page shows what differs for its newest {MOST_PREVIEWED} files and {MOST_PATCH_LINES} lines.")
    }
}

/// The changes of files in a part of a session, for the script of a page: an object for each entry, by the entry's id. `list` is an array of
/// files: `path`, `by` and `verb`, then `patch`, `added` and `removed`, or `why` there is no patch. `note` says what is missing. Entries beyond the room of the page have no object.
#[must_use]
pub fn page_files(
    place: &Place,
    session: &Session,
    (part, folder): (SessionPart, &Path),
    room: &mut PageFilesRoom,
) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut datas = entries_of(session, part).into_iter().rev().filter_map(|ix| Some((ix, files_data(session, ix)?)));
    let Some(first) = datas.next() else { return found };
    let opened = open_workspace(place, folder);
    let recorded = opened.as_ref().ok().map(|workspace| (workspace, workspace.recorded_entries()));
    for (ix, data) in std::iter::once(first).chain(datas) {
        let Some(id) = session.tree().node(ix).id().map(EntryId::as_str) else { continue };
        if room.files == 0 {
            break;
        }
        let changes = recorded.as_ref().map(|(workspace, recorded)| (workspace, recorded.changes(&data)));
        let (list, note) = match changes {
            Some((workspace, Ok(Some(changes)))) => files_of(workspace, &changes, room),
            Some((_, Ok(None))) => (Vec::new(), Some("Another folder recorded these changes.".to_owned())),
            Some((_, Err(error))) => (Vec::new(), Some(format!("The store does not have them: {error}."))),
            None => (Vec::new(), Some("The folder of the session cannot be opened.".to_owned())),
        };
        let object = Object::new().raw("list", format_args!("[{}]", list.join(",")));
        found.insert(id.to_owned(), object.str_or_null("note", note.as_deref()).finish());
    }
    found
}

/// The entries of a part, in the order of the file.
fn entries_of(session: &Session, part: SessionPart) -> Vec<NodeIx> {
    let tree = session.tree();
    match part {
        SessionPart::Everything => tree.entries().collect(),
        SessionPart::Path(end) => tree.path(end),
        SessionPart::Subtree(top) => {
            let (mut open, mut found) = (vec![top], Vec::new());
            while let Some(ix) = open.pop() {
                found.push(ix);
                open.extend(tree.children(ix));
            }
            found.sort_unstable();
            found
        }
    }
}

/// The files of one entry, and what is missing.
fn files_of(workspace: &Workspace, changes: &[FileChange], room: &mut PageFilesRoom) -> (Vec<String>, Option<String>) {
    let mut list = Vec::new();
    for change in changes.iter().take(room.files) {
        let by = if change.by == ChangedBy::Foreign { "foreign" } else { "calls" };
        let object = Object::new().str("path", change.path.as_str()).str("by", by).str("verb", change_verb(change));
        let object = match patch_of(workspace, change, room.lines) {
            Ok(patch) => {
                room.lines -= patch.lines().count();
                let count = |sign: char| body(&patch).filter(|line| line.starts_with(sign)).count();
                object.str("patch", &patch).raw("added", count('+')).raw("removed", count('-'))
            }
            Err(why) => object.str("why", &why),
        };
        list.push(object.finish());
    }
    room.files -= list.len();
    let note = (list.len() < changes.len()).then(PageFilesRoom::note);
    (list, note)
}

/// The lines of a patch after its head.
fn body(patch: &str) -> impl Iterator<Item = &str> {
    patch.lines().skip_while(|line| !line.starts_with("@@"))
}

/// What differs, or why that is not shown.
fn patch_of(workspace: &Workspace, change: &FileChange, most_lines: usize) -> Result<String, String> {
    let states = [&change.before, &change.after];
    for state in states {
        match state {
            FileState::NotCovered { why } => return Err(format!("not covered: {}", one_line(why, 200))),
            FileState::Link { target } => return Err(format!("a link to {}", one_line(target, 200))),
            FileState::File { hash, .. } if !workspace.store().has(hash) => {
                return Err("the store does not have its content any more".to_owned());
            }
            FileState::File { .. } | FileState::Absent => {}
        }
    }
    let [before, after] = states;
    if let (FileState::File { hash: one, mode: old }, FileState::File { hash: other, mode }) = (before, after)
        && one == other
    {
        return Err(format!("permissions {old:o}, now {mode:o}"));
    }
    let Some((old, new)) = workspace.stored_texts(before, after) else {
        return Err("not a text, or too long to compare".to_owned());
    };
    if workspace.has_key(&old) || workspace.has_key(&new) {
        return Err("it has a key in it".to_owned());
    }
    let patch = file_patch(change.path.as_str(), &old, &new);
    if patch.lines().count() > most_lines {
        return Err(format!("too long for the {MOST_PATCH_LINES} lines of a page"));
    }
    Ok(patch)
}
