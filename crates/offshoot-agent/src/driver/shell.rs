//! The command that the user runs: what it prints is told on the way, what came of it is recorded.

use offshoot_session::json::Object;
use tokio::sync::oneshot;

use super::commands::{answer, refuse};
use super::veil::Veil;
use super::{Driver, In, Shelled, Waiter};
use crate::command::Reply;
use crate::error::AgentError;
use crate::event::{Event, Raw};
use crate::tool::Place;
use crate::tool::bash::{self, BashRun, Printed};
use crate::turn::Input;

impl Driver {
    pub(super) fn run_bash(&mut self, command: String, exclude: bool, reply: Waiter) {
        if self.bash.is_some() {
            return refuse(reply, AgentError::Busy("a command runs already: stop it first"));
        }
        let (stop, stopped) = oneshot::channel();
        // Before the first request nobody has asked for the key yet.
        let access = self.setup.keys.access(&self.setup.model);
        let veil = access.map_or_else(|_| self.veil.clone(), |access| Veil::new(access.key));
        let (shell, place) = (self.setup.shell.clone(), Place { hidden: veil.key(), ..self.setup.place.clone() });
        self.runs += 1;
        let run_number = self.runs;
        self.bash = Some(Shelled { command: command.clone(), exclude, stop: Some(stop), reply });
        let own = self.own.clone();
        // Not one of the turn's tasks: stopping a turn does not stop what the user runs.
        tokio::spawn(async move {
            let show = |printed| drop(own.send(In::Printed { run_number, printed }));
            let run = bash::run(&command, &shell, &place, stopped, show).await;
            drop(own.send(In::Ran { run_number, run }));
        });
    }

    pub(super) fn stop_bash(&mut self) {
        if let Some(stop) = self.bash.as_mut().and_then(|bash| bash.stop.take()) {
            // A command that has just ended hears nothing any more.
            let _ = stop.send(());
        }
    }

    /// Stops a command because its session is left; it is recorded there as stopped.
    pub(super) fn end_bash(&mut self) {
        self.stop_bash();
        if self.bash.is_some() {
            let output = String::new();
            let run = BashRun { output, exit_code: None, cancelled: true, truncated: false, full_output_path: None };
            if let Some((reply, raw)) = self.record(&run) {
                answer(reply, Reply::Ran(raw));
            }
        }
    }

    /// Whether a command is the one that runs: one whose session was left has been recorded there.
    fn runs(&self, run_number: u64) -> bool {
        self.bash.is_some() && run_number == self.runs
    }

    pub(super) fn printed(&mut self, run_number: u64, Printed { text, omitted }: Printed) {
        if self.runs(run_number) {
            self.tell(Event::BashExecutionUpdate { delta: text, omitted });
        }
    }

    /// The answer follows all that was told of the command, and its entry.
    pub(super) fn ran(&mut self, run_number: u64, run: Result<BashRun, String>) {
        if !self.runs(run_number) {
            return;
        }
        let answer = match run {
            Ok(run) => self.record(&run).map(|(reply, raw)| (reply, Ok(Reply::Ran(raw)))),
            Err(why) => self.bash.take().map(|bash| (bash.reply, Err(AgentError::Failed(why)))),
        };
        let ended = self.outbox.settle(answer.into_iter().collect());
        self.answer_all(ended);
    }

    /// The command has ended: hands its message to the session. Gives back who is to be answered with what.
    fn record(&mut self, run: &BashRun) -> Option<(Waiter, Raw)> {
        let Shelled { command, exclude, reply, .. } = self.bash.take()?;
        let raw = Raw(bash_message(&command, exclude, run, self.setup.clock.now()));
        self.step(Input::Ran(raw.clone()));
        Some((reply, raw))
    }
}

/// A command of the user as the message that sessions keep.
fn bash_message(command: &str, exclude: bool, run: &BashRun, at: i64) -> String {
    let mut object = Object::new().str("role", "bashExecution").str("command", command).str("output", &run.output);
    if let Some(code) = run.exit_code {
        object = object.raw("exitCode", code);
    }
    object = object.raw("cancelled", run.cancelled).raw("truncated", run.truncated);
    if let Some(path) = &run.full_output_path {
        object = object.str("fullOutputPath", &path.display().to_string());
    }
    object = object.raw("timestamp", at);
    if exclude {
        object = object.raw("excludeFromContext", true);
    }
    object.finish()
}
