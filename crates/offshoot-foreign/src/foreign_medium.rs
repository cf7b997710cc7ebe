//! The bytes of a foreign session. Nothing here can write them: a lock, an append and a cut are refused.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_session::medium::{Medium, MediumState, Stamp, open_regular};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::geteuid;

/// A foreign file as it was when it was opened. What its program appends later is not seen.
#[derive(Debug, Clone)]
pub struct ForeignMedium {
    path: PathBuf,
    file: Arc<File>,
    length: u64,
    stamp: Stamp,
}

impl ForeignMedium {
    /// Opens a regular file to read. The time of its last access stays where the system allows it.
    ///
    /// # Errors
    /// It cannot be opened, or is not a regular file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = open_regular(path)?;
        let meta = file.metadata()?;
        keep_access_time(&file, meta.uid());
        let (length, stamp) = (meta.len(), Stamp::of(&meta));
        Ok(Self { path: path.to_path_buf(), file: Arc::new(file), length, stamp })
    }

    /// The stamp of the file when it was opened.
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }
}

/// Only the owner of a file may ask for this.
#[cfg(target_os = "linux")]
fn keep_access_time(file: &File, owner: u32) {
    if geteuid().as_raw() == owner
        && let Ok(flags) = fcntl_getfl(file)
    {
        // A file system that does not know it changes the time, as it does for every reader.
        let _: Result<(), _> = fcntl_setfl(file, flags | OFlags::NOATIME);
    }
}

#[cfg(not(target_os = "linux"))]
fn keep_access_time(_: &File, _: u32) {}

fn refused() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "it is another program's file, which is only read")
}

impl Medium for ForeignMedium {
    fn path(&self) -> &Path {
        &self.path
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.length)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(self.length.saturating_sub(offset)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(rest);
        self.file.read_at(buffer.get_mut(..wanted).unwrap_or_default(), offset)
    }

    fn apart(&self) -> io::Result<Box<dyn Medium>> {
        Ok(Box::new(self.clone()))
    }

    fn lock(&mut self) -> io::Result<MediumState> {
        Err(refused())
    }

    fn unlock(&mut self) -> io::Result<()> {
        Err(refused())
    }

    fn append(&mut self, _: &[u8]) -> io::Result<()> {
        Err(refused())
    }

    fn sync(&mut self) -> io::Result<()> {
        Err(refused())
    }

    fn truncate(&mut self, _: u64) -> io::Result<()> {
        Err(refused())
    }
}
