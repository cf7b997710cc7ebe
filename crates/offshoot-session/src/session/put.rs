//! The moment of writing: bytes behind the end of a locked medium, and what a failure leaves there.
//!
//! A write that fails is taken back: what stands behind the old end is cut off again, if it is the beginning of exactly
//! what was to be written and nothing else. Knows bytes and nodes to be, not the tree.

use std::io;

use super::Durability;
use super::standing::Broken;
use crate::error::{Conflict, Error};
use crate::medium::{Medium, read_exact_at};
use crate::tree::NewNode;

/// Lines that are written together.
pub(super) struct Batch {
    pub(super) start: u64,
    /// With everything that has to stand before them.
    pub(super) bytes: String,
    pub(super) nodes: Vec<NewNode>,
}

impl Batch {
    pub(super) fn line(&self, node: &NewNode) -> &str {
        let place = |at: u64| usize::try_from(at - self.start).unwrap_or(usize::MAX);
        self.bytes.get(place(node.offset)..place(node.offset + node.length)).unwrap_or_default()
    }
}

/// A write that did not happen.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) error: Error,
    /// Why the session cannot simply go on; `None` if the medium is as it was.
    pub(super) broken: Option<Broken>,
}

/// Puts bytes behind the `known` ones of a medium whose lock is held.
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
    // After a failed sync the system may have dropped what it could not write: nothing that is read is evidence. What was
    // not acknowledged should not seem to be there.
    synced.map_err(|error| {
        drop(take_back(medium, known, bytes));
        let broken = Some(Broken::ForGood(Conflict::SyncFailed));
        Box::new(Failed { error: Error::io("sync", &path)(error), broken })
    })
}

/// Cuts off what a failed append of `tried` left behind `known`; answers whether the medium is as it was.
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
