//! From what a person types to a session file or an entry.

use std::path::{Path, PathBuf};

use offshoot_session::entry::Source as _;
use offshoot_session::error::Error;
use offshoot_session::list::{SessionInfo, header};
use offshoot_session::medium::FileMedium;
use offshoot_session::session::Session;
use offshoot_session::store::{DirStore, Flavour, Scope, Store as _};
use offshoot_session::tree::NodeIx;

use crate::app::App;
use crate::error::{CommandError, Kind, Result};

/// The word for the session that was written to last.
pub(crate) const LATEST: &str = "latest";

/// Whether a word is the path of a session file, and nothing else.
pub(crate) fn is_path(given: &str) -> bool {
    given.contains(['/', '\\']) || given.ends_with(".jsonl")
}

/// The file of a session: a path, an id or a unique start of one, a name, or `latest`.
///
/// Ids and names are looked for among the sessions of the working directory first, then among all.
pub(crate) fn session_file(app: &App, given: &str) -> Result<PathBuf> {
    if is_path(given) {
        return existing(Path::new(given));
    }
    let store = app.store()?;
    let cwd = app.cwd();
    if given == LATEST {
        return latest(&store, &cwd);
    }
    for scope in [Some(cwd.as_str()), None] {
        let (by_id, error) = match by_id(&store, scope, given) {
            Ok(found) => (found, None),
            Err(error) => (None, Some(error)),
        };
        let found = match by_id {
            Some(found) => Some(found),
            None => by_name(&store, scope, given)?,
        };
        match (found, error) {
            (Some(found), _) => return Ok(found),
            (None, Some(error)) => return Err(error),
            (None, None) => {}
        }
    }
    if Path::new(given).is_file() {
        return Ok(PathBuf::from(given));
    }
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

fn latest(store: &DirStore, cwd: &str) -> Result<PathBuf> {
    match store.most_recent(Some(cwd))? {
        Some(id) => Ok(store.path_of(&id)?),
        None => Err(CommandError::new(Kind::NotFound, format!("there is no session of {cwd} yet"))
            .hint("`offshoot list --all` shows the sessions of other folders")),
    }
}

/// The session with this id, or the only one whose id starts so. The same id in several folders is the same session:
/// offshoot's own copy counts, else the one that was written to last.
fn by_id(store: &DirStore, cwd: Option<&str>, given: &str) -> Result<Option<PathBuf>> {
    let mut fitting: Vec<(String, PathBuf)> = Vec::new();
    for path in store.recent_files(cwd)? {
        let Ok(medium) = FileMedium::open(&path) else { continue };
        let Ok(header) = header(&medium) else { continue };
        let is_here = cwd.is_none_or(|cwd| header.cwd().is_none_or(|own| is_same_folder(own, cwd)));
        if is_here && header.id().starts_with(given) {
            fitting.push((header.id().to_owned(), path));
        }
    }
    if fitting.iter().any(|(id, _)| id == given) {
        fitting.retain(|(id, _)| id == given);
    }
    let is_own = |path: &Path| store.root_of(path).is_some_and(|root| root.flavour == Flavour::Offshoot);
    fitting.sort_by_key(|(_, path)| !is_own(path));
    let mut ids: Vec<String> = fitting.iter().map(|(id, _)| id.clone()).collect();
    ids.sort();
    ids.dedup();
    if ids.len() > 1 {
        ids.truncate(6);
        return Err(Error::Ambiguous { what: "session", given: given.to_owned(), candidates: ids }.into());
    }
    Ok(fitting.into_iter().next().map(|(_, path)| path))
}

fn by_name(store: &DirStore, cwd: Option<&str>, given: &str) -> Result<Option<PathBuf>> {
    let (sessions, _) = store.list(Scope { cwd, with_text: false }, &mut |_, _| {})?;
    let named: Vec<SessionInfo> = sessions.into_iter().filter(|info| info.name.as_deref() == Some(given)).collect();
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

/// The entry with this id, or the only one whose id starts so.
pub(crate) fn entry(session: &Session, given: &str) -> Result<NodeIx> {
    Ok(session.tree().find_prefix(given)?)
}

/// Whether two texts name the same folder.
pub(crate) fn is_same_folder(a: &str, b: &str) -> bool {
    let resolve = |path: &str| std::fs::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
    a == b || resolve(a) == resolve(b)
}
