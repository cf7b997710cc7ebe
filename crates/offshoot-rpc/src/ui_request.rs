//! pi's UI sub-protocol: what a client that has a user interface is asked to show and to ask.
//!
//! Approval questions are in `questions`; here is what is shown without an answer.

use offshoot_agent::event::retry_words;
use offshoot_app::agent::RpcVersion;
use offshoot_protocol::Event;
use offshoot_session::text::spell_lines;
use schemars::JsonSchema;
use serde::Serialize;

/// What is shown or asked. Only `select`, `confirm`, `input` and `editor` are answered, with `extension_ui_response`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "method", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum UiMethod {
    Select {
        title: String,
        options: Vec<String>,
        /// Milliseconds; then it counts as cancelled.
        #[serde(skip_serializing_if = "Option::is_none")]
        timeout: Option<u64>,
    },
    Confirm {
        title: String,
        message: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        timeout: Option<u64>,
    },
    /// One line.
    Input {
        title: String,
        placeholder: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        timeout: Option<u64>,
    },
    /// Several lines.
    Editor {
        title: String,
        prefill: String,
    },
    Notify {
        message: String,
        /// `info`, `warning` or `error`.
        notify_type: &'static str,
    },
    SetStatus {
        status_key: &'static str,
        /// Missing when it is taken away.
        #[serde(skip_serializing_if = "Option::is_none")]
        status_text: Option<String>,
    },
    SetWidget {
        widget_key: &'static str,
        /// Missing when it is taken away.
        #[serde(skip_serializing_if = "Option::is_none")]
        widget_lines: Option<Vec<String>>,
    },
    SetTitle {
        title: String,
    },
    #[serde(rename = "set_editor_text")]
    SetEditorText {
        text: String,
    },
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct UiRequest {
    #[schemars(extend("const" = "extension_ui_request"))]
    r#type: &'static str,
    id: String,
    #[serde(flatten)]
    method: UiMethod,
}

impl UiMethod {
    /// The record; `None` for what that version of pi does not know.
    pub(crate) fn record(self, id: String, version: RpcVersion) -> Option<String> {
        let r#type = match version {
            RpcVersion::V031 if matches!(self, Self::SetWidget { .. } | Self::SetTitle { .. }) => return None,
            RpcVersion::V031 => "hook_ui_request",
            RpcVersion::V087 => "extension_ui_request",
        };
        serde_json::to_string(&UiRequest { r#type, id, method: self }).ok()
    }
}

/// What an event shows.
pub(crate) fn shown(event: &Event) -> Option<UiMethod> {
    let notify = |message: &str, notify_type| UiMethod::Notify { message: message.to_owned(), notify_type };
    let retry = |status_text| UiMethod::SetStatus { status_key: "retry", status_text };
    Some(match event {
        Event::Notice { message, .. } => notify(message, "info"),
        Event::Failed { error } => notify(error, "error"),
        Event::CompactionEnd { error_message: Some(why), .. } => notify(why, "warning"),
        Event::SessionInfoChanged { name } => UiMethod::SetTitle { title: name.clone().unwrap_or_default() },
        Event::AutoRetryStart { attempt, max_attempts, delay_ms, .. } => {
            retry(Some(retry_words(*delay_ms, *attempt, *max_attempts)))
        }
        Event::AutoRetryEnd { .. } => retry(None),
        Event::ApprovalRequest { diff: Some(diff), .. } => {
            let widget_lines = Some(spell_lines(diff).lines().map(str::to_owned).collect());
            UiMethod::SetWidget { widget_key: "approval", widget_lines }
        }
        Event::ApprovalEnd { id: Some(_), .. } => UiMethod::SetWidget { widget_key: "approval", widget_lines: None },
        _ => return None,
    })
}
