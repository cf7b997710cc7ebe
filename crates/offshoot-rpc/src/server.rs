//! What the commands of a client share: the agent, the queue to the client, and the events that the client subscribed to.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use offshoot_agent::Approver;
use offshoot_agent::RuleStore;
use offshoot_agent::agent_session::AgentSession;
use offshoot_app::agent::Args;
use offshoot_app::app::App;
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_app::models::ModelTable;
use offshoot_extensions::ExtensionSet;
use offshoot_protocol::message::Message;
use offshoot_protocol::{AgentEvent, AgentId, Event};
use offshoot_session::session::Session;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use crate::extension_front::RpcFront;
use crate::form_questions::OpenForms;
use crate::questions::OpenQuestions;
use crate::record_queue::RecordQueue;
use crate::records::{Disposition, DispositionData};
use crate::responder::{Answered, Responder, Response, RpcData, RpcFailure};
use crate::ui_request::UiMethod;

pub(crate) struct RpcServer {
    /// Quiet: standard error is not the client's.
    pub(crate) app: App,
    pub(crate) agent: AgentSession,
    pub(crate) queue: RecordQueue,
    pub(crate) responses: UnboundedSender<Response>,
    /// Each response that the end of the input waits for holds one.
    pub(crate) owed: Arc<()>,
    pub(crate) extensions: Option<Arc<ExtensionSet>>,
    pub(crate) front: Arc<RpcFront>,
    /// The command line.
    pub(crate) args: Arc<Args>,
    /// Keeps what the client allows always.
    pub(crate) rules: Arc<dyn RuleStore>,
    /// Held by a prompt until it is accepted or refused.
    pub(crate) prompting: tokio::sync::Mutex<()>,
    pub(crate) client: Mutex<RpcClientState>,
}

/// What is known of the client and its commands.
#[derive(Default)]
pub(crate) struct RpcClientState {
    /// The response to a prompt that is not accepted yet, and who waits for that.
    pub(crate) prompt: Option<(Responder, oneshot::Sender<()>)>,
    /// The events since a prompt has begun a run, until it is recorded: its response comes before them.
    held: Vec<AgentEvent>,
    /// The id of the `bash` command that runs, as JSON.
    pub(crate) bash: Option<Arc<str>>,
    pub(crate) is_retrying: bool,
    /// The types of events that are wanted; `None`: all.
    wanted: Option<HashSet<String>>,
    /// Whether events of children are wanted too.
    pub(crate) hears_children: bool,
    /// Whether approval questions are asked by `extension_ui_request` too.
    pub(crate) has_ui: bool,
    /// Milliseconds.
    pub(crate) ui_timeout: Option<u64>,
    pub(crate) questions: OpenQuestions,
    pub(crate) forms: OpenForms,
    shown: u64,
    /// Messages of the context, with the session's id, its number of entries and its leaf.
    pub(crate) counted: Option<(String, usize, Option<String>, usize)>,
}

