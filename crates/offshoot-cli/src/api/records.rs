//! Records as they stand in answers: entries line for line, trees, headers, diagnostics.
//!
//! Everything is written as it is read, one entry at a time, and without recursion. Knows no methods.

use std::io::Write;

use offshoot_session::clock::to_iso;
use offshoot_session::entry::{Entry, Source};
use offshoot_session::error::Diagnostic;
use offshoot_session::header::{CURRENT_VERSION, Header};
use offshoot_session::id::EntryId;
use offshoot_session::json::{Object, quote};
use offshoot_session::tree::NodeIx;

use super::wire::Outcome;

/// Writes a string, or `null`.
pub(super) fn write_str(out: &mut dyn Write, text: Option<&str>) -> Outcome {
    let json = text.map_or("null".to_owned(), quote);
    Ok(out.write_all(json.as_bytes())?)
}

/// Writes `null`, the answer of methods that have nothing to say.
pub(super) fn write_null(out: &mut dyn Write) -> Outcome {
    Ok(out.write_all(b"null")?)
}

/// Writes the answer of an append.
pub(super) fn write_id(out: &mut dyn Write, id: Option<&EntryId>) -> Outcome {
    Ok(out.write_all(Object::new().str_or_null("id", id.map(EntryId::as_str)).finish().as_bytes())?)
}

/// Writes an entry as its line stands (old versions upgraded), or `null`.
pub(super) fn write_entry(out: &mut dyn Write, source: &dyn Source, ix: Option<NodeIx>) -> Outcome {
    let Some(ix) = ix else { return write_null(out) };
    let entry = source.entry(ix)?;
    match entry.damage() {
        None => Ok(out.write_all(entry.json().text().as_bytes())?),
        Some(damage) => Ok(out.write_all(stand_in(source, &entry, &damage.to_string()).as_bytes())?),
    }
}

/// What stands for an entry whose line is no JSON: what its head says, and what is wrong.
fn stand_in(source: &dyn Source, entry: &Entry, damage: &str) -> String {
    let node = source.tree().node(entry.ix);
    let time = node.time().map(to_iso);
    Object::new()
        .str("type", entry.kind.word().unwrap_or("unknown"))
        .str_or_null("id", entry.id.as_ref().map(EntryId::as_str))
        .str_or_null("parentId", source.tree().parent_id(entry.ix).map(EntryId::as_str))
        .str_or_null("timestamp", time.as_deref())
        .str("damage", damage)
        .finish()
}

/// Writes an array of entries.
pub(super) fn write_entries(
    out: &mut dyn Write,
    source: &dyn Source,
    entries: impl IntoIterator<Item = NodeIx>,
) -> Outcome {
    write_array(out, entries, |out, ix| write_entry(out, source, Some(ix)))
}

/// Writes an array, item by item.
pub(super) fn write_array<T>(
    out: &mut dyn Write,
    items: impl IntoIterator<Item = T>,
    mut write: impl FnMut(&mut dyn Write, T) -> Outcome,
) -> Outcome {
    out.write_all(b"[")?;
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        write(out, item)?;
    }
    Ok(out.write_all(b"]")?)
}

/// Writes the tree as nested nodes `{entry, children, label?, labelTimestamp?}`.
///
/// A node is closed, and its label said, when the next one stands no deeper: the only thing kept is the open path.
pub(super) fn write_tree(out: &mut dyn Write, source: &dyn Source) -> Outcome {
    let mut open: Vec<NodeIx> = Vec::new();
    out.write_all(b"[")?;
    let mut is_first = true;
    for (depth, ix) in source.tree().walk() {
        while open.len() > depth {
            close_node(out, source, open.pop())?;
            is_first = false;
        }
        out.write_all(if is_first { b"{\"entry\":" } else { b",{\"entry\":" })?;
        write_entry(out, source, Some(ix))?;
        out.write_all(b",\"children\":[")?;
        open.push(ix);
        is_first = true;
    }
    while let Some(ix) = open.pop() {
        close_node(out, source, Some(ix))?;
    }
    Ok(out.write_all(b"]")?)
}

fn close_node(out: &mut dyn Write, source: &dyn Source, ix: Option<NodeIx>) -> Outcome {
    out.write_all(b"]")?;
    let tree = source.tree();
    if let Some(label) = ix.and_then(|ix| tree.node(ix).id()).and_then(|id| tree.label(id)) {
        write!(out, ",\"label\":{}", quote(&label.text))?;
        if let Some(timestamp) = &label.timestamp {
            write!(out, ",\"labelTimestamp\":{}", quote(timestamp))?;
        }
    }
    Ok(out.write_all(b"}")?)
}

/// The header as version 3 has it.
pub(super) fn header_line(header: &Header) -> String {
    if header.version() >= CURRENT_VERSION {
        return header.json().text().to_owned();
    }
    let others = header.json().members().filter(|(name, _)| name != "version");
    let object = others.fold(Object::new(), |object, (name, value)| object.json(&name, value));
    object.raw("version", CURRENT_VERSION).finish()
}

/// A diagnostic as an object.
pub(super) fn diagnostic(diagnostic: &Diagnostic) -> String {
    let object = Object::new().str("code", diagnostic.code.as_str()).str("severity", diagnostic.severity().as_str());
    match diagnostic.line {
        Some(line) => object.raw("line", line),
        None => object.raw("line", "null"),
    }
    .raw("offset", diagnostic.offset)
    .str_or_null("entryId", diagnostic.entry.as_ref().map(EntryId::as_str))
    .str("message", &diagnostic.message)
    .finish()
}
