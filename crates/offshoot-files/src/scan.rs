//! All files of a workspace that are covered, with what each holds. A file is read again only if its stamp changed.
//!
//! Owns which files are left out: what git's rules and `.offshootignore` name, folders of git, files of keys.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::{DirEntry, WalkBuilder, WalkState};
use offshoot_session::clock::Millis;
use offshoot_session::medium::Stamp;
use offshoot_session::path_words::path_words;
use rustix::fs::{AtFlags, Mode, OFlags, Stat};

use crate::content::ContentHash;
use crate::error::{FilesResult, io_error};
use crate::folder::{Folder, SCRATCH, WRITE_SCRATCH};
use crate::git_id::GitId;
use crate::git_objects::{GitIndex, GitObjects};
use crate::limits::FileLimits;
use crate::rel_path::RelPath;
use crate::state::FileState;
use crate::store::ContentStore;

/// A file with rules of a workspace's own.
const OWN_RULES: &str = ".offshootignore";
/// `ignore` reads these whole. A larger one, or one that is not a regular file, might never end.
const RULES: [&str; 5] = [".gitignore", OWN_RULES, ".git/info/exclude", ".ignore", ".fdignore"];
/// How many of them a scan reads.
const SCANNED_RULES: usize = 3;
const LONGEST_RULES: u64 = 1 << 20;

/// Threads that read files, and how many files are worth one.
const READERS: usize = 4;
const FEW: usize = 200;

/// Files of this kind are kept out of the store, whatever is in them.
const KEY_NAMES: [&str; 10] = [
    ".env",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    "auth.json",
    "credentials",
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
];
const KEY_ENDS: [&str; 5] = [".pem", ".key", ".p12", ".pfx", ".keystore"];

/// Why a session's file is not covered.
const SESSION: &str = "it is a session";
/// Why a file of keys is not covered.
const KEYS: &str = "files of this name hold keys";
/// Why a file with a known key is not covered.
pub(crate) const HAS_KEY: &str = "it has a key in it";

/// A file as it was seen last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SeenFile {
    pub(crate) path: RelPath,
    pub(crate) stamp: Stamp,
    pub(crate) mode: u32,
    /// Whether every later change changes the stamp.
    pub(crate) is_settled: bool,
    pub(crate) state: FileState,
    /// The object that has its content, if git has it and the store need not.
    pub(crate) git: Option<GitId>,
}

impl SeenFile {
    /// Its content, if only git has it.
    fn known_to_git(&self) -> Option<(ContentHash, GitId)> {
        self.state.hash().copied().zip(self.git)
    }
}

/// A file to read, and how it was seen before.
type UnreadFile<'a> = (MetFile, Option<&'a Arc<SeenFile>>);

/// The files of a workspace at one moment, sorted by path.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    pub(crate) files: Vec<Arc<SeenFile>>,
    /// There are too many files, or too many bytes: only those that tools name are covered.
    pub(crate) is_beyond: bool,
    /// How many files were read for it.
    pub(crate) read: usize,
}

impl Snapshot {
    pub(crate) fn seen(&self, path: &RelPath) -> Option<&SeenFile> {
        let at = self.files.binary_search_by(|file| file.path.cmp(path)).ok()?;
        self.files.get(at).map(|file| &**file)
    }

    pub(crate) fn state(&self, path: &RelPath) -> FileState {
        self.seen(path).map_or(FileState::Absent, |file| file.state.clone())
    }
}

/// What git has of a folder.
#[derive(Debug)]
pub(crate) struct GitContents {
    index: GitIndex,
    objects: GitObjects,
}

impl GitContents {
    /// `None` outside of git.
    pub(crate) fn open(root: &Path, limit: u64) -> Option<Self> {
        Some(Self { objects: GitObjects::open(root, limit)?, index: GitIndex::read(root) })
    }

    fn tracks(&self, path: &RelPath) -> bool {
        self.index.id(&path.to_path()).is_some()
    }

    /// The object that is this content of a file, byte for byte.
    fn id_of(&self, path: &RelPath, content: &[u8]) -> Option<GitId> {
        let id = self.index.id(&path.to_path())?;
        (self.index.id_of(content) == id && self.objects.has(&id)).then_some(id)
    }
}

