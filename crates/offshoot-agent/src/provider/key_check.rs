//! Whether a provider accepts a key, by its list of models, which costs nothing. Decides nothing about what becomes of the key.

use std::time::Duration;

use offshoot_protocol::Secret;
use offshoot_protocol::model::Model;

use super::classify::AnswerTrouble;
use super::http::Http;
use super::wire::Outgoing;

/// A server that has not answered by then is not waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// Its list of models is the same for everybody; this path tells about the key.
const OF_OPENROUTER: (&str, &str) = ("https://openrouter.ai/", "/key");

/// What a provider says of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyCheck {
    /// The provider answered with its models.
    Accepted,
    /// The provider does not know the key, or does not allow it anything: its words.
    Refused(String),
    /// Nothing is known of the key: what happened instead.
    Unknown(String),
}

impl Http {
    /// Asks the provider of a model for its models with a key. `sent` is the key where its wire format has it; `None` if the model's
    /// own headers have it. Waits ten seconds at most, and makes no request that costs anything. The answer does not contain the key.
    pub async fn check_key(&self, model: &Model, sent: Option<&Secret>, key: &Secret) -> KeyCheck {
        let outgoing = match Outgoing::list_of_models(model, sent) {
            Ok(outgoing) => outgoing,
            Err(error) => return KeyCheck::Unknown(error.to_string()),
        };
        let outgoing = match model.base_url.starts_with(OF_OPENROUTER.0) {
            true => Outgoing { url: outgoing.url.replace("/models", OF_OPENROUTER.1), ..outgoing },
            false => outgoing,
        };
        let masked = |text: String| text.replace(key.expose(), "…");
        match tokio::time::timeout(PATIENCE, self.get(&outgoing)).await {
            Ok(Ok(())) => KeyCheck::Accepted,
            Ok(Err(trouble)) if is_refusal(&trouble) => KeyCheck::Refused(masked(trouble.text)),
            Ok(Err(trouble)) => KeyCheck::Unknown(masked(trouble.text)),
            Err(_) => KeyCheck::Unknown(format!("no answer in {} s", PATIENCE.as_secs())),
        }
    }
}

/// Google answers 400 where others answer 401.
fn is_refusal(trouble: &AnswerTrouble) -> bool {
    let text = trouble.text.to_lowercase();
    let names_key = ["api key", "api_key", "apikey"].iter().any(|name| text.contains(name));
    matches!(trouble.status, Some(401 | 403)) || trouble.status == Some(400) && names_key
}
