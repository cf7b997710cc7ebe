//! What every job of the program holds, and how it reaches the front end and the agent.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::command::Command;
use offshoot_session::transcript::Level;
use offshoot_tui::app::msg::Msg;

use super::drafts::DraftWriter;
use super::session_list::SessionListWorker;
use crate::app::App;
use crate::error::{CommandError, FailureKind, Result};
use crate::models::ModelTable;

/// What the program holds beside the agent.
#[derive(Clone)]
pub(super) struct JobContext {
    pub(super) app: App,
    pub(super) news: Sender<Msg>,
    pub(super) drafts: DraftWriter,
    pub(super) session_list: Arc<SessionListWorker>,
    /// The key that was typed on the command line.
    pub(super) api_key: Option<String>,
}

impl JobContext {
    /// Tells the front end; one that has ended needs no news.
    pub(super) fn tell(&self, msg: Msg) {
        drop(self.news.send(msg));
    }

    /// The models and keys, read anew.
    pub(super) async fn model_table(&self) -> Result<ModelTable> {
        let (app, key) = (self.app.clone(), self.api_key.clone());
        blocking(move || Ok(ModelTable::read(&app).0.with_key(key.as_deref()))).await
    }

    pub(super) fn notice(&self, level: Level, text: impl Into<String>) {
        self.tell(Msg::Notice(level, text.into()));
    }
}

/// Says something to the agent, and tells what it answers.
pub(super) async fn ask(context: &JobContext, agent: &AgentSession, command: Command) {
    let reply = agent.ask(command.clone()).await;
    context.tell(Msg::Answered(Box::new(command), reply));
}

/// Work that waits for disks, on a thread of its own: the agent lives on the one that would wait.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(CommandError::new(FailureKind::Failed, format!("a part of the program failed: {error}"))),
    }
}
