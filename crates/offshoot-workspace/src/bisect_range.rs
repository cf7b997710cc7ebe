//! The entries that a bisection tests: those that changed files, from an entry that is good to one that is bad.

use offshoot_agent::file_entries::files_data;
use offshoot_files::ChangeSet;
use offshoot_session::entry::Source as _;
use offshoot_session::kind::{Kind, Role as Speaker};
use offshoot_session::session::Session;
use offshoot_session::text::one_line;
use offshoot_session::tree::NodeIx;

use crate::entry_words::{entry_line, short_id};
use crate::failure::{Failure, FailureKind, Result};

/// States of files in a row.
#[derive(Debug, Clone)]
pub struct BisectRange {
    /// Where the row begins: the good entry or, on another branch, where the two part. `None` is before the first entry.
    pub start: Option<NodeIx>,
    /// Whether the row begins elsewhere than at the good entry: then its start is tested as well.
    pub is_parted: bool,
    /// The entries that changed files, down to the bad one.
    pub changed: Vec<NodeIx>,
}

impl BisectRange {
    /// The row from one entry to another.
    ///
    /// # Errors
    /// No file changed on the way.
    pub fn between(session: &Session, good: NodeIx, bad: NodeIx) -> Result<Self> {
        let tree = session.tree();
        let (to_good, to_bad) = (tree.path(good), tree.path(bad));
        let common = to_good.iter().zip(&to_bad).take_while(|(one, other)| one == other).count();
        let refuse = |why: &str| Failure::refused(FailureKind::Usage, why);
        if good == bad {
            return Err(refuse("the good entry and the bad one are the same"));
        }
        if common == to_bad.len() {
            return Err(refuse("the bad entry comes before the good one"));
        }
        let changed: Vec<NodeIx> =
            to_bad.iter().skip(common).copied().filter(|ix| files_data(session, *ix).is_some()).collect();
        if changed.is_empty() {
            return Err(refuse("no recorded file changed on the way to the bad entry"));
        }
        let start = common.checked_sub(1).and_then(|last| to_bad.get(last)).copied();
        Ok(Self { start, is_parted: common < to_good.len(), changed })
    }

    /// The entry of a state; state 0 is the start.
    #[must_use]
    pub fn entry(&self, state: usize) -> Option<NodeIx> {
        match state.checked_sub(1) {
            None => self.start,
            Some(at) => self.changed.get(at).copied(),
        }
    }
}

/// An entry that changed files, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedAt {
    /// Its id.
    pub id: String,
    /// Its short id.
    pub short: String,
    /// The calls that may have done it.
    pub calls: Vec<String>,
    /// The paths that changed, as far as the entry lists them.
    pub paths: Vec<String>,
    /// The id of the prompt of its turn.
    pub turn: Option<String>,
    /// The prompt in a line.
    pub turn_words: Option<String>,
}

impl ChangedAt {
    /// Reads it.
    ///
    /// # Errors
    /// The session cannot be read.
    pub fn read(session: &Session, ix: NodeIx) -> Result<Self> {
        let tree = session.tree();
        let id = tree.node(ix).id().map(ToString::to_string).unwrap_or_default();
        let set = files_data(session, ix).and_then(|data| ChangeSet::read(&data).ok());
        let (calls, paths) = set.map(|set| (set.calls, set.changes)).unwrap_or_default();
        let is_prompt =
            |at: &NodeIx| tree.node(*at).kind() == Kind::Message && tree.node(*at).role() == Some(Speaker::User);
        let turn = tree.ancestors(ix).find(is_prompt);
        let turn_words = turn.map(|turn| entry_line(session, turn)).transpose()?;
        Ok(Self {
            short: short_id(session, &id)?,
            id,
            calls: calls.into_iter().map(|call| one_line(&call.name, 40)).collect(),
            paths: paths.iter().map(|change| one_line(change.path.as_str(), 200)).collect(),
            turn: turn.and_then(|turn| tree.node(turn).id()).map(ToString::to_string),
            turn_words: turn_words.map(|line| line.plain()),
        })
    }
}
