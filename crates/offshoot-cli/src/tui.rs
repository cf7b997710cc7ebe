//! `offshoot` on a terminal: the front end's program. Holds the agent and the store, does what the front end wants done,
//! and tells it what came of that.

mod look;
mod pick;
mod program;
mod sessions;

use std::sync::mpsc::channel;

use offshoot_agent::Setup;
use offshoot_agent::command::{Command, Said};
use offshoot_session::session::Session;
use offshoot_tui::app::cmd::Cmd;
use offshoot_tui::app::model::Model;
use offshoot_tui::app::run::{Inbox, Program as _, run as run_front_end};

use crate::app::App;
use crate::error::{CommandError, Result};
pub(crate) use pick::session as pick_session;
use program::Program;

/// Runs the front end until the user ends it.
pub(crate) fn run(app: &App, session: Session, setup: Setup, said: Vec<Said>) -> Result<()> {
    let (sender, receiver) = channel();
    let failed = |error| CommandError::io("use the terminal", &error);
    let mut program = Program::start(app, session, setup, sender.clone())?;
    program.take(Cmd::Look);
    for said in said {
        program.take(Cmd::Ask(Box::new(Command::FollowUp(said))));
    }
    let inbox = Inbox { sender, receiver };
    let ran = run_front_end(Model::default(), &inbox, &mut program, crate::ui::terminal);
    program.close();
    ran.map(drop).map_err(failed)
}
