//! How a call runs that may run, and what decides on it. Asks nobody.

use std::sync::Arc;

use crate::approval::Permissions;
use crate::sandbox::Sandbox;
use crate::tool::{NeutralCommand, ToolContext};

const CONFINED: &str =
    "[the approval mode is read-only: this ran in a sandbox, where it could write nothing and had no network]";

/// What decides on a call, and where it then runs.
#[derive(Clone)]
pub(super) struct DecisionGround {
    pub(super) permissions: Permissions,
    pub(super) sandbox: Option<Sandbox>,
}

/// How a call runs that may run.
pub(super) enum Permit {
    /// As it was called.
    AsCalled,
    /// As a command that only reads.
    AsRead(NeutralCommand),
    /// Where it writes nothing and has no network.
    Confined,
}

impl Permit {
    /// For the model, below the result.
    pub(super) fn note(&self) -> Option<&'static str> {
        matches!(self, Self::Confined).then_some(CONFINED)
    }

    /// Whether the call may change files.
    pub(super) fn may_change(&self) -> bool {
        matches!(self, Self::AsCalled)
    }

    /// In which the call runs.
    pub(super) fn context(self, context: Arc<ToolContext>) -> Arc<ToolContext> {
        match self {
            Self::AsCalled => context,
            Self::Confined => {
                let sandbox = context.sandbox.as_ref().and_then(Sandbox::read_only);
                Arc::new(ToolContext { sandbox, ..ToolContext::clone(&context) })
            }
            Self::AsRead(command) => Arc::new(ToolContext { neutral: Some(command), ..ToolContext::clone(&context) }),
        }
    }
}
