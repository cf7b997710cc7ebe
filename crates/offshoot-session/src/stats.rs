//! Sums and costs of branches; each entry counts once.

use std::collections::HashMap;
use std::sync::Arc;

use crate::clock::Millis;
use crate::entry::{Entry, Source, text_of};
use crate::error::Result;
use crate::facts::chains::{self, ChainTree, up_from};
use crate::facts::{Facts, Totals};
use crate::gather;
use crate::json::Json;
use crate::kind::{Kind, KindSpeech, Role};
use crate::text::one_line;
use crate::transcript::summary_words;
use crate::tree::reader::NodeReader;
use crate::tree::{Node, NodeIx, Tree};

/// A branch: the path to one leaf.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// The last entry that is not a marker.
    pub leaf: NodeIx,
    /// Whether the session is open there.
    pub is_open: bool,
    /// The last words of the user or the model on the path, on one line.
    pub last_words: String,
    /// Sums over the whole path.
    pub whole: Totals,
    /// Sums over the entries that no other branch has.
    pub own: Totals,
    /// The last entry shared with other branches.
    pub forks_from: Option<NodeIx>,
    /// The last entry's time.
    pub time: Option<Millis>,
    /// The label nearest to the end, on the branch's own entries.
    pub label: Option<String>,
}

/// Every branch in file order of its leaf; `open` is the session's leaf. Leaf markers, labels and names do not make a
/// branch, and settings do not make one beside a branch that continues.
///
/// # Errors
/// The medium cannot be read.
pub fn branches(source: &dyn Source, open: Option<NodeIx>) -> Result<Vec<Branch>> {
    let open = open.and_then(|ix| above_tail(&NodeReader::new(source.tree()), ix));
    let leaves = tips(source, open);
    let mut reading = Reading::new(source, &leaves)?;
    let branches = leaves.iter().map(|leaf| reading.branch(*leaf, Some(*leaf) == open)).collect::<Result<_>>()?;
    source.tree().whole(branches)
}

/// What a status line shows of all branches.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overview {
    /// Sums over all entries.
    pub totals: Totals,
    /// The number of branches.
    pub branches: usize,
    /// The label nearest to the end of the open branch, on its own entries.
    pub label: Option<String>,
    /// The last words on the open branch, on one line.
    pub last_words: String,
}

/// A short form of [`branches`] and [`totals`] without a walk over the tree: it costs the number of branches, and on
/// the open one the way up to its last words and, if the session has labels, to its label.
///
/// # Errors
/// The medium cannot be read.
pub fn overview(source: &dyn Source, open: Option<NodeIx>) -> Result<Overview> {
    let tree = source.tree();
    let totals = totals(source)?;
    let mut overview = Overview { totals, branches: tips(source, open).len(), ..Overview::default() };
    let nodes = &NodeReader::new(tree);
    if let Some(leaf) = open.and_then(|ix| above_tail(nodes, ix)) {
        overview.last_words = last_words(source, nodes, leaf, &mut HashMap::new())?.unwrap_or_default();
        overview.label = if tree.has_labels() { label_of_branch(tree, nodes, leaf) } else { None };
    }
    tree.whole(overview)
}

/// The label nearest to the end of a branch, on its own entries.
fn label_of_branch(tree: &Tree, nodes: &NodeReader<'_>, leaf: NodeIx) -> Option<String> {
    let mut below = None;
    for ix in nodes.ancestors(leaf) {
        if found_below(nodes, ix, below) == Below::Branch {
            return None;
        }
        if let Some(label) = tree.label_of(ix) {
            return Some(label.text.clone());
        }
        below = Some(ix);
    }
    None
}

/// The end of a branch, without the tail of markers, labels and names below it.
struct Tip {
    end: NodeIx,
    /// The nearest entry at or above the end that is not a setting.
    work: NodeIx,
    /// Whether nothing at all is below the end.
    is_leaf: bool,
}

/// The last entry of every branch, in file order; `open` is the session's leaf. Reads pages in file order and keeps none in
/// memory.
pub fn tips(source: &dyn Source, open: Option<NodeIx>) -> Vec<NodeIx> {
    let tree = source.tree();
    let nodes = &NodeReader::new(tree);
    let open = open.and_then(|ix| above_tail(nodes, ix));
    let tip = |end: NodeIx, is_leaf| Tip { end, work: work_of(nodes, end), is_leaf };
    let tips = tree.leaves().filter_map(|leaf| above_tail(nodes, leaf).map(|end| tip(end, end == leaf)));
    let mut tips: Vec<Tip> = tips.chain(open.map(|open| tip(open, false))).collect();
    tips.sort_unstable_by_key(|tip| tip.end);
    tips.dedup_by_key(|tip| tip.end);
    // A label or marker below an entry that continues elsewhere does not end a branch, unless the session is open
    // there.
    let is_end = |tip: &Tip| tip.is_leaf || found_below(nodes, tip.end, None) == Below::Nothing;
    tips.retain(|tip| Some(tip.end) == open || is_end(tip));
    without_settings_beside(nodes, &tips, open)
}

