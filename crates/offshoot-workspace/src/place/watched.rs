//! Work that somebody watches, and may stop.

use std::sync::Arc;

use super::{Place, PlaceOptions};

impl Place {
    /// The same for work that somebody watches, and may stop.
    #[must_use]
    pub fn watched(
        &self,
        progress: impl Fn(u64, u64) + Clone + Send + Sync + 'static,
        is_stopped: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Self {
        let options = PlaceOptions {
            progress: Arc::new(move |_| Box::new(progress.clone())),
            is_stopped: Arc::new(is_stopped),
            ..PlaceOptions::clone(&self.options)
        };
        Self { options: Arc::new(options), notes: Arc::clone(&self.notes) }
    }

    /// Whether nobody waits for long work any more.
    pub(crate) fn is_stopped(&self) -> bool {
        (self.options.is_stopped)()
    }
}
