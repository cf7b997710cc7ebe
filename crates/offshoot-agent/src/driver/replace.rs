//! Replaces the open session with another. What was running has ended before, and the old session has all its messages.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_protocol::request::{Forked, PreparedSession};
use offshoot_protocol::{AgentError, Event, FilesAlong, FilesThatCame, NoticeCode, PromptStorage, SessionChangeReason};
use offshoot_session::children::carry_children;
use offshoot_session::entry::Source as _;
use offshoot_session::kind::Role;
use offshoot_session::session::{NewFork, NewSession, Options, Session, SessionPart};
use offshoot_session::tree::NodeIx;

use super::{Driver, DriverInput};
use crate::recorded::{PromptInEffect, Recorded, SettingsInEffect};
use crate::request_queue::ReplyTo;
use crate::sessions::{ReadyFiles, Sessions};
use crate::setup::{ReloadedSetup, SetupSource};
use crate::work_folder::WorkFolders;
use crate::writer::OwnedSession;

pub(crate) struct Replaced {
    forked: Forked,
    reason: SessionChangeReason,
    leaf_id: Option<String>,
    recorded: Recorded,
    cwd: Option<String>,
    /// Of the session's folder, if that is another one.
    setup: Option<Result<(ReloadedSetup, Vec<String>), String>>,
    notice: Option<Event>,
}

pub(super) enum NextSession {
    Fresh {
        parent: Option<String>,
    },
    Stored {
        file: PathBuf,
        folder: Option<PathBuf>,
    },
    /// A new session with the path before a user message, and whether its files come.
    Before(String, FilesAlong),
    /// A new session with the path up to an entry.
    At(String),
    Copy,
    Prepared(PreparedSession),
}

impl Driver {
    pub(super) fn replace(&mut self, other: NextSession, reply: ReplyTo<Forked>) {
        self.is_replacing = true;
        let (sessions, source) = (self.setup.sessions.clone(), self.setup.source.clone());
        let (own, folders) = (self.own.clone(), self.setup.folders.clone());
        let work =
            move |owned: &mut OwnedSession| replace(owned, (sessions.as_ref(), &folders), source.as_deref(), &other);
        self.writer.handle().send(work, move |done| {
            let result = Box::new(done.and_then(|result| result));
            drop(own.send(DriverInput::Replaced { result, reply }));
        });
    }

    pub(super) fn replaced(&mut self, result: Result<Replaced, AgentError>, reply: ReplyTo<Forked>) {
        self.is_replacing = false;
        reply.send(result.map(|replaced| {
            let Replaced { forked, reason, leaf_id, recorded, cwd, setup, notice } = replaced;
            let odd = self.take_folder_setup(setup);
            self.children.left_session();
            if let Some(cwd) = cwd.filter(|cwd| !cwd.is_empty()) {
                self.setup.tool_context.cwd = cwd.into();
            }
            self.setup.tool_context.set_session(&forked.session_id, forked.file.as_deref());
            let session_file = forked.file.as_ref().map(|file| file.display().to_string());
            let session_id = forked.session_id.clone();
            self.outbox.tell(Event::SessionChanged { reason, session_id, session_file, leaf_id, grown_from: None });
            self.restore(&recorded);
            let odd =
                odd.into_iter().map(|message| Event::Notice { code: NoticeCode::Folder, message, entry_id: None });
            notice.into_iter().chain(odd).for_each(|notice| self.outbox.tell(notice));
            forked
        }));
    }

    /// Takes the prompt, the resources, the permissions and the sandbox of another folder. The approval mode can only become
    /// stricter. Returns what is odd, in words.
    fn take_folder_setup(&mut self, setup: Option<Result<(ReloadedSetup, Vec<String>), String>>) -> Vec<String> {
        match setup {
            None => Vec::new(),
            Some(Ok((ReloadedSetup(new), odd))) => {
                let mode = self.setup.permissions.mode.max(new.permissions.mode);
                self.reload(&new);
                self.setup.permissions.mode = mode;
                self.limit_extensions();
                odd
            }
            Some(Err(why)) => vec![format!("the settings of the session's folder are not used: {why}")],
        }
    }

    /// Switches to the session's model and thinking level, if they are available.
    fn restore(&mut self, recorded: &Recorded) {
        self.forget_told();
        let named = recorded.model.as_ref();
        if let Some(model) = named.and_then(|(provider, id)| self.setup.sessions.model(provider, id)) {
            self.setup.model = Arc::clone(&model);
        }
        // The session's level does not count if the model has only one: the user did not choose it.
        if let Some(level) = recorded.thinking.filter(|_| self.setup.model.levels().len() > 1) {
            self.setup.thinking = level;
        }
        self.restore_tools(recorded);
    }

