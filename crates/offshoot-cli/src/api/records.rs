//! Records as they stand in answers: entries line for line, arrays of them, trees.
//!
//! Everything is written as it is read, one entry at a time, and without recursion. Knows no methods.

use std::io::Write;

use offshoot_session::entry::Source;
use offshoot_session::id::EntryId;
use offshoot_session::json::{Object, quote};
use offshoot_session::tree::NodeIx;

use super::wire::Outcome;

/// Writes `null`, the answer of methods that have nothing to say.
pub(super) fn write_null(out: &mut dyn Write) -> Outcome {
    Ok(out.write_all(b"null")?)
}

/// Writes a string, or `null`.
pub(super) fn write_str(out: &mut dyn Write, text: Option<&str>) -> Outcome {
    match text {
        Some(text) => Ok(out.write_all(quote(text).as_bytes())?),
        None => write_null(out),
    }
}

/// Writes the answer of an append.
pub(super) fn write_id(out: &mut dyn Write, id: Option<&EntryId>) -> Outcome {
    Ok(out.write_all(Object::new().str_or_null("id", id.map(EntryId::as_str)).finish().as_bytes())?)
}

/// Writes an entry as its line stands (old versions upgraded), or `null`.
pub(super) fn write_entry(out: &mut dyn Write, source: &dyn Source, ix: Option<NodeIx>) -> Outcome {
    match ix {
        Some(ix) => Ok(out.write_all(source.entry(ix)?.to_json(source.tree()).as_bytes())?),
        None => write_null(out),
    }
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
/// A node is closed, and its label said, when the next one stands no deeper: all that is kept is the open path.
pub(super) fn write_tree(out: &mut dyn Write, source: &dyn Source) -> Outcome {
    let mut open: Vec<NodeIx> = Vec::new();
    let mut is_first = true;
    out.write_all(b"[")?;
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
    while !open.is_empty() {
        close_node(out, source, open.pop())?;
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

#[cfg(test)]
mod tests {
    use offshoot_session::session::{Options, Session};

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
