//! Copies of other agents' sessions beside what a person does: a process of its own makes them, and the terminal asks once whether somebody
//! wants them.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use offshoot_app::app::App;
use offshoot_app::config::own_program;
use offshoot_workspace::sources::expiring;

/// So long before an agent deletes a session somebody is asked.
const SOON_DAYS: i64 = 3;

/// Begins to copy what is new, if somebody wants it and an hour has passed. The process goes on when this one ends.
pub(crate) fn copy_beside(app: &App) {
    let Ok(archive) = app.place().archive() else { return };
    if archive.agents().is_none_or(|agents| agents.is_empty()) || !archive.is_due(app.now()) {
        return;
    }
    let Some(own) = own_program() else { return };
    let mut command = Command::new("nice");
    command.args(["-n", "10"]).arg(own).args(["keep", "run"]).process_group(0);
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // The next hour's run tries again.
    drop(quiet.spawn());
}

/// The question whether copies are wanted, the first time that something is about to be deleted.
pub(crate) fn question(app: &App) -> Option<String> {
    let place = app.place();
    let archive = place.archive().ok()?;
    if archive.is_asked() {
        return None;
    }
    let (agents, count) = expiring(&place, SOON_DAYS)?;
    let sessions = if count == 1 { "a session".to_owned() } else { format!("{count} sessions") };
    let words = format!("{agents} will delete {sessions} within {SOON_DAYS} days; `offshoot keep on` keeps copies");
    archive.note_asked().is_ok().then_some(words)
}
