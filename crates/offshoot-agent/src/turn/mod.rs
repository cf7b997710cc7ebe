//! A turn as a pure machine: `step(&mut State, Input) -> Vec<Effect>`.
//!
//! Knows no time, no files, no network and no tasks: the driver brings inputs and does effects. `docs/agent.md` has the
//! picture of the states.

mod answer;
mod effect;
mod jobs;
mod state;
mod step;
#[cfg(test)]
mod tests;
mod work;

pub use effect::{Call, Draft, Effect, Input, Job, Record, Settled, Ticket, Trying};
pub use state::{Config, QueueMode, Retry, State};
pub use step::step;
