//! Plans of compactions, branch summaries and undos, and comparisons, as JSON, for commands and `offshoot api`.

use offshoot_agent::branch_files::FilePatch;
use offshoot_session::branch_summary::BranchPlan;
use offshoot_session::clock::to_iso;
use offshoot_session::compact::{CompactionPlan, PlannedMessage};
use offshoot_session::compare::{Comparison, Side};
use offshoot_session::entry::Source as _;
use offshoot_session::id::EntryId;
use offshoot_session::json::{Object, quote};
use offshoot_session::session::{Session, UndoPlan};
use offshoot_session::tree::{NodeIx, Tree};

/// How many bytes a comparison reads at once.
pub(crate) const BUDGET: usize = 8 << 20;

/// Members have pi's names where pi has them.
pub(crate) fn compaction(tree: &Tree, plan: &CompactionPlan) -> Object {
    let pinned = plan.pinned.iter().map(|pinned| quote(pinned.id.as_str()));
    let settings = Object::new()
        .raw("enabled", plan.settings.enabled)
        .raw("reserveTokens", plan.settings.reserve_tokens)
        .raw("keepRecentTokens", plan.settings.keep_recent_tokens);
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
    plan.files
        .details(object)
        .str("conversation", &plan.history_text())
        .str("turnPrefixConversation", &plan.turn_prefix_text())
        .raw("settings", settings.finish())
}

pub(crate) fn branch_summary(tree: &Tree, plan: &BranchPlan) -> Object {
    let entries = plan.entries.iter().filter_map(|ix| id(tree, Some(*ix))).map(quote);
    let object = Object::new()
        .str_or_null("commonAncestorId", id(tree, plan.ancestor))
        .raw("entries", list(entries))
        .raw("messages", said(tree, &plan.said))
        .raw("totalTokens", plan.tokens)
        .raw("leftOut", plan.left_out);
    plan.files.details(object).str("conversation", &plan.text())
}

pub(crate) fn comparison(session: &Session, compared: &Comparison, patches: Option<&[FilePatch]>) -> Object {
    let sides = compared.sides.iter().map(|side| compared_side(session.tree(), side));
    let object =
        Object::new().str_or_null("ancestorId", id(session.tree(), compared.ancestor)).raw("sides", list(sides));
    let patch =
        |file: &FilePatch| Object::new().str("path", &file.path).str_or_null("patch", file.patch.as_deref()).finish();
    match patches {
        Some(patches) => object.raw("patches", list(patches.iter().map(patch))),
        None => object,
    }
}

fn compared_side(tree: &Tree, side: &Side) -> String {
    let object = Object::new()
        .str_or_null("tipId", id(tree, Some(side.tip)))
        .raw("entries", side.entries.len())
        .raw("turns", side.turns)
        .raw("tokens", side.totals.tokens)
        .raw("cost", side.totals.cost)
        .str_or_null("oldest", side.oldest.map(to_iso).as_deref())
        .str_or_null("newest", side.newest.map(to_iso).as_deref())
        .raw("models", list(side.models.iter().map(|model| quote(model))));
    let files = side.file_uses().into_iter().map(|file| {
        Object::new().str("path", &file.path).raw("reads", file.reads).raw("changes", file.changes).finish()
    });
    let object = side.files().details(object).raw("files", list(files));
    object.str_or_null("lastWords", side.last_words.as_deref()).finish()
}

/// `written` is the entry that undid it.
pub(crate) fn undo(tree: &Tree, plan: &UndoPlan, written: Option<&EntryId>) -> Object {
    Object::new()
        .opt_str("operation", plan.operation.word())
        .str_or_null("from", id(tree, plan.left))
        .str_or_null("to", id(tree, plan.target))
        .str_or_null("id", written.map(EntryId::as_str))
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
