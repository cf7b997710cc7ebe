//! A folder whose files belong to the tree, with its part of the user's data: contents, log, journal. Opening it writes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_session::medium::{make_private_folder, real_path, replace_file};
use offshoot_session::path_words::path_words;

use crate::changes::{ChangeSet, ChangedBy, ChangingCall, FileChange};
use crate::content::ContentHash;
use crate::error::{FilesResult, io_error};
use crate::folder::Folder;
use crate::head::read_head;
use crate::limits::FileLimits;
use crate::plan::{PlanPlace, PlannedFile, RestorePlan};
use crate::record_log::{ClaimedChange, LogLine, LogView, RecordLog};
use crate::rel_path::RelPath;
use crate::restore::{ReadyRestore, RestoreFor, RestorePlace, RestoreReport, journal_path};
use crate::route::{FilesWay, route};
use crate::scan::{HAS_KEY, KeyCheck};
use crate::state::FileState;
use crate::store::ContentStore;

/// A longer text is not compared.
const LONGEST_TEXT: usize = 1 << 20;

/// A folder whose files belong to the tree.
#[derive(Debug)]
pub struct Workspace {
    pub(crate) folder: Folder,
    /// Its part of the user's data.
    data: PathBuf,
    pub(crate) store: ContentStore,
    pub(crate) log: RecordLog,
    pub(crate) limits: FileLimits,
    pub(crate) keys: KeyCheck,
}

fn text_of(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok().filter(|text| text.len() <= LONGEST_TEXT && !text.contains('\0'))
}

/// What the entries of a way say.
#[derive(Debug, Clone, Default)]
pub struct KnownWay {
    /// The changes of those that this folder recorded.
    pub way: FilesWay,
    /// What git had checked out when they were recorded.
    pub heads: BTreeSet<String>,
    /// How many were recorded elsewhere: they have no power here.
    pub foreign: usize,
    /// How many could not be read.
    pub unreadable: usize,
}

/// What the entries of sessions say, where the log was read once.
#[derive(Debug)]
pub struct RecordedEntries<'a> {
    workspace: &'a Workspace,
    log: LogView,
}

impl RecordedEntries<'_> {
    /// The changes of an entry; `None` if this folder did not record it.
    ///
    /// # Errors
    /// It is not what offshoot writes, or its contents are gone.
    pub fn changes(&self, data: &str) -> FilesResult<Option<Vec<FileChange>>> {
        let changes = self.workspace.changes(&self.log, data)?;
        Ok(changes.map(|(_, changes)| changes))
    }
}

/// A restore that is ready. It is [finished](Workspace::finish) or [abandoned](Workspace::abandon).
#[derive(Debug)]
pub struct BegunRestore(ReadyRestore);

impl Workspace {
    /// The workspace of a folder; `data` is the folder of all workspaces.
    ///
    /// # Errors
    /// The folder cannot be opened.
    pub fn open(root: &Path, data: &Path, limits: FileLimits) -> FilesResult<Self> {
        let cannot = || io_error("open", root);
        let root = real_path(root).map_err(cannot())?;
        let limits = FileLimits { file: limits.file.min(FileLimits::LARGEST_FILE), ..limits };
        let folder = Folder::open(&root, limits.file).map_err(cannot())?;
        let name = ContentHash::of(path_words(root.as_os_str()).as_bytes());
        let data = data.join(name.start(32));
        // A manifest may be larger than a file.
        let store = ContentStore::new(data.join("contents"), FileLimits::LARGEST_FILE);
        Ok(Self { folder, store, log: RecordLog::new(data.join("log")), data, limits, keys: KeyCheck::default() })
    }

    /// The same workspace. `has_key` says whether a content has a key in it: such files are neither stored nor changed.
    #[must_use]
    pub fn without_keys(self, has_key: impl Fn(&[u8]) -> bool + Send + Sync + 'static) -> Self {
        Self { keys: KeyCheck(Arc::new(has_key)), ..self }
    }

