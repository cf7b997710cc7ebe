//! What runs in the background, as a conversation has it: the tools of commands come into use with the first one, front ends see commands
//! and agents, and the model hears of an end with the next prompt on the branch that has started them. How they run is not known here.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use offshoot_protocol::message::{Content, CustomMessage};
use offshoot_protocol::request::StopBackground;
use offshoot_protocol::{AgentError, BackgroundCommand, BackgroundState, Event, NoticeCode};
use offshoot_session::entry::Source as _;
use offshoot_session::session::Session;
use offshoot_session::text::one_line;
use serde_json::json;
use tokio::sync::mpsc::UnboundedSender;

use super::children::{BACKGROUND, EndedChild, StayingChildren, untold_of_earlier};
use super::{Driver, DriverInput};
use crate::process::guard::guard_commands;
use crate::request_queue::ReplyTo;
use crate::tool::{
    BASH_LIST_TOOL, BASH_OUTPUT_TOOL, BASH_STOP_TOOL, BackgroundCommands, BackgroundNews, EndedCommand, Tool,
};
use crate::writer::WriterHandle;

/// Characters of a command in a notice.
const SHOWN: usize = 80;

/// The list of an agent, whose news come back to it.
pub(super) fn command_list(own: UnboundedSender<DriverInput>) -> BackgroundCommands {
    // The agent may have ended.
    BackgroundCommands::new(move |news| drop(own.send(DriverInput::Background(news))))
}

/// Commands and agents that go on beside the conversation.
pub(super) struct InBackground {
    pub(super) commands: BackgroundCommands,
    pub(super) children: Arc<Mutex<StayingChildren>>,
    /// If those of an earlier program are looked for: the files of the agents of this one.
    pub(super) known: Option<BTreeSet<String>>,
}

impl InBackground {
    fn children(&self) -> MutexGuard<'_, StayingChildren> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The message about commands and agents of this branch that have ended since the last one.
    pub(super) async fn ended_of_branch(&self, writer: &WriterHandle) -> Option<CustomMessage> {
        let mut untold = self.commands.untold();
        untold.extend(self.children().untold());
        let known = self.known.clone();
        if untold.is_empty() && known.is_none() {
            return None;
        }
        let here = writer.ask(move |owned| {
            let session = owned.session();
            let is_here = |origin: &Option<String>| origin.as_deref().is_none_or(|id| is_on_path(session, id));
            // A session that cannot be read fails with the request that follows.
            let earlier = known.and_then(|known| untold_of_earlier(session, |file| known.contains(file)).ok());
            (untold.into_iter().filter(is_here).collect::<Vec<_>>(), earlier.unwrap_or_default())
        });
        let (here, mut children) = here.await.ok()?;
        let commands = self.commands.take_untold(&here);
        children.extend(self.children().take_untold(&here));
        (!commands.is_empty() || !children.is_empty()).then(|| message(&commands, &children))
    }
}

fn is_on_path(session: &Session, id: &str) -> bool {
    let tree = session.tree();
    let Some(origin) = tree.find(id) else { return false };
    session.leaf().is_some_and(|leaf| tree.ancestors(leaf).any(|ix| ix == origin))
}

fn message(ended: &[EndedCommand], children: &[EndedChild]) -> CustomMessage {
    let one = |EndedCommand { command, how, unread }: &EndedCommand| {
        let output = if unread.is_empty() { "(no new output)".to_owned() } else { fenced(unread.trim_end()) };
        format!("The background command {} (`{}`) has ended: {how}.\n{output}", command.id, command.command)
    };
    let child = |child: &EndedChild| {
        format!("The agent {} in the background has ended.\n{}", child.state.id, fenced(&child.words))
    };
    let commands: Vec<_> = ended.iter().map(|ended| &ended.command).collect();
    let mut details = json!({ "commands": commands });
    if let (Some(details), false) = (details.as_object_mut(), children.is_empty()) {
        let agents: Vec<_> = children.iter().map(|child| &child.state).collect();
        details.insert("agents".to_owned(), json!(agents));
    }
    CustomMessage {
        custom_type: BACKGROUND.to_owned(),
        content: Content::Text(
            ended.iter().map(one).chain(children.iter().map(child)).collect::<Vec<_>>().join("\n\n"),
        ),
        display: true,
        details: Some(details),
        timestamp: 0,
    }
}

