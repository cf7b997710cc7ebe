//! The narrow interface between sessions and the disk.
//!
//! Few methods, so that tests can imitate a disk that fails. Reads are positioned; files are never mapped, because
//! another process may truncate them. Knows bytes, not lines.

mod ahead;
mod regular;
mod real_path;
mod shared_file;
mod holders;
mod private;
mod file;
mod memory;

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

pub use file::{FileMedium, Identity, Stamp};
pub use memory::MemoryMedium;
pub use private::make_private_folder;
pub use real_path::{real_path, real_path_or_same};
pub use regular::{
    append_or_create_regular, copy_regular, create_regular, open_regular, open_regular_to_append,
    open_regular_to_write, read_regular, read_regular_text, sync_folder,
};
pub use shared_file::{LockedFile, REPLACING_PREFIX, SharedFile, replace_file};

/// The state of a medium while its lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct MediumState {
    /// Whether the path still names the opened file, which may have been replaced or deleted.
    pub is_current: bool,
    pub length: u64,
}

/// An append-only sequence of bytes.
///
/// # Errors
/// Methods return the system's error. Where the state after an error matters, it is described below.
pub trait Medium: Send + Sync {
    /// The path that errors name.
    fn path(&self) -> &Path;

    /// The current length in bytes.
    fn len(&self) -> io::Result<u64>;

    /// Whether the length is 0.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Reads at most `buffer.len()` bytes at `offset`; fewer if a single read returns fewer, 0 only at the end.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Copies at most `length` bytes at `offset` to `out`'s cursor, if the system can do so by itself. Returns how
    /// many, which may be 0. After an error, some bytes may have been written.
    fn copy_to(&self, _offset: u64, _length: u64, _out: &File) -> io::Result<u64> {
        Ok(0)
    }

    /// Whether the path still names the opened file, which may have been replaced or deleted.
    fn is_current(&self) -> io::Result<bool> {
        Ok(true)
    }

    /// The same bytes for an independent reader, which takes no lock and keeps these bytes whatever happens to the
    /// path.
    fn apart(&self) -> io::Result<Box<dyn Medium>> {
        let length = usize::try_from(self.len()?).unwrap_or(usize::MAX);
        Ok(Box::new(MemoryMedium::new(read_exact_at(self, 0, length)?)))
    }

    /// Takes the writers' lock, waiting a limited time, and returns the state under it. After an error the lock is not
    /// held: `WouldBlock` means that another writer keeps it, `Unsupported` that there are no locks.
    fn lock(&mut self) -> io::Result<MediumState>;

    /// How long [`Medium::lock`] waits from now on. What has no lock waits for none.
    fn set_patience(&mut self, _patience: Duration) {}

    /// Releases the writers' lock.
    fn unlock(&mut self) -> io::Result<()>;

    /// Appends bytes, in a single write where the system allows it. After an error any prefix may have been written.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Returns when everything appended is on stable storage. After an error, everything since the last success is
    /// uncertain.
    fn sync(&mut self) -> io::Result<()>;

    /// [`Medium::sync`] including metadata such as times, where there is any.
    fn sync_all(&mut self) -> io::Result<()> {
        self.sync()
    }

    /// Closes what was opened for appending only. The next append opens it again.
    fn close_writer(&mut self) {}

    /// Removes everything from `length` on, to undo a failed [`Medium::append`] under the lock. After an error the
    /// bytes may still be there.
    fn truncate(&mut self, length: u64) -> io::Result<()>;
}

/// Reads `length` bytes at `offset`.
///
/// # Errors
/// Those of the medium; an early end is `UnexpectedEof`.
pub fn read_exact_at<M: Medium + ?Sized>(medium: &M, offset: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    fill_exact_at(medium, offset, &mut bytes)?;
    Ok(bytes)
}

/// [`read_exact_at`] into memory that there is.
pub(crate) fn fill_exact_at<M: Medium + ?Sized>(medium: &M, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
    let mut filled = 0;
    while filled < bytes.len() {
        match medium.read_at(offset + filled as u64, &mut bytes[filled..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
