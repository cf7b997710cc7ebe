//! The open session as something to be read by others than its owner: its file opened once more, or a copy of what is in
//! memory only.

use std::sync::Arc;

use offshoot_agent::agent_session::AgentSession;
use offshoot_session::entry::Source as _;
use offshoot_session::error::Error;
use offshoot_session::id::EntryId;
use offshoot_session::session::{Options, Session};
use offshoot_session::tree::NodeIx;
use offshoot_tui::app::cmd::Purpose;
use offshoot_tui::app::msg::Msg;
use offshoot_tui::message::Level;
use offshoot_tui::overlay::tree::Snapshot;

use super::serve::World;
use crate::app::App;

/// Tells the front end the session as it stands.
pub(super) async fn snapshot(world: &World, agent: &AgentSession, purpose: Purpose) {
    let app = world.app.clone();
    let copied = match agent.read(move |session| copy(&app, session)).await {
        Ok(copied) => copied.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    match copied {
        Ok((session, leaf)) => {
            let snapshot: Snapshot = Arc::new(session);
            world.tell(Msg::Snapshot(purpose, snapshot, leaf));
        }
        Err(why) => world.notice(Level::Error, format!("the session cannot be read: {why}")),
    }
}

/// The session to be read elsewhere, and where it is open.
pub(super) fn copy(app: &App, session: &Session) -> Result<(Session, Option<NodeIx>), Error> {
    let file = session.file().filter(|file| file.exists());
    let copy = match file {
        Some(file) => Session::open(file, Options { progress: None, ..app.options_for(file) })?,
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
