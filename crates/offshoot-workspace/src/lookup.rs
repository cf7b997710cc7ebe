//! Finds the session file or the entry that a person named, by one rule for every front end.

use std::path::{Path, PathBuf};

use offshoot_foreign::Agent;
use offshoot_search::agent_word;
use offshoot_session::entry::Source as _;
use offshoot_session::entry_name::{Here, find_entry};
use offshoot_session::error::{Code, Error};
use offshoot_session::id::{EntryId, SHORTEST_ID};
use offshoot_session::list::SessionInfo;
use offshoot_session::outline::left_out;
use offshoot_session::path_words::has_bytes;
use offshoot_session::session::{Session, SpillPolicy};
use offshoot_session::store::{DirStore, Flavour, Scope, is_session_uuid, unreadable};
use offshoot_session::text::one_line;
use offshoot_session::tree::NodeIx;
use offshoot_session::zone::Zone;

use crate::entry_words::short_id;
use crate::failure::{Failure, FailureKind, Hint, Result};
use crate::given::EntryName;
use crate::place::Place;
use crate::words::{NextStep, Note};

/// Means the session in which something was said last.
pub const LATEST: &str = "latest";

/// Whether a word can only be the path of a session file.
#[must_use]
pub fn is_path(given: &str) -> bool {
    given.contains(['/', '\\']) || given.ends_with(".jsonl") || has_bytes(given)
}

/// What an operation does with what a person names. A slip must not change anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Nothing is changed.
    Read,
    /// Takes at least [`SHORTEST_ID`] characters of an id.
    Write,
}

/// Whose latest session `latest` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LatestOf {
    /// Of the working directory.
    ThisFolder,
    /// Of every folder: no other name goes with it.
    EveryFolder,
}

fn text_hint(text: impl Into<String>) -> Hint {
    Hint::Text(text.into())
}

impl Place {
    /// Opens the session that a person named: see [`Place::file`]. One that is opened to be written may be the latest one from
    /// now on.
    ///
    /// # Errors
    /// There is none, or several; it cannot be read, or not written.
    pub fn open(&self, given: &str, access: Access, spill_policy: SpillPolicy) -> Result<Session> {
        self.open_of(LatestOf::ThisFolder, given, access, spill_policy)
    }

    /// The same, where `latest` may be the latest one of every folder.
    ///
    /// # Errors
    /// As [`Place::open`]; another name stands where only `latest` can.
    pub fn open_of(&self, latest: LatestOf, given: &str, access: Access, spill_policy: SpillPolicy) -> Result<Session> {
        let file = match latest {
            LatestOf::ThisFolder => self.file(given, access)?,
            LatestOf::EveryFolder if given == LATEST => self.latest(None)?,
            LatestOf::EveryFolder => {
                return Err(Failure::refused(FailureKind::Usage, "--all goes with `latest`")
                    .hint(text_hint("any other session is found in every folder")));
            }
        };
        if access == Access::Read {
            return self.open_to_read(&file);
        }
        self.note_opened(&file);
        let session = self.open_file(&file, spill_policy)?;
        // Before a model is asked for a summary that could not be kept.
        session.check_writable()?;
        Ok(session)
    }

    /// Somebody chose this session by its name: from now on it may be the latest one.
    pub fn note_opened(&self, file: &Path) {
        let noted = self.store().and_then(|store| Ok(store.note_opened(file)?));
        if let Err(failure) = noted {
            self.tell(Note::Warning(failure.to_string()));
        }
    }

