//! A session that is never on disk.

use std::io;
use std::path::Path;

use super::Medium;

/// Bytes in memory.
#[derive(Debug, Clone, Default)]
pub struct MemoryMedium {
    bytes: Vec<u8>,
}

impl MemoryMedium {
    /// Starts with these bytes.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }
}

impl Medium for MemoryMedium {
    fn path(&self) -> &Path {
        Path::new("(memory)")
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.bytes.len());
        let rest = &self.bytes[start..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}
