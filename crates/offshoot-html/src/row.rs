//! The page's index: one JSON array for each entry, from which the script lays out the tree.
//!
//! `[parent, who, bits, time, id, label, text, gap, line length, beside length, cost, words, tokens, files, mark]`. Parents
//! are places on the page or -1. The first bits are filters in the order of [`Filter::NAMES`]. `gap` is the number of bytes
//! between the previous entry's line and this one. `words` are what the user or the model says there: 1 if `text` has them
//! after `: `, 0 if the entry says nothing. `files` are `[path, 1 if changed]` for each call, or 0; `mark` says where a copy or
//! a merge comes from.

use std::sync::Arc;

use offshoot_session::entry::{Entry, Source};
use offshoot_session::error::Result;
use offshoot_session::facts::Facts;
use offshoot_session::id::EntryId;
use offshoot_session::json::quote;
use offshoot_session::kind::{Kind, KindClass, Role};
use offshoot_session::outline::{Filter, Folds, Outline, Scope, Sums};
use offshoot_session::provenance;
use offshoot_session::text::one_line;
use offshoot_session::transcript::call_blocks;
use offshoot_session::tree::NodeIx;

/// The most calls of an answer whose files are named, and the longest path.
const MOST_CALLS: usize = 200;
const LONGEST_PATH: usize = 300;

const MARKER: u8 = 1 << 5;
/// The entry may share a row with other results of tool calls.
const JOINS_RUNS: u8 = 1 << 6;
const TIP: u8 = 1 << 7;

pub(crate) struct PageEntry {
    pub(crate) parent: i64,
    /// Bytes before its line that belong to no entry, and the length of the line.
    pub(crate) line: (u64, u64),
    /// The length of its [`crate::beside`] object.
    pub(crate) beside: u64,
}

impl PageEntry {
    pub(crate) fn json(&self, session: &dyn Source, entry: &Entry, rows: &TreeRows) -> Result<String> {
        let node = session.tree().node(entry.ix);
        let time = node.time().map_or("null".to_owned(), |time| time.to_string());
        let id = quote(node.id().map_or("", EntryId::as_str));
        let label =
            node.id().and_then(|id| session.tree().label(id)).map_or("0".to_owned(), |label| quote(&label.text));
        let (bits, cost) = (rows.bits(session, entry.ix), rows.cost(entry.ix));
        let text = rows.outline.text(session, entry.ix)?;
        let said = match rows.outline.words(entry) {
            None => "0".to_owned(),
            Some(said) if text.split_once(": ").is_some_and(|(_, rest)| rest == said) => "1".to_owned(),
            Some(said) => quote(&said),
        };
        let (tokens, files) = (rows.tokens(entry), files(entry));
        let mark = provenance::mark(session, entry.ix)?.map_or("0".to_owned(), |mark| quote(&mark));
        let ((gap, length), beside) = (self.line, self.beside);
        let (parent, who, text) = (self.parent, who(entry), quote(&text));
        Ok(format!(
            "[{parent},{who},{bits},{time},{id},{label},{text},{gap},{length},{beside},{cost},{said},{tokens},{files},{mark}]"
        ))
    }
}

/// What the tree's rows show of all entries.
pub(crate) struct TreeRows {
    outline: Outline,
    sums: Sums,
    facts: Option<Arc<Facts>>,
    /// Which filters show which entries, by index in the tree.
    shown: Vec<u8>,
}

impl TreeRows {
    pub(crate) fn new(session: &dyn Source, mut outline: Outline) -> Result<Self> {
        let tree = session.tree();
        let sums = Sums::new(session, &outline)?;
        let mut shown = vec![0; tree.entries().next_back().map_or(0, |last| last.index() + 1)];
        let open = Folds::everything_open();
        for (at, (_, filter)) in Filter::NAMES.iter().enumerate() {
            outline.arrange(tree, Scope { filter: *filter, folds: Some(&open), ..Scope::default() });
            for ix in (0..outline.len()).filter_map(|row| outline.entry(row)) {
                if let Some(bits) = shown.get_mut(ix.index()) {
                    *bits |= 1 << at;
                }
            }
        }
        Ok(Self { outline, sums, facts: session.facts()?, shown })
    }

    fn bits(&self, session: &dyn Source, ix: NodeIx) -> u8 {
        let bits = [
            (session.tree().node(ix).is_leaf_marker(), MARKER),
            (self.outline.joins_runs(ix), JOINS_RUNS),
            (self.sums.is_tip(ix), TIP),
        ];
        let shown = self.shown.get(ix.index()).copied().unwrap_or(0);
        bits.iter().filter(|(is_set, _)| *is_set).fold(shown, |bits, (_, bit)| bits | bit)
    }

    /// The tokens of the context that the model answered to, with the answer.
    fn tokens(&self, entry: &Entry) -> u64 {
        if entry.role != Some(Role::Assistant) {
            0
        } else {
            self.facts.as_ref().map_or(0, |facts| facts.usage(entry.ix).0)
        }
    }

    /// Dollars.
    fn cost(&self, ix: NodeIx) -> f64 {
        let cost = self.facts.as_ref().map_or(0.0, |facts| facts.usage(ix).1);
        if cost.is_finite() { cost } else { 0.0 }
    }
}

/// The files that an answer's calls read and change, in order.
fn files(entry: &Entry) -> String {
    let message = entry.message().filter(|_| entry.role == Some(Role::Assistant));
    let calls = message.into_iter().flat_map(call_blocks).take(MOST_CALLS);
    let files = calls.filter_map(|call| {
        let is_change = match call.str("name").as_deref() {
            Some("read") => 0,
            Some("write" | "edit") => 1,
            _ => return None,
        };
        let path = call.get("arguments")?.str("path").filter(|path| !path.is_empty())?;
        Some(format!("[{},{is_change}]", quote(&one_line(&path, LONGEST_PATH))))
    });
    let files: Vec<String> = files.collect();
    if files.is_empty() { "0".to_owned() } else { format!("[{}]", files.join(",")) }
}

/// The class of a row, which chooses its colour: 0 user, 1 model, 2 tool, 3 other conversation entry, 4 setting or
/// unknown entry, 5 bookkeeping, whose text the page does not show.
fn who(entry: &Entry) -> u8 {
    match (entry.kind, entry.role) {
        (Kind::Message, Some(Role::User)) => 0,
        (Kind::Message, Some(Role::Assistant)) => 1,
        (Kind::Message, Some(Role::ToolResult | Role::BashExecution | Role::PythonExecution)) => 2,
        (Kind::Unknown, _) => 4,
        (kind, _) => match kind.class() {
            KindClass::Conversation => 3,
            KindClass::Setting => 4,
            KindClass::State | KindClass::Bookkeeping => 5,
        },
    }
}
