//! What one line of a transcript says about itself. Knows no other line.

use std::borrow::Cow;

use offshoot_session::clock::{Millis, parse_iso};
use offshoot_session::json::{Json, JsonKind, MemberLevel, MembersBelow, SyntaxError};

use crate::key::clean;

/// The members of a line that decide where it belongs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ClaudeLine<'a> {
    pub(super) json: Json<'a>,
    pub(super) kind: Cow<'a, str>,
    pub(super) uuid: Option<Cow<'a, str>>,
    pub(super) parent: Option<Cow<'a, str>>,
    pub(super) logical_parent: Option<Cow<'a, str>>,
    pub(super) time: Option<Millis>,
    pub(super) message: Option<ClaudeMessage<'a>>,
    pub(super) cwd: Option<Json<'a>>,
    pub(super) version: Option<Json<'a>>,
    pub(super) forked_from: Option<Json<'a>>,
    subtype: Option<Json<'a>>,
    attachment: Option<Json<'a>>,
    origin: Option<Json<'a>>,
    rendered: Option<Json<'a>>,
    is_meta: bool,
    is_summary: bool,
    pub(super) is_sidechain: bool,
}

/// What a record of the chain is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClaudeRecord {
    /// What a person typed.
    Prompt,
    /// A prompt that was typed while the agent worked.
    Queued,
    /// Results of calls, and how many.
    Results(u32),
    /// A part of an answer.
    Answer,
    /// A text that the agent gave the model; this type of message.
    Injected(&'static str),
    /// A command that the person ran.
    BashInput,
    /// What it printed.
    BashOutput,
    /// Where the context was compacted.
    Boundary,
    /// The summary of the boundary before it.
    Summary,
    /// Progress of a call, which stands in the chain and says nothing.
    Progress,
    /// Anything else with a place in the chain.
    Other,
    /// It has no place in the chain.
    State,
}

impl<'a> ClaudeLine<'a> {
    fn empty() -> Self {
        Self {
            json: Json::NULL,
            kind: Cow::Borrowed(""),
            uuid: None,
            parent: None,
            logical_parent: None,
            time: None,
            message: None,
            cwd: None,
            version: None,
            forked_from: None,
            subtype: None,
            attachment: None,
            origin: None,
            rendered: None,
            is_meta: false,
            is_summary: false,
            is_sidechain: false,
        }
    }

    /// Reads a line; `None` if it is not an object.
    pub(super) fn read(json: Json<'a>) -> Option<Self> {
        if json.kind() != JsonKind::Object {
            return None;
        }
        let mut line = Self { json, ..Self::empty() };
        for (name, value) in json.members() {
            if name == "message" {
                line.message = ClaudeMessage::read(value);
            } else {
                line.put(name.as_bytes(), || value);
            }
        }
        Some(line)
    }

    /// The same of a text that was not checked yet, in one pass.
    ///
    /// # Errors
    /// It is not JSON.
    pub(super) fn parse(text: &'a str) -> Result<Option<Self>, SyntaxError> {
        let (mut line, mut message, mut blocks) = (Self::empty(), ClaudeMessage::default(), Vec::new());
        let mut block = ClaudeBlock::default();
        let mut are_plain = true;
        line.json = Json::parse_levels(text, MESSAGE, |member| {
            let Some(name) = member.name() else {
                are_plain = false;
                return;
            };
            match member.level() {
                MemberLevel::Own if name == b"message" => {
                    let read = std::mem::take(&mut message);
                    line.message = (member.value().kind() == JsonKind::Object).then_some(read);
                }
                MemberLevel::Own => line.put(name, || member.value()),
                MemberLevel::Within if name == b"content" => {
                    message.content = Some(member.value());
                    message.blocks = std::mem::take(&mut blocks);
                }
                MemberLevel::Within => message.put(name, || member.value()),
                MemberLevel::Item => blocks.push(std::mem::take(&mut block)),
                MemberLevel::Block => block.put(name, || member.value()),
            }
        })?;
        // A name with escapes may be one of these, too.
        Ok(if are_plain {
            Some(line).filter(|line| line.json.kind() == JsonKind::Object)
        } else {
            Self::read(line.json)
        })
    }

