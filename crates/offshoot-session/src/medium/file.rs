//! A session file, opened for reading and reopened for appending at the first append.

use std::fs::{File, Metadata, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::ahead::Ahead;
use super::holders::holders;
use super::regular::{create_regular, open_regular, open_regular_to_append};
use super::{Medium, MediumState};
use crate::clock::Millis;
use crate::error::Held;

/// The first and the longest pause while another program holds the lock.
const PAUSES: (Duration, Duration) = (Duration::from_micros(50), Duration::from_millis(10));
/// The system's errors on file systems without locks: `ENOLCK`, `EOPNOTSUPP`, `ENOSYS`.
const NO_LOCKS: [i32; 3] = if cfg!(target_os = "linux") { [37, 95, 38] } else { [77, 45, 78] };

/// A file on disk. Opening never writes.
#[derive(Debug)]
pub struct FileMedium {
    path: PathBuf,
    reader: File,
    writer: Option<File>,
    ahead: Ahead,
    patience: Duration,
    /// Held while the reader's cursor moves; nothing else uses the cursor.
    cursor: Arc<Mutex<()>>,
}

/// Identifies a file and its last write, to recognise it later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the other fields say what they are")]
pub struct Identity {
    pub device: u64,
    pub inode: u64,
    /// The last write, in nanoseconds since 1970.
    pub modified: u64,
}

/// The state of a file. While the stamp is the same, so are the bytes (but see [`Stamp::is_settled`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the other fields say what they are")]
pub struct Stamp {
    pub device: u64,
    pub inode: u64,
    /// In bytes.
    pub length: u64,
    /// The last write, in nanoseconds since 1970.
    pub modified: i64,
    /// The last change of any kind, in nanoseconds since 1970. Programs cannot set it.
    pub changed: i64,
}

impl Stamp {
    /// The stamp in a file's metadata.
    pub fn of(meta: &Metadata) -> Self {
        let nanos = |seconds: i64, nanos: i64| seconds.saturating_mul(1_000_000_000).saturating_add(nanos);
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            length: meta.len(),
            modified: nanos(meta.mtime(), meta.mtime_nsec()),
            changed: nanos(meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// The time of the last write; `None` before 1970.
    pub fn modified_at(&self) -> Option<Millis> {
        (self.modified >= 0).then_some(self.modified / 1_000_000)
    }

    /// Whether every later change will change the stamp. Systems keep time in ticks of some milliseconds, some file
    /// systems in seconds, and a file that changed in this tick can change again in it.
    pub fn is_settled(&self, now: Millis) -> bool {
        now.saturating_sub(self.changed.max(self.modified) / 1_000_000) > 3000
    }
}

impl FileMedium {
    /// How long to wait for a lock by default.
    pub const PATIENCE: Duration = Duration::from_secs(10);

    /// The stamp of the open file.
    pub fn stamp(&self) -> io::Result<Stamp> {
        Ok(Stamp::of(&self.reader.metadata()?))
    }

    /// The identity of the open file.
    pub fn identity(&self) -> io::Result<Identity> {
        let meta = self.reader.metadata()?;
        let modified = meta.mtime().wrapping_mul(1_000_000_000).wrapping_add(meta.mtime_nsec());
        Ok(Identity { device: meta.dev(), inode: meta.ino(), modified: modified.cast_unsigned() })
    }

    /// Opens an existing regular file for reading.
    ///
    /// # Errors
    /// Those of [`open_regular`].
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self::new(path, open_regular(path)?, None))
    }

    /// Creates a file that must not exist, readable by its owner only.
    ///
    /// # Errors
    /// The system's error; `AlreadyExists` if there is a file.
    pub fn create(path: &Path) -> io::Result<Self> {
        let writer = create_regular(path)?;
        Ok(Self::new(path, open_regular(path)?, Some(writer)))
    }

    fn new(path: &Path, reader: File, writer: Option<File>) -> Self {
        let (path, ahead, cursor) = (path.to_path_buf(), Ahead::default(), Arc::default());
        Self { path, reader, writer, ahead, patience: Self::PATIENCE, cursor }
    }

    /// Waits in short pauses, because the system's own waiting has no limit.
    fn take_lock(&self) -> io::Result<()> {
        let (mut pause, mut waited) = (PAUSES.0, Duration::ZERO);
        loop {
            match self.reader.try_lock() {
                Ok(()) => return Ok(()),
                Err(TryLockError::Error(error)) if is_without_locks(&error) => {
                    return Err(io::Error::new(io::ErrorKind::Unsupported, error));
                }
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(TryLockError::Error(error)) => return Err(error),
                Err(TryLockError::WouldBlock) if waited >= self.patience => {
                    let by = self.reader.metadata().map(|file| holders(&file)).unwrap_or_default();
                    return Err(io::Error::new(io::ErrorKind::WouldBlock, Held { by, waited }));
                }
                Err(TryLockError::WouldBlock) => {
                    std::thread::sleep(pause);
                    waited += pause;
                    pause = (pause * 2).min(PAUSES.1);
                }
            }
        }
    }

    fn standing(&self) -> io::Result<MediumState> {
        let ours = self.reader.metadata()?;
        Ok(MediumState { is_current: self.is_named(&ours)?, length: ours.len() })
    }

    fn is_named(&self, ours: &Metadata) -> io::Result<bool> {
        match std::fs::metadata(&self.path) {
            Ok(theirs) => Ok(ours.dev() == theirs.dev() && ours.ino() == theirs.ino()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The same file opened again for reading.
    pub(crate) fn again(&self) -> io::Result<Self> {
        let file = Self::new(&self.path, self.reader.try_clone()?, None);
        Ok(Self { patience: self.patience, cursor: self.cursor.clone(), ..file })
    }

    fn writer(&mut self) -> io::Result<&mut File> {
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => open_regular_to_append(&self.path)?,
        };
        Ok(self.writer.insert(writer))
    }
}

fn is_without_locks(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported || error.raw_os_error().is_some_and(|code| NO_LOCKS.contains(&code))
}

impl Medium for FileMedium {
    fn path(&self) -> &Path {
        &self.path
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.reader.metadata()?.len())
    }

    fn is_current(&self) -> io::Result<bool> {
        self.is_named(&self.reader.metadata()?)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.ahead.read(offset, buffer, |buffer, offset| self.reader.read_at(buffer, offset))
    }

    /// Uses `copy_file_range` where available: file systems can share blocks, network file systems copy on the server.
    fn copy_to(&self, offset: u64, length: u64, out: &File) -> io::Result<u64> {
        let _cursor = self.cursor.lock().unwrap_or_else(PoisonError::into_inner);
        let mut reader = &self.reader;
        reader.seek(SeekFrom::Start(offset))?;
        io::copy(&mut reader.take(length), &mut &*out)
    }

    fn apart(&self) -> io::Result<Box<dyn Medium>> {
        Ok(Box::new(self.again()?))
    }

    /// `flock` on the session file itself: the lock ends with the process, so no stale lock can block.
    fn lock(&mut self) -> io::Result<MediumState> {
        self.take_lock()?;
        self.ahead.forget();
        self.standing().inspect_err(|_| drop(self.reader.unlock()))
    }

    fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    fn unlock(&mut self) -> io::Result<()> {
        self.reader.unlock()
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.ahead.forget();
        self.writer()?.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.writer()?.sync_data()
    }

    fn sync_all(&mut self) -> io::Result<()> {
        self.writer()?.sync_all()
    }

    fn close_writer(&mut self) {
        self.writer = None;
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.ahead.forget();
        self.writer()?.set_len(length)
    }
}
