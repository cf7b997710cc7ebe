//! A name of a public type means one thing: no two crates of the workspace have a public type of the same name.
//!
//! Must not know what the types are.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::Finding;
use crate::repo::Repo;
use crate::tokens::{Kind, find};

/// Names that several crates have, and why they may. Nothing is added without a reason of its own.
const SHARED: &[(&str, &[&str])] = &[
    ("each crate has its own, and is named with it", &["Error", "Failure", "Options", "Result"]),
    ("what the library stores, and what the agent works with in its place", &["Message", "Summary", "Usage"]),
    ("a row of the table of operations, and what it works on", &["Label", "Pick"]),
    (
        "a part of the terminal's screen or of its loop, which no other crate but the program sees",
        &[
            "About",
            "Action",
            "Answer",
            "Context",
            "Extensions",
            "Files",
            "Folds",
            "Input",
            "KeyError",
            "Model",
            "Origin",
            "Problem",
            "Program",
            "Purpose",
            "Question",
            "Request",
            "Scope",
            "Sessions",
            "Setting",
            "Settings",
            "Setup",
            "Side",
            "Snapshot",
            "Sort",
            "Speaker",
        ],
    ),
];

const KINDS: &[&str] = &["struct", "enum", "trait", "type", "union"];

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    against(repo, SHARED)
}

fn against(repo: &Repo, shared: &[(&str, &[&str])]) -> Vec<Finding> {
    let named = named(repo);
    let is_shared = |name: &str| shared.iter().any(|(_, names)| names.contains(&name));
    let mut findings = Vec::new();
    for (name, places) in &named {
        let crates: BTreeSet<&str> = places.iter().map(|(path, _)| crate_of(path)).collect();
        if let (Some((path, line)), true) = (places.last(), crates.len() > 1 && !is_shared(name)) {
            let first = places.first().map_or("", |(path, _)| path.as_str());
            findings.push(Finding::at(path, *line, format!("`{name}` is also the name of a type in {first}")));
        }
    }
    let own = |name: &str| {
        named.get(name).map_or(0, |of| of.iter().map(|(path, _)| crate_of(path)).collect::<BTreeSet<_>>().len())
    };
    let unused = shared.iter().flat_map(|(_, names)| names.iter()).filter(|name| own(name) < 2);
    findings.extend(
        unused.map(|name| Finding::about("xtask/src/tidy/names.rs", format!("`{name}` is not shared any more"))),
    );
    findings
}

/// Where the public types of each name stand.
fn named(repo: &Repo) -> BTreeMap<String, Vec<(String, usize)>> {
    let mut named: BTreeMap<String, Vec<(String, usize)>> = BTreeMap::new();
    for file in repo.under("crates/").filter(|file| file.is_rust() && !file.path.contains("/src/testing")) {
        let tokens = file.shipped();
        for kind in KINDS {
            for at in find(&tokens, &["pub", kind]) {
                let Some(name) = tokens.get(at + 2).filter(|token| token.kind == Kind::Word) else { continue };
                named.entry(name.text.clone()).or_default().push((file.path.clone(), name.line));
            }
        }
    }
    named
}

fn crate_of(path: &str) -> &str {
    path.split('/').nth(1).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::lines;

    #[test]
    fn two_public_types_of_a_name_are_found() {
        let repo = Repo::of(&[
            ("crates/a/src/x.rs", "pub struct Call;\npub enum Own {}\npub type Result<T> = T;\n"),
            ("crates/a/src/y.rs", "pub struct Own;\n"),
            ("crates/b/src/x.rs", "pub(crate) struct Own;\n\npub trait Call {}\npub type Result<T> = T;\n"),
            ("crates/b/src/tests.rs", "pub struct Own;\n"),
        ]);
        let shared: &[(&str, &[&str])] = &[("its own", &["Result"])];
        let found = "crates/b/src/x.rs:3: `Call` is also the name of a type in crates/a/src/x.rs";
        assert_eq!(lines(&against(&repo, shared)), [found]);
        let gone = "xtask/src/tidy/names.rs: `Own` is not shared any more";
        assert_eq!(lines(&against(&repo, &[("its own", &["Result", "Call", "Own"])])), [gone]);
    }
}
