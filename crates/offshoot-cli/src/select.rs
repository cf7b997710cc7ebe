//! Finds the session file or the entry that a person named.

use std::path::{Path, PathBuf};

use offshoot_session::clock::Zone;
use offshoot_session::entry::Source as _;
use offshoot_session::entry_name::{Here, find_entry, short_ids};
use offshoot_session::error::{Code, Error};
use offshoot_session::id::{EntryId, SHORTEST_ID};
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

/// The session that a command reads.
#[derive(Debug, clap::Args)]
pub(crate) struct SessionToRead {
    /// A path, an id or its unique start or end, a name, or `latest`
    #[arg(value_name = "SESSION")]
    session: String,

    /// With `latest`: the latest session of every folder, not of this one
    #[arg(long)]
    all: bool,
}

impl SessionToRead {
    pub(crate) fn open(&self, app: &App) -> Result<Session> {
        if !self.all {
            return app.open(&self.session);
        }
        if self.session != LATEST {
            return Err(
                CommandError::usage("--all goes with `latest`").hint("any other session is found in every folder")
            );
        }
        app.open_file(&latest(app, &app.store()?, None)?)
    }

    /// What names the session in a hint.
    pub(crate) fn name<'a>(&'a self, session: &'a Session) -> &'a str {
        if self.all { session.id() } else { &self.session }
    }
}

/// What a command does with what a person names. A slip must not change anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    /// Takes at least [`SHORTEST_ID`] characters of an id.
    Write,
}

impl App {
    pub(crate) fn file(&self, given: &str) -> Result<PathBuf> {
        session_file(self, given, Access::Read)
    }

    pub(crate) fn file_to_write(&self, given: &str) -> Result<PathBuf> {
        let file = session_file(self, given, Access::Write)?;
        self.note_opened(&file);
        Ok(file)
    }

    pub(crate) fn open(&self, given: &str) -> Result<Session> {
        self.open_file(&self.file(given)?)
    }

    pub(crate) fn open_to_write(&self, given: &str) -> Result<Session> {
        let session = self.open_file(&self.file_to_write(given)?)?;
        // Before a model is asked for a summary that could not be kept.
        session.check_writable()?;
        Ok(session)
    }
}

