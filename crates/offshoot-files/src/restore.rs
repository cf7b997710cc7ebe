//! Does a plan, whole or not at all: a journal first, then every new file under a scratch name, then the point of no return, then
//! the names. What a killed program has left is completed, or taken back, by the next one.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use offshoot_session::medium::{
    append_or_create_regular, make_private_folder, read_regular_text, replace_file, sync_folder,
};
use serde::{Deserialize, Serialize};

use crate::content::ContentHash;
use crate::error::{FilesError, FilesResult, io_error};
use crate::folder::{Folder, NewFile, Put, SCRATCH};
use crate::plan::{FileConflict, LeftFile, PlannedFile, RestorePlan};
use crate::rel_path::RelPath;
use crate::state::FileState;
use crate::store::ContentStore;

const LONGEST_JOURNAL: u64 = 256 << 20;
/// How many names beside a file are tried.
const MOST_BESIDE: usize = 100;

/// The session that a restore is for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RestoreFor {
    /// The session's id.
    pub session: String,
    /// Its file, as [`offshoot_session::path_words`] spells it.
    pub file: Option<String>,
    /// The entry whose files come.
    pub entry: String,
    /// Where the session's leaf is before it moves; `None` if it does not move with the files.
    pub moves_from: Option<String>,
    /// The [digest](crate::ChangeSet::digest_of) of the entry that records the files, if one is appended with them.
    #[serde(default)]
    pub appends: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Journal {
    of: RestoreFor,
    files: Vec<PlannedFile>,
    conflicts: Vec<FileConflict>,
    /// Whether names are being changed: it can only be completed.
    is_committed: bool,
}

/// A conflict as it was left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptConflict {
    /// The file, which is as somebody else left it.
    pub path: RelPath,
    /// The file beside it with the content of the entry; `None` if the entry has none.
    pub beside: Option<RelPath>,
}

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RestoreReport {
    /// Files that were written.
    pub written: Vec<RelPath>,
    /// Those of them that have changes of somebody else as well.
    pub merged: Vec<RelPath>,
    /// Files that were removed.
    pub removed: Vec<RelPath>,
    /// Files that stayed.
    pub conflicts: Vec<KeptConflict>,
    /// Files that cannot be restored.
    pub left: Vec<LeftFile>,
}

/// Where a restore works.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RestorePlace<'a> {
    pub(crate) folder: &'a Folder,
    pub(crate) store: &'a ContentStore,
    /// The file of the journal.
    pub(crate) journal: &'a Path,
}

/// A restore whose files are ready under scratch names. Dropping it takes them back.
#[derive(Debug)]
pub(crate) struct ReadyRestore {
    journal: Journal,
    id: String,
    left: Vec<LeftFile>,
    _lock: File,
}

/// One restore at a time.
fn lock(journal: &Path) -> FilesResult<File> {
    let path = journal.with_extension("lock");
    let cannot = || io_error("lock", &path);
    make_private_folder(path.parent().unwrap_or(&path)).map_err(cannot())?;
    let file = append_or_create_regular(&path).map_err(cannot())?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => Err(FilesError::Locked),
        Err(fs::TryLockError::Error(error)) => Err(cannot()(error)),
    }
}

fn scratch(id: &str, at: usize) -> String {
    format!("{SCRATCH}{id}-{at}")
}

