//! What a front end asks of an agent: each request with its own reply, and the queue in which they reach the agent's loop. Knows
//! no front end.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use offshoot_protocol::message::{Block, Content, CustomMessage};
use offshoot_protocol::{
    AgentError, ApprovalDecision, ApprovalMode, BashResult, CompactionResult, QueueMode, ThinkingLevel,
};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use self::WhileBusy::{Begins, Refused, StopsAll, StopsTurn};
use crate::limits::Limits;
use crate::operate::Steps;
use crate::provider::Model;
use crate::resources::SharedResources;
use crate::setup::{ReloadedSetup, Rules};
use crate::tool::{Tool, ToolContext, ToolOutcome, ToolSource};
use crate::turn::{Call, Settled};

/// What happens to a request during a turn or a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhileBusy {
    /// It begins at once.
    Begins,
    /// It is refused, with these words during a turn.
    Refused(&'static str),
    /// What is running is stopped first.
    StopsTurn,
    /// Also stops the user's shell command: both are recorded in the session that is left.
    StopsAll,
}

/// A request to an agent.
pub trait AgentRequest: Sized + Send + 'static {
    /// What it is answered with.
    type Reply: Send + 'static;

    /// What happens to it during a turn or a job.
    fn while_busy(&self) -> WhileBusy;

    /// Makes it ready for the agent's queue.
    fn asked(self, reply: ReplyTo<Self::Reply>) -> Asked;
}

/// Answers one request, once.
#[derive(Debug)]
pub struct ReplyTo<T>(oneshot::Sender<Result<T, AgentError>>);

/// A reply that waits for events before it.
pub(crate) type PendingReply = Box<dyn FnOnce() + Send>;

impl<T: Send + 'static> ReplyTo<T> {
    pub(crate) fn channel() -> (Self, oneshot::Receiver<Result<T, AgentError>>) {
        let (reply, replied) = oneshot::channel();
        (Self(reply), replied)
    }

    pub(crate) fn send(self, result: Result<T, AgentError>) {
        // The caller may have stopped waiting.
        drop(self.0.send(result));
    }

    pub(crate) fn answer(self, with: T) {
        self.send(Ok(with));
    }

    pub(crate) fn refuse(self, why: AgentError) {
        self.send(Err(why));
    }

    pub(crate) fn later(self, result: Result<T, AgentError>) -> PendingReply {
        Box::new(move || self.send(result))
    }

    /// Until nobody waits for the reply.
    pub(crate) async fn closed(&mut self) {
        self.0.closed().await;
    }
}

