//! Changes files: one change at a time per file, and a failure never loses content.
//!
//! Knows paths and bytes. A rename loses extended attributes and access lists; files with hard links or other owners,
//! and files in read-only folders, are written in place, and the old bytes are restored after a failure.

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use offshoot_files::WRITE_SCRATCH;
use offshoot_session::medium::{open_regular_to_write, read_regular, real_path};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{KeyGuard, Running, ToolContext, ToolOutcome, args, diff};

/// A larger file is neither edited nor overwritten in place: its old bytes are held in memory.
pub(super) const LIMIT: u64 = 256 << 20;

/// A change between larger texts is not compared before it is made.
const PREVIEWED: u64 = 1 << 20;

type Queue = tokio::sync::Mutex<()>;

static QUEUES: LazyLock<Mutex<HashMap<PathBuf, Weak<Queue>>>> = LazyLock::new(Mutex::default);

pub(crate) trait Change: DeserializeOwned + Send + 'static {
    fn path(&self) -> &str;

    /// The texts that it would write.
    fn texts(&self) -> impl Iterator<Item = &str>;

    /// Refuses a path that probably means another file.
    fn refuse_doubtful(&self, place: &ToolContext) -> Result<(), ToolOutcome>;
}

/// Runs a change on another thread, while no other changes the file.
pub(crate) fn change<C: Change>(
    tool: &'static str,
    arguments: Value,
    place: Arc<ToolContext>,
    work: impl FnOnce(&Path, &ToolContext, C) -> Result<ToolOutcome, ToolOutcome> + Send + 'static,
) -> Running {
    Box::pin(async move {
        let change: C = match args::parse(tool, arguments) {
            Ok(change) => change,
            Err(failed) => return failed,
        };
        let path = place.paths().exact(change.path());
        let refused = change.refuse_doubtful(&place);
        let failed = |error| ToolOutcome::failed(format!("cannot {tool} {}: {}", path.display(), reason(&error)));
        let refused = refused.and_then(|()| place.keys.refuse_key_file(&path));
        let refused = refused.and_then(|()| KeyGuard::refuse_masked(&path, change.texts()));
        let real = match refused.and_then(|()| real_path(&path).map_err(failed)) {
            Ok(real) => real,
            Err(refused) => return refused,
        };
        let sandbox = place.sandbox.as_ref().map(|sandbox| sandbox.refuse_write(&place.cwd, &real));
        if let Some(Err(refused)) = sandbox {
            return ToolOutcome::failed(refused);
        }
        let turn = queue(real).lock_owned().await;
        super::blocking(move || {
            let _turn = turn;
            work(&path, &place, change)
        })
        .await
    })
}

/// The diff of a change to a file of text, without making it; `None` where `change` would fail, or takes long to compare.
/// A file that does not exist counts as empty. Waits until no change of the file is running, so not for async code.
pub(crate) fn preview<C: Change>(
    arguments: Value,
    context: &ToolContext,
    texts: impl FnOnce(String, C) -> Option<(String, String)>,
) -> Option<String> {
    let change: C = serde_json::from_value(arguments).ok()?;
    let path = context.paths().exact(change.path());
    change.refuse_doubtful(context).ok()?;
    context.keys.refuse_key_file(&path).ok()?;
    let name = context.paths().shown(change.path());
    let _turn = queue(real_path(&path).ok()?).blocking_lock_owned();
    let before = match read_regular(&path, PREVIEWED) {
        Ok(bytes) => String::from_utf8(bytes).ok()?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(_) => return None,
    };
    let (before, after) = texts(before, change).filter(|(_, after)| after.len() as u64 <= PREVIEWED)?;
    let shown = diff::change(&name, &before, &after).diff;
    Some(shown).filter(|shown| !shown.is_empty())
}

/// The result of a change that would fail before it changes anything; `None` if it would not, or nobody knows. Waits as [`preview`] does.
pub(crate) fn foresee<C: Change>(
    arguments: Value,
    context: &ToolContext,
    attempt: impl FnOnce(&Path, C) -> Result<(), ToolOutcome>,
) -> Option<ToolOutcome> {
    let change: C = serde_json::from_value(arguments).ok()?;
    let path = context.paths().exact(change.path());
    if let Err(refused) = change.refuse_doubtful(context).and_then(|()| context.keys.refuse_key_file(&path)) {
        return Some(refused);
    }
    let _turn = queue(real_path(&path).ok()?).blocking_lock_owned();
    attempt(&path, change).err()
}

/// Of the changes of a file, by its real path: they run one after another, in the order of the calls.
fn queue(path: PathBuf) -> Arc<Queue> {
    let mut queues = QUEUES.lock().unwrap_or_else(PoisonError::into_inner);
    queues.retain(|_, queue| queue.strong_count() > 0);
    if let Some(queue) = queues.get(&path).and_then(Weak::upgrade) {
        return queue;
    }
    let queue = Arc::new(Queue::default());
    queues.insert(path, Arc::downgrade(&queue));
    queue
}

