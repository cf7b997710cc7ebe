//! What a tool can have of the conversation that its call belongs to: the todo list of the branch, a person to ask, and who starts
//! agents. Knows no session and no front end; whoever runs the calls makes the link.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::args;
use super::background::BackgroundCommands;
use offshoot_protocol::{ApprovalMode, Form, FormAnswer};
use offshoot_session::todo::TodoList;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::{Mutex, MutexGuard, oneshot};

use super::{Running, ToolOutcome};

/// What is read of the session.
pub type ReadList = Pin<Box<dyn Future<Output = Result<TodoList, String>> + Send>>;

/// What a call of the tool `task` asks for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TaskCall {
    /// For all of them.
    pub context: Option<String>,
    /// At least one.
    pub tasks: Vec<TaskOrder>,
    /// Whether the agents go on after the answer to the call, where they can.
    pub background: bool,
}

/// One agent that is asked for. What is missing comes from its definition, then from the agent that starts it.
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct TaskOrder {
    pub task: String,
    pub name: Option<String>,
    pub agent: Option<String>,
    pub model: Option<String>,
    pub thinking: Option<String>,
    pub limits: TaskLimits,
    /// A JSON schema that its last answer must fit.
    pub output_schema: Option<serde_json::Value>,
    /// Whether it begins with the conversation up to the call.
    pub fork: bool,
}

/// What a task may use, with all that it starts. `None`: no limit of its own. The same JSON is in calls and in the first entry of a
/// child's file.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names say what they are")]
#[serde(default)]
pub struct TaskLimits {
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "amount")]
    pub usd: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "args::whole")]
    pub tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "args::whole")]
    pub requests: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "args::whole")]
    pub seconds: Option<u64>,
}

/// A limit that is not a positive number allows nothing.
fn amount<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    Ok(args::number(from)?.map(|amount| if amount > 0.0 { amount } else { 0.0 }))
}

/// Starts agents for one call.
pub trait TaskRunner: Send + Sync {
    /// Ends when all have ended. Dropping this stops them.
    fn run(&self, call: TaskCall, partial: UnboundedSender<ToolOutcome>) -> Running;
}

/// The link from a call to its conversation; without one there is none.
#[derive(Clone, Default)]
pub struct ConversationLink {
    lists: Option<TodoLists>,
    asker: Option<FormAsker>,
    tasks: Option<Arc<dyn TaskRunner>>,
    background: Option<BackgroundCommands>,
    plans: Option<PlanKeeper>,
}

impl fmt::Debug for ConversationLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConversationLink")
    }
}

impl ConversationLink {
    /// A link to a list, and to somebody who can be asked.
    #[must_use]
    pub fn new(lists: TodoLists, asker: Option<FormAsker>) -> Self {
        Self { lists: Some(lists), asker, ..Self::default() }
    }

    /// With commands that run beside the conversation.
    #[must_use]
    pub fn with_background(self, background: BackgroundCommands) -> Self {
        Self { background: Some(background), ..self }
    }

    /// With somebody who keeps accepted plans.
    #[must_use]
    pub fn with_plans(self, plans: PlanKeeper) -> Self {
        Self { plans: Some(plans), ..self }
    }

    pub(super) fn plans(&self) -> Option<&PlanKeeper> {
        self.plans.as_ref()
    }

    pub(super) fn background(&self) -> Option<&BackgroundCommands> {
        self.background.as_ref()
    }

    pub(super) fn todo_lists(&self) -> Option<&TodoLists> {
        self.lists.as_ref()
    }

    /// A link to somebody who can be asked, alone.
    pub(crate) fn of_asker(asker: Option<FormAsker>) -> Self {
        Self { asker, ..Self::default() }
    }

    /// Asks the person in the name of a child.
    pub(crate) fn asker_for(&self, child: &str) -> Option<FormAsker> {
        self.asker.as_ref().map(|asker| asker.for_child(child))
    }

    /// The same with somebody who starts agents for the call.
    #[must_use]
    pub fn with_tasks(self, tasks: Option<Arc<dyn TaskRunner>>) -> Self {
        Self { tasks, ..self }
    }

    pub(super) fn tasks(&self) -> Option<&Arc<dyn TaskRunner>> {
        self.tasks.as_ref()
    }

    pub(super) fn asker(&self) -> Option<&FormAsker> {
        self.asker.as_ref()
    }
}

/// The todo list that the calls of one answer share: a call finds what the one before it has left.
#[derive(Clone)]
pub struct TodoLists {
    current: Arc<Mutex<Option<TodoList>>>,
    read: Arc<dyn Fn() -> ReadList + Send + Sync>,
}

