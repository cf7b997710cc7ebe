//! The data of responses, in pi's shapes. `docs/rpc.md` lists them.

use offshoot_agent::resources::{Resource, ResourceScope, Resources};
use offshoot_agent::tool::SourcePrompt;
use offshoot_protocol::model::{Model, Price};
use offshoot_protocol::{ChildState, QueueMode, ThinkingLevel};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What became of a message.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Disposition {
    /// A run began with it.
    Started,
    /// It waits for the agent, which works.
    Queued,
    /// An extension dealt with it.
    Handled,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct DispositionData {
    pub(crate) disposition: Disposition,
}

/// Whether an extension did not allow it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CancelledData {
    pub(crate) cancelled: bool,
}

/// US dollars for a million tokens.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PriceData {
    input: f64,
    output: f64,
    cache_read: f64,
    cache_write: f64,
}

/// pi's model object. Headers are left out: their values may be keys.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ModelData<'a> {
    id: &'a str,
    name: &'a str,
    /// The wire format, such as `anthropic-messages`.
    api: &'a str,
    provider: &'a str,
    base_url: &'a str,
    reasoning: bool,
    /// `text`, and `image` if it reads pictures.
    input: &'static [&'static str],
    cost: PriceData,
    context_window: u64,
    max_tokens: u64,
}

impl<'a> ModelData<'a> {
    pub(crate) fn new(model: &'a Model) -> Self {
        let Price { input, output, cache_read, cache_write } = model.price;
        Self {
            id: &model.id,
            name: &model.name,
            api: &model.api,
            provider: &model.provider,
            base_url: &model.base_url,
            reasoning: model.reasoning,
            input: if model.images { &["text", "image"] } else { &["text"] },
            cost: PriceData { input, output, cache_read, cache_write },
            context_window: model.context_window,
            max_tokens: model.max_tokens,
        }
    }
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ModelsData<'a> {
    pub(crate) models: Vec<ModelData<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ModelInUseData<'a> {
    model: ModelData<'a>,
    thinking_level: &'static str,
    is_scoped: bool,
}

impl<'a> ModelInUseData<'a> {
    pub(crate) fn new(model: &'a Model, level: ThinkingLevel, is_scoped: bool) -> Self {
        Self { model: ModelData::new(model), thinking_level: level.as_str(), is_scoped }
    }
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct LevelData {
    pub(crate) level: &'static str,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ChildrenData {
    pub(crate) children: Vec<ChildState>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LevelsData {
    levels: Vec<&'static str>,
}

impl LevelsData {
    pub(crate) fn of(model: &Model) -> Self {
        Self { levels: model.levels().into_iter().map(ThinkingLevel::as_str).collect() }
    }
}

/// How many of the messages that wait are delivered at once.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum QueueModeData {
    All,
    OneAtATime,
}

impl From<QueueMode> for QueueModeData {
    fn from(mode: QueueMode) -> Self {
        match mode {
            QueueMode::All => Self::All,
            QueueMode::OneAtATime => Self::OneAtATime,
        }
    }
}

/// The agent and its session now.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StateData<'a> {
    pub(crate) model: ModelData<'a>,
    pub(crate) thinking_level: &'static str,
    /// Whether a run is under way.
    pub(crate) is_streaming: bool,
    /// Whether a compaction or another summary is written.
    pub(crate) is_compacting: bool,
    pub(crate) steering_mode: QueueModeData,
    pub(crate) follow_up_mode: QueueModeData,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session_file: Option<String>,
    pub(crate) session_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session_name: Option<String>,
    pub(crate) auto_compaction_enabled: bool,
    /// In the context: what the model would be sent.
    pub(crate) message_count: usize,
    /// In both queues.
    pub(crate) pending_message_count: usize,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TokensData {
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_write: u64,
    pub(crate) total: u64,
}

/// How full the context is.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ContextUsageData {
    pub(crate) tokens: u64,
    pub(crate) context_window: u64,
    pub(crate) percent: f64,
    /// The estimates of the messages.
    pub(crate) message_tokens: u64,
    /// The system prompt and the tools. `tokens` has them already.
    pub(crate) overhead_tokens: u64,
}

/// Messages, tokens and cost of the session, all branches together.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StatsData {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session_file: Option<String>,
    pub(crate) session_id: String,
    pub(crate) user_messages: u64,
    pub(crate) assistant_messages: u64,
    pub(crate) tool_calls: u64,
    pub(crate) tool_results: u64,
    pub(crate) total_messages: u64,
    pub(crate) tokens: TokensData,
    /// US dollars.
    pub(crate) cost: f64,
    /// Missing if the model's window is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) context_usage: Option<ContextUsageData>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct PathData {
    pub(crate) path: String,
}

/// The new session, and the text of the message before which it begins.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ForkedData {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    pub(crate) cancelled: bool,
    /// The files that came, as `switch --files --json` prints them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) files: Option<FilesThatCameData>,
}

