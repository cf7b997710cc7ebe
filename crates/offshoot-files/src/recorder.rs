//! Which files the calls of a batch change: what is there before the first of them runs, and after the last has ended.
//!
//! Knows calls by their ids, and no session: the files that an entry expects are given, and the data of the new entry is returned.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use offshoot_session::clock::Clock;
use offshoot_session::medium::real_path_or_same;

use crate::changes::{ChangeSet, ChangedBy, ChangingCall, FileChange};
use crate::error::FilesResult;
use crate::git_keeper::GitKeeper;
use crate::record_log::ClaimedChange;
use crate::rel_path::RelPath;
use crate::route::fold;
use crate::scan::{GitContents, Scanner, Snapshot};
use crate::seen_file::{read_seen, write_seen};
use crate::state::FileState;
use crate::store::StoreSize;
use crate::workspace::Workspace;

/// The most changes that are named to other sessions.
const MOST_CLAIMS: usize = 1000;

/// Records the changes of one session in a workspace.
pub struct Recorder {
    workspace: Workspace,
    session: String,
    clock: Arc<dyn Clock + Sync>,
    /// Folders that are never looked at.
    never: Vec<PathBuf>,
    /// The folder of the session's file.
    sessions: Option<PathBuf>,
    /// Held while files are read, which takes seconds in large folders. The state is locked for moments only.
    reading: Mutex<()>,
    state: Mutex<RecorderState>,
}

#[derive(Default)]
struct RecorderState {
    /// The newest look at all files.
    seen: Option<Arc<Snapshot>>,
    batches: BTreeMap<u64, OpenBatch>,
    begun: u64,
    /// What had to go because the store was too large.
    shrunk: StoreSize,
    /// Whether the caller knows that the folder is beyond its bounds.
    is_partial_told: bool,
    /// Where the log ended when the newest look at all files became that of an entry. A later line says that files were brought since.
    looked_log: u64,
    /// The files at the entry that was recorded last, with its id.
    known: Option<(String, BTreeMap<RelPath, FileState>)>,
}

#[derive(Default)]
struct OpenBatch {
    calls: Vec<ChangingCall>,
    /// All files before the first call that may change any.
    before: Option<Arc<Snapshot>>,
    /// Files that calls named, before the first of these.
    named: BTreeMap<RelPath, FileState>,
    /// What other batches have changed meanwhile.
    others: BTreeMap<RelPath, FileState>,
    /// Where the log ended.
    log_from: u64,
    beside: RanBeside,
}

/// What ran beside the conversation since the last batch, and the files as that one left them.
#[derive(Debug, Clone, Default)]
struct RanBeside {
    calls: Vec<ChangingCall>,
    since: Option<Arc<Snapshot>>,
}

/// Calls that run beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct BatchId(u64);

/// What a batch has changed.
#[derive(Debug, Clone, Default)]
pub struct BatchChanges {
    calls: Vec<ChangingCall>,
    changes: Vec<FileChange>,
    /// What was there before, of all files that are known.
    before: Option<Arc<Snapshot>>,
    named: BTreeMap<RelPath, FileState>,
    beside: RanBeside,
    /// What changed while something ran beside the conversation, before the first call: what was there, and what is.
    between: BTreeMap<RelPath, (FileState, FileState)>,
    is_partial: bool,
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder")
            .field("root", &self.workspace.root())
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

impl Recorder {
    /// A recorder. Nothing is read or written before the first call.
    #[must_use]
    pub fn new(workspace: Workspace, session: &str, clock: Arc<dyn Clock + Sync>, never: &[PathBuf]) -> Self {
        let never = never.iter().map(|folder| real_path_or_same(folder)).collect();
        Self {
            workspace,
            session: session.to_owned(),
            clock,
            never,
            sessions: None,
            reading: Mutex::default(),
            state: Mutex::default(),
        }
    }

    /// The same for a session in this file. Files of sessions in its folder are never touched.
    #[must_use]
    pub fn in_file(self, session: &Path) -> Self {
        Self { sessions: session.parent().map(real_path_or_same), ..self }
    }

    /// The workspace.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session
    }

