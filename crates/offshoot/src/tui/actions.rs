//! Commands for which the program first looks something up: an entry, a session, a model, a file.

use std::path::PathBuf;
use std::sync::Arc;

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::model::ScopedModel;
use offshoot_app::agent::shown_path;
use offshoot_app::app::App;
use offshoot_app::error::{CommandError, FailureKind, Result};
use offshoot_app::lookup;
use offshoot_app::models::{level_of, next_of};
use offshoot_protocol::request::{Fork, SetModel, SetThinkingLevel, SwitchSession};
use offshoot_protocol::{FilesAlong, FolderRefusal};
use offshoot_session::children::carry_children;
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::session::{NewFork, Session, SessionPart};
use offshoot_session::transcript::Level;
use offshoot_session::tree::NodeIx;
use offshoot_tui::app::msg::Msg;

use super::job_context::{JobContext, ask, blocking};
use offshoot_app::export::export;
use offshoot_workspace::import::{Import, ImportOutput};
use offshoot_workspace::{Given, own_session_of, run_as};

pub(super) async fn use_model(context: &JobContext, agent: &AgentSession, name: &str) -> Result<()> {
    let found = context.model_table().await?.find(None, name);
    let found =
        found.map_err(|error| CommandError::new(FailureKind::NotFound, error.to_string()).hint("/model lists them"))?;
    let scoped = ScopedModel { model: Arc::new(found.model), level: found.level };
    let (_, settings) = context.scope(agent).await?;
    ask(context, agent, SetModel(Arc::clone(&scoped.model))).await;
    if let Some(level) = level_of(&scoped, &settings) {
        ask(context, agent, SetThinkingLevel(level)).await;
    }
    Ok(())
}

pub(super) async fn next_model(context: &JobContext, agent: &AgentSession, is_forward: bool) -> Result<()> {
    let (scope, settings) = context.scope(agent).await?;
    let now = agent.state().await?.model;
    let Some(next) = next_of(&scope, &now, is_forward) else {
        let chosen = if scope.len() == 1 { "/scoped-models chooses" } else { "there is" };
        context.notice(Level::Info, format!("{chosen} no other model with a key"));
        return Ok(());
    };
    ask(context, agent, SetModel(Arc::clone(&next.model))).await;
    if let Some(level) = level_of(next, &settings) {
        ask(context, agent, SetThinkingLevel(level)).await;
    }
    Ok(())
}

/// An error with what helps here, not in the shell.
fn in_terminal(error: CommandError, hint: &str) -> CommandError {
    CommandError { hints: vec![hint.to_owned()], ..error }
}

/// The entry that the user named. What does not exist is looked for here, not in the shell.
pub(super) fn find(app: &App, session: &Session, given: &str) -> Result<NodeIx> {
    lookup::entry(app, session, given).map_err(|error| in_terminal(error, "/tree shows them"))
}

pub(super) fn id_of(session: &Session, ix: NodeIx) -> Result<String> {
    let id = session.tree().node(ix).id().map(EntryId::as_str);
    id.map(str::to_owned).ok_or_else(|| CommandError::new(FailureKind::NotFound, "the entry has no id"))
}

pub(super) async fn read<T: Send + 'static>(
    agent: &AgentSession,
    look: impl FnOnce(&Session) -> Result<T> + Send + 'static,
) -> Result<T> {
    agent.read(look).await?
}

pub(super) async fn fork(context: &JobContext, agent: &AgentSession, entry: String, files: FilesAlong) -> Result<()> {
    // Another program may just have written the entry. An unreadable file is reported by the read below.
    drop(agent.refresh().await);
    let app = context.app.clone();
    let entry = read(agent, move |session| id_of(session, find(&app, session, &entry)?)).await?;
    ask(context, agent, Fork { entry, files }).await;
    Ok(())
}

pub(super) async fn resume(context: &JobContext, agent: &AgentSession, given: String) -> Result<()> {
    let app = context.app.clone();
    let found = blocking(move || app.file(&given)).await;
    let file = found.map_err(|error| in_terminal(error, "/resume lists them"))?;
    open(context, agent, file).await
}

