//! The trash: a deleted session is moved to a folder of its own below the data folder, with the sessions of its children and a note
//! of its origin, and can be restored.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use offshoot_session::child::children_folder;
use offshoot_session::children::has_children;
use offshoot_session::clock::Millis;
use offshoot_session::list::header;
use offshoot_session::medium::{
    FileMedium, Medium as _, create_regular, open_regular_to_append, read_regular, sync_folder,
};
use offshoot_session::pieces::Pieces;

use crate::failure::{Failure, FailureKind, Hint, Result};
use crate::place::Place;

/// The file with the original path, byte for byte.
const ORIGIN: &str = "origin";
/// In bytes.
const LONGEST_PATH: u64 = 64 << 10;

/// The folder of deleted sessions.
#[derive(Debug, Clone)]
pub struct Trash {
    folder: PathBuf,
    patience: Duration,
}

/// A deleted session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trashed {
    folder: PathBuf,
    /// Where it is now.
    pub file: PathBuf,
    /// Where it was.
    pub origin: PathBuf,
    /// When it was deleted.
    pub at: Millis,
}

impl Trash {
    /// The trash of this place.
    ///
    /// # Errors
    /// There is no folder for the user's data.
    pub fn of(place: &Place) -> Result<Self> {
        let data = place.data().ok_or_else(|| {
            Failure::refused(FailureKind::Failed, "there is no home directory to keep a trash in")
                .hint(Hint::Text("set OFFSHOOT_HOME".to_owned()))
        })?;
        Ok(Self { folder: data.join("trash"), patience: place.lock_wait() })
    }

    /// Moves a session file to the trash. On success both ends of the move are on the disk; after an error or a crash
    /// the file is where it was.
    ///
    /// # Errors
    /// It is no session, another program holds it, or it cannot be moved.
    pub fn put(&self, file: &Path, now: Millis) -> Result<Trashed> {
        let failed = |action: &str| {
            let action = format!("{action} {}", file.display());
            move |error: io::Error| Failure::io(action, &error)
        };
        let origin = file.canonicalize().map_err(failed("open"))?;
        let mut medium = FileMedium::open(&origin).map_err(failed("open"))?;
        medium.set_patience(self.patience);
        header(&medium)?;
        // Waits for a running append to finish.
        match medium.lock() {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Unsupported => {}
            Err(error) => return Err(failed("lock")(error)),
        }
        let has_children = has_children(&origin);
        let folder = self.new_folder(now)?;
        let name = origin.file_name().unwrap_or(OsStr::new("session.jsonl")).to_os_string();
        let trashed = Trashed { file: folder.join(name), folder, origin, at: now };
        let moved = write_origin(&trashed).and_then(|()| move_out(&medium, &trashed));
        if let Err(error) = moved {
            trashed.forget();
            return Err(failed("move to the trash")(error));
        }
        if has_children {
            // On another disk, they stay where they are, and the session finds them there when it comes back.
            drop(move_children(&trashed.origin, &trashed.file));
        }
        Ok(trashed)
    }

    /// The sessions in the trash, most recently deleted first. Folders without a session are ignored.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn list(&self) -> Result<Vec<Trashed>> {
        let failed = |error: io::Error| Failure::io(format!("read folder {}", self.folder.display()), &error);
        let folders = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            folders => folders.map_err(failed)?,
        };
        let mut all = Vec::new();
        for folder in folders {
            all.extend(Trashed::read(folder.map_err(failed)?.path()));
        }
        all.sort_by(|a, b| b.at.cmp(&a.at).then_with(|| b.folder.cmp(&a.folder)));
        Ok(all)
    }

    fn new_folder(&self, now: Millis) -> Result<PathBuf> {
        let failed = |error: io::Error| Failure::io(format!("create folder in {}", self.folder.display()), &error);
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder).map_err(failed)?;
        let mut number = 0;
        loop {
            let folder = self.folder.join(format!("{now}-{number}"));
            match DirBuilder::new().mode(0o700).create(&folder) {
                Ok(()) => return Ok(folder),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(failed(error)),
            }
        }
    }
}

