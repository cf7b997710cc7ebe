//! A session file: opened for reading, reopened for appending when the first append comes.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::ahead::Ahead;
use super::{Medium, Standing};
use crate::clock::Millis;

/// A file on disk. Opening never writes.
#[derive(Debug)]
pub struct FileMedium {
    path: PathBuf,
    reader: File,
    writer: Option<File>,
    ahead: Ahead,
}

/// Which file it is, and when it was last written: enough to tell whether it is still the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The device.
    pub device: u64,
    /// The inode.
    pub inode: u64,
    /// When it was last written, in nanoseconds since 1970.
    pub modified: u64,
}

/// How a file stands: while none of this changes, neither do its bytes (but see [`Stamp::is_settled`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The device.
    pub device: u64,
    /// The inode.
    pub inode: u64,
    /// How many bytes there are.
    pub length: u64,
    /// When it was last written, in nanoseconds since 1970.
    pub modified: i64,
    /// When it was last changed in any way, in nanoseconds since 1970; nobody can set that.
    pub changed: i64,
}

impl Stamp {
    /// How a file or folder stands.
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

    /// When it was last written; `None` before 1970.
    pub fn modified_at(&self) -> Option<Millis> {
        (self.modified >= 0).then_some(self.modified / 1_000_000)
    }

    /// Whether a change from now on cannot leave the stamp as it is. Systems keep time in ticks of some milliseconds, some
    /// file systems in seconds; what was changed in this tick can be changed again in it.
    pub fn is_settled(&self, now: Millis) -> bool {
        now.saturating_sub(self.changed.max(self.modified) / 1_000_000) > 3000
    }
}

impl FileMedium {
    /// How the open file stands.
    ///
    /// # Errors
    /// What the system says.
    pub fn stamp(&self) -> io::Result<Stamp> {
        Ok(Stamp::of(&self.reader.metadata()?))
    }

    /// Which file is open here.
    ///
    /// # Errors
    /// What the system says.
    pub fn identity(&self) -> io::Result<Identity> {
        let meta = self.reader.metadata()?;
        let modified = meta.mtime().wrapping_mul(1_000_000_000).wrapping_add(meta.mtime_nsec());
        Ok(Identity { device: meta.dev(), inode: meta.ino(), modified: modified.cast_unsigned() })
    }

    /// Opens an existing file for reading.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(path: &Path) -> io::Result<Self> {
        let reader = File::open(path)?;
        Ok(Self { path: path.to_path_buf(), reader, writer: None, ahead: Ahead::default() })
    }

    /// Creates a file that must not exist, readable by its owner only.
    ///
    /// # Errors
    /// What the system says; `AlreadyExists` if something is there.
    pub fn create(path: &Path) -> io::Result<Self> {
        let writer = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)?;
        let reader = File::open(path)?;
        Ok(Self { path: path.to_path_buf(), reader, writer: Some(writer), ahead: Ahead::default() })
    }

    fn writer(&mut self) -> io::Result<&mut File> {
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => OpenOptions::new().append(true).open(&self.path)?,
        };
        Ok(self.writer.insert(writer))
    }
}

impl Medium for FileMedium {
    fn path(&self) -> &Path {
        &self.path
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.reader.metadata()?.len())
    }

    fn is_current(&self) -> io::Result<bool> {
        let ours = self.reader.metadata()?;
        match std::fs::metadata(&self.path) {
            Ok(theirs) => Ok(ours.dev() == theirs.dev() && ours.ino() == theirs.ino()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.ahead.read(offset, buffer, |buffer, offset| self.reader.read_at(buffer, offset))
    }

    /// `flock` on the session file itself: it ends with the process, so no stale lock can block.
    fn lock(&mut self) -> io::Result<Standing> {
        self.reader.lock()?;
        self.ahead.forget();
        match self.is_current().and_then(|is_current| Ok(Standing { is_current, length: self.len()? })) {
            Ok(standing) => Ok(standing),
            Err(error) => {
                self.reader.unlock()?;
                Err(error)
            }
        }
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

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.ahead.forget();
        self.writer()?.set_len(length)
    }
}
