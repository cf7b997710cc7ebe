//! Methods that read an open session. They write nothing.

use std::io::Write;
use std::path::Path;

use offshoot_session::entry::Source as _;
use offshoot_session::error::Code;
use offshoot_session::id::EntryId;
use offshoot_session::tree::NodeIx;

use crate::api::handles::OpenSession;
use crate::api::params::Params;
use crate::api::records::{write_array, write_entries, write_entry, write_str};
use crate::api::wire::MethodResult;
use offshoot_session::records::write_tree;

pub(in crate::api) fn leaf_id(handle: &OpenSession, _: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    write_str(out, handle.session.leaf_id().map(EntryId::as_str))
}

pub(in crate::api) fn leaf_entry(handle: &OpenSession, _: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    write_entry(out, &handle.session, handle.session.leaf())
}

pub(in crate::api) fn entry(handle: &OpenSession, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    write_entry(out, &handle.session, handle.session.tree().find(&params.str("id")?))
}

/// The id of the entry that a client names.
pub(in crate::api) fn find(handle: &OpenSession, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let found = handle.find(&params.str("entry")?)?;
    write_str(out, handle.session.tree().node(found).id().map(EntryId::as_str))
}

/// In file order. An entry whose parent is missing is a root of the tree, but still a child of that parent id.
pub(in crate::api) fn children(handle: &OpenSession, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    params.raw("parentId")?;
    let tree = handle.session.tree();
    let given = params.opt_str("parentId")?;
    let parent = given.as_deref().and_then(|id| tree.find(id));
    let children: Vec<NodeIx> = match parent {
        Some(parent) => tree.children(parent).collect(),
        None => tree.roots().filter(|root| tree.parent_id(*root).map(EntryId::as_str) == given.as_deref()).collect(),
    };
    write_entries(out, &handle.session, children)
}

/// The path from the root to an entry, or to the leaf; empty if the entry does not exist.
pub(in crate::api) fn branch(handle: &OpenSession, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let tree = handle.session.tree();
    let end = match params.opt_str("fromId")? {
        Some(id) => tree.find(&id),
        None => handle.session.leaf(),
    };
    write_entries(out, &handle.session, end.map(|end| tree.path(end)).unwrap_or_default())
}

pub(in crate::api) fn tree(handle: &OpenSession, _: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    Ok(write_tree(out, &handle.session)?)
}

pub(in crate::api) fn entries(handle: &OpenSession, _: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    write_entries(out, &handle.session, handle.session.tree().entries())
}

pub(in crate::api) fn entry_count(handle: &OpenSession, _: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    Ok(write!(out, "{}", handle.session.tree().len())?)
}

pub(in crate::api) fn header(handle: &OpenSession, _: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    Ok(out.write_all(handle.session.header_line().as_bytes())?)
}

pub(in crate::api) fn label(handle: &OpenSession, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let label = handle.session.tree().label(&EntryId::new(params.str("id")?));
    write_str(out, label.map(|label| label.text.as_str()))
}

/// As in lists: omp's title if no entry gives a name.
pub(in crate::api) fn name(handle: &OpenSession, _: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let name = handle.session.name()?;
    write_str(out, name.as_deref().or(handle.session.title()))
}

pub(in crate::api) fn file(handle: &OpenSession, _: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    write_str(out, handle.session.file().map(Path::to_string_lossy).as_deref())
}

pub(in crate::api) fn id(handle: &OpenSession, _: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    write_str(out, Some(handle.session.id()))
}

pub(in crate::api) fn cwd(handle: &OpenSession, _: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    write_str(out, Some(&handle.cwd))
}

pub(in crate::api) fn folder(handle: &OpenSession, _: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    write_str(out, handle.folder.as_deref().map(Path::to_string_lossy).as_deref())
}

pub(in crate::api) fn is_persisted(handle: &OpenSession, _: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    Ok(write!(out, "{}", handle.session.file().is_some())?)
}

/// The diagnostics of the file, then those of the path to the leaf.
pub(in crate::api) fn diagnostics(handle: &OpenSession, _: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let context = handle.session.context()?;
    // Whether another program is answering is asked anew each time.
    let kept = handle.session.diagnostics().iter().filter(|told| told.code != Code::UnansweredPrompt);
    let answering = handle.session.foreign_prompt()?;
    let all = kept.chain(&answering).chain(&context.diagnostics);
    write_array(out, all, |out, diagnostic| Ok(out.write_all(diagnostic.to_json().as_bytes())?))
}
