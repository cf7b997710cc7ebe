//! The questions whether servers of a trusted project may start, each with all that its entry runs. What an answer lets run is decided
//! elsewhere.

use std::path::Path;

use offshoot_app::agent::Args;
use offshoot_app::app::App;
use offshoot_app::config::mcp_files::EnabledServers;
use offshoot_app::error::Result;
use offshoot_app::mcp::{FoundServer, HeldBack, McpSelection, find};
use offshoot_mcp::start_plan::shown_whole;
use offshoot_settings::Settings;

use super::start_panel::{StartAnswer, StartQuestion};

/// More servers are not asked about at once: they stay off, and each is named with the command that lets it run.
const MOST: usize = 5;
/// Who reads more than this before an answer? Such a server is named like those above.
const LONGEST: usize = 2000;

/// A question for each server that nobody has answered about, if `app` trusts the folder.
pub(super) fn questions(app: &App, args: &Args, folder: &Path) -> Result<Vec<(FoundServer, StartQuestion)>> {
    if args.no_mcp || app.environment.data.is_none() {
        return Ok(Vec::new());
    }
    let (layers, _) = app.settings_files(folder).load()?;
    let selection = McpSelection { named: args.mcp_config.clone(), imports: Settings::from(&layers).mcp_import };
    // What is wrong with the files is reported when they count.
    let (found, _) = find(app, folder, &selection);
    let asked = found.into_iter().filter(|server| server.held_back == Some(HeldBack::NotNamed));
    Ok(asked.filter_map(|server| question(app, &server).map(|question| (server, question))).take(MOST).collect())
}

fn question(app: &App, server: &FoundServer) -> Option<StartQuestion> {
    let config = &server.configured.config;
    let details = shown_whole(&config.reach);
    let path = app.environment.short(&server.configured.source.path.display().to_string());
    (details.iter().map(String::len).sum::<usize>() <= LONGEST).then(|| StartQuestion {
        title: format!("Start the MCP server {} of {path}?", config.name),
        about: "Its entry is new, or has changed since you allowed it:",
        details,
        notes: vec!["A server is a program, and runs with all your rights."],
        answers: vec![
            StartAnswer::new("yes", "start it, now and later, until its entry changes"),
            StartAnswer::new("never", "do not ask about this entry again"),
        ],
        otherwise: "do not start it this time",
    })
}

/// Remembers a yes and a never. Without one the start goes on.
pub(super) fn settle(app: &App, server: &FoundServer, answer: Option<&str>) -> Result<()> {
    let Some(answers) = app.environment.data.as_deref().map(EnabledServers::of) else { return Ok(()) };
    match answer {
        Some("yes") => answers.enable(&server.configured),
        Some("never") => answers.refuse(&server.configured),
        Some(_) | None => Ok(()),
    }
}
