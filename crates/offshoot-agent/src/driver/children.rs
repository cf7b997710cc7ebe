//! The children of the agent: the tasks that run them, what front ends are told of them, and their questions, which the person is asked
//! in this agent's name.

mod made;
mod known;
mod report;
mod live_call;
mod caller;
mod fork;
mod child_run;
mod start;
mod call;
mod orders;
mod stays;
mod earlier;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use offshoot_protocol::request::Approve;
use offshoot_protocol::{AgentError, AgentEvent, AgentId, ApprovalDecision, ChildState, Event};
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinHandle;

use super::{Driver, DriverInput};
use crate::request_queue::{Askable as _, ReplyTo};
use crate::spending::Spending;
use crate::tool::{TASK_TOOL, TaskRunner};
use crate::turn::{Call, Ticket};
use caller::CallChildren;
pub(super) use earlier::untold_of_earlier;
use live_call::{CallGuard, LiveCall};
use orders::Reopening;
pub(super) use stays::{BACKGROUND, EndedChild, StayingChildren};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The beginning of a reason that names the child.
const ASKS: &str = "the agent ";

/// What the tasks of children tell.
pub(crate) enum ChildInput {
    /// A call has begun that may take what its children say until it ends.
    Call { id: String, live: Weak<LiveCall> },
    /// A task runs a child, from before its start to after its end.
    Spawned { id: String, spending: Spending, task: JoinHandle<()> },
    /// The children of a call go on after its answer. With the entry of the call.
    Stays { live: Box<CallGuard>, origin: Option<String> },
    /// A child that had ended does not run again.
    NotReopened(String),
    /// `child_start`, `child_update` or `child_end`.
    Stands(Box<Event>),
    /// It takes requests.
    Runs { id: String, to: UnboundedSender<DriverInput> },
    /// An event of the child itself.
    Told { id: String, told: AgentEvent },
    /// It takes no requests any more.
    Gone(String),
}

/// The children of a run of the program.
#[derive(Default)]
pub(super) struct Children {
    tasks: Vec<JoinHandle<()>>,
    states: BTreeMap<String, ChildState>,
    running: BTreeMap<String, UnboundedSender<DriverInput>>,
    accounts: BTreeMap<String, Spending>,
    reopening: Reopening,
    staying: Arc<Mutex<StayingChildren>>,
    /// Whether those have been looked for that an earlier program has left in the background of this session.
    has_looked: bool,
    questions: ChildQuestions,
}

impl Children {
    fn staying(&self) -> MutexGuard<'_, StayingChildren> {
        self.staying.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another session is open.
    pub(super) fn left_session(&mut self) {
        self.has_looked = false;
        self.accounts.clear();
    }

    /// Once for a session: the files of children that this program knows. Others were left in the background by an earlier one.
    pub(super) fn known_before_look(&mut self) -> Option<BTreeSet<String>> {
        let is_first = !std::mem::replace(&mut self.has_looked, true);
        is_first.then(|| self.states.values().filter_map(|state| state.file.clone()).collect())
    }

    /// The ids of those that run now.
    pub(super) fn running(&self) -> impl Iterator<Item = &String> {
        self.running.keys()
    }

    /// Those that go on beside the conversation.
    pub(super) fn in_background(&self) -> Arc<Mutex<StayingChildren>> {
        Arc::clone(&self.staying)
    }
}

/// Questions of children about their calls. One is open at a time, beside none of the agent's own.
#[derive(Default)]
struct ChildQuestions {
    waiting: VecDeque<ChildQuestion>,
    /// With the number by which front ends know it.
    open: Option<(u64, ChildQuestion)>,
}

struct ChildQuestion {
    child: String,
    /// The child's own number.
    id: u64,
    request: Event,
}

impl Driver {
    /// Who starts the agents of a call.
    pub(super) fn task_runner(&self, ticket: Ticket, call: &Call) -> Option<Arc<dyn TaskRunner>> {
        if call.name != TASK_TOOL {
            return None;
        }
        Some(Arc::new(self.call_children(call.id.clone(), self.resumed == Some(ticket))))
    }

    /// The agent's parts as they are now, for children of a call.
    fn call_children(&self, call_id: String, resumes: bool) -> CallChildren {
        let mut setup = self.setup.clone();
        setup.permissions = self.permissions();
        setup.tool_context.conversation = self.forms_for_children();
        CallChildren {
            setup,
            call_id,
            spending: self.spending.clone(),
            session: self.writer.handle().clone(),
            parent: self.own.clone(),
            resumes,
            // A child ends when it has answered, and so does a run that nobody can be asked in.
            stays: self.can_ask() && !self.setup.family.is_child(),
        }
    }

