//! The side index: what opening a big file found, cached so that the next opening reads only new lines.
//!
//! Derived and disposable. It is used only if it belongs to this file (device, inode, length, time, and hashes of the
//! file's head and of the last indexed bytes) and its checksum is right; otherwise it is rebuilt. It is never the
//! authority, and its failure never fails an opening. It replaces the old one by a rename, so that concurrent readers
//! and writers see a complete one. Versions 1 and 2 are not indexed, because their first append upgrades them.

pub(crate) mod facts;
mod filter;
mod ids;
mod pages;
mod head;
mod write;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result};
use crate::load::{Loaded, More, Stretch, load_some};
use crate::medium::{FileMedium, Identity, Medium, open_regular, read_exact_at};
use crate::packed::{PackedReader, PackedWriter, hash};

use filter::Filter;
use head::Head;
use pages::IndexPages;

/// Changes with the layout. An index with another layout is ignored.
const MAGIC: &[u8; 8] = b"offshix7";
/// The length of an index's end: start of the head, hash of the head, magic word.
const TRAILER: usize = 24;
/// Smaller files are read as fast without an index.
const SMALLEST: u64 = 1 << 20;
/// The index is rebuilt when a larger share of the file is not in it, within these limits.
const STALE_SHARE: u64 = 128;
const STALE: (u64, u64) = (256 << 10, 16 << 20);
/// How many bytes of the file's head and of the end of the indexed part are compared.
const SAMPLE: u64 = 4096;
/// How much is kept in memory before it goes to the index, so that memory does not grow with the file. Bytes limit
/// files of usual entries; files of tiny ones are read in few big pieces, which is faster.
const SEGMENT: Stretch = Stretch { lines: 1 << 20, bytes: 256 << 20 };

/// Identifies the indexed part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Of {
    identity: Identity,
    /// How many bytes are indexed.
    length: u64,
    head: u64,
    tail: u64,
}

/// Whether opening a session may write its side index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IndexAccess {
    /// It is written if that pays.
    #[default]
    ReadWrite,
    /// For callers that promise to write nothing at all, caches included.
    ReadOnly,
}

/// Opens a file with the index folder, if any, and writes a new index there if that pays. Calls `progress` with the
/// number of bytes read. Fails as [`load`](crate::load::load) does; trouble with the index is not an error.
pub(crate) fn load_indexed(
    medium: &FileMedium,
    folder: Option<&Path>,
    access: IndexAccess,
    progress: &mut dyn FnMut(u64),
) -> Result<Loaded> {
    let length = medium.len().map_err(Error::io("read", medium.path()))?;
    let Some(folder) = folder.filter(|_| length >= SMALLEST) else {
        return load_some(medium, length, Stretch::ALL, progress);
    };
    let place = index_path(folder, medium.path());
    if let Some(loaded) = grow(medium, &place, length, access, progress)? {
        return Ok(loaded);
    }
    if access == IndexAccess::ReadOnly {
        return load_some(medium, length, Stretch::ALL, progress);
    }
    let first = load_some(medium, length, SEGMENT, progress)?;
    if first.end.length == length {
        drop(write::anew(medium, &place, &first, None));
        return Ok(first);
    }
    match build(medium, &place, (length, SEGMENT), first, progress)? {
        Some(loaded) => Ok(loaded),
        None => load_some(medium, length, Stretch::ALL, progress),
    }
}

/// Whether an index in this folder fits the file, so that opening it reads little.
pub fn is_indexed(file: &Path, folder: &Path) -> bool {
    let Ok(medium) = FileMedium::open(file) else { return false };
    let Ok(length) = medium.len() else { return false };
    let place = index_path(folder, file);
    open_regular(&place).is_ok_and(|index| read(&medium, index, &place, length).is_some())
}

type Indexed = (Loaded, Arc<IndexPages>);

/// Reads what the index lacks, and rebuilds the index if that is much. `None` if no index fits, or the file must be
/// read as a whole.
fn grow(
    medium: &FileMedium,
    place: &Path,
    length: u64,
    access: IndexAccess,
    progress: &mut dyn FnMut(u64),
) -> Result<Option<Loaded>> {
    let index = open_regular(place).ok();
    let Some((mut loaded, pages)) = index.and_then(|index| read(medium, index, place, length)) else { return Ok(None) };
    let from = loaded.end.length;
    if from < length && !loaded.extend_some(medium, length, &mut More::all(progress))? {
        return Ok(None);
    }
    if access == IndexAccess::ReadWrite && length - from > (length / STALE_SHARE).clamp(STALE.0, STALE.1) {
        drop(write::anew(medium, place, &loaded, Some(&pages)));
    }
    Ok(Some(loaded))
}

