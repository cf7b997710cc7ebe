//! Finds the cut: back from the newest entry until enough is kept, never between a tool call and its result.
//!
//! pi's rule with one difference: whether the cut splits a turn is decided before it moves back over settings. See
//! *Where the cut falls* in `docs/compaction.md`.

use std::collections::HashSet;

use super::Occasion;
use super::projection::{Projected, Projection};
use crate::entry::{Entry, Source};
use crate::error::Result;
use crate::id::EntryId;
use crate::kind::{Kind, KindSpeech, Role};

/// Indexes of a projection's entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) first_kept: usize,
    pub(super) turn_start: Option<usize>,
}

pub(super) fn find(source: &dyn Source, projection: &Projection, (keep, occasion): (u64, Occasion)) -> Result<Cut> {
    let (entries, start) = (&projection.entries, projection.start());
    let points: Vec<usize> = (start..entries.len()).filter(|at| has(entries, *at, may_be_first)).collect();
    let (Some(first), Some(last)) = (points.first().copied(), points.last().copied()) else {
        return Ok(Cut { first_kept: start, turn_start: None });
    };
    let full = filled(entries, start, keep);
    // Trailing results that exceed the limit by themselves keep their call.
    let mut cut = full.map_or(first, |at| points.iter().copied().find(|point| *point >= at).unwrap_or(last));
    let unread = unread(source, entries, start);
    match occasion {
        Occasion::Asked if full.is_some() && is_failed_attempt(source, entries.get(cut + 1..).unwrap_or_default())? => {
            cut += 1;
        }
        Occasion::AfterOverflow if full == Some(cut) && tokens_of(entries, cut) > keep && cut < unread => {
            cut = points.iter().copied().find(|point| *point > cut).unwrap_or(cut);
        }
        Occasion::Asked | Occasion::BeforeRequest | Occasion::AfterOverflow => {}
    }
    if occasion != Occasion::Asked {
        cut = cut.min(unread);
    }
    let turn_start = turn_of(entries, start, cut);
    while cut > start && is_silent(entries, cut - 1) {
        cut -= 1;
    }
    Ok(Cut { first_kept: cut, turn_start: turn_start.filter(|turn| *turn < cut) })
}

/// The entry at which, counted from the newest, enough is kept.
fn filled(entries: &[Projected], start: usize, keep: u64) -> Option<usize> {
    let mut kept = 0;
    for at in (start..entries.len()).rev() {
        let own = tokens_of(entries, at);
        kept += own;
        if own > 0 && kept >= keep {
            return Some(at);
        }
    }
    None
}

fn tokens_of(entries: &[Projected], at: usize) -> u64 {
    entries.get(at).map_or(0, |entry| entry.said.iter().map(|said| said.tokens).sum())
}

/// The first of the newest messages that no model has answered. Attempts that failed after them do not count; a message
/// from before an earlier attempt is not among them.
fn unread(source: &dyn Source, entries: &[Projected], start: usize) -> usize {
    let mut unread = entries.len();
    for at in (start..entries.len()).rev() {
        let is_answer =
            entries.get(at).is_some_and(|entry| source.tree().node(entry.ix).role() == Some(Role::Assistant));
        if has(entries, at, starts_turn) {
            unread = at;
        } else if !is_silent(entries, at) || (is_answer && unread < entries.len()) {
            break;
        }
    }
    unread
}

/// The start of the turn that a cut splits; `None` if the cut is at its start, or there is no turn.
fn turn_of(entries: &[Projected], start: usize, cut: usize) -> Option<usize> {
    // The cut moves back over silent entries later, so the first one with messages decides.
    let speaks = (cut..entries.len()).find(|at| !is_silent(entries, *at)).unwrap_or(cut);
    if has(entries, speaks, starts_turn) {
        return None;
    }
    (start..cut).rev().find(|at| has(entries, *at, starts_turn))
}

fn has(entries: &[Projected], at: usize, wanted: fn(Role) -> bool) -> bool {
    let entry = entries.get(at).filter(|entry| entry.kind != Kind::Compaction);
    entry.is_some_and(|entry| entry.said.iter().any(|said| wanted(said.role)))
}

/// Whether an entry adds nothing to the context and is not an older compaction.
fn is_silent(entries: &[Projected], at: usize) -> bool {
    entries.get(at).is_some_and(|entry| entry.kind != Kind::Compaction && entry.said.is_empty())
}

/// Whether a context may begin with this role. A result may not, because its call would be missing.
fn may_be_first(role: Role) -> bool {
    role == Role::Assistant || starts_turn(role)
}

fn starts_turn(role: Role) -> bool {
    match role {
        Role::User
        | Role::BashExecution
        | Role::PythonExecution
        | Role::Custom
        | Role::HookMessage
        | Role::BranchSummary
        | Role::CompactionSummary
        | Role::FileMention => true,
        Role::Assistant | Role::ToolResult | Role::System | Role::Developer | Role::Unknown => false,
    }
}

/// Whether everything after the cut is a failed attempt that was omitted. Then the input, too big to keep, must be
/// summarised.
fn is_failed_attempt(source: &dyn Source, behind: &[Projected]) -> Result<bool> {
    let mut is_attempt = false;
    let mut omitted: HashSet<EntryId> = HashSet::new();
    let mut replaced: HashSet<EntryId> = HashSet::new();
    for projected in behind {
        let node = source.tree().node(projected.ix);
        match projected.kind.speech() {
            KindSpeech::Compaction => return Ok(false),
            KindSpeech::Message | KindSpeech::CustomMessage | KindSpeech::BranchSummary => {
                if would_speak(&source.entry(projected.ix)?) {
                    if !projected.said.is_empty() {
                        return Ok(false);
                    }
                    is_attempt |= node.role() == Some(Role::Assistant);
                    omitted.extend(node.id().cloned());
                }
            }
            KindSpeech::Nothing if projected.kind == Kind::ContextEdit => {
                let entry = source.entry(projected.ix)?;
                if entry.get("replacement").is_none_or(|replacement| !replacement.is_null()) {
                    replaced.insert(EntryId::new(entry.str("targetId").unwrap_or_default()));
                }
            }
            KindSpeech::Nothing => {}
        }
    }
    Ok(is_attempt && replaced.is_subset(&omitted))
}

/// Whether an entry has a message, ignoring edits.
fn would_speak(entry: &Entry) -> bool {
    match entry.kind.speech() {
        KindSpeech::Message => entry.message().is_some(),
        KindSpeech::BranchSummary => entry.get("summary").is_some_and(crate::entry::is_truthy),
        KindSpeech::CustomMessage | KindSpeech::Compaction | KindSpeech::Nothing => entry.damage().is_none(),
    }
}
