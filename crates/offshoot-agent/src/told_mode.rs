//! Messages to the model about the approval mode: which calls are refused, or no longer are. A message of the conversation keeps the cached
//! prefix. Knows no rule.

use offshoot_protocol::ApprovalMode;
use offshoot_protocol::message::{Content, CustomMessage};
use offshoot_session::context::Context;
use offshoot_session::session::Session;
use serde_json::json;

use crate::last_told::last_told;
use crate::told_plan;

const KIND: &str = "offshoot.approval-mode";

const READS: &str = "The user has set the approval mode to read-only: calls that change files or run commands that do more than read are refused from now on.";
const PLANS: &str = "The user has set the approval mode to plan: calls that change files or run commands that do more than read are refused until the user has accepted a plan. Read what you need, then call the tool plan with it.";
const PLANS_ALONE: &str = "The user has set the approval mode to plan: calls that change files or run commands that do more than read are refused. Read what you need, then answer with the plan of what should be done.";
const MORE: &str =
    "The approval mode is no longer read-only or plan: it no longer refuses calls that change files or run commands.";

/// What the model must know of the mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToldMode {
    /// What it does may be asked about.
    Free,
    /// It only reads.
    Reads,
    /// It only reads, until its plan is accepted.
    Plans,
}

impl ToldMode {
    pub(crate) fn of(mode: ApprovalMode) -> Self {
        match mode {
            ApprovalMode::Auto | ApprovalMode::Edits | ApprovalMode::Ask => Self::Free,
            ApprovalMode::ReadOnly => Self::Reads,
            ApprovalMode::Plan => Self::Plans,
        }
    }

    /// What a conversation without such a message knows of the mode in which a run begins: `read-only` shows in the tools.
    pub(crate) fn at_start(mode: ApprovalMode) -> Self {
        if mode == ApprovalMode::ReadOnly { Self::Reads } else { Self::Free }
    }
}

/// The message about a mode that has begun or ended. `has_plan_tool`: requests have the tool `plan`.
pub(crate) fn message(mode: ApprovalMode, has_plan_tool: bool) -> CustomMessage {
    let text = match ToldMode::of(mode) {
        ToldMode::Free => MORE,
        ToldMode::Reads => READS,
        ToldMode::Plans if has_plan_tool => PLANS,
        ToldMode::Plans => PLANS_ALONE,
    };
    CustomMessage {
        custom_type: KIND.to_owned(),
        content: Content::Text(text.to_owned()),
        display: false,
        details: Some(json!({ "mode": mode.as_str() })),
        timestamp: 0,
    }
}

/// The mode in the last message about the mode or an accepted plan; `None` without such a message.
pub(crate) fn told(session: &Session, context: &Context) -> Option<ToldMode> {
    last_told(session, context, &[KIND, told_plan::KIND], |details| {
        Some(ToldMode::of(ApprovalMode::parse(&details.str("mode")?)?))
    })
}
