//! What a front end shows of a sandbox.

use std::path::Path;

use offshoot_protocol::SandboxMode;

use super::{Sandbox, SandboxState};

/// A sandbox in short, and in words.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct SandboxReport {
    pub mode: SandboxMode,
    pub coverage: SandboxCoverage,
    pub words: String,
}

/// How much of a sandbox this system enforces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxCoverage {
    /// All of it.
    Whole,
    /// Some of it.
    Partial,
    /// Nothing: commands do what the user could do.
    Nothing,
    /// Too little for the user: no command runs.
    Refusing,
}

impl Sandbox {
    /// What a front end shows of it for commands that start in this folder.
    pub fn report(&self, cwd: &Path) -> SandboxReport {
        let coverage = match &self.state {
            _ if self.is_whole() => SandboxCoverage::Whole,
            _ if self.options.is_required => SandboxCoverage::Refusing,
            SandboxState::On(_) => SandboxCoverage::Partial,
            SandboxState::Impossible(_) => SandboxCoverage::Nothing,
        };
        SandboxReport { mode: self.options.mode, coverage, words: self.told(cwd) }
    }
}
