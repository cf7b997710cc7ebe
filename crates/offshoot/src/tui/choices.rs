//! Completions of command arguments: models, entries, labels, read anew from the open session and the user's files each
//! time.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::model::ScopedModel;
use offshoot_agent::resources::{Resource, ResourceScope, Resources};
use offshoot_agent::tool::SourcePrompt;
use offshoot_app::app::App;
use offshoot_app::error::CommandError;
use offshoot_app::local_models;
use offshoot_extensions::ExtensionSet;
use offshoot_protocol::model::Model;
use offshoot_session::entry::Source as _;
use offshoot_session::error::Error;
use offshoot_session::id::EntryId;
use offshoot_session::session::Session;
use offshoot_session::stats;
use offshoot_session::text::one_line;
use offshoot_session::transcript::Level;
use offshoot_settings::Settings;
use offshoot_tui::app::msg::{ListedModel, Msg};
use offshoot_tui::editor::Choice;
use offshoot_tui::markdown::plain;
use offshoot_tui::overlay::model_scope::ScopeRow;
use offshoot_tui::slash::Argument;
use offshoot_workspace::{LocalSearch, SearchedServer};
use serde_json::Value;

use super::job_context::{JobContext, blocking};

/// The width of a branch's last words.
const WORDS: usize = 80;
/// More values of an extension are not offered.
const MOST: usize = 1_000;

/// Templates and skills, with where they come from.
pub(super) fn called(resources: &Resources, settings: &Settings) -> Vec<Choice> {
    let detail = |about: &Resource| {
        let from = match about.scope {
            ResourceScope::CommandLine => "command line",
            ResourceScope::Project => "project",
            ResourceScope::User => "user",
        };
        let package = about.package.as_ref().map(|package| format!(", {}", package.source)).unwrap_or_default();
        format!("{} ({from}{package})", about.description.trim())
    };
    let templates = resources.templates.iter().map(|template| {
        let hint = template.argument_hint.as_ref().map(|hint| format!("{hint}  ")).unwrap_or_default();
        Choice::new(&template.about.name).with(hint + &detail(&template.about))
    });
    let skills = resources
        .skills
        .iter()
        .filter(|_| settings.offers_skills)
        .map(|skill| Choice::new(format!("skill:{}", skill.about.name)).with(detail(&skill.about)));
    templates.chain(skills).collect()
}

/// The same with the commands of extensions, which are first.
pub(super) fn with_commands(called: Vec<Choice>, extensions: &ExtensionSet) -> Vec<Choice> {
    let command = |command: &Value| {
        let text = |name: &str| command[name].as_str().unwrap_or_default().to_owned();
        let path = command["sourceInfo"]["path"].as_str().map(Path::new);
        let file = path.and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let words = [text("description"), format!("({file})")];
        Choice::new(text("name")).with(words.join(" ").trim())
    };
    let sign_ins = extensions.sign_ins();
    let sign_in = |name: &str, says: &str| Choice::new(name).with(format!("{says} {}", sign_ins.join(", ")));
    let sign_in = [("login", "Signs in to"), ("logout", "Signs out of")].map(|(name, says)| sign_in(name, says));
    let sign_in = sign_in.into_iter().filter(|_| !sign_ins.is_empty());
    extensions.commands().iter().map(command).chain(sign_in).chain(called).collect()
}

/// A prompt of a server.
pub(super) fn prompt(prompt: &SourcePrompt) -> Choice {
    let hint = if prompt.usage.is_empty() { String::new() } else { format!("{}  ", prompt.usage) };
    Choice::new(&prompt.name).with(format!("{hint}{} (MCP server {})", prompt.description, prompt.source))
}

/// The values that an extension's command offers for its argument.
pub(super) async fn of_extension(context: &JobContext, name: &str) {
    let Some(extensions) = &context.extensions else { return };
    let offered = extensions.completions(name, "").await.unwrap_or_default();
    let choice = |offer: &Value| {
        let text = |name: &str| offer[name].as_str().map(str::to_owned);
        let insert = text("value")?;
        Some(Choice {
            label: text("label").unwrap_or_else(|| insert.clone()),
            detail: text("description").unwrap_or_default(),
            insert,
        })
    };
    let choices = offered.as_array().into_iter().flatten().take(MOST).filter_map(choice).collect();
    context.tell(Msg::Choices(Argument::Called, choices));
}

