//! How much runs without a question, and what is answered to one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much runs without a question, in the order of strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalMode {
    /// Everything but the critical commands.
    #[default]
    Auto,
    /// Reads, and writes below the working folder.
    Edits,
    /// Reads below the working folder.
    Ask,
    /// Reads run; everything else is refused.
    ReadOnly,
    /// As `read-only`, but the network is asked about, until the person has accepted the model's plan.
    Plan,
}

impl ApprovalMode {
    /// All modes, in the order in which they are switched.
    pub const ALL: [Self; 5] = [Self::Auto, Self::Edits, Self::Ask, Self::ReadOnly, Self::Plan];

    /// Their names, in the same order.
    pub const NAMES: [&'static str; 5] =
        [Self::Auto.as_str(), Self::Edits.as_str(), Self::Ask.as_str(), Self::ReadOnly.as_str(), Self::Plan.as_str()];

    /// The name in settings and options.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Edits => "edits",
            Self::Ask => "ask",
            Self::ReadOnly => "read-only",
            Self::Plan => "plan",
        }
    }

    /// Whether calls that do more than read are refused, whatever rules allow.
    #[must_use]
    pub fn refuses_changes(self) -> bool {
        matches!(self, Self::ReadOnly | Self::Plan)
    }

    /// The mode of an agent that this one starts: no plan of it is put to the person.
    #[must_use]
    pub fn for_started_agent(self) -> Self {
        if self == Self::Plan { Self::ReadOnly } else { self }
    }

    /// The mode with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == name)
    }
}

/// An answer to the question whether a call may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalDecision {
    /// This call.
    AllowOnce,
    /// This call, and the same one until the program ends.
    AllowSession,
    /// This call, and the same one from now on: its rule is kept.
    AllowAlways,
    /// This call again, outside the sandbox.
    OnceUnsandboxed,
    /// The tool's result says that the user did not allow it.
    Reject,
}

/// For how long, and where, a rule lets calls run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalScope {
    /// Until the program ends.
    Session,
    /// In the git repository of the working folder, else in that folder; kept in the user's own data folder.
    Project,
    /// In all folders: it is put into the user's settings.
    Everywhere,
}

/// A rule that a question offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct OfferedRule {
    /// As settings have it.
    pub rule: String,
    /// What it lets run, in words.
    pub allows: String,
}

/// A later call of the same answer that will be asked about too, as things are now.
#[derive(Debug, Clone, PartialEq)]
pub struct ForeseenQuestion {
    /// The call's id in its answer.
    pub tool_call_id: String,
    /// The tool that is called.
    pub tool_name: String,
    /// What it is called with, before extensions see it.
    pub args: serde_json::Value,
    /// Why somebody will be asked, as a clause.
    pub reason: String,
    /// The change of a file, as numbered lines, if it can be foretold.
    pub diff: Option<String>,
}

/// What a call that somebody is asked about would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum ApprovalTier {
    Read,
    Write,
    Exec,
    Net,
}
