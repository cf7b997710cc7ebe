//! For those who build on this library: the suite that every store must pass, a disk that fails on demand, what must hold
//! for any bytes, and builders of small sessions.
//!
//! Enable the feature `testing`. Panics on failure, as tests do.

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

/// Options that give the same ids and times in every run.
pub fn fixed_options() -> Options {
    Options {
        clock: Box::new(FixedClock(1_767_225_600_000)),
        ids: Box::new(CountingIds::default()),
        durability: Durability::Os,
        ..Options::default()
    }
}

/// A clock that goes on by one second each time it is asked.
#[derive(Debug, Default)]
pub struct TickingClock(std::sync::atomic::AtomicI64);

impl TickingClock {
    /// Starts at this moment.
    pub fn starting_at(ms: Millis) -> Self {
        Self(ms.into())
    }
}

impl Clock for TickingClock {
    fn now(&self) -> Millis {
        self.0.fetch_add(1000, std::sync::atomic::Ordering::Relaxed)
    }
}

/// Runs the whole suite over a store. `empty_store` must answer a new, empty store at each call.
///
/// # Panics
/// At the first promise that does not hold; the place of the panic is the story of that promise.
pub fn store_conformance(empty_store: &dyn Fn() -> Box<dyn Store>) {
    for (_, story) in stories::ALL {
        story(empty_store().as_ref());
    }
}
