//! Everything that an agent is made of, but for its session, and where its keys come from. Builds nothing itself.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use offshoot_session::branch_summary;
use offshoot_session::clock::{Clock, SystemClock};
use offshoot_session::compact;

use crate::command::Rules;
use crate::model::{Access, KeyError, Keys, Models};
use crate::provider::{Model, Provider, Secret, ThinkingLevel};
use crate::sessions::{InMemory, Sessions};
use crate::summarise::Summarise;
use crate::tool::bash::Shell;
use crate::tool::{Tool, ToolContext};
use crate::turn::{QueueMode, Retry};

/// A key on its way. Dropping this stops the command that should say it.
pub type Accessing<'a> = Pin<Box<dyn Future<Output = Result<Access, KeyError>> + Send + 'a>>;

/// Where keys come from. Asked before every request, so that one that ends can be made anew.
pub trait KeySource: Send + Sync {
    /// What a request to this model needs. The error: there should be a key, and is none.
    fn access<'a>(&'a self, model: &'a Arc<Model>) -> Accessing<'a>;

    /// A provider refused its key: what is remembered of it is out of date.
    fn refused(&self, _provider: &str) {}
}

/// One key, or none, for every model.
impl KeySource for Option<Secret> {
    fn access<'a>(&'a self, model: &'a Arc<Model>) -> Accessing<'a> {
        let access = Access { model: model.clone(), key: self.clone() };
        Box::pin(std::future::ready(Ok(access)))
    }
}

/// The keys of a table of models.
impl KeySource for (Arc<Models>, Keys) {
    fn access<'a>(&'a self, model: &'a Arc<Model>) -> Accessing<'a> {
        Box::pin(self.1.access(&self.0, model))
    }

    fn refused(&self, provider: &str) {
        self.1.forget(provider);
    }
}

/// Everything that an agent is made of, but for its session.
#[derive(Clone)]
pub struct Setup {
    /// Who answers requests.
    pub provider: Arc<dyn Provider>,
    /// Where keys come from.
    pub keys: Arc<dyn KeySource>,
    /// The model.
    pub model: Arc<Model>,
    /// The requested thinking level. Each model clamps it to what it supports: see [`Setup::thinking`].
    pub thinking: ThinkingLevel,
    /// The system prompt.
    pub system: String,
    /// What the model may call.
    pub tools: Vec<Arc<dyn Tool>>,
    /// Where tools work.
    pub tool_context: ToolContext,
    /// How the user's own commands run.
    pub shell: Shell,
    /// Trying again.
    pub retry: Retry,
    /// When contexts are compacted, and how much stays.
    pub compaction: compact::Settings,
    /// The same for single models, by `provider/id`.
    pub compaction_for: BTreeMap<String, compact::Settings>,
    /// Who writes summaries; `None`: the model.
    pub summariser: Option<Arc<dyn Summarise>>,
    /// Tokens that a branch summary leaves of the model's window.
    pub branch_reserve: u64,
    /// How much of the steering queue is said at once.
    pub steering: QueueMode,
    /// How much of the follow-up queue is said at once.
    pub follow_up: QueueMode,
    /// Where other sessions come from.
    pub sessions: Arc<dyn Sessions>,
    /// The clock.
    pub clock: Arc<dyn Clock + Sync>,
}

impl Setup {
    /// Goes by other rules.
    pub(crate) fn follow(&mut self, rules: Rules) {
        let Rules { retry, compaction, compaction_for, branch_reserve } = rules;
        (self.retry, self.compaction) = (retry, compaction);
        (self.compaction_for, self.branch_reserve) = (compaction_for, branch_reserve);
    }

    /// How much the model thinks: what it can of what it shall.
    pub fn thinking(&self) -> ThinkingLevel {
        self.model.clamp(self.thinking)
    }

    /// When the context of the model is compacted, and how much stays.
    pub fn compaction(&self) -> compact::Settings {
        let name = format!("{}/{}", self.model.provider, self.model.id);
        self.compaction_for.get(&name).copied().unwrap_or(self.compaction)
    }

    /// An agent that works in a folder, without tools, prompt or key, with pi's settings for the rest.
    pub fn new(provider: Arc<dyn Provider>, model: Arc<Model>, cwd: impl Into<PathBuf>) -> Self {
        let cwd = cwd.into();
        let tool_context =
            ToolContext { spill: cwd.join(".offshoot-output"), cwd, home: None, images: model.images, hidden: None };
        Self {
            provider,
            keys: Arc::new(None::<Secret>),
            model,
            thinking: ThinkingLevel::Off,
            system: String::new(),
            tools: Vec::new(),
            tool_context,
            shell: Shell::default(),
            retry: Retry::default(),
            compaction: compact::Settings::default(),
            compaction_for: BTreeMap::new(),
            summariser: None,
            branch_reserve: branch_summary::RESERVE,
            steering: QueueMode::default(),
            follow_up: QueueMode::default(),
            sessions: Arc::new(InMemory),
            clock: Arc::new(SystemClock),
        }
    }
}
