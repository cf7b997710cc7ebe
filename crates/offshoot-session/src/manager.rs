//! The methods of a session manager, pi's and omp's, by name: one implementation for all who ask by name, which are
//! clients of `offshoot api`, extensions and what these draft.
//!
//! Arguments and results are JSON. What is stored keeps the spelling of its argument. Who holds the session appends the
//! entries and writes ids in its own form. Must not know requests, handles of sessions and hosts of extensions.

mod params;
mod holder;
mod appends;
mod moves;
mod reads;
mod drafts;

use std::io::{self, Write};

pub use drafts::drafted;
pub use holder::{EntryNaming, Holder};
pub use params::Params;
pub use reads::context_entries;

use crate::compose::NewEntry;
use crate::entry::Source as _;
use crate::error::Error;
use crate::id::EntryId;
use crate::session::Session;

use Method::{Appends, Moves};

/// Why a method did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum MethodError {
    /// An argument is missing, unknown or of the wrong type.
    #[error("{0}")]
    Argument(String),
    /// The session refused.
    #[error(transparent)]
    Session(#[from] Error),
    /// The result could not be written.
    #[error("could not write the result: {0}")]
    Output(#[source] io::Error),
}

impl MethodError {
    fn argument(why: impl Into<String>) -> Self {
        Self::Argument(why.into())
    }
}

impl From<io::Error> for MethodError {
    /// Writers of the library wrap its errors in `io::Error`; any other error belongs to the output.
    fn from(error: io::Error) -> Self {
        match error.downcast::<Error>() {
            Ok(error) => Self::Session(error),
            Err(error) => Self::Output(error),
        }
    }
}

/// What methods work with besides the session.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the types say it")]
pub struct MethodInput<'a> {
    pub params: Params<'a>,
    pub holder: &'a Holder<'a>,
}

type ReadBody = fn(&Session, MethodInput<'_>, &mut dyn Write) -> Result<(), MethodError>;

/// A method that reads.
#[derive(Debug, Clone, Copy)]
pub struct ReadMethod(ReadBody);

impl ReadMethod {
    /// Writes the result as JSON.
    ///
    /// # Errors
    /// An argument is wrong, the session or a part of its tree cannot be read, or `out` takes no more.
    pub fn run(self, session: &Session, given: MethodInput<'_>, out: &mut dyn Write) -> Result<(), MethodError> {
        (self.0)(session, given, out)?;
        Ok(session.tree().whole(())?)
    }
}

/// Makes an entry, which is appended below the leaf.
pub type AppendMethod = fn(&Session, &Params<'_>) -> Result<NewEntry, MethodError>;
/// Moves the leaf, and returns the id of an entry that was written for that.
pub type MoveMethod = fn(&mut Session, MethodInput<'_>) -> Result<Option<EntryId>, MethodError>;

/// How a method touches the session.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the types of the functions say it")]
pub enum Method {
    Reads(ReadMethod),
    Appends(AppendMethod),
    Moves(MoveMethod),
}

/// A method.
#[derive(Debug, Clone, Copy)]
pub struct MethodRow {
    /// Its name, which is pi's or omp's.
    pub name: &'static str,
    /// Its arguments, in the notation of [`Params::check`].
    pub params: &'static str,
    /// What it does.
    pub method: Method,
}

const fn row(name: &'static str, params: &'static str, method: Method) -> MethodRow {
    MethodRow { name, params, method }
}

const fn reading(body: ReadBody) -> Method {
    Method::Reads(ReadMethod(body))
}

/// Methods that append an entry.
pub const APPENDS: &[MethodRow] = &[
    row("appendMessage", "message", Appends(appends::message)),
    row("appendThinkingLevelChange", "thinkingLevel configured?", Appends(appends::thinking_level)),
    row("appendModelChange", "provider? modelId? model? role?", Appends(appends::model)),
    row(
        "appendCompaction",
        "summary firstKeptEntryId tokensBefore details? fromHook? usage? shortSummary? preserveData? fromExtension?",
        Appends(appends::compaction),
    ),
    row("appendCustomEntry", "customType data?", Appends(appends::custom)),
    row(
        "appendCustomMessageEntry",
        "customType content display details? attribution?",
        Appends(appends::custom_message),
    ),
    row("appendLabelChange", "targetId label?", Appends(appends::label)),
    row("appendSessionInfo", "name", Appends(appends::session_info)),
    row("appendUsage", "kind provider model usage note?", Appends(appends::usage)),
    row("appendContextEdit", "targetId replacement", Appends(appends::context_edit)),
    row("appendSessionInit", "systemPrompt task tools *", Appends(appends::session_init)),
    row("appendTtsrInjection", "injectedRules", Appends(appends::ttsr_injection)),
    row("appendModeChange", "mode data?", Appends(appends::mode)),
    row("appendServiceTierChange", "serviceTier", Appends(appends::service_tier)),
    row("appendResetBoundary", "", Appends(appends::reset_boundary)),
    row("appendEntry", "entry", Appends(appends::any)),
];

/// Methods that move the leaf.
pub const MOVES: &[MethodRow] = &[
    row("branch", "entryId", Moves(moves::branch)),
    row(
        "branchWithSummary",
        "entryId summary details? fromHook? usage? fromExtension?",
        Moves(moves::branch_with_summary),
    ),
    row("resetLeaf", "", Moves(moves::reset_leaf)),
];

/// Methods that read.
pub const READS: &[MethodRow] = &[
    row("getLeafId", "", reading(reads::leaf_id)),
    row("getLeafEntry", "", reading(reads::leaf_entry)),
    row("findEntry", "entry", reading(reads::find)),
    row("getEntry", "id", reading(reads::entry)),
    row("getChildren", "parentId", reading(reads::children)),
    row("getBranch", "fromId?", reading(reads::branch)),
    row("getTree", "", reading(reads::tree)),
    row("getEntries", "", reading(reads::entries)),
    row("getEntryCount", "", reading(reads::entry_count)),
    row("getHeader", "", reading(reads::header)),
    row("getLabel", "id", reading(reads::label)),
    row("getSessionName", "", reading(reads::name)),
    row("getSessionFile", "", reading(reads::file)),
    row("getSessionId", "", reading(reads::id)),
    row("getCwd", "", reading(reads::cwd)),
    row("getSessionDir", "", reading(reads::folder)),
    row("isPersisted", "", reading(reads::is_persisted)),
    row("getDiagnostics", "", reading(reads::diagnostics)),
];

/// Methods that read what a model gets.
pub const CONTEXTS: &[MethodRow] = &[
    row("buildSessionContext", "", reading(reads::context)),
    row("contextEntries", "", reading(|session, _, out| context_entries(session, out))),
];

/// The method with this name.
pub fn find(name: &str) -> Option<&'static MethodRow> {
    [APPENDS, MOVES, READS, CONTEXTS].into_iter().flatten().find(|row| row.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_one_name() {
        let rows = || [APPENDS, MOVES, READS, CONTEXTS].into_iter().flatten();
        let names: std::collections::BTreeSet<_> = rows().map(|row| row.name).collect();
        assert_eq!(names.len(), rows().count());
        assert!(rows().all(|row| find(row.name).is_some_and(|found| found.params == row.params)));
    }
}
