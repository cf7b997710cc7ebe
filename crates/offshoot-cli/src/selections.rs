//! Selections as a person types them: ENTRY, A..B, a turn.

use offshoot_session::entry::Source as _;
use offshoot_session::pick::shared_end;
use offshoot_session::selection::{range, turn};
use offshoot_session::session::Session;
use offshoot_session::tree::NodeIx;

use crate::app::App;
use crate::error::{CommandError, Result};
use crate::select;

/// Where selections are looked up.
pub(crate) struct Selecting<'a> {
    pub(crate) app: &'a App,
    pub(crate) here: &'a Session,
    /// The session that has the entries, if it is another one.
    pub(crate) from: Option<&'a Session>,
    /// The entry below which they go.
    pub(crate) onto: Option<NodeIx>,
}

pub(crate) fn of(selecting: &Selecting<'_>, given: &[String], turns: &[String]) -> Result<Vec<Vec<NodeIx>>> {
    let from = selecting.from.unwrap_or(selecting.here);
    let mut found = given.iter().map(|given| selecting.one(given)).collect::<Result<Vec<_>>>()?;
    for given in turns {
        found.push(turn(from.tree(), selecting.entry(given)?, from.leaf())?);
    }
    Ok(found)
}

impl Selecting<'_> {
    fn entry(&self, given: &str) -> Result<NodeIx> {
        select::entry_to_write(self.app, self.from.unwrap_or(self.here), given)
    }

    fn one(&self, given: &str) -> Result<Vec<NodeIx>> {
        let from = self.from.unwrap_or(self.here);
        // A label may contain two dots.
        let whole = self.entry(given);
        let Some((after, to)) = given.split_once("..").filter(|_| whole.is_err()) else { return Ok(vec![whole?]) };
        let to = match to {
            "" => from.leaf().ok_or_else(|| CommandError::usage("the session is empty: there is nothing to pick"))?,
            to => self.entry(to)?,
        };
        let after = match after {
            "" => shared_end(self.here.pick_end(), self.from.map(Session::pick_end), self.onto, to),
            after => Some(self.entry(after)?),
        };
        Ok(range(from.tree(), after, to)?)
    }
}
