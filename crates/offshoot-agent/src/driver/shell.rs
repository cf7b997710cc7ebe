//! The user's shell command: its output is streamed, its result recorded.

use std::sync::Arc;

use offshoot_protocol::request::RunBash;
use offshoot_protocol::{AgentError, BashResult, BashRun, Event};
use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::oneshot;

use super::files::CommandFiles;
use super::{Driver, DriverInput, UserCommand, reply_to_all};
use crate::crash::caught_task;
use crate::extensions::{Question, ShellVerdict};
use crate::key_redactor::KeyRedactor;
use crate::request_queue::ReplyTo;
use crate::tool::bash::{self, Printed};
use crate::tool::{KeyGuard, ToolContext};
use crate::turn::TurnInput;

impl Driver {
    pub(super) fn run_bash(&mut self, run: RunBash, reply: ReplyTo<Arc<BashResult>>) {
        if self.bash.is_some() {
            return reply.refuse(AgentError::Busy("a command runs already: stop it first"));
        }
        let RunBash { command, exclude_from_context: exclude } = run;
        self.guard_commands();
        let (stop, mut stopped) = oneshot::channel();
        let (keys, model, last) = (self.setup.keys.clone(), self.setup.model.clone(), self.redactor.keys());
        let (shell, place) = (self.setup.shell.clone(), self.setup.tool_context.clone());
        self.bash = Some(UserCommand { command: command.clone(), exclude, stop: Some(stop), reply });
        let own = self.own.clone();
        let extensions = self.extensions_for(Question::BeforeShell);
        let told = self.own.clone();
        let files = self.new_batch();
        let batch = files.clone();
        let running = async move {
            let show = |printed| drop(own.send(DriverInput::Printed(printed)));
            // Before the first request the key is not known yet.
            let access = tokio::select! {
                biased;
                Ok(()) = &mut stopped => None,
                access = keys.access(&model) => Some(access),
            };
            let verdict = match (&access, extensions) {
                (Some(_), Some(extensions)) => tokio::select! {
                    biased;
                    Ok(()) = &mut stopped => ShellVerdict::Given(BashRun::stopped()),
                    verdict = extensions.before_shell(command.clone(), exclude, place.cwd.clone()) => verdict,
                },
                _ => ShellVerdict::Usual,
            };
            match (verdict, access) {
                (ShellVerdict::Given(given), _) => Ok(given),
                (ShellVerdict::Usual | ShellVerdict::Elsewhere(_), None) => Ok(BashRun::stopped()),
                (verdict, Some(access)) => {
                    let secrets = access.map_or(last, |access| KeyRedactor::of(keys.as_ref(), access.key).keys());
                    // The user's own commands get all variables.
                    let place = ToolContext { keys: KeyGuard { secrets, ..KeyGuard::default() }, ..place };
                    if let ShellVerdict::Elsewhere(operations) = verdict {
                        let (printed, pieces) = unbounded_channel();
                        let command = shell.command(&command);
                        let running = operations.run(command, place.cwd.clone(), printed);
                        bash::run_elsewhere(running, pieces, &place, stopped, show).await
                    } else {
                        if let Some(batch) = &batch
                            && let Err(error) = batch.before_command().await
                        {
                            drop(own.send(DriverInput::FilesFailed(error.to_string())));
                        }
                        bash::run(&command, &shell, &place, stopped, show).await
                    }
                }
            }
        };
        // Not a task of the turn: stopping a turn does not stop the user's command.
        tokio::spawn(async move {
            let run = caught_task(|| running).await;
            let run = run.unwrap_or_else(|crash| Err(format!("the command crashed: {crash}")));
            let files = match files {
                Some(files) => {
                    Some(CommandFiles { changes: files.end().await.map_err(|error| error.to_string()), files })
                }
                None => None,
            };
            drop(told.send(DriverInput::Ran(run, files)));
        });
    }

    pub(super) fn stop_bash(&mut self) {
        if let Some(stop) = self.bash.as_mut().and_then(|bash| bash.stop.take()) {
            // A command that has just ended no longer listens.
            let _ = stop.send(());
        }
    }

    pub(super) fn printed(&mut self, Printed { text, omitted }: Printed) {
        self.outbox.tell(Event::BashExecutionUpdate { delta: text, omitted });
    }

    /// The reply follows the command's events and its entry.
    pub(super) fn ran(&mut self, run: Result<BashRun, String>, files: Option<CommandFiles>) {
        let reply = match run {
            Ok(run) => self.record_command(run).map(|(reply, result)| reply.later(Ok(result))),
            Err(why) => self.bash.take().map(|bash| bash.reply.later(Err(AgentError::Failed(why)))),
        };
        if let Some(CommandFiles { files, changes }) = files {
            match changes {
                Ok(Some(changes)) => self.command_changed(Arc::clone(files.recorder()), changes),
                Ok(None) => {}
                Err(why) => self.not_recorded(&why),
            }
        }
        reply_to_all(self.outbox.settle(reply.into_iter().collect()));
    }

    /// Sends the ended command's message to the session; returns the caller and the result.
    fn record_command(&mut self, run: BashRun) -> Option<(ReplyTo<Arc<BashResult>>, Arc<BashResult>)> {
        let UserCommand { command, exclude, reply, .. } = self.bash.take()?;
        let timestamp = self.setup.clock.now();
        let result = Arc::new(BashResult { command, run, timestamp, exclude_from_context: exclude });
        self.step(TurnInput::Ran(Arc::clone(&result)));
        Some((reply, result))
    }
}
