//! Runs one handler after another, on behalf of one set of extensions; loads them, and loads them again once if their host
//! was lost.

use std::path::PathBuf;
use std::sync::Arc;

use offshoot_agent::extensions::Happening;
use offshoot_agent::request_queue::{SetResources, SetTools};
use offshoot_agent::resources::SharedResources;
use offshoot_agent::tool::ToolSource;
use offshoot_protocol::request::SetModel;
use offshoot_protocol::{Event, SessionReason};
use offshoot_session::clock::Clock;
use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;

use crate::contract::{Failure, HandlerAnswer, Host, HostFuture, LoadRequest, LoadedExtension, Payload};
use crate::guards;
use crate::payload::{self, PayloadState};
use crate::registry::{Extension, Listener};
use crate::services::AgentServices;
use crate::shared::Shared;

pub(crate) struct Runner {
    pub(crate) shared: Arc<Shared>,
    pub(crate) hosts: Vec<(Arc<dyn Host>, LoadRequest)>,
    pub(crate) clock: Arc<dyn Clock + Sync>,
    pub(crate) state: PayloadState,
    /// Skills and templates without and with those that extensions have added.
    pub(crate) resources: Option<(SharedResources, SharedResources)>,
    /// Whether the hosts were started again after a loss.
    pub(crate) has_restarted: bool,
    /// A handler has just found its host gone.
    pub(crate) is_lost: bool,
    pub(crate) reloads: UnboundedReceiver<oneshot::Sender<()>>,
}

impl Runner {
    pub(crate) fn listeners(&self, event: &str) -> Vec<Listener> {
        self.shared.registry().listeners(event)
    }

    pub(crate) fn report(&self, listener: &Listener, event: &str, failure: &Failure) {
        self.shared.report(&listener.path, event, failure);
    }

    pub(crate) async fn ask(
        &mut self,
        listener: &Listener,
        event: &str,
        payload: Payload,
    ) -> Result<HandlerAnswer, Failure> {
        let stopped = self.shared.stopped();
        let answer = tokio::select! {
            biased;
            answer = listener.host.handle(listener.id, payload) => answer,
            // Also where the rest of the work goes on, as in the change of a session.
            () = stopped => return Err(Failure::new("the user stopped it")),
        };
        if let Err(failure) = &answer {
            self.report(listener, event, failure);
            self.is_lost |= failure.is_gone;
        }
        answer
    }

    /// Why no call may run: a handler that judged calls is lost.
    pub(crate) fn lost_judge(&self) -> Option<String> {
        let registry = self.shared.registry();
        let lost = registry.lost.as_ref()?;
        let listener = registry.listeners("tool_call").into_iter().next()?;
        Some(format!(
            "not run: the extension {} judges calls and does not run any more ({lost}); /reload starts it again",
            listener.path
        ))
    }

    pub(crate) async fn event(&mut self, event: &Arc<Event>) {
        // The state of an answer counts even if nobody listens.
        let is_heard = self.shared.registry().listens(event.kind());
        let is_needed = matches!(event.as_ref(), Event::TurnEnd { .. } | Event::AgentStart);
        if !is_heard && !is_needed {
            return;
        }
        if let Some((name, payload)) = payload::of_event(&mut self.state, event, self.clock.now()) {
            self.tell(name, payload).await;
        }
    }

    pub(crate) async fn happening(&mut self, happening: Happening) {
        let (name, payload) = payload::of_happening(happening);
        self.tell(name, payload).await;
    }

    /// Loads everything, gives the agent the tools, and begins the session for the extensions.
    pub(crate) async fn begin(&mut self, reason: SessionReason, previous: Option<PathBuf>) {
        self.load(reason).await;
        self.shared.prepare_session().await;
        self.start_session(reason, previous).await;
    }

    /// Tells the extensions of a session, and asks them for resources.
    pub(crate) async fn start_session(&mut self, reason: SessionReason, previous: Option<PathBuf>) {
        let mut payload = json!({"type": "session_start", "reason": reason});
        if let Some(previous) = previous {
            payload["previousSessionFile"] = json!(previous);
        }
        self.tell("session_start", payload).await;
        self.discover(if reason == SessionReason::Reload { reason } else { SessionReason::Startup }).await;
    }

    /// Asks for files and folders of skills, prompt templates and themes, in place of those before.
    async fn discover(&mut self, reason: SessionReason) {
        if self.resources.is_none() && self.listeners("resources_discover").is_empty() {
            return;
        }
        let Some(agent) = self.shared.agent() else { return };
        let found = self.discovered(reason).await;
        self.shared.program.use_themes(found.themes);
        let Ok(now) = agent.state().await.map(|state| state.resources) else { return };
        // What was read anew has none of the old ones.
        let base = match self.resources.take() {
            Some((base, extended)) if extended == now => base,
            Some(_) | None => now,
        };
        let extended = base.with(found.paths);
        drop(agent.ask(SetResources(extended.clone())).await);
        let read = extended.clone();
        let troubles = tokio::task::spawn_blocking(move || read.troubles().to_vec()).await.unwrap_or_default();
        troubles.into_iter().for_each(|why| self.shared.report("", "resources_discover", &Failure::new(why)));
        self.resources = Some((base, extended));
    }

    pub(crate) async fn reload(&mut self) {
        self.leave(SessionReason::Reload, None).await;
        self.has_restarted = false;
        self.begin(SessionReason::Reload, None).await;
    }

