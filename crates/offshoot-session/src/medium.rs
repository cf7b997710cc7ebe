//! Where a session's bytes are: the narrow seam between the log and a disk.
//!
//! A handful of methods, so that a test can stand in for a disk that fails. Positioned reads only: a session file is never
//! mapped, since another process may truncate it. Knows bytes, not lines.

mod ahead;
mod holders;
mod regular;
mod file;
mod memory;

use std::fs::File;
use std::io;
use std::path::Path;

pub use file::{FileMedium, Identity, Stamp};
pub use memory::MemoryMedium;
pub use regular::{open_regular, read_regular, read_regular_text};

/// How a medium stands while its lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Whether the path still names the bytes that were opened: the file may have been replaced or deleted.
    pub is_current: bool,
    /// How many bytes there are.
    pub length: u64,
}

/// An append-only sequence of bytes.
pub trait Medium: Send + Sync {
    /// The name under which errors speak of it.
    fn path(&self) -> &Path;

    /// How many bytes there are now.
    ///
    /// # Errors
    /// What the system says.
    fn len(&self) -> io::Result<u64>;

    /// Whether there are none.
    ///
    /// # Errors
    /// What the system says.
    fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Reads at most `buffer.len()` bytes at `offset`; fewer only where a single read gives fewer, 0 only at the end.
    ///
    /// # Errors
    /// What the system says.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Copies at most `length` bytes at `offset` to the place where `out` is written next, if the system can do that by
    /// itself; answers how many, which may be none.
    ///
    /// # Errors
    /// What the system says; then some of the bytes may have been written.
    fn copy_to(&self, _offset: u64, _length: u64, _out: &File) -> io::Result<u64> {
        Ok(0)
    }

    /// Whether the path still names the bytes that were opened: a file may have been replaced or deleted.
    ///
    /// # Errors
    /// What the system says.
    fn is_current(&self) -> io::Result<bool> {
        Ok(true)
    }

    /// The same bytes for a reader of its own, who takes no lock and stays with these bytes whatever becomes of the path.
    ///
    /// # Errors
    /// What the system says.
    fn apart(&self) -> io::Result<Box<dyn Medium>> {
        let length = usize::try_from(self.len()?).unwrap_or(usize::MAX);
        Ok(Box::new(MemoryMedium::new(read_exact_at(self, 0, length)?)))
    }

    /// Takes the writers' lock, waiting for it for a while, and says how the medium stands while it is held.
    ///
    /// # Errors
    /// What the system says; then the lock is not held. `WouldBlock` if another writer keeps it, `Unsupported` if there
    /// are no locks here.
    fn lock(&mut self) -> io::Result<Standing>;

    /// Gives the writers' lock back.
    ///
    /// # Errors
    /// What the system says.
    fn unlock(&mut self) -> io::Result<()>;

    /// Puts bytes at the end, in a single write where the system allows it.
    ///
    /// # Errors
    /// What the system says; then any prefix of the bytes may have been written.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Returns when everything appended is on stable storage.
    ///
    /// # Errors
    /// What the system says; then nothing is known of what was appended since the last success.
    fn sync(&mut self) -> io::Result<()>;

    /// The same with all that is known of the bytes, such as their times; where nothing is, [`Medium::sync`].
    ///
    /// # Errors
    /// As [`Medium::sync`].
    fn sync_all(&mut self) -> io::Result<()> {
        self.sync()
    }

    /// Cuts off everything from `length` on. For what a failed [`Medium::append`] left behind, while the lock is held.
    ///
    /// # Errors
    /// What the system says; then the bytes may still be there.
    fn truncate(&mut self, length: u64) -> io::Result<()>;
}

/// Reads `length` bytes at `offset`.
///
/// # Errors
/// What the medium says; an early end is `UnexpectedEof`.
pub fn read_exact_at<M: Medium + ?Sized>(medium: &M, offset: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    let mut filled = 0;
    while filled < length {
        match medium.read_at(offset + filled as u64, &mut bytes[filled..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(bytes)
}
