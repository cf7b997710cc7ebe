//! The folder of long outputs: private files, bounded for each command and each session, removed after a week.

use std::fs::File;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use offshoot_session::medium::make_private_folder;

/// How much is kept of one command's output, in bytes.
const CALL_LIMIT: u64 = 256 << 20;
/// How much is kept of all outputs of a session, in bytes.
const SESSION_LIMIT: u64 = 2 << 30;
const KEPT_FOR: Duration = Duration::from_secs(7 * 24 * 3600);

/// Where the long outputs of a session's commands are kept.
#[derive(Debug, Clone)]
pub struct OutputFolder {
    pub(super) path: PathBuf,
    pub(super) prefix: String,
    pub(super) call_limit: u64,
    pub(super) session_limit: u64,
    /// Bytes of the session's files. Counted when the first one is made.
    pub(super) used: Arc<OnceLock<AtomicU64>>,
}

impl OutputFolder {
    /// The folder is created when needed, with mode 0700.
    pub fn new(path: impl Into<PathBuf>, session_id: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        session_id.hash(&mut hasher);
        Self {
            path: path.into(),
            prefix: format!("bash-{:016x}-", hasher.finish()),
            call_limit: CALL_LIMIT,
            session_limit: SESSION_LIMIT,
            used: Arc::default(),
        }
    }

    pub(super) fn of_session(&self, session_id: &str) -> Self {
        Self::new(&self.path, session_id)
    }

    /// A new file that only its owner may read. Removes the files of all sessions that are older than a week.
    pub(super) fn create(&self) -> io::Result<(PathBuf, File)> {
        make_private_folder(&self.path)?;
        let file = tempfile::Builder::new().prefix(&self.prefix).suffix(".log").tempfile_in(&self.path)?;
        let (file, path) = file.keep().map_err(|kept| kept.error)?;
        // The file system's clock: the one that the other files have their times from.
        let used = remove_old(&self.path, &self.prefix, file.metadata()?.modified()?)?;
        self.used.get_or_init(|| AtomicU64::new(used));
        Ok((path, file))
    }

    /// Keeps bytes that a tool has got in a new private file, within the limits of a command's output.
    ///
    /// # Errors
    /// They are too many, or the system's error.
    pub fn keep(&self, bytes: &[u8]) -> io::Result<PathBuf> {
        let (path, mut file) = self.create()?;
        let kept = self.claim(0, bytes.len() as u64).map_err(io::Error::other).and_then(|()| file.write_all(bytes));
        if let Err(error) = kept {
            // A part of it would look like all of it.
            std::fs::remove_file(&path).unwrap_or(());
            return Err(error);
        }
        Ok(path)
    }

    /// Why `more` bytes cannot be kept beside `kept` bytes of the same command.
    pub(super) fn claim(&self, kept: u64, more: u64) -> Result<(), String> {
        if kept + more > self.call_limit {
            return Err(format!("no more than {} of a command is kept", mebibytes(self.call_limit)));
        }
        let used = self.used.get_or_init(AtomicU64::default);
        let claimed = used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            used.checked_add(more).filter(|used| *used <= self.session_limit)
        });
        claimed.map(drop).map_err(|_| format!("no more than {} of a session is kept", mebibytes(self.session_limit)))
    }
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

/// Returns the bytes of the files that stay and have the prefix.
fn remove_old(folder: &Path, prefix: &str, now: SystemTime) -> io::Result<u64> {
    let mut used = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| name.starts_with("bash-") && name.ends_with(".log")) else {
            continue;
        };
        // Another process may have removed it.
        let Ok(metadata) = entry.metadata() else { continue };
        let age = metadata.modified().ok().and_then(|modified| now.duration_since(modified).ok()).unwrap_or_default();
        if age > KEPT_FOR && std::fs::remove_file(entry.path()).is_ok() {
            continue;
        }
        if name.starts_with(prefix) {
            used += metadata.len();
        }
    }
    Ok(used)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_counts_its_files_of_earlier_runs_and_old_ones_go() {
        let dir = tempfile::tempdir().unwrap();
        let first = OutputFolder { session_limit: 100, ..OutputFolder::new(dir.path(), "a") };
        let (path, file) = first.create().unwrap();
        file.set_len(90).unwrap();
        assert!(first.claim(0, 90).is_ok() && first.claim(0, 11).is_err());
        let again = OutputFolder { session_limit: 100, ..OutputFolder::new(dir.path(), "a") };
        again.create().unwrap();
        assert_eq!(again.claim(0, 11).unwrap_err(), "no more than 0 MiB of a session is kept");
        assert!(again.claim(0, 10).is_ok());
        let other = OutputFolder { session_limit: 100, ..again.of_session("b") };
        other.create().unwrap();
        assert!(other.claim(0, 100).is_ok(), "another session has its own limit");

        std::fs::write(dir.path().join("notes.txt"), "kept").unwrap();
        let week = file.metadata().unwrap().modified().unwrap() - KEPT_FOR;
        file.set_modified(week - Duration::from_secs(60)).unwrap();
        OutputFolder::new(dir.path(), "c").create().unwrap();
        assert!(!path.exists() && dir.path().join("notes.txt").exists());
    }
}
