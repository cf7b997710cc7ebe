//! The question whether pi's own folder counts, and what follows from its answer.

use std::path::Path;

use offshoot_app::app::App;
use offshoot_app::config::settings::SettingsFiles;
use offshoot_app::error::Result;
use offshoot_settings::{PiFolder, Scope, Value};

use super::start_panel::{StartAnswer, StartQuestion};
use crate::commands::doctor::pi_standing;

/// The question, if pi has a folder with something to use, and nobody has answered.
pub(super) fn question(app: &App) -> Result<Option<StartQuestion>> {
    if settings(app).load()?.0.pi_folder() != PiFolder::Ask {
        return Ok(None);
    }
    let standing = pi_standing(app).filter(|standing| !standing.counts.is_empty());
    Ok(standing.map(|standing| foreign_folder(app, "pi", &standing.path, standing.counts)))
}

/// The question about the own folder of another program.
fn foreign_folder(app: &App, program: &str, path: &Path, counts: Vec<String>) -> StartQuestion {
    let path = app.environment.short(&path.display().to_string());
    StartQuestion {
        title: format!("Use the files of {program} in {path}?"),
        about: "They are:",
        details: counts,
        notes: vec!["offshoot uses them after its own, and never writes there."],
        answers: vec![StartAnswer::new("yes", "use them"), StartAnswer::new("no", "do not use them")],
        otherwise: "do not use them this time",
    }
}

/// Keeps the answer in the user's settings. Without one the next start asks again.
pub(super) fn settle(app: &App, answer: Option<&str>) {
    let Some(answer) = answer else { return };
    let value = Value::Text(if answer == "yes" { "on" } else { "off" }.to_owned());
    if let Err(error) = settings(app).store(Scope::Global, "piFolder", Some(&value)) {
        app.ui.warning(&format!("the answer is not kept: {}", error.with_hints_on_one_line()));
    }
}

fn settings(app: &App) -> SettingsFiles {
    SettingsFiles::of(app.environment.data.as_deref(), &app.environment.cwd).without_project(None)
}
