//! The question whether a project is trusted, asked once, before the front end takes the terminal. What is trusted, and
//! what follows from it, is decided elsewhere.

use std::path::Path;

use offshoot_agent::context_files::{self, ContextTrouble, Links};
use offshoot_agent::resources::of_project;
use offshoot_app::app::App;
use offshoot_app::config::settings::SettingsFiles;
use offshoot_app::config::trust_file::{TrustFile, real};
use offshoot_app::error::{CommandError, Result};
use offshoot_app::trust::{RunTrust, Trust, extension_folders};
use offshoot_session::text::clean_lines;

/// The program with the user's decision about a folder. Asks only if the folder has files that need a decision, and
/// nobody has decided.
pub(super) fn decided(app: &App, folder: &Path) -> Result<App> {
    if matches!(app.trust, RunTrust::Decided { .. }) {
        return Ok(app.clone());
    }
    let stored =
        |app: &App| app.environment.data.as_deref().and_then(|data| TrustFile::of(data).answer(folder).ok()?);
    let asked = |is_trusted: bool| {
        let trust = RunTrust::Decided { folder: real(folder), is_trusted, stored: stored(app) };
        App { trust, ..app.clone() }
    };
    match app.trust_of(folder) {
        (Trust::Given, _) => return Ok(app.clone()),
        (Trust::Refused, _) => return Ok(asked(false)),
        (Trust::Unasked, trouble) => trouble.iter().for_each(|trouble| app.ui.warning(trouble)),
    }
    let effects = effects(app, folder);
    if effects.is_empty() {
        return Ok(app.clone());
    }
    let answer = ask(app, folder, &effects)?;
    if let Err(error) = keep(app, folder, answer) {
        app.ui.warning(&format!("the answer counts only this once: {}", error.with_hints_on_one_line()));
    }
    Ok(asked(matches!(answer, Answer::Folder | Answer::Parent | Answer::Once)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Folder,
    Parent,
    Once,
    Never,
    NotNow,
}

impl Answer {
    /// An empty line, and the end of the input, mean the least.
    fn parse(line: Option<&str>) -> Option<Self> {
        match line.unwrap_or_default().trim().to_lowercase().as_str() {
            "y" | "yes" => Some(Self::Folder),
            "p" | "parent" => Some(Self::Parent),
            "o" | "once" => Some(Self::Once),
            "n" | "never" => Some(Self::Never),
            "" => Some(Self::NotNow),
            _ => None,
        }
    }
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
    let (_, troubles) = context_files::find(data.unwrap_or(Path::new("")), folder, Links::Inside);
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
            _ => "has prompt templates",
        };
        format!("{} {kind}", app.environment.short(&place.display().to_string()))
    }));
    effects.extend(extension_folders(folder).iter().map(|place| {
        format!("{} has extensions, which are asked about next", app.environment.short(&place.display().to_string()))
    }));
    effects
}

fn ask(app: &App, folder: &Path, effects: &[String]) -> Result<Answer> {
    let short = |folder: &Path| app.environment.short(&folder.display().to_string());
    let folder = real(folder);
    let parent = folder.parent().unwrap_or(&folder);
    // Short lines: a narrow terminal breaks long ones within words.
    let mut lines = vec![format!("Do you trust {}?", short(&folder)), String::new()];
    lines.push("These files change how offshoot works:".to_owned());
    lines.extend(effects.iter().map(|effect| format!("  {effect}")));
    lines.extend([
        String::new(),
        "They can choose the model, its tools and its limits.".to_owned(),
        "They cannot name programs that offshoot runs.".to_owned(),
        String::new(),
        "  y      trust this folder".to_owned(),
        format!("  p      trust {} and all folders in it", short(parent)),
        "  o      trust it this once".to_owned(),
        "  n      never trust it".to_owned(),
        "  Enter  do not use the files this time".to_owned(),
        String::new(),
    ]);
    let lines: Vec<String> = lines.iter().map(|line| clean_lines(line).into_owned()).collect();
    let failed = |error| CommandError::io("ask about the folder", &error);
    let mut answer = app.ui.ask(&lines, "y, p, o, n or Enter: ").map_err(failed)?;
    loop {
        match Answer::parse(answer.as_deref()) {
            Some(answer) => return Ok(answer),
            None => answer = app.ui.ask(&[], "y, p, o, n or Enter: ").map_err(failed)?,
        }
    }
}

fn keep(app: &App, folder: &Path, answer: Answer) -> Result<()> {
    let Some(file) = app.environment.data.as_deref().map(TrustFile::of) else { return Ok(()) };
    match answer {
        Answer::Folder => file.save(folder, true),
        Answer::Parent => file.save_parent(folder),
        Answer::Never => file.save(folder, false),
        Answer::Once | Answer::NotNow => Ok(()),
    }
}
