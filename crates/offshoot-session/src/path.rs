//! Paths from a root to an entry.

use crate::tree::reader::NodeReader;
use crate::tree::{NodeIx, Tree};

impl Tree {
    /// The entries from the root to `ix`, both included. Linear in the depth.
    pub fn path(&self, ix: NodeIx) -> Vec<NodeIx> {
        let mut path: Vec<_> = NodeReader::new(self).ancestors(ix).collect();
        path.reverse();
        path
    }

    /// The entry, its parent, and so on up to the root.
    pub fn ancestors(&self, ix: NodeIx) -> impl Iterator<Item = NodeIx> + '_ {
        std::iter::successors(Some(ix), |at| self.parent(*at))
    }

    /// The deepest entry on both paths. Costs the ways up to it, not up to the root, unless parents come after their
    /// children in the file.
    pub fn common_ancestor(&self, a: NodeIx, b: NodeIx) -> Option<NodeIx> {
        let (left, right) = (NodeReader::new(self), NodeReader::new(self));
        let (mut at, mut other) = (a, b);
        while at != other {
            // The later one in the file cannot be above the other.
            let (reader, later) = if at > other { (&left, &mut at) } else { (&right, &mut other) };
            match reader.parent(*later) {
                Some(parent) if parent < *later => *later = parent,
                Some(_) => return self.common_ancestor_anywhere(a, b),
                // A root, which the other path can have only below a late parent.
                None => {
                    let rest = if at > other { other } else { at };
                    let is_late = |ix: NodeIx| right.parent(ix).is_some_and(|parent| parent > ix);
                    let has_late = left.ancestors(rest).any(is_late);
                    return if has_late { self.common_ancestor_anywhere(a, b) } else { None };
                }
            }
        }
        Some(at)
    }

    fn common_ancestor_anywhere(&self, a: NodeIx, b: NodeIx) -> Option<NodeIx> {
        let (a, b) = (self.path(a), self.path(b));
        a.iter().zip(&b).take_while(|(a, b)| a == b).last().map(|(shared, _)| *shared)
    }

    /// The nearest entry at or above a leaf marker that is not a marker.
    pub fn skip_leaf_markers(&self, ix: NodeIx) -> Option<NodeIx> {
        self.ancestors(ix).find(|at| !self.node(*at).is_leaf_marker())
    }
}

#[cfg(test)]
mod tests {
    use crate::entry::Source as _;
    use crate::session::{Options, Session};

    /// Each entry and its parent, in file order; `-` is no parent.
    fn session(entries: &[&str]) -> Session {
        let mut text = String::from("{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n");
        for entry in entries {
            let (id, parent) = entry.split_once(' ').unwrap();
            let parent = if parent == "-" { "null".to_owned() } else { format!("\"{parent}\"") };
            text.push_str(&format!("{{\"type\":\"x\",\"id\":\"{id}\",\"parentId\":{parent}}}\n"));
        }
        Session::from_text(&text, Options::default()).unwrap()
    }

    #[test]
    fn common_ancestors_in_any_order_of_the_file() {
        for entries in [
            ["a -", "b a", "c b", "d a", "e d", "r -", "s r"],
            // Parents after their children.
            ["e d", "c b", "d a", "s r", "b a", "a -", "r -"],
            ["d a", "e d", "b a", "a -", "r -", "c b", "s r"],
        ] {
            let session = session(&entries);
            let tree = session.tree();
            let ix = |id: &str| tree.find(id).unwrap();
            for (a, b, expected) in [
                ("c", "e", Some("a")),
                ("c", "b", Some("b")),
                ("e", "e", Some("e")),
                ("c", "s", None),
                ("r", "e", None),
            ] {
                let expected = expected.map(ix);
                assert_eq!(tree.common_ancestor(ix(a), ix(b)), expected, "{a} {b} in {entries:?}");
                assert_eq!(tree.common_ancestor(ix(b), ix(a)), expected, "{b} {a} in {entries:?}");
            }
        }
    }
}
