//! Finds what was said in many sessions, and where: queries, the documents of sessions, hits.
//!
//! A library function first: front ends are adapters. Opens sessions to read only, prints nothing.

#![warn(missing_docs)]

pub mod words;
mod word_list;
pub mod query;
pub mod document;
pub mod matching;
pub mod snippet;
pub mod hit;
pub mod session_documents;
mod trigrams;
mod required;
mod filtering;
mod line_check;
mod gathering;
mod rank;
mod scan;
pub mod index;

pub use filtering::agent_word;
pub use hit::{Found, SearchHit};
pub use index::SearchIndex;
pub use query::{BadQuery, SearchQuery, USUAL_LIMIT};
pub use scan::{SearchedPlace, scan};
