//! No text names a path of the machine on which it was written.
//!
//! Tests and their fixtures are exempt, and so are code blocks of documents and doc comments where `/tmp` is what a
//! reader would type.

use super::finding::Finding;
use crate::repo::{Repo, RepoFile};
use crate::tokens::Kind;

/// Folders of one machine, written in halves so that this file passes its own check.
const ROOTS: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/")];
const SCRATCH: &str = concat!("/t", "mp/");

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    let files = repo.texts().filter(|(file, _)| !file.is_test());
    files.flat_map(|(file, text)| check_file(file, text)).collect()
}

fn check_file(file: &RepoFile, text: &str) -> Vec<Finding> {
    let in_tests: Vec<usize> = file.tokens.iter().filter(|token| token.test).map(|token| token.line).collect();
    let mut findings = Vec::new();
    let mut in_block = false;
    for (at, line) in text.lines().enumerate() {
        let number = at + 1;
        in_block ^= line.trim_start().starts_with("```");
        let roots = ROOTS.iter().filter(|root| begins_path(line, root));
        findings.extend(roots.filter(|_| !in_tests.contains(&number)).map(|root| finding(file, number, root)));
        if file.path.ends_with(".md") && !in_block && begins_path(line, SCRATCH) {
            findings.push(finding(file, number, SCRATCH));
        }
    }
    let strings = file.tokens.iter().filter(|token| token.kind == Kind::Literal && !token.test);
    let code_strings = strings.filter(|token| token.text.starts_with(&format!("\"{SCRATCH}")));
    findings.extend(code_strings.map(|token| finding(file, token.line, SCRATCH)));
    findings
}

fn finding(file: &RepoFile, line: usize, root: &str) -> Finding {
    Finding::at(&file.path, line, format!("names a path under `{root}`, which is only on somebody's machine"))
}

/// Whether `root` occurs where a path can begin, not in the middle of a longer path.
fn begins_path(line: &str, root: &str) -> bool {
    line.match_indices(root).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && !"/._-~}$<>*".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::lines;

    fn found(path: &str, text: &str) -> Vec<String> {
        lines(&check(&Repo::of(&[(path, text)])))
    }

    #[test]
    fn a_private_path_is_found() {
        assert_eq!(found("docs/a.md", "see /work/shared/spec\n").len(), 1);
        assert_eq!(found("crates/a/src/a.rs", "//! A.\n// from /root/x\nconst A: &str = \"/tmp/peers\";\n").len(), 2);
        assert_eq!(found(".ci/run", "cd '/work/main'\n").len(), 1);
        assert_eq!(found("docs/a.md", "logs are in /tmp/x\n").len(), 1);
    }

    #[test]
    fn longer_paths_tests_and_examples_are_fine() {
        assert_eq!(
            found(
                "docs/a.md",
                "`/home/u/work/project` and ~/work/x, $HOME/tmp/y\n```\noffshoot export latest -o /tmp/page.html\n```\n"
            ),
            [""; 0]
        );
        assert_eq!(found("crates/a/tests/a.rs", "const A: &str = \"/work/x\";\n"), [""; 0]);
        assert_eq!(
            found("crates/a/src/a.rs", "//! A.\n#[cfg(test)]\nmod tests {\n    const A: &str = \"/work/x\";\n}\n"),
            [""; 0]
        );
    }
}
