//! A session that is never on disk.

use std::io;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use super::{Medium, MediumState};

/// Bytes in memory. Clones share them, as two open handles of a file do.
#[derive(Debug, Clone, Default)]
pub struct MemoryMedium {
    bytes: Arc<RwLock<Vec<u8>>>,
}

#[expect(missing_docs, reason = "the constructor takes the bytes")]
impl MemoryMedium {
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes: Arc::new(RwLock::new(bytes)) }
    }

    /// After a panic elsewhere, the bytes are as the last complete operation left them.
    fn read(&self) -> RwLockReadGuard<'_, Vec<u8>> {
        self.bytes.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Medium for MemoryMedium {
    fn path(&self) -> &Path {
        Path::new("(memory)")
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.read().len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.read();
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
        let rest = &bytes[start..];
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn apart(&self) -> io::Result<Box<dyn Medium>> {
        Ok(Box::new(self.clone()))
    }

    fn lock(&mut self) -> io::Result<MediumState> {
        Ok(MediumState { is_current: true, length: self.len()? })
    }

    fn unlock(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes.write().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        let mut bytes = self.bytes.write().unwrap_or_else(PoisonError::into_inner);
        bytes.truncate(usize::try_from(length).unwrap_or(usize::MAX));
        Ok(())
    }
}
