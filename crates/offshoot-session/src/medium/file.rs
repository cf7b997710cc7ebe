//! A session file: opened for reading, reopened for appending when the first append comes.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::ahead::Ahead;
use super::{Medium, Standing};

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

impl FileMedium {
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

    /// The same file once more, for reading.
    pub(crate) fn again(&self) -> io::Result<Self> {
        let reader = self.reader.try_clone()?;
        Ok(Self { path: self.path.clone(), reader, writer: None, ahead: Ahead::default() })
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
