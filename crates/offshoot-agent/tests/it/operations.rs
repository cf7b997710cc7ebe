//! Picks, merges and undos as an agent gets them: step by step.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::command::Operate;
use offshoot_agent::operate::{AfterPlan, PlanQuestion, PresentModel, Steps, WrittenSummary};
use offshoot_protocol::AgentError;
use offshoot_session::error::Error;
use offshoot_session::merge::MergeRequest;
use offshoot_session::pick::{PickOptions, PickRequest};
use offshoot_session::session::{PlannedMerge, PlannedPick, Session, UndoPlan};

pub(crate) enum Asked {
    Pick(String),
    Merge { tip: String, instructions: Option<String> },
    Undo,
}

enum Planned {
    Pick(PlannedPick),
    Merge(PlannedMerge),
    Undo(UndoPlan),
}

struct AskedSteps {
    asked: Asked,
    planned: Option<Planned>,
    summary: Option<WrittenSummary>,
    told: Sender<Result<Option<String>, Error>>,
}

impl AskedSteps {
    fn planned(&self, at: &Session) -> Planned {
        match &self.asked {
            Asked::Pick(entry) => {
                let selections = [vec![at.find(entry).unwrap()]];
                let options = PickOptions::default();
                let request = PickRequest { from: None, selections: &selections, onto: at.leaf(), options };
                Planned::Pick(at.plan_pick(&request).unwrap())
            }
            Asked::Merge { tip, .. } => Planned::Merge(merge(at, tip, 0)),
            Asked::Undo => Planned::Undo(at.plan_undo().unwrap().unwrap()),
        }
    }
}

fn merge(at: &Session, tip: &str, budget: u64) -> PlannedMerge {
    let request = MergeRequest { from: None, tip: at.find(tip).unwrap(), onto: at.leaf(), budget };
    at.plan_merge(&request).unwrap()
}

impl Steps for AskedSteps {
    fn plan(&mut self, at: &Session, _: Option<&PresentModel>) -> AfterPlan {
        self.planned = Some(self.planned(at));
        let Asked::Merge { tip, instructions } = &self.asked else { return AfterPlan::Write };
        let tip = tip.clone();
        let branch = Arc::new(move |at: &Session, budget| Ok(merge(at, &tip, budget).plan.summary));
        AfterPlan::Ask(PlanQuestion { branch, from: None, instructions: instructions.clone() })
    }

    fn drafted(&mut self, _: &Session, summary: WrittenSummary) -> bool {
        self.summary = Some(summary);
        true
    }

    fn write(&mut self, at: &mut Session) {
        let written = match self.planned.take().unwrap() {
            Planned::Pick(planned) => at.pick(&planned).map(drop),
            Planned::Merge(planned) => at.merge(&planned, &self.summary.as_ref().unwrap().drafted).map(drop),
            Planned::Undo(plan) => at.undo(&plan).map(drop),
        };
        let warning = self.summary.take().and_then(|summary| summary.warning);
        self.told.send(written.map(|()| warning)).unwrap();
    }

    fn tell(&mut self, _: &Session) {}
}

/// Runs it. Answers why its summary was written without a model, if it was.
pub(crate) async fn operate(agent: &AgentSession, asked: Asked) -> Result<Option<String>, AgentError> {
    let (told, outcome) = channel();
    let steps = AskedSteps { asked, planned: None, summary: None, told };
    agent.ask(Operate::new(Box::new(steps), Some("at work"))).await?;
    outcome.recv().unwrap().map_err(|error| AgentError::NotWritten(error.into()))
}
