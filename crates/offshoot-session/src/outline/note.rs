//! The note on a folded branch's row: label, what was merged of it, entries, cost, age, branches, last words.

use unicode_width::UnicodeWidthStr as _;

use super::{MergedPart, Outline, Sums};
use crate::clock::{Millis, ago};
use crate::entry::Source;
use crate::error::Result;
use crate::id::EntryId;
use crate::stats;
use crate::text::{counted, dollars};
use crate::tree::NodeIx;
use crate::tree::reader::NodeReader;

/// Columns that a row keeps for its own text.
const OWN_WORDS: usize = 40;
/// The fewest columns for which last words are shown.
const LEAST_QUOTE: usize = 16;
/// In a branch of at most so many entries each is asked for its label; for a larger one each label is asked for its
/// entry, which needs the whole layout.
const FEW: u64 = 1 << 10;
/// How many entries with words are searched for last words above the newest one.
const LOOKED_AT: usize = 32;

/// The figures and words of a branch.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BranchNote {
    /// Without leaf markers.
    pub entries: u64,
    /// Dollars that the entries report.
    pub cost: f64,
    /// The newest entry's time.
    pub newest: Option<Millis>,
    /// How many branches end in it.
    pub tips: u32,
    /// A label on an entry other than the first.
    pub label: Option<String>,
    /// How much of it a summary on the current path covers.
    pub merged: Option<MergedPart>,
    /// The last words, unless the first entry has them.
    pub last_words: Option<String>,
}

/// A row's text and note, fitted to the available columns.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct FittedNote {
    /// Columns for the row's own text.
    pub words: usize,
    pub note: String,
}

impl BranchNote {
    /// Divides `room` between the row's own text, `wanted` columns wide, and the note. Without a limit the note is
    /// complete.
    pub fn fit(&self, wanted: usize, room: Option<usize>, now: Millis) -> FittedNote {
        let room = room.unwrap_or(usize::MAX);
        let least = wanted.min(OWN_WORDS).min(room);
        let mut note = String::new();
        for part in self.figures(now) {
            let separator = if note.is_empty() { "  " } else { " · " };
            if least.saturating_add(note.width() + separator.width() + part.width()) <= room {
                note = note + separator + &part;
            }
        }
        let rest = room.saturating_sub(least.saturating_add(note.width()));
        if let Some(said) = &self.last_words {
            let separator = if note.is_empty() { "  " } else { " · " };
            let quote = rest.saturating_sub(separator.width() + 2);
            if quote >= LEAST_QUOTE.min(said.width()) {
                note = format!("{note}{separator}“{}”", cut(said, quote));
            }
        }
        FittedNote { words: wanted.min(room.saturating_sub(note.width())), note }
    }

    fn figures(&self, now: Millis) -> Vec<String> {
        let label = self.label.as_ref().map(|label| format!("[{label}]"));
        let cost = (self.cost > 0.0).then(|| dollars(self.cost));
        let branches = self.tips.saturating_sub(1);
        let branches = (branches > 0).then(|| counted(u64::from(branches), "branch", "branches"));
        let merged = self.merged.map(|part| match part {
            MergedPart::All => "merged".to_owned(),
            MergedPart::Some => "partly merged".to_owned(),
        });
        let parts = [
            label,
            merged,
            Some(counted(self.entries, "entry", "entries")),
            cost,
            self.newest.map(|newest| ago(newest, now)),
            branches,
        ];
        parts.into_iter().flatten().collect()
    }
}

/// The start of a text that fits `columns`, with `…` for the rest.
fn cut(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    for grapheme in unicode_segmentation::UnicodeSegmentation::graphemes(text, true) {
        if kept.width() + grapheme.width() + 1 > columns {
            break;
        }
        kept.push_str(grapheme);
    }
    kept.truncate(kept.trim_end().len());
    kept + "…"
}

impl Sums {
    /// The note of a row that represents a branch; `None` for other rows. Reads a few bodies at the end of the branch.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub fn note(&self, source: &dyn Source, outline: &Outline, row: usize) -> Result<Option<BranchNote>> {
        let Some(branch) = outline.branch(row) else { return Ok(None) };
        let Some(head) = outline.entry_at(branch.start) else { return Ok(None) };
        let start = outline.topmost_hidden(branch.start);
        let tree = source.tree();
        let nodes = &NodeReader::new(source.tree());
        let figures = outline.entry_at(start).and_then(|start| self.from(nodes, start)).unwrap_or_default();
        let last_words = said_last(source, outline, figures.latest.entry, head)?;
        let label = match figures.totals.entries {
            entries if !tree.has_labels() || entries > FEW && !outline.is_whole() => None,
            entries if entries > FEW => {
                let mut newest_first = tree.labels().into_iter().rev();
                let is_in_branch = |target: &EntryId| {
                    let place = tree.find(target.as_str()).and_then(|ix| outline.place(ix));
                    place.is_some_and(|place| branch.contains(&place) && place != branch.start)
                };
                newest_first.find(|(target, _)| is_in_branch(target)).map(|(_, label)| label)
            }
            _ => tree.newest_label(tree.walk_from(head).map(|(_, ix)| ix).skip(1)),
        };
        Ok(Some(BranchNote {
            entries: figures.totals.entries,
            cost: figures.totals.cost,
            newest: figures.latest.time,
            tips: figures.tips,
            label: label.map(|label| crate::text::one_line(&label.text, 40)),
            merged: self.merged(nodes, outline, &branch),
            last_words,
        }))
    }
}

/// The last words at or above an entry, but below the branch's first.
fn said_last(source: &dyn Source, outline: &Outline, newest: NodeIx, head: NodeIx) -> Result<Option<String>> {
    let above = source.tree().ancestors(newest).take_while(|ix| *ix != head);
    for ix in above.filter(|ix| stats::may_speak(source, *ix)).take(LOOKED_AT) {
        if let Some(said) = outline.words(&source.entry(ix)?) {
            return Ok(Some(said));
        }
    }
    Ok(None)
}
