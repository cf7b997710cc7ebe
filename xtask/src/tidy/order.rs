//! Modules are declared in reading order, at every level of every crate: each uses only those above it.
//!
//! A file may use modules declared above its own module, modules declared above those that contain it, the items of
//! those containing modules, and everything below itself. So imports form no cycle, except between a parent and its
//! children. A name counts for the file that defines it, wherever it is re-exported. Code under `#[cfg(test)]` and
//! modules named `testing` are exempt.

use super::finding::Finding;
use super::modules::{Modules, SourceFile, Target};
use crate::repo::Repo;

pub(super) const TESTING: &str = "testing";

/// Files whose modules still form cycles. Rows may only be removed.
const CYCLES: &[&str] = &[];

pub(crate) fn check(repo: &Repo) -> Vec<Finding> {
    check_but(repo, CYCLES)
}

fn check_but(repo: &Repo, cycles: &[&str]) -> Vec<Finding> {
    let roots = repo.rust().map(|file| file.path.as_str()).filter(|path| is_root(path));
    let found: Vec<Disorder> = roots.flat_map(|root| check_crate(&Modules::read(repo, root))).collect();
    let healed = cycles.iter().filter(|path| !found.iter().any(|disorder| disorder.declared_in == **path));
    let healed = healed.map(|path| Finding::about(path, "is in order: take it off CYCLES in xtask/src/tidy/order.rs"));
    let healed: Vec<Finding> = healed.collect();
    let left = found.into_iter().filter(|disorder| !cycles.contains(&disorder.declared_in.as_str()));
    left.map(|disorder| disorder.finding).chain(healed).collect()
}

/// The root of a library or a program. A package may have both: they share a folder, but no modules.
pub(super) fn is_root(path: &str) -> bool {
    let is_ours = path.starts_with("crates/") || path.starts_with("xtask");
    is_ours && (path.ends_with("/src/lib.rs") || path.ends_with("/src/main.rs"))
}

struct Disorder {
    declared_in: String,
    finding: Finding,
}

fn check_crate(modules: &Modules<'_>) -> Vec<Disorder> {
    let shipped =
        modules.iter().filter(|file| modules.is_shipped(file) && !file.place.iter().any(|name| name == TESTING));
    shipped.flat_map(|file| check_file(modules, file)).collect()
}

/// The imports that are out of order; of each imported file only the first name.
fn check_file(modules: &Modules<'_>, file: &SourceFile<'_>) -> Vec<Disorder> {
    let mut named: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for path in &file.paths {
        let Some(target) = modules.target(file, path) else { continue };
        let Some((declared_in, what)) = disorder(modules, file, &target) else { continue };
        let other = target.file.path();
        if !named.contains(&other) {
            named.push(other);
            found.push(Disorder { declared_in, finding: Finding::at(file.path(), path.line, what) });
        }
    }
    found
}

