//! Whether a prompt by itself fits the window of a model. The conversation before it can be compacted, a prompt cannot: it
//! is sent whole or not at all. Knows no session.

use offshoot_protocol::message::Message;
use offshoot_session::json::Json;
use offshoot_session::text::grouped;
use offshoot_session::tokens::estimate;

use crate::provider::Model;

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

impl Window {
    /// `None` if the model's window is not known.
    pub fn of(model: &Model) -> Option<Self> {
        let tokens = Some(model.context_window).filter(|tokens| *tokens > 0)?;
        Some(Self { model: format!("{}/{}", model.provider, model.id), tokens })
    }

    /// Refuses a message that cannot fit. Tokens are estimated as four characters each, but some texts have five: what is
    /// estimated at up to five quarters of the window may fit, and the provider decides.
    ///
    /// # Errors
    /// [`OversizedPrompt`].
    pub fn check(&self, message: &Message) -> Result<(), OversizedPrompt> {
        let tokens = tokens_of(message);
        if self.may_fit(tokens) {
            return Ok(());
        }
        Err(OversizedPrompt { tokens, window: self.clone(), found_by: SizeJudge::Estimate })
    }

    /// Refuses what an extension adds to the context, if that alone cannot fit. It is named as in `a custom_message`.
    ///
    /// # Errors
    /// Why, in words.
    pub(crate) fn check_addition(&self, what: &str, message: &Message) -> Result<(), String> {
        let tokens = tokens_of(message);
        if self.may_fit(tokens) {
            return Ok(());
        }
        let (tokens, window, model) = (grouped(tokens), grouped(self.tokens), &self.model);
        Err(format!("{what} alone has about {tokens} tokens, and the window of {model} has {window}"))
    }

    fn may_fit(&self, tokens: u64) -> bool {
        tokens.saturating_mul(4) <= self.tokens.saturating_mul(5)
    }
}

/// An estimate of a message.
pub(crate) fn tokens_of(message: &Message) -> u64 {
    let json = serde_json::to_string(message).unwrap_or_default();
    Json::parse(&json).map_or(0, estimate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use offshoot_protocol::message::{Block, UserMessage};

    fn is_refused(characters: usize, pictures: usize) -> bool {
        let window = Window { model: "p/m".to_owned(), tokens: 10_000 };
        let picture = Block::Image { data: "x".repeat(50_000), mime_type: "image/png".to_owned() };
        window.check(&UserMessage::new("é".repeat(characters), vec![picture; pictures], 0).into()).is_err()
    }

    #[test]
    fn up_to_five_quarters_of_the_window_may_fit() {
        assert!(!is_refused(40_000, 0) && !is_refused(50_000, 0));
        assert!(is_refused(50_001, 0));
        assert!(!is_refused(0, 10) && is_refused(0, 11), "a picture has 1,200 tokens, whatever its bytes");
    }

    #[test]
    fn a_model_without_a_window_refuses_nothing() {
        assert_eq!(Window::of(&Model::default()), None);
    }
}