/// Builds the index of a big file in segments, each read over the index of those before. `None` if the file must be
/// read as a whole.
fn build(
    medium: &FileMedium,
    place: &Path,
    (length, segment): (u64, Stretch),
    first: Loaded,
    progress: &mut dyn FnMut(u64),
) -> Result<Option<Loaded>> {
    let expected = first.tree.stored_len() as u64 * (length / first.end.length.max(1) + 1);
    let mut known = Filter::new(expected);
    let Ok(mut index) = write::Growing::new(medium, place, &first) else { return Ok(None) };
    first.tree.look_at_ids(0, |_, id| known.add(id.as_str()));
    drop(first);
    loop {
        let again = index.file().ok().and_then(|file| read(medium, file, place, length));
        let Some((mut loaded, pages)) = again else { return Ok(None) };
        let before = loaded.tree.stored_len();
        let more = &mut More { stretch: segment, may_be_known: &|id| known.may_have(id), progress };
        if !loaded.extend_some(medium, length, more)? || index.add(medium, &loaded, &pages).is_err() {
            return Ok(None);
        }
        loaded.tree.look_at_ids(before, |_, id| known.add(id.as_str()));
        if loaded.end.length == length {
            drop(index.persist(place));
            return Ok(Some(loaded));
        }
    }
}

/// The path of a session file's index, named by a hash of its path.
fn index_path(folder: &Path, file: &Path) -> PathBuf {
    let path = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
    folder.join(format!("{:016x}.index", hash(path.as_os_str().as_encoded_bytes())))
}

/// Reads an index if it fits the file.
fn read(medium: &FileMedium, index: File, place: &Path, length: u64) -> Option<Indexed> {
    let head = Head::read(&head_bytes(&index)?)?;
    let of = head.of;
    if !of.fits(medium, length) {
        return None;
    }
    let pages = Arc::new(IndexPages {
        index,
        path: place.to_path_buf(),
        count: head.count as usize,
        places: head.places.clone(),
        runs: head.runs.clone(),
        ends: head.ends.clone(),
        session: medium.again().ok()?,
        indexed: of.length,
        anew: OnceLock::new(),
    });
    let loaded = head.into_loaded(pages.clone(), medium)?;
    (loaded.end.length == of.length).then_some((loaded, pages))
}

/// The head of a complete index of this layout.
fn head_bytes(index: &File) -> Option<Vec<u8>> {
    use std::os::unix::fs::FileExt as _;
    let end = index.metadata().ok()?.len().checked_sub(TRAILER as u64)?;
    let mut trailer = [0; TRAILER];
    index.read_exact_at(&mut trailer, end).ok()?;
    let (rest, magic) = trailer.split_last_chunk::<8>()?;
    let (start, sum) = rest.split_first_chunk::<8>()?;
    let start = u64::from_le_bytes(*start);
    let mut head = vec![0; usize::try_from(end.checked_sub(start).filter(|_| magic == MAGIC)?).ok()?];
    index.read_exact_at(&mut head, start).ok()?;
    (hash(&head) == u64::from_le_bytes(*sum.first_chunk()?)).then_some(head)
}

impl Of {
    /// Whether this is the file, which is now `length` bytes long and may have grown.
    fn fits(&self, medium: &FileMedium, length: u64) -> bool {
        let Ok(now) = medium.identity() else { return false };
        let is_same_file = (now.device, now.inode) == (self.identity.device, self.identity.inode);
        let may_have_grown_only =
            self.length < length || (self.length == length && now.modified == self.identity.modified);
        is_same_file && may_have_grown_only && Self::sample(medium, self.length) == Some((self.head, self.tail))
    }

    /// Hashes of the file's head and of the last bytes before `length`.
    fn sample(medium: &dyn Medium, length: u64) -> Option<(u64, u64)> {
        let size = SAMPLE.min(length);
        let piece = |offset| read_exact_at(medium, offset, usize::try_from(size).ok()?).ok();
        Some((hash(&piece(0)?), hash(&piece(length - size)?)))
    }

    fn write(&self, writer: &mut PackedWriter) {
        let identity = self.identity;
        for number in [identity.device, identity.inode, identity.modified, self.length, self.head, self.tail] {
            writer.number(number);
        }
    }

    fn read(reader: &mut PackedReader<'_>) -> Option<Self> {
        let identity = Identity { device: reader.number()?, inode: reader.number()?, modified: reader.number()? };
        Some(Self { identity, length: reader.number()?, head: reader.number()?, tail: reader.number()? })
    }
}

#[cfg(test)]
mod tests;
