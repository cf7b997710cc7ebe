//! The summary message of a compaction, with the provider's own checkpoint if there is one.

use crate::context::checkpoint::Checkpoint;
use crate::context::{Message, render};
use crate::entry::{Entry, Source};
use crate::error::Result;
use crate::json::Object;
use crate::kind::Role;
use crate::tree::NodeIx;

pub(super) fn message(source: &dyn Source, compaction: &Entry, first_retained: Option<NodeIx>) -> Result<Message> {
    let checkpoint = Checkpoint::of(compaction);
    let names = ["summary", "shortSummary", "tokensBefore", "tokensAfter", "method"];
    let mut object = render::copy(Object::new().str("role", "compactionSummary"), compaction, &names);
    if let Some(checkpoint) = &checkpoint {
        object = object.raw("providerPayload", checkpoint.payload());
    }
    let object = render::copy(object, compaction, &["warning"]);
    // A block of Anthropic's is dated just before the first retained entry.
    let retained_at = match (checkpoint, first_retained) {
        (Some(Checkpoint::Anthropic(_)), Some(ix)) => source.entry(ix)?.js_time(),
        (Some(Checkpoint::OpenAi(_)) | None, _) | (_, None) => None,
    };
    Ok(match retained_at {
        None => render::message(compaction, Role::CompactionSummary, object),
        Some(ms) => Message {
            entry: compaction.id.clone(),
            role: Role::CompactionSummary,
            json: object.raw("timestamp", ms - 1).finish(),
        },
    })
}
