//! The last answer of a session whose program ended while calls ran: which calls have no results. Runs nothing.

use offshoot_protocol::message::{Block, Message, StopReason};
use offshoot_session::entry::Source as _;
use offshoot_session::error::Result;
use offshoot_session::json::Json;
use offshoot_session::kind::{Kind, Role};
use offshoot_session::session::Session;
use std::sync::Arc;

use crate::stored_message::read_message;
use crate::tool::{TASK_TOOL, ToolOutcome};
use crate::turn::{Call, OpenAnswer};

/// For the model.
const INTERRUPTED: &str =
    "Interrupted: the program ended while this call ran, and whether it did anything is unknown. It was not repeated.";

/// Which answers are gone on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeftOpen {
    /// Those with an open call that started children.
    OfTasks,
    /// All with an open call.
    Any,
}

impl LeftOpen {
    /// The answer at the end of the path, if calls of it are open. Calls that started children go on; of others nobody knows whether
    /// they ran.
    pub(crate) fn of(self, session: &Session) -> Result<Option<OpenAnswer>> {
        let tree = session.tree();
        let mut answered = Vec::new();
        for ix in session.leaf().into_iter().flat_map(|leaf| tree.ancestors(leaf)) {
            let node = tree.node(ix);
            match (node.kind(), node.role()) {
                (Kind::Message, Some(Role::ToolResult)) => {
                    let entry = session.entry(ix)?;
                    let id = entry.of_message("toolCallId").and_then(Json::as_str).map(std::borrow::Cow::into_owned);
                    answered.extend(id);
                }
                (Kind::Message, Some(Role::Assistant)) => {
                    let entry = session.entry(ix)?;
                    let message = entry.message().map(|json| json.text().to_owned()).unwrap_or_default();
                    return Ok(self.answer(&message, &answered));
                }
                (Kind::Message | Kind::CustomMessage | Kind::Compaction | Kind::BranchSummary, _) => return Ok(None),
                _ => {}
            }
        }
        Ok(None)
    }

    fn answer(self, message: &str, answered: &[String]) -> Option<OpenAnswer> {
        let Ok(Message::Assistant(answer)) = read_message(message) else { return None };
        if answer.stop_reason != StopReason::ToolUse {
            return None;
        }
        let calls = answer.content.iter().filter_map(|block| match block {
            Block::ToolCall { id, name, arguments, arguments_error, .. } => {
                let call = Call { id: id.clone(), name: name.clone(), arguments: arguments.clone() };
                let goes_on = name == TASK_TOOL && arguments_error.is_none();
                Some((call, (!goes_on).then(|| ToolOutcome::failed(INTERRUPTED))))
            }
            Block::Text { .. } | Block::Thinking { .. } | Block::Image { .. } => None,
        });
        let calls: Vec<_> = calls.filter(|(call, _)| !answered.contains(&call.id)).collect();
        let is_meant = match self {
            Self::OfTasks => calls.iter().any(|(_, outcome)| outcome.is_none()),
            Self::Any => !calls.is_empty(),
        };
        is_meant.then(|| OpenAnswer { answer: Arc::clone(&answer), calls })
    }
}
