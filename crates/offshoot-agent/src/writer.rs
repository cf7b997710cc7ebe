//! One thread owns the session and runs jobs in the order in which they were sent, so entries are in the file in the
//! order of their announcement.
//!
//! It alone knows what could not be written and what the session records. A run that could not write something writes nothing
//! after it; every other write tries the disk anew. Every job ends in an outcome that is told, also one that panics.

use std::sync::mpsc::{Receiver, SendError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use offshoot_protocol::{AgentError, Event, RawJson};
use offshoot_session::compose::NewEntry;
use offshoot_session::entry::Source as _;
use offshoot_session::header::Dialect;
use offshoot_session::id::EntryId;
use offshoot_session::json::Json;
use offshoot_session::kind::{Kind, Role};
use offshoot_session::manager::{MethodError, MethodInput, MoveMethod};
use offshoot_session::session::Session;
use offshoot_session::tree::NodeIx;
use tokio::sync::oneshot;

use crate::crash::caught;
use crate::recorded::{Recorded, SettingsInEffect, changes_settings};
use crate::turn::RunNumber;

/// A job and its end; without the session, its end alone.
type Job = Box<dyn FnOnce(Option<&mut OwnedSession>) + Send>;

/// The session, and what is known of its writes.
#[derive(Debug)]
pub struct OwnedSession {
    session: Session,
    /// The last run that could not write, and why: it writes nothing after that. Every other write tries the disk anew.
    failed: Option<(RunNumber, AgentError)>,
    /// What the branch of this leaf records.
    recorded: Option<(Option<EntryId>, Recorded)>,
    /// For those who ask without waiting.
    published: Arc<Mutex<Recorded>>,
}

/// What a run records together.
pub(crate) struct RunEntries {
    pub(crate) run: RunNumber,
    pub(crate) entries: Vec<NewEntry>,
    /// Of a prompt: what goes before it, where the branch lacks it.
    pub(crate) settings: Option<SettingsInEffect>,
}

impl OwnedSession {
    fn new(session: Session) -> Self {
        let recorded = Recorded::of(&session);
        let published = Arc::new(Mutex::new(recorded.clone()));
        let recorded = Some((session.leaf_id().cloned(), recorded));
        Self { session, failed: None, recorded, published }
    }

    /// Appends entries below the leaf, as a write of its own; all of them or none.
    ///
    /// # Errors
    /// [`AgentError::Session`] if an entry is refused, [`AgentError::NotWritten`] if they cannot be written.
    pub fn append(&mut self, entries: &[NewEntry]) -> Result<Vec<EntryId>, AgentError> {
        self.bring_back_file();
        let known = self.recorded.take().filter(|(leaf, _)| leaf.as_ref() == self.session.leaf_id());
        let appended = self.session.append_all(entries).map_err(AgentError::of_write);
        let is_known = !entries.iter().any(changes_settings);
        self.recorded = known.filter(|_| is_known).map(|(_, recorded)| (self.session.leaf_id().cloned(), recorded));
        appended
    }

    /// Appends what a run records: all of it or none. After entries that are lost the run writes nothing more. A prompt can be
    /// said again, and is refused while another program holds the lock; everything else is then kept, where that is possible.
    ///
    /// Other processes know that a prompt is being answered until [`Self::end_turn`]. Returns the system message that was among it.
    ///
    /// # Errors
    /// As [`OwnedSession::append`].
    pub(crate) fn append_of_run(&mut self, of_run: RunEntries) -> Result<Option<RawJson>, AgentError> {
        let RunEntries { run, entries, settings } = of_run;
        let earlier = self.failed.as_ref().filter(|(failed, _)| *failed == run);
        if let Some((_, why)) = earlier.filter(|(_, why)| !why.is_kept()) {
            return Err(why.clone());
        }
        self.bring_back_file();
        let mut recorded = self.recorded();
        let mut all = Vec::new();
        if let Some(now) = &settings {
            self.session.begin_turn();
            all = recorded.follow(now, self.session.dialect())?;
        }
        let system = system_message_of(&all);
        all.extend(entries);
        let appended = match settings {
            Some(_) => self.session.append_all(&all),
            None => self.session.append_all_or_keep(&all),
        };
        let appended = appended.map_err(AgentError::of_write);
        if appended.as_ref().err().is_none_or(AgentError::is_kept) {
            self.remember(recorded);
        }
        appended.map(|_| system).inspect_err(|why| self.failed = Some((run, why.clone())))
    }

    /// The system message that a prompt with these settings would store.
    pub(crate) fn system_due(&mut self, now: &SettingsInEffect) -> Option<RawJson> {
        // The write reports entries that cannot be composed.
        let entries = self.recorded().follow(now, self.session.dialect()).ok()?;
        system_message_of(&entries)
    }

    /// Records the settings in effect, if the session has begun; otherwise the first prompt does.
    ///
    /// # Errors
    /// As [`OwnedSession::append`].
    pub(crate) fn append_settings(&mut self, now: &SettingsInEffect) -> Result<(), AgentError> {
        if self.session.tree().is_empty() && !self.session.has_waiting() {
            return Ok(());
        }
        let mut recorded = self.recorded();
        let entries = recorded.follow(now, self.session.dialect())?;
        if entries.is_empty() {
            return Ok(());
        }
        let appended = self.append(&entries);
        if appended.as_ref().err().is_none_or(AgentError::is_kept) {
            self.remember(recorded);
        }
        appended.map(drop)
    }

    /// What the branch of the leaf records.
    pub(crate) fn recorded(&mut self) -> Recorded {
        let known = self.recorded.as_ref().filter(|(leaf, _)| leaf.as_ref() == self.session.leaf_id());
        match known {
            Some((_, recorded)) => recorded.clone(),
            None => {
                let recorded = Recorded::of(&self.session);
                self.remember(recorded.clone());
                recorded
            }
        }
    }

    /// Reads anew what the branch records, after its context has changed.
    pub(crate) fn read_records(&mut self) {
        let recorded = Recorded::of(&self.session);
        self.remember(recorded);
    }

    fn remember(&mut self, recorded: Recorded) {
        self.published.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&recorded);
        self.recorded = Some((self.session.leaf_id().cloned(), recorded));
    }

    /// Keeps what has arrived of an answer outside the session.
    pub(crate) fn keep_half(&mut self, half: &NewEntry) -> Result<(), AgentError> {
        Ok(self.session.keep_half_answer(half)?)
    }

    pub(crate) fn end_turn(&mut self) {
        self.session.end_turn();
    }

    /// Events for what writes have found out about other programs.
    pub(crate) fn take_notices(&mut self) -> Vec<Event> {
        self.session.take_news().iter().map(crate::event::notice).collect()
    }

    /// Reads the entries that other programs have appended, and returns whether there are any. The leaf stays.
    ///
    /// # Errors
    /// The file was shortened or replaced.
    pub fn refresh(&mut self) -> Result<bool, AgentError> {
        Ok(self.session.refresh()?)
    }

    /// Writes a file again that another program deleted.
    fn bring_back_file(&mut self) {
        if is_deleted(&self.session) {
            // If this fails, the write itself fails.
            drop(self.session.recreate());
        }
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
        Ok(Some(crate::event::moved(&self.session, None)))
    }

    /// The line of the leaf.
    pub(crate) fn leaf_line(&self) -> Option<String> {
        let session = &self.session;
        session.leaf().and_then(|leaf| session.entry(leaf).ok()).map(|entry| entry.line().to_owned())
    }

    /// Appends entries as [`OwnedSession::append`]; an event for each.
    ///
    /// # Errors
    /// As [`OwnedSession::append`].
    pub(crate) fn append_with_events(&mut self, entries: &[NewEntry]) -> Result<Vec<Event>, AgentError> {
        let ids = self.append(entries)?;
        let event = |id: &EntryId| {
            let entry = self.session.find(id.as_str()).and_then(|ix| self.session.entry(ix)).ok()?;
            Some(Event::EntryAppended { entry: RawJson(entry.line().to_owned()) })
        };
        Ok(ids.iter().filter_map(event).collect())
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
        self.bring_back_file();
        work(&mut self.session).map_err(AgentError::of_write)
    }

    /// Runs a method of the session manager that moves the leaf.
    ///
    /// # Errors
    /// As [`OwnedSession::append`]; [`AgentError::Failed`] for a wrong argument.
    pub fn move_leaf(&mut self, run: MoveMethod, given: MethodInput<'_>) -> Result<Option<EntryId>, AgentError> {
        self.bring_back_file();
        run(&mut self.session, given).map_err(|error| match error {
            MethodError::Session(error) => AgentError::of_write(error),
            MethodError::Argument(_) | MethodError::Output(_) => error.into(),
        })
    }

    /// The session, to read.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Replaces the session.
    pub fn replace(&mut self, session: Session) {
        self.session = session;
        (self.failed, self.recorded) = (None, None);
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
    /// Sends a job. It runs after all jobs that were sent before. `then` gets what came of it, on the same thread: also if the
    /// job panics, and after the thread has ended.
    pub fn send<T>(
        &self,
        job: impl FnOnce(&mut OwnedSession) -> T + Send + 'static,
        then: impl FnOnce(Result<T, AgentError>) + Send + 'static,
    ) {
        let job = move |owned: Option<&mut OwnedSession>| {
            let done = owned.map(|owned| run(owned, job));
            // Whoever is told may panic as well. The next job runs all the same.
            drop(caught(|| then(done.unwrap_or(Err(AgentError::Ended)))));
        };
        if let Err(SendError(WriterMessage::Do(job))) = self.0.send(WriterMessage::Do(Box::new(job))) {
            job(None);
        }
    }

    /// Sends a job and waits for its answer.
    ///
    /// # Errors
    /// The job panicked, or the thread has ended.
    pub async fn ask<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut OwnedSession) -> T + Send + 'static,
    ) -> Result<T, AgentError> {
        let (answer, answered) = oneshot::channel();
        self.send(job, move |done| drop(answer.send(done)));
        answered.await.unwrap_or(Err(AgentError::Ended))
    }
}

