//! Commands that run beside the conversation: their output, their end, and how they are stopped. Knows no shell, no session and no front
//! end; whoever makes the list hears of each start and end.
//!
//! Dropping the list stops all commands: the tasks that run them end with it.

mod tools;

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use offshoot_protocol::{BackgroundCommand, BackgroundState};
use offshoot_session::text::one_line;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use super::decode::Utf8;
use super::output::{Output, Recent, Snapshot};
use super::{Hide, ToolContext};
use crate::process::End;

pub use tools::{BASH_LIST_TOOL, BASH_OUTPUT_TOOL, BASH_STOP_TOOL, BashList, BashOutput, BashStop};

/// More commands do not run at once.
const MOST_RUNNING: usize = 16;
/// So many of those that have ended are kept, the newest ones.
const MOST_ENDED: usize = 32;
/// What a command has to end after it was stopped.
const PATIENCE: Duration = Duration::from_secs(5);

/// What reaches whoever made the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackgroundNews {
    /// The command of this id runs.
    Started(String),
    /// The command of this id has ended.
    Ended(String),
}

/// The commands of a program. Clones share them.
#[derive(Clone)]
pub struct BackgroundCommands {
    state: Arc<Mutex<CommandList>>,
    tell: Arc<dyn Fn(BackgroundNews) + Send + Sync>,
}

impl fmt::Debug for BackgroundCommands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BackgroundCommands")
    }
}

#[derive(Default)]
struct CommandList {
    started: u64,
    /// In the order in which they started.
    commands: Vec<ListedCommand>,
}

struct ListedCommand {
    shown: BackgroundCommand,
    /// Where in a session it was started, in words of whoever knows sessions; its end is told there.
    origin: Option<String>,
    began: Instant,
    took: Option<Duration>,
    printed: Printing,
    /// Whether the model has been told the end.
    is_told: bool,
    task: Option<JoinHandle<()>>,
    news: Arc<Notify>,
}

/// The output of a command so far, without keys.
struct Printing {
    hide: Hide,
    decoder: Utf8,
    output: Output,
    /// What nobody has looked at.
    unread: Recent,
}

/// What a look at a command shows.
#[derive(Debug)]
pub(super) struct CommandLook {
    pub(super) command: BackgroundCommand,
    /// Since the look before, with the bytes left out before it.
    pub(super) unread: Option<super::output::Printed>,
    pub(super) whole: Snapshot,
    pub(super) took: Duration,
}

/// How a command ended, for a message to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EndedCommand {
    pub(crate) command: BackgroundCommand,
    /// How it ended, in words.
    pub(crate) how: String,
    /// The end of what the model has not seen of its output.
    pub(crate) unread: String,
}

impl Printing {
    fn push(&mut self, bytes: &[u8]) {
        let shown = self.hide.push(bytes);
        self.output.push(&shown);
        self.unread.push(&self.decoder.push(&shown));
    }

    fn finish(&mut self) {
        let rest = self.hide.finish();
        self.output.push(&rest);
        self.output.finish();
        let rest = self.decoder.push(&rest) + &self.decoder.finish();
        self.unread.push(&rest);
    }
}

impl BackgroundCommands {
    /// An empty list.
    pub fn new(tell: impl Fn(BackgroundNews) + Send + Sync + 'static) -> Self {
        Self { state: Arc::default(), tell: Arc::new(tell) }
    }

    fn state(&self) -> MutexGuard<'_, CommandList> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All commands, the newest last.
    pub fn all(&self) -> Vec<BackgroundCommand> {
        self.state().commands.iter().map(|command| command.shown.clone()).collect()
    }

    /// How many run.
    pub fn running(&self) -> usize {
        self.state().commands.iter().filter(|command| command.shown.is_running()).count()
    }

