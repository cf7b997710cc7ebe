//! A row of the index that may be a hit, and its session.

use std::path::PathBuf;

use offshoot_session::clock::Millis;

use crate::document::DocumentKind;

/// A session of the index.
#[derive(Debug)]
pub(super) struct IndexedSession {
    pub(super) path: PathBuf,
    /// Whether it is one of the store that is searched, and not passed over: the index has those of every store.
    pub(super) is_here: bool,
    pub(super) is_old: bool,
    pub(super) agent: String,
    pub(super) session: String,
    pub(super) folder: Option<String>,
    pub(super) title: Option<String>,
}

/// A row that may be a hit.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) id: i64,
    /// The number of its session.
    pub(super) source: i64,
    pub(super) entry: Option<String>,
    pub(super) offset: i64,
    pub(super) length: i64,
    pub(super) kind: DocumentKind,
    pub(super) number: usize,
    pub(super) hash: i64,
    pub(super) tool: Option<String>,
    pub(super) at: Option<Millis>,
    pub(super) flags: i64,
    pub(super) words: f64,
    /// The ids of other sessions with a copy.
    pub(super) also_in: Vec<String>,
    pub(super) score: f64,
}
