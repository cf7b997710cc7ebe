//! The repository in which a line runs git: that it is one, and where its parts are. Reads the file system.

use std::path::{Path, PathBuf};

use offshoot_session::medium::{open_regular, real_path, real_path_or_same};

use super::super::place;

/// The repository of the person's folder.
pub(super) struct OwnRepository {
    pub(super) root: PathBuf,
    /// Whether it, or a part of it, is elsewhere.
    pub(super) is_outside: bool,
    /// Whether git would run in repositories inside of it.
    pub(super) may_have_submodules: bool,
}

/// Of a file that names another one, or a commit.
const LONGEST_POINTER: u64 = 8192;

/// The repository that git uses in each of the folders, if it is that of `cwd` and whole. git looks further up where it is not.
pub(super) fn own(folders: &[PathBuf], cwd: &Path) -> Option<OwnRepository> {
    let root = place::own_repository(folders, cwd)?;
    let link = root.join(".git");
    let about = link.symlink_metadata().ok()?;
    let git = if about.is_dir() {
        link
    } else if about.is_file() {
        root.join(pointer(&link)?.strip_prefix("gitdir: ")?)
    } else {
        return None;
    };
    let common = match git.join("commondir").symlink_metadata() {
        Ok(_) => git.join(pointer(&git.join("commondir"))?),
        Err(_) => git.clone(),
    };
    let head = pointer(&git.join("HEAD"))?;
    let is_commit = matches!(head.len(), 40 | 64) && head.chars().all(|c| c.is_ascii_hexdigit());
    let is_whole = (is_commit || head.starts_with("ref: refs/"))
        && ["objects", "refs"].iter().all(|name| common.join(name).is_dir());
    if !is_whole {
        return None;
    }
    let cwd = real_path_or_same(cwd);
    let is_elsewhere = |path: &Path| real_path(path).map_or(true, |real| !real.starts_with(&cwd));
    let parts = ["objects", "refs"].map(|name| common.join(name));
    let borrows = common.join("objects/info/alternates").symlink_metadata().is_ok();
    let is_outside = borrows || [&root, &git, &common].into_iter().chain(&parts).any(|path| is_elsewhere(path));
    let exists = |path: PathBuf| path.symlink_metadata().is_ok();
    let may_have_submodules = exists(root.join(".gitmodules")) || exists(common.join("modules"));
    Some(OwnRepository { root, is_outside, may_have_submodules })
}

/// The one line of a small file.
fn pointer(path: &Path) -> Option<String> {
    let file = open_regular(path).ok()?;
    let mut text = String::new();
    std::io::Read::read_to_string(&mut std::io::Read::take(file, LONGEST_POINTER), &mut text).ok()?;
    let line = text.trim_end_matches(['\n', '\r']);
    (!line.contains('\n')).then(|| line.to_owned())
}
