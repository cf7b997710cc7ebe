//! What a call would do, as its tool says before it runs. Knows no rule and no mode.

use std::path::PathBuf;

use offshoot_protocol::ApprovalTier;
use serde_json::Value;

use super::ToolContext;

/// What a call may do. Arguments that do not fit the tool's schema do nothing, since the call fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tier {
    /// Reads these paths, or below them.
    Read(Vec<PathBuf>),
    /// Writes these files.
    Write(Vec<PathBuf>),
    /// Runs this command line.
    Command(String),
    /// Anything else.
    Exec,
    /// Reads from this host.
    Net(String),
}

impl Tier {
    /// As questions have it.
    pub fn asked(&self) -> ApprovalTier {
        match self {
            Self::Read(_) => ApprovalTier::Read,
            Self::Write(_) => ApprovalTier::Write,
            Self::Command(_) | Self::Exec => ApprovalTier::Exec,
            Self::Net(_) => ApprovalTier::Net,
        }
    }

    pub(super) fn read(arguments: &Value, place: &ToolContext) -> Self {
        let path = arguments.get("path").and_then(Value::as_str).unwrap_or(".");
        Self::Read(vec![place.paths().existing(path).path])
    }

    pub(super) fn write(arguments: &Value, place: &ToolContext) -> Self {
        let path = arguments.get("path").and_then(Value::as_str);
        Self::Write(path.map(|path| place.paths().exact(path)).into_iter().collect())
    }
}