/// Removes ends that are only settings after an entry where another branch continues or ends; of several such ends the
/// last one stays.
fn without_settings_beside(nodes: &NodeReader<'_>, tips: &[Tip], open: Option<NodeIx>) -> Vec<NodeIx> {
    let open_work = open.map(|open| work_of(nodes, open));
    let last: HashMap<NodeIx, NodeIx> = tips.iter().map(|tip| (tip.work, tip.end)).collect();
    let goes_on = |tip: &Tip| {
        open_work == Some(tip.work)
            || last.get(&tip.work) != Some(&tip.end)
            || found_below(nodes, tip.work, None) == Below::Branch
    };
    let stays = |tip: &&Tip| Some(tip.end) == open || tip.end == tip.work || !goes_on(tip);
    tips.iter().filter(stays).map(|tip| tip.end).collect()
}

fn work_of(nodes: &NodeReader<'_>, end: NodeIx) -> NodeIx {
    nodes.ancestors(end).find(|ix| !nodes.look(*ix, is_setting)).unwrap_or(end)
}

fn is_setting(node: &Node) -> bool {
    matches!(node.kind(), Kind::ModelChange | Kind::ThinkingLevelChange | Kind::ModeChange)
}

/// Markers, labels and names do not end a branch.
fn is_tail(node: &Node) -> bool {
    node.is_leaf_marker() || matches!(node.kind(), Kind::Label | Kind::SessionInfo)
}

/// The entry at which a branch ends for the user.
fn above_tail(nodes: &NodeReader<'_>, ix: NodeIx) -> Option<NodeIx> {
    nodes.ancestors(ix).find(|at| !nodes.look(*at, is_tail))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Below {
    /// Nothing, or only markers, labels and names.
    Nothing,
    Settings,
    Branch,
}

/// Searches below an entry, except below one child, through labels and settings: anything else is a branch.
fn found_below(nodes: &NodeReader<'_>, top: NodeIx, except: Option<NodeIx>) -> Below {
    let mut found = Below::Nothing;
    let mut stack = vec![(top, false)];
    while let Some((at, is_below_tail)) = stack.pop() {
        for child in nodes.children(at).filter(|child| Some(*child) != except) {
            if nodes.look(child, is_tail) {
                stack.push((child, true));
            } else if nodes.look(child, is_setting) && !is_below_tail {
                found = Below::Settings;
                stack.push((child, false));
            } else {
                return Below::Branch;
            }
        }
    }
    found
}

/// Sums over all entries.
///
/// # Errors
/// The medium cannot be read.
pub fn totals(source: &dyn Source) -> Result<Totals> {
    Ok(gather::of(source)?.totals)
}

struct Reading<'a> {
    source: &'a dyn Source,
    nodes: NodeReader<'a>,
    facts: Arc<Facts>,
    chains: ChainTree,
    /// Sums over the path above each chain.
    above: Vec<Totals>,
    /// How many branches end in or below each chain.
    uses: Vec<u32>,
    /// The ends of branches in a chain.
    ends: HashMap<usize, Vec<NodeIx>>,
    /// The entries with a label in a chain.
    labelled: HashMap<usize, Vec<NodeIx>>,
    /// The last words at shared entries, so that no part of the tree is searched twice.
    words: HashMap<NodeIx, Option<String>>,
}

/// What only one branch has.
#[derive(Default)]
struct OwnPart {
    totals: Totals,
    /// The entry with a label that is nearest to the end.
    labelled: Option<NodeIx>,
    /// The first entry above that other branches have, too.
    forks_from: Option<NodeIx>,
}

impl<'a> Reading<'a> {
    fn new(source: &'a dyn Source, leaves: &[NodeIx]) -> Result<Self> {
        let facts = gather::of(source)?;
        let (tree, nodes) = (source.tree(), NodeReader::new(source.tree()));
        let by_chain = |entries: &mut dyn Iterator<Item = NodeIx>| {
            let mut found: HashMap<usize, Vec<NodeIx>> = HashMap::new();
            for ix in entries {
                if let Some(chain) = facts.chains.find(&nodes, ix) {
                    found.entry(chain).or_default().push(ix);
                }
            }
            found
        };
        let ends = by_chain(&mut leaves.iter().copied());
        let labelled = by_chain(&mut tree.labels().iter().filter_map(|(target, _)| tree.find(target.as_str())));
        let chains = facts.chains.tree();
        let mut uses = vec![0; facts.chains.all.len()];
        for (chain, ends) in &ends {
            uses[*chain] += ends.len() as u32;
        }
        for (at, parent) in chains.children_first().filter_map(|at| Some((at, chains.parent(at)?))) {
            uses[parent] += uses[at];
        }
        let above = facts.chains.above(&chains);
        Ok(Self { source, nodes, facts, chains, above, uses, ends, labelled, words: HashMap::new() })
    }

    fn branch(&mut self, leaf: NodeIx, is_open: bool) -> Result<Branch> {
        let last_words = last_words(self.source, &self.nodes, leaf, &mut self.words)?.unwrap_or_default();
        let (tree, own) = (self.source.tree(), self.own(leaf));
        Ok(Branch {
            leaf,
            is_open,
            last_words,
            whole: self.whole(leaf),
            own: own.totals,
            forks_from: own.forks_from,
            time: self.nodes.look(leaf, Node::time),
            label: own.labelled.and_then(|ix| tree.label_of(ix)).map(|label| label.text.clone()),
        })
    }

