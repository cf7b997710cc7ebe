//! The root folder contains what is listed here and nothing else: plans, notes and logs have no place in the
//! repository, and the root is where they first appear.

use std::collections::BTreeSet;

use super::finding::Finding;
use crate::repo::Repo;

const REQUIRED: &[&str] = &[
    ".cargo",
    ".ci",
    ".gitignore",
    "AGENTS.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "SECURITY.md",
    "clients",
    "clippy.toml",
    "conformance",
    "crates",
    "deny.toml",
    "examples",
    "docs",
    "rustfmt.toml",
    "xtask",
    "xtask-bench",
];

const OPTIONAL: &[&str] = &[".config", ".gitattributes", ".github", "fuzz"];

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    let there: BTreeSet<&str> = repo.files.iter().filter_map(|file| file.path.split('/').next()).collect();
    let missing = REQUIRED.iter().filter(|name| !there.contains(*name)).map(|name| Finding::about(name, "is missing"));
    let known = |name: &str| REQUIRED.contains(&name) || OPTIONAL.contains(&name);
    let strange = there
        .iter()
        .filter(|name| !known(name))
        .map(|name| Finding::about(name, "does not belong in the root folder (list in xtask/src/tidy/root.rs)"));
    missing.chain(strange).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::lines;

    #[test]
    fn a_stranger_and_a_gap_are_found() {
        let mut files: Vec<(&str, &str)> =
            REQUIRED.iter().filter(|name| **name != "deny.toml").map(|name| (*name, "")).collect();
        files.push(("PLAN.md", ""));
        files.push(("fuzz/lines.rs", ""));
        let found = lines(&check(&Repo::of(&files)));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("deny.toml: is missing") && found[1].starts_with("PLAN.md: does not belong"));
    }
}
