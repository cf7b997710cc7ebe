//! Entries that extensions draft for the end of a turn: the methods that append, without ids, and with what a draft may leave out.

use super::{AppendMethod, MethodError, Params, appends};
use crate::compose::NewEntry;
use crate::context::weigh;
use crate::entry::Source as _;
use crate::json::{Json, Object};
use crate::session::Session;

/// The types of drafts.
const DRAFTS: &[(&str, AppendMethod)] = &[
    ("custom", appends::custom),
    ("custom_message", appends::custom_message),
    ("context_edit", appends::context_edit),
    ("compaction", appends::compaction),
];

/// The entry that a draft describes.
///
/// # Errors
/// The draft is of another type, lacks something, or is about an entry that is not here.
pub fn drafted(session: &Session, draft: Json<'_>) -> Result<NewEntry, MethodError> {
    let kind = draft.str("type").unwrap_or_default();
    let Some((word, make)) = DRAFTS.iter().find(|(word, _)| *word == kind) else {
        let words: Vec<&str> = DRAFTS.iter().map(|(word, _)| *word).collect();
        return Err(MethodError::argument(format!("{kind:?} is none of {}", words.join(", "))));
    };
    let mut whole = Object::new().raw("display", true).raw("firstKeptEntryId", "null").raw("replacement", "null");
    for (name, value) in draft.members().filter(|(_, value)| !value.is_null()) {
        whole = whole.json(&name, value);
    }
    if *word == "compaction" {
        check_kept(session, draft)?;
        let before = weigh(session, session.leaf(), session.dialect()).map_or(0, |before| before.stored_total());
        whole = whole.raw("tokensBefore", before).raw("fromHook", true);
    }
    // Of members with one name the last counts.
    make(session, &Params::new(Some(Json::trusted(&whole.finish()))))
}

fn check_kept(session: &Session, draft: Json<'_>) -> Result<(), MethodError> {
    let Some(id) = Params::new(Some(draft)).opt_str("firstKeptEntryId")? else { return Ok(()) };
    let kept = session.find(&id)?;
    match session.leaf().is_some_and(|leaf| session.tree().ancestors(leaf).any(|ix| ix == kept)) {
        true => Ok(()),
        false => Err(MethodError::argument(format!("it keeps from {id}, which is not on this branch"))),
    }
}
