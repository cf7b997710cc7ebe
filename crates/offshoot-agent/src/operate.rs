//! An operation on the session, step by step, for whoever holds the session. Knows no operation: each keeps its outcome, its
//! refusals too, for whoever began it.

use std::fmt;
use std::sync::Arc;

use offshoot_session::branch_summary::BranchPlan;
use offshoot_session::error::Error;
use offshoot_session::session::Session;
use offshoot_session::summariser::Drafted;

use crate::provider::Model;

/// Plans the summary of a branch for so many tokens of conversation; 0 means any number.
pub type PlanBranch = Arc<dyn Fn(&Session, u64) -> Result<BranchPlan, Error> + Send + Sync>;

/// What a model is asked to write between a plan and its write.
#[derive(Clone)]
pub struct PlanQuestion {
    /// The branch.
    pub branch: PlanBranch,
    /// The session that has the branch; `None` if it is the one at hand.
    pub from: Option<Arc<Session>>,
    /// What the summary should say.
    pub instructions: Option<String>,
}

impl fmt::Debug for PlanQuestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlanQuestion").field("instructions", &self.instructions).finish_non_exhaustive()
    }
}

/// A summary; with why no model wrote it, if it was put together by rule.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct WrittenSummary {
    pub drafted: Drafted,
    pub warning: Option<String>,
}

/// What comes after a plan.
#[derive(Debug)]
pub enum AfterPlan {
    /// A model is asked; its summary goes to [`Steps::drafted`].
    Ask(PlanQuestion),
    /// The plan is written.
    Write,
    /// Nothing is written: the outcome is reported.
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
    /// The tokens of a conversation that a summary can read; 0 for any number.
    pub branch_budget: u64,
}

/// An operation step by step. A plan looks names up and writes nothing; it is written in one step, or not at all. Dropped before
/// that it counts as stopped.
pub trait Steps: Send {
    /// Plans for the session as it is, with the model of the agent that holds it.
    fn plan(&mut self, at: &Session, with: Option<&PresentModel>) -> AfterPlan;

    /// Takes the summary for which the plan asked. Returns whether the plan can be written: if not, it was refused.
    fn drafted(&mut self, at: &Session, summary: WrittenSummary) -> bool;

    /// Writes what was planned, and tells the outcome.
    fn write(&mut self, at: &mut Session);

    /// Tells the outcome of a plan that writes nothing.
    fn tell(&mut self, at: &Session);
}