    /// A path, an id or a unique start or end of one, a name, or `latest`.
    ///
    /// Ids and names are searched among the sessions of the working directory first, then among all. `AGENT:` before one of them
    /// looks at the sessions of this program first.
    ///
    /// # Errors
    /// There is no such session, or several.
    pub fn file(&self, given: &str, access: Access) -> Result<PathBuf> {
        if given.is_empty() {
            return Err(Failure::refused(FailureKind::Usage, "an empty text names no session")
                .hint(Hint::Step(NextStep::of_all("list", "shows the sessions"))));
        }
        if is_path(given) {
            return existing(self.session_path(given));
        }
        let cwd = self.cwd().to_string_lossy().into_owned();
        if given == LATEST {
            return self.latest(Some(&cwd));
        }
        if let Some((agent, rest)) = after_agent(given) {
            let of_agent = |file: &Path| self.store().is_ok_and(|store| agent_of(store, file) == agent);
            if let Some(found) = self.named(self.store()?, rest, &of_agent, access)? {
                return Ok(found);
            }
        }
        for store in [self.store()?.clone(), self.store()?.clone().with_children()] {
            let found = if is_session_uuid(given) {
                self.of_whole_id(&store, given, access)?
            } else {
                self.named(&store, given, &|_| true, access)?
            };
            if let Some(found) = found {
                return Ok(found);
            }
        }
        if let Some(found) = self.named_of_agents(given, access)? {
            return Ok(found);
        }
        if Path::new(given).is_file() {
            return Ok(PathBuf::from(given));
        }
        let failure = Failure::from(Error::SessionNotFound { given: given.to_owned() });
        Err(match given.split_once(':').filter(|(word, _)| is_nearly_an_agent(word)) {
            Some(_) => {
                let words: Vec<&str> = Agent::ALL.iter().map(|agent| agent.word()).collect();
                failure.hint(text_hint(format!("before the colon stands {}", words.join(", "))))
            }
            None => failure,
        })
    }

    /// The session of another agent with this id, or an id that begins so. The names of files say the ids, so no session is
    /// read; names of sessions are not looked at.
    pub(crate) fn named_of_agents(&self, given: &str, access: Access) -> Result<Option<PathBuf>> {
        let (agent, rest) = match given.split_once(':') {
            Some((word, rest)) if Agent::from_word(word).is_some() => (Agent::from_word(word), rest),
            _ => (None, given),
        };
        let mut found = self.agents_sessions(agent);
        found.extend(self.kept_sessions(agent));
        found.extend(self.started_sessions(agent));
        found.retain(|(id, _)| !rest.is_empty() && id.starts_with(rest));
        if found.iter().any(|(id, _)| id == rest) {
            found.retain(|(id, _)| id == rest);
        }
        let Some((id, newest)) = found.first() else { return Ok(None) };
        if found.iter().any(|(other, _)| other != id) {
            let candidates = found.into_iter().take(6).map(|(id, _)| id).collect();
            let error = Error::Ambiguous { what: "session", given: given.to_owned(), candidates };
            return Err(Failure::from(error).hint(text_hint("give more of the id")));
        }
        long_enough(rest, id, access)?;
        Ok(Some(newest.clone()))
    }

    /// The session with this whole id. The names of files say it: no list is read, however many sessions there are.
    fn of_whole_id(&self, store: &DirStore, id: &str, access: Access) -> Result<Option<PathBuf>> {
        let (files, unread) = store.files_of_id(id)?;
        match files.as_slice() {
            [] => {
                if !unread.is_empty() {
                    self.tell(Note::OddOf(id.to_owned(), unread.iter().map(unreadable).collect()));
                }
                Ok(None)
            }
            [only] => Ok(Some(only.clone())),
            // Which of several counts, a list says.
            _ => self.named(store, id, &|_| true, access),
        }
    }

