//! Writing indexes: anew beside the old one, or stretch by stretch while a big file is read for the first time.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::thread;

use tempfile::NamedTempFile;

use super::bytes::hash;
use super::head::Head;
use super::ids::{Run, hashed, table};
use super::pages::{IndexPages, PageSpan, encode};
use super::{MAGIC, Of};
use crate::load::Loaded;
use crate::medium::FileMedium;
use crate::tree::nodes::PAGE;
use crate::tree::stored::PageOf;

/// With so many runs of ids, the next index makes one of them.
pub(super) const RUNS: usize = 8;

/// Where pages and runs are that did not change.
#[derive(Clone, Copy)]
enum Old<'a> {
    Nowhere,
    Other(&'a IndexPages),
    /// In the file that is written: they stay where they are.
    Same(&'a IndexPages),
}

/// Writes an index beside the one that is there, and then over it. `old` is the one that the tree was read from.
///
/// # Errors
/// The file is not one to index; the index cannot be written, or the old one not be read. What was there stays.
pub(super) fn anew(medium: &FileMedium, place: &Path, loaded: &Loaded, old: Option<&IndexPages>) -> io::Result<()> {
    let mut temporary = temporary(place)?;
    put(temporary.as_file_mut(), medium, loaded, old.map_or(Old::Nowhere, Old::Other))?;
    temporary.persist(place).map(drop).map_err(|error| error.error)
}

/// An index that grows until its file is read to the end; nobody else sees it before.
pub(super) struct Growing {
    temporary: NamedTempFile,
}

impl Growing {
    /// # Errors
    /// As [`anew`].
    pub(super) fn new(medium: &FileMedium, place: &Path, loaded: &Loaded) -> io::Result<Self> {
        let mut temporary = temporary(place)?;
        put(temporary.as_file_mut(), medium, loaded, Old::Nowhere)?;
        Ok(Self { temporary })
    }

    /// The index as it is, to be read.
    pub(super) fn file(&self) -> io::Result<File> {
        self.temporary.reopen()
    }

    /// Adds what is new in a tree that was read from it.
    ///
    /// # Errors
    /// As [`anew`].
    pub(super) fn add(&mut self, medium: &FileMedium, loaded: &Loaded, pages: &IndexPages) -> io::Result<()> {
        put(self.temporary.as_file_mut(), medium, loaded, Old::Same(pages))
    }

    /// Puts it in its place.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn persist(self, place: &Path) -> io::Result<()> {
        self.temporary.persist(place).map(drop).map_err(|error| error.error)
    }
}

fn temporary(place: &Path) -> io::Result<NamedTempFile> {
    let folder = place.parent().ok_or_else(|| io::Error::other("the index has no folder"))?;
    std::fs::create_dir_all(folder)?;
    NamedTempFile::new_in(folder)
}

/// Writes pages, ids and head at the end of a file.
fn put(file: &mut File, medium: &FileMedium, loaded: &Loaded, old: Old<'_>) -> io::Result<()> {
    let is_indexable = loaded.header.is_some() && !loaded.is_old() && loaded.end.terminated;
    let unfit = || io::Error::other("this file is not indexed");
    let (head, tail) = Of::sample(medium, loaded.end.length).filter(|_| is_indexable).ok_or_else(unfit)?;
    let of = Of { identity: medium.identity()?, length: loaded.end.length, head, tail };
    let at = file.seek(SeekFrom::End(0))?;
    let mut out = Out { file: io::BufWriter::with_capacity(1 << 20, file), at };
    let (places, ids) = thread::scope(|scope| {
        let ids = scope.spawn(|| table(&ids_to_add(loaded, old)));
        (put_pages(&mut out, loaded, old), ids.join())
    });
    let (places, ids) = (places?, ids.map_err(|_| io::Error::other("the ids could not be gathered"))?);
    let runs = put_ids(&mut out, ids, old)?;
    let head = Head::new(of, loaded, places, runs).write();
    let start = out.put(&head)?;
    out.put(&start.to_le_bytes())?;
    out.put(&hash(&head).to_le_bytes())?;
    out.put(MAGIC)?;
    out.file.flush()
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

fn damaged() -> io::Error {
    io::Error::other("the old index is damaged")
}

fn put_pages(out: &mut Out<'_>, loaded: &Loaded, old: Old<'_>) -> io::Result<Vec<PageSpan>> {
    let pages = loaded.tree.stored_len().div_ceil(PAGE);
    let mut places = Vec::with_capacity(pages);
    for page in 0..pages {
        let bytes = match (loaded.tree.stored_page(page), old) {
            (PageOf::Here(nodes), _) => encode(nodes.into_iter()),
            (PageOf::Unchanged, Old::Other(old)) => old.encoded(page).ok_or_else(damaged)?,
            (PageOf::Unchanged, Old::Same(old)) => {
                places.push(*old.places.get(page).ok_or_else(damaged)?);
                continue;
            }
            (PageOf::Unchanged, Old::Nowhere) => return Err(damaged()),
        };
        let (length, sum) = (bytes.len() as u32, hash(&bytes));
        places.push(PageSpan { offset: out.put(&bytes)?, length, sum });
    }
    loaded.tree.whole(places).map_err(io::Error::other)
}

/// The ids that the next run is of: those that came since the old index was written, or all.
fn ids_to_add(loaded: &Loaded, old: Old<'_>) -> Vec<(u64, u32)> {
    let tree = &loaded.tree;
    let from = match old {
        Old::Same(_) => tree.paged_len(),
        Old::Other(old) if old.runs.len() < RUNS => tree.paged_len(),
        Old::Other(_) | Old::Nowhere => 0,
    };
    let mut ids = Vec::with_capacity(tree.stored_len() - from);
    tree.look_at_ids(from, |at, id| ids.push((hashed(id.as_str()), at)));
    ids
}

/// The tables of ids: those of the old index, and the new one.
fn put_ids(out: &mut Out<'_>, (bytes, run): (Vec<u8>, Run), old: Old<'_>) -> io::Result<Vec<Run>> {
    let mut runs = match old {
        Old::Same(old) => old.runs.clone(),
        Old::Other(old) if old.runs.len() < RUNS => copied(out, old)?,
        Old::Other(_) | Old::Nowhere => Vec::new(),
    };
    runs.push(Run { offset: out.put(&bytes)?, ..run });
    Ok(runs)
}

fn copied(out: &mut Out<'_>, old: &IndexPages) -> io::Result<Vec<Run>> {
    let copy = |run: &Run| {
        let bytes = usize::try_from(run.length).ok().and_then(|length| old.bytes(run.offset, length));
        Ok(Run { offset: out.put(&bytes.ok_or_else(damaged)?)?, ..run.clone() })
    };
    old.runs.iter().map(copy).collect()
}
