//! Writes bytes at the end of a locked medium, and undoes failed writes.
//!
//! An undo truncates what follows the old end if it is a prefix of the bytes to be written. Knows bytes and new nodes,
//! not the tree.

use std::io;

use super::Durability;
use super::standing::Broken;
use crate::error::{Conflict, Error};
use crate::medium::{Medium, read_exact_at};
use crate::tree::NewNode;

pub(super) struct Batch {
    pub(super) start: u64,
    /// The lines and everything that must precede them.
    pub(super) bytes: String,
    pub(super) nodes: Vec<NewNode>,
}

impl Batch {
    pub(super) fn line(&self, node: &NewNode) -> &str {
        let place = |at: u64| usize::try_from(at - self.start).unwrap_or(usize::MAX);
        self.bytes.get(place(node.offset)..place(node.offset + node.length)).unwrap_or_default()
    }
}

#[derive(Debug)]
pub(super) struct Failed {
    pub(super) error: Error,
    /// How the session is affected; `None` if the medium is unchanged.
    pub(super) broken: Option<Broken>,
}

/// Appends bytes to a medium whose lock is held and whose length is `known`.
pub(super) fn put(
    medium: &mut dyn Medium,
    known: u64,
    bytes: &[u8],
    durability: Durability,
) -> Result<(), Box<Failed>> {
    let path = medium.path().to_path_buf();
    if let Err(error) = medium.append(bytes) {
        let broken = match take_back(medium, known, bytes) {
            Ok(true) => None,
            Ok(false) => Some(Broken::Unknown(Conflict::AppendFollowed)),
            Err(_) => Some(Broken::Unknown(Conflict::AppendNotUndone)),
        };
        return Err(Box::new(Failed { error: Error::io("append to", &path)(error), broken }));
    }
    let synced = match durability {
        Durability::Os => Ok(()),
        Durability::Data => medium.sync(),
        Durability::Full => medium.sync_all(),
    };
    // After a failed sync the system may have dropped pages, so reading proves nothing. Bytes that were not
    // acknowledged are removed.
    synced.map_err(|error| {
        drop(take_back(medium, known, bytes));
        let broken = Some(Broken::ForGood(Conflict::SyncFailed));
        Box::new(Failed { error: Error::io("sync", &path)(error), broken })
    })
}

/// Truncates what a failed append of `tried` left after `known`; returns whether the medium is unchanged.
fn take_back(medium: &mut dyn Medium, known: u64, tried: &[u8]) -> io::Result<bool> {
    let length = medium.len()?;
    let Some(left) = length.checked_sub(known).and_then(|left| usize::try_from(left).ok()) else { return Ok(false) };
    if left == 0 {
        return Ok(true);
    }
    let is_ours = left <= tried.len() && tried.starts_with(&read_exact_at(medium, known, left)?);
    if is_ours {
        medium.truncate(known)?;
    }
    Ok(is_ours)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::medium::MemoryMedium;

    #[test]
    fn only_the_beginning_of_what_was_tried_is_taken_back() {
        for (behind, tried, expected, left) in [
            ("", "new", true, "old"),
            ("ne", "new", true, "old"),
            ("new", "new", true, "old"),
            ("nex", "new", false, "oldnex"),
            ("new more", "new", false, "oldnew more"),
        ] {
            let mut medium = MemoryMedium::new(format!("old{behind}").into_bytes());
            assert_eq!(take_back(&mut medium, 3, tried.as_bytes()).unwrap(), expected, "{behind:?}");
            let length = usize::try_from(medium.len().unwrap()).unwrap();
            assert_eq!(read_exact_at(&medium, 0, length).unwrap(), left.as_bytes());
        }
        let mut shorter = MemoryMedium::new(b"ol".to_vec());
        assert!(!take_back(&mut shorter, 3, b"new").unwrap());
    }
}
