//! The questions about calls: who is asked, one after another, and what is recorded of the answers.

use std::collections::VecDeque;
use std::sync::Arc;

use offshoot_protocol::message::Block;
use offshoot_protocol::request::Approve;
use offshoot_protocol::{
    AgentError, ApprovalDecision, ApprovalMode, ApprovalOutcome, ApprovalRecord, ApprovalScope, ApprovalTier,
    ApprovedBy, Event, ForeseenQuestion, NoticeCode, OfferedRule,
};
use offshoot_session::compose::NewEntry;
use offshoot_session::json::Json;
use tokio::sync::oneshot;

use super::foreseen::{AnswerCalls, foresee, said_by};
use super::neutral;
use super::permit::{DecisionGround, Permit};
use super::{Driver, DriverInput, WriteOf};
use crate::approval::{ApprovalCall, Decision, Permissions, Rule, decide};
use crate::crash::caught;
use crate::key_redactor::KeyRedactor;
use crate::request_queue::ReplyTo;
use crate::setup::{Approver, RuleStore};
use crate::tool::{Tier, Tool, ToolContext, ToolOutcome};
use crate::turn::{Call, Ticket};

/// The type of the entries that record answers.
const RECORD: &str = "offshoot.approval";

const REJECTED: &str = "The user did not allow this call.";

const REJECTED_OUTSIDE: &str = "The user did not allow this call to run outside the sandbox.";

/// What the task of a call has to say before it runs.
pub(crate) enum ApprovalInput {
    Question(Box<Question>),
    Refused(ApprovalRecord),
    /// A rule that could not be kept, with the reason.
    NotKept(Rule, String),
}

pub(crate) struct Question {
    place: CallPlace,
    call: Call,
    subject: QuestionSubject,
    /// In which it was decided that somebody is asked.
    mode: ApprovalMode,
    answer: oneshot::Sender<Verdict>,
}

struct QuestionSubject {
    tier: ApprovalTier,
    diff: Option<String>,
    reason: String,
    /// The rule of exactly this call.
    grant: Option<Rule>,
    offers: Vec<Rule>,
    /// What a yes means.
    once: ApprovalDecision,
    /// The calls after it that will be asked about too.
    following: Vec<ForeseenQuestion>,
}

/// Which call of which turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CallPlace {
    pub(super) ticket: Ticket,
    pub(super) index: usize,
}

enum Verdict {
    Allowed,
    /// The rule is to be kept.
    AllowedAlways(Rule, ApprovalScope),
    Rejected(Option<String>),
    /// Nobody listens to events.
    Unheard,
    /// The mode or the sandbox has changed.
    DecideAgain(Box<DecisionGround>),
}

/// The open questions; the first one is being asked.
#[derive(Default)]
pub(super) struct Approvals {
    questions: VecDeque<Question>,
    /// The number of the first one.
    id: u64,
    /// Allowed until the program ends.
    pub(super) granted: Vec<Rule>,
}

/// What the task of a call needs to ask.
pub(super) struct Asker {
    pub(super) place: CallPlace,
    pub(super) permissions: Permissions,
    pub(super) approver: Approver,
    pub(super) redactor: KeyRedactor,
    pub(super) own: tokio::sync::mpsc::UnboundedSender<DriverInput>,
    /// The calls of the answer; none for a call that a tool makes.
    pub(super) calls: Option<AnswerCalls>,
}