impl TodoLists {
    /// `read` gives the list of the branch as the session has it.
    pub fn new(read: impl Fn() -> ReadList + Send + Sync + 'static) -> Self {
        Self { current: Arc::default(), read: Arc::new(read) }
    }

    /// Calls get it in the order in which they began.
    pub(super) async fn lock(&self) -> MutexGuard<'_, Option<TodoList>> {
        self.current.lock().await
    }

    /// The list of now.
    ///
    /// # Errors
    /// The session cannot be read.
    pub(super) async fn current<'a>(&self, kept: &'a mut Option<TodoList>) -> Result<&'a TodoList, String> {
        let list = match kept.take() {
            Some(list) => list,
            None => (self.read)().await?,
        };
        Ok(kept.insert(list))
    }
}

/// A plan that the person has accepted, and the mode in which the work begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedPlan {
    /// The model's words.
    pub markdown: String,
    /// Chosen by the person.
    pub mode: ApprovalMode,
}

/// Keeps the plans that the person accepts.
#[derive(Clone)]
pub struct PlanKeeper {
    is_planning: bool,
    accept: Arc<dyn Fn(AcceptedPlan, oneshot::Sender<()>) + Send + Sync>,
}

impl PlanKeeper {
    /// `is_planning`: whether the approval mode is `plan` when the call begins. `accept` answers when the mode has changed and the plan
    /// waits to be written.
    pub fn new(is_planning: bool, accept: impl Fn(AcceptedPlan, oneshot::Sender<()>) + Send + Sync + 'static) -> Self {
        Self { is_planning, accept: Arc::new(accept) }
    }

    pub(super) fn is_planning(&self) -> bool {
        self.is_planning
    }

    /// # Errors
    /// The agent has ended, in words.
    pub(super) async fn accept(&self, plan: AcceptedPlan) -> Result<(), String> {
        let (kept, is_kept) = oneshot::channel();
        (self.accept)(plan, kept);
        is_kept.await.map_err(|_ended| "the agent has ended".to_owned())
    }
}

/// What reaches whoever talks to the person.
#[derive(Debug)]
pub enum FormMessage {
    /// The number names the question in what follows.
    Ask(u64, Form, oneshot::Sender<FormAnswer>),
    /// Nobody waits for the answer any more.
    Withdraw(u64),
}

/// Asks the person. Anybody may have one; each question gets a number of its own.
#[derive(Clone)]
pub struct FormAsker {
    send: Arc<dyn Fn(FormMessage) + Send + Sync>,
    next: Arc<AtomicU64>,
}

impl fmt::Debug for FormAsker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FormAsker")
    }
}

impl FormAsker {
    /// Questions go to `send`.
    pub fn new(send: impl Fn(FormMessage) + Send + Sync + 'static) -> Self {
        Self { send: Arc::new(send), next: Arc::new(AtomicU64::new(1)) }
    }

    /// Asks in the name of a child, with numbers of the same row.
    fn for_child(&self, child: &str) -> Self {
        let (send, child) = (Arc::clone(&self.send), child.to_owned());
        let send = move |message: FormMessage| {
            send(match message {
                FormMessage::Ask(id, form, answer) => FormMessage::Ask(id, named(form, &child), answer),
                FormMessage::Withdraw(id) => FormMessage::Withdraw(id),
            });
        };
        Self { send: Arc::new(send), next: Arc::clone(&self.next) }
    }

    /// Waits for the answer. Dropping this takes the question back. Where nobody can be asked, it is [`FormAnswer::Cancel`].
    pub async fn ask(&self, form: Form) -> FormAnswer {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        let waiting = WaitingForm { asker: self, id };
        (self.send)(FormMessage::Ask(id, form, answer));
        let answer = answered.await.unwrap_or(FormAnswer::Cancel);
        drop(waiting);
        answer
    }
}

fn named(form: Form, child: &str) -> Form {
    let message = match form.message {
        Some(message) if message.starts_with(ASKS) => message,
        Some(message) => format!("{ASKS}{child} asks: {message}"),
        None => format!("{ASKS}{child} asks"),
    };
    Form { message: Some(message), ..form }
}

/// The beginning of a child's question.
const ASKS: &str = "The agent ";

struct WaitingForm<'a> {
    asker: &'a FormAsker,
    id: u64,
}

impl Drop for WaitingForm<'_> {
    fn drop(&mut self) {
        (self.asker.send)(FormMessage::Withdraw(self.id));
    }
}
