//! `offshoot` without a screen: runs the agent on a session and prints its answer or pi's event stream.

mod printer;

use std::sync::Arc;
use std::time::Duration;

use offshoot_agent::Approver;
use offshoot_agent::agent_session::AgentSession;
use offshoot_app::agent::{
    Args, PrintForm, Stop, Stops, TrustPerson, check_extensions, check_loaded, decided_by_extensions, enter_folder,
    extend, open, prompts, set_name, setup, with_tried_packages,
};
use offshoot_app::app::App;
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_app::extensions::{NO_EXTENSION, NoFront, asks_for_list};
use offshoot_app::ui::Ui;
use offshoot_extensions::ExtensionSet;
use offshoot_extensions::contract::ProgramMode;
use offshoot_protocol::request::UserPrompt;
use offshoot_protocol::{AgentError, AgentEvent, Event, Settled};
use offshoot_session::session::Session;
use tokio::sync::mpsc::UnboundedReceiver;

use printer::Printer;
pub(crate) use printer::failure;

pub(crate) fn run(app: &App, args: &Args, form: PrintForm) -> Result<()> {
    let mut session = open(app, args)?;
    enter_folder(app, args, &mut session)?;
    let (args, _tried) = &with_tried_packages(app, args)?;
    check_extensions(app, args)?;
    let mode = if form == PrintForm::Events { ProgramMode::Json } else { ProgramMode::Print };
    let app = &decided_by_extensions(app, args, &session, TrustPerson::Nobody(mode))?;
    let mut said = prompts(app, args, session.cwd())?;
    if said.is_empty() {
        let error = CommandError::usage("there is nothing to say to the model");
        return Err(error.hint("`offshoot -p PROMPT`, `offshoot -p @FILE`, or pipe something in"));
    }
    let mut setup = setup(app, args, &session, Approver::Nobody)?;
    let front = NoFront { app: app.clone(), mode };
    let extensions = extend(app, args, &session, &mut setup, Arc::new(front))?;
    if extensions.is_none() {
        said.retain(|said| !answers_list(app, said));
    }
    setup.resources.troubles().iter().for_each(|trouble| app.ui.warning(trouble));
    set_name(app, args, &mut session)?;
    // One thread: the agent mostly waits for the model and its tools, and more threads would start more slowly.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CommandError::io("start the agent", &error))?;
    let required = extensions.clone();
    let talk = Talk { said, required, ui: app.ui.clone() };
    let keeping = args.keeping();
    let ended = runtime.block_on(work((session, extensions), setup, (talk, args.max_time), Printer::new(app, form)));
    let ended = ended.map_err(|error| keeping.told(error));
    // A second interrupt does not wait for running tools.
    runtime.shutdown_background();
    ended
}

/// Without an extension nobody else says that there is none.
fn answers_list(app: &App, said: &UserPrompt) -> bool {
    let asks = asks_for_list(&said.text);
    if asks {
        app.ui.note(NO_EXTENSION);
    }
    asks
}

async fn work(
    (session, extensions): (Session, Option<Arc<ExtensionSet>>),
    setup: offshoot_agent::Setup,
    (talk, limit): (Talk, Option<Duration>),
    mut printer: Printer<'_>,
) -> Result<()> {
    printer.begin(&session, setup.tool_context.sandbox.as_ref())?;
    let failed = |error| CommandError::io("start the agent", &error);
    let mut stops = Stops::listen(limit).map_err(failed)?;
    let agent = AgentSession::start(session, setup).map_err(failed)?;
    extensions.iter().for_each(|extensions| extensions.start(&agent));
    let time_up = limit.map(|limit| {
        let why = format!("stopped after {} s, the limit of this run", limit.as_secs());
        AgentError::LimitReached(why)
    });
    let mut events = agent.subscribe();
    let settled = match relay(&agent, talk, (&mut stops, time_up), (&mut events, &mut printer)).await {
        Ok(Some(settled)) => printer.end(&settled).map(|()| settled),
        // A second signal does not wait for running tools.
        Ok(None) => return Err(CommandError::stopped()),
        Err(error) => Err(error),
    };
    // Also when nobody reads the output any more: running tools get their results.
    agent.close().await;
    if settled.is_ok() {
        printer.tell(&mut told(&mut events))?;
    }
    outcome(settled?).map_err(|error| CommandError { is_in_output: true, ..error })
}

