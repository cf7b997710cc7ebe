//! Opens files that somebody else may have replaced. Refuses anything but regular files: a FIFO has no end, and a
//! device may answer for ever.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// `O_NONBLOCK` opens a FIFO without a writer at once.
const WITHOUT_WAITING: i32 = if cfg!(target_os = "linux") { 0o4000 } else { 0x4 };

/// Opens a regular file, or a link to one, for reading. Never waits.
///
/// # Errors
/// The system's error; `IsADirectory` for a folder, `InvalidInput` for a FIFO, a socket or a device.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(WITHOUT_WAITING).open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        return Ok(file);
    }
    Err(match kind.is_dir() {
        true => io::Error::new(ErrorKind::IsADirectory, "it is a folder"),
        false => io::Error::new(ErrorKind::InvalidInput, "it is not a regular file: save its content in one first"),
    })
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// Those of [`open_regular`]; `FileTooLarge` for a larger file, which is not read.
pub fn read_regular(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    let length = file.metadata()?.len();
    let too_large = || io::Error::new(ErrorKind::FileTooLarge, format!("it is larger than {} MiB", limit >> 20));
    if length > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    // The file may grow while it is read.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
}

/// [`read_regular`] for text.
///
/// # Errors
/// Those of [`read_regular`]; `InvalidData` for bytes that are not UTF-8.
pub fn read_regular_text(path: &Path, limit: u64) -> io::Result<String> {
    let bytes = read_regular(path, limit)?;
    String::from_utf8(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error.utf8_error()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn only_regular_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        symlink(at("file"), at("link")).unwrap();
        symlink("/dev/zero", at("device")).unwrap();
        drop(UnixListener::bind(at("socket")).unwrap());
        let made = std::process::Command::new("mkfifo").arg(at("fifo")).status().unwrap();
        assert!(made.success());
        for name in ["file", "link"] {
            assert_eq!(read_regular(&at(name), 4).unwrap(), b"text");
        }
        // The system itself refuses a socket.
        for name in ["fifo", "device"] {
            assert_eq!(open_regular(&at(name)).unwrap_err().kind(), ErrorKind::InvalidInput, "{name}");
        }
        assert!(open_regular(&at("socket")).is_err());
        assert_eq!(open_regular(folder.path()).unwrap_err().kind(), ErrorKind::IsADirectory);
        assert_eq!(open_regular(&at("absent")).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(read_regular(&at("file"), 3).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }
}
