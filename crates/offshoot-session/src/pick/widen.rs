//! Widens a selection until every tool call has its result and every result its call, as far as the source has them.

use std::collections::{HashMap, HashSet};

use crate::entry::{Entry, Source};
use crate::error::Result;
use crate::kind::{Kind, Role};
use crate::selection::Descent;
use crate::transcript::call_blocks;
use crate::tree::NodeIx;

/// Selected entries of one path with their bodies, in its order.
#[derive(Debug, Default)]
pub(super) struct Widened {
    pub(super) entries: Vec<Entry>,
    /// Those that were not selected.
    pub(super) added: HashSet<NodeIx>,
    /// Results whose calls the source lacks.
    pub(super) orphans: HashSet<NodeIx>,
}

/// Adds calls and results. `leaf` says where to look for results at a fork.
pub(super) fn widen(source: &dyn Source, selected: &[NodeIx], leaf: Option<NodeIx>) -> Result<Widened> {
    let Some(last) = selected.last().copied() else { return Ok(Widened::default()) };
    let mut bodies: HashMap<NodeIx, Entry> = HashMap::new();
    for ix in selected {
        bodies.insert(*ix, source.entry(*ix)?);
    }
    let mut widened = Widened::default();
    for ix in selected {
        if source.tree().node(*ix).role() == Some(Role::ToolResult) && !widened.add_call(source, *ix, &mut bodies)? {
            widened.orphans.insert(*ix);
        }
    }
    let mut turns: Vec<NodeIx> = bodies.keys().copied().collect();
    turns.retain(|ix| source.tree().node(*ix).role() == Some(Role::Assistant));
    let mut tip = last;
    for turn in turns {
        let lowest = widened.add_results(source, turn, (last, leaf), &mut bodies)?;
        // A result below the selection is below its last entry.
        if lowest.is_some_and(|lowest| source.tree().ancestors(lowest).any(|ix| ix == tip)) {
            tip = lowest.unwrap_or(tip);
        }
    }
    let count = bodies.len();
    let mut entries: Vec<Entry> =
        source.tree().ancestors(tip).filter_map(|ix| bodies.remove(&ix)).take(count).collect();
    entries.reverse();
    widened.entries = entries;
    source.tree().whole(widened)
}

impl Widened {
    /// Adds the turn above a result that calls for it; whether there is one.
    fn add_call(&mut self, source: &dyn Source, result: NodeIx, bodies: &mut HashMap<NodeIx, Entry>) -> Result<bool> {
        let Some(id) = bodies.get(&result).and_then(answered) else { return Ok(false) };
        let above = source.tree().ancestors(result).skip(1);
        let turn = above
            .take_while(|ix| !is_prompt(source, *ix))
            .find(|ix| source.tree().node(*ix).role() == Some(Role::Assistant));
        let Some(turn) = turn else { return Ok(false) };
        if let Some(body) = bodies.get(&turn) {
            return Ok(calls(body).contains(&id));
        }
        let body = source.entry(turn)?;
        let has_called = calls(&body).contains(&id);
        if has_called {
            bodies.insert(turn, body);
            self.added.insert(turn);
        }
        Ok(has_called)
    }

    /// Adds the results of a turn's calls; answers the lowest one that was added.
    fn add_results(
        &mut self,
        source: &dyn Source,
        turn: NodeIx,
        (last, leaf): (NodeIx, Option<NodeIx>),
        bodies: &mut HashMap<NodeIx, Entry>,
    ) -> Result<Option<NodeIx>> {
        let tree = source.tree();
        let mut open = bodies.get(&turn).map(calls).unwrap_or_default();
        let mut lowest = None;
        // Along the selection, and after it along the source's own branch.
        let is_above = turn != last && tree.ancestors(last).take_while(|ix| *ix >= turn).any(|ix| ix == turn);
        let towards = if is_above { Some(last) } else { leaf };
        let mut below = Descent::new(tree, turn, towards);
        while !open.is_empty() {
            let Some(ix) = below.next() else { break };
            let node = tree.node(ix);
            if is_prompt(source, ix) || node.role() == Some(Role::Assistant) {
                break;
            }
            if node.role() == Some(Role::ToolResult) {
                let body = source.entry(ix)?;
                if answered(&body).is_some_and(|id| open.remove(&id)) && !bodies.contains_key(&ix) {
                    bodies.insert(ix, body);
                    self.added.insert(ix);
                    lowest = Some(ix);
                }
            }
            if ix == last {
                below = Descent::new(tree, ix, leaf);
            }
        }
        Ok(lowest)
    }
}

fn is_prompt(source: &dyn Source, ix: NodeIx) -> bool {
    let node = source.tree().node(ix);
    node.kind() == Kind::Message && node.role() == Some(Role::User)
}

/// The ids of the calls of a turn.
pub(super) fn calls(turn: &Entry) -> HashSet<String> {
    let blocks = turn.message().into_iter().flat_map(call_blocks);
    blocks.filter_map(|block| block.str("id").map(std::borrow::Cow::into_owned)).collect()
}

/// The id of the call that a result answers.
pub(crate) fn answered(result: &Entry) -> Option<String> {
    result.message()?.str("toolCallId").map(std::borrow::Cow::into_owned)
}
