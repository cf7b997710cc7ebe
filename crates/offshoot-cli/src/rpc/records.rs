//! The data of responses, in pi's shapes. `docs/rpc.md` lists them.

use offshoot_agent::provider::{Model, Price, ThinkingLevel};
use offshoot_agent::resources::{Resource, ResourceScope, Resources};
use offshoot_agent::turn::{Navigated, QueueMode};
use offshoot_session::json::{Object, quote};
use serde::Serialize;

/// pi's model object. Headers are left out: their values may be keys.
pub(super) fn model(model: &Model) -> String {
    let Price { input, output, cache_read, cache_write } = model.price;
    let cost = Object::new()
        .raw("input", input)
        .raw("output", output)
        .raw("cacheRead", cache_read)
        .raw("cacheWrite", cache_write)
        .finish();
    Object::new()
        .str("id", &model.id)
        .str("name", &model.name)
        .str("api", &model.api)
        .str("provider", &model.provider)
        .str("baseUrl", &model.base_url)
        .raw("reasoning", model.reasoning)
        .raw("input", if model.images { r#"["text","image"]"# } else { r#"["text"]"# })
        .raw("cost", cost)
        .raw("contextWindow", model.context_window)
        .raw("maxTokens", model.max_tokens)
        .finish()
}

pub(super) fn models<'a>(all: impl IntoIterator<Item = &'a Model>) -> String {
    let all: Vec<String> = all.into_iter().map(model).collect();
    format!("{{\"models\":[{}]}}", all.join(","))
}

pub(super) fn model_in_use(of: &Model, level: ThinkingLevel) -> String {
    let object = Object::new().raw("model", model(of)).str("thinkingLevel", level.as_str());
    object.raw("isScoped", false).finish()
}

pub(super) fn levels(of: &Model) -> String {
    let levels: Vec<String> = of.levels().into_iter().map(|level| quote(level.as_str())).collect();
    format!("{{\"levels\":[{}]}}", levels.join(","))
}

pub(super) fn queue_mode(mode: QueueMode) -> &'static str {
    match mode {
        QueueMode::All => "all",
        QueueMode::OneAtATime => "one-at-a-time",
    }
}

/// The queued texts, as `clear_queue` returns them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct QueueData {
    pub(super) steering: Vec<String>,
    pub(super) follow_up: Vec<String>,
}

/// A move in the tree.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NavigatedData {
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
    pub(super) fn new(navigated: Navigated, leaf_id: Option<String>) -> Self {
        Self {
            cancelled: navigated.aborted,
            editor_text: navigated.editor_text,
            summary_entry_id: navigated.summary,
            warning: navigated.warning,
            message: navigated.said,
            leaf_id,
        }
    }
}

/// What a prompt may call: templates, then skills.
pub(super) fn commands(resources: &Resources) -> String {
    let templates = resources.templates.iter().map(|template| called(&template.about, "prompt", &template.about.name));
    let skills =
        resources.skills.iter().map(|skill| called(&skill.about, "skill", &format!("skill:{}", skill.about.name)));
    format!("{{\"commands\":[{}]}}", templates.chain(skills).collect::<Vec<_>>().join(","))
}

fn called(about: &Resource, source: &str, name: &str) -> String {
    let (origin, scope) = match about.scope {
        ResourceScope::CommandLine => ("local", "temporary"),
        ResourceScope::Project => ("auto", "project"),
        ResourceScope::User => ("auto", "user"),
    };
    let info = Object::new()
        .str("path", &about.file.display().to_string())
        .str("source", origin)
        .str("scope", scope)
        .str("origin", "top-level");
    let info = match base_of(about) {
        Some(folder) => info.str("baseDir", &folder),
        None => info,
    };
    Object::new()
        .str("name", name)
        .str("description", &about.description)
        .str("source", source)
        .raw("sourceInfo", info.finish())
        .finish()
}

/// The folder that holds `prompts` or `skills`; of the command line the folder of the file.
fn base_of(about: &Resource) -> Option<String> {
    let named =
        |folder: &&std::path::Path| folder.file_name().is_some_and(|name| name == "prompts" || name == "skills");
    let folder = match about.scope {
        ResourceScope::CommandLine => about.file.parent()?,
        ResourceScope::Project | ResourceScope::User => about.file.ancestors().find(named)?.parent()?,
    };
    Some(folder.display().to_string())
}

/// Nothing can refuse a new session yet.
pub(super) const NOT_CANCELLED: &str = r#"{"cancelled":false}"#;
