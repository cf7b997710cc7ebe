//! The session without a guard that did not load: until a person has chosen how to go on, commands are asked about.

use std::sync::{Mutex, MutexGuard, PoisonError};

use offshoot_protocol::ApprovalMode;
use offshoot_protocol::request::SetApproval;
use serde_json::json;

use super::Shared;

/// The key of the status that names the guard.
const STATUS: &str = "guard";

/// Whether a guard is missing, and who has chosen the mode of approval since.
#[derive(Default)]
pub(super) struct MissingGuards(Mutex<Missing>);

#[derive(Default, Clone, Copy)]
struct Missing {
    is_shown: bool,
    /// The mode is just being set for a missing guard.
    is_lowering: bool,
    /// The mode that comes back with the guard.
    before: Option<ApprovalMode>,
}

impl MissingGuards {
    fn now(&self) -> MutexGuard<'_, Missing> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// The mode of approval and the status after a load: these did not load and may be guards.
    pub(crate) async fn watch_guards(&self, missing: &[String]) {
        let was = *self.guards.now();
        if missing.is_empty() {
            *self.guards.now() = Missing::default();
            if was.is_shown {
                self.program.tell_user("setStatus", json!({"key": STATUS, "text": null}));
            }
            if let Some(mode) = was.before {
                self.set_approval(mode).await;
            }
            return;
        }
        let Some(agent) = self.agent() else { return };
        let Ok(mode) = agent.state().await.map(|state| state.approval) else { return };
        if mode == ApprovalMode::Auto {
            self.guards.now().is_lowering = true;
            self.set_approval(ApprovalMode::Edits).await;
            *self.guards.now() = Missing { before: Some(mode), ..Missing::default() };
        }
        self.guards.now().is_shown = true;
        let names = missing.join(", ");
        let now = if mode == ApprovalMode::Auto { "; approval is edits until you choose with /approval" } else { "" };
        let text = format!("{names} did not load and may be a guard{now}");
        self.program.tell_user("setStatus", json!({"key": STATUS, "text": text}));
    }

    async fn set_approval(&self, mode: ApprovalMode) {
        let Some(agent) = self.agent() else { return };
        if agent.ask(SetApproval(mode)).await.is_ok() {
            self.program.tell_user("approval", json!({"mode": mode.as_str()}));
        }
    }

    /// The mode of approval is another one: if a person chose it, they have answered.
    pub(crate) fn approval_chosen(&self, mode: ApprovalMode) {
        let was = *self.guards.now();
        if was.is_lowering || !was.is_shown || mode == ApprovalMode::Edits {
            return;
        }
        *self.guards.now() = Missing::default();
        self.program.tell_user("setStatus", json!({"key": STATUS, "text": null}));
    }
}
