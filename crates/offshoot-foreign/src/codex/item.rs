//! What one record of a rollout is. Knows no other record.

use std::borrow::Cow;

use offshoot_session::clock::{Millis, parse_iso};
use offshoot_session::json::{Json, JsonKind};

use crate::key::{clean, hex_hash};

/// A record without its envelope.
#[derive(Debug, Clone)]
pub(super) struct CodexItem<'a> {
    /// The type of the envelope; of a record from before there were envelopes, what it would be.
    pub(super) kind: Cow<'a, str>,
    pub(super) payload: Json<'a>,
    pub(super) time: Option<Millis>,
}

/// What a record means for the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CodexRecord {
    Meta,
    /// Settings of a turn.
    Turn,
    TurnStarted,
    TurnEnded {
        is_aborted: bool,
    },
    /// A message of the role `user`, which a person may have typed.
    User,
    /// Says that the message beside it was typed.
    Typed,
    /// A text that the agent gave the model; this type of message.
    Injected(String),
    /// A part of an answer.
    Answer,
    /// The result of a call.
    Output,
    Usage,
    RolledBack(u64),
    Compacted,
    Title,
    Other,
}

impl<'a> CodexItem<'a> {
    /// Reads a record; `None` if it is no object.
    pub(super) fn read(json: Json<'a>) -> Option<Self> {
        if json.kind() != JsonKind::Object {
            return None;
        }
        let time = json.str("timestamp").and_then(|time| parse_iso(&time));
        let word = json.str("type");
        Some(match (word, json.get("payload")) {
            (Some(kind), Some(payload)) => Self { kind, payload, time },
            (None, _) if json.get("id").is_some() => Self { kind: Cow::Borrowed("session_meta"), payload: json, time },
            (Some(_), None) => Self { kind: Cow::Borrowed("response_item"), payload: json, time },
            (None, payload) => Self { kind: Cow::Borrowed(""), payload: payload.unwrap_or(json), time },
        })
    }

    fn is(&self, kind: &str) -> bool {
        self.payload.str("type").is_some_and(|own| own == kind)
    }

    pub(super) fn record(&self) -> CodexRecord {
        match self.kind.as_ref() {
            "session_meta" => CodexRecord::Meta,
            "turn_context" => CodexRecord::Turn,
            "compacted" => CodexRecord::Compacted,
            "token_usage_record" => CodexRecord::Usage,
            "response_item" => self.response(),
            "event_msg" => self.event(),
            _ => CodexRecord::Other,
        }
    }

    fn response(&self) -> CodexRecord {
        match self.payload.str("type").unwrap_or_default().as_ref() {
            "message" => match self.payload.str("role").unwrap_or_default().as_ref() {
                "user" => CodexRecord::User,
                "assistant" => CodexRecord::Answer,
                role @ ("developer" | "system") => {
                    CodexRecord::Injected(self.mark().unwrap_or_else(|| format!("codex.{role}")))
                }
                _ => CodexRecord::Other,
            },
            "reasoning" | "function_call" | "custom_tool_call" | "local_shell_call" => CodexRecord::Answer,
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => CodexRecord::Output,
            _ => CodexRecord::Other,
        }
    }

    fn event(&self) -> CodexRecord {
        match self.payload.str("type").unwrap_or_default().as_ref() {
            "user_message" => CodexRecord::Typed,
            "item_completed" => {
                let item = self.payload.get("item").and_then(|item| item.str("type"));
                if item.is_some_and(|kind| kind == "UserMessage") { CodexRecord::Typed } else { CodexRecord::Other }
            }
            "task_started" | "turn_started" => CodexRecord::TurnStarted,
            "task_complete" | "turn_complete" => CodexRecord::TurnEnded { is_aborted: false },
            "turn_aborted" => CodexRecord::TurnEnded { is_aborted: true },
            "token_count" => CodexRecord::Usage,
            "thread_rolled_back" => {
                let turns = self.payload.get("num_turns").and_then(Json::as_f64).unwrap_or_default();
                CodexRecord::RolledBack(turns.max(0.0) as u64)
            }
            "thread_name_updated" => CodexRecord::Title,
            _ => CodexRecord::Other,
        }
    }

    /// The type of a message that begins with a mark, which nobody types.
    pub(super) fn mark(&self) -> Option<String> {
        let content = self.payload.get("content")?;
        let text = content.items().find_map(|block| block.str("text"))?;
        let text = text.trim_start();
        if text.starts_with("# AGENTS.md") {
            return Some("codex.agents-md".to_owned());
        }
        if text.starts_with("The following is the Codex agent history") {
            return Some("codex.history".to_owned());
        }
        let tag = text.strip_prefix('<')?.split_once(['>', ' '])?.0;
        TAGS.contains(&tag).then(|| format!("codex.{}", tag.replace('_', "-")))
    }

    /// The working directory that a text for the model names.
    pub(super) fn environment_cwd(&self) -> Option<String> {
        let text = self.payload.get("content")?.items().find_map(|block| block.str("text"))?;
        let after = |mark: &str| text.split_once(mark).map(|(_, rest)| rest);
        let rest = after("<cwd>").or_else(|| after("Current working directory: "))?;
        let cwd = rest.split(['<', '\n']).next()?.trim();
        (text.trim_start().starts_with("<environment_context>") && cwd.starts_with('/')).then(|| cwd.to_owned())
    }

    /// The call that it makes or answers.
    pub(super) fn call(&self) -> Option<Cow<'a, str>> {
        self.payload.str("call_id").filter(|_| !self.is("message"))
    }

    /// What names the record: what it says without its time, which copies in forks do not have.
    pub(super) fn hash(&self) -> String {
        hex_hash(&[self.kind.as_bytes(), self.payload.text().as_bytes()], 16)
    }

    /// What of it has no place in the tree.
    pub(super) fn loss(&self) -> Option<String> {
        if self.record() != CodexRecord::Other {
            return None;
        }
        let sort = self.payload.str("type").map(|sort| format!(".{sort}")).unwrap_or_default();
        let is_known = matches!(self.kind.as_ref(), "event_msg" | "response_item" | "world_state");
        let code = if is_known { "no-place" } else { "unknown-record" };
        let old = self.payload.str("record_type").filter(|_| self.kind.is_empty()).unwrap_or_default();
        Some(clean(&format!("{code}:{}{old}{sort}", self.kind)))
    }

    /// The tool of a call.
    pub(super) fn tool(&self) -> String {
        let name = self.payload.str("name").map(Cow::into_owned);
        name.unwrap_or_else(|| if self.is("local_shell_call") { "local_shell".to_owned() } else { String::new() })
    }
}

const TAGS: &[&str] = &[
    "environment_context",
    "permissions",
    "user_instructions",
    "turn_aborted",
    "skill",
    "skills",
    "collaboration_mode",
    "user_shell_command",
    "model_switch",
    "personality_spec",
    "apps_instructions",
];
