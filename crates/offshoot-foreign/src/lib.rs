//! Stores and sessions of other programs. They are read, and not one byte, name or time of their folders changes.
//!
//! Modules are declared in reading order, and each uses only those above it.

#![warn(missing_docs)]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests prepare their own files"))]

mod foreign_store;
mod omp_keys;
mod agent;
mod below;
mod key;
mod foreign_medium;
mod record;
mod digested;
mod planned;
mod known_ids;
mod growth;
mod composing;
mod mapper;
mod foreign_session;
mod claude;
mod codex;
mod linear;
mod opencode;
mod gemini;
mod goose;
mod crush;
mod copilot;
mod cursor;
mod aider;
mod old_json;
mod kept_copy;
mod side_folder;
mod subagent_status;
mod rows;
mod sources;
mod opening;
mod source_record;
mod versions;
mod side_files;
mod import;
mod importing;
mod started;
mod formats;
mod back;
mod expiry;
mod archive;
mod subagents;

pub use agent::Agent;
pub use archive::{Archive, ArchivedSession, KeptCopy, source_stamp};
pub use back::{BackFormat, BackReport, BackWish, claude_session_id, rollout_name, write_back};
pub use claude::forks::unnamed_forks;
pub use codex::files::codex_model;
pub use foreign_medium::ForeignMedium;
pub use foreign_session::ForeignSession;
pub use foreign_store::{ForeignStore, ForeignStoreError};
pub use import::{ImportReport, ImportedChild, ImportedLine, OpenEnd, imported_id};
pub use importing::{ImportWish, RebuiltSource, SourceBytes, import_foreign, kept_rows, rebuilt};
pub use kept_copy::source_of;
pub use omp_keys::{OmpKey, OmpKeys, omp_keys};
pub use opening::{agent_of_store, foreign_agent, open_foreign};
pub use planned::ForeignHead;
pub use side_files::lacking_files;
pub use subagent_status::SubagentStatus;
pub use subagents::{FoundSubagent, SubagentsOf, found_subagents, subagents};
pub use versions::KeptVersions;
