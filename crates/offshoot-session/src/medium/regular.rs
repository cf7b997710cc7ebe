//! Opens files that somebody else may have replaced. Refuses anything but regular files: a FIFO has no end, and a
//! device may answer for ever or be overwritten.

use std::fs::{File, FileType, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

/// `O_NONBLOCK` opens a FIFO without a writer at once.
const WITHOUT_WAITING: i32 = if cfg!(target_os = "linux") { 0o4000 } else { 0x4 };
/// `ENXIO`: a socket, or a FIFO that nobody reads.
const NO_OTHER_END: i32 = 6;

/// Opens a regular file, or a link to one, for reading. Never waits.
///
/// # Errors
/// The system's error; `IsADirectory` for a folder, `InvalidInput` for a FIFO, a socket or a device, which it names.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open_without_waiting(path, OpenOptions::new().read(true)).map_err(|error| match error.kind() {
        ErrorKind::InvalidInput if error.raw_os_error().is_none() => {
            io::Error::new(error.kind(), format!("{error}: save its content in one first"))
        }
        _ => error,
    })
}

/// Opens an existing regular file, or a link to one, for appending. Never waits.
///
/// # Errors
/// Those of [`open_regular`].
pub fn open_regular_to_append(path: &Path) -> io::Result<File> {
    open_without_waiting(path, OpenOptions::new().append(true))
}

/// [`open_regular_to_append`], which creates a missing file, readable by its owner only.
///
/// # Errors
/// Those of [`open_regular`].
pub fn append_or_create_regular(path: &Path) -> io::Result<File> {
    open_without_waiting(path, OpenOptions::new().append(true).create(true).mode(0o600))
}

/// Creates a file that must not exist, for appending, readable by its owner only.
///
/// # Errors
/// The system's error; `AlreadyExists` if there is a file.
pub fn create_regular(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)
}

/// Opens an existing regular file, or a link to one, for writing, as it is. Never waits.
///
/// # Errors
/// Those of [`open_regular`].
pub fn open_regular_to_write(path: &Path) -> io::Result<File> {
    open_without_waiting(path, OpenOptions::new().write(true))
}

fn open_without_waiting(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let file = match options.custom_flags(WITHOUT_WAITING).open(path) {
        Err(error) if error.raw_os_error() == Some(NO_OTHER_END) => {
            return Err(refused(std::fs::metadata(path)?.file_type()));
        }
        opened => opened?,
    };
    let kind = file.metadata()?.file_type();
    if kind.is_file() { Ok(file) } else { Err(refused(kind)) }
}

fn refused(kind: FileType) -> io::Error {
    let name = match () {
        () if kind.is_dir() => return io::Error::new(ErrorKind::IsADirectory, "it is a folder"),
        () if kind.is_fifo() => "FIFO",
        () if kind.is_socket() => "socket",
        () => "device",
    };
    io::Error::new(ErrorKind::InvalidInput, format!("it is a {name}, not a regular file"))
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// Those of [`open_regular`]; `FileTooLarge` for a larger file, which is not read.
pub fn read_regular(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    let length = file.metadata()?.len();
    let too_large = || io::Error::new(ErrorKind::FileTooLarge, format!("it is larger than {}", bound(limit)));
    if length > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    // The file may grow while it is read.
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
}

fn bound(limit: u64) -> String {
    match limit {
        limit if limit >= 1 << 20 => format!("{} MiB", limit >> 20),
        limit if limit >= 1 << 10 => format!("{} KiB", limit >> 10),
        limit => format!("{limit} bytes"),
    }
}

/// Copies a regular file, with its mode, to one that must not exist. Returns when the copy is on stable storage.
///
/// # Errors
/// Those of [`open_regular`]; `AlreadyExists` if there is a file.
pub fn copy_regular(from: &Path, to: &Path) -> io::Result<()> {
    let (mut old, mut new) = (open_regular(from)?, File::create_new(to)?);
    io::copy(&mut old, &mut new)?;
    new.set_permissions(old.metadata()?.permissions())?;
    new.sync_all()
}

/// Makes the names in a folder durable.
///
/// # Errors
/// The system's error.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
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
    use std::io::Write as _;
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
        for (name, kind) in [("fifo", "FIFO"), ("device", "device"), ("socket", "socket")] {
            for open in [open_regular, open_regular_to_append, open_regular_to_write, append_or_create_regular] {
                let error = open(&at(name)).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::InvalidInput, "{name}");
                assert!(error.to_string().starts_with(&format!("it is a {kind}, ")), "{name}: {error}");
            }
        }
        assert_eq!(open_regular(folder.path()).unwrap_err().kind(), ErrorKind::IsADirectory);
        assert_eq!(open_regular(&at("absent")).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(read_regular(&at("file"), 3).unwrap_err().kind(), ErrorKind::FileTooLarge);
        assert_eq!(read_regular(&at("file"), 3).unwrap_err().to_string(), "it is larger than 3 bytes");
        copy_regular(&at("link"), &at("copy")).unwrap();
        assert_eq!(read_regular(&at("copy"), 4).unwrap(), b"text");
        for (from, to, kind) in [
            ("fifo", "new", ErrorKind::InvalidInput),
            ("device", "new", ErrorKind::InvalidInput),
            ("file", "copy", ErrorKind::AlreadyExists),
        ] {
            assert_eq!(copy_regular(&at(from), &at(to)).unwrap_err().kind(), kind, "{from}");
        }
        assert_eq!(create_regular(&at("fifo")).unwrap_err().kind(), ErrorKind::AlreadyExists);
        open_regular_to_append(&at("link")).unwrap().write_all(b"!").unwrap();
        open_regular_to_write(&at("link")).unwrap().write_all(b"T").unwrap();
        assert_eq!(read_regular(&at("file"), 1 << 20).unwrap(), b"Text!");
    }
}
