//! Paths that a person or a model wrote, in the home directory. Reads nothing.

use std::path::{Path, PathBuf};

/// The path with the home directory in place of a first part `~`. All else is exactly what it says: `~ann/x` is the file `x` in a folder
/// named `~ann`, as is `~` if no home directory is known.
#[must_use]
pub fn expand_home(path: impl AsRef<Path>, home: Option<&Path>) -> PathBuf {
    let path = path.as_ref();
    match (path.strip_prefix("~"), home) {
        // Joining nothing would add a separator.
        (Ok(rest), Some(home)) if rest.as_os_str().is_empty() => home.to_path_buf(),
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_part_that_is_a_tilde_is_the_home_directory() {
        for (text, path) in [
            ("~", "/home/ann"),
            ("~/", "/home/ann"),
            ("~/x/y", "/home/ann/x/y"),
            ("~//etc/passwd", "/home/ann/etc/passwd"),
            ("~/../bob", "/home/ann/../bob"),
            ("~bob", "~bob"),
            ("~bob/x", "~bob/x"),
            ("./~/x", "./~/x"),
            ("a/~", "a/~"),
            ("/etc", "/etc"),
            ("", ""),
        ] {
            assert_eq!(expand_home(text, Some(Path::new("/home/ann"))).to_str(), Some(path), "{text:?}");
            assert_eq!(expand_home(text, None).to_str(), Some(text));
        }
    }
}
