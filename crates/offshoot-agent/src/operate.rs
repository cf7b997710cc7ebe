//! An operation on the session, step by step, for whoever holds the session. Knows no operation: each keeps its outcome, its
//! refusals too, for whoever began it.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use offshoot_session::branch_summary::BranchPlan;
use offshoot_session::session::Session;
use offshoot_session::summariser::Drafted;

use crate::provider::Model;

/// What a model is asked to write between plan and commit.
#[derive(Debug)]
pub enum SummaryQuestion {
    /// A summary of a branch, with the user's instructions.
    Branch(Box<BranchPlan>, Option<String>),
}

/// What comes after a plan.
#[derive(Debug)]
pub enum AfterPlan {
    /// A model is asked, then the plan is committed.
    Ask(SummaryQuestion),
    /// The plan is committed.
    Commit,
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

/// A summary that a model wrote; with why it did not, if it was put together by rule.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct WrittenSummary {
    pub drafted: Drafted,
    pub warning: Option<String>,
}

/// An operation step by step. A plan looks names up and writes nothing; a commit writes it in one step, or nothing. Dropped before
/// its commit it counts as stopped.
pub trait Steps: Send {
    /// Plans for the session as it is, with the model of the agent that holds it.
    fn plan(&mut self, at: &Session, with: Option<&PresentModel>) -> AfterPlan;

    /// Writes what was planned, unless it is a dry run or there is nothing to do, and tells the outcome.
    fn commit(&mut self, at: &mut Session, summary: Option<WrittenSummary>);
}

/// An operation for the session of an agent. It runs once.
#[derive(Clone)]
pub struct HeldOperation {
    steps: Arc<Mutex<Option<Box<dyn Steps>>>>,
    refused_at_work: Option<&'static str>,
}

impl HeldOperation {
    /// An operation. With `refused_at_work` it needs an agent that does nothing else, and is refused during a turn with these
    /// words; without it begins at once, and asks no model.
    pub fn new(steps: Box<dyn Steps>, refused_at_work: Option<&'static str>) -> Self {
        Self { steps: Arc::new(Mutex::new(Some(steps))), refused_at_work }
    }

    pub(crate) fn refused_at_work(&self) -> Option<&'static str> {
        self.refused_at_work
    }

    pub(crate) fn take(&self) -> Option<Box<dyn Steps>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl fmt::Debug for HeldOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeldOperation").field("refused_at_work", &self.refused_at_work).finish_non_exhaustive()
    }
}

impl PartialEq for HeldOperation {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.steps, &other.steps)
    }
}
