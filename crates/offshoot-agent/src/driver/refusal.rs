//! Wraps a provider: after a refused key (401) the key's source drops the key.

use std::sync::Arc;

use futures_util::StreamExt as _;

use crate::provider::{Delta, Deltas, Provider, Request};
use crate::setup::KeySource;

pub(super) struct RefusalWatch {
    pub(super) provider: Arc<dyn Provider>,
    pub(super) keys: Arc<dyn KeySource>,
}

impl Provider for RefusalWatch {
    fn stream(&self, request: Request) -> Deltas {
        let (keys, name) = (Arc::clone(&self.keys), request.model.provider.clone());
        Box::pin(self.provider.stream(request).inspect(move |delta| {
            if is_refusal(delta) {
                keys.refused(&name);
            }
        }))
    }
}

fn is_refusal(delta: &Delta) -> bool {
    let Delta::Done(answer) = delta else { return false };
    answer.failure.as_ref().is_some_and(|failure| failure.status == Some(401))
}
