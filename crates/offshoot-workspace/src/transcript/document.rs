//! A path of a session as a Markdown document with front matter.

use std::io::Write as _;

use offshoot_session::clock::to_iso;
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::json::quote;
use offshoot_session::session::{Abridged, Session};
use offshoot_session::text::{one_line, spell_document};
use offshoot_session::transcript::items;
use offshoot_session::tree::{Node, NodeIx};

use super::markdown;
use crate::entry_words::session_title;
use crate::failure::Result;

/// The document of a path.
pub(crate) fn markdown_of(session: &Session, path: &[NodeIx]) -> Result<String> {
    let mut out = Vec::new();
    let tree = session.tree();
    let name = session_title(session)?.unwrap_or_else(|| format!("Session {}", one_line(session.id(), 60)));
    front_matter(session, path, &name, &mut out)?;
    writeln!(out, "# {}\n", markdown::escape(&name))?;
    let shown = Abridged::new(session);
    for item in items(&shown, path) {
        let (ix, item) = item?;
        let id = tree.node(ix).id();
        let label = id.and_then(|id| tree.label(id)).map(|label| one_line(&label.text, 80));
        let id = id.map_or("-", EntryId::as_str);
        markdown::write(&mut out, &item, &one_line(id, 40), label.as_deref())?;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// Facts about a path as YAML. Texts are JSON strings, which YAML reads.
fn front_matter(session: &Session, path: &[NodeIx], name: &str, out: &mut Vec<u8>) -> Result<()> {
    let tree = session.tree();
    let text = |text: &str| spell_document(&quote(&one_line(text, 4096))).into_owned();
    let end = path.last().map(|end| tree.node(*end));
    let id = end.and_then(|end| end.id()).map(|id| text(id.as_str()));
    let counted = path.iter().filter(|ix| !tree.node(**ix).is_leaf_marker()).count();
    let reported = session.facts()?.map(|facts| {
        path.iter().map(|ix| facts.usage(*ix)).fold((0_u64, 0.0), |(tokens, cost), (more_tokens, more_cost)| {
            (tokens.saturating_add(more_tokens), cost + more_cost)
        })
    });
    let members = [
        ("title", Some(text(name))),
        ("session", Some(text(session.id()))),
        ("folder", session.cwd().map(text)),
        ("started", session.header().timestamp().map(text)),
        ("last", end.and_then(Node::time).map(|time| text(&to_iso(time)))),
        ("entry", id),
        ("entries", Some(counted.to_string())),
        ("tokens", reported.map(|(tokens, _)| tokens.to_string())),
        ("cost", reported.filter(|(_, cost)| cost.is_finite()).map(|(_, cost)| format!("{cost:.4}"))),
    ];
    writeln!(out, "---")?;
    for (name, value) in members {
        if let Some(value) = value {
            writeln!(out, "{name}: {value}")?;
        }
    }
    Ok(writeln!(out, "---\n")?)
}
