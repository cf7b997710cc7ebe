//! `offshoot` on a terminal: the program around the front end. Holds the agent and the store, runs the front end's
//! tasks and sends it their results.

mod ending;
mod hangup;
mod signals;
mod stop;
mod lending;
mod theme_files;
mod preferences;
mod prompt_file;
mod draft_files;
mod drafts;
mod session_list;
mod pick;
mod extension_notices;
mod extension_dialogs;
mod extension_streams;
mod extension_themes;
mod extension_screen;
mod extension_front;
mod one_thread;
mod job_context;
mod choices;
mod clipboard;
mod files;
mod git_branch;
mod extension_drawing;
mod extension_texts;
mod extension_history;
mod session_facts;
mod branch_list;
mod snapshots;
mod settings;
mod actions;
mod operations;
mod attach;
mod bring_back;
mod reload;
mod permissions;
mod mcp;
mod sandbox;
mod extension_writing;
mod extension_tasks;
mod serve;
mod folder_question;
mod start_panel;
mod trust_question;
mod extension_question;
mod mcp_question;
mod peer_question;
mod copies_question;
mod first_start;
mod program;

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use offshoot_agent::{Approver, Setup};
use offshoot_app::agent::{self, Args, TrustPerson, UserRules};
use offshoot_app::app::App;
use offshoot_app::error::{CommandError, Result};
use offshoot_protocol::ApprovalMode;
use offshoot_protocol::request::{FollowUp, Prompt, UserPrompt};
use offshoot_session::id::EntryId;
use offshoot_session::session::Session;
use offshoot_session::text::counted;
use offshoot_session::transcript::Level;
use offshoot_tui::app::cmd::ProgramTask;
use offshoot_tui::app::model::Model;
use offshoot_tui::app::msg::Msg;
use offshoot_tui::app::run::{Inbox, Program as _, run as run_front_end};
use offshoot_tui::editor::{Editor, History, Offers};

use draft_files::DraftFiles;
use drafts::DraftWriter;
use job_context::JobContext;
use one_thread::OneThread;
use pick::Picked;
use preferences::preferences;
use program::Program;
use session_list::SessionListWorker;
use signals::Signals;

/// How long a provider's limit is waited for: Escape ends it.
const LIMIT_PATIENCE: Duration = Duration::from_hours(24);

/// Said until the first prompt was sent.
const FIRST_START: &str = "the model's calls run unasked (approval: auto); /approval changes that";

/// Opens the session, or lets the user pick one, and shows it until the user leaves.
pub(crate) fn run(app: &App, args: &Args) -> Result<()> {
    let (mut session, signals, goes_on_at) = if args.resume {
        let Some(Picked { file, entry, signals }) = pick::session(app, args)? else {
            app.ui.note("no session was chosen");
            return Ok(());
        };
        app.note_opened(&file);
        (app.open_file(&file)?, Some(signals), entry)
    } else {
        (agent::open(app, args)?, None, None)
    };
    if !folder_question::entered(app, args, &mut session)? {
        app.ui.note("the session was not opened");
        return Ok(());
    }
    let (args, _tried) = &agent::with_tried_packages(app, args)?;
    agent::check_extensions(app, args)?;
    let app = &agent::decided_by_extensions(app, args, &session, TrustPerson::AtTheTerminal)?;
    let app = &first_start::settled(app, args, &session)?;
    let said = agent::prompts(app, args, session.cwd())?;
    let rules = UserRules::of(app, &app.folder_of(&session));
    let mut setup = agent::setup(app, args, &session, Approver::FrontEnd(Arc::new(rules)))?;
    setup.limits.wait.get_or_insert(LIMIT_PATIENCE);
    agent::check_model(app, args, &session, &setup)?;
    agent::set_name(app, args, &mut session)?;
    converse(app, args, (session, setup), Beginning { said, signals, goes_on_at })
}

/// How the conversation begins.
struct Beginning {
    said: Vec<UserPrompt>,
    /// Those that are handled already.
    signals: Option<Signals>,
    /// The entry from which the user goes on.
    goes_on_at: Option<EntryId>,
}

/// Runs the front end, with signals that are already handled.
fn converse(
    app: &App,
    args: &Args,
    (session, setup): (Session, Setup),
    Beginning { said, signals, goes_on_at }: Beginning,
) -> Result<()> {
    // Unbounded: while the user's editor has the terminal nobody reads, and the agent continues.
    let (sender, receiver) = channel();
    // Before the front end changes the terminal.
    let signals = signals.map_or_else(Signals::listen, Ok)?;
    signals.connect(sender.clone());
    let mut files = DraftFiles::of(app, &session, &setup.keys);
    let preferences =
        preferences(app, args, &app.settings_files(&app.folder_of(&session)), session.cwd().unwrap_or_default())?;
    let history = files.history();
    if history.is_empty() && args.approval.is_none() && setup.permissions.mode == ApprovalMode::Auto {
        app.ui.note(FIRST_START);
    }
    let editor = Editor::new(History::read(&history));
    // A prompt of the command line is sent at once; the draft is kept for another time.
    let draft = if said.is_empty() { files.take_left() } else { String::new() };
    let app = App { ui: app.ui.quiet(), ..app.clone() };
    let mut model = Model::new(preferences, editor, &draft);
    model.approval = setup.permissions.mode;
    model.goes_on_at = goes_on_at;
    model.editor.offer(Offers::expect_called);
    let told = sender.clone();
    // The front end may have ended.
    let session_list = SessionListWorker::start(&app, move |answer| drop(told.send(Msg::Sessions(answer))))?;
    let told = sender.clone();
    let drafts = DraftWriter::start(files, move |error| {
        let what = format!("what is being written cannot be kept: {error}");
        drop(told.send(Msg::Notice(Level::Warning, what)));
    })?;
    let args = Arc::new(args.clone());
    let session_list = Arc::new(session_list);
    let scope = Arc::default();
    let news = sender.clone();
    let context = JobContext {
        app: app.clone(),
        news,
        drafts,
        session_list,
        args,
        scope,
        looks: Arc::default(),
        forecasts: OneThread::default(),
        extensions: None,
        ui_state: None,
        lender: Arc::default(),
    };
    let (watch, notice) = hangup::hangup();
    let mut program = Program::start(context, session, setup, (notice, signals.ending()))?;
    program.take(ProgramTask::ReadSessionFacts);
    let mut said = said.into_iter();
    // A prompt waits for its key before it is recorded: without one it comes back into the editor.
    said.next().into_iter().for_each(|first| program.take(ProgramTask::ask(Prompt(first))));
    said.for_each(|then| program.take(ProgramTask::ask(FollowUp(then))));
    watch.start(sender.clone(), signals.ending())?;
    let inbox = Inbox { sender, receiver };
    let ran = run_front_end(model, &inbox, &mut program, offshoot_app::ui::terminal);
    program.close();
    let model = ran.map_err(|error| CommandError::io("use the terminal", &error))?;
    goodbye(&app, &model);
    Ok(())
}

fn goodbye(app: &App, model: &Model) {
    let (facts, began) = (&model.facts, !model.conversation.is_empty());
    let unsent = model.queue.0.len() + model.queue.1.len();
    if unsent > 0 {
        let unsent = counted(unsent, "queued message was", "queued messages were");
        app.ui.loud().note(&format!("{unsent} not sent: back in the editor when the session is opened again"));
    }
    // A session of which nothing was kept has no file.
    if began && facts.path.as_ref().is_some_and(|file| file.exists()) {
        app.ui.loud().hint(&format!("`offshoot --session {}` continues it", facts.id));
    }
}
