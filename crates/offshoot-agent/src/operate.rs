//! An operation on the session, step by step, for whoever holds the session. Knows no operation: each keeps its outcome, its
//! refusals too, for whoever began it.

use std::fmt;
use std::sync::Arc;

use offshoot_session::branch_summary::{BranchPlan, Instructions};
use offshoot_session::compact;
use offshoot_session::error::Error;
use offshoot_session::session::Session;
use offshoot_session::summariser::Drafted;

use offshoot_protocol::model::Model;

use crate::prompt_weight::PromptWeight;

/// Plans the summary of a branch for so many tokens of conversation; 0 means any number.
pub type PlanBranch = Arc<dyn Fn(&Session, u64) -> Result<BranchPlan, Error> + Send + Sync>;

/// What a model is asked to write between a plan and its write.
#[derive(Clone)]
pub struct PlanQuestion {
    /// The branch.
    pub branch: PlanBranch,
    /// The session that has the branch; `None` if it is the one at hand.
    pub from: Option<Arc<Session>>,
    /// What the summary should say; `None` if none is wanted.
    pub summary: Option<SummaryWish>,
    /// Where the leaf goes in the tree, if extensions are asked about that.
    pub moves: Option<MoveQuestion>,
}

/// What a summary should say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SummaryWish {
    /// What it says usually.
    #[default]
    Usual,
    /// With this in mind.
    Focus(String),
    /// What this asks for, and nothing else.
    Instead(String),
}

impl SummaryWish {
    /// A summary with instructions, if there are some.
    #[must_use]
    pub fn focus(instructions: Option<String>) -> Self {
        instructions.map_or(Self::Usual, Self::Focus)
    }

    /// The same for a plan.
    #[must_use]
    pub fn instructions(&self) -> Instructions<'_> {
        match self {
            Self::Usual => Instructions::Plain,
            Self::Focus(text) => Instructions::Focus(text),
            Self::Instead(text) => Instructions::Instead(text),
        }
    }

    /// The words, and whether they replace the usual ones.
    pub(crate) fn words(&self) -> Option<(&str, bool)> {
        match self {
            Self::Usual => None,
            Self::Focus(text) => Some((text, false)),
            Self::Instead(text) => Some((text, true)),
        }
    }
}

/// A move in the tree, as extensions are asked about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveQuestion {
    /// The id of the entry to which it goes.
    pub target: String,
    /// A label for the summary, or without one for the target.
    pub label: Option<String>,
}

impl fmt::Debug for PlanQuestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlanQuestion")
            .field("summary", &self.summary)
            .field("moves", &self.moves)
            .finish_non_exhaustive()
    }
}

/// What came of a [`PlanQuestion`].
#[derive(Debug, Clone, Default)]
pub struct PlanAnswer {
    /// The summary, if one was wanted and there is something to summarise.
    pub drafted: Option<Drafted>,
    /// Whether an extension wrote it.
    pub is_given: bool,
    /// Why no model wrote it.
    pub warning: Option<String>,
    /// The label of a move.
    pub label: Option<String>,
}

/// What comes after a plan.
#[derive(Debug)]
pub enum AfterPlan {
    /// A model and extensions are asked; what they say goes to [`Steps::answered`].
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
    /// The same, part by part.
    pub prompt: PromptWeight,
    /// How the session is compacted.
    pub compaction: compact::Settings,
    /// The tokens of a conversation that a summary can read; 0 for any number.
    pub branch_budget: u64,
}

/// An operation step by step. A plan looks names up and writes nothing; it is written in one step, or not at all. Dropped before
/// that it counts as stopped.
pub trait Steps: Send {
    /// Plans for the session as it is, with the model of the agent that holds it.
    fn plan(&mut self, at: &Session, with: Option<&PresentModel>) -> AfterPlan;

    /// Takes the answer to what the plan asked. Returns whether the plan can be written: if not, it was refused.
    fn answered(&mut self, at: &Session, answer: PlanAnswer) -> bool;

    /// Writes what was planned, and tells the outcome.
    fn write(&mut self, at: &mut Session);

    /// Tells the outcome of a plan that writes nothing.
    fn tell(&mut self, at: &Session);
}
