//! Messages as lines of a transcript of Claude Code. Knows no file.

use offshoot_session::clock::{Millis, to_iso};
use offshoot_session::error::Result;
use offshoot_session::id::EntryId;
use offshoot_session::json::{Json, JsonKind, Object, quote};
use offshoot_session::kind::Role;

use super::ids::{CallIds, RisingTime, tool_name, uuid_of};
use super::said::{BackWriter, Said, SaidBlock, SaidSummary};
use super::{BackReport, BackWish, TakeLine};
use crate::key::hex_hash;

/// The newest version whose transcripts are known.
pub(super) const CLAUDE_VERSION: &str = "2.1.332";
/// The text of a message that would be empty otherwise.
const NO_TEXT: &str = "(no text)";
/// The API takes no larger picture.
const LARGEST_PICTURE: usize = 5 << 20;
/// A list shows so much of the last prompt.
const LAST_PROMPT: usize = 200;

/// Lines of a transcript, one after another.
pub(super) struct ClaudeWriter<'a, 't> {
    wish: &'a BackWish<'a>,
    take: TakeLine<'t>,
    parent: Option<String>,
    lines: u64,
    time: RisingTime,
    calls: CallIds,
    /// What was written since the last boundary: the entry, its print, and the ids of its first and last line.
    written: Vec<WrittenSaid>,
    last_prompt: Option<String>,
}

struct WrittenSaid {
    entry: Option<EntryId>,
    print: u32,
    first: String,
    last: String,
}

impl<'a, 't> ClaudeWriter<'a, 't> {
    pub(super) fn new(wish: &'a BackWish<'a>, take: TakeLine<'t>) -> Self {
        Self {
            wish,
            take,
            parent: None,
            lines: 0,
            time: RisingTime::default(),
            calls: CallIds::default(),
            written: Vec::new(),
            last_prompt: None,
        }
    }

    fn new_uuid(&mut self) -> String {
        self.lines += 1;
        uuid_of(&[self.wish.id.as_bytes(), self.lines.to_string().as_bytes()])
    }

    /// Writes a line of the chain. Returns its id.
    fn chain(&mut self, kind: &str, time: Millis, more: impl FnOnce(Object) -> Object) -> Result<String> {
        let uuid = self.new_uuid();
        let object = Object::new().str_or_null("parentUuid", self.parent.as_deref()).raw("isSidechain", false);
        let object = more(object.str("type", kind))
            .str("uuid", &uuid)
            .str("timestamp", &to_iso(self.time.next(time)))
            .str("userType", "external")
            .str("entrypoint", "cli")
            .str("cwd", self.wish.cwd)
            .str("sessionId", self.wish.id)
            .str("version", CLAUDE_VERSION)
            .str("gitBranch", "");
        (self.take)(&object.finish())?;
        self.parent = Some(uuid.clone());
        Ok(uuid)
    }

    fn user(&mut self, said: &Said, report: &mut BackReport) -> Result<(String, String)> {
        let content = match said.blocks().as_slice() {
            [SaidBlock::Text(text)] if !text.trim().is_empty() => quote(text),
            blocks => content_of(blocks, report),
        };
        if said.is_typed {
            let text = said.blocks().iter().find_map(|block| match block {
                SaidBlock::Text(text) => Some(text.chars().take(LAST_PROMPT).collect()),
                _ => None,
            });
            self.last_prompt = text;
        }
        let message = Object::new().str("role", "user").raw("content", content).finish();
        let uuid = self.chain("user", said.time, |object| {
            let object = object.raw("message", message);
            if said.is_typed { object } else { object.raw("isMeta", true) }
        })?;
        Ok((uuid.clone(), uuid))
    }

    fn result(&mut self, said: &Said, report: &mut BackReport) -> Result<(String, String)> {
        let json = said.json();
        let id = json.str("toolCallId").unwrap_or_default();
        let Some(call) = self.calls.result(&id).map(str::to_owned) else {
            report.lose("orphan-result");
            return self.user(&Said { is_typed: false, ..said.clone() }, report);
        };
        let is_error = json.get("isError").and_then(Json::as_bool) == Some(true);
        let object = Object::new().str("type", "tool_result").str("tool_use_id", &call);
        let object = object.raw("content", content_of(&said.blocks(), report)).raw("is_error", is_error);
        let message = Object::new().str("role", "user").raw("content", format!("[{}]", object.finish())).finish();
        let uuid = self.chain("user", said.time, |object| object.raw("message", message))?;
        Ok((uuid.clone(), uuid))
    }

