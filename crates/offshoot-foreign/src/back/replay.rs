//! The records of a path that came from the agent, as they were: only the ids of the session change, and what the agent's own
//! API would refuse is left out.

use std::collections::{HashMap, HashSet};

use offshoot_session::entry::{Entry, Source as _};
use offshoot_session::error::Result;
use offshoot_session::id::EntryId;
use offshoot_session::json::{Json, Object, quote};
use offshoot_session::kind::{IMPORT_MARKER, Kind, SOURCE_RECORD};
use offshoot_session::session::Session;
use offshoot_session::tree::NodeIx;

use super::claude::end_transcript;
use super::{BackFormat, BackWish, TakeLine};
use crate::source_record::{KeptRecord, PayloadTexts, rebuild};

/// The kept records of a path, in the order of the source.
pub(super) struct NativeRecords {
    /// The agent's id of the session.
    native_id: String,
    records: Vec<NodeIx>,
}

/// The kept records of a path all of whose messages came from the agent; `None` of any other path.
pub(super) fn native_records(wish: &BackWish<'_>) -> Result<Option<NativeRecords>> {
    let session = wish.session;
    let tree = session.tree();
    let Some(native_id) = native_id(session, wish.format.agent().word())? else { return Ok(None) };
    let mut numbered = Vec::new();
    for ix in tree.path(wish.leaf) {
        let node = tree.node(ix);
        if node.is_leaf_marker() {
            let entry = session.entry(ix)?;
            if entry.str("customType").is_some_and(|custom| custom == SOURCE_RECORD) {
                numbered.push((number_of(&entry), ix));
            }
            continue;
        }
        let says = matches!(node.kind(), Kind::Message | Kind::CustomMessage | Kind::Compaction | Kind::BranchSummary);
        if says || node.kind() == Kind::ContextEdit {
            let id = node.id().map(EntryId::as_str).unwrap_or_default();
            let record = id.split_once(['.', '~']).map_or(id, |(record, _)| record);
            if tree.find(&format!("{id}.s")).is_none() && tree.find(&format!("{record}.s")).is_none() {
                return Ok(None);
            }
        }
    }
    numbered.sort_by_key(|(number, _)| *number);
    let records: Vec<NodeIx> = numbered.into_iter().map(|(_, ix)| ix).collect();
    let native = NativeRecords { native_id, records };
    // A prefix that is in another file would have to be copied with its header.
    let mut is_whole = !native.records.is_empty();
    if wish.format == BackFormat::Codex {
        native.each(session, &mut |record| {
            is_whole &= !record.contains("\"history_base\"");
            Ok(())
        })?;
    }
    Ok(is_whole.then_some(native))
}

/// The agent's id of a session that was imported from it.
fn native_id(session: &Session, word: &str) -> Result<Option<String>> {
    let Some(first) = session.tree().entries().next() else { return Ok(None) };
    let entry = session.entry(first)?;
    let data = entry.get("data").unwrap_or(Json::NULL);
    let is_import = entry.str("customType").is_some_and(|custom| custom == IMPORT_MARKER);
    let is_agents = data.str("agent").is_some_and(|agent| agent == word);
    Ok(data.str("nativeId").filter(|_| is_import && is_agents).map(std::borrow::Cow::into_owned))
}

fn number_of(entry: &Entry) -> u64 {
    entry.get("data").and_then(|data| data.get("n")?.as_f64()).unwrap_or_default().max(0.0) as u64
}

impl NativeRecords {
    /// Calls `each` with the text of every record that is JSON.
    fn each(&self, session: &Session, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
        let mut payloads = PayloadTexts::new(session);
        for ix in &self.records {
            let entry = session.entry(*ix)?;
            let Some(data) = entry.get("data") else { continue };
            let Some(KeptRecord { bytes, .. }) = rebuild(data, &mut |id| payloads.get(id)) else { continue };
            let text = String::from_utf8_lossy(&bytes);
            let text = text.trim_matches(|c: char| c == '\0' || c.is_whitespace());
            if Json::parse(text).is_ok() {
                each(text)?;
            }
        }
        Ok(())
    }
}

/// Passes the records on as those of another session.
pub(super) fn write(wish: &BackWish<'_>, records: &NativeRecords, take: TakeLine<'_>) -> Result<()> {
    match wish.format {
        BackFormat::Claude => transcript(wish, records, take),
        BackFormat::Codex => rollout(wish, records, take),
    }
}

/// A replacement of a range of a text.
type Splice = (std::ops::Range<usize>, String);

fn spliced(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|(range, _)| range.start);
    let (mut made, mut from) = (String::with_capacity(text.len()), 0);
    for (range, new) in splices {
        made.push_str(text.get(from..range.start).unwrap_or_default());
        made.push_str(&new);
        from = range.end;
    }
    made.push_str(text.get(from..).unwrap_or_default());
    made
}

