//! An operation on the session, step by step, for whoever holds the session. Knows no operation: each keeps its outcome, its
//! refusals too, for whoever began it.

use std::sync::Arc;

use offshoot_session::session::Session;

use crate::provider::Model;

/// What comes after a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterPlan {
    /// The plan is written.
    Write,
    /// There is nothing to write: the outcome is told.
    Tell,
    /// Nothing: it was refused.
    End,
}

/// The model that an agent asks next: operations on its session count with it.
#[derive(Debug, Clone)]
pub struct PresentModel {
    /// The model.
    pub model: Arc<Model>,
    /// The tokens of the system prompt and the tools.
    pub overhead: u64,
}

/// An operation step by step. A plan looks names up and writes nothing; it is written in one step, or not at all. Dropped before
/// that it counts as stopped.
pub trait Steps: Send {
    /// Plans for the session as it is, with the model of the agent that holds it.
    fn plan(&mut self, at: &Session, with: Option<&PresentModel>) -> AfterPlan;

    /// Writes what was planned, and tells the outcome.
    fn write(&mut self, at: &mut Session);

    /// Tells the outcome of a plan that writes nothing.
    fn tell(&mut self, at: &Session);
}
