//! The session that a command reads, as its arguments name it.

use offshoot_app::app::App;
use offshoot_app::error::{CommandError, Result};
use offshoot_session::session::Session;
use offshoot_workspace::LATEST;

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
}