/// The range of a value in the text that contains it.
fn place_of(text: &str, value: Json<'_>) -> std::ops::Range<usize> {
    let start = (value.text().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + value.text().len()
}

/// Replaces the values of these members that are the old id.
fn with_id(text: &str, of: Json<'_>, names: &[&str], ids: (&str, &str), splices: &mut Vec<Splice>) {
    for name in names {
        if let Some(value) = of.get(name).filter(|value| value.as_str().is_some_and(|own| own == ids.0)) {
            splices.push((place_of(text, value), quote(ids.1)));
        }
    }
}

fn transcript(wish: &BackWish<'_>, records: &NativeRecords, take: TakeLine<'_>) -> Result<()> {
    let mut chain = Chain::default();
    records.each(wish.session, &mut |text| chain.count(text))?;
    let (mut last_prompt, mut leaf) = (None, None);
    records.each(wish.session, &mut |text| {
        let record = Json::parse(text).unwrap_or(Json::NULL);
        let kind = record.str("type").unwrap_or_default();
        if kind == "last-prompt" {
            last_prompt = record.str("lastPrompt").map(std::borrow::Cow::into_owned);
            return Ok(());
        }
        let mut splices = Vec::new();
        with_id(text, record, &["sessionId"], (&records.native_id, wish.id), &mut splices);
        if chain.place(text, record, &mut splices) {
            take(&spliced(text, splices))?;
            leaf = record.str("uuid").map(std::borrow::Cow::into_owned).or(leaf.take());
        }
        Ok(())
    })?;
    end_transcript(take, wish.id, wish.session.name()?.as_deref(), last_prompt.as_deref(), leaf.as_deref())
}

/// The chain of a transcript: which lines are there, and what hangs on what is left out.
#[derive(Default)]
struct Chain {
    /// How many lines each answer has with more than unsigned thinking.
    lines: HashMap<String, u32>,
    written: HashSet<String>,
    /// The parents of lines that are left out.
    left_out: HashMap<String, Option<String>>,
    last: Option<String>,
}

impl Chain {
    fn count(&mut self, text: &str) -> Result<()> {
        let record = Json::parse(text).unwrap_or(Json::NULL);
        if let Some(id) = answer_of(record) {
            *self.lines.entry(id).or_default() += u32::from(unsigned_blocks(record).len() < block_count(record));
        }
        Ok(())
    }

    /// Says what of a line changes, and whether it is written.
    fn place(&mut self, text: &str, record: Json<'_>, splices: &mut Vec<Splice>) -> bool {
        let Some(uuid) = record.str("uuid").map(std::borrow::Cow::into_owned) else { return true };
        let parent = record.str("parentUuid").map(std::borrow::Cow::into_owned);
        let mut above = parent.clone();
        while let Some(next) = above.as_ref().and_then(|id| self.left_out.get(id)) {
            above.clone_from(next);
        }
        // A chain without its beginning would be a conversation without it.
        let above = above.filter(|id| self.written.contains(id)).or_else(|| parent.as_ref().and(self.last.clone()));
        let unsigned = unsigned_blocks(record);
        if !unsigned.is_empty() {
            let is_only = unsigned.len() == block_count(record);
            let has_more = answer_of(record).is_some_and(|id| self.lines.get(&id).is_some_and(|lines| *lines > 0));
            if is_only && has_more {
                self.left_out.insert(uuid, above);
                return false;
            }
            if let Some(content) = record.get("message").and_then(|message| message.get("content")) {
                let rest: Vec<&str> = content.items().filter(|block| !is_unsigned(*block)).map(Json::text).collect();
                let no_text = Object::new().str("type", "text").str("text", "(no text)").finish();
                let rest = if rest.is_empty() { no_text } else { rest.join(",") };
                splices.push((place_of(text, content), format!("[{rest}]")));
            }
        }
        if above != parent
            && let Some(value) = record.get("parentUuid")
        {
            splices.push((place_of(text, value), above.as_deref().map_or_else(|| "null".to_owned(), quote)));
        }
        self.written.insert(uuid.clone());
        self.last = Some(uuid);
        true
    }
}

fn answer_of(record: Json<'_>) -> Option<String> {
    let is_answer = record.str("type").is_some_and(|kind| kind == "assistant");
    record.get("message").filter(|_| is_answer)?.str("id").map(std::borrow::Cow::into_owned)
}

fn block_count(record: Json<'_>) -> usize {
    record.get("message").and_then(|message| message.get("content")).map_or(0, |content| content.items().count())
}

/// Thinking without signature, which the API refuses.
fn unsigned_blocks(record: Json<'_>) -> Vec<Json<'_>> {
    let content = record.get("message").and_then(|message| message.get("content")).unwrap_or(Json::NULL);
    content.items().filter(|block| is_unsigned(*block)).collect()
}

fn is_unsigned(block: Json<'_>) -> bool {
    let is_empty = |name: &str| block.str(name).is_none_or(|text| text.is_empty());
    block.str("type").is_some_and(|kind| kind == "thinking") && is_empty("signature")
}

fn rollout(wish: &BackWish<'_>, records: &NativeRecords, take: TakeLine<'_>) -> Result<()> {
    let ids = (records.native_id.as_str(), wish.id);
    let mut ordinal: u64 = 0;
    records.each(wish.session, &mut |text| {
        let record = Json::parse(text).unwrap_or(Json::NULL);
        let mut splices = Vec::new();
        let payload = record.get("payload").unwrap_or(record);
        let is_header = record.str("type").is_none_or(|kind| kind == "session_meta");
        let names: &[&str] = if is_header { &["id", "session_id"] } else { &["thread_id", "session_id"] };
        with_id(text, payload, names, ids, &mut splices);
        if let Some(value) = record.get("ordinal") {
            splices.push((place_of(text, value), ordinal.to_string()));
            ordinal += 1;
        }
        take(&spliced(text, splices))
    })
}
