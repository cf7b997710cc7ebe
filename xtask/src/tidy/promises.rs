//! The contracts name tests that exist, as `file::test` in backticks, and every promise about security names one.
//! Whether the test proves the sentence is for people to judge.

use super::finding::Finding;
use crate::repo::Repo;

const DURABILITY: &str = "docs/durability.md";
const SECURITY: &str = "docs/security.md";
/// The list below this heading promises nothing.
const NOT_DONE: &str = "## Not done yet";

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    [DURABILITY, SECURITY].iter().flat_map(|document| of_document(repo, document)).collect()
}

fn of_document(repo: &Repo, document: &'static str) -> Vec<Finding> {
    let Some(text) = repo.text(document) else { return vec![Finding::about(document, "is missing")] };
    let mut findings = Vec::new();
    for (at, line) in text.lines().enumerate() {
        for (file, test) in names(line).filter(|(_, test)| *test != "test") {
            if !is_there(repo, file, test) {
                findings.push(Finding::at(document, at + 1, format!("there is no test `{file}::{test}`")));
            }
        }
    }
    if document == SECURITY {
        let unproved = promises(text).filter(|(_, promise)| names(promise).next().is_none());
        findings.extend(unproved.map(|(line, _)| Finding::at(document, line, "the promise names no test".to_owned())));
    }
    findings
}

/// The items of the lists, with the number of their first line.
fn promises(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut items: Vec<(usize, String)> = Vec::new();
    for (at, line) in text.lines().enumerate().take_while(|(_, line)| *line != NOT_DONE) {
        match items.last_mut() {
            _ if line.starts_with("- ") => items.push((at + 1, line.to_owned())),
            Some((_, item)) if line.starts_with("  ") => item.push_str(line),
            _ => {}
        }
    }
    items.into_iter()
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
            ("docs/security.md", "- Safe:\n  `growth::it_stays`.\n- Safer.\n\n## Not done yet\n\n- Safest.\n"),
            (
                "docs/durability.md",
                "Kept: `growth::it_stays`.\nAlso `growth::it_goes`, see `Session::append`, `it/growth::it_goes`.\n",
            ),
            ("crates/a/tests/it/growth.rs", "//! G.\n#[test]\nfn it_stays() {}\n"),
        ]);
        let found = lines(&check(&repo));
        assert_eq!(found.len(), 3, "{found:?}");
        assert_eq!(found[2], "docs/security.md:3: the promise names no test");
        assert!(found[0].contains("`growth::it_goes`") && found[1].contains("`it/growth::it_goes`"), "{found:?}");
    }
}
