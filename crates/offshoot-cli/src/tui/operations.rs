//! Runs operations of the table for the terminal.

use offshoot_agent::agent_session::AgentSession;
use offshoot_tui::app::msg::{Msg, OperationRefusal, OperationSaid};
use offshoot_workspace::OperationOrder;

use super::job_context::JobContext;
use crate::held::{self, HeldOutcome};

pub(super) async fn operate(context: &JobContext, agent: &AgentSession, order: OperationOrder) {
    let ran = held::operate(&context.app, agent, order.clone()).await;
    let result = ran.map(|outcome| said(&outcome)).map_err(|failure| OperationRefusal {
        why: held::refusal(&failure, |operation, with, says| {
            let words: Vec<&str> = with.iter().map(String::as_str).collect();
            format!("/{operation} {} {says}", words.join(" "))
        }),
        is_busy: held::is_busy(&failure),
    });
    context.tell(Msg::Operated(order, result));
}

fn said(outcome: &HeldOutcome) -> OperationSaid {
    OperationSaid {
        text: outcome.said(|operation, says| format!("/{operation} {says}")),
        warning: outcome.warning(),
        is_done: outcome.nothing.is_none(),
    }
}
