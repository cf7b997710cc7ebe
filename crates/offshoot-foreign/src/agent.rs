//! The agents whose sessions are read. Knows their names, not their files.

use std::path::Path;

/// A program that keeps sessions of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Agent {
    /// Anthropic's Claude Code.
    Claude,
    /// OpenAI's Codex.
    Codex,
    /// opencode.
    Opencode,
    /// Google's Gemini CLI.
    Gemini,
    /// Block's Goose.
    Goose,
    /// Charm's Crush.
    Crush,
    /// GitHub's Copilot CLI.
    Copilot,
    /// Cursor CLI.
    Cursor,
    /// Aider.
    Aider,
}

impl Agent {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::Claude,
        Self::Codex,
        Self::Opencode,
        Self::Gemini,
        Self::Goose,
        Self::Crush,
        Self::Copilot,
        Self::Cursor,
        Self::Aider,
    ];

    /// The word that names it in options and before ids.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Opencode => "opencode",
            Self::Gemini => "gemini",
            Self::Goose => "goose",
            Self::Crush => "crush",
            Self::Copilot => "copilot",
            Self::Cursor => "cursor",
            Self::Aider => "aider",
        }
    }

    /// Its name as people know it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Opencode => "opencode",
            Self::Gemini => "Gemini CLI",
            Self::Goose => "Goose",
            Self::Crush => "Crush",
            Self::Copilot => "Copilot CLI",
            Self::Cursor => "Cursor CLI",
            Self::Aider => "Aider",
        }
    }

    /// The agent of a word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|agent| agent.word() == word)
    }

    /// Whether the records of a session of this agent only grow, so that an import can follow them. Others change theirs in place.
    #[must_use]
    pub fn only_appends(self, path: &Path) -> bool {
        match self {
            Self::Codex | Self::Copilot => true,
            // Their other files are rewritten.
            Self::Claude | Self::Gemini | Self::Cursor => {
                path.extension().is_some_and(|extension| extension == "jsonl")
            }
            Self::Opencode | Self::Goose | Self::Crush | Self::Aider => false,
        }
    }
}