/// Replaces a file's content, completely or not at all. Links are followed; mode and owner stay. Synced before the
/// rename. Only regular files are replaced.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = real_path(path)?;
    let old = match fs::metadata(&path) {
        Ok(old) => Some(old),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    match &old {
        Some(old) if old.is_dir() => Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Some(old) if old.nlink() > 1 => in_place(&path, bytes),
        Some(old) => {
            // Checks the permission: a rename would bypass a read-only mode.
            drop(open_regular_to_write(&path)?);
            match renamed(&path, bytes, Some(old)) {
                Err(error) if is_refused(&error) => in_place(&path, bytes),
                done => done,
            }
        }
        None => renamed(&path, bytes, None),
    }
}

fn is_refused(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

fn renamed(path: &Path, bytes: &[u8], old: Option<&Metadata>) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let public = fs::Permissions::from_mode(0o666);
    let mut new = tempfile::Builder::new().prefix(WRITE_SCRATCH).permissions(public).tempfile_in(folder)?;
    new.write_all(bytes)?;
    if let Some(old) = old {
        let made = new.as_file().metadata()?;
        if (made.uid(), made.gid()) != (old.uid(), old.gid()) {
            std::os::unix::fs::fchown(new.as_file(), Some(old.uid()), Some(old.gid()))?;
        }
        new.as_file().set_permissions(old.permissions())?;
    }
    new.as_file().sync_all()?;
    new.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Overwrites the file; after a failure the old bytes are restored.
fn in_place(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = open_regular_to_write(path)?;
    let old = read_regular(path, LIMIT)?;
    let written = overwrite(&mut file, bytes);
    if written.is_err() {
        overwrite(&mut file, &old)?;
    }
    written
}

fn overwrite(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    use std::io::Seek as _;
    file.rewind()?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)?;
    file.sync_all()
}

/// The error without Rust's error number.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        io::ErrorKind::NotADirectory => "a part of the path is not a folder".to_owned(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "the disk is full".to_owned(),
        io::ErrorKind::FileTooLarge if error.raw_os_error().is_some() => {
            "it would be larger than a file may be here".to_owned()
        }
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use offshoot_session::medium::real_path_or_same;
    use std::os::unix::fs::symlink;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn a_file_keeps_its_mode_and_a_link_stays_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("run.sh"), dir.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o751)).unwrap();
        symlink("run.sh", &link).unwrap();
        replace(&link, b"new").unwrap();
        assert_eq!((fs::read(&file).unwrap(), mode(&file)), (b"new".to_vec(), 0o751));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing is left behind");
    }

    #[test]
    fn a_new_file_has_the_mode_that_a_shell_would_give_it() {
        let dir = tempfile::tempdir().unwrap();
        let (ours, plain) = (dir.path().join("ours"), dir.path().join("plain"));
        replace(&ours, b"x").unwrap();
        File::create(&plain).unwrap();
        assert_eq!(mode(&ours), mode(&plain));
    }

    #[test]
    fn hard_links_stay_together() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = (dir.path().join("one"), dir.path().join("two"));
        fs::write(&one, "a long old text").unwrap();
        fs::hard_link(&one, &two).unwrap();
        replace(&one, b"new").unwrap();
        assert_eq!(fs::read(&two).unwrap(), b"new");
    }

    #[test]
    fn a_folder_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(replace(dir.path(), b"x").unwrap_err().kind(), io::ErrorKind::IsADirectory);
    }

    /// A FIFO waited for a reader, and a device was overwritten.
    #[test]
    fn what_is_no_regular_file_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (fifo, device) = (dir.path().join("fifo"), dir.path().join("device"));
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        symlink("/dev/null", &device).unwrap();
        for (path, kind) in [(&fifo, "it is a FIFO"), (&device, "it is a device")] {
            let error = replace(path, b"x").unwrap_err();
            assert!(error.to_string().starts_with(kind), "{error}");
        }
    }

    #[test]
    fn one_file_has_one_queue_under_all_its_names() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, link) = (dir.path().join("folder"), dir.path().join("link"));
        fs::create_dir(&folder).unwrap();
        symlink("folder", &link).unwrap();
        let one = queue(real_path_or_same(&folder.join("new/file")));
        let two = queue(real_path_or_same(&link.join("new/file")));
        assert!(Arc::ptr_eq(&one, &two));
        assert!(!Arc::ptr_eq(&one, &queue(real_path_or_same(&folder.join("other")))));
        drop((one, two));
        drop(queue(real_path_or_same(dir.path())));
        assert!(!QUEUES.lock().unwrap().keys().any(|path| path.ends_with("new/file")), "finished queues are forgotten");
    }
}
