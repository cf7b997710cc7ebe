//! What a person says to single children: to one that runs at once, to one that has ended by running it again.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};

use offshoot_protocol::AgentError;
use offshoot_protocol::request::{Abort, ChildOrder, FollowUp, Steer, ToChild};

use super::caller::CallChildren;
use super::live_call::{CallGuard, LiveCall};
use super::made::model_named;
use super::start::ChildOrigin;
use super::{ChildInput, Driver, DriverInput};
use crate::request_queue::{Askable as _, Asked, ReplyTo};
use crate::spending::Spending;
use crate::tool::TaskOrder;

/// An order as the child's own request. Nobody waits for the end of a stop: its event says it.
trait OrderAsked {
    fn asked(self, reply: ReplyTo<()>) -> Asked;
}

impl OrderAsked for ChildOrder {
    fn asked(self, reply: ReplyTo<()>) -> Asked {
        reply.answer(());
        match self {
            Self::Steer(text) => Steer(text.as_str().into()).asked(ReplyTo::channel().0),
            Self::FollowUp(text) => FollowUp(text.as_str().into()).asked(ReplyTo::channel().0),
            Self::Stop => Abort.asked(ReplyTo::channel().0),
        }
    }
}

/// Children that are about to run again, and the calls that may still take what they say.
#[derive(Default)]
pub(super) struct Reopening {
    ids: BTreeSet<String>,
    calls: Vec<(String, Weak<LiveCall>)>,
}

impl Reopening {
    pub(super) fn call(&mut self, id: String, live: Weak<LiveCall>) {
        self.calls.retain(|(_, live)| live.strong_count() > 0);
        self.calls.push((id, live));
    }

    pub(super) fn done(&mut self, id: &str) {
        self.ids.remove(id);
    }

    fn live(&self, call: &str) -> Option<Arc<LiveCall>> {
        let known = self.calls.iter().rev().filter(|(id, _)| id == call);
        known.filter_map(|(_, live)| live.upgrade()).next()
    }
}

impl Driver {
    /// Passes what a person says on to a child, or to the child below which it is. One that has ended runs again.
    pub(in crate::driver) fn order_child(&mut self, order: ToChild, reply: ReplyTo<()>) {
        let known = self.children.running.iter();
        let above = |id: &str| order.id == id || order.id.strip_prefix(id).is_some_and(|rest| rest.starts_with('.'));
        if let Some((id, to)) = known.into_iter().find(|(id, _)| above(id)) {
            let asked = if *id == order.id { order.order.asked(reply) } else { order.asked(reply) };
            return drop(to.send(DriverInput::Asked(asked)));
        }
        let ToChild { id, order } = order;
        let state = self.children.states.get(&id);
        let has_ended = state.is_none_or(|state| state.status.is_end());
        let words = match order {
            _ if self.children.reopening.ids.contains(&id) || !has_ended => {
                return reply.refuse(AgentError::Failed(format!("the agent {id} does not run yet")));
            }
            ChildOrder::Stop if state.is_some() => {
                return reply.refuse(AgentError::Failed(format!("the agent {id} has ended")));
            }
            ChildOrder::Stop => return reply.refuse(AgentError::Failed(format!("there is no agent {id}"))),
            ChildOrder::Steer(words) | ChildOrder::FollowUp(words) => words,
        };
        self.reopen_child(id, words, reply);
    }

    /// Runs a child again that has ended. What it says then is part of its call's result, if that is still open; otherwise it reaches
    /// the model as that of a child in the background.
    fn reopen_child(&mut self, id: String, words: String, reply: ReplyTo<()>) {
        let call = self.children.states.get(&id).map(|state| state.parent_tool_call_id.clone());
        let live = call.as_deref().and_then(|call| self.children.reopening.live(call));
        if live.is_none() && self.setup.family.is_child() {
            let why = format!("the agent {id} has reported to the one that started it");
            return reply.refuse(AgentError::Failed(why));
        }
        self.children.reopening.ids.insert(id.clone());
        let caller = self.call_children(call.unwrap_or_default(), false);
        let spending = self.children.accounts.get(&id).cloned();
        let own = self.own.clone();
        drop(tokio::spawn(async move {
            let reopened = caller.reopen(&id, words, (live, spending)).await;
            if reopened.is_err() {
                drop(own.send(DriverInput::Child(ChildInput::NotReopened(id))));
            }
            reply.send(reopened.map_err(AgentError::Failed));
        }));
    }
}

impl CallChildren {
    async fn reopen(
        mut self,
        id: &str,
        words: String,
        (live, spending): (Option<Arc<LiveCall>>, Option<Spending>),
    ) -> Result<(), String> {
        let mut place = self.place().await.map_err(|error| error.to_string())?;
        let known = self.child_of_file(&place, id).await.ok_or_else(|| match id.rsplit_once('.') {
            Some((above, _)) => format!("the agent {above} that started {id} does not run: say it to {above}"),
            None => format!("this session has no agent {id} in a file"),
        })?;
        self.record(&place).await?;
        let beginning = &known.beginning;
        place.entry.clone_from(&beginning.parent_entry);
        self.call_id.clone_from(&beginning.tool_call_id);
        let order = TaskOrder {
            task: beginning.task.clone(),
            agent: Some(beginning.agent.clone()),
            model: known.model.clone().filter(|named| model_named(&self.setup, named).is_some()),
            limits: serde_json::from_str(&beginning.limits).unwrap_or_default(),
            output_schema: beginning.schema.as_deref().and_then(|schema| serde_json::from_str(schema).ok()),
            ..TaskOrder::default()
        };
        let origin = || ChildOrigin {
            index: beginning.index,
            order: &order,
            context: beginning.context.as_ref(),
            known: Some(&known),
            fork: None,
            said: Some(words.clone()),
            spending: spending.clone(),
        };
        if let Some(live) = live
            && self.start(&place, origin(), &live).is_ok()
        {
            return Ok(());
        }
        let live = CallGuard(LiveCall::new());
        self.start(&place, origin(), &live.0)?;
        let stays = ChildInput::Stays { live: Box::new(live), origin: beginning.parent_entry.clone() };
        drop(self.parent.send(DriverInput::Child(stays)));
        Ok(())
    }
}
