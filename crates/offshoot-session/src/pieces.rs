//! New files made of old bytes: a list of ranges of a medium and of fresh lines, written as a whole or not at all.
//!
//! The only file that writes whole session files: temporary file, sync, rename, sync of the folder. Bytes that are not
//! changed are copied in ranges and never parsed.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::medium::Medium;

/// A part of a new file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Bytes of the source.
    Range {
        /// The first one.
        offset: u64,
        /// How many.
        length: u64,
    },
    /// New text.
    Text(String),
}

/// A new file in the making.
#[derive(Debug, Clone, Default)]
pub struct Pieces {
    pieces: Vec<Piece>,
}

const BUFFER: usize = 1 << 20;

impl Pieces {
    /// Adds bytes of the source, joining them to the piece before where they follow it.
    pub fn range(&mut self, offset: u64, length: u64) {
        match self.pieces.last_mut() {
            Some(Piece::Range { offset: start, length: known }) if *start + *known == offset => *known += length,
            _ if length == 0 => {}
            _ => self.pieces.push(Piece::Range { offset, length }),
        }
    }

    /// Adds text.
    pub fn text(&mut self, text: impl Into<String>) {
        let text = text.into();
        match self.pieces.last_mut() {
            Some(Piece::Text(known)) => known.push_str(&text),
            _ => self.pieces.push(Piece::Text(text)),
        }
    }

    /// Adds a line.
    pub fn line(&mut self, line: &str) {
        self.text(format!("{line}\n"));
    }

    /// Writes all pieces.
    ///
    /// # Errors
    /// What the source or `out` says.
    pub fn write(&self, source: &dyn Medium, out: &mut dyn Write) -> io::Result<()> {
        let mut buffer = vec![0; BUFFER];
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.write_all(text.as_bytes())?,
                Piece::Range { offset, length } => copy(source, *offset, *length, &mut buffer, out)?,
            }
        }
        Ok(())
    }

    /// Makes a new file of the pieces. It appears whole or not at all, and never over another one.
    ///
    /// # Errors
    /// [`Error::Conflict`] if something is there already; [`Error::Io`].
    pub fn create(&self, source: &dyn Medium, path: &Path) -> Result<()> {
        let temporary = self.write_temporary(source, path)?;
        temporary.persist_noclobber(path).map_err(|error| {
            if error.error.kind() == io::ErrorKind::AlreadyExists {
                Error::Conflict { path: path.to_path_buf(), why: "the file exists already".to_owned() }
            } else {
                Error::io("create", path)(error.error)
            }
        })?;
        sync_folder(path)
    }

    /// Puts the pieces in the place of an existing file, whose bytes stay under the answered backup name.
    ///
    /// # Errors
    /// [`Error::Io`]; the file is then as it was.
    pub fn replace(&self, source: &dyn Medium, path: &Path, backup_suffix: &str) -> Result<PathBuf> {
        let temporary = self.write_temporary(source, path)?;
        // Who may read the file is not for an upgrade or a repair to change.
        let mode = std::fs::metadata(path).map_err(Error::io("look at", path))?.permissions();
        temporary.as_file().set_permissions(mode).map_err(Error::io("prepare the new", path))?;
        let backup = keep_backup(path, backup_suffix)?;
        temporary.persist(path).map_err(|error| Error::io("replace", path)(error.error))?;
        sync_folder(path)?;
        Ok(backup)
    }

    /// Adds the pieces at the end of a file beside a session, which is created if need be, and makes them durable.
    ///
    /// # Errors
    /// [`Error::Io`]; then some of the bytes may be there.
    pub(crate) fn append_to(&self, source: &dyn Medium, path: &Path) -> Result<()> {
        let opened = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
        let mut file = opened.map_err(Error::io("open", path))?;
        self.write(source, &mut file).map_err(Error::io("append to", path))?;
        file.sync_all().map_err(Error::io("sync", path))?;
        sync_folder(path)
    }

    fn write_temporary(&self, source: &dyn Medium, path: &Path) -> Result<tempfile::NamedTempFile> {
        let failed = |error| Error::io("write a temporary file beside", path)(error);
        let mut temporary = tempfile::Builder::new()
            .prefix(".offshoot-")
            .suffix(".tmp")
            .tempfile_in(folder_of(path))
            .map_err(failed)?;
        self.write(source, &mut temporary).map_err(failed)?;
        temporary.as_file().sync_all().map_err(failed)?;
        Ok(temporary)
    }
}

