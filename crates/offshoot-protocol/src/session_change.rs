//! Why an agent has another session, or ends.

use schemars::JsonSchema;
use serde::Serialize;

/// Why another session is open, or the same one at another entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum SessionChangeReason {
    New,
    Resume,
    Fork,
    /// The same session, at another entry.
    Tree,
}

/// Why an agent ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
#[expect(missing_docs, reason = "the name says what it is")]
pub enum ShutdownReason {
    Quit,
}

/// Why extensions hear that a session begins or ends, in pi's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum SessionReason {
    Startup,
    Reload,
    New,
    Resume,
    Fork,
    Quit,
}
