//! How well a hit fits: the words that are rare count more, and so do titles and questions, what is new, and what is on the way
//! to the leaf.

use offshoot_session::clock::Millis;

use crate::document::DocumentKind;

const DAY: f64 = 86_400_000.0;
/// After so many days, half of what newness adds is gone.
const HALF_LIFE: f64 = 45.0;
/// What an old hit keeps.
const OLD: f64 = 0.6;
const OFF_PATH: f64 = 0.85;
const ADJACENT: f64 = 2.0;

/// What of a hit its rank needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ranked {
    /// BM25; larger is better.
    pub(crate) words: f64,
    pub(crate) kind: DocumentKind,
    pub(crate) at: Option<Millis>,
    pub(crate) is_on_path: bool,
    /// Whether the words follow each other in the text as in the query.
    pub(crate) is_adjacent: bool,
}

fn weight(kind: DocumentKind) -> f64 {
    match kind {
        DocumentKind::Title | DocumentKind::Label => 1.6,
        DocumentKind::User => 1.3,
        DocumentKind::Assistant => 1.0,
        DocumentKind::Summary => 0.9,
        DocumentKind::Call | DocumentKind::Note => 0.8,
        DocumentKind::Result => 0.6,
        DocumentKind::Thinking => 0.55,
    }
}

/// The score of a hit.
#[expect(clippy::cast_precision_loss, reason = "an age needs no more digits")]
pub(crate) fn score(ranked: Ranked, now: Millis) -> f64 {
    let age = ranked.at.map_or(f64::MAX, |at| now.saturating_sub(at).max(0) as f64 / DAY);
    let newness = OLD + (1.0 - OLD) * (-age / HALF_LIFE).exp2();
    let path = if ranked.is_on_path { 1.0 } else { OFF_PATH };
    let adjacent = if ranked.is_adjacent { ADJACENT } else { 1.0 };
    ranked.words * weight(ranked.kind) * newness * path * adjacent
}
