//! Records which files the calls of a turn and the user's commands change, as entries after their results.
//!
//! Nothing is read before the first call that may change a file. A failure stops no call: a notice says that its files are not recorded.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use offshoot_files::{BatchChanges, BatchId, ChangingCall, FilesResult, Recorder, Workspace};
use offshoot_protocol::{AgentError, BackgroundCommand, Event, NoticeCode};
use offshoot_session::compose::NewEntry;
use offshoot_session::entry::Source as _;
use offshoot_session::json::Json;
use offshoot_session::text::counted;
use offshoot_session::tree::NodeIx;

use super::{Driver, DriverInput};
use crate::file_entries::files_data;
use crate::setup::Setup;
use crate::tool::{TASK_TOOL, Tier, Tool, ToolContext};
use crate::turn::{Call, Ticket};
use crate::writer::OwnedSession;

/// The recorder of the open session, and the calls that run.
#[derive(Default)]
pub(super) struct DriverFiles {
    /// With the folder and the session that it is for.
    recorder: Option<(PathBuf, String, Arc<Recorder>)>,
    batch: Option<(Ticket, RecordedBatch)>,
    /// What ran beside the conversation when the last turn ended or the last batch began, and the agents that have begun since.
    beside: BTreeMap<String, &'static str>,
    /// Of commands of the user that ended during a turn.
    waiting: Vec<(Arc<Recorder>, BatchChanges)>,
    /// Whether it was said that files are not recorded.
    has_failed: bool,
}

/// Calls whose changes are recorded together.
#[derive(Debug, Clone)]
pub(crate) struct RecordedBatch {
    recorder: Arc<Recorder>,
    batch: BatchId,
}

impl DriverFiles {
    /// An agent begins. The call that starts it may have ended before, and with it the turn.
    pub(super) fn agent_begins(&mut self, id: &str) {
        self.beside.insert(id.to_owned(), TASK_TOOL);
    }
}

impl RecordedBatch {
    /// Before a call runs.
    pub(super) async fn before(&self, tool: &dyn Tool, call: &Call, context: &ToolContext) -> FilesResult<()> {
        // A tool of an extension may do more than it says, and so may agents that a tool starts.
        let is_own = tool.provider().is_none() && !tool.starts_agents();
        let tier = if is_own { tool.tier(&call.arguments, context) } else { Tier::Exec };
        let changing = ChangingCall { id: call.id.clone(), name: call.name.clone() };
        match tier {
            Tier::Read(_) => Ok(()),
            Tier::Write(paths) => {
                self.blocking(move |recorder, batch| {
                    paths.iter().try_for_each(|path| recorder.before_change_of(batch, changing.clone(), path))
                })
                .await
            }
            _ => self.blocking(move |recorder, batch| recorder.before_any_change(batch, changing)).await,
        }
    }

    /// Before a command of the user runs.
    pub(super) async fn before_command(&self) -> FilesResult<()> {
        let changing = ChangingCall { id: String::new(), name: "!".to_owned() };
        self.blocking(move |recorder, batch| recorder.before_any_change(batch, changing)).await
    }

    /// Before the end of a batch beside which something runs in the background.
    async fn look_before(&self) -> FilesResult<()> {
        self.blocking(Recorder::look_before).await
    }

    /// After the last call.
    pub(super) async fn end(&self) -> FilesResult<Option<BatchChanges>> {
        self.blocking(Recorder::end).await
    }

    pub(super) fn recorder(&self) -> &Arc<Recorder> {
        &self.recorder
    }

    /// Notices about the recording, each once.
    pub(super) fn notices(&self) -> Vec<String> {
        let shrunk = self.recorder.take_shrunk().map(|size| {
            let contents =
                counted(usize::try_from(size.contents).unwrap_or(usize::MAX), "content was", "contents were");
            format!("the store of this folder's files was too large: {contents} removed, the oldest first")
        });
        let partial = self.recorder.take_partial().then(|| {
            "this folder is large: only files that edit and write name can be brought back (docs/files.md)".to_owned()
        });
        shrunk.into_iter().chain(partial).collect()
    }

