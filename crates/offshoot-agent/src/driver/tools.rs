//! The tools of a turn: each runs as a task and emits partial outcomes; a stopped tool returns its last one.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use offshoot_protocol::ApprovalMode;
use offshoot_protocol::message::Block;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use super::approvals::{Asker, CallPlace};
use super::files::RecordedBatch;
use super::foreseen::{AnswerCalls, LaterCall};
use super::permit::Permit;
use super::{Driver, DriverInput};
use crate::crash::{caught, caught_task};
use crate::extensions::{CallVerdict, Extensions, Question};
use crate::request_queue::{BuiltInTool, ReplyTo, RunNested, ToolList};
use crate::sandbox::MOST_PREPARED;
use crate::tool::{BASH_TOOL, Running, Tool, ToolContext, ToolOutcome};
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

    /// While the model is being asked.
    pub(super) fn make_tools_ready(&mut self, ticket: Ticket) {
        self.begun_calls.clear();
        self.make_ready(ticket, self.sent_tools(), 1);
    }

    /// While the model writes a call.
    pub(super) fn call_begun(&mut self, ticket: Ticket, name: &str) {
        let Some(tool) = self.setup.tools.iter().find(|tool| tool.name() == name).cloned() else { return };
        self.look_at_files_soon(tool.as_ref());
        let begun = self.begun_calls.entry(name.to_owned()).or_default();
        *begun += 1;
        let calls = *begun;
        // One was made ready with the request.
        if (2..=MOST_PREPARED).contains(&calls) {
            self.make_ready(ticket, vec![tool], calls);
        }
    }

    /// On the runtime's thread: what a call runs in must not outlive the runtime.
    fn make_ready(&mut self, ticket: Ticket, tools: Vec<Arc<dyn Tool>>, calls: usize) {
        let own = Arc::new(self.setup.tool_context.clone());
        let permissions = &self.setup.permissions;
        let is_confined = permissions.mode == ApprovalMode::ReadOnly && permissions.confines_to_reading;
        let confined = is_confined.then(|| Permit::Confined.context(own.clone()));
        // Nobody waits for it: a call does what was not done.
        self.spawn(ticket, async move {
            for context in [Some(own), confined].into_iter().flatten() {
                tools.iter().for_each(|tool| drop(caught(|| tool.make_ready(&context, calls))));
            }
        });
    }

    pub(super) fn run_tool(&mut self, ticket: Ticket, index: usize, call: Call) {
        let (own, clock) = (self.own.clone(), self.setup.clock.clone());
        let mut run = self.call_run(CallPlace { ticket, index }, &call);
        run.asker.calls = Some(self.calls_of_answer(ticket));
        let (judged, next) = oneshot::channel::<()>();
        let before = self.judged.replace((ticket, next)).filter(|(turn, _)| *turn == ticket).map(|(_, before)| before);
        let mut stopped = self.stop_of_call();
        self.spawn(ticket, async move {
            let redactor = run.asker.redactor.clone();
            let show = |outcome| {
                let partial = TurnInput::Partial { ticket, call: index, outcome: redactor.redact(outcome) };
                drop(own.send(DriverInput::Machine(partial)));
            };
            let name = call.name.clone();
            let outcome = caught_task(|| run.run(call, (before, Some(judged)), &mut stopped, show)).await;
            let outcome = outcome.unwrap_or_else(|crash| ToolOutcome::crashed(&name, &crash));
            let (outcome, at) = (redactor.redact(outcome), clock.now());
            drop(own.send(DriverInput::Machine(TurnInput::Ended { ticket, call: index, outcome, at })));
        });
    }

    /// Runs a call that a tool of the turn makes. It is judged as one of the model, in the place of the call that makes it.
    pub(super) fn run_nested(&mut self, nested: RunNested, mut reply: ReplyTo<ToolOutcome>) {
        let RunNested { parent, call, steps } = nested;
        let Some((ticket, index)) = self.state.running_call(&parent) else {
            let outcome = ToolOutcome::failed(format!("not run: the call {parent} that made it is not running"));
            return reply.answer(outcome);
        };
        let run = self.call_run(CallPlace { ticket, index }, &call);
        let mut stopped = self.stop_of_call();
        self.spawn(ticket, async move {
            let redactor = run.asker.redactor.clone();
            let show = |outcome| drop(steps.send(redactor.redact(outcome)));
            let name = call.name.clone();
            let running = caught_task(|| run.run(call, (None, None), &mut stopped, show));
            let outcome = tokio::select! {
                biased;
                // Dropping the run stops the tool.
                () = reply.closed() => return,
                outcome = running => outcome.unwrap_or_else(|crash| ToolOutcome::crashed(&name, &crash)),
            };
            reply.answer(redactor.redact(outcome));
        });
    }

    /// The calls of the answer with their tools, for questions that name those to come. Copied once for an answer.
    fn calls_of_answer(&mut self, ticket: Ticket) -> AnswerCalls {
        if let Some((_, calls)) = self.answer_calls.as_ref().filter(|(turn, _)| *turn == ticket) {
            return calls.clone();
        }
        let tool = |name: &str| self.setup.tools.iter().find(|tool| tool.name() == name).cloned();
        let later =
            |(index, call): (usize, &Call)| Some(LaterCall { index, tool: tool(&call.name)?, call: call.clone() });
        let calls: AnswerCalls = self.state.open_calls().filter_map(later).collect();
        self.answer_calls = Some((ticket, calls.clone()));
        calls
    }

    fn call_run(&mut self, place: CallPlace, call: &Call) -> CallRun {
        if call.name == BASH_TOOL {
            self.guard_commands();
        }
        let files = self.batch_of(place.ticket);
        let mut context = self.setup.tool_context.clone();
        context.keys.secrets = self.redactor.keys();
        context.call_id.clone_from(&call.id);
        context.conversation = self.conversation(place.ticket).with_tasks(self.task_runner(place.ticket, call));
        CallRun {
            tool: self.setup.tools.iter().find(|tool| tool.name() == call.name).cloned(),
            context: Arc::new(context),
            asker: Asker {
                place,
                permissions: self.permissions(),
                approver: self.setup.approver.clone(),
                redactor: self.redactor.clone(),
                own: self.own.clone(),
                calls: None,
            },
            asked_before: self.extensions_for(Question::BeforeCall),
            asked_after: self.extensions_for(Question::AfterCall),
            files,
            own: self.own.clone(),
        }
    }

    /// Ends when the tools are stopped.
    fn stop_of_call(&mut self) -> oneshot::Receiver<()> {
        let (stop, stopped) = oneshot::channel();
        self.tool_stops.retain(|stop| !stop.is_closed());
        self.tool_stops.push(stop);
        stopped
    }

    pub(super) fn stop_tools(&mut self) {
        for stop in self.tool_stops.drain(..) {
            // A tool that has just ended no longer listens.
            let _ = stop.send(());
        }
    }
}

