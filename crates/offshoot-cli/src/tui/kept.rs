//! What is kept for another time: a text that was being written, by session, and the prompts that were said. Files in the
//! state folder; without one nothing is kept.

use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use offshoot_session::entry::Source as _;
use offshoot_session::session::Session;
use offshoot_session::store::encode_cwd;
use offshoot_tui::editor::History;

use crate::app::App;

/// How many bytes of the history are read: the newest ones.
const READ: u64 = 1 << 20;

/// Where things are kept.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    folder: Option<PathBuf>,
    /// The name of the draft's file: a session that has not begun has no name that lasts.
    draft: String,
}

impl Kept {
    /// What is kept for a session.
    pub(super) fn of(app: &App, session: &Session) -> Self {
        let folder = app.settings.spill.as_ref().and_then(|spill| spill.parent()).map(Path::to_path_buf);
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
        self.draft_file().and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default()
    }

    /// Keeps what is being written: the file has the old text or the new one, whatever happens.
    pub(super) fn keep_draft(&self, text: &str) -> io::Result<()> {
        let Some(file) = self.draft_file() else { return Ok(()) };
        let folder = file.parent().unwrap_or(Path::new("."));
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let mut new = tempfile::NamedTempFile::new_in(folder)?;
        new.write_all(text.as_bytes())?;
        new.persist(&file)?;
        Ok(())
    }

    /// Nothing is being written any more.
    pub(super) fn forget_draft(&self) {
        if let Some(file) = self.draft_file() {
            // There may have been none.
            drop(std::fs::remove_file(file));
        }
    }

    fn history_file(&self) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join("history.jsonl"))
    }

    /// The prompts that were said last, as lines.
    pub(super) fn history(&self) -> String {
        use std::io::{Read as _, Seek as _, SeekFrom};
        let read = |file: PathBuf| {
            let mut file = std::fs::File::open(file).ok()?;
            let length = file.metadata().ok()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(READ))).ok()?;
            let mut bytes = Vec::new();
            file.take(READ).read_to_end(&mut bytes).ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        self.history_file().and_then(read).unwrap_or_default()
    }

    /// Adds a prompt; a history that lacks one is no harm.
    pub(super) fn remember(&self, prompt: &str) {
        let Some(file) = self.history_file() else { return };
        let folder = file.parent().unwrap_or(Path::new("."));
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
        let opened = made.and_then(|()| std::fs::OpenOptions::new().append(true).create(true).mode(0o600).open(file));
        drop(opened.and_then(|mut file| file.write_all(History::line(prompt).as_bytes())));
    }
}
