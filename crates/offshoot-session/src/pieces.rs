//! New files made of ranges of a medium and of new text, written completely or not at all.
//!
//! The only file that writes whole session files: temporary file, sync, rename, sync of the folder. Unchanged bytes are
//! copied in ranges and never parsed.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{Conflict, Error, Result};
use crate::medium::{self, Medium, append_or_create_regular, copy_regular};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    /// Bytes of the source.
    Range { offset: u64, length: u64 },
    /// The next bytes of the new text.
    Text { length: usize },
}

/// A new file under construction. Its memory grows with the pieces, not with the source.
#[derive(Debug, Clone, Default)]
pub struct Pieces {
    pieces: Vec<Piece>,
    texts: String,
    /// Whether the last piece is a line of the source without its line feed.
    in_line: bool,
}

const BUFFER: usize = 1 << 20;
const WINDOW: usize = 128 << 10;
/// Ranges from this size on are copied by the system.
const LARGE: u64 = 256 << 10;

#[expect(missing_docs, reason = "the names of the others say what they add")]
impl Pieces {
    /// Adds bytes of the source, joined to the last piece if they follow it.
    pub fn range(&mut self, offset: u64, length: u64) {
        self.end_line();
        match self.pieces.last_mut() {
            Some(Piece::Range { offset: start, length: known }) if *start + *known == offset => *known += length,
            _ if length == 0 => {}
            _ => self.pieces.push(Piece::Range { offset, length }),
        }
    }

    pub fn text(&mut self, text: impl AsRef<str>) {
        self.end_line();
        self.push_text(text.as_ref());
    }

    pub fn line(&mut self, line: &str) {
        self.text(line);
        self.push_text("\n");
    }

    /// Adds a line of the source with a line feed; `length` is without it. Adjacent lines become one range.
    pub(crate) fn source_line(&mut self, offset: u64, length: u64) {
        match self.pieces.last_mut() {
            // A single byte between two lines is a line feed.
            Some(Piece::Range { offset: start, length: known }) if self.in_line && *start + *known + 1 == offset => {
                *known += 1 + length;
            }
            _ => {
                self.end_line();
                self.pieces.push(Piece::Range { offset, length });
                self.in_line = true;
            }
        }
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.in_line) {
            self.push_text("\n");
        }
    }

    fn push_text(&mut self, text: &str) {
        self.texts.push_str(text);
        match self.pieces.last_mut() {
            Some(Piece::Text { length }) => *length += text.len(),
            _ if text.is_empty() => {}
            _ => self.pieces.push(Piece::Text { length: text.len() }),
        }
    }

    /// Writes all pieces.
    ///
    /// # Errors
    /// Those of the source or of `out`.
    pub fn write(&self, source: &dyn Medium, out: &mut dyn Write) -> io::Result<()> {
        self.write_with(source, out, |_, _, _| Ok(0))
    }

    /// Writes all pieces into a file; the system copies large ranges.
    fn write_to(&self, source: &dyn Medium, file: &File) -> io::Result<()> {
        self.write_with(source, &mut &*file, |offset, length, out| {
            out.flush()?;
            source.copy_to(offset, length, file)
        })
    }

    /// Writes all pieces. `large` may write the start of a large range itself and returns how much it wrote.
    fn write_with(
        &self,
        source: &dyn Medium,
        out: &mut dyn Write,
        large: impl Fn(u64, u64, &mut dyn Write) -> io::Result<u64>,
    ) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(BUFFER, out);
        let mut window = Window::new(source);
        let mut texts = self.texts.as_str();
        for piece in &self.pieces {
            match *piece {
                Piece::Text { length } => {
                    let (text, rest) = texts.split_at(length);
                    out.write_all(text.as_bytes())?;
                    texts = rest;
                }
                Piece::Range { offset, length } => {
                    let copied = if length < LARGE { 0 } else { large(offset, length, &mut out)? };
                    window.copy(offset + copied, length - copied, &mut out)?;
                }
            }
        }
        if self.in_line {
            out.write_all(b"\n")?;
        }
        out.flush()
    }

    /// Creates a file from the pieces. It appears complete or not at all, and never replaces another.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the file exists; [`Error::Io`].
    pub fn create(&self, source: &dyn Medium, path: &Path) -> Result<()> {
        let temporary = self.write_temporary(source, path)?;
        temporary.persist_noclobber(path).map_err(|error| {
            if error.error.kind() == io::ErrorKind::AlreadyExists {
                Error::conflict(path, Conflict::Exists)
            } else {
                Error::io("create", path)(error.error)
            }
        })?;
        sync_folder(path)
    }

    /// Replaces an existing file, whose bytes stay under the returned backup name.
    ///
    /// # Errors
    /// [`Error::Io`]; the file has not changed.
    pub fn replace(&self, source: &dyn Medium, path: &Path, backup_suffix: &str) -> Result<PathBuf> {
        let temporary = self.write_temporary(source, path)?;
        // Upgrades and repairs keep the file's permissions.
        let mode = std::fs::metadata(path).map_err(Error::io("look at", path))?.permissions();
        temporary.as_file().set_permissions(mode).map_err(Error::io("prepare the new", path))?;
        let backup = keep_backup(path, backup_suffix)?;
        temporary.persist(path).map_err(|error| Error::io("replace", path)(error.error))?;
        sync_folder(path)?;
        Ok(backup)
    }

    /// Appends the pieces to a file beside a session, creating it if necessary, and makes them durable.
    ///
    /// # Errors
    /// [`Error::Io`]; some of the bytes may be in the file.
    pub(crate) fn append_to(&self, source: &dyn Medium, path: &Path) -> Result<()> {
        let mut file = append_or_create_regular(path).map_err(Error::io("open", path))?;
        self.write(source, &mut file).map_err(Error::io("append to", path))?;
        file.sync_all().map_err(Error::io("sync", path))?;
        sync_folder(path)
    }

    fn write_temporary(&self, source: &dyn Medium, path: &Path) -> Result<tempfile::NamedTempFile> {
        let failed = |error| Error::io("write a temporary file beside", path)(error);
        let temporary = tempfile::Builder::new()
            .prefix(".offshoot-")
            .suffix(".tmp")
            .tempfile_in(folder_of(path))
            .map_err(failed)?;
        self.write_to(source, temporary.as_file()).map_err(failed)?;
        temporary.as_file().sync_all().map_err(failed)?;
        Ok(temporary)
    }
}

