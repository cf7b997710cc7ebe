//! The start of one child: its definition, its id, its account and its rights, and the task that runs it.

use std::path::PathBuf;
use std::sync::Arc;

use offshoot_protocol::{ChildState, ChildStatus};
use offshoot_session::child::{ChildStart, child_file};
use tokio::sync::oneshot;

use super::ChildInput;
use super::caller::{CallChildren, ParentPlace};
use super::child_run::Child;
use super::fork::ForkPoint;
use super::known::KnownChild;
use super::live_call::LiveCall;
use super::made::{ChildPlan, is_free, wanted_id};
use super::report::ChildReport;
use crate::driver::DriverInput;
use crate::family::ChildPlace;
use crate::spending::Spending;
use crate::tool::TaskOrder;

/// What a child is started for.
pub(super) struct ChildOrigin<'a> {
    pub(super) index: usize,
    pub(super) order: &'a TaskOrder,
    pub(super) context: Option<&'a String>,
    /// Its file, if it has one.
    pub(super) known: Option<&'a KnownChild>,
    /// Its parent's context, if it may begin with that.
    pub(super) fork: Option<ForkPoint>,
    /// What a person says to it, if it had ended.
    pub(super) said: Option<String>,
    /// Its account, if it has run in this program.
    pub(super) spending: Option<Spending>,
}

impl CallChildren {
    /// What a task that cannot be started says.
    pub(super) fn unstarted(&self, index: usize, order: &TaskOrder, why: String) -> ChildReport {
        let agent = order.agent.clone().unwrap_or_else(|| crate::resources::USUAL_AGENT.to_owned());
        let id = order.name.clone().unwrap_or_else(|| agent.clone());
        let state = ChildState { why: Some(why), status: ChildStatus::Failed, ..self.state(index, order, (id, agent)) };
        ChildReport::new(state)
    }

    fn state(&self, index: usize, order: &TaskOrder, (id, agent): (String, String)) -> ChildState {
        let model = &self.setup.model;
        ChildState {
            id,
            agent,
            parent_tool_call_id: self.call_id.clone(),
            index,
            task: order.task.clone(),
            file: None,
            model: format!("{}/{}", model.provider, model.id),
            status: ChildStatus::Pending,
            requests: 0,
            tokens: 0,
            cost: 0.0,
            current_tool: None,
            last_text: None,
            why: None,
        }
    }

    /// Starts one child; it waits by itself until it may run.
    pub(super) fn start(
        &self,
        place: &ParentPlace,
        origin: ChildOrigin<'_>,
        live: &Arc<LiveCall>,
    ) -> Result<(), String> {
        let ChildOrigin { index, order, context, known, fork, said, spending } = origin;
        let family = &self.setup.family;
        let depth = place.child.as_ref().map_or_else(|| family.depth(), |child| child.depth) + 1;
        if depth > family.limits().depth {
            return Err(format!("agents of depth {depth} are not started; {} is the limit", family.limits().depth));
        }
        if order.fork && fork.is_none() {
            return Err("the conversation cannot be read, with which it was to begin".to_owned());
        }
        let plan = ChildPlan::new(&self.setup, order, context)?;
        let folder = self.folder(place);
        let id = self.id_of(place, (order, &plan), known, folder.as_ref())?;
        let spending = spending.unwrap_or_else(|| self.account(&id, order, &plan, known));
        let mut setup = plan.setup(&self.setup, depth);
        setup.family = family.of_child(ChildPlace {
            id: id.clone(),
            depth,
            folder: folder.clone(),
            spawns: plan.definition.spawns.clone(),
            spending: spending.clone(),
            asker: self.setup.tool_context.conversation.asker_for(&id),
        });
        let file = folder.as_deref().map(|folder| child_file(folder, &id));
        let agent = plan.definition.about.name.clone();
        let state = ChildState {
            file: file.as_ref().map(|file| file.display().to_string()),
            model: format!("{}/{}", plan.model.provider, plan.model.id),
            ..self.state(index, order, (id.clone(), agent.clone()))
        };
        let beginning = ChildStart {
            parent_id: place.id.clone(),
            parent_entry: place.entry.clone(),
            tool_call_id: self.call_id.clone(),
            index,
            id: id.clone(),
            agent,
            depth,
            task: order.task.clone(),
            context: context.cloned(),
            limits: serde_json::to_string(&order.limits).unwrap_or_default(),
            schema: plan.schema.as_ref().map(crate::output_schema::OutputSchema::text),
            fork: order.fork,
        };
        let (stop, stopped) = oneshot::channel();
        let running = live.begin(stop).ok_or("the call has ended")?;
        let report = ChildReport::new(state);
        live.set(report.clone());
        let child = Child {
            first_words: plan.first_words(&order.task),
            schema: plan.schema,
            setup,
            slots: family.slots(depth),
            file,
            parent_file: place.file.as_ref().map(|file| file.display().to_string()),
            beginning,
            limits: order.limits,
            spending: spending.clone(),
            report,
            live: Arc::clone(live),
            parent: self.parent.clone(),
            is_known: known.is_some(),
            fork: fork.filter(|_| order.fork),
            said,
        };
        let task = tokio::spawn(async move {
            child.run(stopped).await;
            drop(running);
        });
        drop(self.parent.send(DriverInput::Child(ChildInput::Spawned { id, spending, task })));
        Ok(())
    }

    fn id_of(
        &self,
        place: &ParentPlace,
        (order, plan): (&TaskOrder, &ChildPlan),
        known: Option<&KnownChild>,
        folder: Option<&PathBuf>,
    ) -> Result<String, String> {
        let family = &self.setup.family;
        let own = family.own.as_ref();
        let above = own.map(|own| own.id.clone()).or_else(|| place.child.as_ref().map(|child| child.id.clone()));
        let wanted = wanted_id(order, &plan.definition, above.as_deref());
        let id = match known {
            Some(known) => Some(known.beginning.id.clone()),
            None => family.take_id(&wanted, |id| is_free(folder.map(PathBuf::as_path), id)),
        };
        id.ok_or_else(|| format!("{} agents were started in this run, which is the limit", family.limits().children))
    }

    /// An account of its own. What it spent in earlier runs counts for its limits.
    fn account(&self, id: &str, order: &TaskOrder, plan: &ChildPlan, known: Option<&KnownChild>) -> Spending {
        let turns = plan.definition.turns.and_then(|turns| turns.try_into().ok());
        let spending = self.spending.below(id, order.limits, turns);
        if let Some(known) = known {
            spending.credit(&self.spending.spent_before(id).unwrap_or(known.spent));
        }
        spending
    }
}
