//! The tools of a turn: each runs as a task and emits partial outcomes; a stopped tool returns its last one.

use std::sync::Arc;

use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::oneshot;

use super::approvals::{Asker, CallPlace};
use super::{Driver, DriverInput};
use crate::message::Block;
use crate::tool::{Tool, ToolContext, ToolOutcome};
use crate::turn::{Call, Ticket, TurnInput};

/// For the model: the next command is in the sandbox again.
const OUTSIDE: &str = "[the user let this run once outside the sandbox]";

impl Driver {
    pub(super) fn run_tool(&mut self, ticket: Ticket, index: usize, call: Call) {
        let own = self.own.clone();
        let clock = self.setup.clock.clone();
        let tool = self.setup.tools.iter().find(|tool| tool.name() == call.name).cloned();
        let mut place = self.setup.tool_context.clone();
        place.keys.secrets = self.redactor.keys();
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
        let (stop, mut stopped) = oneshot::channel();
        self.tool_stops.retain(|stop| !stop.is_closed());
        self.tool_stops.push(stop);
        self.spawn(async move {
            let outcome = match tool {
                Some(tool) => match asker.permit(&tool, &call, &place, (before, &mut stopped)).await {
                    Ok(()) => {
                        drop(judged);
                        let show = |outcome| {
                            let outcome = redactor.redact(outcome);
                            drop(own.send(DriverInput::Machine(TurnInput::Partial { ticket, call: index, outcome })));
                        };
                        let arguments = call.arguments.clone();
                        let outcome = run(tool.as_ref(), arguments, place.clone(), &mut stopped, &show).await;
                        match asker.permit_outside(&call, outcome, &mut stopped).await {
                            Ok(()) => {
                                let outside = Arc::new(ToolContext { sandbox: None, ..ToolContext::clone(&place) });
                                let mut outcome =
                                    run(tool.as_ref(), call.arguments, outside, &mut stopped, &show).await;
                                outcome.content.push(Block::text(OUTSIDE));
                                outcome
                            }
                            Err(outcome) => outcome,
                        }
                    }
                    Err(refused) => refused,
                },
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