    /// One line for each block, as the agent writes them.
    fn answer(&mut self, said: &Said, report: &mut BackReport) -> Result<(String, String)> {
        let json = said.json();
        self.calls.begin();
        let has_native_thinking = is_native(json);
        let mut blocks = Vec::new();
        for block in said.blocks() {
            match block {
                SaidBlock::Text(text) if text.trim().is_empty() => {}
                SaidBlock::Text(text) => blocks.push(text_block(&text)),
                SaidBlock::Image { .. } => report.lose("picture-of-an-answer"),
                SaidBlock::Thinking(thinking) => match native_thinking(thinking).filter(|_| has_native_thinking) {
                    Some(thinking) => blocks.push(thinking),
                    None => report.lose("thinking"),
                },
                SaidBlock::Call(call) => {
                    let id = self.calls.call(&call.str("id").unwrap_or_default());
                    let input = call.get("arguments").filter(|input| input.kind() == JsonKind::Object);
                    let object = Object::new().str("type", "tool_use").str("id", &id);
                    let object = object.str("name", &tool_name(&call.str("name").unwrap_or_default()));
                    blocks.push(object.raw("input", input.map_or("{}", Json::text)).finish());
                }
            }
        }
        let is_silent =
            |block: &String| block.starts_with(r#"{"type":"thinking""#) || block.starts_with(r#"{"type":"redacted"#);
        if blocks.iter().all(is_silent) {
            blocks.push(text_block(NO_TEXT));
        }
        let seed = hex_hash(&[self.wish.id.as_bytes(), self.lines.to_string().as_bytes()], 24);
        let (mut first, mut last) = (None, String::new());
        for block in blocks {
            let message = Object::new()
                .raw("id", quote(&format!("msg_{seed}")))
                .str("type", "message")
                .str("role", "assistant")
                .str("model", &json.str("model").unwrap_or_default())
                .raw("content", format!("[{block}]"))
                .str("stop_reason", stop_reason(json))
                .raw("stop_sequence", "null")
                .raw("usage", usage(json))
                .finish();
            let request = format!("req_{seed}");
            last =
                self.chain("assistant", said.time, |object| object.raw("message", message).str("requestId", &request))?;
            first.get_or_insert_with(|| last.clone());
        }
        Ok((first.unwrap_or_default(), last))
    }

    /// The lines of what a summary keeps, if they are the last ones before it.
    fn kept_lines(&self, kept: &[Said]) -> Option<(String, String)> {
        let from = self.written.len().checked_sub(kept.len())?;
        let tail = self.written.get(from..).unwrap_or_default();
        let is_same =
            tail.iter().zip(kept).all(|(written, said)| written.entry == said.entry && written.print == said.print);
        let (first, last) = (tail.first()?, tail.last()?);
        is_same.then(|| (first.first.clone(), last.last.clone()))
    }
}

impl BackWriter for ClaudeWriter<'_, '_> {
    fn message(&mut self, said: &Said, report: &mut BackReport) -> Result<()> {
        let (first, last) = match said.role {
            Role::Assistant => self.answer(said, report)?,
            Role::ToolResult => self.result(said, report)?,
            _ => self.user(said, report)?,
        };
        self.written.push(WrittenSaid { entry: said.entry.clone(), print: said.print, first, last });
        Ok(())
    }

    /// The boundary names the lines that are kept. Where they are not the last ones, they follow as copies.
    fn compaction(&mut self, summary: &SaidSummary) -> Result<()> {
        let lines = self.kept_lines(&summary.kept);
        let before = self.parent.take();
        self.written.clear();
        // The boundary names the summary, whose id is the one after its own.
        let anchor = uuid_of(&[self.wish.id.as_bytes(), (self.lines + 2).to_string().as_bytes()]);
        let data = Object::new().str("trigger", "manual").raw("preTokens", summary.tokens_before);
        let data = match &lines {
            Some((head, tail)) => {
                let segment = Object::new().str("headUuid", head).str("anchorUuid", &anchor).str("tailUuid", tail);
                data.raw("preservedSegment", segment.finish())
            }
            None => data,
        };
        self.chain("system", summary.time, |object| {
            object
                .str_or_null("logicalParentUuid", before.as_deref())
                .str("subtype", "compact_boundary")
                .str("content", "Conversation compacted")
                .raw("isMeta", false)
                .str("level", "info")
                .raw("compactMetadata", data.finish())
        })?;
        let text = if summary.text.trim().is_empty() { NO_TEXT } else { &summary.text };
        let message = Object::new().str("role", "user").str("content", text).finish();
        self.chain("user", summary.time, |object| {
            object.raw("message", message).raw("isVisibleInTranscriptOnly", true).raw("isCompactSummary", true)
        })?;
        if lines.is_none() {
            for said in &summary.kept {
                // What the copies lack was counted before.
                self.message(said, &mut BackReport::default())?;
            }
        }
        Ok(())
    }

