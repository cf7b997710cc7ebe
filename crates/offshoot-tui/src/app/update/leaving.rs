//! Commands that leave the session: while the agent works they ask first, because its turn ends with them.

use offshoot_protocol::request::{Abort, ClearQueue};

use crate::app::cmd::Cmd;
use crate::app::model::{Model, Overlay, Picking};
use crate::overlay::pick::Pick;

/// What a command that leaves the session does, for the question.
#[derive(Debug, Clone, Copy)]
pub(super) enum Leave {
    StartSession,
    OpenSession,
    Fork,
    Clone,
}

impl Leave {
    fn words(self) -> &'static str {
        match self {
            Self::StartSession => "start a new session",
            Self::OpenSession => "open the other session",
            Self::Fork => "begin the new session",
            Self::Clone => "continue in a copy of the session",
        }
    }
}

/// Runs the command, or asks whether the work under way may be stopped.
pub(super) fn leave(model: &mut Model, cmd: impl Into<Cmd>, how: Leave) -> Vec<Cmd> {
    let cmd = cmd.into();
    if !model.is_busy() {
        return vec![cmd];
    }
    let words = how.words();
    let yes = format!("Yes, stop it and {words}");
    let title = format!("The agent is working. Stop it and {words}?");
    let pick = Pick::ask(title, "", &[&yes, "No, stay here"]);
    model.overlay = Some(Overlay::Pick(Box::new(pick), Picking::Leaving(Box::new(cmd))));
    Vec::new()
}

/// The first answer. The work may have ended meanwhile.
pub(super) fn stop_and_leave(model: &mut Model, cmd: Cmd) -> Vec<Cmd> {
    if model.is_busy() { vec![take_back_queue(model), Cmd::ask(Abort), cmd] } else { vec![cmd] }
}

/// Puts the messages that will not be sent into the editor, and says so.
pub(super) fn take_back_queue(model: &mut Model) -> Cmd {
    model.tells_unsent = true;
    Cmd::ask(ClearQueue)
}
