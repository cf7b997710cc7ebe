//! What an agent that this one's extensions start may do at most: no more than this one. Goes through an environment variable.

use std::fmt;

use offshoot_protocol::{ApprovalMode, SandboxMode, SandboxNetwork};

/// The strictest of what was asked for counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Limits {
    pub approval: ApprovalMode,
    pub sandbox: SandboxMode,
    pub network: SandboxNetwork,
}

/// None.
impl Default for Limits {
    fn default() -> Self {
        Self { approval: ApprovalMode::Auto, sandbox: SandboxMode::Off, network: SandboxNetwork::On }
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let network = if self.network == SandboxNetwork::Off { "off" } else { "on" };
        write!(f, "approval={} sandbox={} network={network}", self.approval.as_str(), self.sandbox.name())
    }
}

impl Limits {
    /// Reads what was written. A word that is not understood limits as much as possible.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut limits = Self::default();
        for word in text.split_whitespace() {
            match word.split_once('=') {
                Some(("approval", mode)) => {
                    limits.approval = ApprovalMode::parse(mode).unwrap_or(ApprovalMode::ReadOnly);
                }
                Some(("sandbox", mode)) => limits.sandbox = SandboxMode::parse(mode).unwrap_or(SandboxMode::ReadOnly),
                Some(("network", "on")) => limits.network = SandboxNetwork::On,
                Some(("network", _)) => limits.network = SandboxNetwork::Off,
                _ => limits.approval = ApprovalMode::ReadOnly,
            }
        }
        limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_they_were_written_and_unknown_words_limit_most() {
        let limits =
            Limits { approval: ApprovalMode::Edits, sandbox: SandboxMode::Workspace, network: SandboxNetwork::Off };
        assert_eq!(limits.to_string(), "approval=edits sandbox=workspace network=off");
        assert_eq!(Limits::parse(&limits.to_string()), limits);
        assert_eq!(Limits::parse(""), Limits::default());
        assert_eq!(Limits::parse("approval=x").approval, ApprovalMode::ReadOnly);
        assert_eq!(Limits::parse("nonsense").approval, ApprovalMode::ReadOnly);
    }
}
