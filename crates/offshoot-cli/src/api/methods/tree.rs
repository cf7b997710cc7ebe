//! Methods that move the leaf, in memory or in the file, or extract a branch into its own session.

use std::io::Write;
use std::path::Path;

use offshoot_session::compose::{NewBranchSummary, NewEntry};
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::session::{NewFork, SessionPart};
use offshoot_session::store::file_name;

use super::append::{made_by_hook, spelt};
use super::construct::fork_name;
use crate::api::handles::OpenSession;
use crate::api::params::Params;
use crate::api::records::{write_array, write_id, write_null, write_str};
use crate::api::wire::MethodResult;

/// The next entry goes below this one. Writes nothing.
pub(in crate::api) fn branch(handle: &mut OpenSession, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let target = handle.find(&params.str("entryId")?)?;
    let id = handle.session.tree().node(target).id().cloned();
    handle.session.branch(id.as_ref().map_or("", EntryId::as_str))?;
    write_null(out)
}

/// The next entry is a root. Writes nothing.
pub(in crate::api) fn reset_leaf(handle: &mut OpenSession, _: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    handle.session.reset_leaf();
    write_null(out)
}

/// Moves the leaf for every program that opens the file later.
pub(in crate::api) fn switch(handle: &mut OpenSession, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let target = handle.find(&params.str("entryId")?)?;
    let session = &mut handle.session;
    session.switch(target)?;
    let id = session.leaf_id().cloned();
    write_id(out, id.as_ref(), session)
}

/// Moves the leaf and appends a summary of the abandoned branch below it.
pub(in crate::api) fn branch_with_summary(
    handle: &mut OpenSession,
    params: &Params<'_>,
    out: &mut dyn Write,
) -> MethodResult {
    params.raw("entryId")?;
    let target = params.opt_str("entryId")?.map(|id| handle.find(&id)).transpose()?;
    let session = &mut handle.session;
    let left = session.leaf_id().cloned();
    let summary = params.str("summary")?;
    let new = NewBranchSummary {
        summary: &summary,
        details: params.opt("details"),
        from_hook: made_by_hook(params)?,
        usage: params.opt("usage"),
    };
    let entry = NewEntry::branch_summary(left.as_ref().map(EntryId::as_str), &new, session.dialect());
    let entry = spelt(entry, params, &["summary"]);
    let id = session.append_from(target, &entry)?;
    write_id(out, Some(&id), session)
}

/// Appends the entries that this or another program could not write.
pub(in crate::api) fn append_spilled(handle: &mut OpenSession, _: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let ids = handle.session.append_spilled()?;
    write_array(out, &ids, |out, id| write_str(out, Some(id.as_str())))
}

/// Writes the file again after another program deleted it.
pub(in crate::api) fn recreate(handle: &mut OpenSession, _: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    handle.session.recreate()?;
    write_null(out)
}

/// Replaces the session of a number with the path to an entry, as a new session.
pub(in crate::api) fn create_branched(
    handle: &mut OpenSession,
    params: &Params<'_>,
    out: &mut dyn Write,
) -> MethodResult {
    let leaf = handle.find(&params.str("leafId")?)?;
    let folder = handle.folder.clone().unwrap_or_default();
    let place = |id: &str, timestamp: &str| folder.join(file_name(id, timestamp));
    let name = fork_name(params)?;
    let fork = NewFork { part: SessionPart::Path(leaf), id: None, cwd: Some(&handle.cwd), name: name.as_deref() };
    let made = handle.session.become_fork(&fork, place)?;
    write_str(out, made.file.as_deref().map(Path::to_string_lossy).as_deref())
}
