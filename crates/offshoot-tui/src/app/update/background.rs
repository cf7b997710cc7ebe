//! What runs in the background: the question before it ends with the program, and the list that stops a command.

use offshoot_protocol::BackgroundCommand;
use offshoot_protocol::request::StopBackground;
use offshoot_session::text::counted;
use offshoot_session::transcript::Level;

use crate::app::cmd::Cmd;
use crate::app::model::{Model, Overlay, Picking};
use crate::overlay::pick::{Choice, Pick};
use crate::text::clean;

/// Asks before commands and agents end with the program. Whether there is a question.
pub(super) fn asks_before_end(model: &mut Model) -> bool {
    let commands: Vec<String> = model.running().map(line).collect();
    let agents: Vec<String> = model.agents_in_background().map(|id| clean(id).into_owned()).collect();
    let counts = [
        (!commands.is_empty()).then(|| counted(commands.len(), "command runs", "commands run")),
        (!agents.is_empty()).then(|| counted(agents.len(), "agent works", "agents work")),
    ];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    if counts.is_empty() {
        return false;
    }
    let title = format!("{} in the background. Leave, and stop them?", counts.join(" and "));
    let running = commands.into_iter().chain(agents).collect::<Vec<_>>().join("\n");
    let pick = Pick::ask(title, running, &["Yes, stop and leave", "No, stay here"]);
    model.overlay = Some(Overlay::Pick(Box::new(pick), Picking::Ending));
    true
}

/// `/background`: a list of those that run.
pub(super) fn list(model: &mut Model) -> Vec<Cmd> {
    let running: Vec<&BackgroundCommand> = model.running().collect();
    if running.is_empty() {
        let ended = model.background.last();
        let last =
            ended.map_or(String::new(), |command| format!("; the last one: {}, {}", line(command), command.state));
        model.notice(Level::Info, format!("no command runs in the background{last}"));
        return Vec::new();
    }
    let choices = running.iter().map(|command| Choice::new(line(command))).collect();
    let ids = running.iter().map(|command| command.id.clone()).collect();
    let pick = Pick::new("Commands in the background: enter stops one", choices);
    model.overlay = Some(Overlay::Pick(Box::new(pick), Picking::Background(ids)));
    Vec::new()
}

/// Stops the one that was picked.
pub(super) fn stop(id: &str) -> Cmd {
    Cmd::ask(StopBackground(Some(id.to_owned())))
}

fn line(command: &BackgroundCommand) -> String {
    let words = clean(&command.command).split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{} {words}", command.id)
}
