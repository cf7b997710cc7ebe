//! The open sessions by number, and how their successors are created.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use offshoot_session::clock::{Clock as _, Millis, SystemClock};
use offshoot_session::error::Error;
use offshoot_session::json::Object;
use offshoot_session::manager::{AppendMethod, EntryNaming, Holder, MethodInput, MoveMethod, Params, ReadMethod};
use offshoot_session::session::{Durability, NewSession, Options, PlannedMerge, PlannedPick, Session};
use offshoot_session::store::{DirStore, Flavour, Root, file_name};
use offshoot_session::tree::NodeIx;
use offshoot_session::zone::Zone;
use offshoot_workspace::Place;

use super::records::{write_id, write_null};
use super::wire::{ApiFailure, MethodResult};

/// With more sessions open, none keeps the descriptor that it appends with.
const WITH_WRITERS: usize = 256;

pub(super) struct ApiServer<'a> {
    /// The store of sessions whose folder is not named.
    pub(super) store: &'a DirStore,
    /// Where operations run, with what is known of models.
    pub(super) place: &'a Place,
    defaults: Defaults,
    cwd: &'a str,
    /// How long the request that is carried out waits for another program's lock.
    pub(super) lock_wait: Duration,
    open: BTreeMap<u64, OpenSession>,
    last: u64,
    /// The last plan of each session.
    plans: BTreeMap<u64, NumberedPlan>,
    last_plan: u64,
}

struct NumberedPlan {
    number: u64,
    /// The id of its session: the session's number may mean another one later.
    session_id: String,
    plan: HeldPlan,
}

/// A plan that a client may have written.
pub(super) enum HeldPlan {
    Pick(PlannedPick),
    Uncompact(PlannedPick),
    /// With the number of the session that has the branch, if it is named.
    Merge(PlannedMerge, Option<u64>),
}

/// How sessions are read and written unless a request overrides it.
#[derive(Debug, Clone)]
pub(crate) struct Defaults {
    pub(crate) spill: Option<PathBuf>,
    /// The folder of the prompts that programs are answering.
    pub(crate) turns: Option<PathBuf>,
    pub(crate) durability: Durability,
    pub(crate) lock_wait: Duration,
    /// The time for names such as `2h`; `None` is the clock's.
    pub(crate) now: Option<Millis>,
}

impl Defaults {
    fn options(&self) -> Options {
        let (spill, turns) = (self.spill.clone(), self.turns.clone());
        Options { spill, turns, durability: self.durability, lock_wait: self.lock_wait, ..Options::default() }
    }
}

pub(super) struct OpenSession {
    pub(super) session: Session,
    /// The working directory of its successors; as in pi, `open` can override the header's.
    pub(super) cwd: String,
    /// The folder of its successors; `None` in memory.
    pub(super) folder: Option<PathBuf>,
    pub(super) defaults: Defaults,
}

impl<'a> ApiServer<'a> {
    pub(super) fn new((store, place): (&'a DirStore, &'a Place), cwd: &'a str, defaults: Defaults) -> Self {
        let (lock_wait, open, plans) = (defaults.lock_wait, BTreeMap::new(), BTreeMap::new());
        Self { store, place, cwd, lock_wait, defaults, open, last: 0, plans, last_plan: 0 }
    }

    /// Registers a session under a number that is never used again.
    pub(super) fn admit(&mut self, handle: OpenSession) -> u64 {
        self.last += 1;
        self.open.insert(self.last, handle);
        self.last
    }

    /// The session of the argument `session`, after reading what others appended.
    pub(super) fn handle(&mut self, params: &Params<'_>) -> Result<&mut OpenSession, ApiFailure> {
        let wait = self.lock_wait;
        let (_, handle) = self.stale_handle(params)?;
        handle.session.set_lock_wait(wait);
        handle.session.refresh()?;
        Ok(handle)
    }

