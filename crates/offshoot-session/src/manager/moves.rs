//! Methods that move the leaf.

use super::appends::{made_by_hook, spelt};
use super::{MethodError, MethodInput};
use crate::compose::{NewBranchSummary, NewEntry};
use crate::entry::Source as _;
use crate::id::EntryId;
use crate::session::Session;

type Moved = Result<Option<EntryId>, MethodError>;

/// The next entry goes below this one. Writes nothing.
pub(super) fn branch(session: &mut Session, given: MethodInput<'_>) -> Moved {
    let target = given.holder.naming.find(session, &given.params.str("entryId")?)?;
    let id = session.tree().node(target).id().cloned();
    session.branch(id.as_ref().map_or("", EntryId::as_str))?;
    Ok(None)
}

/// The next entry is a root. Writes nothing.
pub(super) fn reset_leaf(session: &mut Session, _: MethodInput<'_>) -> Moved {
    session.reset_leaf();
    Ok(None)
}

/// Moves the leaf and appends a summary of the abandoned branch below it.
pub(super) fn branch_with_summary(session: &mut Session, given: MethodInput<'_>) -> Moved {
    let (params, naming) = (&given.params, &given.holder.naming);
    params.raw("entryId")?;
    let target = params.opt_str("entryId")?.map(|id| naming.find(session, &id)).transpose()?;
    let left = session.leaf_id().cloned();
    let summary = params.str("summary")?;
    let new = NewBranchSummary {
        summary: &summary,
        details: params.opt("details"),
        from_hook: made_by_hook(params)?,
        usage: params.opt("usage"),
    };
    let entry = NewEntry::branch_summary(left.as_ref().map(EntryId::as_str), &new, session.dialect());
    Ok(Some(session.append_from(target, &spelt(entry, params, &["summary"]))?))
}
