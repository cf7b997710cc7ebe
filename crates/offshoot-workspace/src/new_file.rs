//! Creates a file atomically, never over another. A long one goes to the disk while it is written, so that the wait at the
//! end is short. Knows no format.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use offshoot_session::text::shell_word;

use crate::failure::{Failure, FailureKind, Hint, Result};

/// So many bytes are sent to the disk at once.
const PIECE: usize = 4 << 20;

/// Refuses a file that exists, or whose folder does not, before any work.
///
/// # Errors
/// It is so.
pub fn check_free(file: &Path) -> Result<()> {
    if std::fs::symlink_metadata(file).is_ok() {
        return Err(exists(file));
    }
    let folder = folder_of(file);
    if folder.is_dir() {
        return Ok(());
    }
    let failure = Failure::refused(FailureKind::NotFound, format!("the folder {} does not exist", folder.display()));
    Err(failure.hint(Hint::Text(format!("`mkdir -p {}` makes it", shell_word(&folder.to_string_lossy())))))
}

/// Creates a file. Nobody sees it before it is whole and on the disk.
pub(crate) fn create(path: &Path, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let folder = folder_of(path);
    // Its name would tell nobody anything.
    let unnamed = |error: io::Error| Failure::io(format!("write into {}", folder.display()), &error.kind().into());
    let temporary = tempfile::NamedTempFile::new_in(folder).map_err(unnamed)?;
    let failed = |error: &io::Error| Failure::io(format!("write {}", path.display()), error);
    let file = temporary.as_file();
    thread::scope(|scope| {
        let (full, pieces) = sync_channel(1);
        let syncing = scope.spawn(move || sync_pieces(file, &pieces));
        let written = write(&mut Syncing { file, unsynced: 0, full });
        // A failed write-back is reported once: it must not be lost here.
        let synced = syncing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written.and_then(|()| synced.map_err(|error| failed(&error)))
    })?;
    file.sync_all().map_err(|error| failed(&error))?;
    match temporary.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Err(exists(path)),
        Err(error) => Err(failed(&error.error)),
    }
}

fn sync_pieces(file: &File, pieces: &Receiver<()>) -> io::Result<()> {
    for () in pieces {
        file.sync_data()?;
    }
    Ok(())
}

/// A file that asks for a sync at each full piece, unless one is asked for already.
struct Syncing<'a> {
    file: &'a File,
    unsynced: usize,
    full: SyncSender<()>,
}

impl Write for Syncing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.unsynced += written;
        if self.unsynced >= PIECE {
            self.unsynced = 0;
            self.full.try_send(()).ok();
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn exists(file: &Path) -> Failure {
    let advice = "an export replaces no file: choose another name, or remove the file first";
    Failure::refused(FailureKind::Conflict, format!("{}: the file exists already", file.display()))
        .hint(Hint::Text(advice.to_owned()))
}
