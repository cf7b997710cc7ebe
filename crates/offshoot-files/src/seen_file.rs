//! The newest look at all files, kept so that the next session does not read them again. Disposable: what does not fit is read anew.

use std::path::Path;
use std::sync::Arc;

use offshoot_session::medium::{Stamp, read_regular, replace_file};
use serde::{Deserialize, Serialize};

use crate::content::ContentHash;
use crate::git_id::GitId;
use crate::rel_path::RelPath;
use crate::scan::{SeenFile, Snapshot};
use crate::state::FileState;
use crate::store::ContentStore;

const LONGEST: u64 = 256 << 20;

/// A file, with its stamp as numbers.
#[derive(Serialize, Deserialize)]
struct SeenRow(RelPath, [u64; 3], [i64; 2], u32, bool, FileState, Option<GitId>);

/// Reads what was seen; files whose content is gone are not in it.
pub(crate) fn read_seen(path: &Path, store: &ContentStore) -> Snapshot {
    let rows = read_rows(path).into_iter();
    let is_there = |state: &FileState| state.hash().is_none_or(|hash| store.has(hash));
    let rows = rows.filter(|row| row.6.is_some() || is_there(&row.5));
    let files = rows.map(|SeenRow(path, sizes, times, mode, is_settled, state, git)| {
        let [device, inode, length] = sizes;
        let [modified, changed] = times;
        let stamp = Stamp { device, inode, length, modified, changed };
        Arc::new(SeenFile { path, stamp, mode, is_settled, state, git })
    });
    let mut files: Vec<Arc<SeenFile>> = files.collect();
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Snapshot { files, is_beyond: false, read: 0 }
}

fn read_rows(path: &Path) -> Vec<SeenRow> {
    let bytes = read_regular(path, LONGEST).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

/// The contents that the next session takes from here.
pub(crate) fn seen_contents(path: &Path) -> Vec<ContentHash> {
    read_rows(path).into_iter().filter_map(|row| row.5.hash().copied()).collect()
}

/// Keeps what was seen. A failure costs the next session a look.
pub(crate) fn write_seen(path: &Path, seen: &Snapshot) {
    let rows = seen.files.iter().map(|file| {
        let Stamp { device, inode, length, modified, changed } = file.stamp;
        let (sizes, times) = ([device, inode, length], [modified, changed]);
        SeenRow(file.path.clone(), sizes, times, file.mode, file.is_settled, file.state.clone(), file.git)
    });
    let rows: Vec<SeenRow> = rows.collect();
    if let Ok(text) = serde_json::to_string(&rows) {
        drop(replace_file(path, &text, 0o600));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_seen_again_and_a_content_that_is_gone_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let store = ContentStore::new(dir.path().join("contents"), 1000);
        let file = |name: &str, hash| {
            Arc::new(SeenFile {
                path: RelPath::try_from(name.to_owned()).unwrap(),
                stamp: Stamp { device: 1, inode: 2, length: 3, modified: -4, changed: 5 },
                mode: 0o100_644,
                is_settled: true,
                state: FileState::File { hash, mode: 0o644 },
                git: None,
            })
        };
        let kept = file("a", store.put(b"a").unwrap());
        let gone = file("b", ContentHash::of(b"b"));
        let in_git = SeenFile {
            git: Some(GitId::of(b"c", crate::git_id::GitForm::Sha256)),
            ..(*file("c", ContentHash::of(b"c"))).clone()
        };
        let in_git = Arc::new(in_git);
        let seen = Snapshot { files: vec![kept.clone(), gone, in_git.clone()], ..Snapshot::default() };
        let path = dir.path().join("seen");
        write_seen(&path, &seen);
        assert_eq!(read_seen(&path, &store).files, [kept, in_git]);
        std::fs::write(&path, "[[\"../x\"").unwrap();
        assert!(read_seen(&path, &store).files.is_empty());
    }
}
