//! Gathers facts: reads every body that may have some once, on all cores, and later only new ones. A source may keep
//! the facts, as sessions do beside their side index. Knows no files.

use std::sync::Arc;
use std::thread;

use crate::entry::{Entry, Source};
use crate::error::Result;
use crate::facts::{Facts, MergedBranch, Reported};
use crate::json::{Json, JsonKind};
use crate::kind::{Kind, Role};
use crate::tokens::Usage;
use crate::tree::NodeIx;
use crate::tree::reader::NodeReader;

/// Below this number of entries one thread is as fast.
const MANY: usize = 4096;
/// How many entries are read through one view.
const VIEWED: usize = 4096;

/// The facts about one entry.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EntryFacts {
    pub(crate) usage: Option<Usage>,
    /// A turn of the model that only calls tools.
    pub(crate) is_silent: bool,
    /// The result of a tool call that failed.
    pub(crate) has_failed: bool,
}

impl EntryFacts {
    pub(crate) fn of(entry: &Entry) -> Self {
        if !may_say_something(entry.kind, entry.role) {
            return Self::default();
        }
        Self { usage: reported(entry), is_silent: is_silent_turn(entry), has_failed: has_failed(entry) }
    }
}

pub(crate) fn of(source: &dyn Source) -> Result<Arc<Facts>> {
    match source.facts()? {
        Some(facts) => Ok(facts),
        None => Ok(Arc::new(read(source, Facts::default())?)),
    }
}

