//! What came of a shell command of the user.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

/// The result of a user's command, as in `bashExecution` messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct BashRun {
    /// The end of the output, without terminal sequences, control characters and carriage returns.
    pub output: String,
    /// `None` if it was stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    pub cancelled: bool,
    /// Whether the output was cut.
    pub truncated: bool,
    /// The file with the output, if it was cut.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "shown_path")]
    #[schemars(with = "Option<String>")]
    pub full_output_path: Option<PathBuf>,
    /// How long it took, if it was over a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

impl BashRun {
    /// A command stopped before it printed anything.
    #[must_use]
    pub fn stopped() -> Self {
        Self {
            output: String::new(),
            exit_code: None,
            cancelled: true,
            truncated: false,
            full_output_path: None,
            duration_ms: None,
        }
    }
}

fn shown_path<S: serde::Serializer>(path: &Option<PathBuf>, to: S) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.display().to_string()).serialize(to)
}

/// A user's shell command with its result, as the session's `bashExecution` message.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "role", rename = "bashExecution", rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct BashResult {
    pub command: String,
    #[serde(flatten)]
    pub run: BashRun,
    /// Milliseconds since 1970.
    pub timestamp: i64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exclude_from_context: bool,
}

impl BashResult {
    /// One line of JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_the_user_have_pis_shape() {
        let run = BashRun {
            output: "a\n".to_owned(),
            exit_code: Some(1),
            cancelled: false,
            truncated: true,
            full_output_path: Some("/tmp/all".into()),
            duration_ms: Some(1200),
        };
        let result = BashResult { command: "ls".to_owned(), run, timestamp: 7, exclude_from_context: true };
        let whole = concat!(
            r#"{"role":"bashExecution","command":"ls","output":"a\n","exitCode":1,"cancelled":false,"truncated":true,"#,
            r#""fullOutputPath":"/tmp/all","durationMs":1200,"timestamp":7,"excludeFromContext":true}"#
        );
        assert_eq!(result.to_json(), whole);
        let stopped = BashResult { run: BashRun::stopped(), exclude_from_context: false, ..result };
        let bare =
            r#"{"role":"bashExecution","command":"ls","output":"","cancelled":true,"truncated":false,"timestamp":7}"#;
        assert_eq!(stopped.to_json(), bare);
    }
}
