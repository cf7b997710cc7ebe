//! Snapshots of the open session for readers other than its owner.

use std::path::Path;
use std::sync::Arc;

use offshoot_agent::agent_session::AgentSession;
use offshoot_session::child::children_folder;
use offshoot_session::children::ChildList;
use offshoot_session::error::Result;
use offshoot_session::session::{Session, Snapshot};
use offshoot_session::stats::totals;
use offshoot_session::transcript::Level;
use offshoot_tui::app::cmd::Purpose;
use offshoot_tui::app::msg::Msg;

use super::job_context::JobContext;
use super::session_facts;

/// Sends the front end a snapshot of the session, with other programs' entries. Neither the agent nor the screen waits
/// while a long session is read.
pub(super) async fn snapshot(context: &JobContext, agent: &AgentSession, purpose: Purpose) {
    if agent.refresh().await.is_ok_and(|has_grown| has_grown) {
        session_facts::look(context, agent).await;
    }
    match taken(agent, purpose).await {
        Ok(snapshot) => {
            let leaf = snapshot.leaf();
            context.tell(Msg::Snapshot(purpose, Arc::new(snapshot), leaf));
        }
        Err(why) => context.notice(Level::Error, format!("the session cannot be read: {why}")),
    }
}

/// Sends the front end the agents that the session has started, as their files say.
pub(super) async fn children(context: &JobContext, agent: &AgentSession) {
    // A session in memory has none in files; one that is being left is looked at again.
    let Ok(Some(file)) = agent.read(|session| session.file().map(Path::to_path_buf)).await else { return };
    let place = context.app.place();
    let read = tokio::task::spawn_blocking(move || {
        let read = place.children(&[&file]).pop().unwrap_or_else(|| Ok(ChildList::default()));
        read.map_err(|error| (file, error))
    });
    let read = read.await;
    match read {
        Ok(Ok(children)) => context.tell(Msg::Children(Box::new(children))),
        Ok(Err((file, error))) => {
            let folder = children_folder(&file);
            let why = format!("the agents in {} cannot be listed: {error}", folder.display());
            context.notice(Level::Error, why);
        }
        Err(error) => context.notice(Level::Error, error.to_string()),
    }
}

async fn taken(agent: &AgentSession, purpose: Purpose) -> std::result::Result<Snapshot, String> {
    let snapshot = agent.read(Session::snapshot).await.map_err(|error| error.to_string())?;
    let read = move || -> Result<Snapshot> {
        let snapshot = snapshot?;
        if matches!(purpose, Purpose::Tree | Purpose::GoOn | Purpose::Compare(..)) {
            // Bodies read for the tree's figures are cached with the session.
            totals(&snapshot)?;
        }
        Ok(snapshot)
    };
    let read = tokio::task::spawn_blocking(read).await.map_err(|error| error.to_string())?;
    read.map_err(|error| error.to_string())
}