    fn put(&mut self, name: &[u8], value: impl Fn() -> Json<'a>) {
        let is_true = || value().as_bool() == Some(true);
        match name {
            b"type" => self.kind = value().as_str().unwrap_or_default(),
            b"uuid" => self.uuid = value().as_str().filter(|id| !id.is_empty()),
            b"parentUuid" => self.parent = value().as_str(),
            b"logicalParentUuid" => self.logical_parent = value().as_str(),
            b"timestamp" => self.time = value().as_str().and_then(|time| parse_iso(&time)),
            b"cwd" => self.cwd = Some(value()),
            b"version" => self.version = Some(value()),
            b"forkedFrom" => self.forked_from = Some(value()),
            b"subtype" => self.subtype = Some(value()),
            b"attachment" => self.attachment = Some(value()),
            b"origin" => self.origin = Some(value()),
            b"rendered" => self.rendered = Some(value()),
            b"isMeta" => self.is_meta = is_true(),
            b"isCompactSummary" => self.is_summary = is_true(),
            b"isSidechain" => self.is_sidechain = is_true(),
            _ => {}
        }
    }

    /// What sort of its type it is, if it says so.
    pub(super) fn sort(&self) -> Option<Cow<'a, str>> {
        self.subtype.and_then(Json::as_str).or_else(|| self.attachment?.str("type"))
    }

    /// Whether it is a link of the chain: other records are state.
    pub(super) fn is_chain(&self) -> bool {
        self.uuid.is_some() && matches!(self.kind.as_ref(), "user" | "assistant" | "system" | "attachment" | "progress")
    }

    /// Whether a record without a link gives names, labels or the leaf.
    pub(super) fn is_shown_state(&self) -> bool {
        SHOWN_STATE.contains(&self.kind.as_ref())
    }

    pub(super) fn record(&self) -> ClaudeRecord {
        if !self.is_chain() {
            return ClaudeRecord::State;
        }
        match self.kind.as_ref() {
            "user" => self.user(),
            "assistant" if self.message.is_some() => ClaudeRecord::Answer,
            "system" if self.subtype.and_then(Json::as_str).is_some_and(|subtype| subtype == "compact_boundary") => {
                ClaudeRecord::Boundary
            }
            "attachment" => self.attachment(),
            "progress" => ClaudeRecord::Progress,
            _ => ClaudeRecord::Other,
        }
    }

    /// What of it has no place in the tree.
    pub(super) fn loss(&self) -> Option<String> {
        let sort = self.sort().map(|sort| format!(".{sort}")).unwrap_or_default();
        match self.record() {
            ClaudeRecord::Other => Some(clean(&format!("no-place:{}{sort}", self.kind))),
            ClaudeRecord::State if self.is_shown_state() => None,
            ClaudeRecord::State if KNOWN_STATE.contains(&self.kind.as_ref()) => {
                Some(clean(&format!("no-place:{}", self.kind)))
            }
            ClaudeRecord::State => Some(clean(&format!("unknown-record:{}", self.kind))),
            ClaudeRecord::Answer => self.answer_loss(),
            _ => None,
        }
    }

    fn answer_loss(&self) -> Option<String> {
        let is_empty = |block: &Json<'_>, name: &str| block.str(name).is_none_or(|text| text.is_empty());
        self.message.as_ref()?.content?.items().find_map(|block| match block.str("type")?.as_ref() {
            "text" | "tool_use" | "redacted_thinking" => None,
            "thinking" if is_empty(&block, "thinking") => Some("hollow-thinking".to_owned()),
            "thinking" => None,
            other => Some(clean(&format!("unknown-block:{other}"))),
        })
    }

    fn user(&self) -> ClaudeRecord {
        let Some(message) = self.message.as_ref().filter(|message| message.content.is_some()) else {
            return ClaudeRecord::Other;
        };
        if self.is_summary {
            return ClaudeRecord::Summary;
        }
        let results = u32::try_from(message.blocks_of("tool_result").count()).unwrap_or(u32::MAX);
        if results > 0 {
            return ClaudeRecord::Results(results);
        }
        match message.mark() {
            Some(record) => record,
            None if self.is_meta => ClaudeRecord::Injected("claude.meta"),
            None => match self.origin.and_then(|origin| origin.str("kind")) {
                Some(origin) if origin != "human" => ClaudeRecord::Injected("claude.meta"),
                _ => ClaudeRecord::Prompt,
            },
        }
    }

    fn attachment(&self) -> ClaudeRecord {
        let Some(attachment) = self.attachment else { return ClaudeRecord::Other };
        match attachment.str("type").unwrap_or_default().as_ref() {
            "queued_command" if attachment.get("prompt").is_some() => ClaudeRecord::Queued,
            "hook_additional_context" if attachment.get("content").is_some() => ClaudeRecord::Injected("claude.hook"),
            // What the model was given of it, since 2.1.3xx.
            _ if self.rendered.is_some_and(|parts| parts.items().any(|part| part.get("content").is_some())) => {
                ClaudeRecord::Injected("claude.attachment")
            }
            _ => ClaudeRecord::Other,
        }
    }
}