    /// The session and its number, without reading the file again.
    pub(super) fn stale_handle(&mut self, params: &Params<'_>) -> Result<(u64, &mut OpenSession), ApiFailure> {
        let number = params.count("session")?;
        let handle = self.open.get_mut(&number).ok_or_else(|| not_open(number))?;
        Ok((number, handle))
    }

    /// An open session by its number.
    pub(super) fn open_session(&self, number: u64) -> Result<&OpenSession, ApiFailure> {
        self.open.get(&number).ok_or_else(|| not_open(number))
    }

    /// Reads what others appended to an open session.
    pub(super) fn refreshed(&mut self, number: u64) -> Result<(), ApiFailure> {
        let handle = self.open.get_mut(&number).ok_or_else(|| not_open(number))?;
        handle.session.refresh()?;
        Ok(())
    }

    /// Keeps a plan of a session instead of its last one, under a number that is never used again.
    pub(super) fn keep_plan(&mut self, params: &Params<'_>, plan: HeldPlan) -> Result<u64, ApiFailure> {
        let session = params.count("session")?;
        let session_id = self.open_session(session)?.session.id().to_owned();
        self.last_plan += 1;
        self.plans.insert(session, NumberedPlan { number: self.last_plan, session_id, plan });
        Ok(self.last_plan)
    }

    /// The plan of the argument `plan`, which is the session's last one. It can be written once.
    pub(super) fn take_plan(&mut self, params: &Params<'_>) -> Result<HeldPlan, ApiFailure> {
        self.handle(params)?;
        let (session, wanted) = (params.count("session")?, params.count("plan")?);
        let id = self.open_session(session)?.session.id().to_owned();
        match self.plans.remove(&session) {
            Some(held) if held.number == wanted && held.session_id == id => Ok(held.plan),
            other => {
                other.and_then(|other| self.plans.insert(session, other));
                Err(ApiFailure::params(format!("plan {wanted} is not the session's last one")))
            }
        }
    }

    /// Keeps a plan that [`ApiServer::take_plan`] gave, if it came from there: it was not written.
    pub(super) fn put_plan_back(&mut self, params: &Params<'_>, plan: HeldPlan) -> Result<(), ApiFailure> {
        if params.given("plan").is_some() {
            let (session, number) = (params.count("session")?, params.count("plan")?);
            let session_id = self.open_session(session)?.session.id().to_owned();
            self.plans.insert(session, NumberedPlan { number, session_id, plan });
        }
        Ok(())
    }

    /// With many sessions open, each has one descriptor.
    pub(super) fn close_writer(&mut self, params: &Params<'_>) {
        if self.open.len() > WITH_WRITERS
            && let Ok((_, handle)) = self.stale_handle(params)
        {
            handle.session.close_writer();
        }
    }

    pub(super) fn close(&mut self, params: &Params<'_>) -> MethodResult {
        let number = params.count("session")?;
        self.plans.remove(&number);
        self.open.remove(&number).map(drop).ok_or_else(|| not_open(number))
    }

    pub(super) fn path(&self, given: &str) -> PathBuf {
        resolved(Path::new(self.cwd), given)
    }

    /// The argument `cwd` or `targetCwd`, resolved.
    pub(super) fn given_cwd(&self, params: &Params<'_>, name: &str) -> Result<Option<String>, ApiFailure> {
        Ok(params.opt_str(name)?.map(|cwd| self.path(&cwd).to_string_lossy().into_owned()))
    }

    pub(super) fn cwd(&self) -> &str {
        self.cwd
    }

    pub(super) fn given_folder(&self, params: &Params<'_>) -> Result<Option<PathBuf>, ApiFailure> {
        Ok(params.opt_str("sessionDir")?.map(|folder| self.path(&folder)))
    }

    /// The store of a folder, or the server's store.
    pub(super) fn store_of(&self, folder: Option<&Path>) -> DirStore {
        match folder {
            Some(folder) => DirStore::new(Root::new(folder, Flavour::Flat), Vec::new()).with_imports_of(self.store),
            None => self.store.clone(),
        }
    }

