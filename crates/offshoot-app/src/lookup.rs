//! Looks up and opens the session or the entry that a person typed, and prints the notes about it.

use std::path::PathBuf;

use offshoot_session::session::Session;
use offshoot_session::tree::NodeIx;
use offshoot_workspace::{Access, Place};

use crate::app::App;
use crate::error::{CommandError, Result};

impl App {
    /// The file of the session that a person named, to read it.
    ///
    /// # Errors
    /// There is none, or several.
    pub fn file(&self, given: &str) -> Result<PathBuf> {
        self.looked_up(given, |place| place.file(given, Access::Read))
    }

    /// The file of the session that a person named, to write to it. From now on it may be the latest one.
    ///
    /// # Errors
    /// There is none, or several.
    pub fn file_to_write(&self, given: &str) -> Result<PathBuf> {
        let file = self.looked_up(given, |place| place.file(given, Access::Write))?;
        self.note_opened(&file);
        Ok(file)
    }

    /// Opens the session that a person named.
    ///
    /// # Errors
    /// There is none, or several; it cannot be read.
    pub fn open(&self, given: &str) -> Result<Session> {
        self.open_file(&self.file(given)?)
    }

    /// Opens the session that a person named, to write to it.
    ///
    /// # Errors
    /// There is none, or several; it cannot be read or written.
    pub fn open_to_write(&self, given: &str) -> Result<Session> {
        let session = self.open_file(&self.file_to_write(given)?)?;
        // Before a model is asked for a summary that could not be kept.
        session.check_writable()?;
        Ok(session)
    }

    /// The session of this folder with exactly this id.
    pub fn session_of_id(&self, id: &str) -> Result<Option<PathBuf>> {
        self.looked_up(id, |place| place.session_of_id(id))
    }

    /// Looks something up, and prints its notes; `given` names the session in hints.
    pub fn looked_up<T>(&self, given: &str, look: impl FnOnce(&Place) -> offshoot_workspace::Result<T>) -> Result<T> {
        let place = self.place();
        let found = look(&place);
        self.tell(&place.take_notes(), given);
        found.map_err(|failure| CommandError::of_operation(failure, None))
    }
}

/// The entry that a person named; see [`Place::entry`].
pub fn entry(app: &App, session: &Session, given: &str) -> Result<NodeIx> {
    app.looked_up(given, |place| place.entry(session, given))
}

/// The entry that a person named as the last one of a conversation; see [`Place::last_entry`].
pub fn last_entry(app: &App, session: &Session, given: &str, access: Access) -> Result<NodeIx> {
    app.looked_up(given, |place| place.last_entry(session, given, access))
}

/// The same for a command that writes.
pub fn entry_to_write(app: &App, session: &Session, given: &str) -> Result<NodeIx> {
    app.looked_up(given, |place| place.entry_to_write(session, given))
}

/// The shortest start of an entry's id that names it.
pub fn short_id(session: &Session, id: &str) -> Result<String> {
    offshoot_workspace::short_id(session, id).map_err(|failure| CommandError::of_operation(failure, None))
}
