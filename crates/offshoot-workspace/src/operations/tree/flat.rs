//! A tree as lines, one per entry, from envelopes alone. Memory does not grow with the depth.

use offshoot_session::entry::Source;
use offshoot_session::kind::{Kind, Role};
use offshoot_session::outline::Filter;
use offshoot_session::text::one_line;
use offshoot_session::tree::{Node, Tree};

use crate::failure::Result;
use crate::words::{Line, Say};

/// Says `DEPTH ID TYPE [ROLE] [LABEL]` for every entry that passes the filter.
pub(super) fn say(source: &dyn Source, filter: Filter, say: &mut Say<'_>) -> Result<()> {
    let tree = source.tree();
    for (depth, ix) in tree.walk() {
        let node = tree.node(ix);
        if !shows(tree, node, filter) {
            continue;
        }
        let id = node.id().map_or("-".into(), |id| harmless(id.as_str()));
        let mut line = format!("{depth} {id} ");
        match node.kind().word() {
            Some(word) => line += word,
            None => line += &harmless(&source.entry(ix)?.str("type").unwrap_or("?".into())),
        }
        if let Some(role) = node.role() {
            line = line + " " + role.word().unwrap_or("?");
        }
        if let Some(label) = node.id().and_then(|id| tree.label(id)) {
            line = line + " [" + &one_line(&label.text, 80) + "]";
        }
        say(&Line::from(line).into())?;
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