/// Whether a content has a key in it.
type HasKey = dyn Fn(&[u8]) -> bool + Send + Sync;

/// Says of a content whether it has a key in it.
#[derive(Clone)]
pub(crate) struct KeyCheck(pub(crate) Arc<HasKey>);

impl Default for KeyCheck {
    fn default() -> Self {
        Self(Arc::new(|_| false))
    }
}

impl std::fmt::Debug for KeyCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyCheck")
    }
}

/// What a scan works with.
#[derive(Debug)]
pub(crate) struct Scanner<'a> {
    pub(crate) folder: &'a Folder,
    pub(crate) store: &'a ContentStore,
    pub(crate) limits: &'a FileLimits,
    /// Folders below the workspace that are never looked at, such as the data of offshoot.
    pub(crate) never: &'a [PathBuf],
    /// The folder of the session's file: no file of a session is touched.
    pub(crate) sessions: Option<&'a Path>,
    /// A content that has a key is not stored.
    pub(crate) keys: &'a KeyCheck,
    /// What need not be stored by a scan.
    pub(crate) git: Option<&'a GitContents>,
}

/// What one scan has stored.
#[derive(Debug, Default)]
struct StoredByScan {
    bytes: AtomicU64,
    is_beyond: AtomicBool,
}

/// A file that was met on the way.
struct MetFile {
    path: RelPath,
    stamp: Stamp,
    mode: u32,
}

/// Whether a file of this name holds keys.
#[must_use]
pub(crate) fn is_key_file(path: &RelPath) -> bool {
    let name = path.as_str().rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    KEY_NAMES.contains(&name.as_str()) || KEY_ENDS.iter().any(|end| name.ends_with(end)) || name.starts_with(".env.")
}

/// Whether a path is a session's file, or one that is made beside it.
fn is_session(sessions: Option<&Path>, path: &Path) -> bool {
    let is_named = || path.file_name().is_some_and(|name| name.to_string_lossy().contains(".jsonl"));
    sessions.is_some() && path.parent() == sessions && is_named()
}

/// Whether the files with ignore rules in a folder can be read to their end.
#[must_use]
pub fn has_sound_rules(folder: &Path) -> bool {
    are_sound(folder, &RULES)
}

fn are_sound(folder: &Path, rules: &[&str]) -> bool {
    rules.iter().all(|name| match std::fs::metadata(folder.join(name)) {
        Ok(rules) => rules.is_dir() || (rules.is_file() && rules.len() <= LONGEST_RULES),
        Err(_) => true,
    })
}

