//! Modules of `offshoot-session` stand in `lib.rs` in reading order, and each uses only those above.
//!
//! A path that leads through the crate root (`crate::x`, or enough `super`s) must begin with a module
//! declared above the one that writes it. Code under `#[cfg(test)]` and the `testing` module are
//! exempt; a name re-exported by `lib.rs` is refused, because it would hide its module.

use super::finding::Finding;
use crate::repo::{Repo, RepoFile};
use crate::tokens::{Kind, Token, find};

const SOURCE: &str = "crates/offshoot-session/src/";
const EXEMPT: &str = "testing";

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    let lib_path = format!("{SOURCE}lib.rs");
    let Some(lib) = repo.file(&lib_path) else {
        return vec![Finding::about(&lib_path, "is missing: it declares the modules in reading order")];
    };
    let order = declared(&lib.tokens);
    if order.is_empty() {
        return vec![Finding::about(&lib_path, "declares no module")];
    }
    repo.under(SOURCE)
        .filter(|file| file.is_rust() && file.path != lib_path)
        .flat_map(|file| check_file(file, &order))
        .collect()
}

/// Names of the modules that a file declares at its top level, tests left out.
fn declared(tokens: &[Token]) -> Vec<String> {
    let at_top = |at: &usize| tokens[*at].depth == 0 && !tokens[*at].test;
    let names = find(tokens, &["mod"]).filter(at_top).filter_map(|at| tokens.get(at + 1));
    names.filter(|token| token.kind == Kind::Word).map(|token| token.text.clone()).collect()
}

fn check_file(file: &RepoFile, order: &[String]) -> Vec<Finding> {
    let module = module_path(&file.path);
    let Some(top) = module.first().filter(|top| *top != EXEMPT) else { return Vec::new() };
    let Some(own) = order.iter().position(|name| name == top) else {
        return vec![Finding::about(&file.path, format!("its module `{top}` is not declared in lib.rs"))];
    };
    let tokens = file.shipped();
    let mut findings = Vec::new();
    for (at, name) in root_paths(&tokens, module.len()) {
        let line = tokens[at].line;
        match order.iter().position(|module| *module == name) {
            Some(used) if used <= own => {}
            Some(_) => findings.push(Finding::at(
                &file.path,
                line,
                format!("`{top}` uses `{name}`, which lib.rs declares below it"),
            )),
            None => findings.push(Finding::at(
                &file.path,
                line,
                format!("`crate::{name}` is not a module of lib.rs: name the module it comes from"),
            )),
        }
    }
    findings
}

/// `tree.rs` -> `[tree]`, `log/medium.rs` -> `[log, medium]`, `log/mod.rs` -> `[log]`.
fn module_path(path: &str) -> Vec<String> {
    let inside = path.strip_prefix(SOURCE).unwrap_or(path).trim_end_matches(".rs").trim_end_matches("/mod");
    inside.split('/').map(str::to_owned).collect()
}

/// First names of all paths that start at the crate root, with where they stand.
fn root_paths(tokens: &[Token], module_depth: usize) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for at in find(tokens, &["crate", "::"]) {
        found.extend(names_after(tokens, at + 2));
    }
    for at in find(tokens, &["super", "::"]) {
        let continues = at >= 2 && tokens[at - 2].text == "super";
        let supers = 1 + tokens[at..].chunks(2).skip(1).take_while(|pair| pair[0].text == "super").count();
        if !continues && supers == module_depth + tokens[at].depth {
            found.extend(names_after(tokens, at + 2 * supers));
        }
    }
    found
}

/// The name at `at`, or the first name of each branch of the group that opens there.
fn names_after(tokens: &[Token], at: usize) -> Vec<(usize, String)> {
    let word = |at: usize| tokens.get(at).filter(|t| t.kind == Kind::Word).map(|t| (at, t.text.clone()));
    if tokens.get(at).is_none_or(|token| token.text != "{") {
        return word(at).into_iter().collect();
    }
    let mut names = Vec::new();
    let mut depth = 0_usize;
    for (here, token) in tokens.iter().enumerate().skip(at) {
        match token.text.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            break;
        }
        let starts_branch = matches!(token.text.as_str(), "{" | ",") && depth == 1;
        names.extend(word(here + 1).filter(|_| starts_branch));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::lines;

    const LIB: &str = "//! L.\npub mod id;\nmod line;\npub mod tree;\n#[cfg(feature = \"testing\")]\npub mod testing;\npub use tree::Tree;\n";

    fn found(path: &str, text: &str) -> Vec<String> {
        let path = format!("{SOURCE}{path}");
        lines(&check(&Repo::of(&[("crates/offshoot-session/src/lib.rs", LIB), (&path, text)])))
    }

    #[test]
    fn using_a_module_below_is_found_however_it_is_written() {
        for text in [
            "use crate::tree::Tree;",
            "fn f(t: &crate::tree::Tree) {}",
            "use crate::{id::EntryId, tree::{Tree, Node}};",
            "use super::tree::Tree;",
            "mod inner { use super::super::tree::Tree; }",
        ] {
            let found = found("line.rs", text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].contains("`line` uses `tree`"));
        }
    }

    #[test]
    fn a_submodule_belongs_to_its_top_module() {
        assert_eq!(found("line/tail.rs", "use crate::tree::Tree;\n").len(), 1);
        assert_eq!(found("line/tail.rs", "use super::super::tree::Tree;\n").len(), 1);
        assert_eq!(
            found("line/tail.rs", "use super::tree;\nuse crate::line::{Line, tree};\nuse crate::id::EntryId;\n"),
            [""; 0]
        );
    }

    #[test]
    fn a_re_export_of_the_root_is_refused() {
        let found = found("tree.rs", "use crate::Tree;");
        assert!(found[0].contains("`crate::Tree` is not a module"), "{found:?}");
    }

    #[test]
    fn tests_and_testing_are_exempt() {
        assert_eq!(
            found("line.rs", "#[cfg(test)]\nmod tests { use crate::tree::Tree; use crate::testing::dsl; }"),
            [""; 0]
        );
        assert_eq!(found("line/tests.rs", "use crate::tree::Tree;"), [""; 0]);
        assert_eq!(found("testing/dsl.rs", "use crate::Tree;"), [""; 0]);
        assert_eq!(found("line.rs", "use crate::testing::dsl;").len(), 1);
    }

    #[test]
    fn a_module_that_lib_rs_does_not_declare_and_a_missing_lib_rs_are_found() {
        assert_eq!(found("lost.rs", "fn f() {}").len(), 1);
        assert_eq!(check(&Repo::of(&[("crates/offshoot-session/src/id.rs", "")])).len(), 1);
    }
}
