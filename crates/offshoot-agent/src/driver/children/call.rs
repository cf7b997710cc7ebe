//! One call of the tool `task`: its children are started and watched to their ends, or go on beside the conversation.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use super::ChildInput;
use super::caller::CallChildren;
use super::live_call::{CallGuard, LiveCall};
use super::report::{ChildReport, begun, outcome};
use super::start::ChildOrigin;
use crate::driver::DriverInput;
use crate::tool::{Running, TaskCall, TaskRunner, ToolOutcome};

/// So often at most a call shows how far its children are.
const SHOWN_EVERY: Duration = Duration::from_millis(150);

impl TaskRunner for CallChildren {
    fn run(&self, call: TaskCall, partial: UnboundedSender<ToolOutcome>) -> Running {
        let parent = self.clone();
        Box::pin(async move { parent.run_all(call, partial).await })
    }
}

impl CallChildren {
    async fn run_all(self, call: TaskCall, partial: UnboundedSender<ToolOutcome>) -> ToolOutcome {
        let begun_at = self.setup.clock.now();
        let place = match self.place().await {
            Ok(place) => place,
            Err(error) => return ToolOutcome::failed(format!("Nothing is started: {error}")),
        };
        if let Err(why) = self.record(&place).await {
            return ToolOutcome::failed(format!("Nothing is started: {why}."));
        }
        // Dropping this future stops the children.
        let live = CallGuard(LiveCall::new());
        let entry = Arc::downgrade(&live.0);
        drop(self.parent.send(DriverInput::Child(ChildInput::Call { id: self.call_id.clone(), live: entry })));
        let known = if self.resumes { self.known(&place).await } else { Vec::new() };
        let fork = match call.tasks.iter().any(|order| order.fork) {
            true => self.fork_of(&place).await,
            false => None,
        };
        for (index, order) in call.tasks.iter().enumerate() {
            let child = ChildOrigin {
                index,
                order,
                context: call.context.as_ref(),
                known: known.iter().find(|child| child.beginning.index == index),
                fork: fork.clone(),
                said: None,
                spending: None,
            };
            if let Err(why) = self.start(&place, child, &live.0) {
                live.0.set(self.unstarted(index, order, why));
            }
        }
        let clock = Arc::clone(&self.setup.clock);
        let took = || u64::try_from(clock.now().saturating_sub(begun_at)).unwrap_or_default();
        if call.background && self.stays {
            let reports = live.0.reports();
            let guard = Box::new(live);
            drop(self.parent.send(DriverInput::Child(ChildInput::Stays { live: guard, origin: place.entry })));
            return begun(&reports, took());
        }
        let show = |reports: &[ChildReport]| drop(partial.send(outcome(reports, took())));
        let ended = watched(&live.0, show).await;
        outcome(&ended, took())
    }
}

/// Shows the state of the children until all have ended.
async fn watched(live: &LiveCall, show: impl Fn(&[ChildReport])) -> Vec<ChildReport> {
    let mut ended = std::pin::pin!(live.end());
    loop {
        tokio::select! {
            biased;
            reports = &mut ended => return reports,
            () = live.changed() => {
                show(&live.reports());
                tokio::select! {
                    biased;
                    reports = &mut ended => return reports,
                    () = tokio::time::sleep(SHOWN_EVERY) => {}
                }
            }
        }
    }
}
