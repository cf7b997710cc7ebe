//! Where changes of files are recorded, and the entries of a session that do so, as the data that they hold.

use std::path::PathBuf;

use offshoot_files::{FILES_ENTRY, FileLimits};
use offshoot_session::entry::Source;
use offshoot_session::kind::Kind;
use offshoot_session::tree::NodeIx;

/// Where changes of files are recorded, and how many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRecording {
    /// The folder of the stores.
    pub data: PathBuf,
    /// The bounds.
    pub limits: FileLimits,
    /// Folders that are never looked at.
    pub never: Vec<PathBuf>,
}

/// The data of an entry that records changes of files; `None` for every other entry.
pub fn files_data(session: &(impl Source + ?Sized), ix: NodeIx) -> Option<String> {
    if session.tree().node(ix).kind() != Kind::Custom {
        return None;
    }
    let entry = session.entry(ix).ok()?;
    let is_ours = entry.str("customType").is_some_and(|name| name == FILES_ENTRY);
    is_ours.then(|| entry.get("data").map(|data| data.text().to_owned())).flatten()
}

/// The data of the entries between two, for the way up from the first, the last entry first, and down to the second.
pub fn files_between(
    session: &(impl Source + ?Sized),
    from: Option<NodeIx>,
    to: Option<NodeIx>,
) -> (Vec<String>, Vec<String>) {
    let tree = session.tree();
    let path = |end: Option<NodeIx>| -> Vec<NodeIx> { end.into_iter().flat_map(|end| tree.ancestors(end)).collect() };
    let (from, to) = (path(from), path(to));
    let common = from.iter().rev().zip(to.iter().rev()).take_while(|(one, other)| one == other).count();
    let data = |ixs: &[NodeIx]| ixs.iter().filter_map(|ix| files_data(session, *ix)).collect::<Vec<_>>();
    let up = data(from.get(..from.len() - common).unwrap_or_default());
    let mut down = data(to.get(..to.len() - common).unwrap_or_default());
    down.reverse();
    (up, down)
}
