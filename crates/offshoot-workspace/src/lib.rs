//! The operations on sessions: each is defined once, with typed input, plan, output, words and errors. The command line,
//! RPC, slash commands and others are adapters of this table and add nothing.
//!
//! Modules stand in reading order, and each uses only those above it. Nothing here prints, reads the environment or knows a
//! front end.

#![warn(missing_docs)]

mod given;
mod inputs;
mod words;
mod failure;
mod next_request;
mod place;
mod entry_words;
mod lookup;
mod worktrees;
mod selecting;
mod session_to_read;
pub mod when;
mod originals;
pub mod transcript;
pub mod trash_folder;
mod several;
pub mod new_file;
pub mod spills;
mod costs;
mod plans;
mod operation;
mod run;
mod file_moves;
mod file_patches;
mod page_files;
mod copied;
mod moving;
mod second_folder;
mod bisect_search;
mod bisect_range;
mod foreign_import;
mod operations;
mod order;

pub use bisect_range::{BisectRange, ChangedAt};
pub use bisect_search::{BisectSearch, Verdict, both_verdicts};
pub use copied::{Copied, with_brought};
pub use costs::{sizes, with_forecast, with_summary_cost, words_without_summary};
pub use entry_words::{entry_line, session_title, short_id, totals_in_words};
pub use failure::{Failure, FailureKind, Hint, Result};
pub use file_moves::{FileMove, FileMoveOutcome, FilesPreview, MOST_PATCH_LINES, fork_files, recover_files};
pub use foreign_import::own_session_of;
pub use given::{
    Arg, ArgForm, ArgKind, ArgValue, ByteSize, DRY_RUN_FLAG, EntryName, EntryRange, Field, FileName, FilledText,
    FolderName, Given, JSON_FLAG, Misuse, SessionName, Text,
};
pub use inputs::{Input, capitals, check_given, count_args, hyphened, joined_args};
pub use lookup::{Access, LATEST, LatestOf, is_path, known_session};
pub use next_request::{
    KnownModels, LocalOutcome, LocalSearch, NextRequest, NoModels, PageOrder, RequestParts, SearchedServer,
    summary_by_rule,
};
pub use offshoot_files::GitCopy;
pub use operation::{
    About, CommandGroup, Finished, FrontEnd, Operation, OperationEffect, Outcome, Output, ScreenSize, nothing_to_do,
};
pub use operations::*;
pub use order::{LineForm, OperationOrder, OrderMistake};
pub use originals::{find_elsewhere, not_here};
pub use page_files::{PageFilesRoom, page_files};
pub use place::{ListedParents, Place, PlaceOptions, ReadProgress, SessionProgram, short_path};
pub use plans::{CompactionJson, branch_summary_json};
pub use run::{OutcomeWait, Row, SESSION_ARG, run_as};
pub use second_folder::SecondFolder;
pub use selecting::Selecting;
pub use session_to_read::{SessionToRead, with_short_ids};
pub use words::{Line, NextStep, Note, Role, Say, TableColumn, Words, WordsBlock, WordsTable};
