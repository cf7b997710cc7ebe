//! The questions about calls: who is asked, one after another, and what is recorded of the answers.

use std::collections::VecDeque;

use offshoot_session::compose::NewEntry;
use offshoot_session::json::{Json, Object};
use tokio::sync::oneshot;

use super::commands::{answer, refuse};
use super::{Driver, DriverInput, Waiter};
use crate::approval::{ApprovalDecision, ApprovalMode, CallView, Decision, Permissions, Rule, decide};
use crate::command::Reply;
use crate::error::AgentError;
use crate::event::{ApprovalOutcome, Event};
use crate::setup::Approver;
use crate::tool::{Tool, ToolContext, ToolOutcome};
use crate::turn::{Call, Ticket};

/// The type of the entries that record answers.
const RECORD: &str = "offshoot.approval";

const REJECTED: &str = "The user did not allow this call.";

/// What the task of a call has to say before it runs.
pub(crate) enum ApprovalInput {
    Question(Box<Question>),
    Record(ApprovalRecord),
}

pub(crate) struct Question {
    place: CallPlace,
    call: Call,
    tier: &'static str,
    reason: String,
    grant: Option<Rule>,
    answer: oneshot::Sender<Verdict>,
}

/// Which call of which turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CallPlace {
    pub(super) ticket: Ticket,
    pub(super) index: usize,
}

enum Verdict {
    Allowed,
    Rejected(Option<String>),
}

pub(crate) struct ApprovalRecord {
    tool_call_id: String,
    decision: &'static str,
    by: &'static str,
    rule: Option<String>,
}

/// The open questions; the first one is being asked.
#[derive(Default)]
pub(super) struct Approvals {
    questions: VecDeque<Question>,
    /// The number of the first one.
    id: u64,
    /// Allowed until the program ends.
    granted: Vec<Rule>,
}

/// What the task of a call needs to ask.
pub(super) struct Asker {
    pub(super) place: CallPlace,
    pub(super) permissions: Permissions,
    pub(super) approver: Approver,
    pub(super) own: tokio::sync::mpsc::UnboundedSender<DriverInput>,
}

impl Asker {
    /// Waits until the call may run; otherwise returns its result.
    pub(super) async fn permit(
        &self,
        tool: &std::sync::Arc<dyn Tool>,
        call: &Call,
        context: &std::sync::Arc<ToolContext>,
        stop: &mut oneshot::Receiver<()>,
    ) -> Result<(), ToolOutcome> {
        let (tool, permissions) = (tool.clone(), self.permissions.clone());
        let (name, arguments, context) = (call.name.clone(), call.arguments.clone(), context.clone());
        let decided = tokio::task::spawn_blocking(move || {
            let tier = tool.tier(&arguments, &context);
            let view = CallView { tool: &name, tier: &tier, cwd: &context.cwd, home: context.home.as_deref() };
            (decide(&permissions, &view), tier.name())
        });
        let Ok((decision, tier)) = decided.await else {
            return Err(ToolOutcome::failed("the approval broke down, which is a bug of offshoot"));
        };
        let (reason, grant) = match (decision, self.approver) {
            (Decision::Run, _) => return Ok(()),
            (Decision::Refuse { words, rule }, _) => {
                let by = if rule.is_some() { "rule" } else { "mode" };
                self.record(call, by, rule);
                return Err(ToolOutcome::failed(words));
            }
            (Decision::Ask { reason, .. }, Approver::Nobody) => {
                self.record(call, "nobody", None);
                let words = format!("This call needs the user's approval, and nobody can be asked here: {reason}.");
                return Err(ToolOutcome::failed(words));
            }
            (Decision::Ask { reason, grant }, Approver::FrontEnd) => (reason, grant),
        };
        let (answer, answered) = oneshot::channel();
        let question = Question { place: self.place, call: call.clone(), tier, reason, grant, answer };
        self.send(ApprovalInput::Question(Box::new(question)));
        tokio::select! {
            biased;
            _ = stop => Err(ToolOutcome::stopped(None)),
            verdict = answered => match verdict {
                Ok(Verdict::Allowed) => Ok(()),
                Ok(Verdict::Rejected(message)) => Err(ToolOutcome::failed(rejected(message.as_deref()))),
                Err(_) => Err(ToolOutcome::stopped(None)),
            },
        }
    }

    fn record(&self, call: &Call, by: &'static str, rule: Option<Rule>) {
        let (tool_call_id, rule) = (call.id.clone(), rule.map(|rule| rule.to_string()));
        self.send(ApprovalInput::Record(ApprovalRecord { tool_call_id, decision: "refuse", by, rule }));
    }

    fn send(&self, input: ApprovalInput) {
        drop(self.own.send(DriverInput::Approval(input)));
    }
}

fn rejected(message: Option<&str>) -> String {
    match message.map(str::trim).filter(|message| !message.is_empty()) {
        Some(message) => format!("{REJECTED} {message}"),
        None => REJECTED.to_owned(),
    }
}

