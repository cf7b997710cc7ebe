//! Tree-structured sessions of terminal coding agents, stored as append-only JSONL files.
//!
//! Modules are declared in the order of the flow, and each uses only those above it: bytes become lines, lines
//! envelopes, envelopes a tree, a path through the tree a context. Writing goes the other way, through [`compose`] and
//! [`session`]. `ARCHITECTURE.md` has the map, `docs/format.md` the bytes.
//!
//! The library is synchronous. It reads no environment and no home directory, prints nothing and opens no connection.
//!
//! ```
//! use offshoot_session::compose::NewEntry;
//! use offshoot_session::entry::Source as _;
//! use offshoot_session::json::Json;
//! use offshoot_session::session::{NewSession, Options, Session};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut session = Session::in_memory(&NewSession { cwd: "/work", ..NewSession::default() }, Options::default())?;
//! let question = session.append(&NewEntry::message(Json::parse(r#"{"role":"user","content":"why?"}"#)?)?)?;
//! session.append(&NewEntry::message(Json::parse(r#"{"role":"assistant","content":[]}"#)?)?)?;
//!
//! // Go back and try something else: the first answer stays, on its own branch.
//! session.branch(question.as_str())?;
//! session.append(&NewEntry::message(Json::parse(r#"{"role":"assistant","content":[]}"#)?)?)?;
//! assert_eq!(session.tree().leaves().count(), 2);
//! # Ok(())
//! # }
//! ```

#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make files and folders as they need them"))]

pub mod packed;
pub mod in_order;
mod per_thread;
pub mod clock;
pub mod id;
pub mod json;
pub mod path_words;
pub mod text;
pub mod error;
pub mod kind;
pub mod envelope;
pub mod header;
pub mod medium;
pub mod zone;
pub mod git_worktree;
pub mod lines;
mod migrate;
pub mod tree;
pub mod path;
pub mod entry_name;
pub mod selection;
pub mod blobs;
pub mod facts;
pub mod entry;
pub mod transcript;
pub mod call_view;
pub mod load;
pub mod tokens;
mod gather;
mod index;
mod system;
pub mod records;
pub mod context;
pub mod llm;
pub mod provenance;
pub mod conversation;
pub mod files;
pub mod stats;
pub mod forecast;
pub mod summary;
pub mod outline;
pub mod compare;
pub mod operation;
pub mod check;
pub mod compose;
pub mod summariser;
pub mod compact;
pub mod branch_summary;
pub mod pick;
pub mod merge;
pub mod pieces;
pub mod extract;
pub mod repair;
pub mod session;
pub mod todo;
pub mod child;
pub mod manager;
pub mod list;
pub mod store;
pub mod children;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
