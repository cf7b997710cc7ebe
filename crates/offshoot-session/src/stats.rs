//! What branches hold and what they cost, each entry counted once.

use std::collections::HashMap;

use crate::clock::Millis;
use crate::entry::{Entry, Source, text_of};
use crate::error::Result;
use crate::json::Json;
use crate::kind::{Kind, Role};
use crate::text::one_line;
use crate::tokens::Usage;
use crate::tree::NodeIx;

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
    fn add(&mut self, other: &Self) {
        self.entries += other.entries;
        self.messages += other.messages;
        self.tokens += other.tokens;
        self.cost += other.cost;
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
/// Markers of a moved leaf make no branch of their own.
///
/// # Errors
/// The medium cannot be read.
pub fn branches(source: &dyn Source, open: Option<NodeIx>) -> Result<Vec<Branch>> {
    let tree = source.tree();
    let open = open.and_then(|ix| tree.behind_markers(ix));
    let mut leaves: Vec<NodeIx> = tree.leaves().filter_map(|ix| tree.behind_markers(ix)).collect();
    // A marker below an entry that goes on elsewhere is no end of a branch, unless the session is open there.
    leaves.retain(|ix| Some(*ix) == open || tree.children(*ix).all(|child| tree.node(child).is_leaf_marker()));
    leaves.extend(open);
    leaves.sort_unstable();
    leaves.dedup();
    let mut uses: HashMap<NodeIx, u32> = HashMap::new(); // of entries above a fork: how many branches go through
    let sums = Sums::read(source)?;
    for leaf in &leaves {
        for ix in tree.ancestors(*leaf) {
            *uses.entry(ix).or_default() += 1;
            if uses[&ix] > 1 {
                break;
            }
        }
    }
    let whole = whole_paths(source, &sums);
    leaves.iter().map(|leaf| branch(source, *leaf, Some(*leaf) == open, &uses, &sums, &whole)).collect()
}

/// Sums over all entries.
///
/// # Errors
/// The medium cannot be read.
pub fn totals(source: &dyn Source) -> Result<Totals> {
    let sums = Sums::read(source)?;
    let mut totals = Totals::default();
    for ix in source.tree().entries() {
        totals.add(&sums.of(source, ix));
    }
    Ok(totals)
}

/// Usage by entry; most entries have none.
struct Sums {
    usage: HashMap<NodeIx, (u64, f64)>,
}

impl Sums {
    fn read(source: &dyn Source) -> Result<Self> {
        let tree = source.tree();
        let mut usage = HashMap::new();
        for ix in tree.entries() {
            let node = tree.node(ix);
            let may_report = match node.kind() {
                Kind::Message => matches!(node.role(), Some(Role::Assistant | Role::ToolResult)),
                Kind::Compaction | Kind::BranchSummary | Kind::Usage | Kind::ModelUsage => true,
                _ => false,
            };
            if may_report && let Some(reported) = reported(&source.entry(ix)?) {
                usage.insert(ix, (reported.total, reported.cost));
            }
        }
        Ok(Self { usage })
    }

    fn of(&self, source: &dyn Source, ix: NodeIx) -> Totals {
        let (tokens, cost) = self.usage.get(&ix).copied().unwrap_or_default();
        let node = source.tree().node(ix);
        Totals {
            entries: u64::from(!node.is_leaf_marker()),
            messages: u64::from(node.kind() == Kind::Message),
            tokens,
            cost,
        }
    }
}

/// What an entry reports of usage.
fn reported(entry: &Entry) -> Option<Usage> {
    let usage = match entry.kind {
        Kind::Message => entry.message()?.get("usage"),
        _ => entry.get("usage"),
    };
    usage.filter(|usage| !usage.is_null()).map(Usage::read)
}

/// Sums from the root to every entry: parents are summed before their children.
fn whole_paths(source: &dyn Source, sums: &Sums) -> HashMap<NodeIx, Totals> {
    let tree = source.tree();
    let mut whole: HashMap<NodeIx, Totals> = HashMap::with_capacity(tree.len());
    for (_, ix) in tree.walk() {
        let mut totals = tree.parent(ix).and_then(|parent| whole.get(&parent)).copied().unwrap_or_default();
        totals.add(&sums.of(source, ix));
        whole.insert(ix, totals);
    }
    whole
}

fn branch(
    source: &dyn Source,
    leaf: NodeIx,
    is_open: bool,
    uses: &HashMap<NodeIx, u32>,
    sums: &Sums,
    whole: &HashMap<NodeIx, Totals>,
) -> Result<Branch> {
    let tree = source.tree();
    let is_own = |ix: &NodeIx| uses.get(ix).is_some_and(|uses| *uses == 1);
    let (mut own, mut label, mut last_words) = (Totals::default(), None, None);
    for ix in tree.ancestors(leaf).take_while(is_own) {
        own.add(&sums.of(source, ix));
        label = label.or_else(|| tree.node(ix).id().and_then(|id| tree.label(id)).map(|label| label.text.clone()));
    }
    for ix in tree.ancestors(leaf) {
        last_words = words(&source.entry(ix)?);
        if last_words.is_some() {
            break;
        }
    }
    Ok(Branch {
        leaf,
        is_open,
        last_words: last_words.unwrap_or_default(),
        whole: whole.get(&leaf).copied().unwrap_or_default(),
        own,
        forks_from: tree.ancestors(leaf).find(|ix| !is_own(ix)),
        time: tree.node(leaf).time(),
        label,
    })
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
