//! The side index: what opening a big file has learnt, kept in a cache folder, so that the next opening reads only what is
//! new.
//!
//! Derived and disposable: it is used only if it belongs to this very file (device, inode, length, time, and hashes of
//! the file's head and of the last indexed bytes) and is whole itself (checksum); otherwise it is ignored and made
//! anew. It is never the authority, never beside the user's files, and its failure never fails an opening. Written
//! beside and renamed, so that readers and writers at the same time see a whole one. Versions 1 and 2 are not indexed:
//! they are upgraded by their first append.

mod bytes;
mod state;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::load::{Loaded, load};
use crate::medium::{FileMedium, Identity, Medium, read_exact_at};

use bytes::hash;

/// Files below this size are read as fast without an index.
const SMALLEST: u64 = 1 << 20;
/// The index is made anew when this much of the file is not in it.
const STALE: u64 = 256 << 10;
/// How much of the head and of the end of the indexed part is compared.
const SAMPLE: u64 = 4096;

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
///
/// # Errors
/// As [`load`]. Trouble with the index is none.
pub(crate) fn load_indexed(medium: &FileMedium, folder: Option<&Path>) -> Result<Loaded> {
    let length = medium.len().map_err(Error::io("read", medium.path()))?;
    let Some(folder) = folder.filter(|_| length >= SMALLEST) else { return load(medium) };
    let place = place(folder, medium.path());
    if let Some((mut loaded, indexed)) = read(medium, &place, length)
        && (indexed == length || loaded.extend(medium, length)?)
    {
        if length - indexed > STALE {
            drop(write(medium, &place, &loaded));
        }
        return Ok(loaded);
    }
    let loaded = load(medium)?;
    drop(write(medium, &place, &loaded));
    Ok(loaded)
}

/// One file for each session file, named by a hash of its path.
fn place(folder: &Path, file: &Path) -> PathBuf {
    let path = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
    folder.join(format!("{:016x}.index", hash(path.as_os_str().as_encoded_bytes())))
}

/// The state of the index, and how many bytes of the file it covers; `None` if it does not fit.
fn read(medium: &FileMedium, place: &Path, length: u64) -> Option<(Loaded, u64)> {
    let bytes = std::fs::read(place).ok()?;
    let mut reader = bytes::Reader::checked(&bytes)?;
    let of = Of::read(&mut reader)?;
    let now = medium.identity().ok()?;
    let is_same_file = (now.device, now.inode) == (of.identity.device, of.identity.inode);
    let may_have_grown_only = of.length < length || (of.length == length && now.modified == of.identity.modified);
    if !is_same_file || !may_have_grown_only || Of::sample(medium, of.length)? != (of.head, of.tail) {
        return None;
    }
    let loaded = state::read(&mut reader, medium)?;
    (loaded.end.length == of.length).then_some((loaded, of.length))
}

fn write(medium: &FileMedium, place: &Path, loaded: &Loaded) -> std::io::Result<()> {
    let is_indexable = loaded.header.is_some() && !loaded.is_old() && loaded.end.terminated;
    let folder = place.parent().filter(|_| is_indexable);
    let (Some(folder), Some((head, tail))) = (folder, Of::sample(medium, loaded.end.length)) else { return Ok(()) };
    let of = Of { identity: medium.identity()?, length: loaded.end.length, head, tail };
    let mut writer = bytes::Writer::new();
    of.write(&mut writer);
    state::write(&mut writer, loaded);
    std::fs::create_dir_all(folder)?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(&writer.finish())?;
    temporary.persist(place).map_err(|error| error.error)?;
    Ok(())
}

impl Of {
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
