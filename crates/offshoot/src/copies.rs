//! Copies of other agents' sessions beside what a person does: a process of its own makes them.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use offshoot_app::app::App;
use offshoot_app::config::own_program;

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
