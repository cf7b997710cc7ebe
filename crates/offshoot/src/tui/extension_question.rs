//! The question whether a trusted project's extensions may run, asked for contents that the user has not allowed yet.

use offshoot_app::agent::{AllPackages, Args, found};
use offshoot_app::app::App;
use offshoot_app::error::Result;
use offshoot_app::extensions::{FoundExtensions, KnownExtensions, listed};
use offshoot_session::session::Session;
use offshoot_session::text::spell_name;

use super::start_panel::{StartAnswer, StartQuestion};

/// The question, if `app` trusts the project and it has extensions that are new or have changed; with these as they are now.
pub(super) fn question(app: &App, args: &Args, session: &Session) -> Result<Option<(StartQuestion, FoundExtensions)>> {
    let found = found(app, args, session, AllPackages::OnlyIfTheProjectHasSome)?;
    if app.environment.data.is_none() || found.unknown.is_empty() {
        return Ok(None);
    }
    let mut details = Vec::new();
    for folder in &found.unknown {
        details.push(spell_name(&app.environment.short(&folder.path.display().to_string())).into_owned());
        details.extend(listed(app, folder).into_iter().map(|name| format!("  {name}")));
    }
    let question = StartQuestion {
        title: "Run these extensions of the project?".to_owned(),
        about: "They are new, or have changed since you allowed them:",
        details,
        notes: vec!["They are programs with all your rights. These files are what they load."],
        answers: vec![StartAnswer::new("yes", "run them, until they change")],
        otherwise: "do not run them this time",
    };
    Ok(Some((question, found)))
}

/// Remembers a yes. Without one the start goes on.
pub(super) fn settle(app: &App, asked: &FoundExtensions, answer: Option<&str>) -> Result<()> {
    match (app.environment.data.as_deref(), answer) {
        (Some(data), Some(_)) => KnownExtensions::of(data).keep(&asked.unknown),
        _ => Ok(()),
    }
}
