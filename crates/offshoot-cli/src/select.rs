//! Finds the session file or the entry that a person named.

use std::path::{Path, PathBuf};

use offshoot_session::entry::Source as _;
use offshoot_session::error::{Code, Error};
use offshoot_session::list::SessionInfo;
use offshoot_session::session::Session;
use offshoot_session::store::{DirStore, Flavour, Scope};
use offshoot_session::tree::NodeIx;

use crate::app::App;
use crate::error::{CommandError, FailureKind, Result};

/// Means the most recently written session.
pub(crate) const LATEST: &str = "latest";

/// Whether a word can only be the path of a session file.
pub(crate) fn is_path(given: &str) -> bool {
    given.contains(['/', '\\']) || given.ends_with(".jsonl")
}

impl App {
    pub(crate) fn file(&self, given: &str) -> Result<PathBuf> {
        session_file(self, given)
    }

    pub(crate) fn open(&self, given: &str) -> Result<Session> {
        self.open_file(&self.file(given)?)
    }
}

/// A path, an id or a unique start of one, a name, or `latest`.
///
/// Ids and names are searched among the sessions of the working directory first, then among all.
fn session_file(app: &App, given: &str) -> Result<PathBuf> {
    if given.is_empty() {
        return Err(CommandError::usage("an empty text names no session").hint("`offshoot list` shows the sessions"));
    }
    if is_path(given) {
        return existing(Path::new(given));
    }
    let store = app.store()?;
    let cwd = app.cwd();
    if given == LATEST {
        return latest(app, &store, &cwd);
    }
    let mut unread = Vec::new();
    for scope in [Some(cwd.as_str()), None] {
        let (sessions, diagnostics) = app.list(&store, Scope { cwd: scope, with_text: false }, &mut |_, _| {})?;
        unread.extend(diagnostics.into_iter().filter(|told| told.code == Code::UnreadableFolder));
        // An id or a unique start of one takes precedence; a name resolves an ambiguous start.
        let (by_id, by_name) = (by_id(&store, &sessions, given), || by_name(&sessions, given));
        let found = match by_id {
            Ok(Some(found)) => Some(found),
            Ok(None) => by_name()?,
            Err(ambiguous) => Some(by_name()?.ok_or(ambiguous)?),
        };
        if let Some(found) = found {
            return Ok(found);
        }
    }
    if Path::new(given).is_file() {
        return Ok(PathBuf::from(given));
    }
    unread.dedup();
    app.report_all(&unread, given);
    Err(Error::SessionNotFound { given: given.to_owned() }.into())
}

fn existing(path: &Path) -> Result<PathBuf> {
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_dir() => {
            Err(CommandError::usage(format!("{} is a folder, not a session file", path.display())))
        }
        Ok(_) => Ok(path.to_path_buf()),
        Err(error) => Err(CommandError::io(format!("open {}", path.display()), &error)),
    }
}

fn latest(app: &App, store: &DirStore, cwd: &str) -> Result<PathBuf> {
    let (sessions, diagnostics) = app.list(store, Scope { cwd: Some(cwd), with_text: false }, &mut |_, _| {})?;
    if let Some(newest) = sessions.into_iter().next() {
        return Ok(newest.path);
    }
    app.report_all(&diagnostics, LATEST);
    Err(CommandError::new(FailureKind::NotFound, format!("there is no session of {cwd} yet"))
        .hint("`offshoot list --all` shows the sessions of other folders"))
}

/// The session with this id, or the only one whose id starts with it. Copies of a session in several folders count
/// once: offshoot's own copy wins, else the one with the last activity.
fn by_id(store: &DirStore, sessions: &[SessionInfo], given: &str) -> Result<Option<PathBuf>> {
    let mut fitting: Vec<&SessionInfo> = sessions.iter().filter(|info| info.id.starts_with(given)).collect();
    if fitting.iter().any(|info| info.id == given) {
        fitting.retain(|info| info.id == given);
    }
    let is_own = |path: &Path| store.root_of(path).is_some_and(|root| root.flavour == Flavour::Offshoot);
    fitting.sort_by_key(|info| !is_own(&info.path));
    let mut ids: Vec<String> = fitting.iter().map(|info| info.id.clone()).collect();
    ids.sort();
    ids.dedup();
    if ids.len() > 1 {
        ids.truncate(6);
        return Err(Error::Ambiguous { what: "session", given: given.to_owned(), candidates: ids }.into());
    }
    Ok(fitting.first().map(|info| info.path.clone()))
}

fn by_name(sessions: &[SessionInfo], given: &str) -> Result<Option<PathBuf>> {
    let named: Vec<&SessionInfo> = sessions.iter().filter(|info| info.name.as_deref() == Some(given)).collect();
    match named.as_slice() {
        [] => Ok(None),
        [only] => Ok(Some(only.path.clone())),
        several => {
            let candidates = several.iter().take(6).map(|info| info.id.clone()).collect();
            let error = Error::Ambiguous { what: "session", given: given.to_owned(), candidates };
            Err(CommandError { hints: vec!["name one by its id".to_owned()], ..error.into() })
        }
    }
}

pub(crate) fn entry(session: &Session, given: &str) -> Result<NodeIx> {
    Ok(session.tree().find_prefix(given)?)
}