    async fn blocking<T: Send + Default + 'static>(
        &self,
        work: impl FnOnce(&Recorder, BatchId) -> FilesResult<T> + Send + 'static,
    ) -> FilesResult<T> {
        let (recorder, batch) = (Arc::clone(&self.recorder), self.batch);
        // A panic there is nobody's result.
        tokio::task::spawn_blocking(move || work(&recorder, batch)).await.unwrap_or_else(|_| Ok(T::default()))
    }
}

impl Driver {
    /// The batch of a turn's calls; `None` if files are not recorded.
    pub(super) fn batch_of(&mut self, ticket: Ticket) -> Option<RecordedBatch> {
        if let Some((_, batch)) = self.files.batch.as_ref().filter(|(of, _)| *of == ticket) {
            return Some(batch.clone());
        }
        let batch = self.new_batch()?;
        if let Some((_, old)) = self.files.batch.replace((ticket, batch.clone())) {
            old.recorder.drop_batch(old.batch);
        }
        Some(batch)
    }

    /// While the model writes a call that may change any file, all files are looked at.
    pub(super) fn look_at_files_soon(&mut self, tool: &dyn Tool) {
        let reads_or_names = ["read", "grep", "find", "ls", "edit", "write"].contains(&tool.name());
        if tool.provider().is_none() && reads_or_names {
            return;
        }
        let Some(recorder) = self.recorder() else { return };
        // The call waits for it, and says what failed.
        drop(tokio::task::spawn_blocking(move || drop(recorder.make_ready())));
    }

    /// A batch of its own.
    pub(super) fn new_batch(&mut self) -> Option<RecordedBatch> {
        let recorder = self.recorder()?;
        let beside = self.ran_beside();
        Some(RecordedBatch { batch: recorder.begin_beside(beside), recorder })
    }

    /// What may have changed files since the last batch began: what runs beside the conversation, and what did then.
    fn ran_beside(&mut self) -> Vec<ChangingCall> {
        let running = self.running_beside();
        let mut ran = std::mem::replace(&mut self.files.beside, running.clone());
        ran.extend(running);
        ran.into_iter().map(|(id, name)| ChangingCall { id, name: name.to_owned() }).collect()
    }

    /// Commands in the background, and agents that go on without a call that waits for them; each with the name of its tool.
    fn running_beside(&self) -> BTreeMap<String, &'static str> {
        let commands = self.background.all().into_iter().filter(BackgroundCommand::is_running);
        let agents = self.children.running().map(|id| (id.clone(), TASK_TOOL));
        commands.map(|command| (command.id, "background")).chain(agents).collect()
    }

    fn recorder(&mut self) -> Option<Arc<Recorder>> {
        let Setup { files, tool_context, clock, .. } = &self.setup;
        let files = files.as_ref()?;
        let session = tool_context.session_id()?.to_owned();
        let cwd = tool_context.cwd.clone();
        if let Some((of, in_session, recorder)) = &self.files.recorder
            && (of, in_session) == (&cwd, &session)
        {
            return Some(Arc::clone(recorder));
        }
        let keys = self.redactor.keys();
        let workspace = match Workspace::open(&cwd, &files.data, files.limits) {
            Ok(workspace) => workspace.without_keys(move |bytes| keys.are_in(bytes)),
            Err(error) => {
                self.not_recorded(&error.to_string());
                return None;
            }
        };
        let recorder = Recorder::new(workspace, &session, Arc::clone(clock), &files.never);
        let recorder = Arc::new(match tool_context.session_file() {
            Some(file) => recorder.in_file(file),
            None => recorder,
        });
        self.files.recorder = Some((cwd, session, Arc::clone(&recorder)));
        Some(recorder)
    }

    /// Says it once.
    pub(super) fn not_recorded(&mut self, why: &str) {
        if !std::mem::replace(&mut self.files.has_failed, true) {
            self.tell_of_files(format!("changes of files are not recorded: {why}"));
        }
    }

    pub(super) fn tell_of_files(&mut self, message: String) {
        self.outbox.tell_front_ends(Event::Notice { code: NoticeCode::Folder, message, entry_id: None });
    }

    /// Whether something is to be recorded when the turn ends.
    pub(super) fn records_files(&self) -> bool {
        self.files.batch.is_some() || !self.files.waiting.is_empty() || self.has_beside()
    }

    /// Whether a command may have changed files in the background since the last batch.
    fn has_beside(&self) -> bool {
        self.files.recorder.is_some() && (!self.files.beside.is_empty() || !self.running_beside().is_empty())
    }

    /// What is to be recorded at the end of a turn.
    pub(super) fn take_files(&mut self) -> TurnFiles {
        let has_beside = self.has_beside();
        let batch = self.files.batch.take().map(|(_, batch)| batch);
        let batch = batch.or_else(|| if has_beside { self.new_batch() } else { None });
        // One that has begun during this turn may end before the next one.
        self.files.beside = self.running_beside();
        let notices = batch.as_ref().map(RecordedBatch::notices).unwrap_or_default();
        notices.into_iter().for_each(|words| self.tell_of_files(words));
        TurnFiles { batch, has_beside, waiting: std::mem::take(&mut self.files.waiting) }
    }

    /// A command of the user has ended.
    pub(super) fn command_changed(&mut self, recorder: Arc<Recorder>, changes: BatchChanges) {
        if !self.state.is_idle() {
            return self.files.waiting.push((recorder, changes));
        }
        let own = self.own.clone();
        self.writer.handle().send(
            move |owned| record(owned, &recorder, changes),
            move |done| {
                if let Err(error) = done.and_then(|done| done) {
                    drop(own.send(DriverInput::FilesFailed(error.to_string())));
                }
            },
        );
    }
}

