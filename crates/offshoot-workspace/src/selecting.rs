//! Selections as people and programs write them: ENTRY, A..B, a turn.

use offshoot_session::entry::Source as _;
use offshoot_session::error::{Error, Invalid};
use offshoot_session::pick::shared_end;
use offshoot_session::selection::{range, turn};
use offshoot_session::session::Session;
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
            "" => shared_end(self.here.pick_end(), self.from.map(Session::pick_end), self.onto, to),
            after => Some((self.find)(after)?),
        };
        Ok(range(self.from().tree(), after, to)?)
    }
}
