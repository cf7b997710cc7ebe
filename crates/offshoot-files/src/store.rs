//! Contents by their hash, in a folder of the user's data. Compressed; read back only if they are still what they are named.
//!
//! Knows no workspace's files. One store belongs to one folder, so a hash of another folder names nothing here.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use offshoot_session::medium::{Stamp, make_private_folder, open_regular, sync_folder};

use crate::content::ContentHash;
use crate::error::{FilesError, FilesResult, io_error};

/// Fast, and half the size of most sources.
const LEVEL: i32 = 1;
/// A content that is being written.
const UNFINISHED: &str = ".tmp";

/// The contents of one workspace.
#[derive(Debug, Clone)]
pub struct ContentStore {
    folder: PathBuf,
    /// The largest content that is read back.
    limit: u64,
}

/// A file of a store.
#[derive(Debug)]
pub(crate) struct StoredFile {
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    /// When it was written, in milliseconds.
    pub(crate) at: i64,
}

/// The size of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoreSize {
    /// How many contents.
    pub contents: u64,
    /// The bytes that they take.
    pub bytes: u64,
}

impl ContentStore {
    /// A store in this folder; nothing is made before something is put in.
    #[must_use]
    pub fn new(folder: PathBuf, limit: u64) -> Self {
        Self { folder, limit }
    }

    fn place(&self, hash: &ContentHash) -> PathBuf {
        let name = hash.to_string();
        let (group, rest) = name.split_at(2);
        self.folder.join(group).join(rest)
    }

    /// Whether there is a content of this name.
    #[must_use]
    pub fn has(&self, hash: &ContentHash) -> bool {
        is_content(&self.place(hash))
    }

    /// Keeps a content. It is there when this returns.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn put(&self, bytes: &[u8]) -> FilesResult<ContentHash> {
        let hash = ContentHash::of(bytes);
        let place = self.place(&hash);
        if is_content(&place) {
            return Ok(hash);
        }
        let group = place.parent().unwrap_or(&self.folder);
        let cannot = || io_error("store a content in", group);
        make_private_folder(group).map_err(cannot())?;
        let pressed = zstd::bulk::compress(bytes, LEVEL).map_err(cannot())?;
        let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(group).map_err(cannot())?;
        file.write_all(&pressed).map_err(cannot())?;
        // Another program may have stored the same meanwhile.
        file.persist(&place).map_err(|error| cannot()(error.error))?;
        Ok(hash)
    }

    /// Keeps a content. It is on the disk when this returns.
    ///
    /// # Errors
    /// The store cannot be written.
    pub(crate) fn put_durably(&self, bytes: &[u8]) -> FilesResult<()> {
        let place = self.place(&self.put(bytes)?);
        let synced = open_regular(&place).and_then(|file| file.sync_all());
        synced.map_err(io_error("store a content in", &place))?;
        let folders = place.ancestors().skip(1).take_while(|folder| folder.starts_with(&self.folder));
        folders.for_each(|folder| drop(sync_folder(folder)));
        Ok(())
    }

    /// A content.
    ///
    /// # Errors
    /// It is not there, or it is not what it is named.
    pub fn get(&self, hash: &ContentHash) -> FilesResult<Vec<u8>> {
        let missing = || FilesError::Missing(hash.to_string());
        let file = open_regular(&self.place(hash)).map_err(|_| missing())?;
        let mut bytes = Vec::new();
        let pressed = zstd::stream::read::Decoder::new(file).map_err(|_| missing())?;
        pressed.take(self.limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|_| missing())?;
        if ContentHash::of(&bytes) == *hash { Ok(bytes) } else { Err(missing()) }
    }

    /// Every content, with its size on disk and when it was stored, in milliseconds.
    pub(crate) fn list(&self) -> Vec<(ContentHash, u64, i64)> {
        let hash = |path: &Path| {
            let [rest, start] = [Some(path), path.parent()].map(|part| part.and_then(Path::file_name)?.to_str());
            ContentHash::try_from(format!("{}{}", start?, rest?)).ok()
        };
        let groups = folders(&self.folder);
        let files = groups.iter().flat_map(|group| stored_files(group));
        files.filter_map(|file| Some((hash(&file.path)?, file.bytes, file.at))).collect()
    }

    /// What killed programs have left half written.
    pub(crate) fn unfinished(&self) -> Vec<StoredFile> {
        folders(&self.folder).iter().flat_map(|group| unfinished_in(group, UNFINISHED)).collect()
    }

    /// How much there is.
    #[must_use]
    pub fn size(&self) -> StoreSize {
        let list = self.list();
        let contents = u64::try_from(list.len()).unwrap_or(u64::MAX);
        StoreSize { contents, bytes: list.iter().map(|(_, bytes, _)| bytes).sum() }
    }

    /// Forgets a content.
    pub(crate) fn remove(&self, hash: &ContentHash) -> FilesResult<()> {
        let place = self.place(hash);
        fs::remove_file(&place).map_err(io_error("remove", &place))
    }
}

/// Whether a content is there. One without a byte was written before the machine lost its power.
fn is_content(place: &Path) -> bool {
    fs::metadata(place).is_ok_and(|meta| meta.is_file() && meta.len() > 0)
}

fn stored_files(folder: &Path) -> Vec<StoredFile> {
    let found = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).filter_map(|entry| {
        let meta = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        let at = Stamp::of(&meta).modified_at().unwrap_or_default();
        Some(StoredFile { path: entry.path(), bytes: meta.len(), at })
    });
    found.collect()
}

/// The files in a folder whose names begin like this.
pub(crate) fn unfinished_in(folder: &Path, start: &str) -> Vec<StoredFile> {
    let is_named = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start));
    stored_files(folder).into_iter().filter(|file| is_named(&file.path)).collect()
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_comes_back_and_a_damaged_one_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let store = ContentStore::new(dir.path().join("contents"), 1 << 20);
        let hash = store.put(b"some text").unwrap();
        assert_eq!(store.put(b"some text").unwrap(), hash);
        assert_eq!(store.get(&hash).unwrap(), b"some text");
        assert_eq!(store.size().contents, 1);
        let other = zstd::bulk::compress(b"another", 1).unwrap();
        std::fs::write(store.place(&hash), other).unwrap();
        assert!(matches!(store.get(&hash), Err(FilesError::Missing(_))));
        // A machine that lost its power may leave a name without bytes: the content is stored again.
        std::fs::write(store.place(&hash), "").unwrap();
        assert!(!store.has(&hash));
        store.put(b"some text").unwrap();
        assert_eq!(store.get(&hash).unwrap(), b"some text");
    }

    #[test]
    fn a_content_that_unpacks_without_end_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let store = ContentStore::new(dir.path().join("contents"), 1000);
        let hash = ContentHash::of(&vec![0; 1 << 20]);
        std::fs::create_dir_all(store.place(&hash).parent().unwrap()).unwrap();
        std::fs::write(store.place(&hash), zstd::bulk::compress(&vec![0; 1 << 20], 1).unwrap()).unwrap();
        assert!(store.get(&hash).is_err());
    }
}
