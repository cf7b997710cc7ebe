//! The session or the entry that was typed for a command.

use std::path::PathBuf;

use offshoot_session::session::Session;
use offshoot_session::tree::NodeIx;
use offshoot_workspace::{Access, LATEST, Place};

use crate::app::App;
use crate::error::{CommandError, Result};

/// The session that a command reads.
#[derive(Debug, clap::Args)]
pub(crate) struct SessionToRead {
    /// A path, an id or its unique start or end, a name, or `latest`
    #[arg(value_name = "SESSION")]
    session: String,

    /// With `latest`: the latest session of every folder, not of this one
    #[arg(long)]
    all: bool,
}

impl SessionToRead {
    pub(crate) fn open(&self, app: &App) -> Result<Session> {
        if !self.all {
            return app.open(&self.session);
        }
        if self.session != LATEST {
            return Err(
                CommandError::usage("--all goes with `latest`").hint("any other session is found in every folder")
            );
        }
        app.open_file(&app.looked_up(LATEST, |place| place.latest(None))?)
    }

    /// What names the session in a hint.
    pub(crate) fn name<'a>(&'a self, session: &'a Session) -> &'a str {
        if self.all { session.id() } else { &self.session }
    }
}

impl App {
    pub(crate) fn file(&self, given: &str) -> Result<PathBuf> {
        self.looked_up(given, |place| place.file(given, Access::Read))
    }

    pub(crate) fn file_to_write(&self, given: &str) -> Result<PathBuf> {
        let file = self.looked_up(given, |place| place.file(given, Access::Write))?;
        self.note_opened(&file);
        Ok(file)
    }

    pub(crate) fn open(&self, given: &str) -> Result<Session> {
        self.open_file(&self.file(given)?)
    }

    pub(crate) fn open_to_write(&self, given: &str) -> Result<Session> {
        let session = self.open_file(&self.file_to_write(given)?)?;
        // Before a model is asked for a summary that could not be kept.
        session.check_writable()?;
        Ok(session)
    }

    /// The session of this folder with exactly this id.
    pub(crate) fn session_of_id(&self, id: &str) -> Result<Option<PathBuf>> {
        self.looked_up(id, |place| place.session_of_id(id))
    }

    /// Looks something up, and prints its notes.
    fn looked_up<T>(&self, given: &str, look: impl FnOnce(&Place) -> offshoot_workspace::Result<T>) -> Result<T> {
        let place = self.place();
        let found = look(&place);
        self.tell(&place.take_notes(), given);
        found.map_err(|failure| CommandError::of_operation(failure, None))
    }
}

/// The entry that a person named; see [`Place::entry`].
pub(crate) fn entry(app: &App, session: &Session, given: &str) -> Result<NodeIx> {
    app.looked_up(given, |place| place.entry(session, given))
}

/// The same for a command that writes.
pub(crate) fn entry_to_write(app: &App, session: &Session, given: &str) -> Result<NodeIx> {
    app.looked_up(given, |place| place.entry_to_write(session, given))
}

/// The shortest start of an entry's id that names it.
pub(crate) fn short_id(session: &Session, id: &str) -> Result<String> {
    offshoot_workspace::short_id(session, id).map_err(|failure| CommandError::of_operation(failure, None))
}
