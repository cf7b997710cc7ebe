//! Opens the session of the agent's arguments.

use std::path::Path;

use offshoot_protocol::FolderRefusal;
use offshoot_session::children::carry_children;
use offshoot_session::compose::NewEntry;
use offshoot_session::path_words::path_of_words;
use offshoot_session::session::{NewFork, NewSession, Session, SessionPart};
use offshoot_session::store::Store as _;
use offshoot_session::text::spell_name;

use super::Args;
use crate::app::{App, quoted};
use crate::error::{CommandError, FailureKind, Result};

/// Reports the session's diagnostics, and continues the session in its folder or in the one of `--session-folder`.
pub fn enter_folder(app: &App, args: &Args, session: &mut Session) -> Result<()> {
    let given = session_name(args);
    app.report(session, given);
    let named = args.session_folder.as_ref().map(|folder| app.environment.path(folder));
    app.folders.enter(session, named.as_deref()).map_err(|refusal| folder_refused(given, &refusal))
}

/// The session as the command line names it.
fn session_name(args: &Args) -> &str {
    args.session.as_deref().or(args.fork.as_deref()).unwrap_or(offshoot_workspace::LATEST)
}

fn folder_refused(given: &str, refusal: &FolderRefusal) -> CommandError {
    let copy = format!("`offshoot --fork {}` continues a copy in this folder", quoted(given));
    let error = CommandError::from(refusal);
    match refusal {
        FolderRefusal::Elsewhere { own, .. } => error
            .hint(format!("`--session-folder {}` works there, `--session-folder .` here", quoted(&shown_path(own))))
            .hint(copy),
        FolderRefusal::Gone { .. } => error.hint("`--session-folder .` works in this folder").hint(copy),
        FolderRefusal::Neither { .. } => error,
    }
}

/// A path in which nothing is hidden.
pub fn shown_path(path: &Path) -> String {
    spell_name(&path.display().to_string()).into_owned()
}

/// Opens or creates the session. Nothing is written.
pub fn open(app: &App, args: &Args) -> Result<Session> {
    let cwd = app.cwd();
    let new = NewSession { id: args.session_id.as_deref(), cwd: &cwd, ..NewSession::default() };
    if args.no_session {
        return Ok(Session::in_memory(&new, app.options())?);
    }
    if let Some(given) = &args.session {
        if offshoot_workspace::is_path(given) {
            let file = app.environment.path(path_of_words(given));
            app.note_opened(&file);
            return Ok(Session::open_or_create(&file, &new, app.options_for(&file))?);
        }
        let session = app.open(given)?;
        session.file().iter().for_each(|file| app.note_opened(file));
        return Ok(session);
    }
    let store = app.store()?;
    let same_id = match &args.session_id {
        Some(id) => app.session_of_id(id)?,
        None => None,
    };
    if let Some(given) = &args.fork {
        if let (Some(id), Some(file)) = (&args.session_id, &same_id) {
            return Err(CommandError::usage(format!("the session {id} exists already: {}", file.display()))
                .hint("`--session-id` with `--fork` is the id of the new copy"));
        }
        let mut source = app.open(given)?;
        let name = app.fork_name(&source, &store, &cwd)?;
        let fork =
            NewFork { id: args.session_id.as_deref(), cwd: Some(&cwd), name: name.as_deref(), ..NewFork::default() };
        let copy = source.export(&fork, |id, time| store.path_for(&cwd, id, time))?;
        let file = copy.file.ok_or_else(|| CommandError::new(FailureKind::Failed, "the copy has no file"))?;
        carry_children(&source, SessionPart::Everything, &file)?;
        return app.open_file(&file);
    }
    if let Some(file) = same_id {
        return app.open_file(&file);
    }
    if let Some(id) = &args.session_id {
        let session = store.create(&new, app.options())?;
        app.ui.warning(&format!("this folder has no session {id}: it is a new one"));
        return Ok(session);
    }
    let newest = if args.go_on { store.most_recent_file(Some(&cwd))? } else { None };
    match newest {
        Some((file, _)) => app.open_file(&file),
        None => {
            let session = store.create(&new, app.options())?;
            if args.go_on {
                app.ui.note(&format!("no session of {cwd} was found to continue: this is a new one"));
                app.ui.hint("`offshoot list --all` shows the sessions of other folders; `offshoot --fork ID` continues a copy of one here");
            }
            Ok(session)
        }
    }
}

/// Gives the session the name of `--name`. A start that fails must come before, because this writes.
pub fn set_name(app: &App, args: &Args, session: &mut Session) -> Result<()> {
    let Some(name) = &args.name else { return Ok(()) };
    if !session.is_named(name)? {
        app.upgrade(session)?;
        session.append(&NewEntry::session_info(name))?;
    }
    Ok(())
}
