//! What was found: hits with their places, and the order in which people see them.

use std::cmp::{Ordering, Reverse};
use std::path::PathBuf;

use offshoot_session::clock::Millis;
use offshoot_session::error::Diagnostic;
use offshoot_session::id::EntryId;
use offshoot_session::store::Flavour;

use crate::document::DocumentKind;
use crate::query::SortOrder;
use crate::snippet::Snippet;

/// A thing that was said and fits a query.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchHit {
    /// The session's file.
    pub path: PathBuf,
    /// The session's id.
    pub session: String,
    /// The session's name, else nothing.
    pub title: Option<String>,
    /// The folder of the session.
    pub folder: Option<String>,
    /// Whose folder the file is in.
    pub flavour: Option<Flavour>,
    /// The entry; `None` for the name of a session.
    pub entry: Option<EntryId>,
    /// What was found.
    pub kind: DocumentKind,
    /// The tool of a call or a result.
    pub tool: Option<String>,
    /// Whether it failed.
    pub is_error: bool,
    /// When it was said.
    pub at: Option<Millis>,
    /// The first byte of the entry's line in the file.
    pub offset: u64,
    /// Whether it is on the way to the session's leaf.
    pub is_on_path: bool,
    /// Whether it is on that way in a part that a compaction replaced.
    pub is_compacted: bool,
    /// Whether a word was found inside of another one only.
    pub is_inside: bool,
    /// The words around it.
    pub snippet: Snippet,
    /// How well it fits; larger is better. Without an index there are only times.
    pub score: f64,
    /// The ids of other sessions that have a copy of the entry.
    pub also_in: Vec<String>,
    /// The place of the text among those of its entry.
    pub number: usize,
    /// Tells texts apart; copies of an entry have the same.
    pub text: u64,
}

/// What came of a search.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// The hits that were wanted, the best first.
    pub hits: Vec<SearchHit>,
    /// How many there are in all, or at least.
    pub count: usize,
    /// Whether there may be more than `count`.
    pub is_least: bool,
    /// How many sessions were searched.
    pub sessions: usize,
    /// How many entries were not searched because their lines are longer than
    /// [`LONGEST_LINE`](crate::session_documents::LONGEST_LINE).
    pub left_out: usize,
    /// The ids of all sessions there are: those of hits are shortened beside them.
    pub session_ids: Vec<String>,
    /// What could not be read.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether the index lacks something: [`SearchIndex::refresh`](crate::SearchIndex::refresh) and then
    /// [`SearchIndex::make_blocks`](crate::SearchIndex::make_blocks) make it.
    pub is_index_behind: bool,
}

/// The order of hits.
pub(crate) fn by_order(order: SortOrder) -> impl Fn(&SearchHit, &SearchHit) -> Ordering {
    move |a, b| {
        let newer = || (Reverse(a.at), &a.path, a.offset, a.kind).cmp(&(Reverse(b.at), &b.path, b.offset, b.kind));
        match order {
            SortOrder::Rank => b.score.total_cmp(&a.score).then_with(newer),
            SortOrder::New => newer(),
            SortOrder::Old => a.at.cmp(&b.at).then_with(newer),
        }
    }
}
