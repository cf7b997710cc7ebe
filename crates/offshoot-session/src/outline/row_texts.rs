//! Texts of rows in plain words, made from entries that have been read. Knows no layout.

use super::row::{self, Calls};
use crate::call_view::CallFile;
use crate::entry::{Entry, Source};
use crate::error::Result;
use crate::kind::{Kind, Role};
use crate::stats;

/// Makes texts of rows. It remembers tool calls, which the rows of their results show.
#[derive(Debug, Clone, Default)]
pub struct RowTexts {
    calls: Calls,
    plain: Option<fn(&str) -> String>,
}

impl RowTexts {
    /// `home` is the home directory; paths below it are shown as `~`. `plain` makes plain words of the model's markdown.
    #[must_use]
    pub fn new(home: Option<&str>, plain: Option<fn(&str) -> String>) -> Self {
        Self { calls: Calls::new(home), plain }
    }

    /// Restricts the search for the call of a tool's result to entries near the result.
    pub(super) fn read_near_only(&mut self) {
        self.calls.reads_near_only();
    }

    pub(super) fn calls(&self) -> &Calls {
        &self.calls
    }

    /// Remembers the calls of a turn that has been read: the rows of its results then need not read it. Returns the files
    /// that they read or change.
    pub fn remember(&self, turn: &Entry) -> Vec<CallFile> {
        self.calls.remember(turn).iter().flat_map(|call| call.files.clone()).collect()
    }

    /// The file that the call of a result reads or changes; `None` if the call is far above the result.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub fn files_of(&self, source: &dyn Source, result: &Entry) -> Result<Vec<CallFile>> {
        self.calls.files_of(source, result)
    }

    /// The text of an entry's row: one line, harmless for a screen.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub fn text(&self, source: &dyn Source, entry: &Entry) -> Result<String> {
        if entry.kind == Kind::BranchSummary
            && let Some(named) = self.words(entry)
        {
            return Ok(format!("[branch summary]: {named}"));
        }
        let text = row::text(source, entry, &self.calls)?;
        Ok(match text.split_once(": ").filter(|_| entry.role == Some(Role::Assistant)) {
            Some((who, said)) => format!("{who}: {}", self.in_plain_words(said.to_owned())),
            None => text,
        })
    }

    /// The words of the user or the model in an entry, on one line without markdown.
    pub fn words(&self, entry: &Entry) -> Option<String> {
        stats::words(entry).map(|said| self.in_plain_words(said))
    }

    fn in_plain_words(&self, said: String) -> String {
        match self.plain {
            Some(plain) => plain(&said),
            None => said,
        }
    }
}