fn system_message_of(entries: &[NewEntry]) -> Option<RawJson> {
    let entry = entries.iter().find(|entry| entry.role() == Some(Role::System))?;
    entry.member("message").map(|text| RawJson(text.to_owned()))
}

/// Runs a job. After one that panicked the next write reads the file again.
fn run<T>(owned: &mut OwnedSession, job: impl FnOnce(&mut OwnedSession) -> T) -> Result<T, AgentError> {
    caught(|| job(owned)).map_err(|crash| {
        owned.session.distrust();
        owned.recorded = None;
        AgentError::Crashed { what: "a job on the session", crash }
    })
}

/// The thread. Dropping this ends it after all jobs that were sent to it.
#[derive(Debug)]
pub struct Writer {
    handle: WriterHandle,
    recorded: Arc<Mutex<Recorded>>,
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
        let owned = OwnedSession::new(session);
        let recorded = Arc::clone(&owned.published);
        let thread = std::thread::Builder::new().name("session".to_owned()).spawn(move || serve(owned, &todo))?;
        Ok(Self { handle: WriterHandle(jobs), recorded, thread: Some(thread) })
    }

    /// What the session recorded when it was last written or moved.
    pub(crate) fn recorded(&self) -> Recorded {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner).clone()
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

fn serve(mut owned: OwnedSession, todo: &Receiver<WriterMessage>) {
    while let Ok(WriterMessage::Do(job)) = todo.recv() {
        job(Some(&mut owned));
    }
    // Sent too late.
    while let Ok(WriterMessage::Do(job)) = todo.try_recv() {
        job(None);
    }
}