/// What a command of the user has changed, or why that is not known.
pub(crate) struct CommandFiles {
    pub(super) files: RecordedBatch,
    pub(super) changes: Result<Option<BatchChanges>, String>,
}

/// What a turn leaves to be recorded.
#[derive(Default)]
pub(super) struct TurnFiles {
    batch: Option<RecordedBatch>,
    /// Whether something runs in the background: then all files are looked at.
    has_beside: bool,
    waiting: Vec<(Arc<Recorder>, BatchChanges)>,
}

impl TurnFiles {
    /// Looks at the files, outside the runtime's threads.
    pub(super) async fn look(self) -> (Vec<(Arc<Recorder>, BatchChanges)>, Option<String>) {
        let Self { batch, has_beside, waiting: mut found } = self;
        let Some(batch) = batch else { return (found, None) };
        let looked = if has_beside { batch.look_before().await } else { Ok(()) };
        let ended = batch.end().await;
        match looked.and(ended) {
            Ok(changes) => {
                found.extend(changes.map(|changes| (Arc::clone(batch.recorder()), changes)));
                (found, None)
            }
            Err(error) => (found, Some(error.to_string())),
        }
    }
}

/// Appends the entry of what a batch has changed.
pub(super) fn record(owned: &mut OwnedSession, recorder: &Recorder, changes: BatchChanges) -> Result<(), AgentError> {
    let failed = |error: offshoot_files::FilesError| AgentError::Failed(error.to_string());
    let session = owned.session();
    let tree = session.tree();
    let known = recorder.known_at();
    let (mut since, mut has_met) = (Vec::new(), false);
    for ix in session.leaf().into_iter().flat_map(|leaf| tree.ancestors(leaf)) {
        has_met = is_entry(session, ix, known.as_deref());
        if has_met {
            break;
        }
        since.extend(files_data(session, ix));
    }
    since.reverse();
    let expected = recorder.expected(has_met, &since);
    let data = recorder.compose(changes, &expected).map_err(failed)?;
    let json = Json::parse(&data).map_err(|error| error.to_string())?;
    let ids = owned.append(&[NewEntry::custom(offshoot_files::FILES_ENTRY, Some(json))])?;
    match ids.first() {
        Some(id) => recorder.recorded(id.as_str(), &data, expected).map_err(failed),
        None => Ok(()),
    }
}

fn is_entry(session: &offshoot_session::session::Session, ix: NodeIx, id: Option<&str>) -> bool {
    id.is_some() && session.tree().node(ix).id().map(offshoot_session::id::EntryId::as_str) == id
}