pub(super) async fn find(context: &JobContext, agent: &AgentSession, argument: Argument) {
    let found = match argument {
        Argument::Model => {
            let name = |model: &Arc<Model>| Choice::new(format!("{}/{}", model.provider, model.id));
            let table = context.model_table().await.map_err(|error| error.on_one_line());
            table.map(|table| table.usable().iter().map(name).collect())
        }
        Argument::Entry => match agent.read(entries).await {
            Ok(entries) => entries.map_err(|error| error.to_string()),
            // The agent has ended.
            Err(_) => return,
        },
        Argument::Label => match agent.read(labels).await {
            Ok(labels) => Ok(labels),
            Err(_) => return,
        },
        // The front end knows these, or nobody does.
        Argument::Session
        | Argument::Thinking
        | Argument::Approval
        | Argument::Sandbox
        | Argument::FilesOption
        | Argument::File
        | Argument::Text
        | Argument::Called => return,
    };
    match found {
        Ok(choices) => context.tell(Msg::Choices(argument, choices)),
        Err(why) => context.notice(Level::Error, format!("what could be meant is not known: {why}")),
    }
}

/// Sends all models, those that can be asked first; without such a one, also a notice how to add a key.
pub(super) async fn models(context: &JobContext) -> Result<(), CommandError> {
    let models = listed(context, &[]).await?;
    if models.first().is_none_or(|first| !first.has_key) {
        context.notice(Level::Warning, keyless(&context.app));
    }
    context.tell(Msg::Models(models));
    Ok(())
}

/// Asks the servers of this machine for their models, and sends all models with those first.
pub(super) async fn local_models(context: &JobContext) -> Result<(), CommandError> {
    let app = App { ui: context.app.ui.quiet(), ..context.app.clone() };
    let LocalSearch { servers, trouble } = blocking(move || local_models::search(&app, None)).await?;
    trouble.into_iter().for_each(|why| context.notice(Level::Warning, why));
    let found: Vec<&str> =
        servers.iter().filter_map(SearchedServer::found).map(|found| found.server.provider()).collect();
    if !found.is_empty() {
        context.tell(Msg::LocalModels(listed(context, &found).await?));
    }
    LocalSearch { servers, trouble: None }.lines().into_iter().for_each(|line| context.notice(Level::Info, line));
    Ok(())
}

/// All models, those that can be asked first, and among them those of these providers.
async fn listed(context: &JobContext, first: &[&str]) -> Result<Vec<ListedModel>, CommandError> {
    let table = context.model_table().await?;
    let listed = |model: &Model| ListedModel { model: Arc::new(model.clone()), has_key: table.can_ask(model) };
    let mut models: Vec<ListedModel> = table.models.all().map(listed).collect();
    models.sort_by_key(|listed| (!listed.has_key, !first.contains(&listed.model.provider.as_str())));
    Ok(models)
}

/// Sends the models that can be asked, ticked if a key changes between them.
pub(super) async fn model_scope(context: &JobContext, agent: &AgentSession) -> Result<(), CommandError> {
    let (scope, _) = context.scope(agent).await?;
    let usable = context.model_table().await?.usable();
    let name = |model: &Model| format!("{}/{}", model.provider, model.id);
    let row = |model: &Model, scoped: Option<&ScopedModel>| ScopeRow {
        name: name(model),
        level: scoped.and_then(|scoped| scoped.level).map(|level| level.as_str().to_owned()),
        detail: model.name.clone(),
        is_ticked: scoped.is_some(),
    };
    let is_scoped = |model: &Model| scope.iter().any(|scoped| name(&scoped.model) == name(model));
    let ticked = scope.iter().map(|scoped| row(&scoped.model, Some(scoped)));
    let others = usable.iter().filter(|model| !is_scoped(model)).map(|model| row(model, None));
    context.tell(Msg::ModelScope(ticked.chain(others).collect()));
    Ok(())
}