/// Opens a session file. If its folder does not exist here, a copy in this folder is opened.
pub(super) async fn open(context: &JobContext, agent: &AgentSession, file: PathBuf) -> Result<()> {
    let app = context.app.clone();
    let file = match blocking(move || own_session(&app, &file)).await? {
        (file, Some(imported)) => {
            context.notice(Level::Info, imported);
            file
        }
        (file, None) => file,
    };
    let app = context.app.clone();
    let (file, note) = match blocking(move || openable(&app, file)).await? {
        Openable::Now(file) => (file, None),
        Openable::Copy(file, note) => (file, Some(note)),
        Openable::Asking(file, refusal) => {
            context.tell(Msg::SessionFolder(file, refusal));
            return Ok(());
        }
    };
    note.into_iter().for_each(|note| context.notice(Level::Warning, note));
    ask(context, agent, SwitchSession { file, folder: None }).await;
    Ok(())
}

/// The session, or that of offshoot's own which another agent's becomes.
fn own_session(app: &App, file: &std::path::Path) -> Result<(PathBuf, Option<String>)> {
    own_session_of(&app.place(), file).map_err(|failure| CommandError::of_operation(failure, None))
}

enum Openable {
    Now(PathBuf),
    /// With a note about the original.
    Copy(PathBuf, String),
    /// The user must name the folder.
    Asking(PathBuf, FolderRefusal),
}

fn openable(app: &App, file: PathBuf) -> Result<Openable> {
    let mut session = app.open_file(&file)?;
    let gone = match app.folders.enter(&mut session, None) {
        Ok(()) => return Ok(Openable::Now(file)),
        Err(FolderRefusal::Gone { own, .. }) => shown_path(&own),
        Err(refusal) => return Ok(Openable::Asking(file, refusal)),
    };
    let (store, cwd) = (app.store()?, app.cwd());
    let name = app.fork_name(&session, &store, &cwd)?;
    let fork = NewFork { cwd: Some(&cwd), name: name.as_deref(), ..NewFork::default() };
    let copy = session.export(&fork, |id, time| store.path_for(&cwd, id, time))?;
    let copied = copy.file.ok_or_else(|| CommandError::new(FailureKind::Failed, "the copy has no file"))?;
    carry_children(&session, SessionPart::Everything, &copied)?;
    let cwd = app.environment.short(&cwd);
    Ok(Openable::Copy(copied, format!("the session's folder {gone} is not there: this is a copy of it in {cwd}")))
}

pub(super) async fn export_session(
    context: &JobContext,
    agent: &AgentSession,
    entry: Option<String>,
    path: Option<String>,
) -> Result<()> {
    let (file, cwd) = read(agent, |session| {
        let file = session.file().filter(|file| file.exists()).map(PathBuf::from);
        let nowhere =
            || CommandError::new(FailureKind::Failed, "the session is in no file yet: there is nothing to export");
        Ok((file.ok_or_else(nowhere)?, session.cwd().map(PathBuf::from).unwrap_or_default()))
    })
    .await?;
    let at = match entry {
        Some(entry) => {
            let app = context.app.clone();
            Some(read(agent, move |session| id_of(session, find(&app, session, &entry)?)).await?)
        }
        None => None,
    };
    let name = path.unwrap_or_else(|| default_name(&file, at.as_deref()));
    let output = cwd.join(context.app.environment.path(&name));
    let app = context.app.clone();
    let shown = app.environment.short(&output.display().to_string());
    let written = blocking(move || export(&app, &file, output, at)).await;
    // An option of the shell's command does not help here.
    written.map_err(|error| CommandError {
        hints: error.hints.into_iter().filter(|hint| !hint.starts_with("--")).collect(),
        ..error
    })?;
    context.notice(Level::Info, format!("written to {shown}"));
    Ok(())
}

fn default_name(file: &std::path::Path, at: Option<&str>) -> String {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    match at {
        Some(entry) => format!("offshoot-branch-{entry}.jsonl"),
        None => format!("offshoot-session-{stem}.html"),
    }
}

pub(super) async fn import_file(context: &JobContext, agent: &AgentSession, path: String) -> Result<()> {
    let app = context.app.clone();
    let file = app.environment.whole_path(&path);
    let mut given = Given::default();
    given.put_text("file", file.to_string_lossy());
    let imported = blocking(move || {
        run_as::<Import>(given, &app.place()).map_err(|failure| CommandError::of_operation(failure, None))
    });
    let ImportOutput { path, note, .. } = imported.await?;
    if let Some(note) = note {
        context.notice(Level::Info, note);
    }
    open(context, agent, path).await
}
