//! Names, labels, moves, picks, merges and undos as an agent gets them: step by step.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::operate::{AfterPlan, MoveQuestion, PlanAnswer, PlanQuestion, PresentModel, Steps, SummaryWish};
use offshoot_agent::request_queue::Operate;
use offshoot_protocol::AgentError;
use offshoot_session::branch_summary::plan;
use offshoot_session::compose::NewEntry;
use offshoot_session::entry::Source as _;
use offshoot_session::error::Error;
use offshoot_session::merge::MergeRequest;
use offshoot_session::pick::{PickOptions, PickRequest};
use offshoot_session::session::{PlannedMerge, PlannedPick, Session, UndoPlan};
use offshoot_session::tree::NodeIx;

pub(crate) enum Asked {
    Name(&'static str),
    /// A label for an entry.
    Label(String),
    Pick(String),
    Merge {
        tip: String,
        instructions: Option<String>,
    },
    Undo,
    /// To an entry, perhaps with a summary of what is left and a label.
    Move {
        target: String,
        summary: Option<SummaryWish>,
        label: Option<String>,
    },
}

enum Planned {
    Append(NewEntry),
    Pick(PlannedPick),
    Merge(PlannedMerge),
    Undo(UndoPlan),
    Move(NodeIx),
}

struct AskedSteps {
    asked: Asked,
    planned: Option<Planned>,
    answer: PlanAnswer,
    told: Sender<Result<Option<String>, Error>>,
}

impl AskedSteps {
    fn planned(&self, at: &Session) -> Planned {
        match &self.asked {
            Asked::Name(name) => Planned::Append(NewEntry::session_info(name)),
            Asked::Label(entry) => Planned::Append(NewEntry::label(entry, Some("x"))),
            Asked::Pick(entry) => {
                let selections = [vec![at.find(entry).unwrap()]];
                let options = PickOptions::default();
                let request = PickRequest { from: None, selections: &selections, onto: at.leaf(), options };
                Planned::Pick(at.plan_pick(&request).unwrap())
            }
            Asked::Merge { tip, .. } => Planned::Merge(merge(at, tip, 0)),
            Asked::Move { target, .. } => Planned::Move(at.find(target).unwrap()),
            Asked::Undo => Planned::Undo(at.plan_undo().unwrap().unwrap()),
        }
    }
}

impl AskedSteps {
    fn go(&self, at: &mut Session, target: NodeIx) -> Result<(), Error> {
        let id = at.tree().node(target).id().unwrap().to_string();
        match &self.answer.drafted {
            Some(drafted) => at.branch_with_summary(Some(&id), &drafted.branch_summary()).map(drop)?,
            None => at.switch(target)?,
        }
        let label = self.answer.label.as_deref().map(|label| NewEntry::label(&id, Some(label)));
        label.map_or(Ok(()), |label| at.append(&label).map(drop))
    }
}

fn merge(at: &Session, tip: &str, budget: u64) -> PlannedMerge {
    let request = MergeRequest { from: None, tip: at.find(tip).unwrap(), onto: at.leaf(), budget };
    at.plan_merge(&request).unwrap()
}

impl Steps for AskedSteps {
    fn plan(&mut self, at: &Session, _: Option<&PresentModel>) -> AfterPlan {
        self.planned = Some(self.planned(at));
        match &self.asked {
            Asked::Merge { tip, instructions } => {
                let (tip, summary) = (tip.clone(), Some(SummaryWish::focus(instructions.clone())));
                let branch = Arc::new(move |at: &Session, budget| Ok(merge(at, &tip, budget).plan.summary));
                AfterPlan::Ask(PlanQuestion { branch, from: None, summary, moves: None })
            }
            Asked::Move { target, summary, label } => {
                let ix = at.find(target).unwrap();
                let branch = Arc::new(move |at: &Session, budget| plan(at, at.leaf(), Some(ix), budget));
                let moves = Some(MoveQuestion { target: target.clone(), label: label.clone() });
                AfterPlan::Ask(PlanQuestion { branch, from: None, summary: summary.clone(), moves })
            }
            Asked::Name(_) | Asked::Label(_) | Asked::Pick(_) | Asked::Undo => AfterPlan::Write,
        }
    }

    fn answered(&mut self, _: &Session, answer: PlanAnswer) -> bool {
        self.answer = answer;
        true
    }

    fn write(&mut self, at: &mut Session) {
        let written = match self.planned.take().unwrap() {
            Planned::Append(entry) => at.append(&entry).map(drop),
            Planned::Pick(planned) => at.pick(&planned).map(drop),
            Planned::Merge(planned) => at.merge(&planned, self.answer.drafted.as_ref().unwrap()).map(drop),
            Planned::Undo(plan) => at.undo(&plan).map(drop),
            Planned::Move(target) => self.go(at, target),
        };
        let warning = self.answer.warning.take();
        self.told.send(written.map(|()| warning)).unwrap();
    }

    fn tell(&mut self, _: &Session) {}
}

/// Runs it. Answers why its summary was written without a model, if it was.
pub(crate) async fn operate(agent: &AgentSession, asked: Asked) -> Result<Option<String>, AgentError> {
    let (told, outcome) = channel();
    let refused_at_work = match asked {
        Asked::Name(_) | Asked::Label(_) => None,
        Asked::Pick(_) | Asked::Merge { .. } | Asked::Undo | Asked::Move { .. } => Some("at work"),
    };
    let steps = AskedSteps { asked, planned: None, answer: PlanAnswer::default(), told };
    agent.ask(Operate::new(Box::new(steps), refused_at_work)).await?;
    outcome.recv().unwrap().map_err(|error| AgentError::NotWritten(error.into()))
}

/// Moves to another entry, and asks no model.
pub(crate) async fn go(agent: &AgentSession, target: impl Into<String>) {
    let asked = Asked::Move { target: target.into(), summary: None, label: None };
    assert_eq!(operate(agent, asked).await, Ok(None));
}