    /// Sums over the path to an entry.
    fn whole(&self, leaf: NodeIx) -> Totals {
        let chain = self.facts.chains.find(&self.nodes, leaf);
        let mut whole = chain.and_then(|chain| self.above.get(chain)).copied().unwrap_or_default();
        up_from(&self.nodes, leaf).for_each(|ix| whole.add(&self.of(ix)));
        whole
    }

    fn own(&self, leaf: NodeIx) -> OwnPart {
        let mut own = OwnPart::default();
        let (mut chain, mut from) = (self.facts.chains.find(&self.nodes, leaf), leaf);
        while let Some(at) = chain {
            let ends = self.ends.get(&at).map_or(&[][..], Vec::as_slice);
            let below = self.uses.get(at).map_or(0, |uses| *uses as usize - ends.len());
            let passed = if ends.is_empty() {
                0
            } else {
                chains::from(&self.nodes, from).filter(|ix| ends.contains(ix)).count()
            };
            let is_whole = ends.is_empty() && below == 1;
            if is_whole && let Some(known) = self.facts.chains.all.get(at) {
                own.totals.add(&known.totals);
                own.labelled = own.labelled.or_else(|| self.lowest_labelled(at, from));
            } else {
                let mut uses = below + passed;
                for ix in up_from(&self.nodes, from) {
                    uses += usize::from(ix != from && ends.contains(&ix));
                    if uses > 1 {
                        return OwnPart { forks_from: Some(ix), ..own };
                    }
                    own.totals.add(&self.of(ix));
                    let is_labelled = self.labelled.get(&at).is_some_and(|labelled| labelled.contains(&ix));
                    own.labelled = own.labelled.or(is_labelled.then_some(ix));
                }
            }
            chain = self.chains.parent(at);
            from = chain.and_then(|chain| self.facts.chains.all.get(chain)).map_or(from, |chain| chain.last);
        }
        own
    }

    /// The entry with a label that is nearest to the end of a chain.
    fn lowest_labelled(&self, chain: usize, last: NodeIx) -> Option<NodeIx> {
        let labelled = self.labelled.get(&chain)?;
        up_from(&self.nodes, last).find(|ix| labelled.contains(ix))
    }

    fn of(&self, ix: NodeIx) -> Totals {
        self.nodes.look(ix, |node| self.facts.of(ix, node))
    }
}

/// The last words at a leaf; `known` has those at entries that were passed before.
fn last_words(
    source: &dyn Source,
    nodes: &NodeReader<'_>,
    leaf: NodeIx,
    known: &mut HashMap<NodeIx, Option<String>>,
) -> Result<Option<String>> {
    let mut passed = Vec::new();
    let mut found = None;
    for ix in nodes.ancestors(leaf) {
        if let Some(known) = known.get(&ix) {
            found = known.clone();
            break;
        }
        passed.push(ix);
        if nodes.look(ix, speaks) {
            found = words(&source.entry(ix)?);
        }
        if found.is_some() {
            break;
        }
    }
    known.extend(passed.into_iter().map(|ix| (ix, found.clone())));
    Ok(found)
}

pub(crate) fn may_speak(source: &dyn Source, ix: NodeIx) -> bool {
    speaks(source.tree().node(ix))
}

fn speaks(node: &Node) -> bool {
    match node.kind().speech() {
        KindSpeech::Message => matches!(node.role(), Some(Role::User | Role::Assistant)),
        KindSpeech::BranchSummary | KindSpeech::Compaction | KindSpeech::CustomMessage => true,
        KindSpeech::Nothing => false,
    }
}

/// The user's last words at or above an entry, on one line; without any nearby, the last words of anybody.
///
/// # Errors
/// The medium cannot be read.
pub fn last_request(source: &dyn Source, leaf: NodeIx) -> Result<Option<String>> {
    const NEAR: usize = 256;
    let tree = source.tree();
    let near = tree.ancestors(leaf).take(NEAR);
    for ix in near.filter(|ix| tree.node(*ix).role() == Some(Role::User)) {
        if let Some(said) = words(&source.entry(ix)?) {
            return Ok(Some(said));
        }
    }
    last_words(source, &NodeReader::new(tree), leaf, &mut HashMap::new())
}

/// The words of the user or the model in an entry, on one line.
pub fn words(entry: &Entry) -> Option<String> {
    let said = match entry.kind.speech() {
        KindSpeech::Message if matches!(entry.role, Some(Role::User | Role::Assistant)) => entry.message_text(" ")?,
        KindSpeech::BranchSummary | KindSpeech::Compaction => summary_words(&entry.str("summary")?)?.to_owned(),
        KindSpeech::CustomMessage => entry.get("content").map(|content: Json<'_>| text_of(content, " "))?,
        KindSpeech::Message | KindSpeech::Nothing => return None,
    };
    let said = one_line(&said, 200);
    (!said.is_empty()).then_some(said)
}