impl RpcServer {
    pub(crate) fn client(&self) -> MutexGuard<'_, RpcClientState> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs blocking work on another thread: the agent lives on this one.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&App) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, RpcFailure> {
        let app = self.app.clone();
        match tokio::task::spawn_blocking(move || work(&app)).await {
            Ok(done) => Ok(done?),
            Err(error) => Err(RpcFailure(format!("a part of the program failed: {error}"))),
        }
    }

    /// Reads the models and keys again. Those of extensions are among them.
    pub(crate) async fn models(&self) -> std::result::Result<ModelTable, RpcFailure> {
        if let Some(extensions) = &self.extensions {
            extensions.loaded().await;
        }
        let key = self.args.api_key.clone();
        self.blocking(move |app| Ok(ModelTable::read(app).0.with_key(key.as_deref()))).await
    }

    pub(crate) async fn read<T: Send + 'static>(
        &self,
        look: impl FnOnce(&App, &Session) -> Result<T> + Send + 'static,
    ) -> std::result::Result<T, RpcFailure> {
        let app = self.app.clone();
        Ok(self.agent.read(move |session| look(&app, session)).await??)
    }

    /// The events that the client gets from now on.
    pub(crate) fn subscribe(
        &self,
        events: Option<Vec<String>>,
        approvals: Option<bool>,
        ui: Option<bool>,
        ui_timeout: Option<u64>,
    ) -> std::result::Result<RpcData, RpcFailure> {
        let mut client = self.client();
        client.wanted = events.map(|events| events.into_iter().collect());
        client.has_ui = ui.unwrap_or(client.has_ui);
        client.ui_timeout = ui_timeout;
        drop(client);
        if approvals.is_some() || ui.is_some() {
            let can_answer = approvals == Some(true) || ui == Some(true);
            self.agent.set_approver(match can_answer {
                true => Approver::FrontEnd(self.rules.clone()),
                false => Approver::Nobody,
            })?;
        }
        Ok(RpcData::Nothing)
    }

    /// Asks the client to show something, if it can.
    pub(crate) fn show(&self, id: String, method: UiMethod) {
        if let Some(record) = method.record(id, self.queue.version()).filter(|_| self.client().has_ui) {
            self.queue.line(record);
        }
    }

    /// Shows what needs no answer.
    pub(crate) fn tell_user(&self, method: UiMethod) {
        let mut client = self.client();
        client.shown += 1;
        let id = format!("shown-{}", client.shown);
        drop(client);
        self.show(id, method);
    }

    /// Passes an event on, after the responses that come before it. A prompt is accepted when it is recorded.
    pub(crate) fn tell(&self, told: AgentEvent) {
        if told.agent != AgentId::Root {
            return self.pass(told);
        }
        let event = &told.event;
        let mut client = self.client();
        let is_accepted =
            matches!(**event, Event::MessageStart { message: Message::User(_) } | Event::CompactionStart { .. });
        if is_accepted && let Some((responder, accepted)) = client.prompt.take() {
            responder.write(RpcData::of(&STARTED));
            // Whoever waited may have been stopped.
            let _ = accepted.send(());
        }
        let begins = matches!(**event, Event::AgentStart) || !client.held.is_empty();
        if begins && client.prompt.is_some() {
            return client.held.push(told);
        }
        let held = std::mem::take(&mut client.held);
        drop(client);
        held.into_iter().chain([told]).for_each(|event| self.pass(event));
    }

    /// The prompt has its response, which comes first if it has begun a run.
    pub(crate) fn answer_prompt(&self, responder: Responder, answer: Answered) {
        let held = std::mem::take(&mut self.client().held);
        if held.is_empty() {
            return responder.send(answer);
        }
        responder.write(answer);
        held.into_iter().for_each(|event| self.pass(event));
    }

    fn pass(&self, told: AgentEvent) {
        let mut client = self.client();
        match told.event.as_ref() {
            _ if told.agent != AgentId::Root => {}
            Event::AutoRetryStart { .. } => client.is_retrying = true,
            Event::AutoRetryEnd { .. } | Event::AgentSettled { .. } => client.is_retrying = false,
            _ => {}
        }
        let bash = client.bash.clone();
        let is_wanted = (told.agent == AgentId::Root || client.hears_children)
            && client.wanted.as_ref().is_none_or(|wanted| wanted.contains(told.event.kind()));
        drop(client);
        if is_wanted {
            self.queue.event(told, bash.as_ref());
        }
    }
}

pub(crate) const STARTED: DispositionData = DispositionData { disposition: Disposition::Started };
pub(crate) const HANDLED: DispositionData = DispositionData { disposition: Disposition::Handled };
pub(crate) const QUEUED: DispositionData = DispositionData { disposition: Disposition::Queued };

pub(crate) fn not_found(what: impl Into<String>) -> CommandError {
    CommandError::new(FailureKind::NotFound, what)
}
