//! The tools of a turn: each runs as a task and emits partial outcomes; a stopped tool returns its last one.

use std::sync::Arc;

use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::oneshot;

use super::approvals::{Asker, CallPlace};
use super::{Driver, DriverInput};
use crate::command::{BuiltInTool, ToolList};
use crate::extensions::{CallVerdict, Extensions, Question};
use crate::message::Block;
use crate::tool::{Tool, ToolContext, ToolOutcome};
use crate::turn::{Call, Ticket, TurnInput};

/// For the model: the next command is in the sandbox again.
const OUTSIDE: &str = "[the user let this run once outside the sandbox]";

impl Driver {
    /// A built-in tool, also where an extension's has its name, with what a call of the model would have.
    pub(super) fn built_in(&self, name: &str) -> Option<BuiltInTool> {
        let tool = self.tool_set.built_in(name)?;
        let mut place = self.setup.tool_context.clone();
        place.keys.secrets = self.redactor.keys();
        Some(BuiltInTool { tool: ToolList(Arc::new([tool])), place: Arc::new(place) })
    }

    pub(super) fn run_tool(&mut self, ticket: Ticket, index: usize, call: Call) {
        let own = self.own.clone();
        let clock = self.setup.clock.clone();
        let tool = self.setup.tools.iter().find(|tool| tool.name() == call.name).cloned();
        let mut place = self.setup.tool_context.clone();
        place.keys.secrets = self.redactor.keys();
        place.call_id.clone_from(&call.id);
        let place = Arc::new(place);
        let redactor = self.redactor.clone();
        let mut asker = Asker {
            place: CallPlace { ticket, index },
            permissions: self.permissions(),
            approver: self.setup.approver.clone(),
            redactor: redactor.clone(),
            own: self.own.clone(),
        };
        let (judged, next) = oneshot::channel::<()>();
        let before = self.judged.replace((ticket, next)).filter(|(turn, _)| *turn == ticket).map(|(_, before)| before);
        let (asked_before, asked_after) =
            (self.extensions_for(Question::BeforeCall), self.extensions_for(Question::AfterCall));
        let (stop, mut stopped) = oneshot::channel();
        self.tool_stops.retain(|stop| !stop.is_closed());
        self.tool_stops.push(stop);
        self.spawn(async move {
            let outcome = match tool {
                Some(tool) => {
                    match judge(&mut asker, &tool, (call, asked_before), &place, (before, &mut stopped)).await {
                        Ok(call) => {
                            drop(judged);
                            let show = |outcome| {
                                let outcome = redactor.redact(outcome);
                                drop(own.send(DriverInput::Machine(TurnInput::Partial {
                                    ticket,
                                    call: index,
                                    outcome,
                                })));
                            };
                            let arguments = call.arguments.clone();
                            let outcome = run(tool.as_ref(), arguments, place.clone(), &mut stopped, &show).await;
                            let outcome = match asker.permit_outside(&call, outcome, &mut stopped).await {
                                Ok(()) => {
                                    let outside = Arc::new(ToolContext { sandbox: None, ..ToolContext::clone(&place) });
                                    let arguments = call.arguments.clone();
                                    let mut outcome = run(tool.as_ref(), arguments, outside, &mut stopped, &show).await;
                                    outcome.content.push(Block::text(OUTSIDE));
                                    outcome
                                }
                                Err(outcome) => outcome,
                            };
                            after(asked_after, call, outcome, &mut stopped).await
                        }
                        Err(refused) => refused,
                    }
                }
                None => ToolOutcome::failed(format!("there is no tool named {}", call.name)),
            };
            let (outcome, at) = (redactor.redact(outcome), clock.now());
            drop(own.send(DriverInput::Machine(TurnInput::Ended { ticket, call: index, outcome, at })));
        });
    }

    pub(super) fn stop_tools(&mut self) {
        for stop in self.tool_stops.drain(..) {
            // A tool that has just ended no longer listens.
            let _ = stop.send(());
        }
    }
}

/// Waits until the call may run, and returns it as extensions have changed it; otherwise returns its result. Calls are
/// judged in their order: the one before it has been when `before` ends. Extensions come before the user.
async fn judge(
    asker: &mut Asker,
    tool: &Arc<dyn Tool>,
    (mut call, extensions): (Call, Option<Arc<dyn Extensions>>),
    place: &Arc<ToolContext>,
    (before, stop): (Option<oneshot::Receiver<()>>, &mut oneshot::Receiver<()>),
) -> Result<Call, ToolOutcome> {
    if let Some(before) = before {
        tokio::select! {
            biased;
            _ = &mut *stop => return Err(ToolOutcome::stopped(None)),
            _ = before => {}
        }
    }
    call.arguments = tokio::select! {
        biased;
        _ = &mut *stop => return Err(ToolOutcome::stopped(None)),
        prepared = tool.prepare(call.arguments) => prepared?,
    };
    if let Some(extensions) = extensions {
        let verdict = tokio::select! {
            biased;
            _ = &mut *stop => return Err(ToolOutcome::stopped(None)),
            verdict = extensions.before_call(call) => verdict,
        };
        match verdict {
            CallVerdict::Run(changed) => call = changed,
            CallVerdict::Block { reason, ends_run } => {
                return Err(ToolOutcome { ends_run, ..ToolOutcome::failed(reason) });
            }
        }
    }
    asker.permit(tool, &call, place, stop).await?;
    Ok(call)
}

/// The result as extensions have changed it. A stop leaves it as it is.
async fn after(
    extensions: Option<Arc<dyn Extensions>>,
    call: Call,
    outcome: ToolOutcome,
    stop: &mut oneshot::Receiver<()>,
) -> ToolOutcome {
    let Some(extensions) = extensions else { return outcome };
    tokio::select! {
        biased;
        _ = &mut *stop => outcome,
        changed = extensions.after_call(call, outcome.clone()) => changed,
    }
}

/// Runs a tool and passes its partial outcomes on, the last one before the end. A stopped tool is dropped; its last
/// partial outcome becomes its result.
async fn run(
    tool: &dyn Tool,
    arguments: serde_json::Value,
    place: Arc<ToolContext>,
    stop: &mut oneshot::Receiver<()>,
    show: impl Fn(ToolOutcome),
) -> ToolOutcome {
    // Unbounded: this task empties it whenever it runs, and the tool sends from the same task.
    let (partial, mut partials) = unbounded_channel();
    let mut running = tool.run(arguments, place, partial);
    let mut shown = None;
    loop {
        tokio::select! {
            biased;
            Some(outcome) = partials.recv() => show(shown.insert(outcome).clone()),
            _ = &mut *stop => break,
            outcome = &mut running => return outcome,
        }
    }
    drop(running);
    while let Ok(outcome) = partials.try_recv() {
        shown = Some(outcome);
    }
    ToolOutcome::stopped(shown)
}
