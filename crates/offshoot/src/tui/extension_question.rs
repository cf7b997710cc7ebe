//! The question whether a trusted project's extensions may run, asked for contents that the user has not allowed yet.

use offshoot_app::agent::{AllPackages, Args, found};
use offshoot_app::app::App;
use offshoot_app::error::{CommandError, Result};
use offshoot_app::extensions::{KnownExtensions, listed};
use offshoot_session::session::Session;
use offshoot_session::text::{clean_lines, spell_name};

/// Asks about extensions that are new or have changed, and remembers a yes. The answer does not stop the start.
pub(super) fn ask(app: &App, args: &Args, session: &Session) -> Result<()> {
    let found = found(app, args, session, AllPackages::OnlyIfTheProjectHasSome)?;
    let Some(data) = app.environment.data.as_deref().filter(|_| !found.unknown.is_empty()) else {
        return Ok(());
    };
    let mut lines = vec!["Run these extensions of the project?".to_owned(), String::new()];
    for folder in &found.unknown {
        lines.push(format!("  {}", spell_name(&app.environment.short(&folder.path.display().to_string()))));
        lines.extend(listed(app, folder).into_iter().map(|name| format!("    {name}")));
    }
    lines.extend([
        String::new(),
        "They are programs, and run with all your rights. These files are what they load.".to_owned(),
        "They are new, or have changed since you allowed them.".to_owned(),
        String::new(),
        "  y      run them, until they change".to_owned(),
        "  Enter  do not run them this time".to_owned(),
        String::new(),
    ]);
    let lines: Vec<String> = lines.iter().map(|line| clean_lines(line).into_owned()).collect();
    let failed = |error| CommandError::io("ask about the extensions", &error);
    let answer = app.ui.ask(&lines, "y or Enter: ").map_err(failed)?;
    if matches!(answer.unwrap_or_default().trim().to_lowercase().as_str(), "y" | "yes") {
        KnownExtensions::of(data).keep(&found.unknown)?;
    }
    Ok(())
}
