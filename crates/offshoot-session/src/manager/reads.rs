//! Methods that read a session. They write nothing.

use std::io::Write;
use std::path::Path;

use super::{MethodError, MethodInput};
use crate::entry::Source as _;
use crate::error::{Code, Diagnostic};
use crate::id::EntryId;
use crate::json::quote;
use crate::records::{write_entries, write_entry, write_tree};
use crate::session::Session;
use crate::tree::NodeIx;

type Done = Result<(), MethodError>;

pub(super) fn leaf_id(session: &Session, _: MethodInput<'_>, out: &mut dyn Write) -> Done {
    write_str(out, session.leaf_id().map(EntryId::as_str))
}

pub(super) fn leaf_entry(session: &Session, _: MethodInput<'_>, out: &mut dyn Write) -> Done {
    one(out, session, session.leaf())
}

pub(super) fn entry(session: &Session, given: MethodInput<'_>, out: &mut dyn Write) -> Done {
    one(out, session, session.tree().find(&given.params.str("id")?))
}

/// The id of the entry that a client names.
pub(super) fn find(session: &Session, given: MethodInput<'_>, out: &mut dyn Write) -> Done {
    let found = given.holder.naming.find(session, &given.params.str("entry")?)?;
    write_str(out, session.tree().node(found).id().map(EntryId::as_str))
}

/// In file order. An entry whose parent is missing is a root of the tree, but still a child of that parent id.
pub(super) fn children(session: &Session, given: MethodInput<'_>, out: &mut dyn Write) -> Done {
    given.params.raw("parentId")?;
    let tree = session.tree();
    let parent_id = given.params.opt_str("parentId")?;
    let parent = parent_id.as_deref().and_then(|id| tree.find(id));
    let children: Vec<NodeIx> = match parent {
        Some(parent) => tree.children(parent).collect(),
        None => {
            tree.roots().filter(|root| tree.parent_id(*root).map(EntryId::as_str) == parent_id.as_deref()).collect()
        }
    };
    Ok(write_entries(out, session, &children)?)
}

/// The path from the root to an entry, or to the leaf; empty if the entry does not exist.
pub(super) fn branch(session: &Session, given: MethodInput<'_>, out: &mut dyn Write) -> Done {
    let tree = session.tree();
    let end = match given.params.opt_str("fromId")? {
        Some(id) => tree.find(&id),
        None => session.leaf(),
    };
    Ok(write_entries(out, session, &end.map(|end| tree.path(end)).unwrap_or_default())?)
}

pub(super) fn tree(session: &Session, _: MethodInput<'_>, out: &mut dyn Write) -> Done {
    Ok(write_tree(out, session)?)
}

pub(super) fn entries(session: &Session, _: MethodInput<'_>, out: &mut dyn Write) -> Done {
    Ok(write_entries(out, session, &session.tree().entries().collect::<Vec<_>>())?)
}

pub(super) fn entry_count(session: &Session, _: MethodInput<'_>, out: &mut dyn Write) -> Done {
    Ok(write!(out, "{}", session.tree().len())?)
}

pub(super) fn header(session: &Session, _: MethodInput<'_>, out: &mut dyn Write) -> Done {
    Ok(out.write_all(session.header_line().as_bytes())?)
}

pub(super) fn label(session: &Session, given: MethodInput<'_>, out: &mut dyn Write) -> Done {
    let label = session.tree().label(&EntryId::new(given.params.str("id")?));
    write_str(out, label.map(|label| label.text.as_str()))
}

/// As in lists: omp's title if no entry gives a name.
pub(super) fn name(session: &Session, _: MethodInput<'_>, out: &mut dyn Write) -> Done {
    let name = session.name()?;
    write_str(out, name.as_deref().or(session.title()))
}

pub(super) fn file(session: &Session, _: MethodInput<'_>, out: &mut dyn Write) -> Done {
    write_str(out, session.file().map(Path::to_string_lossy).as_deref())
}

pub(super) fn id(session: &Session, _: MethodInput<'_>, out: &mut dyn Write) -> Done {
    write_str(out, Some(session.id()))
}

pub(super) fn cwd(session: &Session, given: MethodInput<'_>, out: &mut dyn Write) -> Done {
    write_str(out, given.holder.cwd.or(session.cwd()))
}

pub(super) fn folder(session: &Session, given: MethodInput<'_>, out: &mut dyn Write) -> Done {
    let folder = given.holder.folder.or_else(|| session.file()?.parent());
    write_str(out, folder.map(Path::to_string_lossy).as_deref())
}

pub(super) fn is_persisted(session: &Session, _: MethodInput<'_>, out: &mut dyn Write) -> Done {
    Ok(write!(out, "{}", session.file().is_some())?)
}

/// The diagnostics of the file, then those of the path to the leaf.
pub(super) fn diagnostics(session: &Session, _: MethodInput<'_>, out: &mut dyn Write) -> Done {
    let context = session.context()?;
    // Whether another program is answering is asked anew each time.
    let kept = session.diagnostics().iter().filter(|told| told.code != Code::UnansweredPrompt);
    let answering = session.foreign_prompt()?;
    let all = kept.chain(&answering).chain(&context.diagnostics);
    let all: Vec<String> = all.map(Diagnostic::to_json).collect();
    Ok(write!(out, "[{}]", all.join(","))?)
}

/// What a model gets.
pub(super) fn context(session: &Session, _: MethodInput<'_>, out: &mut dyn Write) -> Done {
    Ok(session.context()?.write_json(session, out)?)
}

/// The entries of the context, each with its message as the model gets it.
///
/// # Errors
/// The session cannot be read, or the output not be written.
pub fn context_entries(session: &Session, out: &mut dyn Write) -> Result<(), MethodError> {
    let mut separator = "";
    out.write_all(b"[")?;
    for message in session.context()?.messages(session) {
        let message = message?;
        write!(out, "{separator}{{\"sourceEntry\":")?;
        one(out, session, message.entry.as_ref().and_then(|id| session.tree().find(id.as_str())))?;
        write!(out, ",\"messages\":[{}]}}", message.json)?;
        separator = ",";
    }
    Ok(out.write_all(b"]")?)
}

fn one(out: &mut dyn Write, session: &Session, ix: Option<NodeIx>) -> Done {
    Ok(match ix {
        Some(ix) => write_entry(out, session, ix),
        None => out.write_all(b"null"),
    }?)
}

fn write_str(out: &mut dyn Write, text: Option<&str>) -> Done {
    Ok(out.write_all(text.map_or_else(|| "null".to_owned(), quote).as_bytes())?)
}