    fn end(&mut self, name: Option<&str>) -> Result<()> {
        end_transcript(self.take, self.wish.id, name, self.last_prompt.as_deref(), self.parent.as_deref())
    }
}

/// The records by which the agent lists a transcript and opens it at its end.
pub(super) fn end_transcript(
    take: TakeLine<'_>,
    id: &str,
    name: Option<&str>,
    last_prompt: Option<&str>,
    leaf: Option<&str>,
) -> Result<()> {
    if let Some(name) = name {
        take(&Object::new().str("type", "custom-title").str("customTitle", name).str("sessionId", id).finish())?;
    }
    let Some(leaf) = leaf else { return Ok(()) };
    let object = Object::new().str("type", "last-prompt").str("lastPrompt", last_prompt.unwrap_or_default());
    take(&object.str("leafUuid", leaf).str("sessionId", id).finish())
}

fn text_block(text: &str) -> String {
    Object::new().str("type", "text").str("text", text).finish()
}

/// A content of the user's side, which is never empty.
fn content_of(blocks: &[SaidBlock<'_>], report: &mut BackReport) -> String {
    let mut made = Vec::new();
    for block in blocks {
        match block {
            SaidBlock::Text(text) if text.trim().is_empty() => {}
            SaidBlock::Text(text) => made.push(text_block(text)),
            SaidBlock::Image { data, mime } => match picture(*data, mime) {
                Some(picture) => made.push(picture),
                None => {
                    report.lose("picture");
                    made.push(text_block(&format!("[a picture of the type {mime} was left out]")));
                }
            },
            SaidBlock::Thinking(_) | SaidBlock::Call(_) => {}
        }
    }
    if made.is_empty() {
        made.push(text_block(NO_TEXT));
    }
    format!("[{}]", made.join(","))
}

fn picture(data: Json<'_>, mime: &str) -> Option<String> {
    let is_known = matches!(mime, "image/png" | "image/jpeg" | "image/gif" | "image/webp");
    // Four letters are three bytes.
    let fits = data.kind() == JsonKind::String && data.text().len() / 4 * 3 <= LARGEST_PICTURE;
    let source = Object::new().str("type", "base64").str("media_type", mime).json("data", data).finish();
    (is_known && fits).then(|| Object::new().str("type", "image").raw("source", source).finish())
}

/// Whether the provider of an answer takes its signatures back.
fn is_native(answer: Json<'_>) -> bool {
    let is = |name: &str, value: &str| answer.str(name).is_some_and(|own| own == value);
    let is_claude = answer.str("model").is_some_and(|model| model.starts_with("claude"));
    is("api", "anthropic-messages") && is("provider", "anthropic") && is_claude
}

/// Thinking that is signed. What is empty or unsigned would be refused, and a signature is never invented.
fn native_thinking(block: Json<'_>) -> Option<String> {
    let signature = block.get("thinkingSignature").filter(|text| text.as_str().is_some_and(|text| !text.is_empty()))?;
    if block.get("redacted").and_then(Json::as_bool) == Some(true) {
        return Some(Object::new().str("type", "redacted_thinking").json("data", signature).finish());
    }
    let thinking = block.get("thinking").filter(|text| text.as_str().is_some_and(|text| !text.is_empty()))?;
    Some(Object::new().str("type", "thinking").json("thinking", thinking).json("signature", signature).finish())
}

fn stop_reason(answer: Json<'_>) -> &'static str {
    match answer.str("stopReason").as_deref() {
        Some("length") => "max_tokens",
        Some("toolUse") => "tool_use",
        _ => "end_turn",
    }
}

fn usage(answer: Json<'_>) -> String {
    let usage = answer.get("usage").unwrap_or(Json::NULL);
    let count = |name: &str| usage.get(name).and_then(Json::as_f64).map_or(0, |count| count.max(0.0) as u64);
    Object::new()
        .raw("input_tokens", count("input"))
        .raw("cache_creation_input_tokens", count("cacheWrite"))
        .raw("cache_read_input_tokens", count("cacheRead"))
        .raw("output_tokens", count("output"))
        .finish()
}
