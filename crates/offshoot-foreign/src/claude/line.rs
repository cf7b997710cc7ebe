//! What one line of a transcript says about itself. Knows no other line.

use std::borrow::Cow;

use offshoot_session::clock::{Millis, parse_iso};
use offshoot_session::json::{Json, JsonKind};

use crate::key::clean;

/// The members of a line that decide where it belongs.
#[derive(Debug, Clone)]
pub(super) struct ClaudeLine<'a> {
    pub(super) json: Json<'a>,
    pub(super) kind: Cow<'a, str>,
    pub(super) uuid: Option<Cow<'a, str>>,
    pub(super) parent: Option<Cow<'a, str>>,
    pub(super) logical_parent: Option<Cow<'a, str>>,
    pub(super) time: Option<Millis>,
    pub(super) message: Option<Json<'a>>,
    /// That of the message.
    content: Option<Json<'a>>,
    pub(super) cwd: Option<Json<'a>>,
    pub(super) version: Option<Json<'a>>,
    pub(super) forked_from: Option<Json<'a>>,
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
    /// Reads a line; `None` if it is no object.
    pub(super) fn read(json: Json<'a>) -> Option<Self> {
        if json.kind() != JsonKind::Object {
            return None;
        }
        let mut line = Self {
            json,
            kind: Cow::Borrowed(""),
            uuid: None,
            parent: None,
            logical_parent: None,
            time: None,
            message: None,
            content: None,
            cwd: None,
            version: None,
            forked_from: None,
            is_meta: false,
            is_summary: false,
            is_sidechain: false,
        };
        let is_true = |value: Json<'_>| value.as_bool() == Some(true);
        for (name, value) in json.members() {
            match name.as_ref() {
                "type" => line.kind = value.as_str().unwrap_or_default(),
                "uuid" => line.uuid = value.as_str().filter(|id| !id.is_empty()),
                "parentUuid" => line.parent = value.as_str(),
                "logicalParentUuid" => line.logical_parent = value.as_str(),
                "timestamp" => line.time = value.as_str().and_then(|time| parse_iso(&time)),
                "message" => line.message = Some(value).filter(|value| value.kind() == JsonKind::Object),
                "cwd" => line.cwd = Some(value),
                "version" => line.version = Some(value),
                "forkedFrom" => line.forked_from = Some(value),
                "isMeta" => line.is_meta = is_true(value),
                "isCompactSummary" => line.is_summary = is_true(value),
                "isSidechain" => line.is_sidechain = is_true(value),
                _ => {}
            }
        }
        // Each look at a member reads its whole object.
        line.content = line.message.and_then(|message| message.get("content"));
        Some(line)
    }

    /// Whether it is a link of the chain: other records are state.
    pub(super) fn is_chain(&self) -> bool {
        self.uuid.is_some() && matches!(self.kind.as_ref(), "user" | "assistant" | "system" | "attachment" | "progress")
    }

    pub(super) fn record(&self) -> ClaudeRecord {
        if !self.is_chain() {
            return ClaudeRecord::State;
        }
        match self.kind.as_ref() {
            "user" => self.user(),
            "assistant" if self.message.is_some() => ClaudeRecord::Answer,
            "system" if self.json.str("subtype").is_some_and(|subtype| subtype == "compact_boundary") => {
                ClaudeRecord::Boundary
            }
            "attachment" => self.attachment(),
            "progress" => ClaudeRecord::Progress,
            _ => ClaudeRecord::Other,
        }
    }

    /// What of it has no place in the tree.
    pub(super) fn loss(&self) -> Option<String> {
        let sort = self.json.str("subtype").or_else(|| self.json.get("attachment")?.str("type"));
        let sort = sort.map(|sort| format!(".{sort}")).unwrap_or_default();
        match self.record() {
            ClaudeRecord::Other => Some(clean(&format!("no-place:{}{sort}", self.kind))),
            ClaudeRecord::State if SHOWN_STATE.contains(&self.kind.as_ref()) => None,
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
        self.content()?.items().find_map(|block| match block.str("type")?.as_ref() {
            "text" | "tool_use" | "redacted_thinking" => None,
            "thinking" if is_empty(&block, "thinking") => Some("hollow-thinking".to_owned()),
            "thinking" => None,
            other => Some(clean(&format!("unknown-block:{other}"))),
        })
    }

    pub(super) fn content(&self) -> Option<Json<'a>> {
        self.content
    }

    fn user(&self) -> ClaudeRecord {
        let Some(content) = self.content() else { return ClaudeRecord::Other };
        if self.is_summary {
            return ClaudeRecord::Summary;
        }
        let results = content.items().filter(|block| block.str("type").is_some_and(|kind| kind == "tool_result"));
        let results = u32::try_from(results.count()).unwrap_or(u32::MAX);
        if results > 0 {
            return ClaudeRecord::Results(results);
        }
        let text = first_text(content).unwrap_or_default();
        match mark_of(&text) {
            Some(record) => record,
            None if self.is_meta => ClaudeRecord::Injected("claude.meta"),
            None => match self.json.get("origin").and_then(|origin| origin.str("kind")) {
                Some(origin) if origin != "human" => ClaudeRecord::Injected("claude.meta"),
                _ => ClaudeRecord::Prompt,
            },
        }
    }

    fn attachment(&self) -> ClaudeRecord {
        let Some(attachment) = self.json.get("attachment") else { return ClaudeRecord::Other };
        match attachment.str("type").unwrap_or_default().as_ref() {
            "queued_command" if attachment.get("prompt").is_some() => ClaudeRecord::Queued,
            "hook_additional_context" if attachment.get("content").is_some() => ClaudeRecord::Injected("claude.hook"),
            // What the model was given of it, since 2.1.3xx.
            _ if self
                .json
                .get("rendered")
                .is_some_and(|parts| parts.items().any(|part| part.get("content").is_some())) =>
            {
                ClaudeRecord::Injected("claude.attachment")
            }
            _ => ClaudeRecord::Other,
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
