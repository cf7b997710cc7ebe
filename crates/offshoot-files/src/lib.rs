//! Files at the nodes of a session's tree: which files the calls of a turn changed, and a way back to the files of any entry.
//!
//! Knows entries as data that it is given: no front end, no model, no session file. Writes below a workspace's own folder and
//! below its part of the user's data, into a folder that it copies, and nowhere else. Modules are listed in reading order.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests prepare their own files"))]

mod error;
mod content;
mod rel_path;
mod limits;
mod state;
mod merge;
mod folder;
mod folder_copy;
mod store;
mod changes;
mod git_id;
mod git_place;
mod git_objects;
mod scan;
mod seen_file;
mod record_log;
mod route;
mod plan;
mod restore;
mod head;
mod workspace;
mod gc;
mod git_keeper;
mod recorder;

pub use changes::{ChangeSet, ChangedBy, ChangingCall, FILES_ENTRY, FileChange};
pub use content::ContentHash;
pub use error::{FilesError, FilesResult};
pub use folder::WRITE_SCRATCH;
pub use folder_copy::{FolderCopy, GitCopy, copy_folder};
pub use gc::{CollectedFiles, Collection, ReachedContents};
pub use limits::FileLimits;
pub use plan::{FileConflict, LeftFile, PlannedFile, RestorePlan};
pub use recorder::{BatchChanges, BatchId, Recorder};
pub use rel_path::RelPath;
pub use restore::{KeptConflict, RestoreFor, RestoreReport};
pub use route::{FilesWay, files_at, fold};
pub use scan::has_sound_rules;
pub use state::FileState;
pub use store::{ContentStore, StoreSize};
pub use workspace::{BegunRestore, KnownWay, RecordedEntries, Workspace};