fn copy(source: &dyn Medium, offset: u64, length: u64, buffer: &mut [u8], out: &mut dyn Write) -> io::Result<()> {
    let (mut at, end) = (offset, offset + length);
    while at < end {
        let room = buffer.len().min(usize::try_from(end - at).unwrap_or(usize::MAX));
        match source.read_at(at, &mut buffer[..room]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                out.write_all(&buffer[..count])?;
                at += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A second name for the old bytes: `<file><suffix>`, or with a number if that is taken.
fn keep_backup(path: &Path, suffix: &str) -> Result<PathBuf> {
    let name = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        if number > 1 {
            name.push(format!(".{number}"));
        }
        PathBuf::from(name)
    };
    for backup in (1..).map(name) {
        match std::fs::hard_link(path, &backup) {
            Ok(()) => return Ok(backup),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(_) => {
                // A file system without hard links: copy.
                std::fs::copy(path, &backup).map_err(Error::io("back up to", &backup))?;
                let copy = File::open(&backup).map_err(Error::io("open", &backup))?;
                copy.sync_all().map_err(Error::io("sync", &backup))?;
                return Ok(backup);
            }
        }
    }
    Ok(name(1))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes a name in a folder durable.
pub(crate) fn sync_folder(path: &Path) -> Result<()> {
    let folder = folder_of(path);
    let opened = File::open(folder).map_err(Error::io("open folder", folder))?;
    opened.sync_all().map_err(Error::io("sync folder", folder))
}

/// Creates the folder of a session file, readable by its owner only, with a durable name.
pub(crate) fn create_folder_of(path: &Path) -> Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    let folder = folder_of(path);
    let missing: Vec<&Path> = folder.ancestors().take_while(|folder| !is_there(folder)).collect();
    let created = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    created.map_err(Error::io("create folder", folder))?;
    missing.into_iter().try_for_each(sync_folder)
}

/// The empty path is the working directory.
fn is_there(folder: &Path) -> bool {
    folder.as_os_str().is_empty() || folder.exists()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::medium::MemoryMedium;

    #[test]
    fn adjacent_ranges_become_one() {
        let mut pieces = Pieces::default();
        pieces.range(0, 3);
        pieces.range(3, 0);
        pieces.range(3, 2);
        pieces.line("x");
        pieces.text("y");
        pieces.range(1, 1);
        assert_eq!(pieces.pieces.len(), 3);
        let mut out = Vec::new();
        pieces.write(&MemoryMedium::new(b"abcdef".to_vec()), &mut out).unwrap();
        assert_eq!(out, b"abcdex\nyb");
    }

    #[test]
    fn a_new_file_never_takes_anothers_place_and_backups_never_either() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let mut pieces = Pieces::default();
        pieces.line("new");
        let source = MemoryMedium::default();
        pieces.create(&source, &path).unwrap();
        assert!(matches!(pieces.create(&source, &path), Err(Error::Conflict { .. })));
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
        let first = pieces.replace(&source, &path, ".v1.bak").unwrap();
        let mode = std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&path).unwrap());
        assert_eq!(mode & 0o777, 0o640, "who may read it is as before");
        let second = pieces.replace(&source, &path, ".v1.bak").unwrap();
        assert!(first.ends_with("s.jsonl.v1.bak") && second.ends_with("s.jsonl.v1.bak.2"));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3, "no temporary file stays");
    }
}
