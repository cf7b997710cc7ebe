//! Which entries of a tree somebody means: one, a range of a path, a turn. Knows envelopes only.

use crate::error::{Invalid, Result};
use crate::id::EntryId;
use crate::kind::{Kind, Role};
use crate::tree::{NodeIx, Tree};

/// The entries after `after` (`None`: from the root) up to `to`, on its path.
///
/// # Errors
/// [`Invalid::NotOnPath`] if `after` is not above `to`.
pub fn range(tree: &Tree, after: Option<NodeIx>, to: NodeIx) -> Result<Vec<NodeIx>> {
    let mut entries = Vec::new();
    let mut top = None;
    for ix in tree.ancestors(to) {
        if Some(ix) == after {
            top = Some(ix);
            break;
        }
        entries.push(ix);
    }
    if tree.whole(top)? != after {
        let id =
            |ix: Option<NodeIx>| ix.and_then(|ix| tree.node(ix).id().cloned()).unwrap_or_else(|| EntryId::new("-"));
        return Err(Invalid::NotOnPath { above: id(after), below: id(Some(to)) }.into());
    }
    entries.reverse();
    Ok(entries)
}

/// The user's message at or above an entry, and what follows it up to the next one, towards `leaf` where the tree
/// forks.
///
/// # Errors
/// [`Invalid::NoUserMessage`].
pub fn turn(tree: &Tree, ix: NodeIx, leaf: Option<NodeIx>) -> Result<Vec<NodeIx>> {
    let is_prompt = |ix: NodeIx| tree.node(ix).kind() == Kind::Message && tree.node(ix).role() == Some(Role::User);
    let mut entries: Vec<NodeIx> = tree.ancestors(ix).collect();
    let first = entries.iter().position(|ix| is_prompt(*ix)).ok_or(Invalid::NoUserMessage)?;
    entries.truncate(first + 1);
    entries.reverse();
    entries.extend(Descent::new(tree, ix, leaf).take_while(|ix| !is_prompt(*ix)));
    tree.whole(entries)
}

/// The entries below one, each the child of the one before: towards an entry where the tree forks, else the newest.
pub(crate) struct Descent<'a> {
    tree: &'a Tree,
    at: NodeIx,
    towards: Option<NodeIx>,
    /// The path from `towards` up to the first fork that was met, lowest last.
    way: Option<Vec<NodeIx>>,
}

impl<'a> Descent<'a> {
    pub(crate) fn new(tree: &'a Tree, above: NodeIx, towards: Option<NodeIx>) -> Self {
        Self { tree, at: above, towards, way: None }
    }

    fn choose(&mut self) -> Option<NodeIx> {
        let (tree, at) = (self.tree, self.at);
        let way = self.way.get_or_insert_with(|| {
            let towards = self.towards.into_iter().flat_map(|towards| tree.ancestors(towards));
            towards.take_while(|ix| *ix != at && *ix > at).collect()
        });
        let on_the_way = way.iter().rev().find(|ix| tree.parent(**ix) == Some(at)).copied();
        on_the_way.or_else(|| tree.children(at).last())
    }
}

impl Iterator for Descent<'_> {
    type Item = NodeIx;

    fn next(&mut self) -> Option<NodeIx> {
        let mut children = self.tree.children(self.at);
        let only = children.next()?;
        let next = if children.next().is_none() { Some(only) } else { self.choose() };
        self.at = next?;
        Some(self.at)
    }
}
