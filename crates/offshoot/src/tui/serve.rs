//! The program's loop: sends the agent's events to the front end, and starts the front end's tasks without waiting for
//! them.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use offshoot_agent::Setup;
use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::resources::SharedResources;
use offshoot_agent::tool::LiveTools;
use offshoot_app::agent;
use offshoot_app::app::App;
use offshoot_protocol::message::Message;
use offshoot_protocol::{AgentEvent, AgentId, Event};
use offshoot_session::session::Session;
use offshoot_session::transcript::Level;
use offshoot_settings::Settings;
use offshoot_tui::app::ask::TerminalAsk;
use offshoot_tui::app::cmd::ProgramTask;
use offshoot_tui::app::extension::{ExtensionMsg, ExtensionTask};
use offshoot_tui::app::msg::{Completeness, Msg, OpenedReason};
use tokio::runtime::Handle;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch;

use super::attach;
use super::extension_front::{ExtensionUiState, TuiFront};
use super::extension_themes::ThemeShelf;
use super::hangup::HangupNotice;
use super::job_context::{JobContext, ask};
use super::{
    actions, branch_list, bring_back, choices, clipboard, extension_drawing, extension_tasks, extension_texts, files,
    mcp, operations, permissions, reload, sandbox, session_facts, settings, snapshots,
};

/// The interval of checks for other programs' entries.
const WATCH: Duration = Duration::from_secs(2);

/// Runs tasks and sends events until the end.
pub(super) async fn serve(
    mut context: JobContext,
    session: Session,
    mut setup: Setup,
    mut wanted: UnboundedReceiver<ProgramTask>,
    mut hangup: HangupNotice,
) -> io::Result<()> {
    // The screen is there: it does not wait for extensions.
    let settings = extend(&mut context, &session, &mut setup);
    let resources = setup.resources.clone();
    let mut folder = context.app.folder_of(&session);
    let agent = AgentSession::start(session, setup)?;
    context.extensions.iter().for_each(|extensions| extensions.start(&agent));
    drop(tokio::spawn(offer_called(context.clone(), agent.clone(), resources, settings)));
    let mut events = agent.subscribe();
    let mut watch = tokio::time::interval(WATCH);
    let told = session_facts::LastWarning::default();
    let mut model_changes = ModelChanges::default();
    session_facts::open(&context, &agent, OpenedReason::Start, session_facts::Leaves::default()).await;
    loop {
        tokio::select! {
            biased;
            Ok(()) = &mut hangup.heard => break,
            event = events.recv() => match event {
                Some(AgentEvent { agent: AgentId::Child(id), event }) => context.tell(Msg::OfChild(id, event)),
                Some(AgentEvent { agent: AgentId::Root, event }) => {
                    let hearing = heard(&context, &agent, &mut folder, event);
                    let waiting = with_looks(&context, hearing, &mut wanted).await;
                    waiting.into_iter().for_each(|task| begin(&context, &agent, &mut model_changes, task));
                }
                None => break,
            },
            task = wanted.recv() => match task {
                Some(task) => begin(&context, &agent, &mut model_changes, task),
                None => break,
            },
            _ = watch.tick() => drop(tokio::spawn(session_facts::watch(context.clone(), agent.clone(), told.clone()))),
        }
    }
    agent.close().await;
    Ok(())
}

fn begin(context: &JobContext, agent: &AgentSession, model_changes: &mut ModelChanges, task: ProgramTask) {
    match task {
        ProgramTask::Extension(task) => extension_tasks::take(context, task),
        ProgramTask::SaveDraft(text) => context.drafts.save(text),
        ProgramTask::Ask(request) if attach::is_asked(&request) => {
            let turn = model_changes.wait();
            drop(tokio::spawn(ask_with_pictures(context.clone(), agent.clone(), *request, turn)));
        }
        task => {
            let turn = model_changes.turn_of(&task);
            drop(tokio::spawn(turn.run(act(context.clone(), agent.clone(), task))));
        }
    }
}

