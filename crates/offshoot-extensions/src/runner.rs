//! Runs one handler after another, on behalf of one set of extensions; loads them, and loads them again once if their host
//! was lost.

use std::sync::Arc;

use offshoot_agent::command::Command;
use offshoot_agent::event::Event;
use offshoot_agent::extensions::Happening;
use offshoot_session::clock::Clock;
use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;

use crate::contract::{Failure, HandlerAnswer, Host, LoadRequest, Loaded};
use crate::payload::{self, PayloadState};
use crate::registry::{Extension, Listener};
use crate::services::AgentServices;
use crate::shared::Shared;

pub(crate) struct Runner {
    pub(crate) shared: Arc<Shared>,
    pub(crate) hosts: Vec<(Arc<dyn Host>, LoadRequest)>,
    pub(crate) clock: Arc<dyn Clock + Sync>,
    pub(crate) state: PayloadState,
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
        payload: Arc<str>,
    ) -> Result<HandlerAnswer, Failure> {
        let answer = listener.host.handle(listener.id, payload).await;
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
    pub(crate) async fn begin(&mut self, reason: &'static str, previous: Option<std::path::PathBuf>) {
        self.load(reason).await;
        self.shared.prepare_session().await;
        let mut payload = json!({"type": "session_start", "reason": reason});
        if let Some(previous) = previous {
            payload["previousSessionFile"] = json!(previous);
        }
        self.tell("session_start", payload).await;
    }

    pub(crate) async fn reload(&mut self) {
        self.leave("reload", None).await;
        self.has_restarted = false;
        self.begin("reload", None).await;
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
                self.shared.report("", "load", &Failure::new(format!("there is no option --{name}")));
            }
        }
    }

    /// After a loading that the user stopped: without extensions.
    pub(crate) fn give_up_loading(&self) {
        if !*self.shared.is_loaded.borrow() {
            let failure = Failure::new("the user stopped the loading");
            self.shared.report("", "load", &failure);
            self.shared.is_loaded.send_replace(true);
        }
    }

    pub(crate) async fn load(&mut self, reason: &'static str) {
        let services = Arc::new(AgentServices { shared: Arc::downgrade(&self.shared), runtime: Handle::current() });
        let mut all: Vec<Extension> = Vec::new();
        let mut lost = None;
        for (host, request) in &self.hosts {
            let request = LoadRequest { reason, ..request.clone() };
            let sources = request.extensions.clone();
            let loaded = match host.load(request, services.clone()).await {
                Ok(loaded) => loaded,
                Err(failure) => {
                    let nowhere = sources.first().map(|source| source.path.display().to_string());
                    self.shared.report(&nowhere.unwrap_or_default(), "load", &failure);
                    lost = Some(failure.clone());
                    let failed = |id| Loaded { id, error: Some(failure.clone()), ..Loaded::default() };
                    (0..sources.len()).map(failed).collect()
                }
            };
            for loaded in loaded {
                let Some(source) = sources.get(loaded.id).cloned() else { continue };
                if let Some(failure) = loaded.error.as_ref().filter(|_| lost.is_none()) {
                    self.shared.report(&source.path.display().to_string(), "load", failure);
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
        self.report_unclaimed();
        self.is_lost = false;
        let tools = self.shared.tools();
        if let Some(agent) = self.shared.agent() {
            drop(agent.ask(Command::SetExtensionTools(tools)).await);
        }
        self.shared.is_loaded.send_replace(true);
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
        self.begin("reload", None).await;
    }

    pub(crate) async fn leave(&mut self, reason: &'static str, target: Option<std::path::PathBuf>) {
        let mut payload = json!({"type": "session_shutdown", "reason": reason});
        if let Some(target) = target {
            payload["targetSessionFile"] = json!(target);
        }
        self.tell("session_shutdown", payload).await;
        if reason == "quit" {
            for (host, _) in &self.hosts {
                host.close().await;
            }
            self.shared.registry().extensions.clear();
        }
    }
}