    pub(super) fn child(&mut self, input: ChildInput) {
        match input {
            ChildInput::Call { id, live } => self.children.reopening.call(id, live),
            ChildInput::Spawned { id, spending, task } => {
                self.children.tasks.retain(|task| !task.is_finished());
                self.children.tasks.push(task);
                self.children.accounts.insert(id, spending);
            }
            // Dropping it stops them.
            ChildInput::Stays { .. } if self.is_ending => {}
            ChildInput::Stays { live, origin } => self.children.staying().add(live, origin),
            ChildInput::NotReopened(id) => self.children.reopening.done(&id),
            ChildInput::Stands(event) => {
                if let Event::ChildStart { child: state }
                | Event::ChildUpdate { child: state }
                | Event::ChildEnd { child: state } = event.as_ref()
                {
                    self.children.states.insert(state.id.clone(), ChildState::clone(state));
                    self.children.reopening.done(&state.id);
                }
                let ended = match event.as_ref() {
                    Event::ChildEnd { child } => Some(ChildState::clone(child)),
                    _ => None,
                };
                self.outbox.tell(*event);
                ended.iter().for_each(|state| self.tell_of_staying(state));
            }
            ChildInput::Runs { id, to } => {
                self.files.agent_begins(&id);
                self.children.running.insert(id, to);
            }
            ChildInput::Told { id, told } => self.told_by_child(&id, &told),
            ChildInput::Gone(id) => {
                self.children.running.remove(&id);
                self.children.questions.waiting.retain(|question| question.child != id);
                if self.children.questions.open.as_ref().is_some_and(|(_, question)| question.child == id) {
                    self.children.questions.open = None;
                    self.ask_next_of_children();
                }
            }
        }
    }

    /// A child's questions and the states of its own children become events of this agent. The others go on as the child's.
    fn told_by_child(&mut self, child: &str, told: &AgentEvent) {
        if let AgentId::Child(_) = &told.agent {
            return self.outbox.tell_of_child(told);
        }
        match told.event.as_ref() {
            Event::ApprovalRequest { id, .. } => {
                let question = ChildQuestion { child: child.to_owned(), id: *id, request: Event::clone(&told.event) };
                self.children.questions.waiting.push_back(question);
                self.ask_next_of_children();
            }
            Event::ApprovalEnd { id: Some(id), record } => {
                let is_it = |question: &ChildQuestion| question.child == child && question.id == *id;
                self.children.questions.waiting.retain(|question| !is_it(question));
                if let Some((outer, _)) = self.children.questions.open.take_if(|(_, question)| is_it(question)) {
                    self.outbox.tell(Event::ApprovalEnd { id: Some(outer), record: record.clone() });
                    self.ask_next();
                    self.ask_next_of_children();
                }
            }
            Event::ChildStart { .. } | Event::ChildUpdate { .. } | Event::ChildEnd { .. } => {
                self.child(ChildInput::Stands(Box::new(Event::clone(&told.event))));
            }
            _ => {
                let event = Arc::clone(&told.event);
                self.outbox.tell_of_child(&AgentEvent { agent: AgentId::Child(child.into()), event });
            }
        }
    }

    /// Whether a child's question is open.
    pub(super) fn is_child_asking(&self) -> bool {
        self.children.questions.open.is_some()
    }

    /// Asks the next question of a child, if none is open.
    pub(super) fn ask_next_of_children(&mut self) {
        if self.is_child_asking() || self.is_asking() {
            return;
        }
        let Some(question) = self.children.questions.waiting.pop_front() else { return };
        let number = self.next_question();
        let mut request = question.request.clone();
        if let Event::ApprovalRequest { id, reason, waiting, .. } = &mut request {
            *id = number;
            if !reason.starts_with(ASKS) {
                *reason = format!("{ASKS}{} asks: {reason}", question.child);
            }
            *waiting = self.children.questions.waiting.len();
        }
        if self.outbox.has_listeners() {
            self.children.questions.open = Some((number, question));
            self.outbox.tell(request);
            return;
        }
        let message = Some("Nobody can be asked.".to_owned());
        let no = Approve { id: question.id, decision: ApprovalDecision::Reject, message, rule: None, scope: None };
        self.pass_to_child(&question.child, no, ReplyTo::channel().0);
        self.ask_next_of_children();
    }

    /// Passes the answer to a child's question on. Gives it back if it is for another question.
    pub(super) fn approve_for_child(&mut self, answer: Approve, reply: ReplyTo<()>) -> Option<(Approve, ReplyTo<()>)> {
        let open = self.children.questions.open.as_ref().filter(|(number, _)| *number == answer.id);
        let Some((child, id)) = open.map(|(_, question)| (question.child.clone(), question.id)) else {
            return Some((answer, reply));
        };
        self.pass_to_child(&child, Approve { id, ..answer }, reply);
        None
    }

    fn pass_to_child(&self, child: &str, answer: Approve, reply: ReplyTo<()>) {
        match self.children.running.get(child) {
            Some(to) => drop(to.send(DriverInput::Asked(answer.asked(reply)))),
            None => reply.refuse(AgentError::Busy("the agent that asked has ended")),
        }
    }

    pub(super) fn child_states(&self) -> Vec<ChildState> {
        self.children.states.values().cloned().collect()
    }

    /// The tasks of children, which end by themselves when what made them is dropped.
    pub(super) fn take_child_tasks(&mut self) -> Vec<JoinHandle<()>> {
        std::mem::take(&mut self.children.tasks)
    }
}