    /// Switches to the branch's tools.
    pub(super) fn restore_tools(&mut self, recorded: &Recorded) {
        if let Some(sets) = &self.setup.tool_sets {
            let (tools, missing) = sets.of(&recorded.prompt);
            self.setup.tools = tools;
            if !missing.is_empty() {
                let message = format!("this branch has tools that are not there: {}", missing.join(", "));
                self.outbox.tell(Event::Notice { code: NoticeCode::ToolsMissing, message, entry_id: None });
            }
        }
        self.configure();
    }
}

impl Driver {
    /// The model and the thinking level in effect.
    pub(super) fn settings(&self) -> SettingsInEffect {
        let model = &self.setup.model;
        let model = (model.provider.clone(), model.id.clone());
        SettingsInEffect { model, thinking: self.setup.thinking(), prompt: None }
    }

    /// The same before a prompt, with the system prompt and the tools.
    pub(super) fn settings_of_prompt(&self, at: i64) -> SettingsInEffect {
        let setup = &self.setup;
        let sections = (setup.prompt_storage == PromptStorage::Whole).then(|| {
            let mut sections = setup.system.sections(&setup.tools);
            for section in &mut sections {
                section.text = self.redactor.redact_text(std::mem::take(&mut section.text));
            }
            sections
        });
        let prompt = PromptInEffect {
            sections,
            tools: setup.tools.iter().map(|tool| tool.spec()).collect(),
            available: self.tool_set.all(),
            are_usual: setup.tool_sets.as_ref().is_none_or(|sets| sets.are_usual(&setup.tools)),
            at,
        };
        SettingsInEffect { prompt: Some(prompt), ..self.settings() }
    }
}

/// Steps back to the last answered entry where another process is answering; the event reports it.
pub(crate) fn leave_foreign_turn(session: &mut Session) -> Option<Event> {
    // A session that cannot be read says so when it is used.
    session.leave_foreign_turn().ok().flatten().as_ref().map(crate::event::notice)
}

fn replace(
    owned: &mut OwnedSession,
    (sessions, folders): (&dyn Sessions, &WorkFolders),
    source: Option<&dyn SetupSource>,
    other: &NextSession,
) -> Result<Replaced, AgentError> {
    let before = owned.session().cwd().map(str::to_owned);
    let mut files = None;
    let (session, text, reason) = match other {
        NextSession::Fresh { parent } => {
            (Some(fresh(owned.session(), sessions, (None, parent.as_deref()))?), None, SessionChangeReason::New)
        }
        NextSession::Stored { file, folder } => {
            let mut session = sessions.open(file)?;
            folders.enter(&mut session, folder.as_deref())?;
            (Some(session), None, SessionChangeReason::Resume)
        }
        NextSession::Copy => (copied(owned, sessions, None)?, None, SessionChangeReason::Fork),
        NextSession::At(entry) => {
            let at = owned.session().find(entry)?;
            (copied(owned, sessions, Some(at))?, None, SessionChangeReason::Fork)
        }
        NextSession::Prepared(PreparedSession::New { id, parent }) => (
            Some(fresh(owned.session(), sessions, (id.as_deref(), parent.as_deref()))?),
            None,
            SessionChangeReason::New,
        ),
        NextSession::Prepared(PreparedSession::File(file)) => {
            let cwd = owned.session().cwd().unwrap_or_default();
            let new = NewSession { id: None, cwd, parent_session: None };
            let mut session = sessions.open_or_create(file, &new)?;
            folders.enter(&mut session, None)?;
            (Some(session), None, SessionChangeReason::Resume)
        }
        NextSession::Prepared(PreparedSession::Path { leaf }) => {
            let leaf = owned.session().find(leaf)?;
            (copy_of_path(owned, sessions, (leaf, None))?, None, SessionChangeReason::Fork)
        }
        NextSession::Before(entry, along) => {
            let (before, text) = before_message(owned.session(), entry)?;
            let (session, came) = forked_before(owned, sessions, (before, *along))?;
            files = came;
            (session, Some(text), SessionChangeReason::Fork)
        }
    };
    let mut notice = None;
    if let Some(mut session) = session {
        notice = leave_foreign_turn(&mut session);
        owned.replace(session);
    }
    let recorded = owned.recorded();
    let session = owned.session();
    let file = session.file().map(Path::to_path_buf);
    let forked = Forked { text, session_id: session.id().to_owned(), file, files };
    let cwd = session.cwd().map(str::to_owned);
    let leaf_id = session.leaf_id().map(|leaf| leaf.as_str().to_owned());
    let setup = source.filter(|_| cwd != before).map(|source| source.read(session));
    Ok(Replaced { forked, reason, leaf_id, recorded, cwd, setup, notice })
}

