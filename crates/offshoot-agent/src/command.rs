//! Everything that a front end may say to an agent, and what it is answered. Knows no front end.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use offshoot_session::compact;

use crate::event::{BashResult, CompactionResult};
use crate::message::Block;
use crate::provider::{Model, ThinkingLevel};
use crate::turn::{Navigated, Navigation, QueueMode, Retry, Settled};

/// What a front end may say.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Command {
    /// Say something to the model; answered when nothing goes on by itself any more.
    Prompt(UserPrompt),
    /// Say something that the model hears after the current turn.
    Steer(UserPrompt),
    /// Say something that the model hears when it would stop.
    FollowUp(UserPrompt),
    /// Take back what waits to be said.
    ClearQueue,
    /// Stop everything; answered when it has stopped.
    Abort,
    /// Answered when nothing is under way.
    WaitForIdle,
    /// Run a command in the shell and record it.
    Bash {
        command: String,
        /// Whether the model is not to see it.
        exclude_from_context: bool,
    },
    /// Stop the command that runs in the shell.
    AbortBash,
    /// Summarise and cut; stops what is under way first.
    Compact {
        /// What the summary shall mind.
        instructions: Option<String>,
    },
    /// Go to another place in the tree; refused while something is under way.
    NavigateTree(Navigation),
    /// Begin another session; stops what is under way first, as the next three do.
    NewSession,
    /// Open another session.
    SwitchSession(PathBuf),
    /// Begin a session with what stands before a message of the user.
    Fork {
        /// The message's entry.
        entry: String,
    },
    /// Begin a session with all that stands up to the leaf.
    Clone,
    /// Use another model from the next request on.
    SetModel(Arc<Model>),
    /// Let the model think more or less from the next request on.
    SetThinkingLevel(ThinkingLevel),
    /// Name the session; an empty name clears it.
    SetName(String),
    /// Put a bookmark on an entry; no text removes it.
    SetLabel { entry: String, label: Option<String> },
    /// How much of the steering queue is said at once.
    SetSteeringMode(QueueMode),
    /// How much of the follow-up queue is said at once.
    SetFollowUpMode(QueueMode),
    /// Whether contexts are compacted by themselves.
    SetAutoCompaction(bool),
    /// Whether failed requests are sent again.
    SetAutoRetry(bool),
    /// How failed requests are sent again and contexts are kept short, from now on.
    SetRules(Box<Rules>),
    /// Give another system prompt from the next request on.
    SetSystemPrompt(String),
    /// Where everything stands.
    Inspect,
}

/// What of a setup the user may change while the agent runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// Trying again.
    pub retry: Retry,
    /// When contexts are compacted, and how much stays.
    pub compaction: compact::Settings,
    /// The same for single models, by `provider/id`.
    pub compaction_for: BTreeMap<String, compact::Settings>,
    /// Tokens that a branch summary leaves of the model's window.
    pub branch_reserve: u64,
}

/// A text and pictures.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UserPrompt {
    /// The text.
    pub text: String,
    /// Pictures.
    pub images: Vec<Block>,
}

impl From<&str> for UserPrompt {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), images: Vec::new() }
    }
}

impl From<String> for UserPrompt {
    fn from(text: String) -> Self {
        Self { text, images: Vec::new() }
    }
}

/// What a session that was begun from another came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Forked {
    /// The text of the message that it was begun before.
    pub text: Option<String>,
    /// Its id.
    pub session_id: String,
    /// Its file.
    pub file: Option<PathBuf>,
}

/// Where an agent stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The model.
    pub model: Arc<Model>,
    /// How much it thinks.
    pub thinking: ThinkingLevel,
    /// Whether a run is under way.
    pub is_streaming: bool,
    /// Whether a compaction or a walk through the tree is under way.
    pub is_at_a_job: bool,
    /// What waits to be said: after the current turn.
    pub steering: Vec<String>,
    /// What waits to be said: when the agent would stop.
    pub follow_up: Vec<String>,
    /// The system prompt.
    pub system: String,
    /// Whether contexts are compacted by themselves.
    pub auto_compaction: bool,
}

/// What a command is answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Done.
    Done,
    /// Everything that goes on by itself has ended, thus.
    Settled(Settled),
    /// What waited to be said: steering, then follow-up.
    Queue(Vec<String>, Vec<String>),
    /// A command of the user ended.
    Ran(Arc<BashResult>),
    /// A compaction's result.
    Compacted(Arc<CompactionResult>),
    /// A walk through the tree.
    Navigated(Navigated),
    /// Another session is open.
    Session(Forked),
    /// How much the model thinks now: not every model can all.
    Thinking(ThinkingLevel),
    /// Where everything stands.
    Standing(Box<Standing>),
}
