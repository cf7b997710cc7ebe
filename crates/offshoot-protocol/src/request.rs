//! What a front end asks of an agent: each request with its only reply, and what happens to it during a turn. Values only: what
//! has tools or code in it the agent adds, by the same macro.

mod replies;
mod prompt;

use std::path::PathBuf;
use std::sync::Arc;

use self::WhileBusy::{Begins, Refused, StopsAll, StopsTurn};
use crate::approval::{ApprovalDecision, ApprovalMode, ApprovalScope};
use crate::bash_result::BashResult;
use crate::child::ChildState;
use crate::compaction::CompactionResult;
use crate::files_along::FilesAlong;
use crate::form::FormAnswer;
use crate::message::{Content, CustomMessage};
use crate::model::Model;
use crate::running::{QueueMode, RunSettings};
use crate::settled::Settled;
use crate::thinking::ThinkingLevel;

pub use prompt::{ChildOrder, Delivery, UserPrompt};
pub use replies::{ClearedQueue, Forked, PreparedSession, Spoken};

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
}

/// Defines requests, each with its reply and with what happens to it during a turn.
#[macro_export]
macro_rules! requests {
    (@define [$($meta:tt)*] $name:ident ($inner:ty)) => { $($meta)* pub struct $name(pub $inner); };
    (@define [$($meta:tt)*] $name:ident $fields:tt) => { $($meta)* pub struct $name $fields };
    (@define [$($meta:tt)*] $name:ident) => { $($meta)* pub struct $name; };
    ($(
        $(#[$doc:meta])*
        $name:ident $(($inner:ty))? $({ $($field:ident: $type:ty),+ })? -> $reply:ty, $busy:expr;
    )*) => { $(
        $crate::requests! {
            @define
            [
                $(#[$doc])*
                #[derive(Debug, Clone, PartialEq)]
            ]
            $name $(($inner))? $({ $(#[expect(missing_docs, reason = "the name says what it is")] pub $field: $type),+ })?
        }

        impl $crate::request::AgentRequest for $name {
            type Reply = $reply;

            fn while_busy(&self) -> $crate::request::WhileBusy {
                $busy
            }
        }
    )* };
}

requests! {
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
    /// and only at or below that of the start: a folder of work.
    SwitchSession { file: PathBuf, folder: Option<PathBuf> } -> Forked, StopsAll;
    /// Starts a session with the path before a user message, and the files as they were there if they come along.
    Fork { entry: String, files: FilesAlong } -> Forked, StopsAll;
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
    SetRunSettings(Box<RunSettings>) -> (), Begins;
    /// From the next request on.
    SetSystemPrompt(String) -> (), Begins;
    /// Answers an [`crate::Event::ApprovalRequest`]. The model sees the message of a rejection.
    /// `rule` is one of those that were offered, by default the narrowest; `scope` says where `allow_always` counts, by default everywhere.
    Approve { id: u64, decision: ApprovalDecision, message: Option<String>, rule: Option<String>, scope: Option<ApprovalScope> } -> (), Begins;
    /// Answers an [`crate::Event::QuestionRequest`]. An answer that does not fit is refused, and the question stays.
    AnswerForm { id: u64, answer: FormAnswer } -> (), Begins;
    /// Stops a command in the background, by its id; `None`: all of them. Whether it ran.
    StopBackground(Option<String>) -> bool, Begins;
    /// The agents that the tool `task` has started since the program began, by their ids.
    Children -> Vec<ChildState>, Begins;
    /// For a child that runs. The others go on.
    ToChild { id: String, order: ChildOrder } -> (), Begins;
    /// From the next call on.
    SetApproval(ApprovalMode) -> (), Begins;
}
