//! Where the original of a copy or of a merge is: in the session, in one that it was forked from, or in another one.

use offshoot_session::entry::Source as _;
use offshoot_session::provenance::{Ancestor, Origin};
use offshoot_session::session::{Session, SpillPolicy};
use offshoot_session::text::one_line;
use offshoot_session::tree::NodeIx;

use crate::place::Place;

/// Finds an original in the sessions of a chain of forks, and in the one that the origin names. What cannot be read is
/// passed over.
#[must_use]
pub fn find_elsewhere(place: &Place, ancestors: &[Ancestor], origin: &Origin) -> Option<(Session, NodeIx)> {
    let may_have = |ancestor: &&Ancestor| origin.session.as_ref().is_none_or(|named| *named == ancestor.id);
    let along = ancestors.iter().filter(may_have).filter_map(|ancestor| ancestor.file.clone());
    let named = origin.session.iter().filter_map(|named| place.store().ok()?.path_of(named).ok());
    along.chain(named).find_map(|file| {
        let session = place.open_file(&file, SpillPolicy::Temporary).ok()?;
        let ix = session.tree().find(origin.id.as_str())?;
        Some((session, ix))
    })
}

/// The words for an original that no session has.
#[must_use]
pub fn not_here(origin: &Origin) -> String {
    let of = origin.session.as_ref().map(|session| format!(" of session {}", one_line(session, 80)));
    format!("source not here: entry {}{}", one_line(origin.id.as_str(), 40), of.unwrap_or_default())
}
