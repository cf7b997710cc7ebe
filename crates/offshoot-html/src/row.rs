//! The page's index: one JSON array for each entry, from which the script lays out the tree.
//!
//! `[parent, who, bits, time, id, label, text, line start, line length, beside start, beside length, cost, words]`. Parents
//! are places on the page or -1. The first bits are filters in the order of [`Filter::NAMES`]. `words` are what the user or
//! the model says there: 1 if `text` has them after `: `, 0 if the entry says nothing.

use std::sync::Arc;

use offshoot_session::entry::{Entry, Source};
use offshoot_session::error::Result;
use offshoot_session::facts::Facts;
use offshoot_session::id::EntryId;
use offshoot_session::json::quote;
use offshoot_session::kind::{Kind, KindClass, Role};
use offshoot_session::outline::{Filter, Folds, Outline, Scope, Sums};
use offshoot_session::tree::NodeIx;

const MARKER: u8 = 1 << 5;
/// The entry may share a row with other results of tool calls.
const JOINS_RUNS: u8 = 1 << 6;
const TIP: u8 = 1 << 7;

pub(crate) struct PageEntry {
    pub(crate) parent: i64,
    /// Start and length in the stream of lines.
    pub(crate) line: (u64, usize),
    /// Start and length in the stream of [`crate::beside`] objects.
    pub(crate) beside: (u64, usize),
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
        let (line, beside) = (self.line, self.beside);
        let (parent, who, text) = (self.parent, who(entry), quote(&text));
        Ok(format!(
            "[{parent},{who},{bits},{time},{id},{label},{text},{},{},{},{},{cost},{said}]",
            line.0, line.1, beside.0, beside.1
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

    /// Dollars.
    fn cost(&self, ix: NodeIx) -> f64 {
        let cost = self.facts.as_ref().map_or(0.0, |facts| facts.usage(ix).1);
        if cost.is_finite() { cost } else { 0.0 }
    }
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
