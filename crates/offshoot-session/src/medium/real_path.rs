//! Where a path leads, also one that does not exist yet. Writers, and those who judge writers, ask the same function.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// As many links as Linux follows.
const MOST_LINKS: usize = 40;

/// The place that the system would open or create under this path: without links, also where the file or folders on the way do not exist.
/// A link whose target does not exist leads to that target. Creates nothing.
///
/// # Errors
/// The system's error for a path that cannot be followed: links in a circle or too many of them, a folder that may not be searched, a
/// name that is too long. `NotFound` for `..` of a folder that does not exist.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    let (mut there, mut missing, mut links) = (path.to_owned(), Vec::new(), 0);
    loop {
        match fs::canonicalize(&there) {
            Ok(real) => return Ok(missing.iter().rev().fold(real, |place: PathBuf, name| place.join(name))),
            // What is below a file does not exist either.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(error) => return Err(error),
        }
        let (Some(parent), Some(name)) = (there.parent(), there.file_name()) else {
            return Err(ErrorKind::NotFound.into());
        };
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        match fs::read_link(parent.join(name)) {
            Ok(_) if links == MOST_LINKS => return Err(io::Error::other("too many links lead to each other")),
            Ok(target) => {
                links += 1;
                there = parent.join(target);
            }
            Err(_) => {
                missing.push(name.to_owned());
                there = parent.to_owned();
            }
        }
    }
}

/// [`real_path`], or the path as it is where it cannot be followed: for comparing files, not for writing them.
#[must_use]
pub fn real_path_or_same(path: &Path) -> PathBuf {
    real_path(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// What the system creates through a path is where it leads.
    #[test]
    fn a_path_leads_where_the_system_creates_the_file() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::create_dir(root.join("other")).unwrap();
        fs::write(root.join("file"), "").unwrap();
        for (link, target) in [
            ("a/relative", "../other/new1"),
            ("a/absolute", "ROOT/other/new2"),
            ("a/b/chain", "../second"),
            ("a/second", "third"),
            ("a/third", "b/new3"),
            ("folder", "other"),
            ("a/through", "../folder/new4"),
            ("a/up", "b/../new5"),
            ("nowhere", "missing/new6"),
            ("not-yet", "later"),
            ("up-of-nothing", "missing/../new7"),
            ("circle", "circle2"),
            ("circle2", "circle"),
            ("self", "self"),
        ] {
            symlink(target.replace("ROOT", root.to_str().unwrap()), root.join(link)).unwrap();
        }
        let leads = |path: &str| {
            real_path(&root.join(path)).map(|real| real.strip_prefix(&root).unwrap().display().to_string())
        };
        for (path, place, is_created) in [
            ("a/relative", "other/new1", true),
            ("a/absolute", "other/new2", true),
            ("a/b/chain", "a/b/new3", true),
            ("folder/x", "other/x", true),
            ("a/through", "other/new4", true),
            ("a/up", "a/new5", true),
            ("plain", "plain", true),
            ("file", "file", true),
            ("nowhere", "missing/new6", false),
            ("not-yet/below/x", "later/below/x", false),
            ("file/below", "file/below", false),
            ("missing/deep/x", "missing/deep/x", false),
        ] {
            assert_eq!(leads(path).unwrap(), place, "{path}");
            let created = fs::write(root.join(path), path).is_ok();
            assert_eq!(created, is_created, "{path}");
            assert!(!created || fs::read_to_string(root.join(place)).unwrap() == path, "{path}");
            assert_eq!(leads(path).unwrap(), place, "{path}: also when it is there");
        }
        for path in ["circle", "self", "circle/below", "up-of-nothing"] {
            assert!(leads(path).is_err() && fs::write(root.join(path), "").is_err(), "{path}");
            assert_eq!(real_path_or_same(&root.join(path)), root.join(path));
        }
        for number in 0..100 {
            symlink(format!("n{}", number + 1), root.join(format!("n{number}"))).unwrap();
        }
        assert!(leads("n0").is_err() && fs::write(root.join("n0"), "").is_err());
        assert_eq!(leads("n90").unwrap(), "n100");
    }
}
