//! The queue in which requests reach the agent's loop, each with its caller, and the requests that are more than values: they
//! have tools, code or what was read of files. Knows no front end.

use std::fmt;
use std::sync::Arc;

use offshoot_protocol::model::Model;
use offshoot_protocol::request::WhileBusy::{Begins, Refused};
use offshoot_protocol::request::{
    Abort, AbortBash, AgentRequest, AnswerForm, AppendEntry, Approve, Children, ClearQueue, CloneSession, Compact,
    FollowUp, Fork, ForkAt, Inject, InjectUser, PrepareSession, Prompt, RunBash, SetActiveTools, SetApproval,
    SetAutoCompaction, SetAutoRetry, SetFollowUpMode, SetModel, SetRunSettings, SetSteeringMode, SetSystemPrompt,
    SetThinkingLevel, Spoken, StartSession, Steer, StopBackground, SwitchSession, ToChild, WaitForIdle, WhileBusy,
};
use offshoot_protocol::{AgentError, ApprovalMode, QueueMode, Settled, ThinkingLevel, requests};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use crate::approval::Rule;
use crate::limits::Limits;
use crate::operate::Steps;
use crate::resources::SharedResources;
use crate::sandbox::{Sandbox, SandboxReport};
use crate::setup::ReloadedSetup;
use crate::tool::{Tool, ToolContext, ToolOutcome, ToolSource};
use crate::turn::Call;

/// A request that has a place in the queue.
pub trait Askable: AgentRequest {
    /// Makes it ready for the queue.
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

/// The queue's requests.
macro_rules! asked {
    ($($name:ident),* $(,)?) => {
        $(
            impl Askable for $name {
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
        }

        impl Asked {
            pub(crate) fn while_busy(&self) -> WhileBusy {
                match self {
                    $(Self::$name(request, _) => request.while_busy(),)*
                }
            }

            pub(crate) fn refuse(self, why: AgentError) {
                match self {
                    $(Self::$name(_, reply) => reply.refuse(why),)*
                }
            }
        }
    };
}

asked! {
    Prompt, Steer, FollowUp, Inject, InjectUser, AppendEntry, SetTools, SetActiveTools, ClearQueue, Abort, WaitForIdle, RunBash, AbortBash, Compact, StartSession, SwitchSession, Fork, ForkAt, CloneSession, PrepareSession, SetModel, SetThinkingLevel, SetSteeringMode, SetFollowUpMode, SetAutoCompaction, SetAutoRetry, SetRunSettings, SetSystemPrompt, SetResources, Reload, Approve, AnswerForm, StopBackground, SetApproval, SetSandbox, BuiltIn, Inspect, Operate, RunNested, Continue, Children, ToChild,
}

requests! {
    /// The tools of a source, in place of all that it had before; an empty list removes the source. Tools of other sources
    /// stay. Which tool of a name is used says [`ToolSource`].
    SetTools { source: ToolSource, tools: ToolList } -> (), Begins;
    /// Replaces the skills and prompt templates, from the next prompt on.
    SetResources(SharedResources) -> (), Begins;
    /// Replaces what the start has read of settings, keys and resources. The model, the thinking level, the approval mode and
    /// the allowed calls of this run stay.
    Reload(ReloadedSetup) -> (), Refused("the agent is at work: reload when it has finished");
    /// Replaces or removes the sandbox from the next call on, and decides open questions again. The next prompt informs the model.
    SetSandbox(NextSandbox) -> (), Begins;
    /// A tool of offshoot's own by its name, for an extension that wraps it. `None`: offshoot has no tool of this name.
    BuiltIn(String) -> Option<BuiltInTool>, Begins;
    /// Goes on where the session stands, as the agent would have if its program had not ended. Replied to when nothing continues by itself.
    Continue -> Spoken<Settled>, Refused("the agent is at work");
    /// Returns the agent's state.
    Inspect -> AgentState, Begins;
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
}

/// A sandbox that was set up, or none. Two are equal if they are the same one.
#[derive(Debug, Clone)]
pub struct NextSandbox(pub Option<Arc<Sandbox>>);

impl PartialEq for NextSandbox {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
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
}

/// The agent's state.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct AgentState {
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
    /// The rules that were allowed in this run, also those that are kept.
    pub granted: Vec<Rule>,
    /// `None`: commands run without one.
    pub sandbox: Option<SandboxReport>,
    /// Of agents that extensions start.
    pub limits: Limits,
    /// Tokens of the window that a branch summary leaves free.
    pub branch_reserve: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operate::{AfterPlan, PlanAnswer, PresentModel};
    use offshoot_protocol::request::PreparedSession;
    use offshoot_protocol::request::WhileBusy::{StopsAll, StopsTurn};
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
    fn refused<R: Askable>(request: R) -> (WhileBusy, AgentError)
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
            (refused(Fork { entry: "e".into(), files: offshoot_protocol::FilesAlong::Stay }), StopsAll),
            (refused(ForkAt { entry: "e".into() }), StopsAll),
            (refused(CloneSession), StopsAll),
            (refused(PrepareSession(PreparedSession::Path { leaf: "e".into() })), StopsAll),
        ];
        for ((while_busy, why), wanted) in all {
            assert_eq!((while_busy, why), (wanted, AgentError::Ended));
        }
    }
}
