//! Words and white space that no file of the repository may hold.
//!
//! `#[ignore]`, `#[should_panic]`, `todo!`, lints switched off without a reason, tabs in Rust, white
//! space at a line's end.

use super::finding::Finding;
use crate::repo::{Repo, RepoFile};
use crate::tokens::{Kind, Token, find};

/// Token patterns that are never right, and why.
const BANNED: &[(&[&str], &str)] = &[
    (&["#", "[", "ignore"], "a test that does not run proves nothing: make it run or remove it"),
    (&["#", "[", "should_panic"], "assert on the error instead"),
    (&["todo", "!"], "finish it, or leave it out"),
    (&["unimplemented", "!"], "finish it, or leave it out"),
];

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    let white_space = repo.texts().flat_map(|(file, text)| white_space(file, text));
    let words = repo.rust().flat_map(|file| [banned(file), silenced(file)]).flatten();
    white_space.chain(words).collect()
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

/// `allow(...)` or `expect(...)` of a lint without `reason = "..."` in the same attribute.
fn silenced(file: &RepoFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for level in ["allow", "expect"] {
        for at in find(&file.tokens, &[level, "("]) {
            let attribute = at > 0 && matches!(file.tokens[at - 1].text.as_str(), "[" | ",");
            let inside = group(&file.tokens, at + 1);
            let lint =
                inside.iter().filter(|t| t.kind == Kind::Word).map(|t| t.text.as_str()).find(|word| *word != "clippy");
            let reasoned = find(inside, &["reason", "="]).next().is_some();
            if let Some(lint) = lint.filter(|_| attribute && !reasoned && in_attribute(&file.tokens, at)) {
                let what = format!("`{level}({lint})` without a reason: obey the lint, or give `reason = \"...\"`");
                findings.push(Finding::at(&file.path, file.tokens[at].line, what));
            }
        }
    }
    findings
}

/// The tokens from an opening parenthesis to the one that closes it.
fn group(tokens: &[Token], open: usize) -> &[Token] {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open).filter(|(_, t)| t.kind == Kind::Sign) {
        match token.text.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &tokens[open + 1..at];
        }
    }
    &[]
}

/// Whether the word at `at` is the name of an attribute or sits in a `cfg_attr`.
fn in_attribute(tokens: &[Token], at: usize) -> bool {
    let before = &tokens[at.saturating_sub(3)..at];
    let texts: Vec<&str> = before.iter().map(|token| token.text.as_str()).collect();
    matches!(texts.as_slice(), [.., "#", "["] | [.., "#", "!", "["])
        || tokens[..at].iter().rev().take(24).any(|t| t.text == "cfg_attr")
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
    fn skipped_tests_and_unfinished_code_are_found() {
        let found = found("//! X.\n#[ignore = \"slow\"]\nfn f() {\n    todo!()\n}\n#[should_panic]\nfn g() {}\n");
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found.iter().any(|line| line.starts_with("crates/a/src/x.rs:4:")));
    }

    #[test]
    fn words_in_comments_and_strings_are_fine() {
        assert_eq!(found("//! X: no todo!, no #[ignore].\nconst A: &str = \"todo!() #[ignore]\";\n"), [""; 0]);
    }

    #[test]
    fn a_lint_needs_a_reason_to_be_silent() {
        let bare = found("//! X.\n#[allow(clippy::too_many_lines)]\nfn f() {}\n");
        assert_eq!(bare.len(), 1, "{bare:?}");
        assert!(bare[0].contains("too_many_lines"));
        let in_cfg_attr = found("//! X.\n#![cfg_attr(test, allow(clippy::unwrap_used))]\n");
        assert_eq!(in_cfg_attr.len(), 1, "{in_cfg_attr:?}");
        assert_eq!(
            found("//! X.\n#[expect(clippy::panic, reason = \"a test double\")]\nfn f() { x.expect(a, b); }\n"),
            [""; 0]
        );
    }
}
