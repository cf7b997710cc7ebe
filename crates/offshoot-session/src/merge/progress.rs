//! How much of each branch is here already, by merges and picks. Writes nothing.

use std::collections::HashMap;

use crate::context;
use crate::error::Result;
use crate::kind::Kind;
use crate::pick::PickEnd;
use crate::provenance::{Merged, Origin, Present};
use crate::tree::reader::NodeReader;
use crate::tree::{Node, NodeIx};

/// How much of a branch was brought here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MergeProgress {
    /// Whether something was.
    pub is_begun: bool,
    /// How many messages were not.
    pub lacking: usize,
}

impl MergeProgress {
    /// `no`, `partly` or `all`.
    pub fn word(self) -> &'static str {
        match (self.is_begun, self.lacking) {
            (_, 0) => "all",
            (true, _) => "partly",
            (false, _) => "no",
        }
    }
}

/// The progress of the branches that end in `tips`. Costs the path here and each entry beside it once.
///
/// # Errors
/// The medium cannot be read.
pub fn progress(here: PickEnd<'_>, tips: &[NodeIx]) -> Result<Vec<MergeProgress>> {
    let tree = here.source.tree();
    let context = context::build(here.source, here.leaf, here.dialect)?;
    let family = here.family(None);
    let nodes = NodeReader::new(tree);
    let present = Present::of(here.source, &context, here.family(None))?;
    let mut path: Vec<NodeIx> = here.leaf.into_iter().flat_map(|leaf| nodes.ancestors(leaf)).collect();
    let is_summary = |ix: &&NodeIx| nodes.look(**ix, Node::kind) == Kind::BranchSummary;
    let summaries: Vec<NodeIx> = path.iter().rev().filter(is_summary).copied().collect();
    let mut found = Progress { here, nodes, present, known: HashMap::new() };
    for ix in &summaries {
        let merged =
            Merged::of(&here.source.entry(*ix)?).filter(|merged| family.is_one(merged.session.as_deref(), None));
        let tip = merged.and_then(|merged| tree.find(merged.tip.as_str()));
        found.known.extend(tip.map(|tip| (tip, MergeProgress { is_begun: true, lacking: 0 })));
    }
    path.sort_unstable();
    let of_tips = tips.iter().map(|tip| found.of(*tip, &path)).collect::<Result<_>>()?;
    tree.whole(of_tips)
}

struct Progress<'a> {
    here: PickEnd<'a>,
    nodes: NodeReader<'a>,
    present: Present<'a>,
    /// Entries beside the path here, with the progress of the branch up to each.
    known: HashMap<NodeIx, MergeProgress>,
}

impl Progress<'_> {
    fn of(&mut self, tip: NodeIx, path: &[NodeIx]) -> Result<MergeProgress> {
        let is_new = |ix: &NodeIx| path.binary_search(ix).is_err() && !self.known.contains_key(ix);
        let new: Vec<NodeIx> = self.nodes.ancestors(tip).take_while(is_new).collect();
        let above = new.last().map_or(Some(tip), |top| self.nodes.parent(*top));
        let mut progress = above.and_then(|above| self.known.get(&above)).copied().unwrap_or_default();
        for ix in new.into_iter().rev() {
            if self.nodes.look(ix, Node::is_said) {
                match self.copy_of(ix)? {
                    Some(copy) => progress.is_begun |= self.nodes.look(copy, Node::is_copy),
                    None => progress.lacking += 1,
                }
            }
            self.known.insert(ix, progress);
        }
        Ok(progress)
    }

    /// The entry that the context here has for one of a branch.
    fn copy_of(&self, ix: NodeIx) -> Result<Option<NodeIx>> {
        let source = self.here.source;
        if !self.present.has_copies() && !self.nodes.look(ix, Node::is_copy) {
            return Ok(None);
        }
        let origin = Origin::first(&source.entry(ix)?, None, self.here.session);
        Ok(origin.and_then(|origin| self.present.find(source, &origin)))
    }
}
