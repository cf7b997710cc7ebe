//! A child's parts, made of its parent's: never with more rights, tools or agents than the parent has. Starts nothing.

use std::path::Path;
use std::sync::Arc;

use offshoot_protocol::ThinkingLevel;
use offshoot_protocol::model::Model;

use offshoot_session::child::child_file;
use offshoot_session::entry::Source as _;
use offshoot_session::session::{Options, Session};

use crate::child_extensions::ChildExtensions;
use crate::extensions::Extensions;
use crate::output_schema::OutputSchema;
use crate::resources::{AgentDefinition, SharedResources};
use crate::setup::Setup;
use crate::spending::RunLimits;
use crate::stored_prompt::ToolSets;
use crate::system_prompt::{PromptParts, SystemPrompt};
use crate::tool::{PLAN_TOOL, TASK_TOOL, TaskOrder, Tool, ToolFilter};

/// The first words to a child that has its parent's context.
const FORKED: &str = "You are another agent now, beside the one of this conversation, which goes on without you. \
                      Do the task below alone; your last message is its result.";

/// What a child is made of, beside its parent's parts.
pub(super) struct ChildPlan {
    pub(super) definition: AgentDefinition,
    /// Of the call, for all of its tasks.
    pub(super) context: Option<String>,
    pub(super) model: Arc<Model>,
    pub(super) thinking: ThinkingLevel,
    /// Of its last answer.
    pub(super) schema: Option<OutputSchema>,
    /// Whether it begins with its parent's context.
    pub(super) forks: bool,
}

impl ChildPlan {
    /// Finds the definition and the model. Fails with words for the model that ordered it.
    pub(super) fn new(parent: &Setup, order: &TaskOrder, context: Option<&String>) -> Result<Self, String> {
        let name = order.agent.as_deref().unwrap_or(crate::resources::USUAL_AGENT);
        let all = parent.resources.all_agents();
        let allowed: Vec<&AgentDefinition> = match &parent.family.own {
            Some(own) => all.iter().filter(|agent| own.spawns.allows(&agent.about.name)).collect(),
            None => all.iter().collect(),
        };
        let Some(definition) = allowed.iter().find(|agent| agent.about.name == name) else {
            let known: Vec<&str> = allowed.iter().map(|agent| agent.about.name.as_str()).collect();
            return Err(format!(
                "there is no agent {name:?} that could be started here; there are: {}",
                known.join(", ")
            ));
        };
        let model = match &order.model {
            Some(named) => model_named(parent, named)
                .ok_or_else(|| format!("there is no model {named:?}; name it as provider/id"))?,
            None => {
                let mut listed = definition.models.iter().filter_map(|named| model_named(parent, named));
                listed.next().unwrap_or_else(|| Arc::clone(&parent.model))
            }
        };
        let thinking = match &order.thinking {
            Some(word) => ThinkingLevel::parse(word).ok_or_else(|| format!("there is no thinking level {word:?}"))?,
            None => definition.thinking.unwrap_or(parent.thinking),
        };
        let definition = AgentDefinition::clone(definition);
        let schema = order.output_schema.clone().map(OutputSchema::new).transpose()?;
        Ok(Self { definition, context: context.cloned(), model, thinking, schema, forks: order.fork })
    }

    /// The first prompt: the task. A child with its parent's context has its parent's system prompt, too, so that the provider has the
    /// beginning of the request cached; its own instructions are in this prompt.
    pub(super) fn first_words(&self, task: &str) -> String {
        if !self.forks {
            return task.to_owned();
        }
        let parts = [Some(FORKED.to_owned()), Some(self.definition.prompt.clone()), self.context(), self.order()];
        let parts = parts.into_iter().flatten().filter(|part| !part.trim().is_empty());
        parts.chain([format!("# Your task\n\n{task}")]).collect::<Vec<_>>().join("\n\n")
    }

    fn context(&self) -> Option<String> {
        self.context.as_ref().map(|context| format!("# Context\n\n{context}"))
    }

    fn order(&self) -> Option<String> {
        self.schema.as_ref().map(OutputSchema::order)
    }