/// The file that declares the modules of both ends, and the finding's text; `None` if the import is in order.
fn disorder(modules: &Modules<'_>, file: &SourceFile<'_>, target: &Target<'_>) -> Option<(String, String)> {
    let shared = file.place.iter().zip(&target.file.place).take_while(|(one, other)| one == other).count();
    let (own, used) = (file.place.get(shared)?, target.file.place.get(shared)?);
    let parent = modules.at(&file.place[..shared])?;
    let position = |name: &str| parent.declared.iter().position(|declared| declared == name);
    let is_above = position(used).is_some_and(|used| position(own).is_some_and(|own| used < own));
    let (name, other, order) = (&target.name, target.file.path(), parent.path());
    let what = format!("uses `{name}` of {other}, but {order} does not declare `{used}` above `{own}`");
    (!is_above).then(|| (order.to_owned(), what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::finding::lines;

    const LIB: (&str, &str) = (
        "crates/a/src/lib.rs",
        "pub mod id;\nmod line;\npub mod tree;\n#[cfg(feature = \"testing\")]\npub mod testing;\n#[cfg(test)]\nmod props;\npub use tree::Tree;\n",
    );
    const FILES: &[(&str, &str)] = &[
        LIB,
        ("crates/a/src/id.rs", "pub struct EntryId;\n"),
        ("crates/a/src/line.rs", "mod tail;\nmod head;\n"),
        ("crates/a/src/line/tail.rs", ""),
        ("crates/a/src/line/head.rs", "pub(super) struct Head;\n"),
        ("crates/a/src/tree.rs", "mod node;\npub use self::node::Node;\npub struct Tree;\n"),
        ("crates/a/src/tree/node.rs", "pub struct Node;\n"),
        ("crates/a/src/testing.rs", "use crate::tree::Tree;\n"),
    ];

    fn found(path: &str, text: &str) -> Vec<String> {
        let path = format!("crates/a/src/{path}");
        let others = FILES.iter().copied().filter(|(other, _)| *other != path);
        let files: Vec<(&str, &str)> = others.chain([(path.as_str(), text)]).collect();
        lines(&check_but(&Repo::of(&files), &[]))
    }

    #[test]
    fn using_a_module_below_is_found_however_it_is_written() {
        for text in [
            "use crate::tree::Tree;",
            "fn f(t: &crate::tree::Tree) {}",
            "use crate::{id::EntryId, tree::{Tree, inner}};",
            "use super::tree::Tree;",
            "mod inner { use super::super::tree::Tree; }",
            "use crate as root; fn f(t: root::tree::Tree) {}",
            "use crate::Tree;",
        ] {
            let found = found("line.rs", text);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            let what =
                "uses `Tree` of crates/a/src/tree.rs, but crates/a/src/lib.rs does not declare `tree` above `line`";
            assert_eq!(found[0], format!("crates/a/src/line.rs:1: {what}"), "{text}");
        }
    }

    #[test]
    fn the_order_holds_at_every_level() {
        let below = found("line/tail.rs", "\nuse super::head::Head;\n");
        assert_eq!(below.len(), 1, "{below:?}");
        assert!(
            below[0].starts_with("crates/a/src/line/tail.rs:2: uses `Head` of crates/a/src/line/head.rs"),
            "{below:?}"
        );
        assert_eq!(found("line/head.rs", "use super::tail::cut;\nuse crate::id::EntryId;\n"), [""; 0]);
        assert_eq!(found("line/tail.rs", "use super::super::tree::Tree;\n").len(), 1);
    }

    #[test]
    fn a_cycle_is_found_wherever_a_re_export_hides_it() {
        let hidden = found("line.rs", "mod tail;\nmod head;\nuse head::Head;\n");
        assert_eq!(hidden, [""; 0], "a parent uses its children");
        let files = [
            ("crates/a/src/lib.rs", "mod line;\n"),
            ("crates/a/src/line.rs", "mod tail;\nmod head;\nuse head::Head;\nstruct Line;\n"),
            ("crates/a/src/line/tail.rs", "use super::{Head, Line};\n"),
            ("crates/a/src/line/head.rs", "use super::tail::cut;\nuse crate::line::Line;\n"),
        ];
        let found = lines(&check_but(&Repo::of(&files), &[]));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].starts_with("crates/a/src/line/tail.rs:1: uses `Head` of crates/a/src/line/head.rs"),
            "{found:?}"
        );
    }

    #[test]
    fn an_import_back_up_is_found_also_between_files_that_make_no_cycle() {
        let upwards = found("line/head.rs", "use crate::tree::Node;\n");
        assert_eq!(upwards.len(), 1, "{upwards:?}");
        assert!(upwards[0].contains("uses `Node` of crates/a/src/tree/node.rs"), "{upwards:?}");
    }

    #[test]
    fn tests_and_testing_are_exempt_but_not_for_others() {
        let in_tests = "#[cfg(test)]\nmod tests { use crate::tree::Tree; use crate::testing::dsl; }";
        assert_eq!(found("line.rs", in_tests), [""; 0]);
        assert_eq!(found("line/tests.rs", "use crate::tree::Tree;"), [""; 0]);
        assert_eq!(found("props.rs", "use crate::props_of;\nuse crate::testing::dsl;"), [""; 0]);
        assert_eq!(found("line.rs", "use crate::testing::dsl;").len(), 1);
    }

    #[test]
    fn other_crates_locals_and_methods_are_no_imports() {
        let text = "use std::tree::Tree;\nfn f(tree: X) { tree.id::<u8>(); other::tree::g(); ::tree::h(); \"crate::tree::Tree\"; }";
        assert_eq!(found("line.rs", text), [""; 0]);
    }

    #[test]
    fn a_cycle_that_is_known_is_not_found_and_one_that_is_cut_is() {
        let known = ["crates/a/src/lib.rs"];
        let files = [LIB, ("crates/a/src/line.rs", "use crate::tree::Tree;"), ("crates/a/src/tree.rs", "struct Tree;")];
        assert_eq!(check_but(&Repo::of(&files), &known), []);
        let healed = lines(&check_but(&Repo::of(&[LIB]), &known));
        assert!(healed.len() == 1 && healed[0].contains("take it off CYCLES"), "{healed:?}");
    }
}
