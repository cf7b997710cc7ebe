//! Clock, environment, printing and randomness come in only through the files listed here; all other code takes them as
//! arguments, which makes it testable and embeddable.
//!
//! Clippy bans the calls (see clippy.toml). This check owns the list of files that may lift a ban, with a reason in the
//! attribute. A new row needs a reviewer's agreement.

use super::finding::Finding;
use crate::repo::{Repo, RepoFile};
use crate::tokens::find;

const LINTS: &[&str] = &["disallowed_methods", "print_stdout", "print_stderr"];

/// A path that ends with `/` means the whole folder.
const ALLOWED: &[&str] = &[
    "crates/offshoot-agent/examples/",
    "crates/offshoot-app/src/config.rs",
    "crates/offshoot-app/src/ui.rs",
    "crates/offshoot-extensions/examples/",
    "crates/offshoot-files/examples/",
    "crates/offshoot-search/examples/",
    "crates/offshoot-session/examples/",
    "crates/offshoot-session/src/clock.rs",
    "crates/offshoot-session/src/id.rs",
    "crates/offshoot-session/src/zone.rs",
    "crates/offshoot-tui/examples/",
    "xtask-bench/src/",
    "xtask/src/env.rs",
    "xtask/src/out.rs",
    "xtask/src/run.rs",
    "xtask/src/tidy/pins.rs",
];

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    repo.rust().flat_map(check_file).chain(stale_rows(repo, ALLOWED)).collect()
}

fn is_at(place: &str, path: &str) -> bool {
    path == place || (place.ends_with('/') && path.starts_with(place))
}

fn check_file(file: &RepoFile) -> Vec<Finding> {
    if ALLOWED.iter().any(|place| is_at(place, &file.path)) {
        return Vec::new();
    }
    let tokens = file.shipped();
    let mut findings = Vec::new();
    for lint in LINTS {
        let pattern = ["clippy", "::", lint];
        let lifted = find(&tokens, &pattern);
        // `cfg_attr(test, allow(...))` lifts a ban for tests only.
        let shipped =
            lifted.filter(|at| !tokens[at.saturating_sub(8)..*at].iter().any(|token| token.text == "cfg_attr"));
        findings.extend(shipped.map(|at| {
            let what = format!("lifts `{lint}`: take it as an argument, or see the list in xtask/src/tidy/borders.rs");
            Finding::at(&file.path, tokens[at].line, what)
        }));
    }
    findings
}

/// A row for a removed file would silently allow its successor.
fn stale_rows(repo: &Repo, rows: &[&str]) -> Vec<Finding> {
    let gone = rows.iter().filter(|place| !repo.files.iter().any(|file| is_at(place, &file.path)));
    gone.map(|place| Finding::about(place, "is not there: take its row out of xtask/src/tidy/borders.rs")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<String> {
        let repo = Repo::of(&[(path, text)]);
        repo.rust().flat_map(check_file).map(|finding| finding.to_string()).collect()
    }

    const LIFTED: &str = "//! X.\n#[expect(clippy::disallowed_methods, reason = \"x\")]\nfn f() {}\n#[allow(clippy::dbg_macro, clippy::print_stdout, reason = \"x\")]\nfn g() {}\n";

    #[test]
    fn a_ban_that_is_lifted_is_found_but_not_in_the_files_of_the_list() {
        let found_in = |path: &str| found(path, LIFTED);
        let tree = found_in("crates/offshoot-session/src/tree.rs");
        assert_eq!(tree.len(), 2, "{tree:?}");
        assert!(tree[0].starts_with("crates/offshoot-session/src/tree.rs:2: lifts `disallowed_methods`"), "{tree:?}");
        assert!(tree[1].starts_with("crates/offshoot-session/src/tree.rs:4: lifts `print_stdout`"), "{tree:?}");
        assert_eq!(found_in("crates/offshoot-session/src/clock.rs"), [""; 0]);
        assert_eq!(found_in("crates/offshoot-tui/examples/tree.rs"), [""; 0]);
        assert_eq!(found_in("crates/offshoot/tests/cli/list.rs"), [""; 0]);
    }

    #[test]
    fn tests_may_prepare_files() {
        let tests = "//! X.\n#![cfg_attr(test, allow(clippy::disallowed_methods, reason = \"x\"))]\n#[cfg(test)]\n#[allow(clippy::disallowed_methods, reason = \"x\")]\nmod tests {}\n";
        assert_eq!(found("crates/a/src/lib.rs", tests), [""; 0]);
    }

    #[test]
    fn a_row_for_a_file_that_is_gone_is_found() {
        let repo = Repo::of(&[("crates/a/src/there.rs", "//! T.\n")]);
        assert_eq!(stale_rows(&repo, &["crates/a/src/there.rs", "crates/a/src/gone.rs", "crates/b/"]).len(), 2);
    }
}
