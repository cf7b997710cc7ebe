//! The resources of every job of the program, and its channels to the front end and the agent.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::model::ScopedModel;
use offshoot_app::agent::Args;
use offshoot_app::app::App;
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_app::models::ModelTable;
use offshoot_extensions::ExtensionSet;
use offshoot_session::session::Session;
use offshoot_session::transcript::Level;
use offshoot_settings::Settings;
use offshoot_tui::app::ask::TerminalAsk;
use offshoot_tui::app::msg::Msg;

use super::drafts::DraftWriter;
use super::extension_front::ExtensionUiState;
use super::one_thread::OneThread;
use super::session_list::SessionListWorker;

#[derive(Clone)]
pub(super) struct JobContext {
    pub(super) app: App,
    pub(super) news: Sender<Msg>,
    pub(super) drafts: DraftWriter,
    pub(super) session_list: Arc<SessionListWorker>,
    /// The command line.
    pub(super) args: Arc<Args>,
    /// The models that a key changes between, if the user chose them in this session.
    pub(super) scope: Arc<Mutex<Option<Vec<String>>>>,
    /// Held while the session's facts are read: facts that were read later arrive later.
    pub(super) looks: Arc<tokio::sync::Mutex<()>>,
    /// What works out forecasts.
    pub(super) forecasts: OneThread,
    pub(super) extensions: Option<Arc<ExtensionSet>>,
    /// Where the extensions show and ask.
    pub(super) ui_state: Option<Arc<ExtensionUiState>>,
    /// The same for the loop of the front end, once there is one.
    pub(super) lender: Arc<OnceLock<Arc<ExtensionUiState>>>,
}

impl JobContext {
    /// The front end may have ended.
    pub(super) fn tell(&self, msg: Msg) {
        drop(self.news.send(msg));
    }

    /// Reads the models and keys again.
    pub(super) async fn model_table(&self) -> Result<ModelTable> {
        let (app, key) = (self.app.clone(), self.args.api_key.clone());
        blocking(move || Ok(ModelTable::read(&app).0.with_key(key.as_deref()))).await
    }

    /// The models that a key changes between, and what is wrong with their patterns.
    pub(super) async fn scope(&self, agent: &AgentSession) -> Result<(Vec<ScopedModel>, Settings)> {
        let chosen = self.scope.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let app = App { ui: self.app.ui.quiet(), ..self.app.clone() };
        let settings = agent.read(move |session: &Session| app.layers(session)).await??;
        let settings = Settings::from(&settings);
        let patterns = chosen.unwrap_or_else(|| self.args.scope(&settings));
        Ok((self.model_table().await?.scope(&patterns).0, settings))
    }

    pub(super) fn use_scope(&self, names: Vec<String>) {
        *self.scope.lock().unwrap_or_else(PoisonError::into_inner) = Some(names);
    }

    pub(super) fn notice(&self, level: Level, text: impl Into<String>) {
        self.tell(Msg::Notice(level, text.into()));
    }
}

/// Asks the agent, and sends its answer to the front end.
pub(super) async fn ask(context: &JobContext, agent: &AgentSession, request: impl Into<TerminalAsk>) {
    context.tell(Msg::Answered(Box::new(request.into().send(agent).await)));
}

/// Runs blocking work on another thread: the agent lives on this one.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => Err(CommandError::new(FailureKind::Failed, format!("a part of the program failed: {error}"))),
    }
}