/// A session with the path before a user message. Its files come with it, or neither does.
fn forked_before(
    owned: &mut OwnedSession,
    sessions: &dyn Sessions,
    (before, along): (Option<NodeIx>, FilesAlong),
) -> Result<(Option<Session>, Option<FilesThatCame>), AgentError> {
    let ready = match along {
        FilesAlong::Stay => None,
        FilesAlong::Come | FilesAlong::ComeAcrossCommits => Some(sessions.files_of(owned.session(), before, along)?),
    };
    let made = match before {
        Some(parent) => copied(owned, sessions, Some(parent)),
        None => {
            let parent = owned.session().file().map(|file| file.display().to_string());
            fresh(owned.session(), sessions, (None, parent.as_deref())).map(Some)
        }
    };
    match (made, ready) {
        (Ok(session), Some(ready)) => {
            let id = session.as_ref().unwrap_or(owned.session()).id().to_owned();
            Ok((session, Some(ready.come(&id)?)))
        }
        (Ok(session), None) => Ok((session, None)),
        (Err(error), ready) => {
            ready.map_or(Ok(()), ReadyFiles::stay)?;
            Err(error)
        }
    }
}

/// A new session of the same folder; in memory if this one is.
fn fresh(
    old: &Session,
    sessions: &dyn Sessions,
    (id, parent): (Option<&str>, Option<&str>),
) -> Result<Session, AgentError> {
    let cwd = old.cwd().unwrap_or_default().to_owned();
    let new = NewSession { id, cwd: &cwd, parent_session: parent };
    match old.file() {
        Some(_) => Ok(sessions.create(&new)?),
        None => Ok(Session::in_memory(&new, Options::default())?),
    }
}

/// Copies the path to an entry, or to the leaf. The open session's file is unchanged; a session in memory becomes its
/// copy.
fn copied(
    owned: &mut OwnedSession,
    sessions: &dyn Sessions,
    at: Option<NodeIx>,
) -> Result<Option<Session>, AgentError> {
    let old = owned.session();
    let leaf = match at {
        Some(leaf) => leaf,
        None => old.leaf().ok_or_else(|| nothing_to_copy(old))?,
    };
    let name = sessions.fork_name(old)?;
    copy_of_path(owned, sessions, (leaf, name.as_deref()))
}

fn copy_of_path(
    owned: &mut OwnedSession,
    sessions: &dyn Sessions,
    (leaf, name): (NodeIx, Option<&str>),
) -> Result<Option<Session>, AgentError> {
    let old = owned.session();
    let cwd = old.cwd().unwrap_or_default().to_owned();
    let fork = NewFork { part: SessionPart::Path(leaf), name, ..NewFork::default() };
    let place = |id: &str, time: &str| sessions.file_path(&cwd, id, time);
    if old.file().is_none() {
        owned.write(|session| session.become_fork(&fork, place))?;
        return Ok(None);
    }
    // From the open session: another program may have replaced its file.
    let copy = owned.write(|session| session.export(&fork, place))?;
    let file = copy.file.ok_or_else(|| AgentError::Failed("the copy has no file".to_owned()))?;
    carry_children(owned.session(), SessionPart::Path(leaf), &file)?;
    Ok(Some(sessions.open(&file)?))
}

fn nothing_to_copy(session: &Session) -> AgentError {
    AgentError::Failed(match session.file().filter(|_| session.has_waiting()) {
        Some(file) => format!("nothing could be written to {} yet, so there is nothing to copy", file.display()),
        None => "there is nothing to copy yet".to_owned(),
    })
}

/// The parent of a user message, and its text.
fn before_message(session: &Session, entry: &str) -> Result<(Option<NodeIx>, String), AgentError> {
    let ix = session.find(entry)?;
    let tree = session.tree();
    if tree.node(ix).role() != Some(Role::User) {
        return Err(AgentError::Failed(format!("entry {entry} is not a message of the user")));
    }
    let text = session.entry(ix)?.message_text("");
    Ok((tree.parent(ix), text.unwrap_or_default()))
}
