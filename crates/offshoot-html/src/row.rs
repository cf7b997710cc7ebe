//! What the tree at the page's side needs of an entry: one JSON array, the page's index.
//!
//! `[parent, who, filters, time, id, label, text, line start, line length, beside start, beside length]`; parents are places on
//! the page or -1. Filters are bits in the order of [`Filter::NAMES`], then: a turn that only calls tools, a leaf's marker.

use offshoot_session::entry::{Entry, Source as _};
use offshoot_session::error::Result;
use offshoot_session::id::EntryId;
use offshoot_session::json::quote;
use offshoot_session::kind::{Kind, Role};
use offshoot_session::outline::Filter;
use offshoot_session::session::Session;

const SILENT: u32 = 1 << 5;
const MARKER: u32 = 1 << 6;

/// Where an entry stands.
pub(crate) struct Row {
    pub(crate) parent: i64,
    /// First byte and length in the stream of lines.
    pub(crate) line: (u64, usize),
    /// The same in the stream of what stands beside them.
    pub(crate) beside: (u64, usize),
}

impl Row {
    pub(crate) fn json(&self, session: &Session, entry: &Entry, text: &str) -> Result<String> {
        let node = session.tree().node(entry.ix);
        let time = node.time().map_or("null".to_owned(), |time| time.to_string());
        let id = quote(node.id().map_or("", EntryId::as_str));
        let label =
            node.id().and_then(|id| session.tree().label(id)).map_or("0".to_owned(), |label| quote(&label.text));
        let bits = bits(session, entry)?;
        let (line, beside) = (self.line, self.beside);
        let (parent, who, text) = (self.parent, who(entry), quote(text));
        Ok(format!(
            "[{parent},{who},{bits},{time},{id},{label},{text},{},{},{},{}]",
            line.0, line.1, beside.0, beside.1
        ))
    }
}

fn bits(session: &Session, entry: &Entry) -> Result<u32> {
    let shows = |(at, (_, filter)): (u32, &(&str, Filter))| u32::from(filter.shows(session, entry.ix)) << at;
    let filters: u32 = (0u32..).zip(&Filter::NAMES).map(shows).sum();
    let is_silent = session.facts()?.is_some_and(|facts| facts.is_silent(entry.ix));
    let is_marker = session.tree().node(entry.ix).is_leaf_marker();
    Ok(filters | if is_silent { SILENT } else { 0 } | if is_marker { MARKER } else { 0 })
}

/// Whose row it is, for its colour: 0 the person, 1 the model, 2 a tool, 3 something about the conversation, 4 the rest.
fn who(entry: &Entry) -> u8 {
    match (entry.kind, entry.role) {
        (Kind::Message, Some(Role::User)) => 0,
        (Kind::Message, Some(Role::Assistant)) => 1,
        (Kind::Message, Some(Role::ToolResult | Role::BashExecution | Role::PythonExecution)) => 2,
        (Kind::Message, _)
        | (Kind::CustomMessage | Kind::Compaction | Kind::BranchSummary | Kind::ResetBoundary, _) => 3,
        _ => 4,
    }
}
