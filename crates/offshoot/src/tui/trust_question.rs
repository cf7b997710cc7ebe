//! The question whether a project is trusted. What is trusted, and what follows from it, is decided elsewhere.

use std::path::Path;

use offshoot_agent::context_files::{self, ContextTrouble, Links};
use offshoot_agent::resources::of_project;
use offshoot_app::app::App;
use offshoot_app::config::mcp_files;
use offshoot_app::config::settings::{SettingsFiles, of_omp};
use offshoot_app::config::trust_file::{TrustFile, real};
use offshoot_app::error::Result;
use offshoot_app::trust::{RunTrust, Trust, extension_folders};
use offshoot_protocol::Peer;
use offshoot_settings::{Scope, Settings};

use super::start_panel::{StartAnswer, StartQuestion};

/// The program with what was decided about a folder before, and the question, if the folder has files that need a decision
/// and nobody has decided.
pub(super) fn question(app: &App, folder: &Path) -> (App, Option<StartQuestion>) {
    if matches!(app.trust, RunTrust::Decided { .. }) {
        return (app.clone(), None);
    }
    match app.trust_of(folder) {
        (Trust::Given, _) => return (app.clone(), None),
        (Trust::Refused, _) => return (decided(app, folder, false), None),
        (Trust::Unasked, trouble) => trouble.iter().for_each(|trouble| app.ui.warning(trouble)),
    }
    let effects = effects(app, folder);
    let question = (!effects.is_empty()).then(|| asked(app, folder, effects));
    (app.clone(), question)
}

/// The program with the user's decision, which is kept if the answer says so.
pub(super) fn settle(app: &App, folder: &Path, answer: Option<&str>) -> App {
    if let Err(error) = keep(app, folder, answer) {
        app.ui.warning(&format!("the answer counts only this once: {}", error.with_hints_on_one_line()));
    }
    decided(app, folder, matches!(answer, Some("yes" | "parent" | "once")))
}

/// The program with a decision of this run.
pub(super) fn decided(app: &App, folder: &Path, is_trusted: bool) -> App {
    let stored = app.environment.data.as_deref().and_then(|data| TrustFile::of(data).answer(folder).ok()?);
    App { trust: RunTrust::Decided { folder: real(folder), is_trusted, stored }, ..app.clone() }
}

/// The project's files that have an effect, each with what it does.
fn effects(app: &App, folder: &Path) -> Vec<String> {
    let data = app.environment.data.as_deref();
    let mut effects = Vec::new();
    let files = SettingsFiles::of(data, folder);
    if let Some(path) = files.existing_project() {
        let sets = files.load().map(|(layers, _)| layers.project.keys().join(", ")).unwrap_or_default();
        let sets = if sets.is_empty() { "has no settings that can be read".to_owned() } else { format!("sets {sets}") };
        effects.push(format!("{} {sets}", app.environment.short(&path.display().to_string())));
    }
    if let Some(path) = files.existing_omp_project() {
        let of_omp = of_omp(&folder.join(Peer::Omp.in_project()), Scope::Project);
        let sets = of_omp.layer.keys().join(", ");
        let sets = if sets.is_empty() { "sets nothing that offshoot has".to_owned() } else { format!("sets {sets}") };
        effects.push(format!("{} {sets}", app.environment.short(&path.display().to_string())));
    }
    let (_, troubles) = context_files::find(data.unwrap_or(Path::new("")), folder, None, Links::Inside);
    effects.extend(troubles.iter().filter_map(|trouble| match trouble {
        ContextTrouble::LeadsOutside { path, target, .. } => {
            let path = app.environment.short(&path.display().to_string());
            Some(format!("{path} would give the model {}", target.display()))
        }
        ContextTrouble::Unreadable { .. } | ContextTrouble::Cut { .. } => None,
    }));
    effects.extend(of_project(folder, app.environment.home.as_deref()).iter().map(|place| {
        let kind = match place.file_name().and_then(|name| name.to_str()) {
            Some("skills") => "has skills for the model",
            Some("SYSTEM.md") => "replaces the system prompt",
            Some("APPEND_SYSTEM.md") => "adds to the system prompt",
            Some("RULES.md") => "has rules for the model",
            _ if place.parent().is_some_and(|folder| folder.ends_with("rules")) => "is a rule for the model",
            _ => "has prompt templates",
        };
        format!("{} {kind}", app.environment.short(&place.display().to_string()))
    }));
    effects.extend(
        extension_folders(folder)
            .iter()
            .map(|place| format!("{} has extensions", app.environment.short(&place.display().to_string()))),
    );
    let imports = app.settings_files(folder).load().map(|(layers, _)| Settings::from(&layers).mcp_import);
    let servers = mcp_files::of_project(&app.environment, folder, &imports.unwrap_or_default());
    effects.extend(servers.iter().map(|path| {
        format!("{} names MCP servers; each is asked about", app.environment.short(&path.display().to_string()))
    }));
    effects
}

fn asked(app: &App, folder: &Path, effects: Vec<String>) -> StartQuestion {
    let short = |folder: &Path| app.environment.short(&folder.display().to_string());
    let folder = real(folder);
    let parent = folder.parent().unwrap_or(&folder);
    StartQuestion {
        title: format!("Do you trust {}?", short(&folder)),
        about: "These files change how offshoot works:",
        details: effects,
        notes: vec![
            "They can choose the model, its tools and its limits.",
            "They cannot name programs that offshoot runs.",
        ],
        answers: vec![
            StartAnswer::new("yes", "trust this folder"),
            StartAnswer::new("parent", format!("trust {} and all folders in it", short(parent))),
            StartAnswer::new("once", "trust it this once"),
            StartAnswer::new("never", "never trust it"),
        ],
        otherwise: "do not use the files this time",
    }
}

fn keep(app: &App, folder: &Path, answer: Option<&str>) -> Result<()> {
    let Some(file) = app.environment.data.as_deref().map(TrustFile::of) else { return Ok(()) };
    match answer {
        Some("yes") => file.save(folder, true),
        Some("parent") => file.save_parent(folder),
        Some("never") => file.save(folder, false),
        _ => Ok(()),
    }
}