    /// The session with this id or name among those whose files fit.
    fn named(
        &self,
        store: &DirStore,
        given: &str,
        fits: &dyn Fn(&Path) -> bool,
        access: Access,
    ) -> Result<Option<PathBuf>> {
        let cwd = self.cwd().to_string_lossy().into_owned();
        let mut unread = Vec::new();
        for scope in [Some(cwd.as_str()), None] {
            let (mut sessions, diagnostics) =
                self.list(store, Scope { cwd: scope, with_text: false }, &mut |_, _| {})?;
            sessions.retain(|info| fits(&info.path));
            unread.extend(diagnostics.into_iter().filter(|told| told.code == Code::UnreadableFolder));
            // An id or a unique start of one takes precedence; a name resolves an ambiguous start.
            let (by_id, by_name) =
                (by_id(scope.map(|_| store), &sessions, given, access), || by_name(&sessions, given));
            let found = match by_id {
                Ok(Some(found)) => {
                    self.tell_copies(found)?;
                    Some(found.path.clone())
                }
                Ok(None) => by_name()?,
                Err(ambiguous) => Some(by_name()?.ok_or(ambiguous)?),
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        if !Path::new(given).is_file() {
            unread.dedup();
            self.tell(Note::OddOf(given.to_owned(), unread));
        }
        Ok(None)
    }

    /// The session and the entry of `SESSION:ENTRY`; `None` if that as a whole names a session, or no part before a colon does.
    pub(crate) fn parts_of_hit(&self, given: &str) -> Option<(String, String)> {
        if !given.contains(':') || self.file(given, Access::Read).is_ok() {
            return None;
        }
        let cuts = given.match_indices(':').filter_map(|(at, _)| Some((given.get(..at)?, given.get(at + 1..)?)));
        // The program is the session's name only if nothing else is.
        let agents = usize::from(after_agent(given).is_some());
        let mut cuts = cuts.clone().skip(agents).chain(cuts.take(agents));
        let found = cuts.find(|(session, entry)| !entry.is_empty() && self.file(session, Access::Read).is_ok())?;
        Some((found.0.to_owned(), found.1.to_owned()))
    }

    /// The session of this folder with exactly this id.
    ///
    /// # Errors
    /// Several files have it, or the store cannot be read.
    pub fn session_of_id(&self, id: &str) -> Result<Option<PathBuf>> {
        let (store, cwd) = (self.store()?, self.cwd().to_string_lossy());
        let (mut sessions, unread) = self.list(store, Scope { cwd: Some(&cwd), with_text: false }, &mut |_, _| {})?;
        self.tell(Note::Odd(unread));
        sessions.retain(|info| info.id == id);
        let Some(found) = by_id(Some(store), &sessions, id, Access::Read)? else { return Ok(None) };
        self.tell_copies(found)?;
        Ok(Some(found.path.clone()))
    }

    /// The session of a folder, or of every folder, in which something was said last.
    ///
    /// # Errors
    /// There is none, or the store cannot be read.
    pub fn latest(&self, cwd: Option<&str>) -> Result<PathBuf> {
        let store = self.store()?;
        let (sessions, diagnostics) = self.list(store, Scope { cwd, with_text: false }, &mut |_, _| {})?;
        for newest in sessions {
            if !store.is_unopened_import(&newest.path)? {
                return Ok(newest.path);
            }
            let file = newest.path.display();
            let opens = format!("`offshoot --session {}` opens it", newest.id);
            self.tell(Note::Told(format!("passed over the import {file}; {opens}")));
        }
        self.tell(Note::Odd(diagnostics));
        Err(match cwd {
            Some(cwd) => Failure::refused(FailureKind::NotFound, format!("no sessions in {cwd} yet"))
                .hint(Hint::Step(NextStep::of_all("list", "shows the sessions of other folders").with("--all"))),
            None => Failure::refused(FailureKind::NotFound, "no sessions yet"),
        })
    }

    /// Names the other files with the id of the one that was found.
    fn tell_copies(&self, found: &SessionInfo) -> Result<()> {
        let (all, _) = self.list(self.store()?, Scope { cwd: None, with_text: false }, &mut |_, _| {})?;
        for copy in all.iter().filter(|info| info.id == found.id && info.path != found.path) {
            let (copy, used) = (copy.path.display(), found.path.display());
            self.tell(Note::Told(format!("{copy} has the same id; {used} is used")));
        }
        Ok(())
    }

    /// The entry that a person named; see [`find_entry`].
    ///
    /// # Errors
    /// There is none, or several.
    pub fn entry(&self, session: &Session, given: &str) -> Result<NodeIx> {
        if given.is_empty() {
            return Err(Failure::refused(FailureKind::Usage, "an empty text names no entry")
                .hint(text_hint("`offshoot tree SESSION` lists the entries")));
        }
        let zone = Zone::local();
        let here = Here { leaf: session.leaf(), now: self.now(), zone: &zone };
        Ok(find_entry(session.tree(), given, here)?)
    }

    /// The entry that a person named as the last one of a conversation: where to go, or up to where to copy. In the middle
    /// of tool calls it says which are left out.
    ///
    /// # Errors
    /// As [`Place::entry`] or [`Place::entry_to_write`].
    pub fn last_entry(&self, session: &Session, given: &str, access: Access) -> Result<NodeIx> {
        let found = match access {
            Access::Read => self.entry(session, given)?,
            Access::Write => self.entry_to_write(session, given)?,
        };
        if let Some(left) = left_out(session, found)? {
            let end = session.tree().node(left.end).id().map(EntryId::as_str).unwrap_or_default();
            let includes = one_line(&short_id(session, end)?, 40);
            self.tell(Note::Told(format!("left out: {}; {includes} includes them", left.text)));
        }
        Ok(found)
    }

    /// The entry that a person named, else the current one.
    pub(crate) fn entry_or_leaf(&self, session: &Session, given: Option<&EntryName>) -> Result<Option<NodeIx>> {
        match given {
            Some(EntryName(given)) => self.entry(session, given).map(Some),
            None => Ok(session.leaf()),
        }
    }

    /// The same as [`Place::entry`] for an operation that writes: a short start of an id is refused.
    ///
    /// # Errors
    /// As [`Place::entry`]; the name is too short.
    pub fn entry_to_write(&self, session: &Session, given: &str) -> Result<NodeIx> {
        let found = self.entry(session, given)?;
        let id = session.tree().node(found).id().map(EntryId::as_str).unwrap_or_default();
        if id.starts_with(given) {
            long_enough(given, id, Access::Write)?;
        }
        Ok(found)
    }
}

/// The program before a name, and the name.
fn after_agent(given: &str) -> Option<(&'static str, &str)> {
    let agents = [Flavour::Offshoot, Flavour::Pi, Flavour::Omp].map(|flavour| agent_word(Some(flavour)));
    agents.into_iter().find_map(|agent| Some((agent, given.strip_prefix(agent)?.strip_prefix(':')?)))
}

fn agent_of(store: &DirStore, file: &Path) -> &'static str {
    agent_word(store.root_of(file).map(|root| root.flavour))
}

/// The file of the one session among these that has this id, start or end of an id, or name.
#[must_use]
pub fn known_session(sessions: &[SessionInfo], given: &str) -> Option<PathBuf> {
    match by_id(None, sessions, given, Access::Read) {
        Ok(Some(found)) => Some(found.path.clone()),
        Ok(None) | Err(_) => by_name(sessions, given).ok().flatten(),
    }
}

fn existing(path: PathBuf) -> Result<PathBuf> {
    match std::fs::metadata(&path) {
        Ok(meta) if meta.is_dir() => {
            Err(Failure::refused(FailureKind::Usage, format!("{} is a folder, not a session file", path.display())))
        }
        Ok(_) => Ok(path),
        // A session in another agent's store.
        Err(_) if path.parent().is_some_and(Path::is_file) => Ok(path),
        Err(error) => Err(Error::io("open", &path)(error).into()),
    }
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

fn ambiguous(fitting: &[&SessionInfo], given: &str) -> Failure {
    let is_one_id = fitting.windows(2).all(|pair| pair[0].id == pair[1].id);
    let spell = |info: &&SessionInfo| if is_one_id { info.path.display().to_string() } else { info.id.clone() };
    let mut candidates: Vec<String> = fitting.iter().map(spell).collect();
    candidates.sort();
    candidates.dedup();
    candidates.truncate(6);
    let hint = if is_one_id { "several files have this id: name one by its path" } else { "give more of the id" };
    Failure::from(Error::Ambiguous { what: "session", given: given.to_owned(), candidates }).hint(text_hint(hint))
}

/// Refuses a short start of an id where something is written.
fn long_enough(given: &str, id: &str, access: Access) -> Result<()> {
    if access == Access::Read || given.len() >= SHORTEST_ID || given == id {
        return Ok(());
    }
    let why = format!("{given:?} is too short for a command that writes");
    let more = text_hint(format!("give at least {SHORTEST_ID} characters of the id {id}"));
    Err(Failure::refused(FailureKind::Usage, why).hint(more))
}

fn by_name(sessions: &[SessionInfo], given: &str) -> Result<Option<PathBuf>> {
    let named: Vec<&SessionInfo> = sessions.iter().filter(|info| info.name.as_deref() == Some(given)).collect();
    match named.as_slice() {
        [] => Ok(None),
        [only] => Ok(Some(only.path.clone())),
        several => {
            let candidates = several.iter().take(6).map(|info| info.id.clone()).collect();
            let error = Error::Ambiguous { what: "session", given: given.to_owned(), candidates };
            Err(Failure::from(error).hint(text_hint("name one by its id")))
        }
    }
}

/// Whether somebody may have meant an agent: a word that begins as one does, and is none.
fn is_nearly_an_agent(word: &str) -> bool {
    let begins = |agent: &Agent| word.len() >= 2 && agent.word().starts_with(word.get(..2).unwrap_or("?"));
    Agent::from_word(word).is_none() && Agent::ALL.iter().any(begins)
}
