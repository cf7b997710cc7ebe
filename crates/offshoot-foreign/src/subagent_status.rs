//! How a subagent stands, in words. Knows no file.

use offshoot_session::clock::Millis;

/// A session that was still for so long is not being written.
const STILL: Millis = 10 * 60 * 1000;

/// How a subagent stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubagentStatus {
    /// It has said its last word.
    Completed,
    /// Its call failed, or its last answer did.
    Failed,
    /// Somebody stopped it.
    Aborted,
    /// Nothing says that it has ended, and it was written to within ten minutes.
    Running,
    /// Nothing says how it ended.
    Unknown,
}

impl SubagentStatus {
    /// The word that lists show.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Aborted => "aborted",
            Self::Running => "running",
            Self::Unknown => "unknown",
        }
    }

    /// Whether something says that it has ended.
    #[must_use]
    pub fn is_end(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Aborted)
    }

    /// That of one whose end nothing tells, and that was last written to then.
    pub(crate) fn by_time(written: Option<Millis>, now: Millis) -> Self {
        match written {
            Some(written) if now.saturating_sub(written) <= STILL => Self::Running,
            _ => Self::Unknown,
        }
    }
}
