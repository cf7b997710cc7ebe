//! The context as pi 0.87 builds it.

use std::collections::HashMap;

use super::retained::Retained;
use super::weight::{LastChange, TailTally};
use super::{Context, RenderStep, damaged, render};
use crate::entry::{Entry, Source};
use crate::error::{Diagnostic, Result};
use crate::header::Dialect;
use crate::id::EntryId;
use crate::json::{JsonKind, Object};
use crate::kind::{Kind, KindSpeech, Role};
use crate::tree::NodeIx;

/// Costs what the context has, not the path: nothing before the last compaction's kept range is walked.
pub(super) fn build(source: &dyn Source, leaf: Option<NodeIx>) -> Result<Context> {
    let Some(leaf) = leaf else {
        return Ok(Context { thinking_level: Some("\"off\"".to_owned()), ..Context::default() });
    };
    let mut diagnostics = Vec::new();
    let selection = select(source, leaf, &mut diagnostics)?;
    let edits = edits(source, &selection)?;
    let steps = selection.iter().filter_map(|chosen| step(source, *chosen, &edits)).collect();
    let (thinking_level, model) = settings(source, leaf)?;
    Ok(Context { steps, thinking_level, model, diagnostics, ..Context::default() })
}

/// The tokens of the context, if an entry after its last change has a report. Walks back no further than to it.
pub(super) fn measured(source: &dyn Source, leaf: NodeIx, tally: &mut TailTally) -> Result<Option<u64>> {
    let tree = source.tree();
    let (changed, unedited) = (tally.changed.as_ref().map(LastChange::ix), HashMap::new());
    for ix in tree.ancestors(leaf).take_while(|ix| Some(*ix) != changed) {
        let Some(step) = step(source, Chosen::Entry(ix), &unedited) else { continue };
        for message in render::step(source, &step)?.iter().rev() {
            let measured = tally.add(tree, message);
            if measured.is_some() {
                return Ok(measured);
            }
        }
    }
    Ok(None)
}

#[derive(Debug, Clone, Copy)]
enum Chosen {
    Compaction(NodeIx),
    /// Precedes the compaction, which keeps it.
    Kept(NodeIx),
    Entry(NodeIx),
}

impl Chosen {
    fn ix(self) -> NodeIx {
        match self {
            Self::Compaction(ix) | Self::Kept(ix) | Self::Entry(ix) => ix,
        }
    }
}

/// The last compaction, the entries that it keeps and those after it; or the whole path.
fn select(source: &dyn Source, leaf: NodeIx, diagnostics: &mut Vec<Diagnostic>) -> Result<Vec<Chosen>> {
    let tree = source.tree();
    let Some(at) = tree.compaction(leaf) else {
        return Ok(tree.path(leaf).into_iter().map(Chosen::Entry).collect());
    };
    let compaction = source.entry(at)?;
    if compaction.damage().is_some() {
        diagnostics.push(damaged(source, at));
    }
    let mut chosen: Vec<Chosen> = tree.ancestors(leaf).take_while(|ix| *ix != at).map(Chosen::Entry).collect();
    chosen.extend(kept(source, &compaction, diagnostics).into_iter().map(Chosen::Kept));
    chosen.push(Chosen::Compaction(at));
    chosen.reverse();
    Ok(chosen)
}

/// The entries before a compaction that it keeps, last one first.
fn kept(source: &dyn Source, compaction: &Entry, diagnostics: &mut Vec<Diagnostic>) -> Vec<NodeIx> {
    let retained = Retained::of(compaction, Dialect::Pi);
    let Some((_, kept)) = retained.reference() else { return Vec::new() };
    let tree = source.tree();
    if let Some(first) = tree.find(kept) {
        let mut range = Vec::new();
        for ix in tree.ancestors(compaction.ix).skip(1) {
            range.push(ix);
            if ix == first {
                return range;
            }
        }
    }
    diagnostics.extend(retained.missing(source, compaction.ix));
    Vec::new()
}

/// The last edit of every target among some entries, for those who read entries beside a context.
pub(crate) struct EntryEdits(HashMap<EntryId, Edit>);

/// What an edit makes of an entry.
pub(crate) enum EditedEntry {
    Unedited,
    Omitted,
    Said(super::Message),
}

impl EntryEdits {
    pub(crate) fn among(source: &dyn Source, entries: &[NodeIx]) -> Result<Self> {
        let edits = entries.iter().map(|ix| edit(source, *ix));
        Ok(Self(edits.filter_map(Result::transpose).collect::<Result<_>>()?))
    }

