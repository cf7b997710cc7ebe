//! What a pick or a merge would bring, in words. Writes nothing.

use offshoot_protocol::model::Model;
use offshoot_session::error::{Error, Result};
use offshoot_session::merge::{self, MergePlan, MergeRequest};
use offshoot_session::pick::{self, PickEnd, PickOptions, PickPlan, PickRequest};
use offshoot_session::text::{counted, dollars, in_short, noun, one_line};
use offshoot_session::tree::{NodeIx, Tree};

use crate::forecast::plan_cost;

/// Longer branches and selections are not planned only to be shown.
const MOST: usize = 20_000;

/// Why a pick would write nothing.
fn nothing_to_pick(plan: &PickPlan) -> &'static str {
    if plan.already.is_empty() { "the selection has no messages" } else { "all of it is here already" }
}

/// What a merge says if nothing is new.
const NOTHING_NEW: &str = "nothing new on that branch";

/// Such as `3 entries (1 with it), about 120 tokens; 2 here already; left out: a setting`.
fn picked(plan: &PickPlan) -> String {
    let added = plan.copies.iter().filter(|copy| copy.is_added).count();
    let mut said = counted(plan.copies.len(), "entry", "entries");
    if added > 0 {
        said.push_str(&format!(" ({added} with it)"));
    }
    said.push_str(&format!(", about {}", counted(plan.tokens, "token", "tokens")));
    if !plan.already.is_empty() {
        said.push_str(&format!("; {} here already", plan.already.len()));
    }
    let mut reasons: Vec<&str> = plan.left_out.iter().map(|(_, why)| why.text()).collect();
    reasons.dedup();
    if !reasons.is_empty() {
        said.push_str(&format!("; left out: {}", one_line(&reasons.join(", "), 120)));
    }
    said
}

/// Such as `3 entries since the last merge`.
fn merged(plan: &MergePlan) -> String {
    let since = if plan.is_repeated { " since the last merge" } else { "" };
    format!("{}{since}", counted(plan.entries.len(), "entry", "entries"))
}

/// The newest end of the branch at an entry. `None` if it is longer than `most`, or a circle.
pub fn newest_end(tree: &Tree, ix: NodeIx, most: usize) -> Option<NodeIx> {
    let (mut end, mut steps) = (ix, 0);
    while let Some(newest) = tree.children_by_time(end).last().copied() {
        (end, steps) = (newest, steps + 1);
        if steps > most {
            return None;
        }
    }
    Some(tree.skip_leaf_markers(end).unwrap_or(ix))
}

/// What picking these entries would bring to the end of the session. `None` if there are too many of them.
///
/// # Errors
/// The session cannot be read.
pub fn pick_words(here: PickEnd<'_>, ids: &[String]) -> Result<Option<String>> {
    if ids.len() > MOST {
        return Ok(None);
    }
    let found = |id: &String| here.source.tree().find(id).ok_or_else(|| Error::EntryNotFound { id: id.clone() });
    let selections = ids.iter().map(|id| Ok(vec![found(id)?])).collect::<Result<Vec<_>>>()?;
    let options = PickOptions::default();
    let plan = pick::plan(here, &PickRequest { from: None, selections: &selections, onto: here.leaf, options })?;
    let words = if plan.is_empty() { nothing_to_pick(&plan).to_owned() } else { picked(&plan) };
    Ok(Some(format!("pick: {words}")))
}

/// What merging the branch at an entry would bring to the end of the session, and what a model would read and cost for that.
/// `None` on the current branch, and for a branch that is very long.
///
/// # Errors
/// The session cannot be read.
pub fn merge_words(here: PickEnd<'_>, ix: NodeIx, (model, budget): (&Model, u64)) -> Result<Option<String>> {
    let tree = here.source.tree();
    let Some(tip) = newest_end(tree, ix, MOST) else { return Ok(None) };
    let parted = here.leaf.and_then(|leaf| tree.common_ancestor(leaf, ix));
    let is_long = tree.ancestors(tip).take_while(|above| Some(*above) != parted).nth(MOST).is_some();
    if parted == Some(ix) || is_long {
        return Ok(None);
    }
    let plan = merge::plan(here, &MergeRequest { from: None, tip, onto: here.leaf, budget })?;
    if plan.is_empty() {
        return Ok(Some(format!("merge: {NOTHING_NEW}")));
    }
    let cost = plan_cost(&plan.summary, model).map(|cost| format!(" ≈ {}", dollars(cost)));
    let tokens = format!("{} {}", in_short(plan.summary.tokens), noun(plan.summary.tokens, "token", "tokens"));
    Ok(Some(format!("merge: {}, {tokens}{}", merged(&plan), cost.unwrap_or_default())))
}