impl RestorePlace<'_> {
    /// Makes everything ready. Nothing of the person's changes yet.
    pub(crate) fn begin(self, plan: RestorePlan, of: RestoreFor) -> FilesResult<ReadyRestore> {
        let lock = lock(self.journal)?;
        if self.journal.exists() {
            return Err(FilesError::Locked);
        }
        let RestorePlan { mut files, conflicts, left } = plan;
        // What goes makes place for what comes, from the innermost folder out.
        files.sort_by_key(|file| (file.target != FileState::Absent, std::cmp::Reverse(file.path.depth())));
        for file in &mut files {
            self.keep(file)?;
        }
        let journal = Journal { of, files, conflicts, is_committed: false };
        let ready = ReadyRestore { id: self.write(&journal)?, journal, left, _lock: lock };
        match self.prepare_all(&ready) {
            Ok(()) => Ok(ready),
            Err(error) => {
                self.abandon(&ready)?;
                Err(error)
            }
        }
    }

    /// Stores what would be taken away, and what would come.
    fn keep(&self, file: &mut PlannedFile) -> FilesResult<()> {
        let whole = self.folder.path.join(file.path.to_path());
        let cannot = || io_error("read", &whole);
        self.folder.can_change(&file.path).map_err(io_error("change", &whole))?;
        let found = file.found(self.folder).map_err(cannot())?;
        let is_same = found.state == file.current || (found.is_folder && file.current == FileState::Absent);
        if !is_same {
            return Err(FilesError::Beyond(format!("{} has just been changed: try again", file.path)));
        }
        if let Some(bytes) = &found.bytes {
            self.store.put_durably(bytes)?;
        }
        if let Some(merged) = file.merged.take() {
            self.store.put_durably(&merged)?;
        }
        Ok(())
    }

    fn write(&self, journal: &Journal) -> FilesResult<String> {
        let cannot = || io_error("write", self.journal);
        let plain = Journal { is_committed: false, ..journal.clone() };
        let text = |journal: &Journal| serde_json::to_string(journal).map_err(|error| cannot()(error.into()));
        let id = ContentHash::of(text(&plain)?.as_bytes()).start(12);
        replace_file(self.journal, &text(journal)?, 0o600).map_err(cannot())?;
        Ok(id)
    }

    fn prepare_all(&self, ready: &ReadyRestore) -> FilesResult<()> {
        ready.journal.files.iter().enumerate().try_for_each(|(at, file)| self.prepare(file, &scratch(&ready.id, at)))
    }

    fn prepare(&self, file: &PlannedFile, scratch: &str) -> FilesResult<()> {
        let made = match &file.target {
            FileState::Absent | FileState::NotCovered { .. } => Ok(()),
            FileState::File { hash, mode } => {
                let bytes = self.store.get(hash)?;
                self.folder.prepare(&NewFile::File { bytes: &bytes, mode: *mode }, scratch)
            }
            FileState::Link { target } => self.folder.prepare(&NewFile::Link { target }, scratch),
        };
        made.map_err(io_error("write", &self.folder.path.join(file.path.to_path())))
    }

    /// Takes back what was made ready.
    pub(crate) fn abandon(&self, ready: &ReadyRestore) -> FilesResult<()> {
        for at in 0..ready.journal.files.len() {
            let name = scratch(&ready.id, at);
            self.folder.forget(&name).map_err(io_error("remove", &self.folder.path.join(&name)))?;
        }
        self.forget_journal()
    }

    /// Forgets what a killed program has left, without a look at the folder.
    pub(crate) fn forget(&self) -> FilesResult<()> {
        let _lock = lock(self.journal)?;
        if self.journal.exists() { self.forget_journal() } else { Ok(()) }
    }

    fn forget_journal(&self) -> FilesResult<()> {
        let removed = fs::remove_file(self.journal);
        removed.map_err(io_error("remove", self.journal))?;
        drop(self.journal.parent().map(sync_folder));
        Ok(())
    }

    /// From here on it can only be completed.
    /// `settle` writes down where the files are, before nobody knows any more that they were brought.
    pub(crate) fn finish(
        &self,
        ready: &ReadyRestore,
        settle: impl FnOnce() -> FilesResult<()>,
    ) -> FilesResult<RestoreReport> {
        let journal = Journal { is_committed: true, ..ready.journal.clone() };
        self.write(&journal)?;
        let mut report = RestoreReport { left: ready.left.clone(), ..RestoreReport::default() };
        for (at, file) in journal.files.iter().enumerate() {
            self.change(file, &scratch(&ready.id, at), &journal.of.entry, &mut report)?;
        }
        for FileConflict { path, ours } in &journal.conflicts {
            self.keep_beside(path, ours, &journal.of.entry, &mut report)?;
        }
        settle()?;
        self.forget_journal()?;
        Ok(report)
    }

    fn change(&self, file: &PlannedFile, scratch: &str, entry: &str, report: &mut RestoreReport) -> FilesResult<()> {
        let is_removal = file.target == FileState::Absent;
        let put = match is_removal {
            true => self.folder.take_away(&file.path, &file.current, scratch),
            false => self.folder.put(&file.path, &file.current, scratch),
        };
        match put {
            Ok(Put::Done) if is_removal => report.removed.push(file.path.clone()),
            Ok(Put::Done) => {
                report.written.push(file.path.clone());
                if file.is_merged {
                    report.merged.push(file.path.clone());
                }
            }
            Ok(Put::Changed) => self.keep_beside(&file.path, &file.target, entry, report)?,
            // The others still come: what is half done would be worse.
            Err(error) => {
                report.left.push(LeftFile { path: file.path.clone(), why: error.to_string() });
                if self.folder.read_scratch(scratch).is_ok_and(|state| state == file.target) {
                    drop(self.folder.forget(scratch));
                }
            }
        }
        Ok(())
    }

    /// The person's file stays; ours goes beside it, under a name that nothing has.
    fn keep_beside(
        &self,
        path: &RelPath,
        ours: &FileState,
        entry: &str,
        report: &mut RestoreReport,
    ) -> FilesResult<()> {
        let FileState::File { hash, mode } = ours else {
            report.conflicts.push(KeptConflict { path: path.clone(), beside: None });
            return Ok(());
        };
        let Ok(bytes) = self.store.get(hash) else {
            let why = "its content is not in the store any more".to_owned();
            report.left.push(LeftFile { path: path.clone(), why });
            return Ok(());
        };
        let entry: String = entry.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
        for number in 1..MOST_BESIDE {
            let suffix = if number == 1 { format!(".offshoot-{entry}") } else { format!(".offshoot-{entry}-{number}") };
            let Ok(beside) = path.beside(&suffix) else { break };
            let whole = self.folder.path.join(beside.to_path());
            let found = self.folder.read(&beside).map_err(io_error("read", &whole))?;
            if found.state.hash() == Some(hash) {
                report.conflicts.push(KeptConflict { path: path.clone(), beside: Some(beside) });
                return Ok(());
            }
            if found.state != FileState::Absent {
                continue;
            }
            let name = format!("{SCRATCH}beside-{}", hash.start(12));
            drop(self.folder.forget(&name));
            let made = self.folder.prepare(&NewFile::File { bytes: &bytes, mode: *mode }, &name);
            match made.and_then(|()| self.folder.put(&beside, &FileState::Absent, &name)) {
                Ok(Put::Done) => {
                    report.conflicts.push(KeptConflict { path: path.clone(), beside: Some(beside) });
                    return Ok(());
                }
                Ok(Put::Changed) => {}
                Err(error) => {
                    report.left.push(LeftFile { path: path.clone(), why: error.to_string() });
                    return Ok(());
                }
            }
        }
        report.conflicts.push(KeptConflict { path: path.clone(), beside: None });
        Ok(())
    }

    /// Completes or takes back what a killed program has left. `has_moved` says whether the session has moved for it.
    pub(crate) fn recover(
        &self,
        moved_to: impl FnOnce(&RestoreFor) -> Option<String>,
        settle: impl FnOnce(&RestoreFor, &str) -> FilesResult<()>,
    ) -> FilesResult<Option<(RestoreFor, Option<RestoreReport>)>> {
        if !self.journal.exists() {
            return Ok(None);
        }
        let lock = match lock(self.journal) {
            Ok(lock) => lock,
            // It is not left over: its program runs.
            Err(FilesError::Locked) => return Ok(None),
            Err(error) => return Err(error),
        };
        let text = match read_regular_text(self.journal, LONGEST_JOURNAL) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(io_error("read", self.journal))?,
        };
        // It is replaced in one step, so one that does not parse is not ours.
        let journal: Journal = serde_json::from_str(&text).map_err(|error| FilesError::Malformed(error.to_string()))?;
        let of = journal.of.clone();
        let plain = Journal { is_committed: false, ..journal.clone() };
        let id = self.id_of(&plain)?;
        let moves = of.moves_from.is_some() || of.appends.is_some();
        let moved = if moves { moved_to(&of) } else { None };
        let is_committed = journal.is_committed || moved.is_some();
        let ready = ReadyRestore { journal, id, left: Vec::new(), _lock: lock };
        if !is_committed {
            self.abandon(&ready)?;
            return Ok(Some((of, None)));
        }
        for (at, file) in ready.journal.files.iter().enumerate() {
            self.make_ready_again(file, &scratch(&ready.id, at))?;
        }
        let at = moved.unwrap_or_else(|| of.entry.clone());
        let report = self.complete(&ready, || settle(&of, &at))?;
        Ok(Some((of, Some(report))))
    }

    fn id_of(&self, plain: &Journal) -> FilesResult<String> {
        let text = serde_json::to_string(plain).map_err(|error| io_error("read", self.journal)(error.into()))?;
        Ok(ContentHash::of(text.as_bytes()).start(12))
    }

    /// Brings a file to where its change can be made: what is under the scratch name is the new file, and nothing else.
    fn make_ready_again(&self, file: &PlannedFile, scratch: &str) -> FilesResult<()> {
        let whole = self.folder.path.join(file.path.to_path());
        let cannot = || io_error("restore", &whole);
        let aside = self.folder.read_scratch(scratch).map_err(cannot())?;
        let found = file.found(self.folder).map_err(cannot())?;
        let was_changed = found.state == file.target && aside != FileState::Absent && aside != file.target;
        if was_changed && aside != file.current {
            // Somebody's: it was taken out and not put back.
            self.folder.put_back(&file.path, scratch).map_err(cannot())?;
        } else {
            self.folder.forget(scratch).map_err(cannot())?;
        }
        let found = file.found(self.folder).map_err(cannot())?;
        if found.state == file.target { Ok(()) } else { self.prepare(file, scratch) }
    }

    fn complete(&self, ready: &ReadyRestore, settle: impl FnOnce() -> FilesResult<()>) -> FilesResult<RestoreReport> {
        let (done, open): (Vec<_>, Vec<_>) = ready
            .journal
            .files
            .iter()
            .cloned()
            .enumerate()
            .partition(|(_, file)| file.found(self.folder).is_ok_and(|found| found.state == file.target));
        let mut report = RestoreReport::default();
        for (_, file) in done {
            match file.target {
                FileState::Absent => report.removed.push(file.path),
                _ => report.written.push(file.path),
            }
        }
        self.write(&Journal { is_committed: true, ..ready.journal.clone() })?;
        for (at, file) in open {
            self.change(&file, &scratch(&ready.id, at), &ready.journal.of.entry, &mut report)?;
        }
        for FileConflict { path, ours } in &ready.journal.conflicts {
            self.keep_beside(path, ours, &ready.journal.of.entry, &mut report)?;
        }
        settle()?;
        self.forget_journal()?;
        Ok(report)
    }
}

impl ReadyRestore {
    pub(crate) fn of(&self) -> &RestoreFor {
        &self.journal.of
    }
}

pub(crate) fn journal_path(folder: &Path) -> PathBuf {
    folder.join("restore.json")
}
