//! Every module at the top of a crate is on the map: `ARCHITECTURE.md` names it in backticks.

use super::finding::Finding;
use crate::repo::Repo;
use crate::tokens::{Kind, find};

const MAP: &str = "ARCHITECTURE.md";

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    let Some(map) = repo.text(MAP) else { return vec![Finding::about(MAP, "is missing")] };
    let named = named(map);
    let is_root =
        |path: &str| path.starts_with("crates/") && (path.ends_with("/src/lib.rs") || path.ends_with("/src/main.rs"));
    let mut findings = Vec::new();
    for file in repo.rust().filter(|file| is_root(&file.path)) {
        let tokens = file.shipped();
        for at in find(&tokens, &["mod"]).filter(|at| tokens[*at].depth == 0) {
            let Some(name) = tokens.get(at + 1).filter(|token| token.kind == Kind::Word) else { continue };
            if !named.contains(&name.text.as_str()) {
                findings.push(Finding::at(&file.path, name.line, format!("{MAP} does not name `{}`", name.text)));
            }
        }
    }
    findings
}

/// The words in backticks: of `provider/{wire,http}` each.
fn named(map: &str) -> Vec<&str> {
    let spans = map.split('`').skip(1).step_by(2);
    spans.flat_map(|span| span.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')).collect()
}

#[cfg(test)]
mod tests {
    use super::super::finding::lines;
    use super::*;

    #[test]
    fn a_module_that_is_not_on_the_map_is_found() {
        let code = "mod a;\npub mod b;\n#[cfg(test)]\nmod tests;\n";
        let found = |map: &str| lines(&check(&Repo::of(&[("crates/x/src/lib.rs", code), (MAP, map)])));
        assert_eq!(found("`a` and `x/{b,c}`"), [""; 0]);
        assert_eq!(found("`a`, b"), ["crates/x/src/lib.rs:2: ARCHITECTURE.md does not name `b`"]);
    }
}