/// Defines requests with their replies, and what happens to each during a turn; then the queue of all, which also has those whose
/// parts cannot be compared.
macro_rules! requests {
    (@define [$($meta:tt)*] $name:ident ($inner:ty)) => { $($meta)* pub struct $name(pub $inner); };
    (@define [$($meta:tt)*] $name:ident $fields:tt) => { $($meta)* pub struct $name $fields };
    (@define [$($meta:tt)*] $name:ident) => { $($meta)* pub struct $name; };
    (
        by_hand: $($by_hand:ident),*;
        $(
            $(#[$doc:meta])*
            $name:ident $(($inner:ty))? $({ $($field:ident: $type:ty),+ })? -> $reply:ty, $busy:expr;
        )*
    ) => {
        $(
            requests! {
                @define
                [
                    $(#[$doc])*
                    #[derive(Debug, Clone, PartialEq)]
                ]
                $name $(($inner))? $({ $(#[expect(missing_docs, reason = "the name says what it is")] pub $field: $type),+ })?
            }

            impl AgentRequest for $name {
                type Reply = $reply;

                fn while_busy(&self) -> WhileBusy {
                    $busy
                }

                fn asked(self, reply: ReplyTo<Self::Reply>) -> Asked {
                    Asked::$name(self, reply)
                }
            }
        )*

        /// A request in the agent's queue, with the only reply that it can have.
        #[derive(Debug)]
        #[expect(missing_docs, reason = "each is the request of its name")]
        pub enum Asked {
            $($name($name, ReplyTo<<$name as AgentRequest>::Reply>),)*
            $($by_hand($by_hand, ReplyTo<<$by_hand as AgentRequest>::Reply>),)*
        }

        impl Asked {
            pub(crate) fn while_busy(&self) -> WhileBusy {
                match self {
                    $(Self::$name(request, _) => request.while_busy(),)*
                    $(Self::$by_hand(request, _) => request.while_busy(),)*
                }
            }

            pub(crate) fn refuse(self, why: AgentError) {
                match self {
                    $(Self::$name(_, reply) => reply.refuse(why),)*
                    $(Self::$by_hand(_, reply) => reply.refuse(why),)*
                }
            }
        }
    };
}

requests! {
    by_hand: Operate, RunNested;
    /// Replied to when nothing continues by itself.
    Prompt(UserPrompt) -> Spoken<Settled>, Refused("the agent is at work: steer it, or say it as a follow-up");
    /// For the model after the current turn.
    Steer(UserPrompt) -> Spoken<()>, Begins;
    /// For the model when it would stop.
    FollowUp(UserPrompt) -> Spoken<()>, Begins;
    /// A message of an extension.
    Inject { message: CustomMessage, delivery: Delivery } -> (), Begins;
    /// What an extension says in the user's place. Neither skills nor templates are looked for.
    InjectUser { content: Content, delivery: Delivery } -> (), Begins;
    /// Data of an extension, which the model never sees; replied to with the entry's id. The data are JSON.
    AppendEntry { custom_type: String, data: Option<String> } -> String, Begins;
    /// The tools of a source, in place of all that it had before; an empty list removes the source. Tools of other sources
    /// stay. Which tool of a name is used says [`ToolSource`].
    SetTools { source: ToolSource, tools: ToolList } -> (), Begins;
    /// The names of the tools that the model gets.
    SetActiveTools(Vec<String>) -> (), Begins;
    /// Removes the queued messages.
    ClearQueue -> ClearedQueue, Begins;
    /// Stops everything; replied to when it has stopped.
    Abort -> Settled, Begins;
    /// Replied to when nothing is running.
    WaitForIdle -> Settled, Begins;
    /// Runs a command in the shell and records it.
    RunBash { command: String, exclude_from_context: bool } -> Arc<BashResult>, Begins;
    /// Stops the running shell command.
    AbortBash -> (), Begins;
    /// Compacts the session, with these instructions.
    Compact(Option<String>) -> Arc<CompactionResult>, StopsTurn;
    /// Starts another session, whose header names the parent's file.
    StartSession { parent: Option<String> } -> Forked, StopsAll;
    /// Opens an existing session file. The folder is the session's or that of the start; without one only the session's counts,
    /// and only at or below that of the start: see [`crate::WorkFolders`].
    SwitchSession { file: PathBuf, folder: Option<PathBuf> } -> Forked, StopsAll;
    /// Starts a session with the path before a user message.
    Fork { entry: String } -> Forked, StopsAll;
    /// Starts a session with the path up to this entry.
    ForkAt { entry: String } -> Forked, StopsAll;
    /// Starts a session with the path to the leaf.
    CloneSession -> Forked, StopsAll;
    /// Changes a session that an extension prepares into another; extensions are not asked and hear nothing.
    PrepareSession(PreparedSession) -> Forked, StopsAll;
    /// From the next request on.
    SetModel(Arc<Model>) -> (), Begins;
    /// From the next request on; replied to with the level in effect, clamped to the model.
    SetThinkingLevel(ThinkingLevel) -> ThinkingLevel, Begins;
    /// How many steering messages are sent at once.
    SetSteeringMode(QueueMode) -> (), Begins;
    /// How many follow-up messages are sent at once.
    SetFollowUpMode(QueueMode) -> (), Begins;
    /// Compact automatically near the limit.
    SetAutoCompaction(bool) -> (), Begins;
    /// Retry failed requests.
    SetAutoRetry(bool) -> (), Begins;
    /// Replaces the settings of retries and compactions.
    SetRules(Box<Rules>) -> (), Begins;
    /// From the next request on.
    SetSystemPrompt(String) -> (), Begins;
    /// Replaces the skills and prompt templates, from the next prompt on.
    SetResources(SharedResources) -> (), Begins;
    /// Replaces what the start has read of settings, keys and resources. The model, the thinking level, the approval mode and
    /// the allowed calls of this run stay.
    Reload(ReloadedSetup) -> (), Refused("the agent is at work: reload when it has finished");
    /// Answers an [`offshoot_protocol::Event::ApprovalRequest`]. The model sees the message of a rejection.
    Approve { id: u64, decision: ApprovalDecision, message: Option<String> } -> (), Begins;
    /// From the next call on.
    SetApproval(ApprovalMode) -> (), Begins;
    /// A tool of offshoot's own by its name, for an extension that wraps it. `None`: offshoot has no tool of this name.
    BuiltIn(String) -> Option<BuiltInTool>, Begins;
    /// Returns the agent's state.
    Inspect -> Standing, Begins;
}

/// Runs an operation on the session of an agent; replied to when it has its outcome, which goes to whoever began it.
pub struct Operate {
    pub(crate) steps: Box<dyn Steps>,
    while_busy: WhileBusy,
}

impl Operate {
    /// With `refused_at_work` it needs an agent that does nothing else, and is refused during a turn with these words; without
    /// it begins at once, and asks no model.
    pub fn new(steps: Box<dyn Steps>, refused_at_work: Option<&'static str>) -> Self {
        Self { steps, while_busy: refused_at_work.map_or(Begins, Refused) }
    }

    /// Its steps, for who holds a session without an agent.
    #[must_use]
    pub fn into_steps(self) -> Box<dyn Steps> {
        self.steps
    }
}

impl fmt::Debug for Operate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operate").field("while_busy", &self.while_busy).finish_non_exhaustive()
    }
}

impl AgentRequest for Operate {
    type Reply = ();

    fn while_busy(&self) -> WhileBusy {
        self.while_busy
    }

    fn asked(self, reply: ReplyTo<Self::Reply>) -> Asked {
        Asked::Operate(self, reply)
    }
}

/// What came of a text that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spoken<T> {
    /// An extension dealt with it: the model does not get it.
    Handled,
    /// The agent took it.
    Taken(T),
}

/// The texts that waited.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ClearedQueue {
    pub steering: Vec<String>,
    pub follow_up: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct UserPrompt {
    /// Files and piped input, sent before the text.
    pub before: String,
    /// As it was typed: it may call a skill or a template.
    pub text: String,
    pub images: Vec<Block>,
}

impl UserPrompt {
    /// The files and the piped input, then the text as it was typed.
    pub fn with_files(&self) -> String {
        joined(&self.before, &self.text)
    }
}

/// What is sent when files come before a text.
pub(crate) fn joined(before: &str, text: &str) -> String {
    [before, text].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

impl From<&str> for UserPrompt {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<String> for UserPrompt {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

/// Tools. Two lists are equal if they are the same one.
#[derive(Clone)]
pub struct ToolList(pub Arc<[Arc<dyn Tool>]>);

impl fmt::Debug for ToolList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|tool| tool.name())).finish()
    }
}

impl PartialEq for ToolList {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A tool of offshoot's own, and where it works.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct BuiltInTool {
    /// Only this one.
    pub tool: ToolList,
    pub place: Arc<ToolContext>,
}

/// Runs a call that a running tool makes, as one of the model: replied to with its outcome. Who no longer waits for the reply
/// stops it.
#[derive(Debug)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct RunNested {
    /// The id of the call whose tool makes it.
    pub parent: String,
    pub call: Call,
    /// Gets the partial outcomes.
    pub steps: UnboundedSender<ToolOutcome>,
}

