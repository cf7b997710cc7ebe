//! The session that the agent goes on with, from what was typed.

use std::path::{Path, PathBuf};

use offshoot_session::session::{NewSession, Part, Session};
use offshoot_session::store::Store as _;

use super::Args;
use crate::app::{App, quoted};
use crate::error::{CommandError, Kind, Result};
use crate::select;
use crate::tui::Signals;

/// Opens or begins it; `None` if the user was to choose one and wanted none. Nothing is written. Since a list was shown
/// signals are heard.
pub(crate) fn session(app: &App, args: &Args) -> Result<Option<(Session, Option<Signals>)>> {
    let (session, signals) = if args.resume {
        let Some((file, signals)) = crate::tui::pick_session(app)? else { return Ok(None) };
        (app.open_file(&file)?, Some(signals))
    } else {
        (open(app, args)?, None)
    };
    let given = args.session.as_deref().or(args.fork.as_deref()).unwrap_or(select::LATEST);
    app.report(&session, given);
    let gone = session.cwd().filter(|cwd| !cwd.is_empty() && !Path::new(cwd).is_dir());
    if let Some(gone) = gone {
        let error = CommandError::new(Kind::NotFound, format!("the session's folder {gone} is not there any more"));
        return Err(error.hint(format!("`offshoot --fork {}` goes on with a copy in this folder", quoted(given))));
    }
    Ok(Some((session, signals)))
}

fn open(app: &App, args: &Args) -> Result<Session> {
    let cwd = app.cwd();
    let new = NewSession { cwd: &cwd, ..NewSession::default() };
    if args.no_session {
        return Ok(Session::in_memory(&new, app.options())?);
    }
    if let Some(given) = &args.session {
        if select::is_path(given) {
            let file = PathBuf::from(given);
            return Ok(Session::open_or_create(&file, &new, app.options_for(&file))?);
        }
        return app.open(given);
    }
    let store = app.store()?;
    if let Some(given) = &args.fork {
        let mut source = app.open(given)?;
        let copy = source.export(Part::Everything, Some(&cwd), |id, time| store.place(&cwd, id, time))?;
        let file = copy.file.ok_or_else(|| CommandError::new(Kind::Failed, "the copy has no file"))?;
        return app.open_file(&file);
    }
    let newest = if args.go_on { store.most_recent_file(Some(&cwd))? } else { None };
    match newest {
        Some((file, _)) => app.open_file(&file),
        None => Ok(store.create(&new, app.options())?),
    }
}
