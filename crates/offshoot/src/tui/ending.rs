//! Whether the program was told to end, for whoever waits while the front end does not take its messages.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

#[derive(Debug, Clone, Default)]
pub(super) struct EndNotice(Arc<(Mutex<bool>, Condvar)>);

impl EndNotice {
    pub(super) fn give(&self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }

    pub(super) fn has_come(&self) -> bool {
        self.comes_within(Duration::ZERO)
    }

    pub(super) fn comes_within(&self, patience: Duration) -> bool {
        let told = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        *self.0.1.wait_timeout_while(told, patience, |told| !*told).unwrap_or_else(PoisonError::into_inner).0
    }
}