impl Asker {
    /// Waits until the call may run; otherwise returns its result. The context gets the sandbox of the decision.
    pub(super) async fn permit(
        &mut self,
        tool: &Arc<dyn Tool>,
        call: &Call,
        context: &mut Arc<ToolContext>,
        stop: &mut oneshot::Receiver<()>,
    ) -> Result<Permit, ToolOutcome> {
        let mut why_not_read = None;
        let mut ground = self.permissions.clone();
        loop {
            let (decision, tier, diff) = self.decide(tool, call, context).await?;
            let and_why = |words: String| match &why_not_read {
                Some(why) => format!("{words}; {why}"),
                None => words,
            };
            let (reason, (grant, offers)) = match decision {
                Decision::Run => return Ok(Permit::AsCalled),
                Decision::Confined if context.sandbox.as_ref().is_some_and(|own| own.read_only().is_some()) => {
                    return Ok(Permit::Confined);
                }
                Decision::Confined => {
                    self.permissions.confines_to_reading = false;
                    continue;
                }
                Decision::Read(line) => {
                    let prepared = tokio::select! {
                        biased;
                        _ = &mut *stop => return Err(ToolOutcome::stopped(None)),
                        prepared = neutral::prepare(line, context) => prepared,
                    };
                    match prepared {
                        Ok(command) => return Ok(Permit::AsRead(command)),
                        Err(why) => {
                            self.permissions.reads = None;
                            why_not_read = Some(why);
                            continue;
                        }
                    }
                }
                Decision::Refuse { words, rule } => {
                    let words = and_why(words);
                    let by = if rule.is_some() { ApprovedBy::Rule } else { ApprovedBy::Mode };
                    return Err(self.refuse(call, by, rule, words));
                }
                Decision::Ask { reason, grant, offers } => (and_why(reason), (grant, offers)),
            };
            let words = format!("This call needs the user's approval, and nobody can be asked here: {reason}.");
            let Approver::FrontEnd(rules) = &self.approver else {
                return Err(self.refuse(call, ApprovedBy::Nobody, None, words));
            };
            let reason = said_by(tool.as_ref(), reason);
            let diff = diff.map(|diff| self.redactor.redact_text(diff));
            let following = self.foresee(&ground, context).await;
            let once = ApprovalDecision::AllowOnce;
            let subject = QuestionSubject { tier, diff, reason, grant, offers, once, following };
            match self.ask(call, subject, stop).await {
                Some(Verdict::Allowed) => return Ok(Permit::AsCalled),
                Some(Verdict::AllowedAlways(rule, scope)) => {
                    self.keep(rules.clone(), rule, scope).await;
                    return Ok(Permit::AsCalled);
                }
                Some(Verdict::Rejected(message)) => {
                    return Err(ToolOutcome::failed(rejected(REJECTED, message.as_deref())));
                }
                Some(Verdict::Unheard) => return Err(self.refuse(call, ApprovedBy::Nobody, None, words)),
                Some(Verdict::DecideAgain(now)) => {
                    let DecisionGround { permissions, sandbox } = *now;
                    ground.clone_from(&permissions);
                    self.permissions = permissions;
                    *context = Arc::new(ToolContext { sandbox, ..ToolContext::clone(context) });
                }
                None => return Err(ToolOutcome::stopped(None)),
            }
        }
    }

    /// Asks whether a call that the sandbox may have stopped runs again outside of it. Otherwise returns its outcome.
    pub(super) async fn permit_outside(
        &mut self,
        call: &Call,
        mut outcome: ToolOutcome,
        stop: &mut oneshot::Receiver<()>,
    ) -> Result<(), ToolOutcome> {
        let Some(reason) = outcome.sandbox_refusal.take() else { return Err(outcome) };
        while let Approver::FrontEnd(_) = self.approver {
            let (reason, once) = (reason.0.clone(), ApprovalDecision::OnceUnsandboxed);
            let tier = ApprovalTier::Exec;
            let subject = QuestionSubject {
                tier,
                diff: None,
                reason,
                grant: None,
                offers: Vec::new(),
                once,
                following: Vec::new(),
            };
            match self.ask(call, subject, stop).await {
                Some(Verdict::Allowed | Verdict::AllowedAlways(..)) => return Ok(()),
                Some(Verdict::Rejected(message)) => {
                    outcome.content.push(Block::text(rejected(REJECTED_OUTSIDE, message.as_deref())));
                    break;
                }
                Some(Verdict::DecideAgain(now)) if !now.permissions.mode.refuses_changes() => {
                    self.permissions = now.permissions;
                }
                Some(Verdict::DecideAgain(_) | Verdict::Unheard) | None => break,
            }
        }
        Err(outcome)
    }

    /// `None` if the call was stopped.
    async fn ask(&self, call: &Call, subject: QuestionSubject, stop: &mut oneshot::Receiver<()>) -> Option<Verdict> {
        let (answer, answered) = oneshot::channel();
        let (call, mode) = (call.clone(), self.permissions.mode);
        let question = Question { place: self.place, call, subject, mode, answer };
        self.send(ApprovalInput::Question(Box::new(question)));
        tokio::select! {
            biased;
            _ = stop => None,
            verdict = answered => verdict.ok(),
        }
    }