type Talked = std::result::Result<Settled, AgentError>;

/// Prints the events of a conversation until it has settled; `None` after a second signal.
async fn relay(
    agent: &AgentSession,
    talk: Talk,
    (stops, time_up): (&mut Stops, Option<AgentError>),
    (events, printer): (&mut UnboundedReceiver<AgentEvent>, &mut Printer<'_>),
) -> Result<Option<Talked>> {
    let talking = talk.run(agent.clone());
    tokio::pin!(talking);
    let mut news = Vec::new();
    let mut is_stopping = false;
    let mut limit = None;
    let settled = loop {
        let stop = tokio::select! {
            biased;
            stop = stops.next() => stop,
            count = events.recv_many(&mut news, 512) => {
                if count > 0 {
                    printer.tell(&mut news)?;
                }
                continue;
            }
            settled = &mut talking => break settled,
        };
        match stop {
            Stop::TimeUp if is_stopping => continue,
            Stop::TimeUp => {
                limit.clone_from(&time_up);
                news.extend(
                    limit.iter().map(|why| AgentEvent::of_root(Arc::new(Event::Failed { error: why.to_string() }))),
                );
                printer.tell(&mut news)?;
            }
            Stop::Signal if is_stopping => return Ok(None),
            Stop::Signal => {}
        }
        is_stopping = true;
        let agent = agent.clone();
        tokio::spawn(async move { drop(agent.abort().await) });
    };
    printer.tell(&mut told(events))?;
    Ok(Some(match (settled, limit) {
        (Ok(Settled::Aborted), Some(limit)) => Ok(Settled::Failed(limit)),
        (settled, _) => settled,
    }))
}

/// Events that are not taken yet.
fn told(events: &mut UnboundedReceiver<AgentEvent>) -> Vec<AgentEvent> {
    std::iter::from_fn(|| events.try_recv().ok()).collect()
}

/// The prompts of a run, and the extensions without which none is sent.
struct Talk {
    said: Vec<UserPrompt>,
    required: Option<Arc<ExtensionSet>>,
    ui: Ui,
}

impl Talk {
    async fn run(self, agent: AgentSession) -> Talked {
        if let Some(extensions) = &self.required {
            check_loaded(extensions).await?;
        }
        let mut settled = Settled::Done;
        for said in self.said {
            let words = said.text.clone();
            settled = agent.prompt(said).await.inspect_err(|why| {
                if matches!(why, AgentError::NotWritten(_) | AgentError::Crashed { .. }) {
                    self.ui.note(&format!("the prompt was not recorded:\n{words}"));
                }
            })?;
            if settled != Settled::Done {
                break;
            }
        }
        Ok(settled)
    }
}

fn outcome(settled: Talked) -> Result<()> {
    match settled {
        Ok(Settled::Done) => Ok(()),
        Ok(Settled::Aborted) => Err(CommandError::stopped()),
        Ok(Settled::Failed(AgentError::Failed(why))) => {
            Err(CommandError { causes: vec![why], ..CommandError::new(FailureKind::Model, "the model gave no answer") })
        }
        Ok(Settled::Failed(
            why @ (AgentError::LimitReached(_) | AgentError::Oversized(_) | AgentError::AskLater { .. }),
        )) => Err((&why).into()),
        Ok(Settled::Failed(why) | Settled::Broken(why)) => Err(CommandError::from(&why).of("the agent had to stop")),
        Err(error) => Err((&error).into()),
    }
}