    pub(crate) fn apply(&self, source: &dyn Source, ix: NodeIx) -> Result<EditedEntry> {
        if source.tree().node(ix).id().is_none_or(|id| !self.0.contains_key(id)) {
            return Ok(EditedEntry::Unedited);
        }
        let Some(step) = step(source, Chosen::Entry(ix), &self.0) else { return Ok(EditedEntry::Omitted) };
        if !matches!(step, RenderStep::Edited(..) | RenderStep::WithoutContent(_)) {
            return Ok(EditedEntry::Unedited);
        }
        let said = render::step(source, &step)?.into_iter().next();
        Ok(said.map_or(EditedEntry::Omitted, EditedEntry::Said))
    }
}

enum Edit {
    Omit,
    Content(String),
    /// The replacement has no content, and the message loses its own.
    NoContent,
}

/// The last edit of every target among the chosen entries.
fn edits(source: &dyn Source, selection: &[Chosen]) -> Result<HashMap<EntryId, Edit>> {
    let edits = selection.iter().map(|chosen| edit(source, chosen.ix()));
    edits.filter_map(Result::transpose).collect()
}

/// The edit that an entry is, and its target.
fn edit(source: &dyn Source, ix: NodeIx) -> Result<Option<(EntryId, Edit)>> {
    if source.tree().node(ix).kind() != Kind::ContextEdit {
        return Ok(None);
    }
    let entry = source.entry(ix)?;
    let (Some(target), Some(replacement)) = (entry.str("targetId"), entry.get("replacement")) else { return Ok(None) };
    let edit = match (replacement.kind(), replacement.get("content")) {
        (JsonKind::Null, _) => Edit::Omit,
        (_, Some(content)) => Edit::Content(content.text().to_owned()),
        (_, None) => Edit::NoContent,
    };
    Ok(Some((EntryId::new(target), edit)))
}

fn step(source: &dyn Source, chosen: Chosen, edits: &HashMap<EntryId, Edit>) -> Option<RenderStep> {
    let ix = chosen.ix();
    let node = source.tree().node(ix);
    let plain = match (chosen, node.kind().speech()) {
        (Chosen::Compaction(_), _) => RenderStep::Compaction(ix),
        // The compaction's own system message replaces earlier ones.
        (Chosen::Kept(_), KindSpeech::Message) if node.role() == Some(Role::System) => return None,
        (_, KindSpeech::Message | KindSpeech::CustomMessage | KindSpeech::BranchSummary) => RenderStep::Entry(ix),
        (_, KindSpeech::Compaction | KindSpeech::Nothing) => return None,
    };
    let editable = matches!(
        (node.kind(), node.role()),
        (Kind::CustomMessage, _) | (_, Some(Role::User | Role::Assistant | Role::ToolResult | Role::Custom))
    );
    match node.id().and_then(|id| edits.get(id)) {
        Some(Edit::Omit) => None,
        Some(Edit::Content(content)) if editable => Some(RenderStep::Edited(ix, content.clone())),
        Some(Edit::NoContent) if editable => Some(RenderStep::WithoutContent(ix)),
        Some(Edit::Content(_) | Edit::NoContent) | None => Some(plain),
    }
}

fn settings(source: &dyn Source, leaf: NodeIx) -> Result<(Option<String>, Option<String>)> {
    let tree = source.tree();
    let thinking = match tree.thinking_level_change(leaf) {
        None => Some("\"off\"".to_owned()),
        Some(ix) => source.entry(ix)?.get("thinkingLevel").map(|level| level.text().to_owned()),
    };
    let names_model = |ix: &NodeIx| {
        let node = tree.node(*ix);
        node.kind() == Kind::ModelChange || node.kind() == Kind::Message && node.role() == Some(Role::Assistant)
    };
    let model = match tree.ancestors(leaf).find(names_model) {
        None => None,
        Some(ix) => Some(model(&source.entry(ix)?)),
    };
    Ok((thinking, model))
}

fn model(entry: &Entry) -> String {
    let (named_by, id) =
        if entry.kind == Kind::Message { (entry.message(), "model") } else { (Some(entry.json()), "modelId") };
    let member = |object: Object, name: &str, from: &str| match named_by.and_then(|json| json.get(from)) {
        Some(value) => object.json(name, value),
        None => object,
    };
    member(member(Object::new(), "provider", "provider"), "modelId", id).finish()
}
