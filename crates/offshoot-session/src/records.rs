//! Entries and trees as JSON.
//!
//! Entries are written one at a time, without recursion, so memory does not grow with a session's length or depth. A
//! library error is wrapped in the `io::Error`.

use std::io::{self, Write};

use crate::entry::Source;
use crate::json::quote;
use crate::tree::{NodeIx, Tree};

/// Writes an entry's line as stored (old versions upgraded); for a damaged line an object that says where it breaks.
///
/// # Errors
/// The entry cannot be read, or the output not be written.
pub fn write_entry(out: &mut dyn Write, source: &dyn Source, ix: NodeIx) -> io::Result<()> {
    let entry = source.entry(ix).map_err(io::Error::other)?;
    out.write_all(entry.to_json(source.tree()).as_bytes())
}

/// Writes entries as an array.
///
/// # Errors
/// An entry cannot be read, or the output not be written.
pub fn write_entries(out: &mut dyn Write, source: &dyn Source, entries: &[NodeIx]) -> io::Result<()> {
    out.write_all(b"[")?;
    for (at, ix) in entries.iter().enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        write_entry(out, source, *ix)?;
    }
    out.write_all(b"]")
}

/// Writes the tree like pi's `getTree`: an array of `{entry, children, label?, labelTimestamp?}`.
///
/// Only the open path is kept: a node is closed, with its label, when the next one is not below it.
///
/// # Errors
/// An entry cannot be read, or the output not be written.
pub fn write_tree(out: &mut dyn Write, source: &dyn Source) -> io::Result<()> {
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

#[cfg(test)]
mod tests {
    use crate::session::{Options, Session};

    use super::*;

    fn tree(entries: &str) -> String {
        let text = format!("{{\"type\":\"session\",\"version\":3,\"id\":\"s\"}}\n{entries}");
        let session = Session::from_text(&text, Options::default()).unwrap();
        let mut out = Vec::new();
        write_tree(&mut out, &session).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn entry(id: &str, parent: &str) -> String {
        format!("{{\"type\":\"x\",\"id\":\"{id}\",\"parentId\":{parent}}}\n")
    }

    #[test]
    fn nodes_are_nested_and_labelled() {
        let label = "{\"type\":\"label\",\"id\":\"l\",\"parentId\":\"c\",\"timestamp\":\"t\",\"targetId\":\"a\",\"label\":\"L\"}\n";
        let entries =
            [entry("a", "null"), entry("b", "\"a\""), entry("c", "\"a\""), label.to_owned(), entry("r", "null")];
        let expected = concat!(
            r#"[{"entry":{"type":"x","id":"a","parentId":null},"children":["#,
            r#"{"entry":{"type":"x","id":"b","parentId":"a"},"children":[]},"#,
            r#"{"entry":{"type":"x","id":"c","parentId":"a"},"children":["#,
            r#"{"entry":{"type":"label","id":"l","parentId":"c","timestamp":"t","targetId":"a","label":"L"},"children":[]}]}"#,
            r#"],"label":"L","labelTimestamp":"t"},"#,
            r#"{"entry":{"type":"x","id":"r","parentId":null},"children":[]}]"#,
        );
        assert_eq!(tree(&entries.concat()), expected);
        assert_eq!(tree(""), "[]");
    }

    #[test]
    fn depth_costs_no_stack() {
        let mut entries = entry("0", "null");
        for at in 1..200_000 {
            entries.push_str(&entry(&at.to_string(), &format!("\"{}\"", at - 1)));
        }
        assert!(tree(&entries).ends_with(&format!("{}]", "]}".repeat(200_000))));
    }
}