/// Sends a prompt with the pictures that it names. The prompts after it wait while these are read, not for its answer.
async fn ask_with_pictures(context: JobContext, agent: AgentSession, request: TerminalAsk, turn: TaskTurn) {
    match turn.run(attach::attached(&context, &agent, request)).await {
        Ok(request) => ask(&context, &agent, request).await,
        Err(answer) => context.tell(Msg::Answered(Box::new(answer))),
    }
}

/// Waits until an event is passed on, for which an extension may have to draw. Meanwhile it answers what the extension reads,
/// because the extension's process is blocked until then. The other tasks wait.
async fn with_looks(
    context: &JobContext,
    hearing: impl Future<Output = ()>,
    wanted: &mut UnboundedReceiver<ProgramTask>,
) -> Vec<ProgramTask> {
    tokio::pin!(hearing);
    let mut waiting = Vec::new();
    loop {
        tokio::select! {
            biased;
            () = &mut hearing => return waiting,
            Some(task) = wanted.recv() => match task {
                ProgramTask::Extension(task @ ExtensionTask::Seen(..)) => extension_tasks::take(context, task),
                task => waiting.push(task),
            },
        }
    }
}

/// The order of model changes, and of prompts after them. Other tasks run beside each other.
#[derive(Default)]
struct ModelChanges(Option<watch::Receiver<()>>);

/// What a task waits for, and what waits for it.
#[derive(Default)]
struct TaskTurn {
    before: Option<watch::Receiver<()>>,
    /// Dropped when the task is done.
    is_running: Option<watch::Sender<()>>,
}

impl ModelChanges {
    /// A task for which later ones wait.
    fn wait(&mut self) -> TaskTurn {
        let (running, done) = watch::channel(());
        TaskTurn { before: self.0.replace(done), is_running: Some(running) }
    }

    fn turn_of(&mut self, task: &ProgramTask) -> TaskTurn {
        match task {
            ProgramTask::UseModel(_) | ProgramTask::NextModel { .. } => self.wait(),
            ProgramTask::Ask(request) if is_prompt(request) => {
                TaskTurn { before: self.0.clone(), ..TaskTurn::default() }
            }
            _ => TaskTurn::default(),
        }
    }
}

fn is_prompt(request: &TerminalAsk) -> bool {
    matches!(request, TerminalAsk::Prompt(_) | TerminalAsk::Steer(_) | TerminalAsk::FollowUp(_))
}

impl TaskTurn {
    async fn run<T>(self, task: impl Future<Output = T>) -> T {
        if let Some(mut before) = self.before {
            // It ends with an error: nothing is ever sent.
            drop(before.changed().await);
        }
        let done = task.await;
        drop(self.is_running);
        done
    }
}

/// Finds the extensions. What is odd about them becomes a notice.
fn extend(context: &mut JobContext, session: &Session, setup: &mut Setup) -> Settings {
    let (ui, warnings) = context.app.ui.collecting();
    let app = App { ui, ..context.app.clone() };
    let themes = ThemeShelf::new(&context.app, &context.args, context.app.folder_of(session));
    let ui_state = ExtensionUiState::new(context.news.clone(), Handle::current(), themes);
    context.ui_state = Some(ui_state.clone());
    // There is one session of extensions for all of the program.
    drop(context.lender.set(ui_state.clone()));
    let front = Arc::new(TuiFront(ui_state));
    match agent::extend(&app, &context.args, session, setup, front) {
        Ok(extensions) => context.extensions = extensions,
        Err(error) => context.notice(Level::Error, error.with_hints_on_one_line()),
    }
    let warnings = std::mem::take(&mut *warnings.lock().unwrap_or_else(PoisonError::into_inner));
    warnings.into_iter().for_each(|warning| context.notice(Level::Warning, warning));
    let quiet = App { ui: context.app.ui.quiet(), ..context.app.clone() };
    quiet.layers(session).map(|layers| Settings::from(&layers)).unwrap_or_default()
}

