//! Sizes of files: reported, not enforced. A file over 500 lines is probably two ideas.

use crate::repo::{Repo, RepoFile};

const LONG: usize = 500;
const SHOWN: usize = 5;

pub(crate) fn report(repo: &Repo) -> String {
    let mut sizes: Vec<(usize, &str)> =
        repo.rust().filter(|file| !file.is_test()).map(|file| (lines_before_tests(file), file.path.as_str())).collect();
    sizes.sort_unstable();
    let median = sizes.get(sizes.len() / 2).map_or(0, |(lines, _)| *lines);
    let long = sizes.iter().filter(|(lines, _)| *lines > LONG).count();
    let mut report =
        format!("sizes: {} files, median {median} lines before tests, {long} over {LONG}; longest:", sizes.len());
    for (lines, path) in sizes.iter().rev().take(SHOWN) {
        report.push_str(&format!("\n  {lines:>5}  {path}"));
    }
    report
}

fn lines_before_tests(file: &RepoFile) -> usize {
    let all = file.text.as_deref().map_or(0, |text| text.lines().count());
    file.tokens.iter().find(|token| token.test).map_or(all, |token| token.line - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_do_not_make_a_file_long() {
        let long = "fn f() {}\n".repeat(600);
        let tested = format!("fn f() {{}}\n#[cfg(test)]\nmod tests {{\n{long}}}\n");
        let report = report(&Repo::of(&[("crates/a/src/long.rs", &long), ("crates/a/src/tested.rs", &tested)]));
        assert!(report.contains("1 over 500"), "{report}");
        assert!(report.contains("    1  crates/a/src/tested.rs"), "{report}");
    }
}