/// Adds the facts of entries that `known` lacks.
pub(crate) fn read(source: &dyn Source, mut known: Facts) -> Result<Facts> {
    let tree = source.tree();
    let nodes = NodeReader::new(tree);
    let mut all = Vec::new();
    for ix in nodes.entries_from(known.count) {
        nodes.look(ix, |node| {
            all.extend(may_say_something(node.kind(), node.role()).then_some(ix));
            known.totals.entries += u64::from(!node.is_leaf_marker());
            known.totals.messages += u64::from(node.kind() == Kind::Message);
        });
    }
    known.count = tree.stored_len();
    let threads = if all.len() < MANY { 1 } else { thread::available_parallelism().map_or(1, usize::from) };
    let parts: Vec<Result<Facts>> = thread::scope(|scope| {
        let part = all.len().div_ceil(threads).max(1);
        let running: Vec<_> = all.chunks(part).map(|part| scope.spawn(move || read_part(source, part))).collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    for part in parts {
        let part = part?;
        for reported in &part.reported {
            known.totals.tokens += reported.tokens;
            known.totals.cost += reported.cost;
        }
        known.reported.extend(part.reported);
        known.silent.extend(part.silent);
        known.failed.extend(part.failed);
        known.merged.extend(part.merged);
    }
    let chains = std::mem::take(&mut known.chains);
    known.chains = chains.extended(tree, |ix, node| known.of(ix, node));
    tree.whole(known)
}

fn read_part(source: &dyn Source, entries: &[NodeIx]) -> Result<Facts> {
    let mut facts = Facts::default();
    let mut view = None;
    for (count, ix) in entries.iter().enumerate() {
        if count % VIEWED == 0 {
            view = source.view();
        }
        let entry = view.as_deref().unwrap_or(source).entry(*ix)?;
        let place = ix.index() as u32;
        let found = EntryFacts::of(&entry);
        if let Some(usage) = found.usage {
            facts.reported.push(Reported { entry: place, tokens: usage.total, cost: usage.cost });
        }
        if found.is_silent {
            facts.silent.push(place);
        }
        if found.has_failed {
            facts.failed.push(place);
        }
        let tip = entry.merged().and_then(|merged| source.tree().find(&merged.str("tip")?));
        facts.merged.extend(tip.map(|tip| MergedBranch { summary: place, tip: tip.index() as u32 }));
    }
    Ok(facts)
}

fn may_say_something(kind: Kind, role: Option<Role>) -> bool {
    kind.has_usage() || kind == Kind::Message && matches!(role, Some(Role::Assistant | Role::ToolResult))
}

fn reported(entry: &Entry) -> Option<Usage> {
    let usage = if entry.kind == Kind::Message { entry.of_message("usage") } else { entry.get("usage") };
    usage.filter(|usage| !usage.is_null()).map(Usage::read)
}

/// A turn of the model that only calls tools.
fn is_silent_turn(entry: &Entry) -> bool {
    if entry.role != Some(Role::Assistant) || entry.message().is_none() {
        return false;
    }
    let reason = entry.of_message("stopReason").and_then(Json::as_str);
    matches!(reason.as_deref(), None | Some("stop" | "toolUse")) && !has_words(entry)
}

/// Whether the message's content has text, without a copy of it: it may be long.
fn has_words(entry: &Entry) -> bool {
    let says = |text: Json<'_>| {
        let begin = text.text().trim_start_matches('"').trim_start();
        !begin.starts_with(['"', '\\']) && !begin.is_empty()
            || text.as_str().is_some_and(|text| !text.trim().is_empty())
    };
    match entry.of_message("content") {
        Some(content) if content.kind() == JsonKind::String => says(content),
        _ => {
            let texts = entry.blocks().filter(|block| block.is("text")).filter_map(|block| block.get("text"));
            texts.filter(|text| text.kind() == JsonKind::String).any(says)
        }
    }
}

fn has_failed(entry: &Entry) -> bool {
    entry.role == Some(Role::ToolResult) && entry.of_message("isError").and_then(Json::as_bool) == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Totals;
    use crate::session::{Options, Session};

    #[test]
    fn text_is_found_without_decoding_it() {
        for (content, expected) in [
            (r#""word""#, true),
            (r#""  \n word""#, true),
            (r#""\n\t \n""#, false),
            (r#""""#, false),
            (r#""\"""#, true),
            (r#"[{"type":"text","text":" "},{"type":"text","text":"x"}]"#, true),
            (r#"[{"type":"text","text":" "},{"type":"toolCall","text":"x"},{"type":"text","text":7}]"#, false),
            ("7", false),
        ] {
            let line = format!(r#"{{"type":"message","id":"a","message":{{"role":"assistant","content":{content}}}}}"#);
            let text = format!("{{\"type\":\"session\",\"version\":3,\"id\":\"s\"}}\n{line}\n");
            let session = Session::from_text(&text, Options::default()).unwrap();
            let entry = session.entry(session.leaf().unwrap()).unwrap();
            assert_eq!(has_words(&entry), expected, "{content}");
        }
    }

    #[test]
    fn reading_on_gives_what_one_reading_gives() {
        let mut text =
            String::from("{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"t\",\"cwd\":\"/\"}\n");
        for at in 0..9000 {
            let said = if at % 3 == 0 { "said" } else { "" };
            text.push_str(&format!(
                r#"{{"type":"message","id":"{at:08x}","parentId":null,"timestamp":"t","message":{{"role":"assistant","content":[{{"type":"text","text":"{said}"}}],"usage":{{"totalTokens":{at},"cost":{{"total":0.5}}}}}}}}"#,
            ));
            text.push('\n');
        }
        let session = Session::from_text(&text, Options::default()).unwrap();
        let whole = read(&session, Facts::default()).unwrap();
        assert_eq!((whole.count, whole.reported.len(), whole.silent.len()), (9000, 9000, 6000));
        for cut in [0, 1, 4999, 9000] {
            let mut known = whole.clone();
            known.count = cut;
            known.reported.retain(|reported| (reported.entry as usize) < cut);
            known.silent.retain(|silent| (*silent as usize) < cut);
            let tokens = known.reported.iter().map(|reported| reported.tokens).sum();
            let count = cut as u64;
            known.totals = Totals { entries: count, messages: count, tokens, cost: cut as f64 / 2.0 };
            assert_eq!(read(&session, known).unwrap(), whole, "{cut}");
        }
        let last = session.leaf().unwrap();
        assert_eq!((whole.usage(last), whole.is_silent(last)), ((8999, 0.5), true));
    }
}
