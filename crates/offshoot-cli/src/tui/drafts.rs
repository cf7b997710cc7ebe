//! Drafts and the history of prompts: files in the state folder, written by a thread of their own so that neither the screen
//! nor the agent waits for a disk. Without a state folder nothing is kept.

use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use offshoot_session::entry::Source as _;
use offshoot_session::medium::{open_regular, read_regular_text};
use offshoot_session::session::Session;
use offshoot_session::store::encode_cwd;
use offshoot_tui::editor::History;

use crate::app::App;
use crate::error::{CommandError, Result};

/// How many bytes of the history are read: the newest ones.
const READ: u64 = 1 << 20;
/// A draft is written when it has not changed for so long.
const PAUSE: Duration = Duration::from_millis(200);

/// The thread that writes drafts and prompts.
#[derive(Clone)]
pub(super) struct DraftWriter {
    jobs: Sender<DraftJob>,
    thread: Arc<Mutex<Option<JoinHandle<()>>>>,
}

enum DraftJob {
    /// The text in the editor; empty: there is no draft any more.
    Draft(String),
    Prompt(String),
    Close,
}

impl DraftWriter {
    /// Starts it. `failed` is told of a draft that could not be written.
    pub(super) fn start(files: DraftFiles, failed: impl Fn(&io::Error) + Send + 'static) -> Result<Self> {
        // Unbounded: a job is a key press or a prompt, and the draft of several is the last.
        let (jobs, wanted) = channel();
        let thread = std::thread::Builder::new().name("drafts".to_owned());
        let thread = thread.spawn(move || write(&files, &wanted, failed));
        let thread = thread.map_err(|error| CommandError::io("start the thread for drafts", &error))?;
        Ok(Self { jobs, thread: Arc::new(Mutex::new(Some(thread))) })
    }

    /// The text in the editor has changed.
    pub(super) fn save(&self, draft: String) {
        self.send(DraftJob::Draft(draft));
    }

    pub(super) fn remember(&self, prompt: String) {
        self.send(DraftJob::Prompt(prompt));
    }

    /// Returns when everything is written.
    pub(super) fn close(&self) {
        self.send(DraftJob::Close);
        let thread = self.thread.lock().ok().and_then(|mut thread| thread.take());
        // One that panicked has ended as well.
        drop(thread.map(JoinHandle::join));
    }

    fn send(&self, job: DraftJob) {
        // After the end nothing is kept.
        drop(self.jobs.send(job));
    }
}

/// Does one job after the other.
fn write(files: &DraftFiles, jobs: &Receiver<DraftJob>, failed: impl Fn(&io::Error)) {
    let mut draft: Option<String> = None;
    let keep = |draft: Option<String>| {
        if let Some(Err(error)) = draft.map(|draft| files.keep_draft(&draft)) {
            failed(&error);
        }
    };
    loop {
        let job = match draft {
            Some(_) => jobs.recv_timeout(PAUSE),
            None => jobs.recv().map_err(RecvTimeoutError::from),
        };
        match job {
            Ok(DraftJob::Draft(text)) if text.is_empty() => {
                draft = None;
                files.forget_draft();
            }
            Ok(DraftJob::Draft(text)) => draft = Some(text),
            Ok(DraftJob::Prompt(prompt)) => files.remember(&prompt),
            Err(RecvTimeoutError::Timeout) => keep(draft.take()),
            Ok(DraftJob::Close) | Err(RecvTimeoutError::Disconnected) => return keep(draft),
        }
    }
}

/// Where drafts and prompts are kept.
#[derive(Debug, Clone)]
pub(super) struct DraftFiles {
    folder: Option<PathBuf>,
    /// The name of the draft's file: a session that has not begun has no name that lasts.
    draft: String,
}

impl DraftFiles {
    pub(super) fn of(app: &App, session: &Session) -> Self {
        let folder = app.environment.spill.as_ref().and_then(|spill| spill.parent()).map(Path::to_path_buf);
        let draft = match session.tree().is_empty() {
            true => format!("new{}", encode_cwd(session.cwd().unwrap_or_default())),
            false => session.id().to_owned(),
        };
        Self { folder, draft }
    }

    fn draft_file(&self) -> Option<PathBuf> {
        let name: String = self.draft.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).take(200).collect();
        self.folder.as_ref().map(|folder| folder.join("drafts").join(name))
    }

    /// What was being written when the program ended.
    pub(super) fn draft(&self) -> String {
        let read = |file: PathBuf| read_regular_text(&file, u64::MAX).ok();
        self.draft_file().and_then(read).unwrap_or_default()
    }

    /// Keeps what is being written: the file has the old text or the new one, whatever happens.
    fn keep_draft(&self, text: &str) -> io::Result<()> {
        let Some(file) = self.draft_file() else { return Ok(()) };
        let folder = file.parent().unwrap_or(Path::new("."));
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let mut new = tempfile::NamedTempFile::new_in(folder)?;
        new.write_all(text.as_bytes())?;
        new.persist(&file)?;
        Ok(())
    }

    /// Nothing is being written any more.
    fn forget_draft(&self) {
        if let Some(file) = self.draft_file() {
            // There may have been none.
            drop(std::fs::remove_file(file));
        }
    }

    fn history_file(&self) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join("prompts"))
    }

    /// The prompts that were said last, as lines.
    pub(super) fn history(&self) -> String {
        use std::io::{Read as _, Seek as _, SeekFrom};
        let read = |file: PathBuf| {
            let mut file = open_regular(&file).ok()?;
            let length = file.metadata().ok()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(READ))).ok()?;
            let mut bytes = Vec::new();
            file.take(READ).read_to_end(&mut bytes).ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        self.history_file().and_then(read).unwrap_or_default()
    }

    /// Adds a prompt; a history that lacks one is no harm.
    fn remember(&self, prompt: &str) {
        let Some(file) = self.history_file() else { return };
        let folder = file.parent().unwrap_or(Path::new("."));
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        let opened = made.and_then(|()| std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(file));
        drop(opened.and_then(|mut file| file.write_all(History::line(prompt).as_bytes())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_draft_is_kept_and_an_empty_one_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let files = DraftFiles { folder: Some(folder.path().to_path_buf()), draft: "s".to_owned() };
        let written = |drafts: &[&str]| {
            let writer = DraftWriter::start(files.clone(), |error| panic!("{error}")).unwrap();
            drafts.iter().for_each(|draft| writer.save((*draft).to_owned()));
            writer.remember("a prompt".to_owned());
            writer.close();
            files.draft()
        };
        assert_eq!(written(&["half", "half a", "half a thought"]), "half a thought");
        assert_eq!(written(&["half", ""]), "");
        assert_eq!(files.history().lines().count(), 2);
    }
}
