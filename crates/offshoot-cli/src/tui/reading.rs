//! The open session as something to be read by others than its owner: its file opened once more, or a copy of what is in
//! memory only.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_agent::agent_session::AgentSession;
use offshoot_session::entry::Source as _;
use offshoot_session::error::Error;
use offshoot_session::id::EntryId;
use offshoot_session::session::{Options, Session};
use offshoot_session::stats::totals;
use offshoot_session::tree::NodeIx;
use offshoot_tui::app::cmd::Purpose;
use offshoot_tui::app::msg::Msg;
use offshoot_tui::message::Level;
use offshoot_tui::overlay::tree::Snapshot;

use super::serve::World;
use crate::app::App;

/// Tells the front end the session as it stands. Neither the agent nor the screen waits while a long one is read.
pub(super) async fn snapshot(world: &World, agent: &AgentSession, purpose: Purpose) {
    let place = agent.read(|session| {
        let file = session.file().filter(|file| file.exists()).map(PathBuf::from);
        (file, session.leaf_id().map(|leaf| leaf.as_str().to_owned()))
    });
    let app = world.app.clone();
    let copied = match place.await {
        Ok((Some(file), leaf)) => {
            let opened = tokio::task::spawn_blocking(move || {
                let session = reopened(&app, &file)?;
                if purpose == Purpose::Tree {
                    // What its figures take of the bodies is kept with the session.
                    totals(&session)?;
                }
                let leaf = leaf.and_then(|leaf| session.tree().find(&leaf));
                Ok((session, leaf))
            });
            opened.await.map_err(|error| error.to_string())
        }
        Ok((None, _)) => agent.read(move |session| copy(&app, session)).await.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    match copied.and_then(|copied: Result<_, Error>| copied.map_err(|error| error.to_string())) {
        Ok((session, leaf)) => {
            let snapshot: Snapshot = Arc::new(session);
            world.tell(Msg::Snapshot(purpose, snapshot, leaf));
        }
        Err(why) => world.notice(Level::Error, format!("the session cannot be read: {why}")),
    }
}

fn reopened(app: &App, file: &Path) -> Result<Session, Error> {
    Session::open(file, Options { progress: None, ..app.options_for(file) })
}

/// The session to be read elsewhere, and where it is open.
pub(super) fn copy(app: &App, session: &Session) -> Result<(Session, Option<NodeIx>), Error> {
    let file = session.file().filter(|file| file.exists());
    let copy = match file {
        Some(file) => reopened(app, file)?,
        None => {
            let mut text = session.header_line() + "\n";
            for ix in session.tree().entries() {
                text += &String::from_utf8_lossy(&session.raw_line(ix)?);
                text.push('\n');
            }
            Session::from_text(&text, Options::default())?
        }
    };
    let leaf = session.leaf_id().map(EntryId::as_str).and_then(|id| copy.tree().find(id));
    Ok((copy, leaf))
}