impl AgentRequest for RunNested {
    type Reply = ToolOutcome;

    fn while_busy(&self) -> WhileBusy {
        Begins
    }

    fn asked(self, reply: ReplyTo<Self::Reply>) -> Asked {
        Asked::RunNested(self, reply)
    }
}

/// When a message of an extension is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// Between two turns at once, during a run after the current turn. Starts no run.
    Add,
    /// Starts a run; during one as a steering message.
    Steer,
    /// Starts a run; during one when the model would stop.
    FollowUp,
    /// With the next prompt.
    NextPrompt,
}

/// What an extension makes of a session that it prepares.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum PreparedSession {
    /// Without an id it gets a new one. The header names the parent's file.
    New { id: Option<String>, parent: Option<String> },
    /// The session in this file, or a new one there.
    File(PathBuf),
    /// A session with the path to an entry. It keeps its name.
    Path { leaf: String },
}

/// A session that was opened or started in place of another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Forked {
    /// The text of the user message before which it was forked.
    pub text: Option<String>,
    pub session_id: String,
    pub file: Option<PathBuf>,
}

/// The agent's state.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Standing {
    pub model: Arc<Model>,
    pub thinking: ThinkingLevel,
    pub is_streaming: bool,
    /// How many runs have ended, and how the last one did; `Done` before the first.
    pub settled: (u64, Settled),
    /// Whether a compaction or a move in the tree is running.
    pub is_at_a_job: bool,
    /// Queued for after the current turn.
    pub steering: Vec<String>,
    /// Queued for when the agent would stop.
    pub follow_up: Vec<String>,
    pub system: String,
    /// The tokens of the system prompt and the tools.
    pub overhead: u64,
    /// The skills and prompt templates of the session's folder. Reading them may wait for their search.
    pub resources: SharedResources,
    /// All that there are.
    pub tools: ToolList,
    /// The names of those that the model gets.
    pub active_tools: Vec<String>,
    pub steering_mode: QueueMode,
    pub follow_up_mode: QueueMode,
    pub auto_compaction: bool,
    pub approval: ApprovalMode,
    /// Of agents that extensions start.
    pub limits: Limits,
    /// Tokens of the window that a branch summary leaves free.
    pub branch_reserve: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operate::{AfterPlan, PlanAnswer, PresentModel};
    use offshoot_session::session::Session;

    struct NoSteps;

    impl Steps for NoSteps {
        fn plan(&mut self, _: &Session, _: Option<&PresentModel>) -> AfterPlan {
            AfterPlan::End
        }

        fn answered(&mut self, _: &Session, _: PlanAnswer) -> bool {
            false
        }

        fn write(&mut self, _: &mut Session) {}

        fn tell(&mut self, _: &Session) {}
    }

    /// A request in the queue has what happens to it, and its refusal reaches its caller and nobody else.
    fn refused<R: AgentRequest>(request: R) -> (WhileBusy, AgentError)
    where
        R::Reply: std::fmt::Debug,
    {
        let (reply, mut replied) = ReplyTo::channel();
        let asked = request.asked(reply);
        let while_busy = asked.while_busy();
        asked.refuse(AgentError::Ended);
        (while_busy, replied.try_recv().unwrap().unwrap_err())
    }

    #[test]
    fn a_request_keeps_its_rule_and_its_caller_in_the_queue() {
        let operate = |why| Operate::new(Box::new(NoSteps), why);
        let all = [
            (refused(Inspect), Begins),
            (refused(Steer("x".into())), Begins),
            (refused(operate(None)), Begins),
            (refused(operate(Some("at work"))), Refused("at work")),
            (refused(Prompt("x".into())), Refused("the agent is at work: steer it, or say it as a follow-up")),
            (refused(Compact(None)), StopsTurn),
            (refused(StartSession { parent: None }), StopsAll),
            (refused(SwitchSession { file: "f".into(), folder: None }), StopsAll),
            (refused(Fork { entry: "e".into() }), StopsAll),
            (refused(ForkAt { entry: "e".into() }), StopsAll),
            (refused(CloneSession), StopsAll),
            (refused(PrepareSession(PreparedSession::Path { leaf: "e".into() })), StopsAll),
        ];
        for ((while_busy, why), wanted) in all {
            assert_eq!((while_busy, why), (wanted, AgentError::Ended));
        }
    }
}
