//! What every job of the program holds, and how it reaches the front end and the agent.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::command::Command;
use offshoot_tui::app::msg::Msg;
use offshoot_tui::message::Level;

use super::kept::Kept;
use super::sessions::Clerk;
use crate::app::App;

/// What the program holds beside the agent.
#[derive(Clone)]
pub(super) struct World {
    pub(super) app: App,
    pub(super) news: Sender<Msg>,
    pub(super) kept: Kept,
    pub(super) clerk: Arc<Clerk>,
}

impl World {
    /// Tells the front end; one that has ended needs no news.
    pub(super) fn tell(&self, msg: Msg) {
        drop(self.news.send(msg));
    }

    pub(super) fn notice(&self, level: Level, text: impl Into<String>) {
        self.tell(Msg::Notice(level, text.into()));
    }
}

/// Says something to the agent, and tells what it answers.
pub(super) async fn ask(world: &World, agent: &AgentSession, command: Command) {
    let reply = agent.ask(command.clone()).await;
    world.tell(Msg::Answered(Box::new(command), reply));
}