fn keyless(app: &App) -> String {
    let folder = app.environment.data.as_deref().map(|data| app.environment.short(&data.display().to_string()));
    let folder = folder.unwrap_or_default();
    format!(
        "no model can be asked yet: /login asks for a key and saves it in {folder}/auth.json; or set the variable of a provider \
         (ANTHROPIC_API_KEY, OPENAI_API_KEY, GROQ_API_KEY …) and start again. `offshoot models --help` tells more"
    )
}

/// The labels in use, each once.
fn labels(session: &Session) -> Vec<Choice> {
    let mut seen = HashSet::new();
    let labels = session.tree().labels().into_iter().map(|(_, label)| one_line(&label.text, usize::MAX));
    labels.filter(|label| seen.insert(label.clone())).map(Choice::new).collect()
}

/// Labelled entries, in the order in which they were labelled; then the ends of branches, the newest first.
fn entries(session: &Session) -> Result<Vec<Choice>, Error> {
    let tree = session.tree();
    let mut named = HashSet::new();
    let mut labelled = HashSet::new();
    let mut choices = Vec::new();
    for (target, label) in tree.labels() {
        let Some(ix) = tree.find(target.as_str()) else { continue };
        labelled.insert(ix);
        let shown = one_line(&label.text, usize::MAX);
        // A label names its first entry only if it is typed exactly as shown; otherwise the id is inserted.
        let names_it = named.insert(label.text.clone()) && shown == label.text && !shown.contains('"');
        let insert = if names_it { shown.clone() } else { target.as_str().to_owned() };
        choices.push(Choice { insert, label: shown, detail: target.as_str().to_owned() });
    }
    let mut branches = stats::branches(session, session.leaf())?;
    branches.sort_by_key(|branch| std::cmp::Reverse(branch.time));
    let ends = branches.iter().filter(|branch| !labelled.contains(&branch.leaf)).filter_map(|branch| {
        let id = tree.node(branch.leaf).id().map(EntryId::as_str)?;
        Some(Choice::new(id).with(plain(&branch.last_words, WORDS)))
    });
    choices.extend(ends);
    Ok(choices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use offshoot_session::session::Options;

    fn session(lines: &[&str]) -> Session {
        let header = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
        let text: String = std::iter::once(&header).chain(lines).map(|line| format!("{line}\n")).collect();
        Session::from_text(&text, Options::default()).unwrap()
    }

    fn said(id: &str, parent: &str, second: u8, words: &str) -> String {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:0{second}.000Z","message":{{"role":"user","content":"{words}"}}}}"#
        )
    }

    fn label(id: &str, parent: &str, target: &str, text: &str) -> String {
        format!(
            r#"{{"type":"label","id":"{id}","parentId":"{parent}","timestamp":"2026-01-01T00:00:09.000Z","targetId":"{target}","label":"{text}"}}"#
        )
    }

    #[test]
    fn labels_and_ends_of_branches_are_offered() {
        let lines = [
            said("aaaa0001", "null", 1, "root"),
            said("aaaa0002", "\"aaaa0001\"", 2, "the **old** way"),
            said("aaaa0003", "\"aaaa0001\"", 3, "the new way"),
            said("aaaa0004", "\"aaaa0001\"", 4, "labelled"),
            label("bbbb0001", "aaaa0004", "aaaa0004", "the fix"),
            label("bbbb0002", "bbbb0001", "aaaa0001", "the fix"),
            label("bbbb0003", "bbbb0002", "aaaa0001", "say \\\"no\\\""),
            label("bbbb0004", "bbbb0003", "gone", "nowhere"),
        ];
        let session = session(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        let shown = |choices: Vec<Choice>| {
            let row = |choice: Choice| {
                format!("{} | {} | {}", choice.insert, choice.label, choice.detail).trim_end().to_owned()
            };
            choices.into_iter().map(row).collect::<Vec<_>>().join("\n")
        };
        insta::assert_snapshot!(shown(entries(&session).unwrap()), @r#"
        the fix | the fix | aaaa0004
        aaaa0001 | say "no" | aaaa0001
        aaaa0003 | aaaa0003 | the new way
        aaaa0002 | aaaa0002 | the old way
        "#);
        insta::assert_snapshot!(shown(labels(&session)), @r#"
        the fix | the fix |
        say "no" | say "no" |
        nowhere | nowhere |
        "#);
    }
}
