//! A tree as lines, one per entry, from envelopes alone. Memory does not grow with the depth.

use std::io::{self, Write};

use offshoot_session::entry::Source as _;
use offshoot_session::kind::{Kind, Role};
use offshoot_session::outline::Filter;
use offshoot_session::session::Session;
use offshoot_session::text::one_line;
use offshoot_session::tree::{Node, Tree};

/// Writes `DEPTH ID TYPE [ROLE] [LABEL]` for every entry that passes the filter.
pub(super) fn write(session: &Session, filter: Filter, out: &mut dyn Write) -> io::Result<()> {
    let tree = session.tree();
    for (depth, ix) in tree.walk() {
        let node = tree.node(ix);
        if !shows(tree, node, filter) {
            continue;
        }
        match node.id() {
            Some(id) => write!(out, "{depth} {}", harmless(id.as_str()))?,
            None => write!(out, "{depth} -")?,
        }
        match node.kind().word() {
            Some(word) => write!(out, " {word}")?,
            None => {
                let entry = session.entry(ix).map_err(io::Error::other)?;
                write!(out, " {}", harmless(&entry.str("type").unwrap_or("?".into())))?;
            }
        }
        if let Some(role) = node.role() {
            write!(out, " {}", role.word().unwrap_or("?"))?;
        }
        if let Some(label) = node.id().and_then(|id| tree.label(id)) {
            write!(out, " [{}]", one_line(&label.text, 80))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Whether the filter accepts an entry, by its type.
fn shows(tree: &Tree, node: &Node, filter: Filter) -> bool {
    let is_talk = matches!(node.kind(), Kind::Message | Kind::CustomMessage | Kind::Compaction | Kind::BranchSummary);
    match filter {
        Filter::All => true,
        Filter::Default => is_talk,
        Filter::NoTools => is_talk && node.role() != Some(Role::ToolResult),
        Filter::UserOnly => node.role() == Some(Role::User),
        Filter::LabeledOnly => node.id().is_some_and(|id| tree.label(id).is_some()),
    }
}

/// A word without control characters and line breaks.
fn harmless(word: &str) -> std::borrow::Cow<'_, str> {
    if word.bytes().all(|byte| byte.is_ascii_graphic()) { word.into() } else { one_line(word, 200).into() }
}
