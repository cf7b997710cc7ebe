//! What only the holder of a session knows: where its successors go, and how its callers name entries.

use std::path::Path;

use super::MethodError;
use crate::clock::Millis;
use crate::entry::Source as _;
use crate::entry_name::{Here, find_entry};
use crate::id::{EntryId, SHORTEST_ID};
use crate::session::Session;
use crate::tree::NodeIx;
use crate::zone::Zone;

/// What methods need besides the session.
#[derive(Debug, Clone)]
pub struct Holder<'a> {
    /// The working directory of successors; `None` is the session's.
    pub cwd: Option<&'a str>,
    /// The folder of successors; `None` is that of the session's file.
    pub folder: Option<&'a Path>,
    /// What names an entry to which the leaf moves.
    pub naming: EntryNaming,
}

/// What names an entry.
#[derive(Debug, Clone)]
pub enum EntryNaming {
    /// Its id, as in pi.
    Id,
    /// Its id, the start of one, a label, `@`, or a time; see [`find_entry`].
    Any {
        /// For times such as `2h`.
        now: Millis,
        /// For times without an offset.
        zone: Zone,
    },
}

impl EntryNaming {
    /// The entry with this name.
    ///
    /// # Errors
    /// There is none, there are several, or the start of an id is too short.
    pub fn find(&self, session: &Session, name: &str) -> Result<NodeIx, MethodError> {
        let Self::Any { now, zone } = self else { return Ok(session.find(name)?) };
        let found = find_entry(session.tree(), name, Here { leaf: session.leaf(), now: *now, zone })?;
        let id = session.tree().node(found).id().map_or("", EntryId::as_str);
        if name.len() < SHORTEST_ID && id.starts_with(name) && id != name {
            let why = format!("{name:?} is too short: give at least {SHORTEST_ID} characters");
            return Err(MethodError::argument(why));
        }
        Ok(found)
    }
}
