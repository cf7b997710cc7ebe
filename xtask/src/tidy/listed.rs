//! Each Rust file is declared by the file above it. The compiler never opens a file that no `mod` names, so the tests
//! of a forgotten file would always pass.

use super::finding::Finding;
use crate::repo::{Repo, RepoFile};
use crate::tokens::{Kind, Token, find};

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    repo.rust().filter_map(|file| check_file(repo, file)).collect()
}

fn check_file(repo: &Repo, file: &RepoFile) -> Option<Finding> {
    let (package, inside) = split(&file.path)?;
    let (area, rest) = inside.split_once('/')?;
    let module = rest.trim_end_matches(".rs").trim_end_matches("/mod");
    let parents = match area {
        "src" => source_parents(module)?,
        "tests" | "benches" => test_parents(module)?,
        _ => return None,
    };
    let name = module.rsplit('/').next()?;
    let declares = |parent: &String| {
        repo.file(&format!("{package}{area}/{parent}")).is_some_and(|file| declares(&file.tokens, name))
    };
    let listed = parents.iter().any(declares);
    (!listed).then(|| {
        Finding::about(&file.path, format!("no `mod {name};` in {}: nothing compiles it", parents.join(" or ")))
    })
}

/// `crates/a/src/b.rs` -> (`crates/a/`, `src/b.rs`).
fn split(path: &str) -> Option<(&str, &str)> {
    let rest = path.strip_prefix("crates/").and_then(|rest| rest.split_once('/')).map(|(_, rest)| rest);
    let rest = rest.or_else(|| path.strip_prefix("xtask/")).or_else(|| path.strip_prefix("xtask-bench/"))?;
    Some((&path[..path.len() - rest.len()], rest))
}

/// Files that may declare a module under `src/`; `None` for a root.
fn source_parents(module: &str) -> Option<Vec<String>> {
    match module.rsplit_once('/') {
        None if matches!(module, "lib" | "main") => None,
        None => Some(vec!["lib.rs".to_owned(), "main.rs".to_owned()]),
        Some(("bin", _)) => None,
        Some((folder, _)) => Some(vec![format!("{folder}.rs"), format!("{folder}/mod.rs")]),
    }
}

/// A file directly under `tests/`, or `main.rs` of a folder there, is a binary of its own.
fn test_parents(module: &str) -> Option<Vec<String>> {
    let (folder, name) = module.rsplit_once('/')?;
    if name == "main" || folder.split('/').any(|part| part == "fixtures") {
        return None;
    }
    Some(vec![format!("{folder}/main.rs"), format!("{folder}/mod.rs"), format!("{folder}.rs"), "main.rs".to_owned()])
}

fn declares(tokens: &[Token], name: &str) -> bool {
    let by_path = |token: &Token| {
        token.kind == Kind::Literal
            && (token.text.ends_with(&format!("/{name}.rs\"")) || token.text == format!("\"{name}.rs\""))
    };
    find(tokens, &["mod", name]).next().is_some()
        || (find(tokens, &["#", "[", "path"]).next().is_some() && tokens.iter().any(by_path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::lines;

    #[test]
    fn a_forgotten_source_file_is_found() {
        let repo = Repo::of(&[
            ("crates/a/src/lib.rs", "mod line;\npub mod tree { }\n"),
            ("crates/a/src/line.rs", "mod tail;"),
            ("crates/a/src/line/tail.rs", ""),
            ("crates/a/src/line/lost.rs", ""),
            ("crates/a/src/forgotten.rs", ""),
        ]);
        let found = lines(&check(&repo));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("crates/a/src/forgotten.rs") && found[1].starts_with("crates/a/src/line/lost.rs"));
    }

    #[test]
    fn a_forgotten_test_file_is_found() {
        let repo = Repo::of(&[
            ("crates/a/tests/cli/main.rs", "mod list;"),
            ("crates/a/tests/cli/list.rs", ""),
            ("crates/a/tests/cli/tree.rs", ""),
            ("crates/a/tests/alone.rs", ""),
        ]);
        let found = lines(&check(&repo));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/a/tests/cli/tree.rs"));
    }

    #[test]
    fn one_binary_at_the_top_may_list_the_folder() {
        let repo = Repo::of(&[("crates/a/tests/main.rs", "mod cli { mod list; }"), ("crates/a/tests/cli/list.rs", "")]);
        assert_eq!(check(&repo), []);
    }

    #[test]
    fn a_module_with_a_path_attribute_counts() {
        let repo = Repo::of(&[
            ("crates/a/src/lib.rs", "#[path = \"x_tests.rs\"]\nmod tests;"),
            ("crates/a/src/x_tests.rs", ""),
        ]);
        assert_eq!(check(&repo), []);
    }
}