impl Scanner<'_> {
    /// Looks at every file. What is new is stored.
    pub(crate) fn scan(&self, before: &Snapshot, now: Millis) -> FilesResult<Snapshot> {
        let Some(met) = self.walk() else { return Ok(Snapshot { is_beyond: true, ..Snapshot::default() }) };
        let mut known = before.files.iter().peekable();
        let (mut files, mut unread, mut bytes, mut fresh) = (Vec::with_capacity(met.len()), Vec::new(), 0, 0);
        for file in met {
            while known.next_if(|seen| seen.path < file.path).is_some() {}
            let seen = known.next_if(|seen| seen.path == file.path);
            let same = seen.filter(|seen| seen.is_settled && seen.stamp == file.stamp && seen.mode == file.mode);
            if let Some(seen) = same {
                files.push(Arc::clone(seen));
                continue;
            }
            let length = if file.stamp.length > self.limits.file { 0 } else { file.stamp.length };
            bytes += length;
            // A file that git tracks may not have to be stored.
            let is_gits = seen.is_some_and(|seen| seen.git.is_some());
            if !is_gits && !self.git.is_some_and(|git| git.tracks(&file.path)) {
                fresh += length;
            }
            unread.push((file, seen));
        }
        let beyond = || Snapshot { is_beyond: true, ..Snapshot::default() };
        if bytes > self.limits.read || fresh > self.limits.stored {
            return Ok(beyond());
        }
        let (read, stored) = (unread.len(), StoredByScan::default());
        let parts = match read <= FEW {
            true => vec![self.read_all(&unread, now, &stored)],
            false => std::thread::scope(|scope| {
                let parts = unread.chunks(read.div_ceil(READERS));
                let parts: Vec<_> = parts.map(|part| scope.spawn(|| self.read_all(part, now, &stored))).collect();
                // A panic there is nobody's result.
                parts.into_iter().map(|part| part.join().unwrap_or_else(|_| Ok(Vec::new()))).collect()
            }),
        };
        if stored.is_beyond.load(Ordering::Relaxed) {
            return Ok(beyond());
        }
        for part in parts {
            files.extend(part?.into_iter().map(Arc::new));
        }
        files.sort_unstable_by(|one: &Arc<SeenFile>, other| one.path.cmp(&other.path));
        Ok(Snapshot { files, is_beyond: false, read })
    }

    /// Reads some files; stops if too much is stored.
    fn read_all(&self, part: &[UnreadFile<'_>], now: Millis, stored: &StoredByScan) -> FilesResult<Vec<SeenFile>> {
        let mut files = Vec::with_capacity(part.len());
        for (MetFile { path, stamp, mode }, seen) in part {
            let Some((state, git)) = self.look_with(path, seen.and_then(|seen| seen.known_to_git()))? else { continue };
            if git.is_none() && state.hash().is_some() {
                let bytes = stored.bytes.fetch_add(stamp.length, Ordering::Relaxed) + stamp.length;
                if bytes > self.limits.stored {
                    stored.is_beyond.store(true, Ordering::Relaxed);
                }
            }
            if stored.is_beyond.load(Ordering::Relaxed) {
                return Ok(Vec::new());
            }
            let (path, stamp, mode) = (path.clone(), *stamp, *mode);
            files.push(SeenFile { path, stamp, mode, is_settled: stamp.is_settled(now), state, git });
        }
        Ok(files)
    }

    /// What a path holds now; a content is stored. `None` if nothing is there.
    pub(crate) fn look(&self, path: &RelPath) -> FilesResult<Option<FileState>> {
        let always = Self { git: None, ..*self };
        Ok(always.look_with(path, None)?.map(|(state, _)| state))
    }

    /// The same. A content that git has is not stored.
    fn look_with(
        &self,
        path: &RelPath,
        known: Option<(ContentHash, GitId)>,
    ) -> FilesResult<Option<(FileState, Option<GitId>)>> {
        if is_key_file(path) {
            return Ok(Some((FileState::not_covered(KEYS), None)));
        }
        let whole = self.folder.path.join(path.to_path());
        if is_session(self.sessions, &whole) {
            return Ok(Some((FileState::not_covered(SESSION), None)));
        }
        let found = self.folder.read(path).map_err(io_error("read", &whole))?;
        if let Some(bytes) = &found.bytes {
            if (self.keys.0)(bytes) {
                return Ok(Some((FileState::not_covered(HAS_KEY), None)));
            }
            let known = known.filter(|(hash, _)| found.state.hash() == Some(hash)).map(|(_, id)| id);
            if let Some(id) = known.or_else(|| self.git.and_then(|git| git.id_of(path, bytes))) {
                return Ok(Some((found.state, Some(id))));
            }
            self.store.put(bytes)?;
        }
        Ok(Some((found.state, None)).filter(|(state, _)| *state != FileState::Absent))
    }

    /// Every file and link; `None` if there are too many.
    fn walk(&self) -> Option<Vec<MetFile>> {
        let root = self.folder.path.as_path();
        let mut builder = WalkBuilder::new(root);
        builder.hidden(false).ignore(false).follow_links(false).threads(2);
        builder.require_git(root.ancestors().any(|folder| folder.join(".git").exists()));
        builder.add_custom_ignore_filename(OWN_RULES);
        if !root.ancestors().all(has_sound_rules) {
            builder.git_ignore(false).git_exclude(false).parents(false);
        }
        let never = self.never.to_vec();
        let (scanned, _) = RULES.split_at(SCANNED_RULES);
        let (most, sessions, count) = (self.limits.files, self.sessions.map(Path::to_path_buf), AtomicUsize::new(0));
        let above = root.to_path_buf();
        // Files are met here and go no further: that spares each of them the way through the queue of folders.
        builder.filter_entry(move |entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let is_git = || entry.file_name().to_str().is_some_and(|name| name.eq_ignore_ascii_case(".git"));
            if entry.depth() == 0 {
                return true;
            }
            // One more than there may be shows that there are too many.
            if count.load(Ordering::Relaxed) > most {
                return false;
            }
            if is_folder {
                let is_never = || never.iter().any(|own| own == entry.path());
                return !is_git() && !is_never() && are_sound(entry.path(), scanned);
            }
            if !is_git()
                && !is_session(sessions.as_deref(), entry.path())
                && MET.with_borrow_mut(|met| met.meet(&above, entry))
            {
                count.fetch_add(1, Ordering::Relaxed);
            }
            false
        });
        let met = Arc::new(Mutex::new(Vec::new()));
        builder.build_parallel().run(|| {
            let own = ThreadEnd { all: Arc::clone(&met) };
            Box::new(move |_| {
                // Its end is the end of this thread.
                let _held = &own;
                WalkState::Continue
            })
        });
        let mut all = std::mem::take(&mut *met.lock().unwrap_or_else(PoisonError::into_inner));
        if all.len() > most {
            return None;
        }
        // Each thread has sorted its own: a stable sort finds these runs.
        all.sort_by(|one: &MetFile, other| one.path.cmp(&other.path));
        Some(all)
    }
}