/// The members of a line's message that decide where it belongs.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ClaudeMessage<'a> {
    pub(super) id: Option<Json<'a>>,
    pub(super) stop_reason: Option<Json<'a>>,
    content: Option<Json<'a>>,
    /// The content, if it is a list.
    blocks: Vec<ClaudeBlock<'a>>,
}

/// The same of a block of its content.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct ClaudeBlock<'a> {
    kind: Option<Json<'a>>,
    pub(super) id: Option<Json<'a>>,
    pub(super) name: Option<Json<'a>>,
    pub(super) tool_use_id: Option<Json<'a>>,
    text: Option<Json<'a>>,
}

const MESSAGE: MembersBelow = MembersBelow { within: b"message", list: b"content" };

impl<'a> ClaudeMessage<'a> {
    fn read(json: Json<'a>) -> Option<Self> {
        if json.kind() != JsonKind::Object {
            return None;
        }
        let [id, stop_reason, content] = json.pick(["id", "stop_reason", "content"]);
        let blocks = content.into_iter().flat_map(Json::items).map(ClaudeBlock::read).collect();
        Some(Self { id, stop_reason, content, blocks })
    }

    fn put(&mut self, name: &[u8], value: impl Fn() -> Json<'a>) {
        match name {
            b"id" => self.id = Some(value()),
            b"stop_reason" => self.stop_reason = Some(value()),
            _ => {}
        }
    }

    pub(super) fn blocks_of(&self, kind: &'static str) -> impl Iterator<Item = &ClaudeBlock<'a>> {
        let is_one = move |block: &&ClaudeBlock<'_>| block.kind.and_then(Json::as_str).is_some_and(|own| own == kind);
        self.blocks.iter().filter(is_one)
    }

    /// The mark with which its first text begins.
    fn mark(&self) -> Option<ClaudeRecord> {
        let content = self.content?;
        let is_text = content.kind() == JsonKind::String;
        let texts = self.blocks.iter().filter_map(|block| block.text.filter(|text| text.kind() == JsonKind::String));
        let text = Some(content).filter(|_| is_text).or_else(|| texts.into_iter().next())?;
        // Most texts begin with a letter, and are long.
        let begins = text.text().trim_start_matches('"').trim_start().bytes().next();
        begins.filter(|first| matches!(first, b'<' | b'[' | b'\\')).and_then(|_| mark_of(&text.as_str()?))
    }

    /// The text of its content, or of the first block that is one.
    pub(super) fn first_text(&self) -> Option<Cow<'a, str>> {
        let text = self.content?.as_str();
        text.or_else(|| self.blocks.iter().find_map(|block| block.text.and_then(Json::as_str)))
    }
}

impl<'a> ClaudeBlock<'a> {
    fn read(json: Json<'a>) -> Self {
        let [kind, id, name, tool_use_id, text] = json.pick(["type", "id", "name", "tool_use_id", "text"]);
        Self { kind, id, name, tool_use_id, text }
    }

    fn put(&mut self, name: &[u8], value: impl Fn() -> Json<'a>) {
        match name {
            b"type" => self.kind = Some(value()),
            b"id" => self.id = Some(value()),
            b"name" => self.name = Some(value()),
            b"tool_use_id" => self.tool_use_id = Some(value()),
            b"text" => self.text = Some(value()),
            _ => {}
        }
    }
}

/// State records that names, labels and the leaf come from.
const SHOWN_STATE: &[&str] = &["custom-title", "ai-title", "summary", "last-prompt", "tag", "pr-link"];

/// State records that only their bytes keep.
const KNOWN_STATE: &[&str] = &[
    "mode",
    "permission-mode",
    "file-history-snapshot",
    "file-history-delta",
    "queue-operation",
    "content-replacement",
    "marble-origami-commit",
    "marble-origami-snapshot",
    "marble-origami-reset",
    "agent-name",
    "agent-color",
    "agent-setting",
    "worktree-state",
    "cost-state",
    "attribution-snapshot",
    "bridge-session",
    "atis-latch",
    "relocated",
    "continued-in",
    "fork-context-ref",
    "session-owner",
    "isolation-latch",
    "dev-mods",
    "memory-mode",
    "tools-used",
    "observer-ref",
    "ended-by-model",
    "history-suppression",
    "derived-from",
    "data-flow-records",
    "data-flow-incomplete",
    "artifact-comment-monitor",
    "artifact-autoreact-ledger",
    "repl-mode",
    "hybrid-organization",
    "host-row",
    "frame-link",
    "api-request",
    "api-request-blob",
    "api-request-shape",
];

