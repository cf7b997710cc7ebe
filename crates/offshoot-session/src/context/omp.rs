//! The context as oh-my-pi 18 builds it: models by role, injected rules, modes, reset boundaries, compaction
//! checkpoints, and results for all tool calls.

mod pairs;
mod settings;
mod summary;

use super::retained::Retained;
use super::{Context, RenderStep, damaged};
use crate::entry::{Entry, Source, is_truthy};
use crate::error::{Diagnostic, Result};
use crate::header::Dialect;
use crate::json::{Json, JsonKind, Object};
use crate::kind::{Kind, KindSpeech, Role};
use crate::tree::NodeIx;

use super::render;
use pairs::{Draft, unbound};

pub use settings::OmpSettings;

pub(super) fn build(source: &dyn Source, leaf: Option<NodeIx>) -> Result<Context> {
    let path = leaf.map(|leaf| source.tree().path(leaf)).unwrap_or_default();
    let mut diagnostics = Vec::new();
    let (mut drafts, mut counted) = (Vec::new(), Vec::new());
    for chosen in select(source, &path, &mut diagnostics)? {
        match chosen {
            Chosen::Ready(draft) => drafts.push(draft),
            Chosen::Entry(ix) => {
                counted.push(ix);
                drafts.extend(draft(source, ix, &mut diagnostics)?);
            }
        }
    }
    let (thinking_level, omp) = settings::read(source, &path)?;
    let steps = pairs::settle(source, drafts)?;
    Ok(Context { steps, counted, thinking_level: Some(thinking_level), model: None, omp: Some(omp), diagnostics })
}

enum Chosen {
    Entry(NodeIx),
    Ready(Draft),
}

/// The part of the path that counts: after a reset, or the last compaction with what it keeps, or all.
fn select(source: &dyn Source, path: &[NodeIx], diagnostics: &mut Vec<Diagnostic>) -> Result<Vec<Chosen>> {
    let tree = source.tree();
    let last = |kind: Kind| path.iter().rposition(|ix| tree.node(*ix).kind() == kind);
    let (compaction, reset) = (last(Kind::Compaction), last(Kind::ResetBoundary));
    let entries = |range: &[NodeIx]| range.iter().map(|ix| Chosen::Entry(*ix)).collect::<Vec<_>>();
    let Some(at) = compaction.filter(|at| reset.is_none_or(|reset| reset < *at)) else {
        return Ok(entries(&path[reset.map_or(0, |reset| reset + 1)..]));
    };
    let entry = source.entry(path[at])?;
    if entry.damage().is_some() {
        diagnostics.push(damaged(source, path[at]));
        return Ok(entries(&path[at + 1..]));
    }
    let (before, after) = (&path[..at], &path[at + 1..]);
    let retained = Retained::of(&entry, Dialect::Omp);
    let kept = retained.start(tree, before);
    let first_retained = kept.and_then(|at| before.get(at)).or_else(|| after.first()).copied();
    let mut chosen = vec![Chosen::Ready(Draft::ready(&summary::message(source, &entry, first_retained)?))];
    if let Some(request) = rollover_request(source, &entry, before, reset, kept)? {
        chosen.push(Chosen::Entry(request));
    }
    match kept {
        Some(kept) => chosen.extend(entries(&before[kept..])),
        None => diagnostics.extend(retained.missing(source, path[at])),
    }
    chosen.extend(entries(after));
    Ok(chosen)
}

