//! Snapshots of the open session for readers other than its owner.

use std::sync::Arc;

use offshoot_agent::agent_session::AgentSession;
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