/// What became of the files.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct FilesThatCameData {
    written: Vec<String>,
    removed: Vec<String>,
    /// Those of them that have changes of somebody else as well.
    merged: Vec<String>,
    conflicts: Vec<FileConflictData>,
    left: Vec<LeftFileData>,
    /// How many entries were recorded in another folder, or by another program.
    foreign: usize,
}

/// A file that somebody else changed and that stays.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct FileConflictData {
    path: String,
    /// The file with the content of the entry.
    beside: Option<String>,
}

/// A file that cannot be restored.
#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct LeftFileData {
    path: String,
    why: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ForkMessageData {
    pub(crate) entry_id: String,
    pub(crate) text: String,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct ForkMessagesData {
    pub(crate) messages: Vec<ForkMessageData>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct LastTextData {
    pub(crate) text: Option<String>,
}

/// The queued texts, as `clear_queue` returns them.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QueueData {
    pub(crate) steering: Vec<String>,
    pub(crate) follow_up: Vec<String>,
}

/// A move in the tree.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NavigatedData {
    /// Whether it was stopped: nothing changed.
    cancelled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    editor_text: Option<String>,
    /// The id of the summary's entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary_entry_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    /// What happened, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    leaf_id: Option<String>,
}

impl NavigatedData {
    /// What an operation did that writes below the leaf, or moves it.
    pub(crate) fn moved(said: String, warning: Option<String>, leaf_id: Option<String>) -> Self {
        Self { message: Some(said), ..Self::navigated(None, None, (warning, leaf_id)) }
    }

    /// An operation that was stopped.
    pub(crate) fn stopped(leaf_id: Option<String>) -> Self {
        Self { cancelled: true, ..Self::navigated(None, None, (None, leaf_id)) }
    }

    /// A move in the tree.
    pub(crate) fn navigated(
        editor_text: Option<String>,
        summary_entry_id: Option<String>,
        (warning, leaf_id): (Option<String>, Option<String>),
    ) -> Self {
        Self { cancelled: false, editor_text, summary_entry_id, warning, message: None, leaf_id }
    }
}

/// What a prompt may call: templates, then skills.
#[derive(Serialize, JsonSchema)]
pub(crate) struct CommandsData {
    commands: Vec<CalledData>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CalledData {
    /// Without the slash.
    name: String,
    description: String,
    /// `prompt` or `skill`; `mcp` for a prompt of a server.
    source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_info: Option<SourceData>,
    /// The server of a prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    /// The arguments of a server's prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    argument_hint: Option<String>,
}

impl CalledData {
    pub(crate) fn of_server(prompt: SourcePrompt) -> Self {
        let SourcePrompt { name, source, description, usage, .. } = prompt;
        let argument_hint = (!usage.is_empty()).then_some(usage);
        Self { name, description, source: "mcp", source_info: None, server: Some(source), argument_hint }
    }
}

/// Where a prompt template or a skill comes from.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SourceData {
    path: String,
    /// `local` if the command line names it, a package's source if it brings it, else `auto`.
    source: String,
    /// `user`, `project` or `temporary`.
    scope: &'static str,
    /// `package` or `top-level`.
    origin: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    base_dir: Option<String>,
}

impl CommandsData {
    pub(crate) fn new(resources: &Resources) -> Self {
        let templates =
            resources.templates.iter().map(|template| called(&template.about, "prompt", template.about.name.clone()));
        let skills =
            resources.skills.iter().map(|skill| called(&skill.about, "skill", format!("skill:{}", skill.about.name)));
        Self { commands: templates.chain(skills).collect() }
    }
}

fn called(about: &Resource, source: &'static str, name: String) -> CalledData {
    let (origin, scope) = match about.scope {
        ResourceScope::CommandLine => ("local", "temporary"),
        ResourceScope::Project => ("auto", "project"),
        ResourceScope::User => ("auto", "user"),
    };
    let source_info = SourceData {
        path: about.file.display().to_string(),
        source: about.package.as_ref().map_or_else(|| origin.to_owned(), |package| package.source.clone()),
        scope,
        origin: if about.package.is_some() { "package" } else { "top-level" },
        base_dir: base_of(about),
    };
    CalledData {
        name,
        description: about.description.clone(),
        source,
        source_info: Some(source_info),
        server: None,
        argument_hint: None,
    }
}

/// The folder that holds `prompts` or `skills`; of the command line the folder of the file.
fn base_of(about: &Resource) -> Option<String> {
    let named =
        |folder: &&std::path::Path| folder.file_name().is_some_and(|name| name == "prompts" || name == "skills");
    if let Some(package) = &about.package {
        return Some(package.root.display().to_string());
    }
    let folder = match about.scope {
        ResourceScope::CommandLine => about.file.parent()?,
        ResourceScope::Project | ResourceScope::User => about.file.ancestors().find(named)?.parent()?,
    };
    Some(folder.display().to_string())
}
