//! Every sentence of the durability contract names a test that exists, as `file::test` in backticks. Whether the test
//! proves the sentence is for people to judge.

use super::finding::Finding;
use crate::repo::Repo;

const DOCUMENT: &str = "docs/durability.md";

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    let Some(text) = repo.text(DOCUMENT) else { return vec![Finding::about(DOCUMENT, "is missing")] };
    let mut findings = Vec::new();
    for (at, line) in text.lines().enumerate() {
        for (file, test) in names(line).filter(|(_, test)| *test != "test") {
            if !is_there(repo, file, test) {
                findings.push(Finding::at(DOCUMENT, at + 1, format!("there is no test `{file}::{test}`")));
            }
        }
    }
    findings
}

fn names(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_name =
        |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    let quoted = line.split('`').skip(1).step_by(2);
    let named = quoted.filter_map(|word| word.split_once("::"));
    named.filter(move |(file, test)| file.split('/').all(is_name) && is_name(test))
}

fn is_there(repo: &Repo, file: &str, test: &str) -> bool {
    let (name, function) = (format!("/{file}.rs"), format!("fn {test}("));
    repo.rust()
        .any(|rust| rust.path.ends_with(&name) && rust.text.as_ref().is_some_and(|text| text.contains(&function)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::lines;

    #[test]
    fn a_promise_without_its_test_is_found() {
        let repo = Repo::of(&[
            (
                "docs/durability.md",
                "Kept: `growth::it_stays`.\nAlso `growth::it_goes`, see `Session::append`, `it/growth::it_goes`.\n",
            ),
            ("crates/a/tests/it/growth.rs", "//! G.\n#[test]\nfn it_stays() {}\n"),
        ]);
        let found = lines(&check(&repo));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("`growth::it_goes`") && found[1].contains("`it/growth::it_goes`"), "{found:?}");
    }
}
