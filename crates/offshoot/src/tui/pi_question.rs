//! The question whether pi's own folder counts, asked once, before the front end takes the terminal.

use offshoot_app::app::App;
use offshoot_app::config::settings::SettingsFiles;
use offshoot_app::error::{CommandError, Result};
use offshoot_session::text::clean_lines;
use offshoot_settings::{PiFolder, Scope, Value};
use offshoot_tui::text::wrap;

use crate::commands::doctor::pi_standing;

/// Asks if pi has a folder with something to use, and nobody was asked before. The answer is kept in the user's settings.
pub(super) fn ask(app: &App) -> Result<()> {
    let files = SettingsFiles::of(app.environment.data.as_deref(), &app.environment.cwd);
    let files = files.without_project(None);
    if files.load()?.0.pi_folder() != PiFolder::Ask {
        return Ok(());
    }
    let Some((path, counts)) = pi_standing(app).filter(|(_, counts)| !counts.is_empty()) else { return Ok(()) };
    let path = app.environment.short(&path.display().to_string());
    let mut lines = vec![format!("pi has a folder of its own, {path}. It has:"), String::new()];
    lines.extend(counts.iter().map(|what| format!("  {what}")));
    lines.extend([
        String::new(),
        "offshoot can use them after its own. It never writes there.".to_owned(),
        "The setting piFolder (/settings) changes the answer.".to_owned(),
        String::new(),
    ]);
    let width = app.ui.width.unwrap_or(usize::MAX);
    let lines: Vec<String> = lines.iter().flat_map(|line| wrapped(&clean_lines(line), width)).collect();
    let failed = |error| CommandError::io("ask about pi's folder", &error);
    let mut answer = app.ui.ask(&lines, "Use them? y, n: ").map_err(failed)?;
    let is_used = loop {
        match answer.as_deref().map(|answer| answer.trim().to_lowercase()).as_deref() {
            Some("y" | "yes") => break true,
            Some("n" | "no") => break false,
            // Nobody answered: the next start asks again.
            None => return Ok(()),
            Some(_) => answer = app.ui.ask(&[], "y, n: ").map_err(failed)?,
        }
    };
    let value = Value::Text(if is_used { "on" } else { "off" }.to_owned());
    if let Err(error) = files.store(Scope::Global, "piFolder", Some(&value)) {
        app.ui.warning(&format!("the answer is not kept: {}", error.with_hints_on_one_line()));
    }
    Ok(())
}

/// A line that wraps at words. Its rows are indented as it is.
fn wrapped(line: &str, columns: usize) -> Vec<String> {
    let words = line.trim_start();
    let indent = " ".repeat(line.len() - words.len());
    let rows = wrap(words, columns.saturating_sub(indent.len()).max(1));
    rows.iter().map(|row| format!("{indent}{row}")).collect()
}