impl Trashed {
    fn read(folder: PathBuf) -> Option<Self> {
        let at = folder.file_name()?.to_str()?.split_once('-')?.0.parse().ok()?;
        let origin = PathBuf::from(OsString::from_vec(read_regular(&folder.join(ORIGIN), LONGEST_PATH).ok()?));
        let file = folder.join(origin.file_name()?);
        file.is_file().then_some(Self { folder, file, origin, at })
    }

    /// Moves the session back, never over another file.
    ///
    /// # Errors
    /// It cannot be moved, or another file is there.
    pub fn restore(&self) -> Result<()> {
        let failed = |error: io::Error| {
            let origin = self.origin.display();
            let refused = Failure::io(format!("bring {} back to {origin}", self.file.display()), &error);
            if refused.kind() == FailureKind::Conflict {
                refused.hint(Hint::Text(format!("{origin} is there again: move it away")))
            } else {
                refused
            }
        };
        let parent = self.origin.parent().unwrap_or(Path::new("/"));
        DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(failed)?;
        match fs::hard_link(&self.file, &self.origin) {
            Ok(()) => {}
            // Another disk, or one without hard links.
            Err(error) if error.kind() != ErrorKind::AlreadyExists => copy(&self.file, &self.origin)?,
            Err(error) => return Err(failed(error)),
        }
        sync_folder(parent).map_err(failed)?;
        let children = move_children(&self.file, &self.origin);
        fs::remove_file(&self.file).map_err(failed)?;
        self.forget();
        children.map_err(|error| {
            let folder = children_folder(&self.file);
            Failure::io(format!("bring {} back, the sessions of its agents", folder.display()), &error)
        })
    }

    /// Removes the folder if its session is gone. A folder that cannot be removed does no harm: it is not listed.
    fn forget(&self) {
        if !self.file.exists() {
            drop(fs::remove_file(self.folder.join(ORIGIN)));
            drop(fs::remove_dir(&self.folder));
        }
    }
}

/// Moves the folder of a session's children beside where the session is now, never over another one.
fn move_children(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (children_folder(from), children_folder(to));
    match fs::symlink_metadata(&from) {
        Ok(meta) if meta.is_dir() => {}
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    }
    fs::rename(&from, &to)?;
    [from, to].iter().filter_map(|folder| folder.parent()).try_for_each(sync_folder)
}

fn write_origin(trashed: &Trashed) -> io::Result<()> {
    let mut note = create_regular(&trashed.folder.join(ORIGIN))?;
    note.write_all(trashed.origin.as_os_str().as_bytes())?;
    note.sync_all()?;
    sync_folder(&trashed.folder)?;
    trashed.folder.parent().map_or(Ok(()), sync_folder)
}

/// Moves the file into the trash while its lock is held.
fn move_out(medium: &FileMedium, trashed: &Trashed) -> io::Result<()> {
    if !medium.is_current()? {
        return Err(io::Error::other("another program has put another file in its place"));
    }
    match fs::rename(&trashed.origin, &trashed.file) {
        Err(error) if error.kind() == ErrorKind::CrossesDevices => {
            copy(&trashed.origin, &trashed.file).map_err(|error| io::Error::other(error.to_string()))?;
            fs::remove_file(&trashed.origin)?;
        }
        moved => moved?,
    }
    sync_folder(&trashed.folder)?;
    trashed.origin.parent().map_or(Ok(()), sync_folder)
}