    /// The decision, the call's tier, and what it would change if somebody is asked. A tool that cannot tell is not run.
    async fn decide(
        &self,
        tool: &Arc<dyn Tool>,
        call: &Call,
        context: &Arc<ToolContext>,
    ) -> Result<(Decision, ApprovalTier, Option<String>), ToolOutcome> {
        let (tool, permissions) = (tool.clone(), self.permissions.clone());
        let (name, arguments, context) = (call.name.clone(), call.arguments.clone(), context.clone());
        let judge = move || {
            let tier = tool.tier(&arguments, &context);
            let ToolContext { cwd, home, keys, .. } = context.as_ref();
            let view = ApprovalCall { tool: &name, tier: &tier, cwd, home: home.as_deref(), keys };
            let decision = decide(&permissions, &view);
            let is_asked = matches!(decision, Decision::Ask { .. });
            if is_asked
                && may_be_read(&permissions, &view)
                && let Some(failed) = tool.foresee_failure(arguments.clone(), &context)
            {
                return Err(failed);
            }
            let diff = if is_asked { tool.preview(arguments, &context) } else { None };
            Ok((decision, tier.asked(), diff))
        };
        match tokio::task::spawn_blocking(|| caught(judge)).await {
            Ok(decided) => decided.map_err(|crash| ToolOutcome::crashed(&call.name, &crash))?,
            Err(_ended) => Err(ToolOutcome::stopped(None)),
        }
    }

    /// The later calls that will be asked about too, by the permissions and the files of now. It decides nothing.
    async fn foresee(&self, permissions: &Permissions, context: &Arc<ToolContext>) -> Vec<ForeseenQuestion> {
        let Some(calls) = self.calls.clone() else { return Vec::new() };
        let (index, permissions, context) = (self.place.index, permissions.clone(), context.clone());
        let foreseen = tokio::task::spawn_blocking(move || foresee(&calls, index, &permissions, &context)).await;
        let mut foreseen = foreseen.unwrap_or_default();
        for question in &mut foreseen {
            question.diff = question.diff.take().map(|diff| self.redactor.redact_text(diff));
        }
        foreseen
    }

    /// The call runs in any case: it was allowed.
    async fn keep(&self, rules: Arc<dyn RuleStore>, rule: Rule, scope: ApprovalScope) {
        let kept = rule.clone();
        let keep = move || {
            caught(|| rules.allow(&kept, scope)).unwrap_or_else(|crash| Err(format!("writing it crashed: {crash}")))
        };
        if let Ok(Err(why)) = tokio::task::spawn_blocking(keep).await {
            self.send(ApprovalInput::NotKept(rule, why));
        }
    }

    fn refuse(&self, call: &Call, by: ApprovedBy, rule: Option<Rule>, words: String) -> ToolOutcome {
        let (tool_call_id, rule) = (call.id.clone(), rule.map(|rule| rule.to_string()));
        let decision = ApprovalOutcome::Refuse;
        self.send(ApprovalInput::Refused(ApprovalRecord { tool_call_id, decision, by, rule, scope: None }));
        ToolOutcome::failed(words)
    }

    fn send(&self, input: ApprovalInput) {
        drop(self.own.send(DriverInput::Approval(input)));
    }
}

/// Whether the files that a call changes may be read unasked: only then its result may say what is in them.
fn may_be_read(permissions: &Permissions, call: &ApprovalCall<'_>) -> bool {
    let Tier::Write(paths) = call.tier else { return false };
    let tier = Tier::Read(paths.clone());
    decide(permissions, &ApprovalCall { tool: "read", tier: &tier, ..*call }) == Decision::Run
}

fn offered(rule: &Rule) -> OfferedRule {
    let allows = match rule.note() {
        Some(note) => format!("{}; {note}", rule.allows()),
        None => rule.allows(),
    };
    OfferedRule { rule: rule.to_string(), allows }
}

