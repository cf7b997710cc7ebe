//! What is searched for, as a person types it and as SQLite is asked.

/// A query that is answered by rank.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ranked {
    pub(super) typed: &'static str,
    /// The same in the language of FTS5.
    pub(super) expression: &'static str,
}

const fn ranked(typed: &'static str, expression: &'static str) -> Ranked {
    Ranked { typed, expression }
}

/// Common words, several of them, phrases, prefixes and words that hardly anybody said.
pub(super) const RANKED: &[Ranked] = &[
    ranked("return", "return"),
    ranked("session", "session"),
    ranked("buffer", "buffer"),
    ranked("cursor", "cursor"),
    ranked("default", "default"),
    ranked("déjà", "deja"),
    ranked("merge check", "merge AND check"),
    ranked("header walk", "header AND walk"),
    ranked("index label leaf", "index AND label AND leaf"),
    ranked("stream window value", "stream AND window AND value"),
    ranked("commit parent prompt token", "commit AND parent AND prompt AND token"),
    ranked("\"merge message\"", "\"merge message\""),
    ranked("\"of the\"", "\"of the\""),
    ranked("\"lock file\"", "\"lock file\""),
    ranked("cursor OR buffer", "cursor OR buffer"),
    ranked("zebra OR xylophone OR return", "zebra OR xylophone OR return"),
    ranked("functio*", "functio*"),
    ranked("summ*", "summ*"),
    ranked("return -buffer", "return NOT buffer"),
    ranked("2246", "2246"),
];

/// Parts of words, and patterns.
pub(super) const INSIDE: &[&str] = &["~ummar", "~essio", "~ist/lea", "/merge\\(\"[a-z]+ r/", "/rs:224[0-9]/"];

/// The beginning of a word that only the session that grew has.
pub(super) const GROWN: &str = "quokkagram";
/// By so many bytes.
pub(super) const GREW: usize = 20_000;
