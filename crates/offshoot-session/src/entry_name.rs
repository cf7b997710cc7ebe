//! What a person types to name an entry: an id, the start of one, a label, `@`, or a time; and the shortest such name
//! for output. Knows no command.

use std::collections::HashSet;

use crate::clock::Millis;
use crate::error::{Error, Result};
use crate::id::{EntryId, SHORTEST_ID, ShortIds};
use crate::kind::KindClass;
use crate::tree::{NodeIx, Tree, is_kept_record};
use crate::zone::Zone;

/// Where and when a name is read.
#[derive(Debug, Clone, Copy)]
pub struct Here<'a> {
    /// The current entry: `@`.
    pub leaf: Option<NodeIx>,
    /// For times such as `2h`.
    pub now: Millis,
    /// For times without an offset.
    pub zone: &'a Zone,
}

/// Names the last entry of the conversation: labels and settings may come after it.
pub const LAST_SAID: &str = "@said";

/// The entry with this name. Tried in this order, the first that fits counts:
///
/// 1. an exact id;
/// 2. a label (`label:TEXT` is never anything else; of equal labels the newest);
/// 3. `@`, the current entry; each `-` after it goes to the parent (`@-`, `@--`), and `@-3` three steps up; what git says counts,
///    too (`HEAD`, `HEAD~3`, `HEAD^^`, `@~3`); `@said`, the last entry of the conversation;
/// 4. a time, for the last entry at or before it on the current path: an age such as `90s`, `5m`, `2h`, `3d`, `1w`, or
///    `2026-01-14T10:00`, `2026-01-14` (in `zone`, unless it has an offset). An age of four characters and more, such as
///    `120d`, is tried after 5;
/// 5. the start of an id.
///
/// # Errors
/// [`Error::EntryNotFound`]; [`Error::Ambiguous`] where several ids begin so.
pub fn find_entry(tree: &Tree, given: &str, here: Here<'_>) -> Result<NodeIx> {
    let not_found = || Error::no_entry(given);
    if let Some(label) = given.strip_prefix("label:") {
        return labelled(tree, label).ok_or_else(not_found);
    }
    if let Some(found) = tree.find(given).or_else(|| labelled(tree, given)) {
        return Ok(found);
    }
    if let Some(up) = steps_up(given) {
        let current = here.leaf.and_then(|leaf| tree.skip_leaf_markers(leaf));
        return current.and_then(|leaf| tree.ancestors(leaf).nth(up)).ok_or_else(not_found);
    }
    if given == LAST_SAID {
        let is_said = |ix: &NodeIx| tree.node(*ix).kind().class() == KindClass::Conversation;
        return here.leaf.and_then(|leaf| tree.ancestors(leaf).find(is_said)).ok_or_else(not_found);
    }
    let age = age(given).map(|age| here.now.saturating_sub(age));
    if let Some(time) = age.filter(|_| given.len() < SHORTEST_ID).or_else(|| here.zone.parse(given)) {
        return last_until(tree, here.leaf, time).ok_or_else(not_found);
    }
    match (tree.find_prefix(given), age) {
        (Err(Error::EntryNotFound { .. }), Some(time)) => last_until(tree, here.leaf, time).ok_or_else(not_found),
        (found, _) => found,
    }
}

/// The most entries of a tree whose ids are shortened.
pub const SHORT_IDS_UP_TO: usize = 50_000;

/// The shortest starts of entries' ids, of at least [`SHORTEST_ID`] characters, which [`find_entry`] takes for these
/// entries. Passes all ids of the tree once; of pages that are not in memory none is kept. In a tree of more than
/// [`SHORT_IDS_UP_TO`] entries these are the whole ids: what is printed must not cost the file.
///
/// # Errors
/// A part of the tree cannot be read.
pub fn short_ids(tree: &Tree, entries: impl IntoIterator<Item = NodeIx>) -> Result<ShortIds<'_>> {
    let of_entries = entries.into_iter().filter_map(|ix| tree.node(ix).id()).map(EntryId::as_str);
    if tree.len() > SHORT_IDS_UP_TO {
        return tree.whole(ShortIds::whole(of_entries));
    }
    let mut ids = ShortIds::of(of_entries);
    tree.look_at_ids(0, |_, id| {
        if !is_kept_record(id) {
            ids.beside(id.as_str());
        }
    });
    let labels: HashSet<&str> = tree.labels().into_iter().map(|(_, label)| label.text.as_str()).collect();
    // No shorter text is a date.
    let is_date = |start: &str| start.len() >= 8 && Zone::UTC.parse(start).is_some();
    ids.avoid(|start| labels.contains(start) || is_date(start));
    tree.whole(ids)
}

/// A time as a person types it: an age before `now`, such as `2h` or `3d`, or a date with or without a time in `zone`.
pub fn time(given: &str, now: Millis, zone: &Zone) -> Option<Millis> {
    age(given).map(|age| now.saturating_sub(age)).or_else(|| zone.parse(given))
}

/// How far above the current entry a name such as `@--`, `@-3` or `HEAD~3` is.
fn steps_up(given: &str) -> Option<usize> {
    let up = given.strip_prefix('@').or_else(|| given.strip_prefix("HEAD"))?;
    let is_all = |of: u8| up.bytes().all(|byte| byte == of);
    if is_all(b'-') || is_all(b'~') || is_all(b'^') {
        return Some(up.len());
    }
    let number = up.strip_prefix(['-', '~']).filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()))?;
    // No branch is longer than the largest number.
    Some(number.parse().unwrap_or(usize::MAX))
}

fn labelled(tree: &Tree, label: &str) -> Option<NodeIx> {
    let targets = tree.labels().into_iter().rev().filter(|(_, known)| known.text == label);
    targets.filter_map(|(target, _)| tree.find(target.as_str())).next()
}

fn last_until(tree: &Tree, leaf: Option<NodeIx>, time: Millis) -> Option<NodeIx> {
    let shown = |ix: &NodeIx| !tree.node(*ix).is_leaf_marker();
    tree.ancestors(leaf?).filter(shown).find(|ix| tree.node(*ix).time().is_some_and(|at| at <= time))
}

/// A number and a unit: seconds, minutes, hours, days, weeks.
fn age(text: &str) -> Option<Millis> {
    let number = text.get(..text.len().checked_sub(1)?)?;
    let unit = match text.as_bytes().last()? {
        b's' => 1000,
        b'm' => 60_000,
        b'h' => 3_600_000,
        b'd' => 86_400_000,
        b'w' => 604_800_000,
        _ => return None,
    };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| number.parse::<Millis>().ok()?.checked_mul(unit))?
}

#[cfg(test)]
mod tests;
