//! Every Rust file opens with `//!`: what it owns and what it must not know.

use super::finding::Finding;
use crate::repo::{Repo, RepoFile};

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    repo.rust().filter_map(check_file).collect()
}

fn check_file(file: &RepoFile) -> Option<Finding> {
    if let Some(why) = &file.unreadable {
        return Some(Finding::about(&file.path, why.clone()));
    }
    let first = file.text.as_deref().and_then(|text| text.lines().next()).unwrap_or_default();
    let says_something = first.strip_prefix("//!").is_some_and(|rest| !rest.trim().is_empty());
    (!says_something).then(|| Finding::at(&file.path, 1, "must open with `//!` that says what the file owns"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::lines;

    #[test]
    fn a_file_without_a_purpose_is_found() {
        let repo = Repo::of(&[
            ("crates/a/src/good.rs", "//! Good.\n"),
            ("crates/a/src/bare.rs", "use std::fs;\n//! too late\n"),
            ("crates/a/src/empty.rs", "//!\n"),
            ("crates/a/src/broken.rs", "//! Broken.\nfn f( {"),
        ]);
        let found = lines(&check(&repo));
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].starts_with("crates/a/src/bare.rs:1:"));
        assert!(found[1].contains("does not read as Rust"));
    }
}