/// A window of the source, so that many small ranges need one read.
struct Window<'a> {
    source: &'a dyn Medium,
    buffer: Vec<u8>,
    offset: u64,
    filled: usize,
}

impl<'a> Window<'a> {
    fn new(source: &'a dyn Medium) -> Self {
        Self { source, buffer: Vec::new(), offset: 0, filled: 0 }
    }

    fn copy(&mut self, mut at: u64, length: u64, out: &mut dyn Write) -> io::Result<()> {
        let end = at + length;
        while at < end {
            let wanted = usize::try_from(end - at).unwrap_or(usize::MAX);
            let here = self.bytes(at)?;
            let here = &here[..here.len().min(wanted)];
            out.write_all(here)?;
            at += here.len() as u64;
        }
        Ok(())
    }

    /// At least one byte of the source from `at` on.
    fn bytes(&mut self, at: u64) -> io::Result<&[u8]> {
        let inside = |window: &Self| {
            let from = usize::try_from(at.checked_sub(window.offset)?).ok()?;
            (from < window.filled).then_some(from)
        };
        if inside(self).is_none() {
            self.fill(at)?;
        }
        let from = inside(self).ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(&self.buffer[from..self.filled])
    }

    fn fill(&mut self, at: u64) -> io::Result<()> {
        self.buffer.resize(WINDOW, 0);
        (self.offset, self.filled) = (at, 0);
        loop {
            match self.source.read_at(at, &mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read.map(|count| self.filled = count),
            }
        }
    }
}

/// Links the old bytes as `<file><suffix>`, with a number if that name is taken.
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
                // The file system has no hard links.
                copy_regular(path, &backup).map_err(Error::io("back up to", &backup))?;
                return Ok(backup);
            }
        }
    }
    Ok(name(1))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes a new name in a file's folder durable.
pub(crate) fn sync_folder(path: &Path) -> Result<()> {
    let folder = folder_of(path);
    medium::sync_folder(folder).map_err(Error::io("sync folder", folder))
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
    fn lines_that_follow_each_other_are_one_range() {
        let source = MemoryMedium::new(b"aa\nbb\ncc\0\ndd".to_vec());
        let mut pieces = Pieces::default();
        pieces.line("head");
        for (offset, length) in [(0, 2), (3, 2), (6, 2), (10, 2)] {
            pieces.source_line(offset, length);
        }
        assert_eq!(pieces.pieces.len(), 4, "{:?}", pieces.pieces);
        let written = |pieces: &Pieces| {
            let mut out = Vec::new();
            pieces.write(&source, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(&pieces), "head\naa\nbb\ncc\ndd\n");
        pieces.text("end");
        assert_eq!(written(&pieces), "head\naa\nbb\ncc\ndd\nend");
    }

    #[test]
    fn ranges_of_every_size_and_order_are_copied_as_they_are() {
        let bytes: Vec<u8> = (0..3_000_000u32).map(|n| (n ^ (n >> 7)) as u8).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("source");
        std::fs::write(&path, &bytes).unwrap();
        let mut pieces = Pieces::default();
        let mut expected = Vec::new();
        let ranges = [(5, 100), (100_000, 300_000), (0, 7), (2_000_000, 1_000_000), (105, 40), (300_000, 140_000)];
        for (offset, length) in ranges {
            pieces.range(offset, length);
            pieces.text("|");
            expected.extend_from_slice(&bytes[offset as usize..(offset + length) as usize]);
            expected.push(b'|');
        }
        let file = crate::medium::FileMedium::open(&path).unwrap();
        pieces.create(&file, &folder.path().join("by system")).unwrap();
        pieces.create(&MemoryMedium::new(bytes), &folder.path().join("by hand")).unwrap();
        for name in ["by system", "by hand"] {
            assert!(std::fs::read(folder.path().join(name)).unwrap() == expected, "{name}");
        }
        pieces.range(2_999_999, 2);
        assert!(pieces.create(&file, &folder.path().join("short")).is_err(), "the source ends earlier");
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
