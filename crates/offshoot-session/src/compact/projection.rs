//! The context by entry, which a plan can cut, including entries without messages. Reads the context once and keeps of
//! each message what planning needs: role, estimate, text for the summariser, files.

use std::ops::Range;

use super::PlannedMessage;
use crate::context::{self, ContextScale, ContextWeight, Message, Retained};
use crate::conversation::{Results, parts};
use crate::entry::Source;
use crate::error::Result;
use crate::files::Files;
use crate::header::Dialect;
use crate::kind::{Kind, Role};
use crate::tree::NodeIx;

#[derive(Debug)]
pub(super) struct Projected {
    pub(super) ix: NodeIx,
    pub(super) kind: Kind,
    pub(super) said: Vec<PlannedMessage>,
}

#[derive(Debug)]
pub(super) struct Projection {
    /// The newest compaction, the entries that it keeps and those after it; or the whole path.
    pub(super) entries: Vec<Projected>,
    pub(super) previous: Option<NodeIx>,
    pub(super) weight: ContextWeight,
}

impl Projection {
    /// The first entry that may be summarised.
    pub(super) fn start(&self) -> usize {
        usize::from(self.previous.is_some())
    }

    /// The messages of a range of entries, without compactions and system prompts.
    pub(super) fn planned_messages(&self, range: Range<usize>) -> Vec<PlannedMessage> {
        let entries = self.entries.get(range).unwrap_or_default();
        let spoken = entries.iter().filter(|entry| entry.kind != Kind::Compaction).flat_map(|entry| &entry.said);
        spoken.filter(|said| said.role != Role::System).cloned().collect()
    }
}

pub(super) fn project(source: &dyn Source, path: &[NodeIx], leaf: Option<NodeIx>, form: Dialect) -> Result<Projection> {
    let context = context::build(source, leaf, form)?;
    let tree = source.tree();
    let chosen = chosen(source, path, form)?;
    let mut entries: Vec<Projected> =
        chosen.into_iter().map(|ix| Projected { ix, kind: tree.node(ix).kind(), said: Vec::new() }).collect();
    let mut scale = ContextScale::new(tree, leaf);
    let mut at = 0;
    for message in context.messages(source) {
        let message = message?;
        let tokens = scale.add(tree, &message);
        at = place(source, &entries, at, &message);
        if let Some(entry) = entries.get_mut(at) {
            entry.said.push(take(entry.ix, message, tokens));
        }
    }
    let previous = entries.first().filter(|entry| entry.kind == Kind::Compaction && !entry.said.is_empty());
    let previous = previous.map(|entry| entry.ix);
    Ok(Projection { entries, previous, weight: scale.finish() })
}

fn chosen(source: &dyn Source, path: &[NodeIx], form: Dialect) -> Result<Vec<NodeIx>> {
    let tree = source.tree();
    let compaction = path.iter().rposition(|ix| tree.node(*ix).kind() == Kind::Compaction);
    let Some((before, [compaction, after @ ..])) = compaction.and_then(|at| path.split_at_checked(at)) else {
        return Ok(path.to_vec());
    };
    let entry = source.entry(*compaction)?;
    let kept = Retained::of(&entry, form).start(tree, before).unwrap_or(before.len());
    // The compaction has the system prompt of the entries before it.
    let is_kept = |ix: &&NodeIx| tree.node(**ix).role() != Some(Role::System);
    let kept = before.get(kept..).unwrap_or_default().iter().filter(is_kept);
    Ok(std::iter::once(compaction).chain(kept).chain(after).copied().collect())
}

/// The index of a message's entry, searched from the previous message's. A message whose entry is missing belongs to
/// the previous message's.
fn place(source: &dyn Source, entries: &[Projected], at: usize, message: &Message) -> usize {
    let Some(id) = &message.entry else { return at };
    let is_its = |entry: &Projected| source.tree().node(entry.ix).id() == Some(id);
    let ahead = entries.get(at..).unwrap_or_default().iter().position(is_its).map(|ahead| at + ahead);
    ahead.or_else(|| entries.iter().position(is_its)).unwrap_or(at)
}

fn take(ix: NodeIx, message: Message, tokens: u64) -> PlannedMessage {
    // The node may still have the role of version 2.
    let role = if message.role == Role::HookMessage { Role::Custom } else { message.role };
    let mut files = Files::default();
    if message.role == Role::Assistant {
        files.take_calls(message.json());
    }
    PlannedMessage { ix, role, tokens, files, parts: parts(message, Results::Cut) }
}