/// As a block of code, which people see line by line.
fn fenced(output: &str) -> String {
    let longest = output.split(|sign| sign != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.saturating_add(1).max(3));
    format!("{fence}\n{output}\n{fence}")
}

impl Driver {
    pub(super) fn background_news(&mut self, news: BackgroundNews) {
        self.outbox.tell(Event::BackgroundCommands { commands: self.background.all() });
        match news {
            BackgroundNews::Started(id) => {
                self.use_background_tools();
                let commands = self.background.clone();
                let leaf = |owned: &mut crate::writer::OwnedSession| owned.session().leaf_id().cloned();
                self.writer.handle().send(leaf, move |leaf| {
                    if let Ok(Some(leaf)) = leaf {
                        commands.place(&id, leaf.as_str().to_owned());
                    }
                });
            }
            BackgroundNews::Ended(id) => {
                let all = self.background.all();
                let ended = all.iter().find(|command| command.id == id);
                // Whoever stopped it knows.
                if let Some(command) = ended.filter(|command| command.state != BackgroundState::Stopped) {
                    let message = format!("ended in the background ({}): {}", command.state, self.line_of(command));
                    self.outbox.tell(Event::Notice { code: NoticeCode::Background, message, entry_id: None });
                }
            }
        }
    }

    fn line_of(&self, command: &BackgroundCommand) -> String {
        let words = self.redactor.redact_text(command.command.clone());
        format!("{} {}", command.id, one_line(&words, SHOWN))
    }

    /// From the next request on. A run without them stays without.
    fn use_background_tools(&mut self) {
        let usable = self.tool_set.usable();
        for name in [BASH_OUTPUT_TOOL, BASH_STOP_TOOL, BASH_LIST_TOOL] {
            let is_used = self.setup.tools.iter().any(|tool| tool.name() == name);
            let tool = usable.iter().find(|tool| tool.name() == name);
            self.setup.tools.extend(tool.filter(|_| !is_used).map(Arc::<dyn Tool>::clone));
        }
    }

    /// Stops one command, or all.
    pub(super) fn stop_background(&mut self, StopBackground(id): StopBackground, reply: ReplyTo<bool>) {
        let commands = self.background.clone();
        // Not a task of the turn: stopping a turn stops no command.
        drop(tokio::spawn(async move {
            reply.send(match id {
                Some(id) => commands.stop(&id).await.map_err(AgentError::Failed),
                None => Ok(!commands.stop_all().await.is_empty()),
            });
        }));
    }

    /// Before the first command runs. Without a guard commands run all the same.
    pub(super) fn guard_commands(&mut self) {
        let Some(launcher) = self.setup.launcher.take() else { return };
        if let Err(error) = guard_commands(&launcher) {
            let message =
                format!("commands that run live on if offshoot is killed: their guard does not start: {error}");
            self.outbox.tell(Event::Notice { code: NoticeCode::Background, message, entry_id: None });
        }
    }

    /// Nothing outlives the agent.
    pub(super) fn end_background(&mut self) {
        let running = self.background.all().into_iter().filter(BackgroundCommand::is_running);
        let running: Vec<String> = running.map(|command| self.line_of(&command)).collect();
        if !running.is_empty() {
            let message = format!("stopped in the background: {}", running.join("; "));
            self.outbox.tell(Event::Notice { code: NoticeCode::Background, message, entry_id: None });
            let commands = self.background.clone();
            drop(tokio::spawn(async move { drop(commands.stop_all().await) }));
        }
    }
}
