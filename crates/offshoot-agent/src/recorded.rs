//! The model, the thinking level, the system prompt and the tools that a branch records, and the entries that record others.
//!
//! What a session has is in its file: a copy of it is true only as long as the leaf is the one for which it was read.

use std::sync::Arc;

use offshoot_protocol::{AgentError, ThinkingLevel};
use offshoot_session::compose::NewEntry;
use offshoot_session::entry::Source as _;
use offshoot_session::header::Dialect;
use offshoot_session::json::Json;
use offshoot_session::kind::{Kind, Role};
use offshoot_session::session::Session;

use crate::provider::ToolSpec;
use crate::stored_prompt::{StoredPrompt, ToolsInEffect};
use crate::system_prompt::PromptSection;
use crate::told_mode::{self, ToldMode};
use crate::told_plan;
use crate::told_sandbox;
use crate::tool::Tool;

/// What a branch records.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Recorded {
    /// Provider and id.
    pub(crate) model: Option<(String, String)>,
    pub(crate) thinking: Option<ThinkingLevel>,
    pub(crate) prompt: StoredPrompt,
    /// What the model was last told of the approval mode.
    pub(crate) told_mode: Option<ToldMode>,
    /// What the model was last told of the sandbox.
    pub(crate) told_sandbox: Option<String>,
    /// The plan that was accepted on the branch, if a compaction has left it out.
    pub(crate) lost_plan: Option<String>,
}

/// What is in effect and belongs into a session.
pub(crate) struct SettingsInEffect {
    /// Provider and id.
    pub(crate) model: (String, String),
    pub(crate) thinking: ThinkingLevel,
    /// `None` where no prompt follows.
    pub(crate) prompt: Option<PromptInEffect>,
}

/// The system prompt and the tools in effect.
pub(crate) struct PromptInEffect {
    /// `None` if the words of the prompt are not stored.
    pub(crate) sections: Option<Vec<PromptSection>>,
    pub(crate) tools: Vec<ToolSpec>,
    /// Every tool that requests could have.
    pub(crate) available: Vec<Arc<dyn Tool>>,
    /// Whether a branch that stores no tools has these.
    pub(crate) are_usual: bool,
    pub(crate) at: i64,
}

impl Recorded {
    /// Reads what the branch of the leaf has. A session that cannot be read says so when it is used.
    pub(crate) fn of(session: &Session) -> Self {
        let Ok(context) = session.context() else { return Self::default() };
        let prompt = StoredPrompt::of(session, &context);
        let model = context.model.as_deref().and_then(|json| {
            let json = Json::parse(json).ok()?;
            Some((json.str("provider")?.into_owned(), json.str("modelId")?.into_owned()))
        });
        // A context without such an entry is "off" too, but nobody chose that.
        let is_chosen = session.leaf().is_some_and(|leaf| session.tree().thinking_level_change(leaf).is_some());
        let thinking = context.thinking_level.as_deref().filter(|_| is_chosen);
        let thinking = thinking.and_then(|json| Json::parse(json).ok()?.as_str().map(std::borrow::Cow::into_owned));
        let thinking = thinking.and_then(|level| ThinkingLevel::parse(&level));
        let told_mode = told_mode::told(session, &context);
        let (told_sandbox, lost_plan) = (told_sandbox::told(session, &context), told_plan::lost(session, &context));
        Self { model, thinking, prompt, told_mode, told_sandbox, lost_plan }
    }

    /// Takes over what is in effect, and returns the entries that record it. omp has none for the prompt and the tools.
    pub(crate) fn follow(&mut self, now: &SettingsInEffect, dialect: Dialect) -> Result<Vec<NewEntry>, AgentError> {
        let mut entries = Vec::new();
        let (provider, model) = &now.model;
        if self.model.as_ref() != Some(&now.model) {
            entries.push(NewEntry::model(provider, model, dialect));
        }
        if self.thinking != Some(now.thinking) {
            entries.push(NewEntry::thinking_level(now.thinking.as_str(), dialect));
        }
        (self.model, self.thinking) = (Some(now.model.clone()), Some(now.thinking));
        if let Some(prompt) = now.prompt.as_ref().filter(|prompt| self.needs(prompt, dialect)) {
            let tools = ToolsInEffect { sent: &prompt.tools, available: &prompt.available };
            entries.extend(self.prompt.follow(prompt.sections.as_deref(), &tools, prompt.at)?);
        }
        Ok(entries)
    }

    fn needs(&self, prompt: &PromptInEffect, dialect: Dialect) -> bool {
        let is_stored = prompt.sections.is_some() || !prompt.are_usual || self.prompt.tools().is_some();
        dialect == Dialect::Pi && is_stored
    }
}

/// Whether a branch that gets this entry may record other settings than before.
pub(crate) fn changes_settings(entry: &NewEntry) -> bool {
    match entry.kind() {
        Kind::ModelChange | Kind::ThinkingLevelChange | Kind::Compaction | Kind::ResetBoundary | Kind::Unknown => true,
        Kind::Message => entry.role() == Some(Role::System),
        Kind::BranchSummary
        | Kind::Custom
        | Kind::CustomMessage
        | Kind::Label
        | Kind::SessionInfo
        | Kind::Usage
        | Kind::ContextEdit
        | Kind::TtsrInjection
        | Kind::SessionInit
        | Kind::ModeChange
        | Kind::ServiceTierChange
        | Kind::TitleChange
        | Kind::CredentialPin
        | Kind::ModelUsage
        | Kind::Session
        | Kind::Title => false,
    }
}