/// Copies a file with its modification time, never over another file.
fn copy(from: &Path, to: &Path) -> Result<()> {
    let failed = |error: io::Error| Failure::io(format!("copy {} to {}", from.display(), to.display()), &error);
    let medium = FileMedium::open(from).map_err(failed)?;
    let mut pieces = Pieces::default();
    pieces.range(0, medium.len().map_err(failed)?);
    pieces.create(&medium, to)?;
    let modified = fs::metadata(from).and_then(|meta| meta.modified()).map_err(failed)?;
    open_regular_to_append(to).and_then(|file| file.set_modified(modified)).map_err(failed)
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    const SESSION: &str =
        "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/w\"}\n";

    fn world() -> (tempfile::TempDir, Trash, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let trash = Trash { folder: root.join("data/trash"), patience: Duration::ZERO };
        let file = root.join("sessions/x.jsonl");
        fs::create_dir(root.join("sessions")).unwrap();
        File::create_new(&file).unwrap().write_all(SESSION.as_bytes()).unwrap();
        (folder, trash, file)
    }

    #[test]
    fn what_is_thrown_away_comes_back_with_its_bytes_and_time() {
        let (_folder, trash, file) = world();
        let before = fs::metadata(&file).unwrap().modified().unwrap();
        let trashed = trash.put(&file, 5).unwrap();
        assert!(!file.exists());
        assert_eq!(trash.list().unwrap(), std::slice::from_ref(&trashed));
        fs::remove_dir(file.parent().unwrap()).unwrap();
        trashed.restore().unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), SESSION);
        assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), before);
        assert!(trash.list().unwrap().is_empty());
        assert_eq!(fs::read_dir(&trash.folder).unwrap().count(), 0);
    }

    #[test]
    fn the_sessions_of_children_go_and_come_back_with_their_parent() {
        let (_folder, trash, file) = world();
        let folder = children_folder(&file);
        fs::create_dir(&folder).unwrap();
        let named = SESSION.replace("\"cwd\"", &format!("\"parentSession\":{:?},\"cwd\"", file.display().to_string()));
        File::create_new(folder.join("Alpha.jsonl")).unwrap().write_all(named.as_bytes()).unwrap();
        let trashed = trash.put(&file, 5).unwrap();
        assert!(!file.exists() && !folder.exists());
        trashed.restore().unwrap();
        assert!(file.is_file() && folder.join("Alpha.jsonl").is_file());
        assert_eq!(fs::read_dir(&trash.folder).unwrap().count(), 0);
        fs::rename(folder.join("Alpha.jsonl"), folder.join("Alpha.txt")).unwrap();
        let other = trash.put(&file, 6).unwrap();
        assert!(folder.exists(), "a folder of the same name that has no children in it stays");
        other.restore().unwrap();
    }

    #[test]
    fn a_file_that_took_its_place_is_not_written_over() {
        let (_folder, trash, file) = world();
        let first = trash.put(&file, 5).unwrap();
        File::create_new(&file).unwrap().write_all(SESSION.as_bytes()).unwrap();
        assert_eq!(first.restore().unwrap_err().kind(), FailureKind::Conflict);
        let second = trash.put(&file, 5).unwrap();
        assert_eq!(trash.list().unwrap(), [second.clone(), first.clone()], "two of one moment, the later one first");
        first.restore().unwrap();
        assert_eq!(trash.list().unwrap(), [second]);
    }

    #[test]
    fn what_is_no_session_stays() {
        let (_folder, trash, file) = world();
        let other = file.with_file_name("notes.txt");
        File::create_new(&other).unwrap().write_all(b"my notes").unwrap();
        assert_eq!(trash.put(&other, 5).unwrap_err().kind(), FailureKind::Damaged);
        assert!(other.exists() && trash.list().unwrap().is_empty());
        assert_eq!(trash.put(&file.with_file_name("none"), 5).unwrap_err().kind(), FailureKind::NotFound);
    }

    #[test]
    fn who_appends_is_waited_for_and_then_the_file_stays() {
        let (_folder, trash, file) = world();
        let mut other = FileMedium::open(&file).unwrap();
        other.lock().unwrap();
        assert!(trash.put(&file, 5).is_err());
        assert!(file.exists() && trash.list().unwrap().is_empty());
        other.unlock().unwrap();
        trash.put(&file, 5).unwrap();
    }

    #[test]
    fn a_copy_keeps_bytes_and_time() {
        let (_folder, _, file) = world();
        let to = file.with_file_name("y.jsonl");
        let time = std::time::UNIX_EPOCH + Duration::from_secs(1_000_000);
        File::options().append(true).open(&file).unwrap().set_modified(time).unwrap();
        copy(&file, &to).unwrap();
        assert_eq!(fs::read_to_string(&to).unwrap(), SESSION);
        assert_eq!(fs::metadata(&to).unwrap().modified().unwrap(), time);
        assert!(copy(&file, &to).is_err(), "never over another one");
    }
}
