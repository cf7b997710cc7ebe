//! Banned everywhere: `#[ignore]`, `#[should_panic]`, tabs in Rust, white space at a line's end. Clippy's own lints are
//! not repeated here.

use super::finding::Finding;
use crate::repo::{Repo, RepoFile};
use crate::tokens::find;

const BANNED: &[(&[&str], &str)] = &[
    (&["#", "[", "ignore"], "a test that does not run proves nothing: make it run or remove it"),
    (&["#", "[", "should_panic"], "assert on the error instead"),
];

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    let white_space = repo.texts().flat_map(|(file, text)| white_space(file, text));
    white_space.chain(repo.rust().flat_map(banned)).collect()
}

fn white_space(file: &RepoFile, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.ends_with([' ', '\t']) {
            findings.push(Finding::at(&file.path, at + 1, "white space at the end of the line"));
        }
        if file.is_rust() && line.contains('\t') {
            findings.push(Finding::at(&file.path, at + 1, "a tab: write spaces, or \\t inside a string"));
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        findings.push(Finding::about(&file.path, "does not end with a newline"));
    }
    findings
}

fn banned(file: &RepoFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pattern, why) in BANNED {
        for at in find(&file.tokens, pattern) {
            findings.push(Finding::at(&file.path, file.tokens[at].line, format!("`{}`: {why}", pattern.concat())));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::lines;

    fn found(text: &str) -> Vec<String> {
        lines(&check(&Repo::of(&[("crates/a/src/x.rs", text)])))
    }

    #[test]
    fn white_space_is_found() {
        let found = found("//! X. \nfn f() {\tg() }");
        assert_eq!(found.len(), 3, "{found:?}");
    }

    #[test]
    fn tests_that_are_skipped_or_want_a_panic_are_found() {
        let found = found("//! X.\n#[ignore = \"slow\"]\nfn f() {\n    g()\n}\n#[should_panic]\nfn g() {}\n");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[1].starts_with("crates/a/src/x.rs:6:"), "{found:?}");
    }

    #[test]
    fn words_in_comments_and_strings_are_fine() {
        assert_eq!(found("//! X: no #[ignore].\nconst A: &str = \"#[ignore]\";\n"), [""; 0]);
    }
}
