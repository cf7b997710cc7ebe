//! The side index: what opening a big file has learnt, kept in a cache folder, so that the next opening reads only what is
//! new.
//!
//! Derived and disposable: it is used only if it belongs to this very file (device, inode, length, time, and hashes of
//! the file's head and of the last indexed bytes) and is whole itself (checksum); otherwise it is ignored and made
//! anew. It is never the authority, never beside the user's files, and its failure never fails an opening. Written
//! beside and renamed, so that readers and writers at the same time see a whole one. Versions 1 and 2 are not indexed:
//! they are upgraded by their first append.

mod bytes;
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

use bytes::hash;
use filter::Filter;
use head::Head;
use pages::IndexPages;

/// Changes whenever the layout does: an index of another layout is ignored.
const MAGIC: &[u8; 8] = b"offshix5";
/// The last bytes of an index: where its head begins, the head's hash, and the magic word.
const TRAILER: usize = 24;
/// Files below this size are read as fast without an index.
const SMALLEST: u64 = 1 << 20;
/// The index is made anew when more of the file is not in it than this share, within these limits.
const STALE_SHARE: u64 = 128;
const STALE: (u64, u64) = (256 << 10, 16 << 20);
/// How much of the head and of the end of the indexed part is compared.
const SAMPLE: u64 = 4096;
/// So much is kept in memory before it goes to the index: memory does not grow with the file. Bytes set the limit where
/// entries have the usual length; a file of tiny ones is taken in few big pieces, which is faster.
const SEGMENT: Stretch = Stretch { lines: 1 << 20, bytes: 256 << 20 };

/// What an index says of the file that it is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Of {
    identity: Identity,
    /// How many bytes are indexed.
    length: u64,
    head: u64,
    tail: u64,
}

/// Opens a file with the help of the index folder, if there is one, and leaves a fresh index there if that pays.
/// `progress` is told how many bytes are read.
///
/// # Errors
/// As [`load`](crate::load::load). Trouble with the index is none.
pub(crate) fn load_indexed(
    medium: &FileMedium,
    folder: Option<&Path>,
    progress: &mut dyn FnMut(u64),
) -> Result<Loaded> {
    let length = medium.len().map_err(Error::io("read", medium.path()))?;
    let Some(folder) = folder.filter(|_| length >= SMALLEST) else {
        return load_some(medium, length, Stretch::ALL, progress);
    };
    let place = place(folder, medium.path());
    if let Some(loaded) = grow(medium, &place, length, progress)? {
        return Ok(loaded);
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

/// What an index gave, and the index itself.
type Indexed = (Loaded, Arc<IndexPages>);

/// Reads what is not in the index, and brings the index up to date if that is much; `None` if there is none that fits, or
/// the file has to be read whole.
fn grow(medium: &FileMedium, place: &Path, length: u64, progress: &mut dyn FnMut(u64)) -> Result<Option<Loaded>> {
    let index = open_regular(place).ok();
    let Some((mut loaded, pages)) = index.and_then(|index| read(medium, index, place, length)) else { return Ok(None) };
    let from = loaded.end.length;
    if from < length && !loaded.extend_some(medium, length, &mut More::all(progress))? {
        return Ok(None);
    }
    if length - from > (length / STALE_SHARE).clamp(STALE.0, STALE.1) {
        drop(write::anew(medium, place, &loaded, Some(&pages)));
    }
    Ok(Some(loaded))
}

/// Makes the index of a file of many entries, so many at a time, each read over the index of those before; `None` if
/// that is not possible, and the file has to be read whole.
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

/// One file for each session file, named by a hash of its path.
fn place(folder: &Path, file: &Path) -> PathBuf {
    let path = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
    folder.join(format!("{:016x}.index", hash(path.as_os_str().as_encoded_bytes())))
}

/// What the index says, if it fits the file.
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

/// The head of an index that is whole and of this layout.
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
    /// Whether it is of this file as it is now, `length` bytes long, or as it was before it grew.
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

    fn write(&self, writer: &mut bytes::Writer) {
        let identity = self.identity;
        for number in [identity.device, identity.inode, identity.modified, self.length, self.head, self.tail] {
            writer.number(number);
        }
    }

    fn read(reader: &mut bytes::Reader<'_>) -> Option<Self> {
        let identity = Identity { device: reader.number()?, inode: reader.number()?, modified: reader.number()? };
        Some(Self { identity, length: reader.number()?, head: reader.number()?, tail: reader.number()? })
    }
}

#[cfg(test)]
mod tests;
