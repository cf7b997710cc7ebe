//! One thread owns the session and runs jobs in the order in which they were sent, so entries are in the file in the
//! order of their announcement. After a failed write it refuses later ones, until it may try again or gets another
//! session.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use offshoot_session::compose::NewEntry;
use offshoot_session::entry::Source as _;
use offshoot_session::error::Error;
use offshoot_session::header::Dialect;
use offshoot_session::id::EntryId;
use offshoot_session::json::Json;
use offshoot_session::kind::{Kind, Role};
use offshoot_session::session::Session;
use offshoot_session::tree::NodeIx;
use tokio::sync::oneshot;

use crate::error::{AgentError, SessionError};
use crate::event::{Event, RawJson};

type Job = Box<dyn FnOnce(&mut OwnedSession) + Send>;

/// The session, and the error of a failed write.
#[derive(Debug)]
pub struct OwnedSession {
    session: Session,
    failed: Option<AgentError>,
}

impl OwnedSession {
    /// Appends entries below the leaf; all of them or none.
    ///
    /// # Errors
    /// The entries cannot be written, or an earlier write failed.
    pub fn append(&mut self, entries: &[NewEntry]) -> Result<Vec<EntryId>, AgentError> {
        self.check_writable()?;
        self.session.append_all(entries).map_err(|error| self.fail(error))
    }

    /// Appends a prompt, and what goes before it. Other processes know that it is being answered until [`Self::end_turn`].
    ///
    /// # Errors
    /// As [`OwnedSession::append`].
    pub(crate) fn append_prompt(&mut self, entries: &[NewEntry]) -> Result<Vec<EntryId>, AgentError> {
        self.session.begin_turn();
        self.append(entries)
    }

    pub(crate) fn end_turn(&mut self) {
        self.session.end_turn();
    }

    /// Events for what writes have found out about other programs.
    pub(crate) fn take_notices(&mut self) -> Vec<Event> {
        self.session.take_news().iter().map(Event::notice).collect()
    }

    /// Allows writes after a failed one. Entries that the session kept are written first.
    pub fn try_again(&mut self) {
        self.failed = None;
    }

    /// Reads the entries that other programs have appended, and returns whether there are any. The leaf stays.
    ///
    /// # Errors
    /// The file was shortened or replaced.
    pub fn refresh(&mut self) -> Result<bool, AgentError> {
        Ok(self.session.refresh()?)
    }

    /// Refuses a write after a failed one. A file that another program deleted is written again.
    fn check_writable(&mut self) -> Result<(), AgentError> {
        if let Some(why) = &self.failed {
            return Err(why.clone());
        }
        if is_deleted(&self.session) {
            // If this fails, the write itself fails.
            drop(self.session.recreate());
        }
        Ok(())
    }

    /// Hides the last answer on the path from the model; it stays in the file. pi's dialect has an entry for that,
    /// which is returned as an event. omp's has none: the session continues below the entry before the answer, which
    /// becomes a branch of its own, as in omp.
    ///
    /// # Errors
    /// As [`OwnedSession::append`].
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

    /// Goes back to before the newest prompt and what was said with it, because it cannot be sent. All of it stays in the
    /// file, as a branch.
    ///
    /// # Errors
    /// As [`OwnedSession::append`].
    pub(crate) fn take_back_prompt(&mut self) -> Result<Option<Event>, AgentError> {
        let tree = self.session.tree();
        let is_said = |ix: &NodeIx| {
            let node = tree.node(*ix);
            node.role() == Some(Role::User) || node.kind() == Kind::CustomMessage
        };
        let path = self.session.leaf().into_iter().flat_map(|leaf| tree.ancestors(leaf));
        let prompt = path.skip_while(|ix| !is_said(ix)).take_while(is_said).last();
        let Some(prompt) = prompt else { return Ok(None) };
        let before = tree.parent(prompt);
        self.write(|session| match before {
            Some(before) => session.switch(before),
            None => {
                session.reset_leaf();
                Ok(())
            }
        })?;
        Ok(Some(Event::moved(&self.session, None)))
    }

    /// The line of the leaf.
    pub(crate) fn leaf_line(&self) -> Option<String> {
        let session = &self.session;
        session.leaf().and_then(|leaf| session.entry(leaf).ok()).map(|entry| entry.line().to_owned())
    }

    pub(crate) fn leaf_entry(&self) -> Option<Event> {
        let session = &self.session;
        let line = session.leaf().and_then(|leaf| session.entry(leaf).ok()).map(|entry| entry.line().to_owned())?;
        Json::parse(&line).ok()?;
        Some(Event::EntryAppended { entry: RawJson(line) })
    }

    /// Runs another write.
    ///
    /// # Errors
    /// As [`OwnedSession::append`].
    pub fn write<T>(
        &mut self,
        work: impl FnOnce(&mut Session) -> offshoot_session::error::Result<T>,
    ) -> Result<T, AgentError> {
        self.check_writable()?;
        Ok(work(&mut self.session)?)
    }

    /// The session, to read.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Replaces the session.
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

/// Whether the session's file was deleted.
pub fn is_deleted(session: &Session) -> bool {
    session.is_current().is_ok_and(|is| !is) && session.file().is_some_and(|file| !file.exists())
}

/// Sends jobs to the thread. Clones send to the same one.
#[derive(Debug, Clone)]
pub struct WriterHandle(Sender<WriterMessage>);

enum WriterMessage {
    Do(Job),
    Stop,
}

impl WriterHandle {
    /// Sends a job. It runs after all jobs that were sent before.
    pub fn send(&self, job: impl FnOnce(&mut OwnedSession) + Send + 'static) {
        // After the thread has ended there is nothing to do.
        drop(self.0.send(WriterMessage::Do(Box::new(job))));
    }

    /// Sends a job and waits for its answer; `None` after the thread has ended.
    pub async fn ask<T: Send + 'static>(&self, job: impl FnOnce(&mut OwnedSession) -> T + Send + 'static) -> Option<T> {
        let (answer, answered) = oneshot::channel();
        self.send(move |owned| drop(answer.send(job(owned))));
        answered.await.ok()
    }
}

/// The thread. Dropping this ends it after all jobs that were sent to it.
#[derive(Debug)]
pub struct Writer {
    handle: WriterHandle,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn start(session: Session) -> std::io::Result<Self> {
        // Unbounded: the driver must not wait for the disk. At most the writes of one run are queued.
        let (jobs, todo) = channel();
        let thread = std::thread::Builder::new()
            .name("session".to_owned())
            .spawn(move || run(OwnedSession { session, failed: None }, &todo))?;
        Ok(Self { handle: WriterHandle(jobs), thread: Some(thread) })
    }

    /// Sends jobs to the thread.
    pub fn handle(&self) -> &WriterHandle {
        &self.handle
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.handle.0.send(WriterMessage::Stop));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn run(mut owned: OwnedSession, todo: &Receiver<WriterMessage>) {
    while let Ok(WriterMessage::Do(job)) = todo.recv() {
        job(&mut owned);
    }
}
