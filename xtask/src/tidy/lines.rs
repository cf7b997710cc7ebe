//! Lines of product code of each crate: what is neither blank, nor a comment, nor seen by tests alone. Knows no limit.
//!
//! Test files, `#[cfg(test)]` items and modules named `testing` do not count, nor does anything outside `src/`.

use std::collections::BTreeMap;

use super::modules::Modules;
use super::order::{TESTING, is_root};
use crate::repo::{Repo, RepoFile};

#[derive(Debug, Default, PartialEq, Eq)]
struct CrateLines {
    files: usize,
    lines: usize,
}

pub(crate) fn report(repo: &Repo) -> String {
    let counted = count(repo);
    let row = |name: &str, of: &CrateLines| format!("{:>7} lines {:>4} files  {name}", of.lines, of.files);
    let all = counted
        .values()
        .fold(CrateLines::default(), |sum, of| CrateLines { files: sum.files + of.files, lines: sum.lines + of.lines });
    let rows: Vec<String> = counted.iter().map(|(name, of)| row(name, of)).collect();
    format!("{}\n{}", rows.join("\n"), row("all", &all))
}

fn count(repo: &Repo) -> BTreeMap<String, CrateLines> {
    let mut counted: BTreeMap<String, CrateLines> = BTreeMap::new();
    for root in repo.rust().map(|file| file.path.as_str()).filter(|path| is_root(path)) {
        let name = root.trim_end_matches("/src/lib.rs").trim_end_matches("/src/main.rs").trim_start_matches("crates/");
        let modules = Modules::read(repo, root);
        let shipped = modules.iter().filter(|file| modules.is_shipped(file));
        for source in shipped.filter(|file| !file.place.iter().any(|name| name == TESTING)) {
            let of = counted.entry(name.to_owned()).or_default();
            of.files += 1;
            of.lines += repo.file(source.path()).map_or(0, lines);
        }
    }
    counted
}

fn lines(file: &RepoFile) -> usize {
    let text = file.text.as_deref().unwrap_or_default();
    let mut is_test = vec![false; text.lines().count() + 1];
    for run in file.tokens.chunk_by(|a, b| a.test == b.test).filter(|run| run[0].test) {
        let last = run[run.len() - 1].line.min(is_test.len() - 1);
        is_test[run[0].line..=last].fill(true);
    }
    let is_code = |line: &str| !line.is_empty() && !line.starts_with("//");
    text.lines().zip(&is_test[1..]).filter(|(line, is_test)| is_code(line.trim()) && !**is_test).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_blanks_and_tests_do_not_count() {
        let code = "//! Says so.\n\n/// Doc.\nfn f() {\n    // Why.\n    g(\"a\n    b\")\n}\n";
        let tested = format!("{code}#[cfg(test)]\nmod tests {{\n    fn f() {{}}\n}}\n");
        let repo = Repo::of(&[
            ("crates/a/src/lib.rs", "mod one;\n#[cfg(test)]\nmod tests;\npub mod testing;\n"),
            ("crates/a/src/one.rs", &tested),
            ("crates/a/src/tests.rs", code),
            ("crates/a/src/testing.rs", code),
            ("crates/a/tests/it/main.rs", code),
        ]);
        let expected = CrateLines { files: 2, lines: 2 + 4 };
        assert_eq!(count(&repo), BTreeMap::from([("a".to_owned(), expected)]));
        assert!(report(&repo).ends_with("      6 lines    2 files  all"), "{}", report(&repo));
    }
}
