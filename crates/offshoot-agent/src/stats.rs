//! What a session holds and what it cost. Every entry counts once, on however many branches it is.

use offshoot_session::entry::Source as _;
use offshoot_session::error::Result;
use offshoot_session::facts::Totals;
use offshoot_session::id::EntryId;
use offshoot_session::kind::{Kind, Role};
use offshoot_session::session::Session;
use offshoot_session::stats::{Branch, branches};
use offshoot_session::tokens::Usage;
use offshoot_session::transcript::call_blocks;

/// Counts and costs of a session.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionStats {
    /// Messages of the user.
    pub user_messages: u64,
    /// Answers.
    pub assistant_messages: u64,
    /// Calls of tools.
    pub tool_calls: u64,
    /// Results of tools.
    pub tool_results: u64,
    /// Message entries of any role.
    pub total_messages: u64,
    /// Tokens and dollars of all entries: answers, summaries, usage outside the conversation.
    pub usage: Usage,
    /// The same on the path to the leaf alone.
    pub path: Usage,
    /// Every branch: what its path cost, and what of it is its own.
    pub branches: Vec<BranchCost>,
}

/// What a branch cost.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BranchCost {
    /// Its last entry.
    pub leaf: String,
    /// Whether the session is open there.
    pub is_open: bool,
    /// From the root to its end.
    pub inclusive: Totals,
    /// What no other branch shares.
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
    match kind {
        Kind::Message => matches!(role, Some(Role::Assistant | Role::ToolResult)),
        kind => matches!(kind, Kind::Compaction | Kind::BranchSummary | Kind::Usage | Kind::ModelUsage),
    }
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
