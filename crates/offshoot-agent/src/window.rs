//! Whether a prompt by itself fits the window of a model. The conversation before it can be compacted, a prompt cannot: it
//! is sent whole or not at all. Knows no session.

use offshoot_protocol::message::Message;
use offshoot_protocol::{OversizedPrompt, SizeJudge, Window};
use offshoot_session::json::Json;
use offshoot_session::text::grouped;
use offshoot_session::tokens::estimate;

use offshoot_protocol::model::Model;

/// `None` if the model's window is not known.
#[must_use]
pub fn window_of(model: &Model) -> Option<Window> {
    let tokens = Some(model.context_window).filter(|tokens| *tokens > 0)?;
    Some(Window { model: format!("{}/{}", model.provider, model.id), tokens })
}

/// Refuses a message that cannot fit. Tokens are estimated as four characters each, but some texts have five: what is
/// estimated at up to five quarters of the window may fit, and the provider decides.
///
/// # Errors
/// [`OversizedPrompt`].
pub fn check_size(window: &Window, message: &Message) -> Result<(), OversizedPrompt> {
    let tokens = tokens_of(message);
    if may_fit(window, tokens) {
        return Ok(());
    }
    Err(OversizedPrompt { tokens, window: window.clone(), found_by: SizeJudge::Estimate })
}

/// Refuses what an extension adds to the context, if that alone cannot fit. It is named as in `a custom_message`.
///
/// # Errors
/// Why, in words.
pub(crate) fn check_addition(window: &Window, what: &str, message: &Message) -> Result<(), String> {
    let tokens = tokens_of(message);
    if may_fit(window, tokens) {
        return Ok(());
    }
    let (tokens, limit, model) = (grouped(tokens), grouped(window.tokens), &window.model);
    Err(format!("{what} alone has about {tokens} tokens, and the window of {model} has {limit}"))
}

fn may_fit(window: &Window, tokens: u64) -> bool {
    tokens.saturating_mul(4) <= window.tokens.saturating_mul(5)
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
        check_size(&window, &UserMessage::new("é".repeat(characters), vec![picture; pictures], 0).into()).is_err()
    }

    #[test]
    fn up_to_five_quarters_of_the_window_may_fit() {
        assert!(!is_refused(40_000, 0) && !is_refused(50_000, 0));
        assert!(is_refused(50_001, 0));
        assert!(!is_refused(0, 10) && is_refused(0, 11), "a picture has 1,200 tokens, whatever its bytes");
    }

    #[test]
    fn a_model_without_a_window_refuses_nothing() {
        assert_eq!(window_of(&Model::default()), None);
    }
}