fn rejected(words: &str, message: Option<&str>) -> String {
    match message.map(str::trim).filter(|message| !message.is_empty()) {
        Some(message) => format!("{words} {message}"),
        None => words.to_owned(),
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
            ApprovalInput::Refused(record) => self.end_question(None, record),
            ApprovalInput::NotKept(rule, why) => {
                let message = format!("the rule {rule} counts only until the end: {why}");
                self.outbox.tell(Event::Notice { code: NoticeCode::ApprovalNotKept, message, entry_id: None });
            }
            // The mode has changed while the call ran, or before its question arrived.
            ApprovalInput::Question(question) if question.mode != self.setup.permissions.mode => {
                drop(question.answer.send(Verdict::DecideAgain(Box::new(self.ground()))));
            }
            ApprovalInput::Question(question) => {
                self.approvals.questions.push_back(*question);
                if self.approvals.questions.len() == 1 {
                    self.ask_next();
                }
            }
        }
    }

    /// Whether a question of the agent's own is open.
    pub(super) fn is_asking(&self) -> bool {
        !self.approvals.questions.is_empty()
    }

    /// The number of a question that is about to be asked.
    pub(super) fn next_question(&mut self) -> u64 {
        self.approvals.id += 1;
        self.approvals.id
    }

    /// Asks the first question. One that a rule has answered meanwhile is not asked, and none where nobody listens.
    pub(super) fn ask_next(&mut self) {
        if self.is_child_asking() {
            return;
        }
        let has_listeners = self.outbox.has_listeners();
        while let Some(question) = self.approvals.questions.pop_front() {
            if !has_listeners {
                drop(question.answer.send(Verdict::Unheard));
            } else if question.subject.offers.iter().any(|rule| self.approvals.granted.contains(rule)) {
                drop(question.answer.send(Verdict::Allowed));
            } else {
                self.approvals.questions.push_front(question);
                break;
            }
        }
        let Some(question) = self.approvals.questions.front() else { return self.ask_next_of_children() };
        self.approvals.id += 1;
        let Call { id, name, arguments } = question.call.clone();
        let subject = &question.subject;
        let mut options = vec![subject.once];
        if subject.grant.is_some() {
            options.extend([ApprovalDecision::AllowSession, ApprovalDecision::AllowAlways]);
        }
        options.push(ApprovalDecision::Reject);
        let request = Event::ApprovalRequest {
            id: self.approvals.id,
            tool_call_id: id,
            tool_name: name,
            args: arguments,
            tier: subject.tier,
            reason: subject.reason.clone(),
            diff: subject.diff.clone(),
            rule: subject.grant.as_ref().map(ToString::to_string),
            rules: subject.offers.iter().map(offered).collect(),
            options,
            waiting: match subject.once {
                // The calls before it run already.
                ApprovalDecision::OnceUnsandboxed => self.approvals.questions.len() - 1,
                // The calls after it are not judged yet.
                _ => self.state.calls_after(question.place.index),
            },
            following: subject.following.clone(),
        };
        self.outbox.tell(request);
    }

    /// Applies a front end's answer. The first one wins.
    pub(super) fn approve(&mut self, answer: Approve, reply: ReplyTo<()>) {
        let Some((answer, reply)) = self.approve_for_child(answer, reply) else { return };
        let Approve { id, decision, message, rule, scope } = answer;
        if id != self.approvals.id || self.approvals.questions.is_empty() {
            return reply.refuse(AgentError::Busy("the question was answered already"));
        }
        let offers = self.approvals.questions.front().map(|question| question.subject.offers.as_slice());
        let named = rule.map(|text| offers.unwrap_or_default().iter().find(|rule| rule.to_string() == text).cloned());
        let Some(question) = (named != Some(None)).then(|| self.approvals.questions.pop_front()).flatten() else {
            return reply.refuse(AgentError::Busy("the rule is not one of those that the question offers"));
        };
        let chosen = named.flatten().or(question.subject.grant);
        // Without a rule there is nothing to remember.
        let (outcome, rule) = match (decision, chosen) {
            (ApprovalDecision::Reject, _) => (ApprovalOutcome::Reject, None),
            _ if question.subject.once == ApprovalDecision::OnceUnsandboxed => (ApprovalOutcome::OnceUnsandboxed, None),
            (ApprovalDecision::AllowSession, Some(rule)) => (ApprovalOutcome::AllowSession, Some(rule)),
            (ApprovalDecision::AllowAlways, Some(rule)) if scope == Some(ApprovalScope::Session) => {
                (ApprovalOutcome::AllowSession, Some(rule))
            }
            (ApprovalDecision::AllowAlways, Some(rule)) => (ApprovalOutcome::AllowAlways, Some(rule)),
            _ => (ApprovalOutcome::AllowOnce, None),
        };
        let verdict = match (outcome, rule.clone()) {
            (ApprovalOutcome::Reject, _) => Verdict::Rejected(message.map(|text| self.redactor.redact_text(text))),
            (ApprovalOutcome::AllowAlways, Some(rule)) => {
                Verdict::AllowedAlways(rule, scope.unwrap_or(ApprovalScope::Everywhere))
            }
            _ => Verdict::Allowed,
        };
        let (tool_call_id, text) = (question.call.id, rule.as_ref().map(ToString::to_string));
        let is_of_project = outcome == ApprovalOutcome::AllowAlways && scope == Some(ApprovalScope::Project);
        let scope = is_of_project.then_some(ApprovalScope::Project);
        let record = ApprovalRecord { tool_call_id, decision: outcome, by: ApprovedBy::User, rule: text, scope };
        self.approvals.granted.extend(rule);
        self.end_question(Some(id), record);
        drop(question.answer.send(verdict));
        reply.answer(());
        self.ask_next();
    }

    /// The call has ended: nobody needs to answer any more.
    pub(super) fn close_question(&mut self, place: CallPlace) {
        let Some(at) = self.approvals.questions.iter().position(|question| question.place == place) else { return };
        let Some(question) = self.approvals.questions.remove(at) else { return };
        if at == 0 {
            self.take_back(question);
            self.ask_next();
        }
    }

    /// Everything was stopped.
    pub(super) fn drop_questions(&mut self) {
        let asked = self.approvals.questions.pop_front();
        self.approvals.questions.clear();
        asked.into_iter().for_each(|question| self.take_back(question));
    }

    fn take_back(&mut self, question: Question) {
        let (tool_call_id, decision) = (question.call.id, ApprovalOutcome::Stopped);
        let record = ApprovalRecord { tool_call_id, decision, by: ApprovedBy::User, rule: None, scope: None };
        self.outbox.tell(Event::ApprovalEnd { id: Some(self.approvals.id), record });
    }

    pub(super) fn set_approval(&mut self, mode: ApprovalMode, reply: ReplyTo<()>) {
        if std::mem::replace(&mut self.setup.permissions.mode, mode) != mode {
            self.outbox.tell(Event::ApprovalModeChanged { mode });
        }
        self.leaves_out_changes &= mode == ApprovalMode::ReadOnly;
        self.limit_extensions();
        reply.answer(());
        self.decide_again();
    }

    fn ground(&self) -> DecisionGround {
        DecisionGround { permissions: self.permissions(), sandbox: self.setup.tool_context.sandbox.clone() }
    }

    /// Decides open questions by the permissions and the sandbox of now.
    pub(super) fn decide_again(&mut self) {
        let now = self.ground();
        let open = std::mem::take(&mut self.approvals.questions);
        for (at, mut question) in open.into_iter().enumerate() {
            let (unheard, _) = oneshot::channel();
            let answer = std::mem::replace(&mut question.answer, unheard);
            if at == 0 {
                self.take_back(question);
            }
            drop(answer.send(Verdict::DecideAgain(Box::new(now.clone()))));
        }
    }

    /// Tells people, and those who look back; the model does not see it.
    fn end_question(&mut self, id: Option<u64>, record: ApprovalRecord) {
        let data = serde_json::to_string(&record).unwrap_or_default();
        self.write(Vec::new(), WriteOf::Beside("the answer to a question of approval"), move |owned| {
            let data = Json::parse(&data).map_err(|error| format!("could not write an approval: {error}"))?;
            owned.append(&[NewEntry::custom(RECORD, Some(data))]).map(|_| None)
        });
        self.outbox.tell(Event::ApprovalEnd { id, record });
    }
}
