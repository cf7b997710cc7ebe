//! The files of drafts, in the state folder, and which file of prompts is beside them. Without a state folder nothing is saved.
//!
//! A draft belongs to a session, or to a folder before its conversation has begun. Each process keeps a locked draft
//! file of its own; a draft is only taken over after its process has ended, by one process.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_agent::KeySource;
use offshoot_app::app::App;
use offshoot_session::entry::Source as _;
use offshoot_session::id::{EntryId, IdSource as _, RandomIds};
use offshoot_session::medium::open_regular;
use offshoot_session::session::Session;
use offshoot_session::store::encode_cwd;
use offshoot_settings::Settings;
use offshoot_tui::editor::PastPrompt;
use offshoot_tui::overlay::prompts::PastPrompts;

use super::prompt_file::PromptFile;

/// The newest bytes of the history that are read at the start.
const HISTORY: u64 = 1 << 20;
/// Larger drafts are not taken over.
const DRAFT: u64 = 16 << 20;
/// Separates the key from the part that is unique to this process.
const MARK: char = '~';

/// The owner of a draft: a session, or a folder before its conversation has begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DraftKey {
    name: String,
    /// The folder of the session.
    cwd: Option<String>,
}

impl DraftKey {
    pub(super) fn of(session: &Session) -> Self {
        let named = match session.tree().is_empty() {
            true => Self::named(&format!("new{}", encode_cwd(session.cwd().unwrap_or_default()))),
            false => Self::named(session.id()),
        };
        Self { cwd: session.cwd().map(str::to_owned), ..named }
    }

    pub(super) fn named(name: &str) -> Self {
        Self { name: name.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).take(200).collect(), cwd: None }
    }
}

pub(super) struct DraftFiles {
    folder: Option<PathBuf>,
    owner: DraftKey,
    process: EntryId,
    /// The draft's file, locked while it is open.
    held: Option<File>,
    /// `None`: no prompts are kept.
    prompts: Option<PromptFile>,
}

impl DraftFiles {
    /// The files of a session; its settings say whether prompts are kept, and `keys` knows what is left out of them.
    pub(super) fn of(app: &App, session: &Session, keys: &Arc<dyn KeySource>) -> Self {
        let folder = app.environment.spill.as_ref().and_then(|spill| spill.parent()).map(Path::to_path_buf);
        let quiet = App { ui: app.ui.quiet(), ..app.clone() };
        // Settings that cannot be read are reported elsewhere, and may have said no.
        let keeps = quiet.layers(session).is_ok_and(|layers| Settings::from(&layers).keeps_prompts);
        let prompts = folder.as_ref().filter(|_| keeps).map(|folder| PromptFile::new(folder, Some(Arc::clone(keys))));
        Self { prompts, ..Self::new(folder, DraftKey::of(session)) }
    }

    pub(super) fn new(folder: Option<PathBuf>, owner: DraftKey) -> Self {
        let prompts = folder.as_deref().map(|folder| PromptFile::new(folder, None));
        Self { folder, owner, process: RandomIds.entry_id(), held: None, prompts }
    }

    fn draft_file(&self) -> Option<PathBuf> {
        let name = format!("{}{MARK}{}", self.owner.name, self.process);
        self.folder.as_ref().map(|folder| folder.join("drafts").join(name))
    }

    /// Takes over the newest draft of an ended process and returns its text.
    pub(super) fn take_left(&mut self) -> String {
        let Some(own) = self.draft_file() else { return String::new() };
        let mut left = self.left(own.parent().unwrap_or(Path::new(".")));
        left.sort_by_key(|(modified, _)| std::cmp::Reverse(*modified));
        for (_, path) in left {
            let Some((file, text)) = locked_text(&path) else { continue };
            if text.is_empty() {
                drop(std::fs::remove_file(path));
            } else if std::fs::rename(path, &own).is_ok() {
                self.held = Some(file);
                return text;
            }
        }
        String::new()
    }

    /// The drafts of this owner, with their modification times. Earlier versions wrote one for all processes.
    fn left(&self, folder: &Path) -> Vec<(std::time::SystemTime, PathBuf)> {
        let key = self.owner.name.as_str();
        let is_owners = |name: &str| name == key || name.split_once(MARK).is_some_and(|(owner, _)| owner == key);
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let files = files.filter(|file| file.file_name().to_str().is_some_and(is_owners));
        files.filter_map(|file| Some((file.metadata().ok()?.modified().ok()?, file.path()))).collect()
    }

