//! Methods that move the leaf, in memory or in the file, or extract a branch into its own session.

use std::io::Write;
use std::path::Path;

use offshoot_session::compose::NewEntry;
use offshoot_session::entry::Source as _;
use offshoot_session::manager::Params;
use offshoot_session::session::{NewFork, SessionPart};
use offshoot_session::store::file_name;

use super::construct::fork_name;
use crate::api::handles::OpenSession;
use crate::api::records::{write_array, write_id, write_null, write_str};
use crate::api::wire::MethodResult;

/// Moves the leaf for every program that opens the file later.
pub(in crate::api) fn switch(handle: &mut OpenSession, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let target = handle.find(&params.str("entryId")?)?;
    let session = &mut handle.session;
    session.switch(target)?;
    let id = session.leaf_id().cloned();
    write_id(out, id.as_ref(), session)
}

/// Appends below any entry, or as a root; the leaf stays.
pub(in crate::api) fn message_to_branch(
    handle: &mut OpenSession,
    params: &Params<'_>,
    out: &mut dyn Write,
) -> MethodResult {
    params.raw("parentId")?;
    let session = &mut handle.session;
    let parent = params.opt_str("parentId")?.map(|id| session.find(&id)).transpose()?;
    let ix = session.append_below(&NewEntry::message(params.raw("message")?)?, parent)?;
    let id = session.tree().node(ix).id().cloned();
    write_id(out, id.as_ref(), session)
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
