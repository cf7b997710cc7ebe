//! Entries with the label `pin`, whose texts stay in the summary verbatim through all later compactions.
//!
//! They are searched on the path each time, so removing the label ends this. See *Pinned entries* in
//! `docs/compaction.md`.

use std::collections::HashMap;

use crate::context::Message;
use crate::conversation::{Results, parts, text};
use crate::entry::{Entry, Source};
use crate::error::Result;
use crate::id::EntryId;
use crate::json::{JsonKind, Object};
use crate::kind::{Kind, KindSpeech, Role};
use crate::tree::NodeIx;

/// The label that pins an entry.
pub const PIN: &str = "pin";

/// A pinned entry that a compaction drops from the context.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub struct Pinned {
    pub ix: NodeIx,
    pub id: EntryId,
    /// The text as for a summariser, but not cut.
    pub text: String,
}

impl Pinned {
    fn block(&self) -> String {
        format!("<pinned entry=\"{}\">\n{}\n</pinned>", self.id, self.text)
    }
}

/// The pinned entries before `first_kept` that have a text. Edits count: an omitted entry is left out, a replaced one
/// has its new content.
pub(super) fn before(source: &dyn Source, path: &[NodeIx], first_kept: NodeIx) -> Result<Vec<Pinned>> {
    let tree = source.tree();
    let is_pinned = |id: &EntryId| tree.label(id).is_some_and(|label| label.text.trim() == PIN);
    let dropped = path.iter().copied().take_while(|ix| *ix != first_kept);
    let pins: Vec<(NodeIx, &EntryId)> =
        dropped.filter_map(|ix| Some((ix, tree.node(ix).id()?))).filter(|(_, id)| is_pinned(id)).collect();
    if pins.is_empty() {
        return Ok(Vec::new());
    }
    let edits = edits(source, path)?;
    let mut pinned = Vec::new();
    for (ix, id) in pins {
        let entry = source.entry(ix)?;
        let edit = entry.id.as_ref().and_then(|id| edits.get(id));
        let Some(message) = message(&entry, edit) else { continue };
        let text = text(&parts(message, Results::Whole));
        if !text.is_empty() {
            pinned.push(Pinned { ix, id: id.clone(), text });
        }
    }
    Ok(pinned)
}

/// The last edit of every entry on the path, as JSON.
fn edits(source: &dyn Source, path: &[NodeIx]) -> Result<HashMap<EntryId, String>> {
    let mut edits = HashMap::new();
    for ix in path.iter().filter(|ix| source.tree().node(**ix).kind() == Kind::ContextEdit) {
        let entry = source.entry(*ix)?;
        if let (Some(target), Some(replacement)) = (entry.str("targetId"), entry.get("replacement")) {
            edits.insert(EntryId::new(target), replacement.text().to_owned());
        }
    }
    Ok(edits)
}

fn message(entry: &Entry, edit: Option<&String>) -> Option<Message> {
    // The lines of custom messages and summaries have their messages' members.
    let (role, json) = match entry.kind.speech() {
        KindSpeech::Message => (entry.role?, entry.message()?),
        KindSpeech::CustomMessage => (Role::Custom, entry.json()),
        KindSpeech::BranchSummary => (Role::BranchSummary, entry.json()),
        KindSpeech::Compaction | KindSpeech::Nothing => return None,
    };
    let json = match edit.and_then(|edit| crate::json::Json::parse(edit).ok()) {
        Some(edit) if edit.kind() == JsonKind::Null => return None,
        Some(edit) => Object::new().json("content", edit.get("content")?).finish(),
        None => json.text().to_owned(),
    };
    Some(Message { entry: entry.id.clone(), role, json })
}

const OPEN: &str = "\n\n<pinned-entries>";
const CLOSE: &str = "\n</pinned-entries>";

pub(super) fn section(pinned: &[Pinned]) -> String {
    if pinned.is_empty() {
        return String::new();
    }
    let blocks: String = pinned.iter().map(|pinned| format!("\n{}", pinned.block())).collect();
    format!("{OPEN}{blocks}{CLOSE}")
}

/// A summary without the pinned entries that it will get again. Entries that are not pinned any more stay, to be
/// summarised.
pub(super) fn without(summary: &str, pinned: &[Pinned]) -> String {
    let rest =
        pinned.iter().fold(summary.to_owned(), |rest, pinned| rest.replacen(&format!("\n{}", pinned.block()), "", 1));
    rest.replacen(&format!("{OPEN}{CLOSE}"), "", 1)
}
