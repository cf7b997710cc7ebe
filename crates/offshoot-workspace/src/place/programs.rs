//! The programs that write sessions, in their words. Knows no folder.

use offshoot_foreign::Agent;

use crate::closed_words;

closed_words! {
    /// The programs that write sessions.
    pub enum SessionProgram {
        /// offshoot.
        Offshoot = "offshoot",
        /// pi.
        Pi = "pi",
        /// oh-my-pi.
        Omp = "omp",
        /// Claude Code.
        Claude = "claude",
        /// Codex.
        Codex = "codex",
        /// opencode.
        Opencode = "opencode",
        /// Gemini CLI.
        Gemini = "gemini",
        /// Goose.
        Goose = "goose",
        /// Crush.
        Crush = "crush",
        /// Copilot CLI.
        Copilot = "copilot",
        /// Cursor CLI.
        Cursor = "cursor",
        /// Aider.
        Aider = "aider",
    }
}

impl SessionProgram {
    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Offshoot => "offshoot",
            Self::Pi => "pi",
            Self::Omp => "omp",
            Self::Claude => Agent::Claude.word(),
            Self::Codex => Agent::Codex.word(),
            Self::Opencode => Agent::Opencode.word(),
            Self::Gemini => Agent::Gemini.word(),
            Self::Goose => Agent::Goose.word(),
            Self::Crush => Agent::Crush.word(),
            Self::Copilot => Agent::Copilot.word(),
            Self::Cursor => Agent::Cursor.word(),
            Self::Aider => Agent::Aider.word(),
        }
    }

    /// The program of another agent.
    #[must_use]
    pub fn of_agent(agent: Agent) -> Self {
        match agent {
            Agent::Claude => Self::Claude,
            Agent::Codex => Self::Codex,
            Agent::Opencode => Self::Opencode,
            Agent::Gemini => Self::Gemini,
            Agent::Goose => Self::Goose,
            Agent::Crush => Self::Crush,
            Agent::Copilot => Self::Copilot,
            Agent::Cursor => Self::Cursor,
            Agent::Aider => Self::Aider,
        }
    }
}