    fn state(&self) -> MutexGuard<'_, RecorderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until nobody else reads files.
    fn reading(&self) -> MutexGuard<'_, ()> {
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn scanner(&self) -> Scanner<'_> {
        let Workspace { folder, store, limits, keys, .. } = &self.workspace;
        Scanner { folder, store, limits, never: &self.never, sessions: self.sessions.as_deref(), keys, git: None }
    }

    /// Begins a batch. Does not wait while files are read.
    pub fn begin(&self) -> BatchId {
        self.begin_beside(Vec::new())
    }

    /// The same where these commands ran in the background since the last batch: what changed meanwhile counts as theirs.
    pub fn begin_beside(&self, calls: Vec<ChangingCall>) -> BatchId {
        let beside = RanBeside { calls, since: None };
        let mut state = self.state();
        state.begun += 1;
        let id = state.begun;
        state.batches.insert(id, OpenBatch { log_from: self.workspace.log.length(), beside, ..OpenBatch::default() });
        BatchId(id)
    }

    /// Before a call runs that changes the file of this path alone.
    ///
    /// # Errors
    /// The file cannot be read, or the store not be written.
    pub fn before_change_of(&self, batch: BatchId, call: ChangingCall, path: &Path) -> FilesResult<()> {
        let Some(path) = self.path_of(path) else { return Ok(()) };
        self.workspace.make()?;
        let _reading = self.reading();
        let is_named = |open: &OpenBatch| open.named.contains_key(&path);
        let Some(is_known) = self.state().batches.get(&batch.0).map(is_named) else { return Ok(()) };
        let found = if is_known { None } else { Some(self.scanner().look(&path)?.unwrap_or_default()) };
        let mut state = self.state();
        let Some(open) = state.batches.get_mut(&batch.0) else { return Ok(()) };
        open.calls.push(call);
        if let Some(found) = found {
            open.others.remove(&path);
            open.named.insert(path, found);
        }
        Ok(())
    }

    /// The path below the workspace's folder, without links.
    fn path_of(&self, path: &Path) -> Option<RelPath> {
        let real = real_path_or_same(path);
        RelPath::below(self.workspace.root(), &real)
    }

    /// Before a call runs that may change any file. It waits until all files are known.
    ///
    /// # Errors
    /// The files cannot be read, or the store not be written.
    pub fn before_any_change(&self, batch: BatchId, call: ChangingCall) -> FilesResult<()> {
        self.look_before(batch)?;
        if let Some(open) = self.state().batches.get_mut(&batch.0) {
            open.calls.push(call);
        }
        Ok(())
    }

    /// Looks at all files for a batch, if it has not.
    ///
    /// # Errors
    /// The files cannot be read, or the store not be written.
    pub fn look_before(&self, batch: BatchId) -> FilesResult<()> {
        self.workspace.make()?;
        let _reading = self.reading();
        let since = self.newest_look();
        let is_known = self.state().batches.get(&batch.0).is_none_or(|open| open.before.is_some());
        let seen = if is_known { None } else { Some(self.look_at_all()?) };
        let mut state = self.state();
        let Some(open) = state.batches.get_mut(&batch.0) else { return Ok(()) };
        if let Some(seen) = seen {
            open.before = Some(seen);
            // What others had changed before is in it.
            open.others.clear();
            if !open.beside.calls.is_empty() {
                open.beside.since = since;
            }
        }
        Ok(())
    }

    /// The newest look at all files, unless files were brought from another entry since, or another session changed some.
    fn newest_look(&self) -> Option<Arc<Snapshot>> {
        let (seen, from) = {
            let state = self.state();
            (state.seen.clone(), state.looked_log)
        };
        seen.filter(|seen| !seen.is_beyond && self.workspace.log.read(from).lines.is_empty())
    }

    /// Looks at all files before anybody waits for it, if nobody has.
    ///
    /// # Errors
    /// The files cannot be read, or the store not be written.
    pub fn make_ready(&self) -> FilesResult<()> {
        self.workspace.make()?;
        let _reading = self.reading();
        let is_known = self.state().seen.is_some();
        if is_known { Ok(()) } else { self.look_at_all().map(drop) }
    }

    /// Whether the folder is beyond its bounds, so that only files that tools name are recorded. Returns true once.
    pub fn take_partial(&self) -> bool {
        let mut state = self.state();
        let is_partial = state.seen.as_ref().is_some_and(|seen| seen.is_beyond);
        is_partial && !std::mem::replace(&mut state.is_partial_told, true)
    }

    /// What went since the last time because the store was too large: the oldest contents.
    pub fn take_shrunk(&self) -> Option<StoreSize> {
        Some(std::mem::take(&mut self.state().shrunk)).filter(|shrunk| shrunk.contents > 0)
    }

    /// The caller keeps others from reading files.
    fn look_at_all(&self) -> FilesResult<Arc<Snapshot>> {
        let kept = self.workspace.seen_path();
        let known = self.state().seen.clone();
        let is_first = known.is_none();
        let before = known.unwrap_or_else(|| Arc::new(read_seen(&kept, &self.workspace.store)));
        let seen = match before.is_beyond {
            // It would be beyond the bounds again.
            true => before,
            false if is_first => {
                let git = GitContents::open(self.workspace.root(), self.workspace.limits.file);
                Arc::new(Scanner { git: git.as_ref(), ..self.scanner() }.scan(&before, self.clock.now())?)
            }
            false => Arc::new(self.scanner().scan(&before, self.clock.now())?),
        };
        let mut shrunk = StoreSize::default();
        if is_first && seen.read > 0 {
            write_seen(&kept, &seen);
            shrunk = self.workspace.shrink(&seen, self.clock.now())?;
        }
        let mut state = self.state();
        if is_first {
            state.shrunk = shrunk;
        }
        state.seen = Some(Arc::clone(&seen));
        Ok(seen)
    }

    /// Forgets a batch.
    pub fn drop_batch(&self, batch: BatchId) {
        self.state().batches.remove(&batch.0);
    }

    /// After the last call of a batch: what changed; `None` if nothing did.
    ///
    /// # Errors
    /// The files cannot be read, or the store not be written.
    pub fn end(&self, batch: BatchId) -> FilesResult<Option<BatchChanges>> {
        let _reading = self.reading();
        let Some(open) = self.state().batches.remove(&batch.0) else { return Ok(None) };
        let OpenBatch { calls, before, named, others, log_from, beside } = open;
        let mut after = BTreeMap::new();
        let all = before.as_ref().filter(|before| !before.is_beyond);
        if let Some(before) = all {
            let now = self.look_at_all()?;
            after = differing(before, &now);
        }
        for path in named.keys() {
            let now = self.scanner().look(path)?.unwrap_or_default();
            after.insert(path.clone(), now);
        }
        let elsewhere = self.workspace.log.read(log_from);
        let claims: BTreeMap<_, _> = elsewhere.claims(&self.session).map(|claim| (&claim.path, &claim.after)).collect();
        let keeper = GitKeeper::new(&self.workspace, all.map(|all| &**all));
        let mut changes = Vec::new();
        for (path, after) in after {
            // What another session left there was there before.
            let known = claims.get(&path).map(|state| (*state).clone()).or_else(|| others.get(&path).cloned());
            let known = known.or_else(|| named.get(&path).cloned());
            let before = known.unwrap_or_else(|| all.map(|before| before.state(&path)).unwrap_or_default());
            if before != after {
                let before = keeper.keep(&path, before)?;
                changes.push(FileChange { path, by: ChangedBy::Calls, before, after });
            }
        }
        for open in self.state().batches.values_mut() {
            open.others.extend(changes.iter().map(|change| (change.path.clone(), change.after.clone())));
        }
        let mut between = BTreeMap::new();
        if let (Some(since), Some(all)) = (&beside.since, all) {
            let keeper = GitKeeper::new(&self.workspace, Some(since));
            for (path, now) in differing(since, all) {
                let was = keeper.keep(&path, since.state(&path))?;
                between.insert(path, (was, now));
            }
        }
        self.state().looked_log = self.workspace.log.length();
        if changes.is_empty() && between.is_empty() {
            return Ok(None);
        }
        let is_partial = before.as_ref().is_some_and(|before| before.is_beyond);
        Ok(Some(BatchChanges { calls, changes, before, named, beside, between, is_partial }))
    }

    /// The data of the entry `offshoot.files` that says so. `expected` are the files at the entry below which it comes: what
    /// differed before the calls ran was changed by somebody else.
    ///
    /// # Errors
    /// The store or the log cannot be written.
    pub fn compose(&self, batch: BatchChanges, expected: &BTreeMap<RelPath, FileState>) -> FilesResult<String> {
        let BatchChanges { mut calls, changes, before, named, beside, mut between, is_partial } = batch;
        let was = |path: &RelPath| match (named.get(path), &before) {
            (Some(state), _) => Some(state.clone()),
            (None, Some(before)) if !before.is_beyond => Some(before.state(path)),
            (None, _) => None,
        };
        let keeper = GitKeeper::new(&self.workspace, before.as_deref());
        let mut all = Vec::new();
        for (path, expected) in expected {
            let Some(was) = was(path).filter(|was| was != expected) else { continue };
            let after = keeper.keep(path, was)?;
            if beside.calls.is_empty() {
                let before = expected.clone();
                all.push(FileChange { path: path.clone(), by: ChangedBy::Foreign, before, after });
            } else {
                between.insert(path.clone(), (expected.clone(), after));
            }
        }
        // Nothing but what the entry says already.
        between.retain(|path, (_, after)| expected.get(path) != Some(after));
        if !between.is_empty() {
            calls.extend(beside.calls);
        }
        let mut owned: BTreeMap<RelPath, FileChange> = BTreeMap::new();
        for (path, (before, after)) in between {
            let after = keeper.keep(&path, after)?;
            owned.insert(path.clone(), FileChange { path, by: ChangedBy::Calls, before, after });
        }
        for mut change in changes {
            // What the background made of it first, and then the call.
            if let Some(FileChange { before, .. }) = owned.remove(&change.path) {
                change.before = before;
            }
            owned.insert(change.path.clone(), change);
        }
        let changes: Vec<FileChange> = owned.into_values().filter(|change| change.before != change.after).collect();
        let claims = changes.iter().take(MOST_CLAIMS);
        let claims = claims.map(|change| ClaimedChange { path: change.path.clone(), after: change.after.clone() });
        let claims: Vec<_> = claims.collect();
        all.extend(changes);
        let mut set = ChangeSet::new(calls, all);
        set.head = self.workspace.head();
        set.is_partial = is_partial;
        self.workspace.record(set, &self.session, claims)
    }

    /// The entry whose files are known.
    #[must_use]
    pub fn known_at(&self) -> Option<String> {
        self.state().known.as_ref().map(|(entry, _)| entry.clone())
    }

    /// The files at an entry, from the data of the entries that record files: those since the known one, if the path has it, or
    /// all of the path.
    #[must_use]
    pub fn expected(&self, is_since_known: bool, datas: &[String]) -> BTreeMap<RelPath, FileState> {
        let known = self.state().known.as_ref().map(|(_, files)| files.clone());
        let mut files = known.filter(|_| is_since_known).unwrap_or_default();
        files.extend(fold(self.workspace.way(&[], datas).way.down));
        files
    }

    /// The entry with this data is in the session: the files are as there.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn recorded(&self, entry: &str, data: &str, mut expected: BTreeMap<RelPath, FileState>) -> FilesResult<()> {
        let changes = ChangeSet::read(data)?.all(&self.workspace.store)?;
        expected.extend(fold([changes]));
        self.state().known = Some((entry.to_owned(), expected));
        let is_set = self.workspace.set_position(&self.session, entry);
        self.state().looked_log = self.workspace.log.length();
        is_set
    }
}

/// What differs between two moments, with what is there at the second.
fn differing(before: &Snapshot, now: &Snapshot) -> BTreeMap<RelPath, FileState> {
    let mut differing = BTreeMap::new();
    let (mut old, mut new) = (before.files.iter().peekable(), now.files.iter().peekable());
    loop {
        let order = match (old.peek(), new.peek()) {
            (None, None) => return differing,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some(one), Some(other)) => one.path.cmp(&other.path),
        };
        let (gone, come) = match order {
            std::cmp::Ordering::Less => (old.next(), None),
            std::cmp::Ordering::Equal => (old.next(), new.next()),
            std::cmp::Ordering::Greater => (None, new.next()),
        };
        match (gone, come) {
            (Some(gone), Some(come)) if Arc::ptr_eq(gone, come) || gone.state == come.state => {}
            (_, Some(come)) => drop(differing.insert(come.path.clone(), come.state.clone())),
            (Some(gone), None) => drop(differing.insert(gone.path.clone(), FileState::Absent)),
            (None, None) => {}
        }
    }
}
