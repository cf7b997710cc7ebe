//! The window of a model, and a prompt that does not fit it.

use offshoot_session::text::grouped;

/// What helps against a prompt that is too large.
const HELP: &str = "shorten it, name a file instead of its text, or choose a model with a larger window";

/// The window of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Window {
    /// With its provider.
    pub model: String,
    pub tokens: u64,
}

/// A prompt that does not fit the window of the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct OversizedPrompt {
    /// An estimate.
    pub tokens: u64,
    pub window: Window,
    pub found_by: SizeJudge,
}

/// Who found that a prompt is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeJudge {
    /// The agent, before anything was recorded.
    Estimate,
    /// The provider, which was asked.
    Provider,
}

impl std::fmt::Display for OversizedPrompt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { tokens, window: Window { model, tokens: window }, found_by } = self;
        let (tokens, window) = (grouped(*tokens), grouped(*window));
        match found_by {
            SizeJudge::Estimate => write!(
                f,
                "the prompt alone has about {tokens} tokens, and the window of {model} has {window}: {HELP}; nothing was sent or recorded"
            ),
            SizeJudge::Provider => write!(
                f,
                "{model} refused the prompt, which alone has about {tokens} tokens, as too long for its window of {window}: {HELP}"
            ),
        }
    }
}
