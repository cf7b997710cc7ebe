//! Opens the session of the agent's arguments.

use std::path::{Path, PathBuf};

use offshoot_session::session::{NewFork, NewSession, Session};
use offshoot_session::store::Store as _;

use super::Args;
use crate::app::{App, quoted};
use crate::error::{CommandError, FailureKind, Result};
use crate::select;

/// Reports the session's diagnostics. Its working directory must still exist.
pub(crate) fn check_folder(app: &App, args: &Args, session: &Session) -> Result<()> {
    let given = args.session.as_deref().or(args.fork.as_deref()).unwrap_or(select::LATEST);
    app.report(session, given);
    match session.cwd().filter(|cwd| !cwd.is_empty() && !Path::new(cwd).is_dir()) {
        None => Ok(()),
        Some(gone) => {
            Err(CommandError::new(FailureKind::NotFound, format!("the session's folder {gone} is not there any more"))
                .hint(format!("`offshoot --fork {}` continues a copy in this folder", quoted(given))))
        }
    }
}

/// Opens or creates the session. Nothing is written.
pub(crate) fn open(app: &App, args: &Args) -> Result<Session> {
    let cwd = app.cwd();
    let new = NewSession { cwd: &cwd, ..NewSession::default() };
    if args.no_session {
        return Ok(Session::in_memory(&new, app.options())?);
    }
    if let Some(given) = &args.session {
        if select::is_path(given) {
            let file = PathBuf::from(given);
            app.note_opened(&file);
            return Ok(Session::open_or_create(&file, &new, app.options_for(&file))?);
        }
        let session = app.open(given)?;
        session.file().iter().for_each(|file| app.note_opened(file));
        return Ok(session);
    }
    let store = app.store()?;
    if let Some(given) = &args.fork {
        let mut source = app.open(given)?;
        let name = app.fork_name(&source, &store, &cwd)?;
        let fork = NewFork { cwd: Some(&cwd), name: name.as_deref(), ..NewFork::default() };
        let copy = source.export(&fork, |id, time| store.place(&cwd, id, time))?;
        let file = copy.file.ok_or_else(|| CommandError::new(FailureKind::Failed, "the copy has no file"))?;
        return app.open_file(&file);
    }
    let newest = if args.go_on { store.most_recent_file(Some(&cwd))? } else { None };
    match newest {
        Some((file, _)) => app.open_file(&file),
        None => Ok(store.create(&new, app.options())?),
    }
}
