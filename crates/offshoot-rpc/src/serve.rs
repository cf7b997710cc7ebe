//! The loop: reads commands in order and starts them, passes events on, and ends in good order.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::request_queue::AgentState;
use offshoot_agent::{Approver, Setup};
use offshoot_app::agent::{self, Args, Stop, Stops, TrustPerson, UserRules};
use offshoot_app::app::App;
use offshoot_app::error::{CommandError, Result};
use offshoot_app::lines::{InputLine, LONGEST_LINE, next_line};
use offshoot_extensions::contract::ProgramMode;
use offshoot_protocol::request::AbortBash;
use offshoot_protocol::{AgentEvent, AgentId, Event};
use offshoot_session::session::Session;
use tokio::sync::mpsc::{Receiver, UnboundedReceiver, channel, unbounded_channel};

use crate::extension_front::{RpcFront, SharedFront};
use crate::record_queue::RecordQueue;
use crate::request::RpcRequest;
use crate::responder::{Responder, Response, RpcFailure, refuse_line};
use crate::server::RpcServer;
use crate::{approvals, commands, ui_request};

/// Lines that are read ahead of the commands that run.
const LINES_AHEAD: usize = 64;
/// Events that are passed on at a time.
const EVENTS_AT_A_TIME: usize = 512;

/// How long commands that were sent are waited for after the end of the input, since the last response. Only where there are
/// extensions: a handler of theirs may never end, and nobody is left to answer what it asks.
const GRACE: Duration = Duration::from_secs(5);

/// Serves a client on standard input and output until it has gone, or a signal comes.
///
/// # Errors
/// The arguments, the session or the setup is refused, or the client's end of a pipe fails.
pub fn run(app: &App, args: &Args) -> Result<()> {
    if args.prompt_words().next().is_some() || args.attachments().next().is_some() || !args.then.is_empty() {
        let error = CommandError::usage("--mode rpc takes no prompt: commands come on standard input");
        return Err(error.hint(r#"for example {"type":"prompt","message":"Hello"}; docs/rpc.md lists the commands"#));
    }
    if args.no_stdin {
        return Err(CommandError::usage(
            "--mode rpc reads its commands from standard input: it does not go with --no-stdin",
        ));
    }
    if args.print || args.resume {
        return Err(CommandError::usage("--mode rpc goes with neither -p nor --resume"));
    }
    let mut session = agent::open(app, args)?;
    agent::enter_folder(app, args, &mut session)?;
    let (args, _tried) = &agent::with_tried_packages(app, args)?;
    agent::check_extensions(app, args)?;
    let app = &agent::decided_by_extensions(app, args, &session, TrustPerson::Nobody(ProgramMode::Rpc))?;
    let setup = agent::setup(app, args, &session, Approver::Nobody)?;
    agent::set_name(app, args, &mut session)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CommandError::io("start the agent", &error))?;
    let ended = runtime.block_on(serve(app, args, session, setup));
    // A second signal does not wait for running tools.
    runtime.shutdown_background();
    ended.map_err(|error| args.keeping().told(error))
}

async fn serve(app: &App, args: &Args, session: Session, mut setup: Setup) -> Result<()> {
    let failed = |error| CommandError::io("start the agent", &error);
    let mut stops = Stops::listen(args.max_time).map_err(failed)?;
    let folder = app.output_folder();
    let queue = RecordQueue::new(args.rpc_version.unwrap_or_default(), folder);
    let front = Arc::new(RpcFront::new(queue.clone(), app.environment.clone()));
    let extensions = agent::extend(app, args, &session, &mut setup, Arc::new(SharedFront(Arc::clone(&front))))?;
    let ui = app.ui.clone();
    let writer = queue.start(move || ui.raw()).map_err(failed)?;
    let lines = read_lines().map_err(failed)?;
    let (warned, ui) = (setup.resources.clone(), app.ui.clone());
    let warning = tokio::task::spawn_blocking(move || warned.troubles().iter().for_each(|one| ui.warning(one)));
    let rules = UserRules::of(app, &app.folder_of(&session));
    let agent = AgentSession::start(session, setup).map_err(failed)?;
    extensions.iter().for_each(|extensions| extensions.start(&agent));
    let (responses, responded) = unbounded_channel();
    let server = Arc::new(RpcServer {
        app: App { ui: app.ui.quiet(), ..app.clone() },
        agent: agent.clone(),
        queue: queue.clone(),
        responses,
        owed: Arc::default(),
        extensions,
        front,
        args: Arc::new(args.clone()),
        rules: Arc::new(rules),
        prompting: tokio::sync::Mutex::default(),
        client: std::sync::Mutex::default(),
    });
    let mut told = Told { events: agent.subscribe(), responses: responded };
    let ended = relay(&server, lines, &mut told, &mut stops).await;
    finish(&server, agent, &mut told, &mut stops).await;
    drop((server, told));
    queue.end();
    drop(warning.await);
    // A client that reads slowly gets everything; a signal ends the wait.
    tokio::select! {
        _ = tokio::task::spawn_blocking(move || drop(writer.join())) => {}
        _ = stops.next() => {}
    }
    ended
}

/// Ends with the input, a signal, or the client.
async fn relay(server: &Arc<RpcServer>, mut lines: Receiver<Line>, told: &mut Told, stops: &mut Stops) -> Result<()> {
    let mut news: Vec<AgentEvent> = Vec::new();
    let mut is_ending = false;
    loop {
        let has_room = server.queue.has_room();
        tokio::select! {
            biased;
            stop = stops.next() => return Err(stopped(stop)),
            count = told.events.recv_many(&mut news, EVENTS_AT_A_TIME) => {
                if count == 0 {
                    return Ok(());
                }
                let has_settled = news.iter().any(is_settled);
                news.drain(..).for_each(|told| pass_on(server, told));
                server.queue.wake();
                if is_ending && has_settled {
                    return Ok(());
                }
            }
            Some(response) = told.responses.recv() => response.write(),
            () = server.queue.written() => {
                if let Some(error) = server.queue.broken() {
                    return gone(&error);
                }
            }
            // What the agent has begun, it finishes.
            () = server.front.shutdown.notified() => {
                if is_idle(server).await {
                    return Ok(());
                }
                is_ending = true;
            }
            line = lines.recv(), if has_room => match line {
                Some(Ok(line)) => take(server, line).await,
                Some(Err(error)) => return Err(CommandError::io("read the commands", &error)),
                None => break,
            },
        }
    }
    // Commands were asked before the end of the input, and are answered.
    let mut patience = pin!(grace(server));
    while Arc::strong_count(&server.owed) > 1 {
        tokio::select! {
            biased;
            stop = stops.next() => return Err(stopped(stop)),
            Some(event) = told.events.recv() => {
                pass_on(server, event);
                server.queue.wake();
            }
            Some(response) = told.responses.recv() => {
                response.write();
                patience.set(grace(server));
            }
            () = server.queue.written() => {
                if let Some(error) = server.queue.broken() {
                    return gone(&error);
                }
            }
            () = &mut patience => return Ok(()),
        }
    }
    Ok(())
}

/// Ends when extensions have had their time.
async fn grace(server: &Arc<RpcServer>) {
    match server.extensions {
        Some(_) => tokio::time::sleep(GRACE).await,
        None => std::future::pending().await,
    }
}

async fn is_idle(server: &Arc<RpcServer>) -> bool {
    server.agent.state().await.map_or(true, |state| !state.is_streaming)
}

/// A client that goes ends the program in good order.
fn gone(error: &io::Error) -> Result<()> {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(CommandError::io("write for the client", error)),
    }
}

