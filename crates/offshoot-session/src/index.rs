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
mod head;
mod ids;
mod pages;

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result};
use crate::load::{Loaded, load_some};
use crate::medium::{FileMedium, Identity, Medium, read_exact_at};
use crate::tree::nodes::PAGE;
use crate::tree::stored::PageOf;

use bytes::hash;
use head::Head;
use pages::{IndexPages, Place, encode};

/// Changes whenever the layout does: an index of another layout is ignored.
const MAGIC: &[u8; 8] = b"offshix2";
/// The last bytes of an index: where its head begins, the head's hash, and the magic word.
const TRAILER: usize = 24;
/// Files below this size are read as fast without an index.
const SMALLEST: u64 = 1 << 20;
/// The index is made anew when more of the file is not in it than this share, within these limits.
const STALE_SHARE: u64 = 128;
const STALE: (u64, u64) = (256 << 10, 16 << 20);
/// How much of the head and of the end of the indexed part is compared.
const SAMPLE: u64 = 4096;
/// So many new entries are kept in memory before they go to the index: memory does not grow with the file.
const SEGMENT: usize = 1 << 20;
/// With so many runs of ids, the next index makes one of them.
const RUNS: usize = 8;

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
/// As [`load`]. Trouble with the index is none.
pub(crate) fn load_indexed(
    medium: &FileMedium,
    folder: Option<&Path>,
    progress: &mut dyn FnMut(u64),
) -> Result<Loaded> {
    let length = medium.len().map_err(Error::io("read", medium.path()))?;
    let Some(folder) = folder.filter(|_| length >= SMALLEST) else {
        return load_some(medium, length, usize::MAX, progress);
    };
    let place = place(folder, medium.path());
    if let Some(indexed) = read(medium, &place, length)
        && let Some(loaded) = grow(medium, &place, length, indexed, progress)?
    {
        return Ok(loaded);
    }
    let first = load_some(medium, length, SEGMENT, progress)?;
    let covers_all = first.end.length == length;
    if write(medium, &place, &first, None).is_ok() && !covers_all {
        drop(first);
        if let Some(indexed) = read(medium, &place, length)
            && let Some(loaded) = grow(medium, &place, length, indexed, progress)?
        {
            return Ok(loaded);
        }
    } else if covers_all {
        return Ok(first);
    }
    load_some(medium, length, usize::MAX, progress)
}

/// What an index gave, and the index itself.
type Indexed = (Loaded, Arc<IndexPages>);

/// Reads what is not in the index, and brings the index up to date if that is much; `None` if the file has to be read
/// whole.
fn grow(
    medium: &FileMedium,
    place: &Path,
    length: u64,
    mut indexed: Indexed,
    progress: &mut dyn FnMut(u64),
) -> Result<Option<Loaded>> {
    loop {
        let (mut loaded, pages) = indexed;
        let from = loaded.end.length;
        if from < length && !loaded.extend_some(medium, length, SEGMENT, progress)? {
            return Ok(None);
        }
        let is_stale = loaded.end.length - from > (length / STALE_SHARE).clamp(STALE.0, STALE.1);
        let written = is_stale && write(medium, place, &loaded, Some(&pages)).is_ok();
        if loaded.end.length == length {
            return Ok(Some(loaded));
        }
        match read(medium, place, length).filter(|_| written) {
            Some(next) => indexed = next,
            None => return Ok(None),
        }
    }
}

/// One file for each session file, named by a hash of its path.
fn place(folder: &Path, file: &Path) -> PathBuf {
    let path = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
    folder.join(format!("{:016x}.index", hash(path.as_os_str().as_encoded_bytes())))
}

/// What the index says, if it fits the file.
fn read(medium: &FileMedium, place: &Path, length: u64) -> Option<Indexed> {
    let index = File::open(place).ok()?;
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
        leaves: head.leaves.clone(),
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

/// Writes the index anew, beside the old one and then over it. `old` is the one that the tree was read from.
fn write(medium: &FileMedium, place: &Path, loaded: &Loaded, old: Option<&IndexPages>) -> io::Result<()> {
    let is_indexable = loaded.header.is_some() && !loaded.is_old() && loaded.end.terminated;
    let unfit = || io::Error::other("this file is not indexed");
    let folder = place.parent().filter(|_| is_indexable).ok_or_else(unfit)?;
    let (head, tail) = Of::sample(medium, loaded.end.length).ok_or_else(unfit)?;
    let of = Of { identity: medium.identity()?, length: loaded.end.length, head, tail };
    std::fs::create_dir_all(folder)?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    let mut out = Out { file: io::BufWriter::with_capacity(1 << 20, temporary.as_file_mut()), at: 0 };
    let places = write_pages(&mut out, loaded, old)?;
    let runs = write_ids(&mut out, loaded, old)?;
    let head = Head::new(of, loaded, places, runs).write();
    let start = out.put(&head)?;
    out.put(&start.to_le_bytes())?;
    out.put(&hash(&head).to_le_bytes())?;
    out.put(MAGIC)?;
    out.file.flush()?;
    drop(out);
    temporary.persist(place).map_err(|error| error.error)?;
    Ok(())
}

/// A file that knows how far it is written.
struct Out<'a> {
    file: io::BufWriter<&'a mut File>,
    at: u64,
}

impl Out<'_> {
    /// Appends bytes and answers where they begin.
    fn put(&mut self, bytes: &[u8]) -> io::Result<u64> {
        self.file.write_all(bytes)?;
        let start = self.at;
        self.at += bytes.len() as u64;
        Ok(start)
    }
}

fn write_pages(out: &mut Out<'_>, loaded: &Loaded, old: Option<&IndexPages>) -> io::Result<Vec<Place>> {
    let pages = loaded.tree.stored_len().div_ceil(PAGE);
    let mut places = Vec::with_capacity(pages);
    for page in 0..pages {
        let bytes = match loaded.tree.stored_page(page) {
            PageOf::Here(nodes) => encode(nodes.into_iter()),
            PageOf::Unchanged => {
                old.and_then(|old| old.encoded(page)).ok_or_else(|| io::Error::other("the old index is damaged"))?
            }
        };
        let (length, sum) = (bytes.len() as u32, hash(&bytes));
        places.push(Place { offset: out.put(&bytes)?, length, sum });
    }
    if loaded.tree.trouble().is_some() {
        return Err(io::Error::other("the tree could not be read whole"));
    }
    Ok(places)
}

/// The tables of ids: those of the old index, and one of what came since; or one of all.
fn write_ids(out: &mut Out<'_>, loaded: &Loaded, old: Option<&IndexPages>) -> io::Result<Vec<ids::Run>> {
    let tree = &loaded.tree;
    let mut runs = Vec::new();
    let mut from = 0;
    if let Some(old) = old.filter(|old| old.runs.len() < RUNS) {
        from = tree.paged_len();
        for run in &old.runs {
            let bytes = usize::try_from(run.length).ok().and_then(|length| old.bytes(run.offset, length));
            let offset = out.put(&bytes.ok_or_else(|| io::Error::other("the old index is damaged"))?)?;
            runs.push(ids::Run { offset, ..run.clone() });
        }
    }
    let mut fresh: Vec<(u32, crate::id::EntryId)> = Vec::with_capacity(tree.stored_len() - from);
    tree.look_at_ids(from, |at, id| fresh.push((at, id.clone())));
    let (bytes, run) = ids::table(fresh.iter().map(|(at, id)| (*at, id.as_str())), out.at);
    out.put(&bytes)?;
    runs.push(run);
    Ok(runs)
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