/// Offers skills and templates when they are found, and the commands of extensions when they are loaded.
async fn offer_called(context: JobContext, agent: AgentSession, resources: SharedResources, settings: Settings) {
    let settings_of_skills = settings.clone();
    let search = move || (choices::called(&resources, &settings), resources.troubles().to_vec());
    // A search that panicked has found nothing.
    let (mut called, troubles) = tokio::task::spawn_blocking(search).await.unwrap_or_default();
    if let Some(extensions) = &context.extensions {
        context.tell(Msg::Called(called.clone(), Completeness::SoFar));
        extensions.begun().await;
        let added = agent.state().await.map(|state| state.resources);
        let added = added.ok().map(|resources| choices::called(&resources, &settings_of_skills));
        called = choices::with_commands(added.unwrap_or(called), extensions);
        context.tell(Msg::Extension(ExtensionMsg::Shortcuts(extensions.shortcuts())));
    }
    troubles.into_iter().for_each(|trouble| context.notice(Level::Warning, trouble));
    let Some(live) = agent.live_tools() else { return context.tell(Msg::Called(called, Completeness::Whole)) };
    // It must not be kept from ending.
    drop(agent);
    context.tell(Msg::Called(called.clone(), Completeness::SoFar));
    let mut seen = live.prompts_changed(None).await;
    tell_prompts(&context, live.as_ref());
    context.tell(Msg::Called(called, Completeness::Whole));
    loop {
        seen = live.prompts_changed(Some(seen)).await;
        tell_prompts(&context, live.as_ref());
    }
}

/// The prompts of servers, as commands.
fn tell_prompts(context: &JobContext, live: &dyn LiveTools) {
    let prompts = live.prompts();
    let choices = prompts.iter().map(choices::prompt).collect();
    context.tell(Msg::Prompts(choices, prompts.into_iter().map(|prompt| prompt.short).collect()));
}

/// Passes an event on; after the opening of another session also its last entries, before later events.
async fn heard(context: &JobContext, agent: &AgentSession, folder: &mut PathBuf, event: Arc<Event>) {
    let changed = match event.as_ref() {
        Event::SessionChanged { reason, leaf_id, grown_from, .. } => {
            Some((*reason, session_facts::Leaves { leaf: leaf_id.clone(), grown_from: grown_from.clone() }))
        }
        _ => None,
    };
    if changed.is_some() || matches!(event.as_ref(), Event::MessageEnd { message: Message::User(_) }) {
        session_facts::own_draft(context, agent).await;
    }
    extension_drawing::draw(context, &event).await;
    extension_texts::shown(context, event).await.into_iter().for_each(|event| context.tell(Msg::Agent(event)));
    if let Some((reason, leaves)) = changed {
        session_facts::open(context, agent, OpenedReason::Changed(reason), leaves).await;
        follow(context, agent, folder).await;
    }
}

/// Uses the settings of the session's folder if it is not the one before.
async fn follow(context: &JobContext, agent: &AgentSession, folder: &mut PathBuf) {
    let app = context.app.clone();
    // The agent may have ended.
    let Ok(now) = agent.read(move |session: &Session| app.folder_of(session)).await else { return };
    if std::mem::replace(folder, now.clone()) == now {
        return;
    }
    context.ui_state.iter().for_each(|ui_state| ui_state.follow(now.clone()));
    if let Err(error) = reload::follow_folder(context, agent).await {
        context.notice(Level::Error, error.with_hints_on_one_line());
    }
}

/// Sends the prompts that are kept. The thread that writes them reads them: none is missing.
fn past_prompts(context: &JobContext) {
    let told = context.clone();
    context.drafts.past_prompts(move |past| match past {
        Some(Ok(past)) => told.tell(Msg::PastPrompts(past)),
        Some(Err(error)) => told.notice(Level::Error, format!("cannot read the prompts that were sent: {error}")),
        None => told.notice(Level::Info, "prompts are not kept: the setting promptHistory is false"),
    });
}

