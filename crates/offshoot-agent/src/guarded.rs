//! Wraps a provider: known keys are removed from requests and answers, and a refused key is dropped by its source.

use std::sync::Arc;

use futures_util::StreamExt as _;

use crate::key_redactor::{AnswerRedactor, KeyRedactor};
use crate::key_source::KeySource;
use crate::provider::{Api, Delta, Deltas, Provider, Request, TextFilter as _};

/// No known key reaches the provider but in a header, and no text of an answer contains one.
#[expect(missing_docs, reason = "the names say what they are")]
pub struct GuardedProvider {
    pub provider: Arc<dyn Provider>,
    pub keys: Arc<dyn KeySource>,
}

impl Provider for GuardedProvider {
    fn sends_images(&self) -> bool {
        self.provider.sends_images()
    }

    fn stream(&self, mut request: Request) -> Deltas {
        let (keys, name) = (Arc::clone(&self.keys), request.model.provider.clone());
        let redactor = KeyRedactor::of(keys.as_ref(), request.key.clone());
        redactor.redact_request(&mut request);
        let mut answer = AnswerRedactor::new(redactor);
        let deltas = self.provider.stream(request).flat_map(move |delta| {
            if is_refusal(&delta) {
                keys.refused(&name);
            }
            futures_util::stream::iter(answer.filter(delta))
        });
        Box::pin(deltas)
    }
}

fn is_refusal(delta: &Delta) -> bool {
    let Delta::Done(answer) = delta else { return false };
    // Bedrock answers 403 where others answer 401.
    let is_bedrock = answer.message.api == Api::Bedrock.as_str();
    let status = answer.failure.as_ref().and_then(|failure| failure.status);
    status == Some(401) || is_bedrock && status == Some(403)
}