/// What a call needs to run.
struct CallRun {
    tool: Option<Arc<dyn Tool>>,
    context: Arc<ToolContext>,
    asker: Asker,
    asked_before: Option<Arc<dyn Extensions>>,
    asked_after: Option<Arc<dyn Extensions>>,
    files: Option<RecordedBatch>,
    own: UnboundedSender<DriverInput>,
}

impl CallRun {
    /// Waits until the call may run, and runs it. It is judged after the call that ends with `before`; dropping `judged`
    /// lets the next one be judged.
    async fn run(
        mut self,
        call: Call,
        (before, judged): (Option<oneshot::Receiver<()>>, Option<oneshot::Sender<()>>),
        stop: &mut oneshot::Receiver<()>,
        show: impl Fn(ToolOutcome),
    ) -> ToolOutcome {
        let Some(tool) = self.tool else { return ToolOutcome::failed(no_such_tool(&call.name)) };
        let asked = (call, self.asked_before);
        let (note, context, changes);
        let call = match judge(&mut self.asker, &tool, asked, &mut self.context, (before, stop)).await {
            Ok((call, permit)) => {
                changes = permit.may_change();
                (note, context) = (permit.note(), permit.context(self.context));
                call
            }
            Err(refused) => return refused,
        };
        let own = &self.own;
        if let Some(files) = self.files.as_ref().filter(|_| changes)
            && let Err(error) = files.before(tool.as_ref(), &call, &context).await
        {
            drop(own.send(DriverInput::FilesFailed(error.to_string())));
        }
        let started = start(tool.as_ref(), call.arguments.clone(), context.clone()).await;
        // The next call is judged when this one has taken its place among the changes of its file.
        drop(judged);
        let outcome = started.finish(stop, &show).await;
        let outcome = outcome.noted(note);
        let outcome = match self.asker.permit_outside(&call, outcome, stop).await {
            Ok(()) => {
                let outside = Arc::new(ToolContext { sandbox: None, ..ToolContext::clone(&context) });
                let started = start(tool.as_ref(), call.arguments.clone(), outside).await;
                let mut outcome = started.finish(stop, &show).await;
                outcome.content.push(Block::text(OUTSIDE));
                outcome
            }
            Err(outcome) => outcome,
        };
        after(self.asked_after, call, outcome, stop).await
    }
}

