//! Counts and costs of a session. Every entry counts once, on however many branches it is.

use offshoot_session::entry::Source as _;
use offshoot_session::error::Result;
use offshoot_session::facts::Totals;
use offshoot_session::id::EntryId;
use offshoot_session::kind::{Kind, Role};
use offshoot_session::session::Session;
use offshoot_session::stats::{Branch, branches};
use offshoot_session::tokens::Usage;
use offshoot_session::transcript::call_blocks;

#[derive(Debug, Clone, Default, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct SessionStats {
    pub user_messages: u64,
    pub assistant_messages: u64,
    pub tool_calls: u64,
    pub tool_results: u64,
    /// Message entries of any role.
    pub total_messages: u64,
    /// Of all entries: answers, summaries, usage outside the conversation.
    pub usage: Usage,
    /// Of the path to the leaf.
    pub path: Usage,
    pub branches: Vec<BranchCost>,
}

#[derive(Debug, Clone, Default, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct BranchCost {
    pub leaf: String,
    pub is_open: bool,
    /// From the root to the leaf.
    pub inclusive: Totals,
    /// Only entries that no other branch shares.
    pub own: Totals,
}

/// Counts a session.
///
/// # Errors
/// The session cannot be read.
pub fn stats(session: &Session) -> Result<SessionStats> {
    let tree = session.tree();
    let on_path: std::collections::HashSet<_> =
        session.leaf().into_iter().flat_map(|leaf| tree.ancestors(leaf)).collect();
    let mut stats = SessionStats::default();
    for ix in tree.entries() {
        let node = tree.node(ix);
        if node.kind() == Kind::Message {
            stats.total_messages += 1;
        }
        match node.role() {
            Some(Role::User) => stats.user_messages += 1,
            Some(Role::Assistant) => stats.assistant_messages += 1,
            Some(Role::ToolResult) => stats.tool_results += 1,
            _ => {}
        }
        if !may_cost(node.kind(), node.role()) {
            continue;
        }
        let entry = session.entry(ix)?;
        let holder = if entry.kind == Kind::Message { entry.message() } else { Some(entry.json()) };
        let Some(holder) = holder else { continue };
        stats.tool_calls += call_blocks(holder).count() as u64;
        if let Some(usage) = holder.get("usage").filter(|usage| !usage.is_null()).map(Usage::read) {
            add(&mut stats.usage, &usage);
            if on_path.contains(&ix) {
                add(&mut stats.path, &usage);
            }
        }
    }
    stats.branches = branches(session, session.leaf())?.iter().map(|branch| cost(session, branch)).collect();
    Ok(stats)
}

fn may_cost(kind: Kind, role: Option<Role>) -> bool {
    kind.has_usage() || kind == Kind::Message && matches!(role, Some(Role::Assistant | Role::ToolResult))
}

fn add(sum: &mut Usage, usage: &Usage) {
    sum.input += usage.input;
    sum.output += usage.output;
    sum.cache_read += usage.cache_read;
    sum.cache_write += usage.cache_write;
    sum.total += usage.total;
    sum.cost += usage.cost;
}

fn cost(session: &Session, branch: &Branch) -> BranchCost {
    let leaf = session.tree().node(branch.leaf).id().map(EntryId::as_str).unwrap_or_default().to_owned();
    BranchCost { leaf, is_open: branch.is_open, inclusive: branch.whole, own: branch.own }
}