thread_local! {
    static MET: RefCell<MetFiles> = RefCell::default();
}

/// The files that one thread has met.
#[derive(Default)]
struct MetFiles {
    files: Vec<MetFile>,
    /// The folder of the last one, open: names in it are looked up there.
    folder: Option<(Vec<u8>, OwnedFd)>,
}

/// Collects what a thread has met when it ends.
struct ThreadEnd {
    all: Arc<Mutex<Vec<MetFile>>>,
}

impl Drop for ThreadEnd {
    fn drop(&mut self) {
        let MetFiles { mut files, .. } = MET.take();
        files.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        self.all.lock().unwrap_or_else(PoisonError::into_inner).append(&mut files);
    }
}

impl MetFiles {
    /// Adds what is met if it is a file or a link that is recorded.
    fn meet(&mut self, root: &Path, entry: &DirEntry) -> bool {
        let file = self.met_file(root.as_os_str().as_bytes(), entry);
        let is_met = file.is_some();
        self.files.extend(file);
        is_met
    }

    fn met_file(&mut self, root: &[u8], entry: &DirEntry) -> Option<MetFile> {
        let name = entry.file_name();
        let is_scratch = |start: &str| name.as_bytes().starts_with(start.as_bytes());
        if entry.file_type()?.is_dir() || is_scratch(SCRATCH) || is_scratch(WRITE_SCRATCH) {
            return None;
        }
        let whole = entry.path().as_os_str().as_bytes();
        let below = whole.strip_prefix(root)?;
        let below = below.strip_prefix(b"/").unwrap_or(below);
        let path = RelPath::try_from(path_words(OsStr::from_bytes(below))).ok()?;
        let above = whole.strip_suffix(name.as_bytes())?;
        let folder = match &mut self.folder {
            Some((known, folder)) if known == above => folder,
            last => {
                let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
                let opened = rustix::fs::open(OsStr::from_bytes(above), flags, Mode::empty()).ok()?;
                &mut last.insert((above.to_owned(), opened)).1
            }
        };
        let meta = rustix::fs::statat(&*folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(MetFile { path, stamp: stamp_of(&meta), mode: number(meta.st_mode) })
    }
}

/// Systems have these numbers in different sizes.
fn number<Given, Wanted: TryFrom<Given> + Default>(given: Given) -> Wanted {
    Wanted::try_from(given).unwrap_or_default()
}

fn stamp_of(meta: &Stat) -> Stamp {
    let nanos = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
    Stamp {
        device: number(meta.st_dev),
        inode: number(meta.st_ino),
        length: number(meta.st_size),
        modified: nanos(number(meta.st_mtime), number(meta.st_mtime_nsec)),
        changed: nanos(number(meta.st_ctime), number(meta.st_ctime_nsec)),
    }
}