    /// The defaults, with the argument `durability`.
    pub(super) fn defaults(&self, params: &Params<'_>) -> Result<Defaults, ApiFailure> {
        let level = params.opt_str("durability")?.map(|level| Durability::from_word(&level)).transpose()?;
        let defaults = self.defaults.clone();
        Ok(Defaults { durability: level.unwrap_or(defaults.durability), ..defaults })
    }

    pub(super) fn options(&self, file: &Path, defaults: &Defaults) -> Options {
        self.store.options_for(file, defaults.options())
    }
}

impl OpenSession {
    /// What names an entry for a client.
    fn naming(&self) -> EntryNaming {
        let now = self.defaults.now.unwrap_or_else(|| SystemClock.now());
        EntryNaming::Any { now, zone: Zone::local() }
    }

    fn holder(&self) -> Holder<'_> {
        Holder { cwd: Some(&self.cwd), folder: self.folder.as_deref(), naming: self.naming() }
    }

    /// The entry that a client names.
    pub(super) fn find(&self, name: &str) -> Result<NodeIx, ApiFailure> {
        Ok(self.naming().find(&self.session, name)?)
    }

    /// Reads by a method of the session manager.
    pub(super) fn read(&self, read: ReadMethod, params: Params<'_>, out: &mut dyn Write) -> MethodResult {
        Ok(read.run(&self.session, MethodInput { params, holder: &self.holder() }, out)?)
    }

    /// Appends the entry that a method of the session manager makes.
    pub(super) fn append(&mut self, make: AppendMethod, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
        let id = self.session.append(&make(&self.session, params)?)?;
        write_id(out, Some(&id), &mut self.session)
    }

    /// Moves the leaf by a method of the session manager.
    pub(super) fn move_leaf(&mut self, run: MoveMethod, params: Params<'_>, out: &mut dyn Write) -> MethodResult {
        let holder = Holder { cwd: Some(&self.cwd), folder: self.folder.as_deref(), naming: self.naming() };
        match run(&mut self.session, MethodInput { params, holder: &holder })? {
            Some(id) => write_id(out, Some(&id), &mut self.session),
            None => write_null(out),
        }
    }

    /// A new session beside this one, in its dialect, and in memory if this one is.
    pub(super) fn successor(&self, id: Option<&str>, parent_session: Option<&str>) -> Result<Session, Error> {
        let new = NewSession { id, cwd: &self.cwd, parent_session };
        let options = Options { dialect: self.session.dialect(), ..self.defaults.options() };
        match &self.folder {
            Some(folder) => Session::create(&new, options, |id, timestamp| folder.join(file_name(id, timestamp))),
            None => Session::in_memory(&new, options),
        }
    }

    pub(super) fn introduction(&self) -> Introduction {
        let file = self.session.file().map(|file| file.to_string_lossy().into_owned());
        Introduction { id: self.session.id().to_owned(), file }
    }
}

pub(super) struct Introduction {
    id: String,
    file: Option<String>,
}

impl Introduction {
    pub(super) fn write(&self, number: u64, out: &mut dyn Write) -> MethodResult {
        let object = Object::new().raw("session", number).str("sessionId", &self.id);
        Ok(out.write_all(object.str_or_null("sessionFile", self.file.as_deref()).finish().as_bytes())?)
    }
}

fn not_open(number: u64) -> ApiFailure {
    ApiFailure::params(format!("session {number} is not open"))
}

/// Joins paths and removes `.` and `..`, as the peers do.
fn resolved(from: &Path, given: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for component in from.join(given).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => drop(path.pop()),
            other => path.push(other),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_resolved_against_the_working_directory() {
        for (given, expected) in
            [("a/b", "/w/a/b"), ("./a", "/w/a"), ("../a", "/a"), ("/x/../y", "/y"), ("../../..", "/"), ("", "/w")]
        {
            assert_eq!(resolved(Path::new("/w"), given), Path::new(expected), "{given:?}");
        }
    }
}