    /// Starts a command. `run` gets what takes its output; dropping what it returns stops the command. Needs a tokio runtime.
    ///
    /// # Errors
    /// Too many run.
    pub(super) fn start<Run: Future<Output = io::Result<End>> + Send + 'static>(
        &self,
        command: &str,
        place: &ToolContext,
        run: impl FnOnce(Box<dyn FnMut(&[u8]) + Send>) -> Run,
    ) -> Result<String, String> {
        let mut state = self.state();
        let running = state.commands.iter().filter(|command| command.shown.is_running()).count();
        if running >= MOST_RUNNING {
            return Err(format!("{running} commands run in the background already: stop one of them first"));
        }
        state.started += 1;
        let id = format!("b{}", state.started);
        let secrets = &place.keys.secrets;
        // Front ends and the session have the line, the shell alone its keys.
        let command = secrets.masked(command).unwrap_or_else(|| command.to_owned());
        let shown = BackgroundCommand { id: id.clone(), command, state: BackgroundState::Running };
        let printed = Printing {
            hide: Hide::new(secrets.clone()),
            decoder: Utf8::default(),
            output: Output::new(&place.outputs),
            unread: Recent::default(),
        };
        state.commands.push(ListedCommand {
            shown,
            origin: None,
            began: Instant::now(),
            took: None,
            printed,
            is_told: false,
            task: None,
            news: Arc::default(),
        });
        drop(state);
        // Not the whole list: a task that holds it would keep it.
        let (list, own) = (Arc::downgrade(&self.state), id.clone());
        let take = move |bytes: &[u8]| {
            if let Some(list) = list.upgrade() {
                let mut state = list.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(command) = state.get(&own) {
                    command.printed.push(bytes);
                    command.news.notify_waiters();
                }
            }
        };
        let running = run(Box::new(take));
        let (list, tell, own) = (Arc::downgrade(&self.state), self.tell.clone(), id.clone());
        let task = tokio::spawn(async move {
            let end = running.await;
            if let Some(state) = list.upgrade() {
                Self { state, tell }.ended(&own, end);
            }
        });
        let mut state = self.state();
        if let Some(command) = state.get(&id).filter(|command| command.shown.is_running()) {
            command.task = Some(task);
        }
        drop(state);
        (self.tell)(BackgroundNews::Started(id.clone()));
        Ok(id)
    }

    fn ended(&self, id: &str, end: io::Result<End>) {
        let state = match end {
            Ok(End::Exited(exit_code) | End::Lingers(exit_code)) => BackgroundState::Exited { exit_code },
            Ok(End::TimedOut) => BackgroundState::TimedOut,
            Err(error) => {
                if let Some(command) = self.state().get(id) {
                    command.printed.push(error.to_string().as_bytes());
                }
                BackgroundState::Failed
            }
        };
        self.end(id, state);
    }

    fn end(&self, id: &str, how: BackgroundState) {
        let mut state = self.state();
        let Some(command) = state.get(id).filter(|command| command.shown.is_running()) else { return };
        command.printed.finish();
        (command.shown.state, command.took, command.task) = (how, Some(command.began.elapsed()), None);
        command.news.notify_waiters();
        state.forget_old();
        drop(state);
        (self.tell)(BackgroundNews::Ended(id.to_owned()));
    }

    /// Stops a command with all that it has started, and waits until it has ended. Whether it ran.
    ///
    /// # Errors
    /// There is none of this id, in words.
    pub async fn stop(&self, id: &str) -> Result<bool, String> {
        let task = {
            let mut state = self.state();
            let known = state.known();
            let command = state.get(id).ok_or_else(|| unknown(id, &known))?;
            command.task.take().filter(|_| command.shown.is_running())
        };
        let Some(task) = task else { return Ok(false) };
        // The task drops the command, which kills its processes.
        task.abort();
        drop(timeout(PATIENCE, task).await);
        self.end(id, BackgroundState::Stopped);
        Ok(true)
    }

    /// Stops all commands. The ids of those that ran.
    pub async fn stop_all(&self) -> Vec<BackgroundCommand> {
        let running: Vec<BackgroundCommand> = self.all().into_iter().filter(BackgroundCommand::is_running).collect();
        for command in &running {
            // One that has ended meanwhile is forgotten at most.
            self.stop(&command.id).await.unwrap_or_default();
        }
        running
    }

    /// What a command has printed since the last look. Waits so long for something new. The model knows the end then.
    ///
    /// # Errors
    /// There is none of this id, in words.
    pub(super) async fn look(&self, id: &str, patience: Duration) -> Result<CommandLook, String> {
        let until = Instant::now() + patience;
        loop {
            let news = {
                let mut state = self.state();
                let known = state.known();
                let command = state.get(id).ok_or_else(|| unknown(id, &known))?;
                if !command.printed.unread.is_empty() || !command.shown.is_running() || Instant::now() >= until {
                    return Ok(command.look());
                }
                command.news.clone()
            };
            let changed = news.notified();
            // Something may have come between the look and this.
            if self
                .state()
                .get(id)
                .is_none_or(|command| !command.printed.unread.is_empty() || !command.shown.is_running())
            {
                continue;
            }
            tokio::select! {
                () = changed => {}
                () = tokio::time::sleep_until(until) => {}
            }
        }
    }

    /// Says where in a session a command was started.
    pub(crate) fn place(&self, id: &str, origin: String) {
        if let Some(command) = self.state().get(id) {
            command.origin = Some(origin);
        }
    }

    /// The places of commands that have ended without the model's knowledge.
    pub(crate) fn untold(&self) -> Vec<Option<String>> {
        self.state()
            .commands
            .iter()
            .filter(|command| command.is_untold())
            .map(|command| command.origin.clone())
            .collect()
    }

    /// Those of these places. The model will be told.
    pub(crate) fn take_untold(&self, origins: &[Option<String>]) -> Vec<EndedCommand> {
        let mut state = self.state();
        let untold = state.commands.iter_mut().filter(|command| command.is_untold());
        untold.filter(|command| origins.contains(&command.origin)).map(ListedCommand::told).collect()
    }
}