/// Runs a task. An error becomes a notice.
async fn act(context: JobContext, agent: AgentSession, task: ProgramTask) {
    let done = match task {
        ProgramTask::Ask(request) => return ask(&context, &agent, *request).await,
        ProgramTask::ReadSessionFacts => return session_facts::look(&context, &agent).await,
        ProgramTask::ReadChildren => return snapshots::children(&context, &agent).await,
        ProgramTask::Snapshot(purpose) => return snapshots::snapshot(&context, &agent, purpose).await,
        ProgramTask::Branches => return branch_list::send(&context, &agent).await,
        ProgramTask::Describe => return session_facts::describe(&context, &agent).await,
        ProgramTask::Sandbox(mode) => sandbox::run(&context, &agent, mode).await,
        ProgramTask::Permissions(words) => permissions::show(&context, &agent, words).await,
        ProgramTask::Mcp(words) => mcp::show(&context, &agent, words.as_deref()),
        ProgramTask::Paste => return clipboard::paste(&context).await,
        ProgramTask::Copy { text, what } => return clipboard::copy(&context, text, what).await,
        ProgramTask::Choices(argument) => return choices::find(&context, &agent, argument).await,
        ProgramTask::Files => return files::find(&context, &agent).await,
        ProgramTask::Remember(prompt) => return context.drafts.remember(prompt),
        ProgramTask::PastPrompts => return past_prompts(&context),
        ProgramTask::Sessions(request) => return operations::change_list(&context, &agent, request).await,
        ProgramTask::Settings => return settings::open(&context, &agent).await,
        ProgramTask::ThemeList => settings::theme_list(&context, &agent).await,
        ProgramTask::Themes(setting) => return settings::themes(&context, &agent, setting).await,
        ProgramTask::Store(scope, key, value) => return settings::store(&context, &agent, scope, key, value).await,
        ProgramTask::Models => choices::models(&context).await,
        ProgramTask::LocalModels => choices::local_models(&context).await,
        ProgramTask::ModelScope => choices::model_scope(&context, &agent).await,
        ProgramTask::UseScope(names) => return context.use_scope(names),
        // The loop does these, in order.
        ProgramTask::SaveDraft(_) | ProgramTask::Extension(_) => Ok(()),
        ProgramTask::UseModel(name) => actions::use_model(&context, &agent, &name).await,
        ProgramTask::NextModel { is_forward } => actions::next_model(&context, &agent, is_forward).await,
        ProgramTask::Fork(entry, files) => actions::fork(&context, &agent, entry, files).await,
        ProgramTask::Compare(entry, other) => bring_back::compare(&context, &agent, entry, other).await,
        ProgramTask::Forecast(wish) => return bring_back::forecast(&context, &agent, wish).await,
        ProgramTask::FindSource(origin) => bring_back::find_source(&context, &agent, origin).await,
        ProgramTask::Reload => reload::reload(&context, &agent).await,
        ProgramTask::Trust => return reload::ask_trust(&context, &agent).await,
        ProgramTask::KeepTrust(answer) => reload::keep_trust(&context, &agent, answer).await,
        ProgramTask::FilesPreview(entry) => return bring_back::files_preview(&context, &agent, entry).await,
        ProgramTask::Patches(first, second) => return bring_back::patches(&context, &agent, first, second).await,
        ProgramTask::Resume(given) => actions::resume(&context, &agent, given).await,
        ProgramTask::Open(file) => actions::open(&context, &agent, file).await,
        ProgramTask::Operate(order) => return operations::operate(&context, &agent, order).await,
        ProgramTask::Export(path) => actions::export_session(&context, &agent, None, path).await,
        ProgramTask::ExportBranch { entry, path } => actions::export_session(&context, &agent, Some(entry), path).await,
        ProgramTask::Import(path) => actions::import_file(&context, &agent, path).await,
    };
    if let Err(error) = done {
        context.notice(Level::Error, error.with_hints_on_one_line());
    }
}
