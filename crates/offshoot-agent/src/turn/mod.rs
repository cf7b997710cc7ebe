//! A turn as a pure machine: `step(&mut TurnState, TurnInput) -> Vec<Effect>`.
//!
//! Knows no time, files, network or tasks: the driver supplies inputs and runs effects. `docs/agent.md` has a diagram
//! of the states.

mod effect;
mod room;
mod state;
mod transition;
mod jobs;
mod ending;
mod work;
mod answer;
mod step;
#[cfg(test)]
mod tests;

pub use effect::{
    Call, Effect, EndOutcome, Job, JobDraft, JobResult, OpenAnswer, Record, RuleInjection, RuleNote, RunNumber, Ticket,
    Trying, TurnInput,
};
pub use state::{NextTry, TurnConfig, TurnState};
pub(crate) use state::{WrittenPart, next_try};
pub use step::step;
