//! What branches hold and what they cost, each entry counted once.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::clock::Millis;
use crate::entry::{Entry, Source, text_of};
use crate::error::Result;
use crate::facts::Facts;
use crate::gather;
use crate::json::Json;
use crate::kind::{Kind, Role};
use crate::text::one_line;
use crate::tree::{Node, NodeIx};

/// Sums over entries.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Totals {
    /// Entries of any type.
    pub entries: u64,
    /// Message entries of any role.
    pub messages: u64,
    /// Tokens as reported by providers.
    pub tokens: u64,
    /// Dollars as reported by providers.
    pub cost: f64,
}

impl Totals {
    pub(crate) fn add(&mut self, other: &Self) {
        self.entries += other.entries;
        self.messages += other.messages;
        self.tokens += other.tokens;
        self.cost += other.cost;
    }

    /// What is left of sums over more when sums over less are taken away.
    pub(crate) fn minus(&self, less: &Self) -> Self {
        Self {
            entries: self.entries.saturating_sub(less.entries),
            messages: self.messages.saturating_sub(less.messages),
            tokens: self.tokens.saturating_sub(less.tokens),
            cost: (self.cost - less.cost).max(0.0),
        }
    }
}

/// A branch: the path to one leaf.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// Its last entry that is no marker.
    pub leaf: NodeIx,
    /// Whether the session is open there.
    pub is_open: bool,
    /// The last words of the person or the model on it, on one line.
    pub last_words: String,
    /// Sums over its whole path.
    pub whole: Totals,
    /// Sums over what no other branch shares.
    pub own: Totals,
    /// Where it left the other branches: the last shared entry.
    pub forks_from: Option<NodeIx>,
    /// When its last entry was written.
    pub time: Option<Millis>,
    /// The bookmark nearest to its end, on entries of its own.
    pub label: Option<String>,
}

/// Every branch, in file order of its leaf. `open` is the leaf of the session.
///
/// Markers of a moved leaf, labels and names make no branch of their own; settings none beside one that goes on.
///
/// # Errors
/// The medium cannot be read.
pub fn branches(source: &dyn Source, open: Option<NodeIx>) -> Result<Vec<Branch>> {
    let open = open.and_then(|ix| behind_tail(source, ix));
    let leaves = tips(source, open);
    let mut reading = Reading::new(source, &leaves)?;
    let branches = leaves.iter().map(|leaf| reading.branch(*leaf, Some(*leaf) == open)).collect::<Result<_>>()?;
    source.tree().whole(branches)
}

/// Where every branch ends, in file order.
pub(crate) fn tips(source: &dyn Source, open: Option<NodeIx>) -> Vec<NodeIx> {
    let tree = source.tree();
    let open = open.and_then(|ix| behind_tail(source, ix));
    let mut leaves: Vec<NodeIx> = tree.leaves().filter_map(|ix| behind_tail(source, ix)).chain(open).collect();
    leaves.sort_unstable();
    leaves.dedup();
    // A bookmark or marker below an entry that goes on elsewhere ends no branch, unless the session is open there.
    let above = strictly_above(source, &leaves);
    leaves.retain(|ix| Some(*ix) == open || !above.contains(ix));
    without_settings_beside(source, leaves, open)
}

/// Without ends that are nothing but settings behind an entry where another branch goes on or ends; of several such ends
/// the last one stays.
fn without_settings_beside(source: &dyn Source, leaves: Vec<NodeIx>, open: Option<NodeIx>) -> Vec<NodeIx> {
    let tree = source.tree();
    let is_setting = |ix: &NodeIx| {
        let kind = tree.node(*ix).kind();
        matches!(kind, Kind::ModelChange | Kind::ThinkingLevelChange | Kind::ModeChange)
    };
    if !leaves.iter().any(is_setting) {
        return leaves;
    }
    let work = |leaf: &NodeIx| tree.ancestors(*leaf).find(|ix| !is_setting(ix)).unwrap_or(*leaf);
    let works: Vec<NodeIx> = leaves.iter().map(work).collect();
    let above = strictly_above(source, &works);
    let open_work = open.as_ref().map(work);
    let last: HashMap<NodeIx, NodeIx> = works.iter().copied().zip(leaves.iter().copied()).collect();
    let stays = |leaf: NodeIx, work: NodeIx| {
        let goes_on = above.contains(&work) || open_work == Some(work) || last.get(&work) != Some(&leaf);
        Some(leaf) == open || leaf == work || !goes_on
    };
    leaves.iter().zip(works).filter(|(leaf, work)| stays(**leaf, *work)).map(|(leaf, _)| *leaf).collect()
}

/// The entry at which a branch ends for a person: not a marker, a label or a name behind it.
fn behind_tail(source: &dyn Source, ix: NodeIx) -> Option<NodeIx> {
    let is_tail = |node: &Node| node.is_leaf_marker() || matches!(node.kind(), Kind::Label | Kind::SessionInfo);
    source.tree().ancestors(ix).find(|at| !is_tail(source.tree().node(*at)))
}

