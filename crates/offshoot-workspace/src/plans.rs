//! Plans of compactions and branch summaries as JSON. Members have pi's names where pi has them.

use offshoot_session::branch_summary::BranchPlan;
use offshoot_session::compact::{CompactionPlan, PlannedMessage};
use offshoot_session::id::EntryId;
use offshoot_session::json::{Object, quote};
use offshoot_session::tree::{NodeIx, Tree};

/// What the JSON of a compaction says by ids, which are looked up while the session is at hand.
#[derive(Debug)]
pub struct CompactionJson(Object);

impl CompactionJson {
    /// Looks the ids up.
    #[must_use]
    pub fn of(tree: &Tree, plan: &CompactionPlan) -> Self {
        let pinned = plan.pinned.iter().map(|pinned| quote(pinned.id.as_str()));
        let object = Object::new()
            .str("firstKeptEntryId", plan.first_kept_id.as_str())
            .raw("isSplitTurn", plan.is_split())
            .str_or_null("turnStartEntryId", id(tree, plan.turn_start))
            .raw("tokensBefore", plan.tokens_before())
            .raw("messageTokensBefore", plan.before.messages)
            .raw("tokensKept", plan.tokens_kept())
            .str_or_null("previousCompactionId", id(tree, plan.previous))
            .str_or_null("previousSummary", plan.previous_summary.as_deref())
            .raw("messagesToSummarize", said(tree, &plan.history))
            .raw("turnPrefixMessages", said(tree, &plan.turn_prefix))
            .raw("keptMessages", said(tree, &plan.kept))
            .raw("pinned", list(pinned));
        Self(object)
    }

    /// With the conversations.
    #[must_use]
    pub fn object(&self, plan: &CompactionPlan) -> Object {
        let settings = Object::new()
            .raw("enabled", plan.settings.enabled)
            .raw("reserveTokens", plan.settings.reserve_tokens)
            .raw("keepRecentTokens", plan.settings.keep_recent_tokens);
        plan.files
            .details(self.0.clone())
            .str("conversation", &plan.history_text())
            .str("turnPrefixConversation", &plan.turn_prefix_text())
            .raw("settings", settings.finish())
    }
}

/// The plan of a branch summary.
#[must_use]
pub fn branch_summary_json(tree: &Tree, plan: &BranchPlan) -> Object {
    let entries = plan.entries.iter().filter_map(|ix| id(tree, Some(*ix))).map(quote);
    let object = Object::new()
        .str_or_null("commonAncestorId", id(tree, plan.ancestor))
        .raw("entries", list(entries))
        .raw("messages", said(tree, &plan.said))
        .raw("totalTokens", plan.tokens)
        .raw("leftOut", plan.left_out);
    plan.files.details(object).str("conversation", &plan.text())
}

fn said(tree: &Tree, said: &[PlannedMessage]) -> String {
    list(said.iter().map(|said| {
        Object::new()
            .str_or_null("entryId", id(tree, Some(said.ix)))
            .str_or_null("role", said.role.word())
            .raw("tokens", said.tokens)
            .finish()
    }))
}

fn id(tree: &Tree, ix: Option<NodeIx>) -> Option<&str> {
    ix.and_then(|ix| tree.node(ix).id()).map(EntryId::as_str)
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}
