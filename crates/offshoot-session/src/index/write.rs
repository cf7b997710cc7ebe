//! Writes indexes: a new one beside the old, or segment by segment while a big file is first read.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::thread;

use tempfile::NamedTempFile;

use super::head::Head;
use super::ids::{Run, hashed, table};
use super::pages::{IndexPages, PageSpan, encode};
use super::{MAGIC, Of};
use crate::load::Loaded;
use crate::medium::FileMedium;
use crate::medium::make_private_folder;
use crate::packed::hash;
use crate::tree::nodes::PAGE;
use crate::tree::stored::PageOf;

/// An index with this many runs of ids gets a single run when it is rebuilt.
pub(super) const RUNS: usize = 8;

/// Where unchanged pages and runs are.
#[derive(Clone, Copy)]
enum Old<'a> {
    Nowhere,
    Other(&'a IndexPages),
    /// In the file being written, where they stay.
    Same(&'a IndexPages),
}

/// Writes an index beside the old one and then replaces that. `old` is the one that the tree was read from. Fails if
/// the file cannot be indexed, the index not written or the old one not read; the old index then stays.
pub(super) fn anew(medium: &FileMedium, place: &Path, loaded: &Loaded, old: Option<&IndexPages>) -> io::Result<()> {
    let mut temporary = temporary(place)?;
    put(temporary.as_file_mut(), medium, loaded, old.map_or(Old::Nowhere, Old::Other))?;
    temporary.persist(place).map(drop).map_err(|error| error.error)
}

/// An index that grows while its file is read; only then does it become visible.
pub(super) struct Growing {
    temporary: NamedTempFile,
}

impl Growing {
    pub(super) fn new(medium: &FileMedium, place: &Path, loaded: &Loaded) -> io::Result<Self> {
        let mut temporary = temporary(place)?;
        put(temporary.as_file_mut(), medium, loaded, Old::Nowhere)?;
        Ok(Self { temporary })
    }

    pub(super) fn file(&self) -> io::Result<File> {
        self.temporary.reopen()
    }

    /// Adds the new entries of a tree that was read from it.
    pub(super) fn add(&mut self, medium: &FileMedium, loaded: &Loaded, pages: &IndexPages) -> io::Result<()> {
        put(self.temporary.as_file_mut(), medium, loaded, Old::Same(pages))
    }

    pub(super) fn persist(self, place: &Path) -> io::Result<()> {
        self.temporary.persist(place).map(drop).map_err(|error| error.error)
    }
}

fn temporary(place: &Path) -> io::Result<NamedTempFile> {
    let folder = place.parent().ok_or_else(|| io::Error::other("the index has no folder"))?;
    make_private_folder(folder)?;
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

/// A file with its current length.
struct Out<'a> {
    file: io::BufWriter<&'a mut File>,
    at: u64,
}

impl Out<'_> {
    /// Appends bytes and returns where they start.
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

/// The ids of the next run: those after the old index, or all.
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

/// The tables of ids: the old index's, and the new one.
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
