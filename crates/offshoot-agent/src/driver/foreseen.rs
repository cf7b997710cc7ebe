//! Which later calls of an answer will be asked about, so that a front end can show them together. It decides nothing: each
//! call is judged when its turn comes, and asked about by itself if it is not what was shown. Asks nobody.

use std::sync::Arc;

use offshoot_protocol::ForeseenQuestion;

use crate::approval::{ApprovalCall, Decision, Permissions, decide};
use crate::crash::caught;
use crate::tool::{self, Shell, Tool, ToolContext};
use crate::turn::Call;

/// So many calls are foreseen. Those after them are asked about later.
const MOST_FORESEEN: usize = 50;

/// The calls of an answer, which all of its calls share: their arguments may be large.
pub(super) type AnswerCalls = Arc<[LaterCall]>;

/// A call of an answer, whose turn comes after that of others.
pub(super) struct LaterCall {
    /// Its place in the answer.
    pub(super) index: usize,
    pub(super) tool: Arc<dyn Tool>,
    pub(super) call: Call,
}

/// The questions about the calls after the one at `index`, as they would be now.
pub(super) fn foresee(
    calls: &[LaterCall],
    index: usize,
    permissions: &Permissions,
    context: &ToolContext,
) -> Vec<ForeseenQuestion> {
    let later = calls.iter().filter(|later| later.index > index).take(MOST_FORESEEN);
    later.filter_map(|later| later.foresee(permissions, context)).collect()
}

impl LaterCall {
    /// The question about it as it would be now; `None` if nobody would be asked.
    fn foresee(&self, permissions: &Permissions, context: &ToolContext) -> Option<ForeseenQuestion> {
        caught(|| self.judge(permissions, context)).ok().flatten()
    }

    fn judge(&self, permissions: &Permissions, context: &ToolContext) -> Option<ForeseenQuestion> {
        let Call { id, name, arguments } = &self.call;
        let tier = self.tool.tier(arguments, context);
        let ToolContext { cwd, home, keys, .. } = context;
        let view = ApprovalCall { tool: name, tier: &tier, cwd, home: home.as_deref(), keys };
        let Decision::Ask { reason, .. } = decide(permissions, &view) else { return None };
        Some(ForeseenQuestion {
            tool_call_id: id.clone(),
            tool_name: name.clone(),
            args: arguments.clone(),
            reason: said_by(self.tool.as_ref(), reason),
            diff: self.tool.preview(arguments.clone(), context),
        })
    }
}

/// Names the extension whose tool is asked about: it may have the name of a built-in one.
pub(super) fn said_by(tool: &dyn Tool, reason: String) -> String {
    let Some(extension) = tool.provider() else { return reason };
    let name = tool.name();
    match tool::all(&Shell::default()).iter().any(|built_in| built_in.name() == name) {
        true => format!("{reason}; {name} is not the built-in tool but one of the extension {extension}"),
        false => format!("{reason}; {name} is a tool of the extension {extension}"),
    }
}