    /// The setup of a child of this depth, without its place in the family.
    pub(super) fn setup(&self, parent: &Setup, depth: u64) -> Setup {
        let mut child = parent.clone();
        child.model = Arc::clone(&self.model);
        child.thinking = self.thinking;
        child.system = self.system(&parent.system);
        child.tools = self.tools(parent, depth);
        child.tool_sets = parent.tool_sets.as_ref().map(|sets| ToolSets {
            available: parent.tools.clone(),
            first: child.tools.clone(),
            usual: sets.usual.clone(),
            filter: ToolFilter::default(),
        });
        let mode = self.definition.approval.unwrap_or(parent.permissions.mode);
        child.permissions.mode = parent.permissions.mode.max(mode).for_started_agent();
        // Its task is not a person's line: `/name` calls nothing.
        child.resources = SharedResources::default();
        child.limits = RunLimits { wait: parent.limits.wait, ..RunLimits::default() };
        child.extensions = parent.extensions.clone().map(|own| Arc::new(ChildExtensions(own)) as Arc<dyn Extensions>);
        (child.source, child.live_tools) = (None, None);
        // The parent's call records what changes while it runs.
        child.files = None;
        child
    }

    fn system(&self, parent: &SystemPrompt) -> SystemPrompt {
        if self.forks {
            return parent.clone();
        }
        let own = self.definition.prompt.clone();
        let rest = [self.context(), self.order()].into_iter().flatten().collect::<Vec<_>>();
        let context = (!rest.is_empty()).then(|| rest.join("\n\n"));
        match parent {
            SystemPrompt::Fixed(_) => {
                SystemPrompt::Fixed([Some(own), context].into_iter().flatten().collect::<Vec<_>>().join("\n\n"))
            }
            SystemPrompt::Parts(parts) => {
                let append = [parts.append.clone(), context].into_iter().flatten().collect::<Vec<_>>();
                let append = (!append.is_empty()).then(|| append.join("\n\n"));
                let custom = if own.is_empty() { parts.custom.clone() } else { Some(own) };
                SystemPrompt::Parts(Arc::new(PromptParts { custom, append, ..PromptParts::clone(parts) }))
            }
        }
    }

    /// Those of the parent that the definition names.
    fn tools(&self, parent: &Setup, depth: u64) -> Vec<Arc<dyn Tool>> {
        let definition = &self.definition;
        let may_start = depth < parent.family.limits().depth && !definition.spawns.is_none();
        let is_had = |tool: &&Arc<dyn Tool>| {
            let name = tool.name();
            definition.tools.as_ref().is_none_or(|names| names.iter().any(|own| own == name))
                && !definition.denied_tools.iter().any(|denied| denied == name)
                // Plans are the person's and this agent's business.
                && name != PLAN_TOOL
                && (name != TASK_TOOL || may_start)
        };
        // A definition may name tools that the parent could turn on: they read what its own tools read.
        let usable = parent.tool_sets.as_ref().map(|sets| sets.available.as_slice()).unwrap_or_default();
        let reads = |tool: &&Arc<dyn Tool>| {
            let is_named = definition.tools.as_ref().is_some_and(|names| names.iter().any(|own| own == tool.name()));
            let is_new = parent.tools.iter().all(|known| known.name() != tool.name());
            let is_allowed = parent.tool_sets.as_ref().is_some_and(|sets| sets.filter.allows(tool.name()));
            matches!(tool.name(), "grep" | "find" | "ls") && is_named && is_new && is_allowed
        };
        parent.tools.iter().filter(is_had).chain(usable.iter().filter(reads)).cloned().collect()
    }
}

/// A model as `provider/id`, or an id of the parent's provider.
pub(super) fn model_named(parent: &Setup, named: &str) -> Option<Arc<Model>> {
    let own = &parent.model;
    if named == own.id || named == format!("{}/{}", own.provider, own.id) {
        return Some(Arc::clone(own));
    }
    let by_provider = named.split_once('/').and_then(|(provider, id)| parent.sessions.model(provider, id));
    by_provider.or_else(|| parent.sessions.model(&own.provider, named))
}

/// The beginning of a child's file name: what the call says, if that is a name, else the agent's.
pub(super) fn wanted_id(order: &TaskOrder, definition: &AgentDefinition, parent: Option<&str>) -> String {
    let said = order.name.as_deref().map(str::trim).filter(|name| crate::resources::is_agent_name(name));
    let name = said.unwrap_or(&definition.about.name);
    match parent {
        Some(parent) => format!("{parent}.{name}"),
        None => name.to_owned(),
    }
}

/// Whether nobody has used the id in the folder. A file without an entry is what a killed program has left.
pub(super) fn is_free(folder: Option<&Path>, id: &str) -> bool {
    let Some(folder) = folder else { return true };
    let file = child_file(folder, id);
    !file.exists() || Session::open(&file, Options::default()).is_ok_and(|session| session.tree().is_empty())
}
