//! For users of the library: the suite that every store must pass, a disk that fails on demand, promises about hostile
//! input, and builders of small sessions. Needs the feature `testing`. Panics on failure.

#![allow(clippy::panic, clippy::unwrap_used, clippy::expect_used, reason = "a test suite says no by panicking")]

mod faults;
pub mod fuzz;
mod pictures;
mod stories;

use crate::clock::{Clock, FixedClock, Millis};
use crate::id::CountingIds;
use crate::session::{Durability, Options};
use crate::store::Store;

pub use faults::{Fault, FaultMedium, Loss, Operation};
pub use pictures::{NEW, OLD, PICTURES, Picture, told};

/// Options with the same ids and times in every run.
pub fn fixed_options() -> Options {
    Options {
        clock: Box::new(FixedClock(1_767_225_600_000)),
        ids: Box::new(CountingIds::default()),
        durability: Durability::Os,
        ..Options::default()
    }
}

/// A clock that advances by one second with each call.
#[derive(Debug, Default)]
pub struct TickingClock(std::sync::atomic::AtomicI64);

impl TickingClock {
    /// Starts at this time.
    pub fn starting_at(ms: Millis) -> Self {
        Self(ms.into())
    }
}

impl Clock for TickingClock {
    fn now(&self) -> Millis {
        self.0.fetch_add(1000, std::sync::atomic::Ordering::Relaxed)
    }
}

/// Runs the whole suite. `empty_store` must return a new, empty store each time.
///
/// # Panics
/// At the first broken promise; the panic's location names its story.
pub fn store_conformance(empty_store: &dyn Fn() -> Box<dyn Store>) {
    for (_, story) in stories::ALL {
        story(empty_store().as_ref());
    }
}
