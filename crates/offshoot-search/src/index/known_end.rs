//! How much of a session's file the index has, and whether the file still begins so.

use std::hash::{DefaultHasher, Hasher as _};
use std::io;
use std::path::Path;

use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::medium::{FileMedium, read_exact_at};
use offshoot_session::session::Session;
use offshoot_session::tree::NodeIx;

/// So many bytes at the beginning and at the end of what is known are compared. Sessions only grow; who puts other words into
/// one, byte for byte, changes the end, the length or the file.
const COMPARED: u64 = 64 << 10;

/// The end of what the index has of a session's file.
#[derive(Default)]
pub(super) struct KnownEnd {
    pub(super) entries: usize,
    /// The id of the last entry.
    pub(super) last: Option<String>,
    /// The place after its line.
    pub(super) end: u64,
    /// Of the bytes at both ends.
    pub(super) check: i64,
}

impl KnownEnd {
    /// That of all of a session.
    pub(super) fn of(session: &Session, path: &Path) -> Self {
        let tree = session.tree();
        let last = tree.entries().next_back();
        let end = last.map_or(0, |ix| end_of(session, ix));
        Self {
            entries: tree.len(),
            last: last.and_then(|ix| tree.node(ix).id()).map(|id| id.as_str().to_owned()),
            end,
            check: check(path, end).unwrap_or_default(),
        }
    }

    /// Whether a session still has it. In one that is made of another program's records, the last entries may change.
    pub(super) fn stands(&self, session: &Session, path: &Path) -> bool {
        if session.is_made() {
            return false;
        }
        let tree = session.tree();
        let last = self.entries.checked_sub(1).and_then(|before| tree.entries().find(|ix| ix.index() == before));
        last.is_some_and(|ix| {
            end_of(session, ix) == self.end
                && tree.node(ix).id().map(EntryId::as_str) == self.last.as_deref()
                && check(path, self.end).is_ok_and(|check| check == self.check)
        })
    }
}

fn end_of(session: &Session, ix: NodeIx) -> u64 {
    let node = session.tree().node(ix);
    node.offset().saturating_add(node.length())
}

fn check(path: &Path, end: u64) -> io::Result<i64> {
    let medium = FileMedium::open(path)?;
    let mut hasher = DefaultHasher::new();
    for from in [0, end.saturating_sub(COMPARED)] {
        let length = COMPARED.min(end - from);
        hasher.write(&read_exact_at(&medium, from, usize::try_from(length).unwrap_or_default())?);
    }
    Ok(hasher.finish().cast_signed())
}
