//! One thread owns the session. Jobs are done in the order in which they were given, so entries stand in the file in
//! the order in which they were announced. A write that failed is remembered: what was given meanwhile is not written
//! either, until somebody lets it be tried again or puts another session in its place.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use offshoot_session::compose::NewEntry;
use offshoot_session::entry::Source as _;
use offshoot_session::error::{Diagnostic, Error};
use offshoot_session::header::Dialect;
use offshoot_session::id::EntryId;
use offshoot_session::json::Json;
use offshoot_session::kind::Role;
use offshoot_session::session::Session;
use offshoot_session::tree::NodeIx;
use tokio::sync::oneshot;

use crate::error::{AgentError, SessionError};
use crate::event::{Event, Raw};

/// What the thread does.
type Job = Box<dyn FnOnce(&mut Owned) + Send>;

/// The session, and what has gone wrong with it.
#[derive(Debug)]
pub struct Owned {
    session: Session,
    failed: Option<AgentError>,
}

impl Owned {
    /// Appends entries below the leaf; all of them or none.
    ///
    /// # Errors
    /// The entries cannot be written, or an earlier write failed.
    pub fn append(&mut self, entries: &[NewEntry]) -> Result<Vec<EntryId>, AgentError> {
        self.stand()?;
        self.session.append_all(entries).map_err(|error| self.fail(error))
    }

    /// Lets writing be tried again after a write that failed. What the session keeps of that goes first.
    pub fn try_again(&mut self) {
        self.failed = None;
    }

    /// Reads what other programs have appended since; answers whether there was something, and what appends found out
    /// about other programs. The leaf stays.
    ///
    /// # Errors
    /// The file is not what was read any more.
    pub fn refresh(&mut self) -> Result<Beside, AgentError> {
        let has_grown = self.session.refresh()?;
        Ok(Beside { has_grown, news: self.session.take_news() })
    }

    /// Before a write: nothing has failed. A file that another program deleted is written anew, as long as it can be.
    fn stand(&mut self) -> Result<(), AgentError> {
        if let Some(why) = &self.failed {
            return Err(why.clone());
        }
        if is_deleted(&self.session) {
            // If it cannot be, the write itself says so.
            drop(self.session.recreate());
        }
        Ok(())
    }

    /// Leaves the last answer on the path out of what the model sees; it stays in the file. pi's dialect has an entry
    /// for that, which is told of. omp's has none: as omp does, the session goes on below what stands before the answer,
    /// which becomes a branch of its own.
    ///
    /// # Errors
    /// As [`Owned::append`].
    pub(crate) fn omit_answer(&mut self) -> Result<Option<Event>, AgentError> {
        let tree = self.session.tree();
        let is_answer = |ix: &NodeIx| tree.node(*ix).role() == Some(Role::Assistant);
        let Some(answer) = self.session.leaf().and_then(|leaf| tree.ancestors(leaf).find(is_answer)) else {
            return Ok(None);
        };
        let (id, before) = (tree.node(answer).id().cloned(), tree.parent_id(answer).cloned());
        match (self.session.dialect(), id, before) {
            (Dialect::Pi, Some(id), _) => {
                let nothing = Json::parse("null").map_err(|error| error.to_string())?;
                let edit = NewEntry::context_edit(id.as_str(), Some(Role::Assistant), nothing);
                self.append(&[edit?])?;
                Ok(self.leaf_entry())
            }
            (Dialect::Omp, _, Some(before)) => self.write(|session| session.branch(before.as_str())).map(|()| None),
            (Dialect::Pi, None, _) | (Dialect::Omp, _, None) => Ok(None),
        }
    }

    /// The entry at the leaf, for those who listen.
    pub(crate) fn leaf_entry(&self) -> Option<Event> {
        let session = &self.session;
        let line = session.leaf().and_then(|leaf| session.entry(leaf).ok()).map(|entry| entry.line().to_owned())?;
        Json::parse(&line).ok()?;
        Some(Event::EntryAppended { entry: Raw(line) })
    }

    /// Does something else that writes.
    ///
    /// # Errors
    /// As [`Owned::append`].
    pub fn write<T>(
        &mut self,
        work: impl FnOnce(&mut Session) -> offshoot_session::error::Result<T>,
    ) -> Result<T, AgentError> {
        self.stand()?;
        Ok(work(&mut self.session)?)
    }

    /// The session, to read.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Puts another session in the place of this one.
    pub fn replace(&mut self, session: Session) {
        self.session = session;
        self.failed = None;
    }

    fn fail(&mut self, error: Error) -> AgentError {
        let why = AgentError::NotWritten(SessionError::from(error));
        self.failed = Some(why.clone());
        why
    }
}

/// What other programs have done to the session.
#[derive(Debug, Clone, Default)]
pub struct Beside {
    /// Whether they have appended something.
    pub has_grown: bool,
    /// What appends found out about them.
    pub news: Vec<Diagnostic>,
}

/// Whether a session's file was there and is not any more.
pub fn is_deleted(session: &Session) -> bool {
    session.is_current().is_ok_and(|is| !is) && session.file().is_some_and(|file| !file.exists())
}

/// The way to the thread; there may be several.
#[derive(Debug, Clone)]
pub struct Desk(Sender<Todo>);

enum Todo {
    Do(Job),
    Stop,
}

impl Desk {
    /// Gives the thread something to do. It happens after everything that was given before.
    pub fn give(&self, job: impl FnOnce(&mut Owned) + Send + 'static) {
        // Once the thread has ended nothing is to be done any more.
        drop(self.0.send(Todo::Do(Box::new(job))));
    }

    /// The same, with an answer; `None` once the thread has ended.
    pub async fn ask<T: Send + 'static>(&self, job: impl FnOnce(&mut Owned) -> T + Send + 'static) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        self.give(move |owned| drop(answer.send(job(owned))));
        answered.await.ok()
    }
}

/// The thread. Dropping this ends it, after all that was given to it is done.
#[derive(Debug)]
pub struct Writer {
    desk: Desk,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(session: Session) -> std::io::Result<Self> {
        let (jobs, todo) = channel();
        let thread = std::thread::Builder::new()
            .name("session".to_owned())
            .spawn(move || run(Owned { session, failed: None }, &todo))?;
        Ok(Self { desk: Desk(jobs), thread: Some(thread) })
    }

    /// A way to the thread.
    pub fn desk(&self) -> &Desk {
        &self.desk
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.desk.0.send(Todo::Stop));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn run(mut owned: Owned, todo: &Receiver<Todo>) {
    while let Ok(Todo::Do(job)) = todo.recv() {
        job(&mut owned);
    }
}
