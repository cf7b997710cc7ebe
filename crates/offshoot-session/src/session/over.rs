//! A session over the caller's medium, for tests that imitate a disk.

use super::{Backing, NewSession, Options, Session};
use crate::error::Result;
use crate::load::load;
use crate::medium::Medium;

impl Session {
    /// Opens a session over any medium. If it is empty, the first append writes the header that `new` describes; an old
    /// version is upgraded in memory.
    ///
    /// # Errors
    /// Those of [`Session::open`].
    pub fn over_medium(medium: Box<dyn Medium>, new: &NewSession<'_>, options: Options) -> Result<Self> {
        let loaded = load(medium.as_ref())?;
        Self::over(Backing::Memory(medium), loaded, options, new)
    }
}