    /// Saves a draft atomically.
    pub(super) fn keep_draft(&mut self, text: &str) -> io::Result<()> {
        let Some(path) = self.draft_file() else { return Ok(()) };
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let mut new = tempfile::NamedTempFile::new_in(folder)?;
        new.write_all(text.as_bytes())?;
        // Locked before others can see it; saved anyway where there are no locks.
        drop(new.as_file().try_lock());
        self.held = Some(new.persist(&path)?);
        Ok(())
    }

    pub(super) fn forget_draft(&mut self) {
        if let Some((path, _)) = self.draft_file().zip(self.held.take()) {
            // Another program may have removed it.
            drop(std::fs::remove_file(path));
        }
    }

    pub(super) fn set_owner(&mut self, owner: DraftKey) {
        let before = self.draft_file();
        self.owner = owner;
        if let (Some(before), Some(now), Some(_)) = (before, self.draft_file(), &self.held) {
            // If this fails, the next change is saved under the new name.
            drop(std::fs::rename(before, now));
        }
    }

    /// The newest prompts, as lines. A file that cannot be read is reported when somebody searches it.
    pub(super) fn history(&self) -> String {
        self.prompts.as_ref().and_then(|file| file.newest(HISTORY).ok()).unwrap_or_default()
    }

    /// Adds a prompt. Errors are ignored: a missing prompt does no harm.
    pub(super) fn remember(&self, text: String) {
        let prompt = PastPrompt { text, folder: self.owner.cwd.clone() };
        drop(self.prompts.as_ref().map(|file| file.add(prompt)));
    }

    /// All prompts that are kept; `None` if none are.
    pub(super) fn past_prompts(&self) -> Option<io::Result<PastPrompts>> {
        let file = self.prompts.as_ref()?;
        let read = file.prompts().map(|(prompts, damaged)| PastPrompts {
            prompts,
            here: self.owner.cwd.clone().unwrap_or_default(),
            damaged: (damaged > 0).then(|| (file.path().display().to_string(), damaged)),
        });
        Some(read)
    }
}

/// The text of a draft that no living process holds, with its locked file.
fn locked_text(path: &Path) -> Option<(File, String)> {
    let file = open_regular(path).ok()?;
    if matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        return None;
    }
    // Its process may have replaced the file before the lock was taken.
    let (locked, named) = (file.metadata().ok()?, std::fs::symlink_metadata(path).ok()?);
    let is_same = (locked.dev(), locked.ino()) == (named.dev(), named.ino());
    let mut text = String::new();
    let is_read = is_same && locked.len() <= DRAFT && (&file).take(DRAFT).read_to_string(&mut text).is_ok();
    is_read.then_some((file, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(folder: &Path, owner: &str) -> DraftFiles {
        DraftFiles::new(Some(folder.to_path_buf()), DraftKey::named(owner))
    }

    #[test]
    fn a_draft_is_taken_over_once_and_only_when_its_process_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let mut first = files(folder.path(), "s");
        first.keep_draft("one").unwrap();
        first.keep_draft("one more").unwrap();
        assert_eq!(files(folder.path(), "s").take_left(), "", "its process lives");
        assert_eq!(files(folder.path(), "s2").take_left(), "");
        drop(first);
        let mut second = files(folder.path(), "s");
        assert_eq!(second.take_left(), "one more");
        assert_eq!(files(folder.path(), "s").take_left(), "", "it has been taken");
        second.forget_draft();
        drop(second);
        assert_eq!(files(folder.path(), "s").take_left(), "");
        assert_eq!(std::fs::read_dir(folder.path().join("drafts")).unwrap().count(), 0);
    }

    #[test]
    fn a_draft_follows_its_conversation() {
        let folder = tempfile::tempdir().unwrap();
        let mut begun = files(folder.path(), "new--w--");
        begun.keep_draft("half a thought").unwrap();
        begun.set_owner(DraftKey::named("s"));
        drop(begun);
        assert_eq!(files(folder.path(), "new--w--").take_left(), "");
        assert_eq!(files(folder.path(), "s").take_left(), "half a thought");
    }

    /// Earlier versions wrote one file for every new conversation of a folder.
    #[test]
    fn a_draft_of_an_earlier_version_is_offered_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut earlier = self::files(folder.path(), "new--w--");
        earlier.keep_draft("old words").unwrap();
        let old = folder.path().join("drafts/new--w--");
        std::fs::rename(earlier.draft_file().unwrap(), &old).unwrap();
        drop(earlier);
        let mut files = files(folder.path(), "new--w--");
        assert_eq!(files.take_left(), "old words");
        assert!(!old.exists());
        files.forget_draft();
        assert_eq!(files.take_left(), "");
    }
}
