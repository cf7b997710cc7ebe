//! Trees from small pictures: `a b:a c:a` is a root and two children.

use std::convert::Infallible;

use super::link::TreeBuilder;
use super::*;
use crate::error::Code;

fn build(picture: &str) -> (Tree, Vec<Code>) {
    let mut builder = TreeBuilder::default();
    for (at, word) in picture.split_whitespace().enumerate() {
        let (id, parent) = word.split_once(':').unwrap_or((word, ""));
        builder.push(&NewNode {
            id: (id != "-").then(|| EntryId::new(id)),
            parent: (!parent.is_empty()).then(|| EntryId::new(parent)),
            kind: Kind::Message,
            role: Some(Role::User),
            time: i64::try_from(at).ok(),
            is_leaf_marker: false,
            is_copy: false,
            offset: at as u64 * 10,
            length: 9,
            line: at as u64 + 2,
        });
    }
    let (tree, diagnostics) =
        builder.finish(|node| Ok::<_, Infallible>(node.id().is_none_or(|id| id.as_str() != "torn"))).unwrap();
    (tree, diagnostics.into_iter().map(|d| d.code).collect())
}

fn shape(tree: &Tree) -> String {
    let name = |ix| tree.node(ix).id().map_or("-", |id| id.as_str());
    tree.walk().map(|(depth, ix)| format!("{depth}{}", name(ix))).collect::<Vec<_>>().join(" ")
}

#[test]
fn branches_and_roots() {
    let (tree, codes) = build("a b:a c:b d:a e");
    assert_eq!(shape(&tree), "0a 1b 2c 1d 0e");
    assert!(codes.is_empty());
    assert_eq!(tree.last().map(NodeIx::index), Some(4));
    assert_eq!(tree.leaves().count(), 3);
}

#[test]
fn a_parent_may_come_later() {
    let (tree, codes) = build("c:b a b:a");
    assert_eq!(shape(&tree), "0a 1b 2c");
    assert!(codes.is_empty());
}

#[test]
fn every_entry_of_a_broken_tree_is_reachable() {
    for (picture, expected, code) in [
        ("a b:zzz c:b", "0a 0b 1c", Code::Orphan),
        ("a b:b c:b", "0a 0b 1c", Code::SelfParent),
        ("r a:c b:a c:b d:c", "0r 0a 1b 2c 3d", Code::Cycle),
        ("a b:a b:a c:b", "0a 1b 1b 2c", Code::DuplicateId),
        ("a b:a -:b c:b", "0a 1b 2- 2c", Code::MissingId),
        ("a b:a c:b torn:c", "0a 1b 2c", Code::MalformedLine),
    ] {
        let (tree, codes) = build(picture);
        assert_eq!(shape(&tree), expected, "{picture}");
        assert_eq!(codes, [code], "{picture}");
        assert_eq!(tree.walk().count(), tree.len());
    }
}

#[test]
fn a_duplicate_that_closes_a_circle_is_cut() {
    let (tree, codes) = build("a b:a c:b b:c d:b");
    assert_eq!(tree.walk().count(), 5);
    assert_eq!(codes, [Code::DuplicateId, Code::Cycle]);
    assert_eq!(tree.find("b").map(NodeIx::index), Some(3));
}

#[test]
fn a_torn_duplicate_gives_the_id_back() {
    let (tree, _) = build("a torn:a");
    assert_eq!(tree.find("torn"), None);
    assert_eq!(tree.len(), 1);
}

#[test]
fn prefixes() {
    let (tree, _) = build("abc abd:abc x:abc");
    assert_eq!(tree.find_prefix("x").unwrap().index(), 2);
    assert_eq!(tree.find_prefix("abd").unwrap().index(), 1);
    assert!(matches!(tree.find_prefix("ab"), Err(Error::Ambiguous { .. })));
    assert!(matches!(tree.find_prefix(""), Err(Error::EntryNotFound { .. })));
}

#[test]
fn later_entries_join() {
    let (mut tree, _) = build("a b:a");
    let new = NewNode {
        id: Some("c".into()),
        parent: Some("a".into()),
        kind: Kind::Label,
        role: None,
        time: Some(-1),
        is_leaf_marker: false,
        is_copy: false,
        offset: 0,
        length: 0,
        line: 9,
    };
    tree.insert(&new);
    assert_eq!(shape(&tree), "0a 1c 1b", "children are ordered by time");
}

#[test]
fn a_million_deep_and_wide_are_loops() {
    let deep: String = (0..300_000).map(|n| format!("{n}:{} ", n as i64 - 1)).collect();
    let (tree, _) = build(&deep);
    assert_eq!(tree.walk().last().unwrap().0, 299_999);
    let wide: String = std::iter::once("r ".to_owned()).chain((0..300_000).map(|n| format!("{n}:r "))).collect();
    assert_eq!(build(&wide).0.walk().count(), 300_001);
}
