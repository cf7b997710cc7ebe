//! Pairs calls with results: omp's context has no call without a result and no failed turn.

use std::collections::HashSet;

use crate::context::{Message, RenderStep, render};
use crate::entry::{Source, is_truthy};
use crate::error::Result;
use crate::json::Json;
use crate::transcript::call_blocks;

/// A message that may go into the context, with what decides about it.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    step: RenderStep,
    is_assistant: bool,
    calls: Vec<String>,
    answers: Option<String>,
    failed: bool,
    /// Whether it reports that the turn before it was interrupted while thinking.
    is_interruption_note: bool,
}

impl Draft {
    pub(super) fn new(step: RenderStep, message: Json<'_>) -> Self {
        let role = message.str("role");
        let is = |wanted: &str| role.as_deref() == Some(wanted);
        let is_assistant = is("assistant");
        let calls = if is_assistant { calls(message).map(|(id, _)| id).collect() } else { Vec::new() };
        Self {
            is_assistant,
            calls,
            answers: message.str("toolCallId").filter(|_| is("toolResult")).map(std::borrow::Cow::into_owned),
            failed: is_assistant && matches!(message.str("stopReason").as_deref(), Some("error" | "aborted")),
            is_interruption_note: is("custom")
                && message.str("customType").is_some_and(|kind| kind == "interrupted-thinking"),
            step,
        }
    }

    pub(super) fn ready(message: &Message) -> Self {
        Self::new(RenderStep::Ready(message.clone()), message.json())
    }
}

/// The tool calls of an assistant message: id and block.
fn calls(message: Json<'_>) -> impl Iterator<Item = (String, Json<'_>)> {
    call_blocks(message).map(|block| (block.str("id").unwrap_or_default().into_owned(), block))
}

/// Drops unanswered calls, then failed turns with their results.
pub(super) fn settle(source: &dyn Source, drafts: Vec<Draft>) -> Result<Vec<RenderStep>> {
    let drafts = drop_dangling(source, drafts)?;
    Ok(drop_failed(drafts).into_iter().map(|draft| draft.step).collect())
}

fn drop_dangling(source: &dyn Source, drafts: Vec<Draft>) -> Result<Vec<Draft>> {
    let answered: HashSet<String> = drafts.iter().filter_map(|draft| draft.answers.clone()).collect();
    let mut kept = Vec::with_capacity(drafts.len());
    for mut draft in drafts {
        if draft.calls.iter().any(|id| !answered.contains(id)) {
            let Some(message) = render::step(source, &draft.step)?.pop() else { continue };
            let Some(repaired) = without_calls(&message, &answered) else { continue };
            draft.calls.retain(|id| answered.contains(id));
            draft.step = RenderStep::Ready(repaired);
        }
        kept.push(draft);
    }
    Ok(kept)
}

/// Removes a replayed history that is bound to one connection of the provider, and its signatures; `None` for other
/// messages.
pub(super) fn unbound(message: Json<'_>) -> Option<String> {
    let is_bound = message.str("provider").is_some_and(|provider| provider == "github-copilot")
        && message
            .get("providerPayload")
            .and_then(|payload| payload.str("type"))
            .is_some_and(|kind| kind == "openaiResponsesHistory");
    if !is_bound {
        return None;
    }
    let json = render::without(message, "providerPayload");
    let message = Json::trusted(&json);
    let blocks: Vec<String> = message.get("content")?.items().map(without_signature).collect();
    Some(render::with_content(message, &format!("[{}]", blocks.join(","))))
}

/// The turn without unanswered calls, and without signatures that no longer match.
fn without_calls(message: &Message, answered: &HashSet<String>) -> Option<Message> {
    let mut blocks = Vec::new();
    for block in message.json().get("content")?.items() {
        let keep = match block.str("type").as_deref() {
            Some("toolCall") => block.str("id").is_some_and(|id| answered.contains(id.as_ref())),
            Some("redactedThinking") => false,
            _ => true,
        };
        if keep {
            blocks.push(without_signature(block));
        }
    }
    let json = render::with_content(message.json(), &format!("[{}]", blocks.join(",")));
    (!blocks.is_empty()).then(|| Message { json, ..message.clone() })
}

fn without_signature(block: Json<'_>) -> String {
    let is_thinking = block.str("type").is_some_and(|kind| kind == "thinking");
    if !is_thinking || !block.get("thinkingSignature").is_some_and(is_truthy) {
        return block.text().to_owned();
    }
    render::without(block, "thinkingSignature")
}

/// Drops failed turns and their results, unless a note about the interruption follows.
fn drop_failed(drafts: Vec<Draft>) -> Vec<Draft> {
    let mut kept: Vec<Draft> = Vec::with_capacity(drafts.len()); // last one first
    for draft in drafts.into_iter().rev() {
        let explained = kept.last().is_some_and(|next| next.is_interruption_note);
        if draft.is_assistant && draft.failed && !explained {
            kept.retain(|later| later.answers.as_ref().is_none_or(|id| !draft.calls.contains(id)));
        } else {
            kept.push(draft);
        }
    }
    kept.reverse();
    kept
}
