//! Plans, as a conversation has them: an accepted one changes the approval mode and is kept in the session, and is said again after a
//! compaction. How they are asked about is not known here.

use offshoot_protocol::ApprovalMode;
use offshoot_protocol::message::Message;
use offshoot_protocol::request::Delivery;
use tokio::sync::oneshot;

use super::{Driver, DriverInput};
use crate::request_queue::ReplyTo;
use crate::told_mode::ToldMode;
use crate::told_plan;
use crate::tool::{AcceptedPlan, PLAN_TOOL, PlanKeeper};

impl Driver {
    /// What calls have of plans.
    pub(super) fn plan_keeper(&self) -> PlanKeeper {
        let own = self.own.clone();
        let accept = move |plan, kept: oneshot::Sender<()>| drop(own.send(DriverInput::Plan(plan, kept)));
        PlanKeeper::new(self.setup.permissions.mode == ApprovalMode::Plan, accept)
    }

    /// Whether requests have the tool, and no extension's of its name.
    pub(super) fn has_plan_tool(&self) -> bool {
        self.sent_tools().iter().any(|tool| tool.name() == PLAN_TOOL && tool.provider().is_none())
    }

    /// The message is written after the results of the calls.
    pub(super) fn plan_accepted(&mut self, plan: AcceptedPlan, kept: oneshot::Sender<()>) {
        // The details have it beside the message.
        let plan = AcceptedPlan { markdown: self.redactor.redact_text(plan.markdown), ..plan };
        self.set_approval(plan.mode, ReplyTo::channel().0);
        (self.told_mode, self.knows_plan) = (Some(ToldMode::of(plan.mode)), true);
        let message = self.dated(told_plan::accepted(&plan));
        self.deliver(message, Delivery::Steer);
        // The call may have been stopped.
        let _ = kept.send(());
    }

    /// The plan that the model no longer sees, once for each compaction.
    pub(super) fn news_of_plan(&mut self) -> Option<Message> {
        if std::mem::replace(&mut self.knows_plan, true) {
            return None;
        }
        let lost = self.writer.recorded().lost_plan?;
        Some(self.dated(told_plan::again(&lost)))
    }

    /// The conversation goes on without a prompt.
    pub(super) fn repeat_plan(&mut self) {
        if self.state.is_idle() {
            return;
        }
        if let Some(message) = self.news_of_plan() {
            self.deliver(message, Delivery::Steer);
        }
    }
}
