//! An operation on the session, step by step, for whoever holds the session. Knows no operation: each keeps its outcome, its
//! refusals too, for whoever began it.

use offshoot_session::branch_summary::BranchPlan;
use offshoot_session::session::Session;
use offshoot_session::summariser::Drafted;

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

/// An operation step by step. A plan looks names up and writes nothing; a commit writes it in one step, or nothing.
pub trait Steps: Send {
    /// Plans for the session as it is.
    fn plan(&mut self, at: &Session) -> AfterPlan;

    /// Writes what was planned, unless it is a dry run or there is nothing to do, and tells the outcome.
    fn commit(&mut self, at: &mut Session, drafted: Option<Drafted>);

    /// Tells that it was stopped before anything was written.
    fn stopped(&mut self);
}
