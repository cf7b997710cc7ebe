//! When a context is compacted by itself: not with each answer, if a compaction has left it full or freed little.
//!
//! Knows numbers of tokens, no phase of a turn.

use std::sync::Arc;

use offshoot_protocol::{CompactionResult, Event, NoticeCode};
use offshoot_session::text::grouped;
use offshoot_session::tokens::estimate_summary;

/// What automatic compactions have achieved so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Room {
    /// The last one, until the context after it is measured.
    unmeasured: Option<Unmeasured>,
    /// The threshold for which the rest was found out.
    limit: u64,
    /// A smaller context is not compacted, because the last compaction made too little room.
    not_below: u64,
    /// How many in a row have made too little room.
    vain: u32,
}

#[derive(Debug, Clone, PartialEq)]
struct Unmeasured {
    before: u64,
    result: Arc<CompactionResult>,
    next: NextRequest,
}

/// The request that follows a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextRequest {
    /// What was said before the compaction is part of what was compacted.
    Waits,
    /// Another prompt comes first.
    HasNewPrompt,
}

/// The context of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measure {
    pub(super) tokens: u64,
    /// Its newest prompt.
    pub(super) prompt: u64,
    pub(super) window: Option<u64>,
}

impl Room {
    /// Whether a context of so many tokens is compacted by itself, with this threshold.
    pub(super) fn is_full(&self, limit: Option<u64>, tokens: u64) -> bool {
        limit.is_some_and(|limit| tokens > limit && !(self.limit == limit && tokens <= self.not_below))
    }

    /// A context of `before` tokens was compacted.
    pub(super) fn compacted(&mut self, before: u64, result: &Arc<CompactionResult>, next: NextRequest) {
        self.unmeasured = Some(Unmeasured { before, result: Arc::clone(result), next });
    }

    /// Measures what the last compaction has left by the next request. Returns what to say about it, once.
    pub(super) fn measure(&mut self, limit: Option<u64>, context: Measure) -> Option<Event> {
        let Unmeasured { before, result, next } = self.unmeasured.take()?;
        let limit = limit?;
        let left = match next {
            NextRequest::Waits => context.tokens,
            NextRequest::HasNewPrompt => context.tokens.saturating_sub(context.prompt),
        };
        let step = (context.window.unwrap_or(limit) / 8).max(1);
        if left <= limit && before.saturating_sub(left) >= step {
            *self = Self::default();
            return None;
        }
        let vain = if self.limit == limit { self.vain + 1 } else { 1 };
        let more = step.saturating_mul(1u64.checked_shl(vain - 1).unwrap_or(u64::MAX));
        *self = Self { unmeasured: None, limit, not_below: left.saturating_add(more), vain };
        (vain == 1).then(|| told(&result, [left, limit, self.not_below]))
    }
}

fn told(result: &CompactionResult, [left, limit, next]: [u64; 3]) -> Event {
    let summary = estimate_summary(&result.summary);
    let kept = result.estimated_tokens_after.saturating_sub(summary);
    let rest = left.saturating_sub(summary + kept);
    let [left, limit, next, summary, kept, rest] = [left, limit, next, summary, kept, rest].map(grouped);
    let message = format!(
        "the compaction made little room: the context still has about {left} tokens, and it is compacted above {limit}. The \
         summary has {summary}, the newest messages, which are kept, have {kept} (compaction.keepRecentTokens), the system \
         prompt and the tools {rest}. It is not compacted again before it has {next}"
    );
    Event::Notice { code: NoticeCode::Compaction, message, entry_id: None }
}