    /// The folder, without links.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.folder.path
    }

    /// What git has checked out there; `None` outside of git.
    #[must_use]
    pub fn head(&self) -> Option<String> {
        read_head(self.root())
    }

    /// Its part of the user's data.
    #[must_use]
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// How much is recorded.
    #[must_use]
    pub fn limits(&self) -> FileLimits {
        self.limits
    }

    /// The contents.
    #[must_use]
    pub fn store(&self) -> &ContentStore {
        &self.store
    }

    /// Makes its part of the user's data, with the name of the folder for people.
    pub(crate) fn make(&self) -> FilesResult<()> {
        let name = self.data.join("folder");
        if name.is_file() {
            return Ok(());
        }
        let cannot = || io_error("write", &self.data);
        make_private_folder(&self.data).map_err(cannot())?;
        replace_file(&name, &path_words(self.root().as_os_str()), 0o600).map_err(cannot())
    }

    /// The changes of an entry, if this folder recorded it.
    ///
    /// # Errors
    /// It is not what offshoot writes, or its contents are gone.
    fn changes(&self, log: &LogView, data: &str) -> FilesResult<Option<(Option<String>, Vec<FileChange>)>> {
        let set = ChangeSet::read(data)?;
        match log.knows(&set.digest()?) {
            true => Ok(Some((set.head.clone(), set.all(&self.store)?))),
            false => Ok(None),
        }
    }

    /// Reads the log once, for many entries.
    #[must_use]
    pub fn recorded_entries(&self) -> RecordedEntries<'_> {
        RecordedEntries { workspace: self, log: self.log.read(0) }
    }

    /// Whether a text has a key in it.
    #[must_use]
    pub fn has_key(&self, text: &str) -> bool {
        (self.keys.0)(text.as_bytes())
    }

    /// The changes of entries on the way up from one, the last one first, and of those down to another.
    #[must_use]
    pub fn way(&self, up: &[String], down: &[String]) -> KnownWay {
        let mut known = KnownWay::default();
        if up.is_empty() && down.is_empty() {
            return known;
        }
        let log = self.log.read(0);
        let mut read = |datas: &[String]| {
            let mut sets = Vec::new();
            for data in datas {
                match self.changes(&log, data) {
                    Ok(Some((head, changes))) => {
                        known.heads.extend(head);
                        sets.push(changes);
                    }
                    Ok(None) => known.foreign += 1,
                    Err(_) => known.unreadable += 1,
                }
            }
            sets
        };
        let (up, down) = (read(up), read(down));
        known.way = FilesWay { up, down };
        known
    }

    /// The entry of a session at which the files are, as far as that is known.
    #[must_use]
    pub fn position(&self, session: &str) -> Option<String> {
        self.log.read(0).position(session).map(str::to_owned)
    }

    /// Remembers where the files are.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn set_position(&self, session: &str, entry: &str) -> FilesResult<()> {
        self.log.append(&LogLine::At { session: session.to_owned(), entry: entry.to_owned() })
    }

    /// What a restore would do. Writes nothing.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn plan(&self, way: FilesWay) -> FilesResult<RestorePlan> {
        self.plan_place().plan(route(way))
    }

    /// What it would take for these files to be there, whatever is in their place: for a folder that is a copy. Writes nothing.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn plan_to(&self, files: BTreeMap<RelPath, FileState>) -> FilesResult<RestorePlan> {
        self.plan_place().plan_to(files)
    }

    fn plan_place(&self) -> PlanPlace<'_> {
        PlanPlace { folder: &self.folder, store: &self.store, keys: &self.keys }
    }

    /// Gives the entries that another folder recorded, of which this one is a copy, the same power here. Their contents come along, as far as
    /// they are there.
    ///
    /// # Errors
    /// The store or the log cannot be written.
    pub fn adopt(&self, from: &Self, session: &str, datas: &[String]) -> FilesResult<()> {
        let log = from.log.read(0);
        self.make()?;
        for data in datas {
            let Ok(set) = ChangeSet::read(data) else { continue };
            let digest = set.digest()?;
            if !log.knows(&digest) {
                continue;
            }
            let mut needed: BTreeSet<ContentHash> = set.manifest.into_iter().collect();
            for FileChange { before, after, .. } in set.all(&from.store).unwrap_or_default() {
                needed.extend([before, after].iter().filter_map(FileState::hash));
            }
            for hash in needed.into_iter().filter(|hash| !self.store.has(hash)) {
                // One that is gone is missed when it is needed.
                from.store.get(&hash).map_or(Ok(()), |bytes| self.store.put(&bytes).map(drop))?;
            }
            self.log.append(&LogLine::Recorded { digest, session: session.to_owned(), claims: Vec::new() })?;
        }
        Ok(())
    }

    /// The file with the newest look at all files.
    pub(crate) fn seen_path(&self) -> PathBuf {
        self.data.join("seen")
    }

    /// What a path holds now.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn state_of(&self, path: &RelPath) -> FilesResult<FileState> {
        let found = self.folder.read(path).map_err(io_error("read", &self.root().join(path.to_path())))?;
        let has_key = found.bytes.is_some_and(|bytes| (self.keys.0)(&bytes));
        Ok(if has_key { FileState::not_covered(HAS_KEY) } else { found.state })
    }

    /// The texts of a file before and after a restore; `None` if one is not text, or is too long to compare.
    #[must_use]
    pub fn texts(&self, file: &PlannedFile) -> Option<(String, String)> {
        let before = match &file.current {
            FileState::Absent => Vec::new(),
            FileState::File { .. } => self.folder.read(&file.path).ok()?.bytes?,
            FileState::Link { .. } | FileState::NotCovered { .. } => return None,
        };
        let after = match (&file.target, &file.merged) {
            (_, Some(merged)) => merged.clone(),
            (FileState::Absent, None) => Vec::new(),
            (FileState::File { hash, .. }, None) => self.store.get(hash).ok()?,
            (FileState::Link { .. } | FileState::NotCovered { .. }, None) => return None,
        };
        Some((text_of(before)?, text_of(after)?))
    }

    /// The data of an entry that records what a plan would do, as changes of `by`; `None` if it changes no file.
    ///
    /// # Errors
    /// The store or the log cannot be written.
    pub fn compose(&self, session: &str, by: &str, plan: &RestorePlan) -> FilesResult<Option<String>> {
        let change = |file: &PlannedFile| FileChange {
            path: file.path.clone(),
            by: ChangedBy::Calls,
            before: file.current.clone(),
            after: file.target.clone(),
        };
        let changes: Vec<FileChange> = plan.files.iter().map(change).collect();
        if changes.is_empty() {
            return Ok(None);
        }
        self.make()?;
        let calls = vec![ChangingCall { id: String::new(), name: by.to_owned() }];
        let mut set = ChangeSet::new(calls, changes);
        set.head = self.head();
        self.record(set, session, Vec::new()).map(Some)
    }

    /// The data of an entry, which has power here from now on.
    pub(crate) fn record(&self, set: ChangeSet, session: &str, claims: Vec<ClaimedChange>) -> FilesResult<String> {
        let data = set.into_data(&self.store, self.limits.changes)?;
        let digest = ChangeSet::read(&data)?.digest()?;
        self.log.append(&LogLine::Recorded { digest, session: session.to_owned(), claims })?;
        Ok(data)
    }

    /// The texts of two states of a file, if the store has them; `None` if one is not text, or is too long to compare.
    #[must_use]
    pub fn stored_texts(&self, before: &FileState, after: &FileState) -> Option<(String, String)> {
        let text = |state: &FileState| match state {
            FileState::Absent => Some(String::new()),
            FileState::File { hash, .. } => text_of(self.store.get(hash).ok()?),
            FileState::Link { .. } | FileState::NotCovered { .. } => None,
        };
        Some((text(before)?, text(after)?))
    }

    fn restores<'a>(&'a self, journal: &'a Path) -> RestorePlace<'a> {
        RestorePlace { folder: &self.folder, store: &self.store, journal }
    }

    /// Makes a restore ready: from now on it can be done whole. Nothing of the person's has changed yet.
    ///
    /// # Errors
    /// The disk is full, the folder cannot be written, or a file has just been changed: then nothing is left.
    pub fn begin(&self, plan: RestorePlan, of: RestoreFor) -> FilesResult<BegunRestore> {
        self.make()?;
        self.restores(&journal_path(&self.data)).begin(plan, of).map(BegunRestore)
    }

    /// Does it.
    ///
    /// # Errors
    /// The journal cannot be written: the next program completes it.
    pub fn finish(&self, begun: BegunRestore) -> FilesResult<RestoreReport> {
        let at = begun.0.of().entry.clone();
        self.finish_at(begun, &at)
    }

    /// The same where an entry was appended that records it: the files are at that one then.
    ///
    /// # Errors
    /// As [`Workspace::finish`].
    #[expect(clippy::needless_pass_by_value, reason = "it is over, and its lock is free")]
    pub fn finish_at(&self, begun: BegunRestore, at: &str) -> FilesResult<RestoreReport> {
        let session = begun.0.of().session.clone();
        self.restores(&journal_path(&self.data)).finish(&begun.0, || self.set_position(&session, at))
    }

    /// Takes it back.
    ///
    /// # Errors
    /// What was made ready cannot be removed.
    #[expect(clippy::needless_pass_by_value, reason = "it is over, and its lock is free")]
    pub fn abandon(&self, begun: BegunRestore) -> FilesResult<()> {
        self.restores(&journal_path(&self.data)).abandon(&begun.0)
    }

    /// Whether a program that was killed may have left half a restore.
    #[must_use]
    pub fn has_rest(&self) -> bool {
        journal_path(&self.data).exists()
    }

    /// Forgets a restore that a killed program has left, of a folder that was made anew since: nothing of it is there.
    ///
    /// # Errors
    /// Another program restores files of the folder; the journal cannot be removed.
    pub fn forget_rest(&self) -> FilesResult<()> {
        self.restores(&journal_path(&self.data)).forget()
    }

    /// Completes or takes back what a killed program has left. `moved_to` says at which entry the files are if the session has moved for
    /// it. Returns the restore, and what it did if it was completed.
    ///
    /// # Errors
    /// The journal or a file cannot be read or written.
    pub fn recover(
        &self,
        moved_to: impl FnOnce(&RestoreFor) -> Option<String>,
    ) -> FilesResult<Option<(RestoreFor, Option<RestoreReport>)>> {
        let settle = |of: &RestoreFor, at: &str| self.set_position(&of.session, at);
        self.restores(&journal_path(&self.data)).recover(moved_to, settle)
    }
}