impl Driver {
    /// The mode and rules in effect, with what was allowed for the session.
    pub(super) fn permissions(&self) -> Permissions {
        let mut permissions = self.setup.permissions.clone();
        permissions.allow.extend(self.approvals.granted.iter().cloned());
        permissions
    }

    pub(super) fn approval(&mut self, input: ApprovalInput) {
        match input {
            ApprovalInput::Record(record) => self.record_approval(record),
            ApprovalInput::Question(question) => {
                self.approvals.questions.push_back(*question);
                if self.approvals.questions.len() == 1 {
                    self.ask_next();
                }
            }
        }
    }

    /// Asks the first question. One that a rule has answered meanwhile is not asked.
    fn ask_next(&mut self) {
        while let Some(Question { grant: Some(grant), .. }) = self.approvals.questions.front()
            && self.approvals.granted.contains(grant)
        {
            let question = self.approvals.questions.pop_front();
            question.into_iter().for_each(|question| drop(question.answer.send(Verdict::Allowed)));
        }
        let Some(question) = self.approvals.questions.front() else { return };
        self.approvals.id += 1;
        let Call { id, name, arguments } = question.call.clone();
        let once = [ApprovalDecision::AllowOnce];
        let session = question.grant.iter().map(|_| ApprovalDecision::AllowSession);
        let options = once.into_iter().chain(session).chain([ApprovalDecision::Reject]).collect();
        let request = Event::ApprovalRequest {
            id: self.approvals.id,
            tool_call_id: id,
            tool_name: name,
            args: arguments,
            tier: question.tier,
            reason: question.reason.clone(),
            rule: question.grant.as_ref().map(ToString::to_string),
            options,
        };
        self.outbox.tell(request);
    }

    /// Applies a front end's answer. The first one wins.
    pub(super) fn approve(&mut self, id: u64, decision: ApprovalDecision, message: Option<String>, reply: Waiter) {
        if id != self.approvals.id || self.approvals.questions.is_empty() {
            return refuse(reply, AgentError::Busy("the question was answered already"));
        }
        let Some(Question { call, grant, answer: to, .. }) = self.approvals.questions.pop_front() else { return };
        let (outcome, rule) = match (decision, grant) {
            (ApprovalDecision::AllowSession, Some(grant)) => {
                let rule = grant.to_string();
                self.approvals.granted.push(grant);
                (ApprovalOutcome::AllowSession, Some(rule))
            }
            (ApprovalDecision::AllowOnce | ApprovalDecision::AllowSession, _) => (ApprovalOutcome::AllowOnce, None),
            (ApprovalDecision::Reject, _) => (ApprovalOutcome::Reject, None),
        };
        let verdict = match outcome {
            ApprovalOutcome::Reject | ApprovalOutcome::Stopped => Verdict::Rejected(message),
            ApprovalOutcome::AllowOnce | ApprovalOutcome::AllowSession => Verdict::Allowed,
        };
        let tool_call_id = call.id.clone();
        self.record_approval(ApprovalRecord { tool_call_id, decision: outcome.as_str(), by: "user", rule });
        self.outbox.tell(Event::ApprovalEnd { id, tool_call_id: call.id, decision: outcome });
        drop(to.send(verdict));
        answer(reply, Reply::Done);
        self.ask_next();
    }

    /// The call has ended: nobody needs to answer any more.
    pub(super) fn close_question(&mut self, place: CallPlace) {
        let Some(at) = self.approvals.questions.iter().position(|question| question.place == place) else { return };
        let Some(question) = self.approvals.questions.remove(at) else { return };
        if at == 0 {
            self.tell_stopped(question);
            self.ask_next();
        }
    }

    /// Everything was stopped.
    pub(super) fn drop_questions(&mut self) {
        let asked = self.approvals.questions.pop_front();
        self.approvals.questions.clear();
        asked.into_iter().for_each(|question| self.tell_stopped(question));
    }

    fn tell_stopped(&mut self, question: Question) {
        let (id, decision) = (self.approvals.id, ApprovalOutcome::Stopped);
        self.outbox.tell(Event::ApprovalEnd { id, tool_call_id: question.call.id, decision });
    }

    pub(super) fn set_approval(&mut self, mode: ApprovalMode, reply: Waiter) {
        self.setup.permissions.mode = mode;
        answer(reply, Reply::Done);
    }

    /// For people who look back; the model does not see it.
    fn record_approval(&mut self, record: ApprovalRecord) {
        let ApprovalRecord { tool_call_id, decision, by, rule } = record;
        let data = Object::new().str("toolCallId", &tool_call_id).str("decision", decision).str("by", by);
        let data = data.opt_str("rule", rule.as_deref()).finish();
        self.write(Vec::new(), None, move |owned| {
            let data = Json::parse(&data).map_err(|error| format!("could not write an approval: {error}"))?;
            owned.append(&[NewEntry::custom(RECORD, Some(data))]).map(|_| None)
        });
    }
}
