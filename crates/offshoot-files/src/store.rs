//! Contents by their hash, in a folder of the user's data. Compressed; read back only if they are still what they are named.
//!
//! Knows no workspace's files. One store belongs to one folder, so a hash of another folder names nothing here.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use offshoot_session::medium::{make_private_folder, open_regular, sync_folder};

use crate::content::ContentHash;
use crate::error::{FilesError, FilesResult, io_error};

/// Fast, and half the size of most sources.
const LEVEL: i32 = 1;

/// The contents of one workspace.
#[derive(Debug, Clone)]
pub struct ContentStore {
    folder: PathBuf,
    /// The largest content that is read back.
    limit: u64,
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
        self.place(hash).is_file()
    }

    /// Keeps a content. It is there when this returns.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn put(&self, bytes: &[u8]) -> FilesResult<ContentHash> {
        let hash = ContentHash::of(bytes);
        let place = self.place(&hash);
        if place.is_file() {
            return Ok(hash);
        }
        let group = place.parent().unwrap_or(&self.folder);
        let cannot = || io_error("store a content in", group);
        make_private_folder(group).map_err(cannot())?;
        let pressed = zstd::bulk::compress(bytes, LEVEL).map_err(cannot())?;
        let mut file = tempfile::NamedTempFile::new_in(group).map_err(cannot())?;
        file.write_all(&pressed).map_err(cannot())?;
        match file.persist_noclobber(&place) {
            Ok(_) => Ok(hash),
            Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => Ok(hash),
            Err(error) => Err(cannot()(error.error)),
        }
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
        let mut found = Vec::new();
        for group in folders(&self.folder) {
            let Some(start) = group.file_name().and_then(|name| name.to_str()) else { continue };
            for file in fs::read_dir(&group).into_iter().flatten().filter_map(Result::ok) {
                let Some(rest) = file.file_name().to_str().map(str::to_owned) else { continue };
                let Ok(hash) = ContentHash::try_from(format!("{start}{rest}")) else { continue };
                let Ok(meta) = file.metadata() else { continue };
                let at = offshoot_session::medium::Stamp::of(&meta).modified_at().unwrap_or_default();
                found.push((hash, meta.len(), at));
            }
        }
        found
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