/// The user's last request, which a compaction that rolls over to a new context repeats unless it keeps it.
fn rollover_request(
    source: &dyn Source,
    compaction: &Entry,
    before: &[NodeIx],
    reset: Option<usize>,
    kept: Option<usize>,
) -> Result<Option<NodeIx>> {
    let kind = compaction.get("details").and_then(|details| details.str("kind"));
    if kind.as_deref() != Some("experimental-context-rollover") {
        return Ok(None);
    }
    let from = reset.map_or(0, |reset| reset + 1);
    for (at, ix) in before.iter().enumerate().skip(from).rev() {
        let node = source.tree().node(*ix);
        let is_request = match node.kind().speech() {
            KindSpeech::Message if node.role() == Some(Role::User) => true,
            KindSpeech::Message => {
                node.role() == Some(Role::Custom) && source.entry(*ix)?.message().is_some_and(is_request_of_user)
            }
            KindSpeech::CustomMessage => is_request_of_user(source.entry(*ix)?.json()),
            KindSpeech::BranchSummary | KindSpeech::Compaction | KindSpeech::Nothing => false,
        };
        if is_request {
            return Ok(kept.filter(|kept| at < *kept).map(|_| *ix));
        }
    }
    Ok(None)
}

fn is_request_of_user(message: Json<'_>) -> bool {
    message.str("customType").is_some_and(|kind| kind == "skill-prompt")
        && message.str("attribution").is_some_and(|by| by == "user")
}

/// The message of an entry, with its calls and results.
fn draft(source: &dyn Source, ix: NodeIx, diagnostics: &mut Vec<Diagnostic>) -> Result<Option<Draft>> {
    let speech = source.tree().node(ix).kind().speech();
    if matches!(speech, KindSpeech::Compaction | KindSpeech::Nothing) {
        return Ok(None);
    }
    let entry = source.entry(ix)?;
    if entry.damage().is_some() {
        diagnostics.push(damaged(source, ix));
        return Ok(None);
    }
    Ok(match speech {
        KindSpeech::Message => entry
            .message()
            .filter(|message| entry.role != Some(Role::Assistant) || !is_dropped_turn(*message))
            .map(|message| match unbound(message) {
                Some(json) => {
                    let role = entry.role.unwrap_or(Role::Unknown);
                    Draft::ready(&super::Message { entry: entry.id.clone(), role, json })
                }
                None => Draft::new(RenderStep::Verbatim(ix), message),
            }),
        KindSpeech::CustomMessage => custom_message(&entry).as_ref().map(Draft::ready),
        KindSpeech::BranchSummary => render::branch_summary(&entry).as_ref().map(Draft::ready),
        KindSpeech::Compaction | KindSpeech::Nothing => None,
    })
}

/// A turn that a retry replaced, or an error without content.
fn is_dropped_turn(message: Json<'_>) -> bool {
    if message.get("retryRecovery").is_some_and(is_truthy) {
        return true;
    }
    let Some(content) = message.get("content").filter(|content| content.kind() == JsonKind::Array) else {
        return false;
    };
    message.str("stopReason").is_some_and(|reason| reason == "error") && !content.items().any(says_something)
}

fn says_something(block: Json<'_>) -> bool {
    let non_blank = |name: &str| block.str(name).is_some_and(|text| !text.trim().is_empty());
    match block.str("type").as_deref() {
        Some("text") => non_blank("text"),
        Some("thinking") => non_blank("thinking") || non_blank("thinkingSignature"),
        Some("redactedThinking") => non_blank("data"),
        Some("fallback") => false,
        _ => true,
    }
}

fn custom_message(entry: &Entry) -> Option<super::Message> {
    let custom_type = entry.str("customType").filter(|kind| !kind.is_empty());
    if matches!(custom_type.as_deref(), Some("prewalk-plan" | "vibe-mode-context")) {
        return None;
    }
    let content = entry.get("content")?;
    if !matches!(content.kind(), JsonKind::String | JsonKind::Array) {
        return None;
    }
    let display = entry.get("display").and_then(Json::as_bool).unwrap_or(false);
    let object = Object::new()
        .str("role", "custom")
        .str("customType", custom_type.as_deref().unwrap_or("custom-message"))
        .json("content", content)
        .raw("display", display);
    let mut object = render::copy(object, entry, &["details"]);
    if let Some(attribution) = entry.get("attribution") {
        let by_user = attribution.as_str().is_some_and(|by| by == "user");
        object = object.str("attribution", if by_user { "user" } else { "agent" });
    }
    Some(render::message(entry, Role::Custom, object))
}
