//! A path of a session as a new file of another agent, which that agent lists, opens and continues. The records of a path that
//! came from the agent are written as they were; any other path is spelled anew. Writes to no place of its own.

mod said;
mod ids;
mod claude;
mod codex;
mod replay;

use std::collections::BTreeMap;

use offshoot_session::clock::Millis;
use offshoot_session::error::Result;
use offshoot_session::session::Session;
use offshoot_session::tree::NodeIx;

use crate::agent::Agent;
use claude::ClaudeWriter;
use codex::CodexWriter;
pub use ids::{claude_session_id, rollout_name};

/// The agents for which files are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackFormat {
    /// Claude Code: a transcript.
    Claude,
    /// Codex: a rollout.
    Codex,
}

impl BackFormat {
    /// The agent that reads the file.
    #[must_use]
    pub fn agent(self) -> Agent {
        match self {
            Self::Claude => Agent::Claude,
            Self::Codex => Agent::Codex,
        }
    }
}

/// What is written.
#[derive(Debug, Clone, Copy)]
pub struct BackWish<'a> {
    /// For whom.
    pub format: BackFormat,
    /// The session; one of the same agent must have been imported.
    pub session: &'a Session,
    /// The end of the path.
    pub leaf: NodeIx,
    /// The id of the new session.
    pub id: &'a str,
    /// Its working directory.
    pub cwd: &'a str,
    /// When it is made.
    pub now: Millis,
    /// Codex: the provider of its settings, if they name one.
    pub provider: Option<&'a str>,
    /// Codex: the model of its settings, if they name one.
    pub model: Option<&'a str>,
}

/// What a written file says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BackReport {
    /// Whether it has the agent's own records.
    pub is_native: bool,
    /// Its lines.
    pub lines: u64,
    /// What the path has and the file has not, with how often.
    pub losses: BTreeMap<&'static str, u64>,
}

impl BackReport {
    fn lose(&mut self, what: &'static str) {
        *self.losses.entry(what).or_default() += 1;
    }
}

/// Where lines go, each without line feed.
pub(crate) type TakeLine<'t> = &'t mut dyn FnMut(&str) -> Result<()>;

/// Passes the lines of the new file on.
///
/// # Errors
/// The session cannot be read; those of `take`.
pub fn write_back(wish: &BackWish<'_>, take: TakeLine<'_>) -> Result<BackReport> {
    let mut report = BackReport::default();
    let mut count = 0;
    let mut counted = |line: &str| {
        count += 1;
        take(line)
    };
    if let Some(records) = replay::native_records(wish)? {
        replay::write(wish, &records, &mut counted)?;
        report.is_native = true;
    } else {
        match wish.format {
            BackFormat::Claude => said::speak(wish, &mut ClaudeWriter::new(wish, &mut counted), &mut report)?,
            BackFormat::Codex => said::speak(wish, &mut CodexWriter::new(wish, &mut counted)?, &mut report)?,
        }
    }
    report.lines = count;
    Ok(report)
}