fn no_such_tool(name: &str) -> String {
    if name.is_empty() {
        return "not run: the call names no tool".to_owned();
    }
    format!("there is no tool named {name}")
}

/// Waits until the call may run, and returns it as extensions have changed it; otherwise returns its result. Calls are
/// judged in their order: the one before it has been when `before` ends. Extensions come before the user.
async fn judge(
    asker: &mut Asker,
    tool: &Arc<dyn Tool>,
    (mut call, extensions): (Call, Option<Arc<dyn Extensions>>),
    place: &mut Arc<ToolContext>,
    (before, stop): (Option<oneshot::Receiver<()>>, &mut oneshot::Receiver<()>),
) -> Result<(Call, Permit), ToolOutcome> {
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
    let permit = asker.permit(tool, &call, place, stop).await?;
    Ok((call, permit))
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

/// A call that has begun.
struct StartedCall {
    running: Running,
    partials: UnboundedReceiver<ToolOutcome>,
    /// The outcome, if the call has ended at once.
    ended: Option<ToolOutcome>,
}

/// Starts a tool, up to the first thing that it waits for.
async fn start(tool: &dyn Tool, arguments: serde_json::Value, place: Arc<ToolContext>) -> StartedCall {
    // Unbounded: this task empties it whenever it runs, and the tool sends from the same task.
    let (partial, partials) = unbounded_channel();
    let mut running = tool.run(arguments, place, partial);
    let ended = poll_fn(|context| match running.as_mut().poll(context) {
        Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
        Poll::Pending => Poll::Ready(None),
    });
    let ended = ended.await;
    StartedCall { running, partials, ended }
}

impl StartedCall {
    /// Passes the partial outcomes on, the last one before the end. A stopped tool is dropped; its last partial outcome becomes its result.
    async fn finish(mut self, stop: &mut oneshot::Receiver<()>, show: impl Fn(ToolOutcome)) -> ToolOutcome {
        if let Some(outcome) = self.ended {
            while let Ok(partial) = self.partials.try_recv() {
                show(partial);
            }
            return outcome;
        }
        let mut shown = None;
        loop {
            tokio::select! {
                biased;
                Some(outcome) = self.partials.recv() => show(shown.insert(outcome).clone()),
                _ = &mut *stop => break,
                outcome = &mut self.running => return outcome,
            }
        }
        drop(self.running);
        while let Ok(outcome) = self.partials.try_recv() {
            shown = Some(outcome);
        }
        ToolOutcome::stopped(shown)
    }
}