    /// An option of the command line that no extension has registered is a mistake.
    fn report_unclaimed(&self) {
        let claimed: Vec<String> = {
            let registry = self.shared.registry();
            let flags = registry.extensions.iter().flat_map(|extension| &extension.loaded.flags);
            flags.map(|flag| flag.name.clone()).collect()
        };
        for (_, request) in &self.hosts {
            for name in request.flags.keys().filter(|name| !claimed.contains(name)) {
                self.shared.report("", "load", &Failure::new(format!("unknown option --{name}")));
            }
        }
    }

    fn report_hidden_tools(&self) {
        let registry = self.shared.registry();
        let told = registry.hidden_tools().into_iter().map(|(own, tool, by)| {
            let why = format!("the tool {} is not used: {} has a tool of this name", tool.name, by.path());
            (own.path(), Failure::new(why))
        });
        let told: Vec<_> = told.collect();
        drop(registry);
        told.iter().for_each(|(path, failure)| self.shared.report(path, "load", failure));
    }

    /// After a loading that the user stopped: without extensions.
    pub(crate) fn give_up_loading(&self) {
        if !*self.shared.is_loaded.borrow() {
            let failure = Failure::new("the user stopped the loading");
            self.shared.report("", "load", &failure);
            self.shared.is_loaded.send_replace(true);
        }
    }

    pub(crate) async fn load(&mut self, reason: SessionReason) {
        let services = Arc::new(AgentServices {
            shared: Arc::downgrade(&self.shared),
            runtime: Handle::current(),
            clock: self.clock.clone(),
        });
        let mut all: Vec<Extension> = Vec::new();
        let mut lost = None;
        // Files that have come, gone or changed since.
        let program = self.shared.program.clone();
        let found = if reason == SessionReason::Startup {
            None
        } else {
            tokio::task::spawn_blocking(move || program.sources()).await.ok().flatten()
        };
        let state = match self.shared.agent() {
            Some(agent) => agent.state().await.ok(),
            None => None,
        };
        let limits = state.map(|state| state.limits.to_string()).unwrap_or_default();
        for (host, request) in &mut self.hosts {
            if let Some(found) = &found {
                request.extensions.clone_from(found);
            }
            let request = LoadRequest { reason, limits: limits.clone(), ..request.clone() };
            let sources = request.extensions.clone();
            let loaded = match host.load(request, services.clone()).await {
                Ok(loaded) => loaded,
                Err(failure) => {
                    let nowhere = sources.first().map(|source| source.path.display().to_string());
                    self.shared.report(&nowhere.unwrap_or_default(), "load", &failure);
                    lost = Some(failure.clone());
                    let failed =
                        |id| LoadedExtension { id, error: Some(failure.clone()), ..LoadedExtension::default() };
                    (0..sources.len()).map(failed).collect()
                }
            };
            for mut loaded in loaded {
                let Some(source) = sources.get(loaded.id).cloned() else { continue };
                if let Some(failure) = &loaded.error {
                    loaded.may_guard = guards::may_guard(&source);
                    let failure = if loaded.may_guard { guards::explained(failure) } else { failure.clone() };
                    if lost.is_none() || loaded.may_guard {
                        self.shared.report(&source.path.display().to_string(), "load", &failure);
                    }
                }
                all.push(Extension { host: host.clone(), source, loaded });
            }
        }
        {
            let mut registry = self.shared.registry();
            let early = std::mem::take(&mut registry.early);
            registry.extensions = all;
            early.into_iter().for_each(|added| registry.add(added));
            registry.lost = lost;
        }
        let missing = self.shared.registry().missing_guards();
        self.shared.watch_guards(&missing).await;
        self.report_unclaimed();
        self.report_hidden_tools();
        let pair = |extension: &Extension| (extension.source.clone(), extension.loaded.clone());
        let loaded = self.shared.registry().extensions.iter().map(pair).collect();
        self.shared.program.keep_loaded(loaded);
        self.is_lost = false;
        self.shared.publish_providers();
        self.shared.publish_servers();
        self.shared.change_models().await;
        let shared = self.shared.clone();
        drop(tokio::spawn(async move { shared.refresh_models().await }));
        let tools = self.shared.tools();
        if let Some(agent) = self.shared.agent() {
            drop(agent.ask(SetTools { source: ToolSource::Extensions, tools }).await);
            if let Some(model) = self.shared.program.awaited_model() {
                drop(agent.ask(SetModel(model)).await);
            }
        }
        self.shared.is_loaded.send_replace(true);
    }

    /// Takes the hosts for lost and starts them again, once.
    pub(crate) fn after_loss(&mut self) -> HostFuture<'_, ()> {
        self.is_lost = true;
        Box::pin(self.recover())
    }

    /// Starts a lost host again, once.
    pub(crate) async fn recover(&mut self) {
        if !std::mem::replace(&mut self.is_lost, false) {
            return;
        }
        if std::mem::replace(&mut self.has_restarted, true) {
            let failure = Failure::gone("its host ended twice");
            self.shared.registry().lost = Some(failure);
            return;
        }
        self.begin(SessionReason::Reload, None).await;
    }

    pub(crate) async fn leave(&mut self, reason: SessionReason, target: Option<PathBuf>) {
        let mut payload = json!({"type": "session_shutdown", "reason": reason});
        if let Some(target) = target {
            payload["targetSessionFile"] = json!(target);
        }
        self.tell("session_shutdown", payload).await;
        if reason == SessionReason::Quit {
            for (host, _) in &self.hosts {
                host.close().await;
            }
            self.shared.registry().extensions.clear();
        }
    }
}
