//! The bytes of a foreign session. Nothing here can write them: a lock, an append and a cut are refused.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_session::medium::{Medium, MediumState, Stamp, open_regular};
#[cfg(target_os = "linux")]
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
#[cfg(target_os = "linux")]
use rustix::process::geteuid;

/// A compressed file that is larger when it is unpacked is not read.
const LARGEST_UNPACKED: u64 = 512 << 20;

/// Foreign files as they were when they were opened, one after another. What their program appends later is not seen.
#[derive(Debug, Clone)]
pub struct ForeignMedium {
    path: PathBuf,
    parts: Vec<Part>,
    length: u64,
    stamp: Stamp,
}

#[derive(Debug, Clone)]
struct Part {
    start: u64,
    length: u64,
    bytes: Bytes,
}

#[derive(Debug, Clone)]
enum Bytes {
    File(Arc<File>),
    Unpacked(Arc<[u8]>),
}

impl ForeignMedium {
    /// Opens a regular file to read, one that ends in `.zst` unpacked. The time of its last access stays where the system
    /// allows it.
    ///
    /// # Errors
    /// It cannot be opened, is not a regular file, or is too large when it is unpacked.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = open_regular(path)?;
        let meta = file.metadata()?;
        keep_access_time(&file, meta.uid());
        let (length, bytes) = if path.extension().is_some_and(|extension| extension == "zst") {
            let unpacked = unpack(&file)?;
            (unpacked.len() as u64, Bytes::Unpacked(unpacked.into()))
        } else {
            (meta.len(), Bytes::File(Arc::new(file)))
        };
        let parts = vec![Part { start: 0, length, bytes }];
        Ok(Self { path: path.to_path_buf(), parts, length, stamp: Stamp::of(&meta) })
    }

    /// Bytes in memory, under the path that errors name.
    pub(crate) fn of_bytes(path: &Path, stamp: Stamp, bytes: Vec<u8>) -> Self {
        let length = bytes.len() as u64;
        let parts = vec![Part { start: 0, length, bytes: Bytes::Unpacked(bytes.into()) }];
        Self { path: path.to_path_buf(), parts, length, stamp }
    }

    /// These bytes after the first `length` of another file's.
    pub(crate) fn after(mut self, before: &Self, length: u64) -> Self {
        let length = length.min(before.length);
        let mut parts = Vec::new();
        for part in before.parts.iter().filter(|part| part.start < length) {
            parts.push(Part { length: part.length.min(length - part.start), ..part.clone() });
        }
        for part in &mut self.parts {
            part.start += length;
        }
        parts.append(&mut self.parts);
        Self { parts, length: self.length + length, ..self }
    }

    /// The stamp of the file when it was opened.
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }
}

fn unpack(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    zstd::Decoder::new(file)?.take(LARGEST_UNPACKED + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST_UNPACKED {
        let why = format!("it is larger than {} MiB when it is unpacked", LARGEST_UNPACKED >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
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
        let at = self.parts.partition_point(|part| part.start + part.length <= offset);
        let Some(part) = self.parts.get(at) else { return Ok(0) };
        let inside = offset - part.start;
        let rest = usize::try_from(part.length - inside).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(rest);
        let buffer = buffer.get_mut(..wanted).unwrap_or_default();
        match &part.bytes {
            Bytes::File(file) => file.read_at(buffer, inside),
            Bytes::Unpacked(bytes) => {
                let from = usize::try_from(inside).unwrap_or(usize::MAX);
                let bytes = bytes.get(from..).and_then(|rest| rest.get(..wanted)).unwrap_or_default();
                buffer.get_mut(..bytes.len()).unwrap_or_default().copy_from_slice(bytes);
                Ok(bytes.len())
            }
        }
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
