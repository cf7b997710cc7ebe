//! The tool calls that a place in the middle of several leaves out: results of the same turn, and of the row of calls that
//! the place is in. Lays out nothing.

use std::collections::{BTreeSet, HashSet, VecDeque};

use super::row_texts::RowTexts;
use super::{RowFacts, row};
use crate::entry::{Entry, Source};
use crate::error::Result;
use crate::kind::{KindClass, Role};
use crate::transcript::{calls, value_text};
use crate::tree::{NodeIx, Tree};

/// Tool calls after a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOutCalls {
    /// As a row of a tree names them: `[edit ×2, bash: cargo test]`.
    pub text: String,
    /// The entry that includes them all.
    pub end: NodeIx,
}

/// The completed tool calls that a conversation up to an entry leaves out, though the turn or the row of the entry has
/// them: of those of the turn the model would be told that they were not completed. `None` if there are none.
///
/// # Errors
/// The medium cannot be read.
pub fn left_out(source: &dyn Source, at: NodeIx) -> Result<Option<LeftOutCalls>> {
    let tree = source.tree();
    if !matches!(tree.node(at).role(), Some(Role::ToolResult | Role::Assistant)) {
        return Ok(None);
    }
    // Entries come after their parents.
    let mut left: BTreeSet<NodeIx> = of_turn(source, at)?.into_iter().collect();
    left.extend(rest_of_run(source, at)?);
    let Some(end) = left.last().copied() else { return Ok(None) };
    let mut texts = RowTexts::default();
    texts.read_near_only();
    Ok(Some(LeftOutCalls { text: row::run(source, left.into_iter(), texts.calls())?, end }))
}

/// The results below an entry that answer calls of the turn that it belongs to.
fn of_turn(source: &dyn Source, at: NodeIx) -> Result<Vec<NodeIx>> {
    let tree = source.tree();
    let mut answered = HashSet::new();
    let mut turn = None;
    for ix in tree.ancestors(at) {
        match tree.node(ix).role() {
            Some(Role::Assistant) => {
                turn = Some(ix);
                break;
            }
            Some(Role::ToolResult) => answered.extend(call_of(&source.entry(ix)?)),
            None => {}
            Some(_) => break,
        }
    }
    let Some(turn) = turn else { return Ok(Vec::new()) };
    let turn = source.entry(turn)?;
    let ids = calls(&turn).filter_map(|call| Some(call.str("id")?.into_owned()));
    let mut open: HashSet<String> = ids.filter(|id| !answered.contains(id)).collect();
    let mut left = Vec::new();
    let mut below: VecDeque<NodeIx> = tree.children(at).collect();
    while let Some(ix) = below.pop_front().filter(|_| !open.is_empty()) {
        if tree.node(ix).role() == Some(Role::ToolResult) {
            let call = call_of(&source.entry(ix)?);
            left.extend(call.filter(|call| open.remove(call)).map(|_| ix));
        } else if is_said(tree, ix) {
            continue;
        }
        below.extend(tree.children(ix));
    }
    Ok(left)
}

/// The results that follow an entry in its row of several calls.
fn rest_of_run(source: &dyn Source, at: NodeIx) -> Result<Vec<NodeIx>> {
    let tree = source.tree();
    let facts = |ix: NodeIx| -> Result<RowFacts> { Ok(RowFacts::of(tree, &source.entry(ix)?, None)) };
    let mut left = Vec::new();
    let mut last = at;
    if tree.node(at).role() != Some(Role::ToolResult) || !facts(at)?.is_good_result() {
        return Ok(left);
    }
    while tree.label_of(last).is_none() {
        let Some(next) = next_result(source, last)? else { break };
        if !facts(next)?.is_good_result() {
            break;
        }
        left.push(next);
        last = next;
    }
    Ok(left)
}

/// The result after an entry, if only turns without words come between and no other branch begins there.
fn next_result(source: &dyn Source, at: NodeIx) -> Result<Option<NodeIx>> {
    let tree = source.tree();
    let mut here = at;
    loop {
        let mut children = tree.children(here).filter(|ix| is_said(tree, *ix) || !tree.is_leaf(*ix));
        let (Some(only), None) = (children.next(), children.next()) else { return Ok(None) };
        let node = tree.node(only);
        if node.role() == Some(Role::ToolResult) {
            return Ok(Some(only));
        }
        if is_said(tree, only) && !RowFacts::of(tree, &source.entry(only)?, None).is_silent() {
            return Ok(None);
        }
        here = only;
    }
}

/// The call that a result answers.
fn call_of(result: &Entry) -> Option<String> {
    result.of_message("toolCallId").and_then(value_text)
}

/// Whether an entry belongs to the conversation, unlike labels and settings.
fn is_said(tree: &Tree, ix: NodeIx) -> bool {
    let node = tree.node(ix);
    !node.is_leaf_marker() && node.kind().class() == KindClass::Conversation
}
