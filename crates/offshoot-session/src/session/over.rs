//! A session over a medium of the caller's, for tests that stand in for a disk.

use super::{Backing, NewSession, Options, Session};
use crate::error::Result;
use crate::load::load;
use crate::medium::Medium;

impl Session {
    /// Opens a session over any medium. Empty bytes begin with the first append, as `new` says; an old version is
    /// upgraded in memory.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub fn over_medium(medium: Box<dyn Medium>, new: &NewSession<'_>, options: Options) -> Result<Self> {
        let loaded = load(medium.as_ref())?;
        Self::over(Backing::Memory(medium), loaded, options, new)
    }
}