/// Every entry that another one of these is below of.
fn strictly_above(source: &dyn Source, leaves: &[NodeIx]) -> HashSet<NodeIx> {
    let mut above = HashSet::new();
    for leaf in leaves {
        for ix in source.tree().ancestors(*leaf).skip(1) {
            if !above.insert(ix) {
                break;
            }
        }
    }
    above
}

/// Sums over all entries.
///
/// # Errors
/// The medium cannot be read.
pub fn totals(source: &dyn Source) -> Result<Totals> {
    let facts = gather::of(source)?;
    let mut totals = Totals::default();
    for ix in source.tree().entries() {
        totals.add(&of(source, &facts, ix));
    }
    Ok(totals)
}

/// What one entry adds to sums.
pub(crate) fn of(source: &dyn Source, facts: &Facts, ix: NodeIx) -> Totals {
    let (tokens, cost) = facts.usage(ix);
    let node = source.tree().node(ix);
    Totals {
        entries: u64::from(!node.is_leaf_marker()),
        messages: u64::from(node.kind() == Kind::Message),
        tokens,
        cost,
    }
}

/// What all branches of a tree are read from.
struct Reading<'a> {
    source: &'a dyn Source,
    facts: Arc<Facts>,
    /// Sums from the root to every entry.
    whole: HashMap<NodeIx, Totals>,
    /// How many branches go through an entry; of entries that several share, at least 2 at the lowest one.
    uses: HashMap<NodeIx, u32>,
    /// The last words at shared entries, so that no stretch of the tree is searched twice.
    words: HashMap<NodeIx, Option<String>>,
}

impl<'a> Reading<'a> {
    fn new(source: &'a dyn Source, leaves: &[NodeIx]) -> Result<Self> {
        let facts = gather::of(source)?;
        let tree = source.tree();
        let mut uses: HashMap<NodeIx, u32> = HashMap::new();
        for leaf in leaves {
            for ix in tree.ancestors(*leaf) {
                let count = uses.entry(ix).or_default();
                *count += 1;
                if *count > 1 {
                    break;
                }
            }
        }
        let mut whole: HashMap<NodeIx, Totals> = HashMap::with_capacity(tree.len());
        for (_, ix) in tree.walk() {
            let mut totals = tree.parent(ix).and_then(|parent| whole.get(&parent)).copied().unwrap_or_default();
            totals.add(&of(source, &facts, ix));
            whole.insert(ix, totals);
        }
        Ok(Self { source, facts, whole, uses, words: HashMap::new() })
    }

    fn is_own(&self, ix: NodeIx) -> bool {
        self.uses.get(&ix).is_some_and(|uses| *uses == 1)
    }

    fn branch(&mut self, leaf: NodeIx, is_open: bool) -> Result<Branch> {
        let last_words = self.last_words(leaf)?.unwrap_or_default();
        let tree = self.source.tree();
        let (mut own, mut label) = (Totals::default(), None);
        for ix in tree.ancestors(leaf).take_while(|ix| self.is_own(*ix)) {
            own.add(&of(self.source, &self.facts, ix));
            label = label.or_else(|| tree.node(ix).id().and_then(|id| tree.label(id)).map(|label| label.text.clone()));
        }
        Ok(Branch {
            leaf,
            is_open,
            last_words,
            whole: self.whole.get(&leaf).copied().unwrap_or_default(),
            own,
            forks_from: tree.ancestors(leaf).find(|ix| !self.is_own(*ix)),
            time: tree.node(leaf).time(),
            label,
        })
    }

    fn last_words(&mut self, leaf: NodeIx) -> Result<Option<String>> {
        let mut passed = Vec::new();
        let mut found = None;
        for ix in self.source.tree().ancestors(leaf) {
            if let Some(known) = self.words.get(&ix) {
                found = known.clone();
                break;
            }
            passed.push(ix);
            if may_speak(self.source, ix) {
                found = words(&self.source.entry(ix)?);
            }
            if found.is_some() {
                break;
            }
        }
        self.words.extend(passed.into_iter().map(|ix| (ix, found.clone())));
        Ok(found)
    }
}

pub(crate) fn may_speak(source: &dyn Source, ix: NodeIx) -> bool {
    match source.tree().node(ix).kind() {
        Kind::Message => matches!(source.tree().node(ix).role(), Some(Role::User | Role::Assistant)),
        kind => matches!(kind, Kind::BranchSummary | Kind::Compaction | Kind::CustomMessage),
    }
}

/// What the person or the model said in an entry, on one line.
pub fn words(entry: &Entry) -> Option<String> {
    let said = match (entry.kind, entry.role) {
        (Kind::Message, Some(Role::User | Role::Assistant)) => text_of(entry.message()?.get("content")?, " "),
        (Kind::BranchSummary | Kind::Compaction, _) => entry.str("summary")?.into_owned(),
        (Kind::CustomMessage, _) => entry.get("content").map(|content: Json<'_>| text_of(content, " "))?,
        _ => return None,
    };
    let said = one_line(&said, 200);
    (!said.is_empty()).then_some(said)
}