/// Whether the agent of the client has settled. Children settle by themselves.
fn is_settled(told: &AgentEvent) -> bool {
    told.agent == AgentId::Root && matches!(*told.event, Event::AgentSettled { .. })
}

fn pass_on(server: &Arc<RpcServer>, told: AgentEvent) {
    let event = Arc::clone(&told.event);
    server.tell(told);
    let (has_ui, timeout) = {
        let client = server.client();
        (client.has_ui, client.ui_timeout)
    };
    if has_ui {
        ui_request::shown(&event).into_iter().for_each(|shown| server.tell_user(shown));
        approvals::ask(server, &event, timeout);
    }
}

/// Starts a command. The next one is read once the agent has this one, so they keep their order.
async fn take(server: &Arc<RpcServer>, line: InputLine) {
    let line = match line {
        InputLine::Whole(line) if line.iter().all(u8::is_ascii_whitespace) => return,
        InputLine::Whole(line) => line,
        InputLine::TooLong => return refuse_line(&server.queue, &InputLine::too_long()),
    };
    match RpcRequest::read(&line) {
        RpcRequest::Unreadable(why) => refuse_line(&server.queue, &why),
        RpcRequest::Ui(response) => {
            if let Err(response) = server.front.answered(response) {
                drop(tokio::spawn(approvals::answered(Arc::clone(server), response)));
            }
        }
        RpcRequest::Command(id, name, command) => {
            let responder = Responder::new(id, &name, (&server.queue, &server.responses));
            match command {
                Ok(command) => {
                    let responder = if command.may_take_long() { responder } else { responder.owing(&server.owed) };
                    drop(tokio::spawn(commands::run(Arc::clone(server), *command, responder)));
                }
                Err(why) => responder.send(Err(RpcFailure(why))),
            }
        }
    }
    tokio::task::yield_now().await;
}

/// Stops what runs, so that calls have their results, and passes the last events on.
async fn finish(server: &Arc<RpcServer>, agent: AgentSession, told: &mut Told, stops: &mut Stops) {
    let stopping = async {
        // The agent may have ended, or nothing may run.
        drop(agent.ask(AbortBash).await);
        let is_busy = |state: AgentState| state.is_streaming || state.is_at_a_job;
        if agent.state().await.is_ok_and(is_busy) {
            drop(agent.abort().await);
        }
        agent.close().await;
        while let Ok(event) = told.events.try_recv() {
            pass_on(server, event);
        }
        while let Ok(response) = told.responses.try_recv() {
            response.write();
        }
    };
    tokio::select! {
        () = stopping => {}
        () = grace(server) => {}
        // A second signal does not wait.
        _ = stops.next() => {}
    }
}

fn stopped(stop: Stop) -> CommandError {
    match stop {
        Stop::TimeUp => {
            CommandError::new(offshoot_app::error::FailureKind::Limit, "stopped: the time of this run is over")
        }
        Stop::Signal => CommandError::stopped(),
    }
}

type Line = io::Result<InputLine>;

/// What goes to the client: the events first.
struct Told {
    events: UnboundedReceiver<AgentEvent>,
    responses: UnboundedReceiver<Response>,
}

/// Lines of standard input, read by a thread of its own.
fn read_lines() -> io::Result<Receiver<Line>> {
    let (sender, lines) = channel(LINES_AHEAD);
    std::thread::Builder::new().name("rpc-in".to_owned()).spawn(move || {
        let mut input = io::stdin().lock();
        loop {
            let line = match next_line(&mut input, LONGEST_LINE) {
                Ok(Some(line)) => Ok(line),
                Ok(None) => return,
                Err(error) => Err(error),
            };
            let is_last = line.is_err();
            if sender.blocking_send(line).is_err() || is_last {
                return;
            }
        }
    })?;
    Ok(lines)
}
