//! Records as JSON for programs: entries line for line, and trees.
//!
//! Everything is written as it is read, one entry at a time and without recursion: no depth and no length of a session
//! piles up. An error of the library comes along inside the `io::Error`.

use std::io::{self, Write};

use offshoot_session::clock::to_iso;
use offshoot_session::entry::{Entry, Source};
use offshoot_session::id::EntryId;
use offshoot_session::json::{Object, quote};
use offshoot_session::tree::{NodeIx, Tree};

/// Writes an entry as its line stands in the file (old versions upgraded).
pub(crate) fn write_entry(out: &mut dyn Write, source: &dyn Source, ix: NodeIx) -> io::Result<()> {
    let entry = source.entry(ix).map_err(io::Error::other)?;
    match entry.damage() {
        None => out.write_all(entry.json().text().as_bytes()),
        Some(damage) => out.write_all(stand_in(source.tree(), &entry, &damage.to_string()).as_bytes()),
    }
}

/// What stands for an entry whose line is no JSON: what its head says, and what is wrong.
fn stand_in(tree: &Tree, entry: &Entry, damage: &str) -> String {
    let time = tree.node(entry.ix).time().map(to_iso);
    Object::new()
        .str("type", entry.kind.word().unwrap_or("unknown"))
        .str_or_null("id", entry.id.as_ref().map(EntryId::as_str))
        .str_or_null("parentId", tree.parent_id(entry.ix).map(EntryId::as_str))
        .str_or_null("timestamp", time.as_deref())
        .str("damage", damage)
        .finish()
}

/// Writes an array of entries.
pub(crate) fn write_entries(out: &mut dyn Write, source: &dyn Source, entries: &[NodeIx]) -> io::Result<()> {
    out.write_all(b"[")?;
    for (at, ix) in entries.iter().enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        write_entry(out, source, *ix)?;
    }
    out.write_all(b"]")
}

/// Writes the tree as pi's `getTree` gives it: an array of `{entry, children, label?, labelTimestamp?}`.
///
/// A node is closed, and its label said, when the next one stands no deeper: only the open path is kept.
pub(crate) fn write_tree(out: &mut dyn Write, source: &dyn Source) -> io::Result<()> {
    let tree = source.tree();
    let mut open: Vec<NodeIx> = Vec::new();
    let mut separator = "";
    out.write_all(b"[")?;
    for (depth, ix) in tree.walk() {
        while open.len() > depth {
            close_node(out, tree, open.pop())?;
            separator = ",";
        }
        write!(out, "{separator}{{\"entry\":")?;
        write_entry(out, source, ix)?;
        out.write_all(b",\"children\":[")?;
        open.push(ix);
        separator = "";
    }
    while let Some(ix) = open.pop() {
        close_node(out, tree, Some(ix))?;
    }
    out.write_all(b"]")
}

fn close_node(out: &mut dyn Write, tree: &Tree, ix: Option<NodeIx>) -> io::Result<()> {
    out.write_all(b"]")?;
    if let Some(label) = ix.and_then(|ix| tree.node(ix).id()).and_then(|id| tree.label(id)) {
        write!(out, ",\"label\":{}", quote(&label.text))?;
        if let Some(timestamp) = &label.timestamp {
            write!(out, ",\"labelTimestamp\":{}", quote(timestamp))?;
        }
    }
    out.write_all(b"}")
}