impl Drop for CommandList {
    fn drop(&mut self) {
        self.commands.iter().filter_map(|command| command.task.as_ref()).for_each(JoinHandle::abort);
    }
}

impl CommandList {
    fn get(&mut self, id: &str) -> Option<&mut ListedCommand> {
        self.commands.iter_mut().find(|command| command.shown.id == id)
    }

    fn known(&self) -> Vec<String> {
        self.commands.iter().map(|command| command.shown.id.clone()).collect()
    }

    fn forget_old(&mut self) {
        let ended = self.commands.iter().filter(|command| !command.shown.is_running()).count();
        let mut surplus = ended.saturating_sub(MOST_ENDED);
        self.commands.retain(|command| {
            let goes = surplus > 0 && !command.shown.is_running();
            surplus -= usize::from(goes);
            !goes
        });
    }
}

impl ListedCommand {
    fn look(&mut self) -> CommandLook {
        self.is_told |= !self.shown.is_running();
        CommandLook {
            command: self.shown.clone(),
            unread: self.printed.unread.take(),
            whole: self.printed.output.snapshot(),
            took: self.took.unwrap_or_else(|| self.began.elapsed()),
        }
    }

    fn is_untold(&self) -> bool {
        !self.is_told && !self.shown.is_running()
    }

    fn told(&mut self) -> EndedCommand {
        let look = self.look();
        EndedCommand { how: tools::state_words(&look), unread: tools::end_of_unread(&look), command: look.command }
    }
}

fn unknown(id: &str, known: &[String]) -> String {
    // The model's words.
    let id = one_line(id, 40);
    let known = match known {
        [] => "none was started since the program began".to_owned(),
        known => format!("there are {}", known.join(", ")),
    };
    format!("there is no command {id} in the background: {known}")
}

#[cfg(test)]
mod tests;