/// A path, an id or a unique start or end of one, a name, or `latest`.
///
/// Ids and names are searched among the sessions of the working directory first, then among all.
fn session_file(app: &App, given: &str, access: Access) -> Result<PathBuf> {
    if given.is_empty() {
        return Err(CommandError::usage("an empty text names no session").hint("`offshoot list` shows the sessions"));
    }
    if is_path(given) {
        return existing(&app.environment.path(given));
    }
    let store = app.store()?;
    let cwd = app.cwd();
    if given == LATEST {
        return latest(app, &store, Some(&cwd));
    }
    let mut unread = Vec::new();
    for scope in [Some(cwd.as_str()), None] {
        let (sessions, diagnostics) = app.list(&store, Scope { cwd: scope, with_text: false }, &mut |_, _| {})?;
        unread.extend(diagnostics.into_iter().filter(|told| told.code == Code::UnreadableFolder));
        // An id or a unique start of one takes precedence; a name resolves an ambiguous start.
        let (by_id, by_name) = (by_id(scope.map(|_| &store), &sessions, given, access), || by_name(&sessions, given));
        let found = match by_id {
            Ok(Some(found)) => {
                tell_copies(app, &store, found)?;
                Some(found.path.clone())
            }
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

/// The session of this folder with exactly this id.
pub(crate) fn session_of_id(app: &App, store: &DirStore, id: &str) -> Result<Option<PathBuf>> {
    let cwd = app.cwd();
    let (mut sessions, unread) = app.list(store, Scope { cwd: Some(&cwd), with_text: false }, &mut |_, _| {})?;
    app.report_all(&unread, id);
    sessions.retain(|info| info.id == id);
    let Some(found) = by_id(Some(store), &sessions, id, Access::Read)? else { return Ok(None) };
    tell_copies(app, store, found)?;
    Ok(Some(found.path.clone()))
}

/// The file of the one session among these that has this id, start or end of an id, or name.
pub(crate) fn known_session(sessions: &[SessionInfo], given: &str) -> Option<PathBuf> {
    match by_id(None, sessions, given, Access::Read) {
        Ok(Some(found)) => Some(found.path.clone()),
        Ok(None) | Err(_) => by_name(sessions, given).ok().flatten(),
    }
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

/// The session of a folder, or of every folder, in which something was said last.
fn latest(app: &App, store: &DirStore, cwd: Option<&str>) -> Result<PathBuf> {
    let (sessions, diagnostics) = app.list(store, Scope { cwd, with_text: false }, &mut |_, _| {})?;
    for newest in sessions {
        if !store.is_unopened_import(&newest.path)? {
            return Ok(newest.path);
        }
        let file = newest.path.display();
        app.ui.note(&format!("passed over the import {file}; `offshoot --session {}` opens it", newest.id));
    }
    app.report_all(&diagnostics, LATEST);
    let not_found = |what: String| CommandError::new(FailureKind::NotFound, what);
    Err(match cwd {
        Some(cwd) => not_found(format!("no sessions in {cwd} yet"))
            .hint("`offshoot list --all` shows the sessions of other folders"),
        None => not_found("no sessions yet".to_owned()),
    })
}

/// The session with this id, or the only one whose id starts or ends with it.
///
/// `here`: the store, where these are the sessions of the working directory. Offshoot's own copy counts there.
///
/// # Errors
/// Several ids fit, or several files have the id: each may have grown on its own.
fn by_id<'a>(
    here: Option<&DirStore>,
    sessions: &'a [SessionInfo],
    given: &str,
    access: Access,
) -> Result<Option<&'a SessionInfo>> {
    let is_end = |id: &str| given.len() >= SHORTEST_ID && id.ends_with(given);
    let mut fitting: Vec<&SessionInfo> =
        sessions.iter().filter(|info| info.id.starts_with(given) || is_end(&info.id)).collect();
    if fitting.iter().any(|info| info.id == given) {
        fitting.retain(|info| info.id == given);
    }
    let is_one_id = fitting.windows(2).all(|pair| pair[0].id == pair[1].id);
    let is_own = |info: &&&SessionInfo| {
        here.and_then(|store| store.root_of(&info.path)).is_some_and(|root| root.flavour == Flavour::Offshoot)
    };
    // An import keeps the id of its source.
    let only = match (fitting.as_slice(), fitting.iter().filter(is_own).collect::<Vec<_>>().as_slice()) {
        ([], _) => return Ok(None),
        ([only], _) => *only,
        (_, [own]) if is_one_id => **own,
        (several, _) => return Err(ambiguous(several, given)),
    };
    long_enough(given, &only.id, access)?;
    Ok(Some(only))
}

/// Names the other files with the id of the one that was found.
fn tell_copies(app: &App, store: &DirStore, found: &SessionInfo) -> Result<()> {
    let (all, _) = app.list(store, Scope { cwd: None, with_text: false }, &mut |_, _| {})?;
    for copy in all.iter().filter(|info| info.id == found.id && info.path != found.path) {
        app.ui.note(&format!("{} has the same id; {} is used", copy.path.display(), found.path.display()));
    }
    Ok(())
}

fn ambiguous(fitting: &[&SessionInfo], given: &str) -> CommandError {
    let is_one_id = fitting.windows(2).all(|pair| pair[0].id == pair[1].id);
    let spell = |info: &&SessionInfo| if is_one_id { info.path.display().to_string() } else { info.id.clone() };
    let mut candidates: Vec<String> = fitting.iter().map(spell).collect();
    candidates.sort();
    candidates.dedup();
    candidates.truncate(6);
    let hint = if is_one_id { "several files have this id: name one by its path" } else { "give more of the id" };
    let error = CommandError::from(Error::Ambiguous { what: "session", given: given.to_owned(), candidates });
    CommandError { hints: vec![hint.to_owned()], ..error }
}

/// Refuses a short start of an id for a command that writes.
fn long_enough(given: &str, id: &str, access: Access) -> Result<()> {
    if access == Access::Read || given.len() >= SHORTEST_ID || given == id {
        return Ok(());
    }
    let error = CommandError::usage(format!("{given:?} is too short for a command that writes"));
    Err(error.hint(format!("give at least {SHORTEST_ID} characters of the id {id}")))
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

/// The entry that a person named; see [`find_entry`].
pub(crate) fn entry(app: &App, session: &Session, given: &str) -> Result<NodeIx> {
    if given.is_empty() {
        let error = CommandError::usage("an empty text names no entry");
        return Err(error.hint("`offshoot tree SESSION` lists the entries"));
    }
    let zone = Zone::local();
    let here = Here { leaf: session.leaf(), now: app.now(), zone: &zone };
    Ok(find_entry(session.tree(), given, here)?)
}

/// The same for a command that writes.
pub(crate) fn entry_to_write(app: &App, session: &Session, given: &str) -> Result<NodeIx> {
    let found = entry(app, session, given)?;
    let id = session.tree().node(found).id().map(EntryId::as_str).unwrap_or_default();
    if id.starts_with(given) {
        long_enough(given, id, Access::Write)?;
    }
    Ok(found)
}

/// The shortest start of an entry's id that names it; see [`short_ids`].
pub(crate) fn short_id(session: &Session, id: &str) -> Result<String> {
    let tree = session.tree();
    Ok(short_ids(tree, tree.find(id))?.get(id).to_owned())
}
