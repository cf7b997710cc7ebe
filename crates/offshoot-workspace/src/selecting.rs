//! What is brought here from another branch or session: selections as people and programs write them (ENTRY, A..B, a turn), and
//! the plans that are made of them.

use offshoot_session::entry::Source as _;
use offshoot_session::error::{Error, Invalid};
use offshoot_session::merge::MergeRequest;
use offshoot_session::pick::{PickEnd, PickOptions, PickRequest, shared_end};
use offshoot_session::selection::{range, turn};
use offshoot_session::session::{PlannedMerge, PlannedPick, Session};
use offshoot_session::tree::NodeIx;

/// Where selections are looked up.
#[expect(missing_debug_implementations, reason = "it holds a closure")]
pub struct Selecting<'a, E> {
    /// The session that gets the entries.
    pub here: &'a Session,
    /// The session that has the entries, if it is another one.
    pub from: Option<&'a Session>,
    /// The entry below which they go.
    pub onto: Option<NodeIx>,
    /// Finds the entry of a name in the session that has them.
    pub find: &'a dyn Fn(&str) -> Result<NodeIx, E>,
}

impl<E: From<Error>> Selecting<'_, E> {
    fn from(&self) -> &Session {
        self.from.unwrap_or(self.here)
    }

    fn other_end(&self) -> Option<PickEnd<'_>> {
        self.from.map(Session::pick_end)
    }

    /// Plans copies of entries.
    ///
    /// # Errors
    /// The session cannot be read, or does not take them there.
    pub fn pick(&self, selections: &[Vec<NodeIx>], options: PickOptions) -> Result<PlannedPick, E> {
        let request = PickRequest { from: self.other_end(), selections, onto: self.onto, options };
        Ok(self.here.plan_pick(&request)?)
    }

    /// Plans the summary of what the branch of an entry has and this one lacks, of the newest `budget` tokens; 0 is no limit.
    ///
    /// # Errors
    /// The session cannot be read.
    pub fn merge(&self, tip: NodeIx, budget: u64) -> Result<PlannedMerge, E> {
        Ok(self.here.plan_merge(&MergeRequest { from: self.other_end(), tip, onto: self.onto, budget })?)
    }

    /// Plans copies instead of a summary.
    ///
    /// # Errors
    /// As [`Selecting::pick`].
    pub fn copies(&self, merged: PlannedMerge) -> Result<PlannedPick, E> {
        Ok(self.pick(&[merged.plan.entries], PickOptions::default())?.as_merge())
    }

    /// The entries of the turn at or above an entry.
    ///
    /// # Errors
    /// There is no such entry.
    pub fn turn(&self, given: &str) -> Result<Vec<NodeIx>, E> {
        Ok(turn(self.from().tree(), (self.find)(given)?, self.from().leaf())?)
    }

    /// The entries of ENTRY or A..B.
    ///
    /// # Errors
    /// There is no such entry, or nothing lies between the two.
    pub fn entries(&self, given: &str) -> Result<Vec<NodeIx>, E> {
        // A label may contain two dots.
        let whole = (self.find)(given);
        let Some((after, to)) = given.split_once("..").filter(|_| whole.is_err()) else { return Ok(vec![whole?]) };
        let to = match to {
            "" => self.from().leaf().ok_or(Error::Invalid(Invalid::NothingToCopy))?,
            to => (self.find)(to)?,
        };
        let after = match after {
            "" => shared_end(self.here.pick_end(), self.other_end(), self.onto, to),
            after => Some((self.find)(after)?),
        };
        Ok(range(self.from().tree(), after, to)?)
    }
}