/// How texts begin that nobody typed.
const MARKS: &[(&str, ClaudeRecord)] = &[
    ("<bash-input>", ClaudeRecord::BashInput),
    ("<bash-stdout>", ClaudeRecord::BashOutput),
    ("<bash-stderr>", ClaudeRecord::BashOutput),
    ("<command-name>", ClaudeRecord::Injected("claude.command")),
    ("<command-message>", ClaudeRecord::Injected("claude.command")),
    ("<local-command-", ClaudeRecord::Injected("claude.command-output")),
    ("<task-notification>", ClaudeRecord::Injected("claude.task-notification")),
    ("<system-reminder>", ClaudeRecord::Injected("claude.reminder")),
    ("[Request interrupted by user", ClaudeRecord::Injected("claude.interrupted")),
];

/// What a text is that begins with a mark.
pub(super) fn mark_of(text: &str) -> Option<ClaudeRecord> {
    let text = text.trim_start();
    MARKS.iter().find(|(mark, _)| text.starts_with(mark)).map(|(_, record)| *record)
}

/// The text of a content, or of its first block that is one.
pub(super) fn first_text(content: Json<'_>) -> Option<Cow<'_, str>> {
    content.as_str().or_else(|| content.items().find_map(|block| block.str("text")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn both(text: &str) -> Option<ClaudeLine<'_>> {
        let parsed = ClaudeLine::parse(text);
        let read = Json::parse(text).map(ClaudeLine::read);
        assert_eq!(parsed, read, "{text}");
        parsed.unwrap_or_default()
    }

    #[test]
    fn one_pass_reads_what_many_read() {
        for text in [
            r#"{"type":"user","uuid":"a","message":{"id":"m","content":[{"type":"text","text":"x"},7,{"type":"tool_result","tool_use_id":"c"}]}}"#,
            r#"{"message":{"content":[{"type":"text"}],"content":"later"},"message":{"id":"n","stop_reason":null}}"#,
            r#"{"message":{"content":[{"type":"text"}]},"message":7,"uuid":"","uuid":"b"}"#,
            r#"{"message":{"content":[{"type":"tool_use","id":"c"}]},"type":"assistant"}"#,
            r#"{"message":[{"content":[{"type":"text"}]}],"content":[{"type":"text"}]}"#,
            r#" {"origin":{"kind":"x"},"attachment":{"type":"q"},"subtype":"s","rendered":[{"content":1}],"isMeta":true} "#,
            r#"[{"message":{"content":[]}}]"#,
            "7",
            "{\"message\":{\"content\":[{}",
            "",
        ] {
            both(text);
        }
        let line = both(r#"{"message":{"content":[{"type":"tool_use","id":"c","name":"n"},{"text":"x"}]}}"#).unwrap();
        let message = line.message.unwrap();
        assert_eq!(message.first_text().unwrap(), "x");
        assert_eq!(message.blocks_of("tool_use").count(), 1);
    }

    #[test]
    fn a_mark_may_follow_white_space_or_be_spelled_with_escapes() {
        let command = Some(ClaudeRecord::Injected("claude.command"));
        for (content, mark) in [
            (r#""<command-name>x""#, command),
            (r#"" \n<command-name>x""#, command),
            (r#""\u003ccommand-name>x""#, command),
            (r#"[{"type":"image"},{"type":"text","text":7},{"type":"text","text":"<command-name>x"}]"#, command),
            (r#""x <command-name>""#, None),
            (r#"[{"type":"text","text":"x"},{"type":"text","text":"<command-name>x"}]"#, None),
            ("7", None),
            (r#""""#, None),
        ] {
            let text = format!(r#"{{"message":{{"content":{content}}}}}"#);
            let line = both(&text).unwrap();
            assert_eq!(line.message.unwrap().mark(), mark, "{content}");
        }
    }

    proptest! {
        #[test]
        fn one_pass_reads_any_line_as_many_do(pieces in proptest::collection::vec(0..PIECES.len(), 0..24)) {
            let text: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
            both(&format!("{{{text}}}"));
            both(&text);
        }
    }

    const PIECES: &[&str] = &[
        "\"message\":{",
        "\"content\":[",
        "\"content\":\"x\"",
        "{\"type\":\"text\",\"text\":\"y\"}",
        "},",
        "}",
        "],",
        "]",
        ",",
        "\"type\":\"user\"",
        "\"uuid\":\"u\"",
        "\"id\":\"i\"",
        "{\"type\":\"tool_use\",\"id\":\"c\"}",
        "\"m\\u0065ssage\":{}",
        "7",
        "{",
        "[",
        "null",
    ];
}
