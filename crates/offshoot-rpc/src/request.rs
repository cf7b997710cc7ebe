//! The commands of a client, one JSON object a line. Members that a command does not have are ignored, as pi ignores them.
//!
//! `docs/rpc.md` says what each does and answers.

use offshoot_protocol::QueueMode;
use offshoot_protocol::message::Block;
use offshoot_protocol::{ApprovalDecision, ApprovalMode, ApprovalScope, FormAnswer};
use offshoot_session::json::{Json, strict};
use offshoot_workspace::{Given, Row};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::records::QueueModeData;
use crate::row_members;
use crate::shapes::{ApprovalModeInput, PictureInput};

/// What a message does that comes while the agent works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum StreamingBehavior {
    Steer,
    FollowUp,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub(crate) enum RpcCommand {
    Prompt {
        message: String,
        #[serde(default)]
        #[schemars(with = "Option<Vec<PictureInput>>")]
        images: Option<Vec<Block>>,
        #[serde(default)]
        streaming_behavior: Option<StreamingBehavior>,
    },
    #[serde(alias = "queue_message")]
    Steer {
        message: String,
        #[serde(default)]
        #[schemars(with = "Option<Vec<PictureInput>>")]
        images: Option<Vec<Block>>,
    },
    FollowUp {
        message: String,
        #[serde(default)]
        #[schemars(with = "Option<Vec<PictureInput>>")]
        images: Option<Vec<Block>>,
    },
    Abort,
    ClearQueue,
    NewSession {
        #[serde(default)]
        parent_session: Option<String>,
    },
    GetState,
    GetMessages,
    SetModel {
        provider: String,
        model_id: String,
    },
    CycleModel,
    GetAvailableModels,
    SetThinkingLevel {
        level: String,
    },
    CycleThinkingLevel,
    GetAvailableThinkingLevels,
    #[serde(alias = "set_queue_mode")]
    SetSteeringMode {
        #[serde(deserialize_with = "queue_mode")]
        #[schemars(with = "QueueModeData")]
        mode: QueueMode,
    },
    SetFollowUpMode {
        #[serde(deserialize_with = "queue_mode")]
        #[schemars(with = "QueueModeData")]
        mode: QueueMode,
    },
    Compact {
        #[serde(default)]
        custom_instructions: Option<String>,
    },
    SetAutoCompaction {
        enabled: bool,
    },
    SetAutoRetry {
        enabled: bool,
    },
    AbortRetry,
    Bash {
        command: String,
        #[serde(default)]
        exclude_from_context: Option<bool>,
    },
    AbortBash,
    GetSessionStats,
    ExportHtml {
        #[serde(default)]
        output_path: Option<String>,
    },
    SwitchSession {
        session_path: String,
        /// The folder to work in, if the session's is elsewhere: that one or the one of the start.
        #[serde(default)]
        session_folder: Option<String>,
    },
    #[serde(alias = "branch")]
    Fork {
        entry_id: String,
        /// Whether the files as they were before the message come along.
        #[serde(default)]
        files: bool,
        #[serde(default)]
        across_commits: bool,
    },
    Clone,
    #[serde(alias = "get_branch_messages")]
    GetForkMessages,
    GetEntries {
        #[serde(default)]
        since: Option<String>,
    },
    GetTree,
    GetLastAssistantText,
    SetSessionName {
        name: String,
    },
    GetCommands,
    /// The JSON Schema of all lines. offshoot's own, as the rest.
    GetSchema,
    /// Of this folder; all with `all`.
    ListSessions {
        #[serde(default)]
        all: bool,
    },
    GetBranches,
    NavigateTree {
        target_id: String,
        #[serde(default)]
        summarize: bool,
        #[serde(default)]
        custom_instructions: Option<String>,
        #[serde(default)]
        replace_instructions: bool,
        #[serde(default)]
        label: Option<String>,
        /// Whether the files of the entry come back.
        #[serde(default)]
        files: bool,
        /// Also if git has another commit checked out than when they were recorded.
        #[serde(default)]
        across_commits: bool,
    },
    SetLabel {
        entry_id: String,
        #[serde(default)]
        label: Option<String>,
    },
    Pick {
        /// Entries, or ranges A..B.
        selections: Vec<String>,
        /// Whether changes of files come along.
        #[serde(default)]
        files: bool,
    },
    Merge {
        entry_id: String,
        #[serde(default)]
        custom_instructions: Option<String>,
        #[serde(default)]
        files: bool,
    },
    Undo {
        #[serde(default)]
        files: bool,
        #[serde(default)]
        across_commits: bool,
    },
    Uncompact,
    Compare {
        a: String,
        b: String,
        #[serde(default)]
        patch: bool,
    },
    Forecast {
        #[serde(default)]
        entry_id: Option<String>,
    },
    Subscribe {
        /// The types of the events that are sent; all without it.
        #[serde(default)]
        events: Option<Vec<String>>,
        /// Whether the client answers `approval_request` with `approve`.
        #[serde(default)]
        approvals: Option<bool>,
        /// Whether it answers `extension_ui_request`.
        #[serde(default)]
        ui: Option<bool>,
        /// Milliseconds after which a question that is not answered is refused; never without it.
        #[serde(default)]
        ui_timeout: Option<u64>,
        /// Whether the events of children come too, each with the child's id as `agent`.
        #[serde(default)]
        children: Option<bool>,
    },
    Approve {
        request_id: u64,
        decision: ApprovalDecision,
        #[serde(default)]
        message: Option<String>,
        /// One of the rules that the question offers, for `allow_session` and `allow_always`; the narrowest without it.
        #[serde(default)]
        rule: Option<String>,
        /// Where the rule of `allow_always` counts; everywhere without it.
        #[serde(default)]
        scope: Option<ApprovalScope>,
    },
    /// Answers a `question_request`. An answer that does not fit is refused, and the question stays.
    Answer {
        request_id: u64,
        answer: FormAnswer,
    },
    /// Stops a command in the background; without an id all of them.
    StopBackground {
        #[serde(default)]
        command_id: Option<String>,
    },
    /// The agents that the tool `task` has started since the program began.
    GetChildren,
    /// A message for a running child, after its current turn.
    SteerChild {
        child_id: String,
        message: String,
    },
    /// A message for a running child, when it would stop.
    FollowUpChild {
        child_id: String,
        message: String,
    },
    /// Stops one child; the others go on.
    StopChild {
        child_id: String,
    },
    /// An operation of the table.
    #[serde(skip)]
    #[schemars(skip)]
    Operation {
        row: &'static Row,
        given: Given,
    },
    SetApproval {
        #[serde(deserialize_with = "approval_mode")]
        #[schemars(with = "ApprovalModeInput")]
        mode: ApprovalMode,
    },
}

impl RpcCommand {
    /// An operation of the table that has no command of its own.
    fn operation(kind: &str, line: &str) -> Option<Result<Self, String>> {
        let row = row_members::named(kind)?;
        let given = Json::parse(line).ok().map(|json| row_members::given(row, json))?;
        Some(given.map(|given| Self::Operation { row, given }).map_err(|misuse| format!("{kind}: {misuse}")))
    }

    /// Whether it may take as long as a model, a program or a person. It is stopped at the end of the input; the others
    /// are answered first.
    pub(crate) fn may_take_long(&self) -> bool {
        match self {
            Self::Compact { .. }
            | Self::Bash { .. }
            | Self::NavigateTree { summarize: true, .. }
            | Self::Merge { .. } => true,
            Self::Operation { row, .. } => row.may_ask,
            _ => false,
        }
    }
}

/// An answer to `extension_ui_request`. It has no response.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct UiResponse {
    pub(crate) id: String,
    #[serde(default)]
    pub(crate) value: Option<String>,
    #[serde(default)]
    pub(crate) confirmed: Option<bool>,
    #[serde(default)]
    pub(crate) cancelled: Option<bool>,
}

#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(rename = "type")]
    kind: String,
}

pub(crate) enum RpcRequest {
    /// With its id as JSON, and its name as the client wrote it.
    Command(Option<String>, String, Result<Box<RpcCommand>, String>),
    Ui(UiResponse),
    /// Why the line is no command.
    Unreadable(String),
}

const NO_COMMAND: &str = "a command is an object whose member \"type\" is a string";
const UI_RESPONSES: [&str; 2] = ["extension_ui_response", "hook_ui_response"];

impl RpcRequest {
    pub(crate) fn read(line: &[u8]) -> Self {
        let text = match std::str::from_utf8(line) {
            Ok(text) => text,
            Err(error) => return Self::Unreadable(format!("the line is not UTF-8: {error}")),
        };
        let (written, text) = (text, &*strict(text));
        let head: Head<'_> = match serde_json::from_str(text) {
            // serde would take an array's items for the members.
            Ok(head) if text.trim_start().starts_with('{') => head,
            Err(error) if !error.is_data() => return Self::Unreadable(format!("the line is not JSON: {error}")),
            Ok(_) | Err(_) => return Self::Unreadable(NO_COMMAND.to_owned()),
        };
        if UI_RESPONSES.contains(&head.kind.as_str()) {
            return match serde_json::from_str(text) {
                Ok(response) => Self::Ui(response),
                Err(error) => Self::Unreadable(format!("{}: {error}", head.kind)),
            };
        }
        // The client gets its id as it wrote it.
        let id = head.id.filter(|id| id.get() != "null");
        let id = id
            .map(|id| Json::parse(written).ok().and_then(|all| all.get("id")).map_or(id.get(), Json::text).to_owned());
        let command = serde_json::from_str(text).map(Box::new).or_else(|error| match error.to_string() {
            why if why.starts_with("unknown variant") => {
                let unknown = || Err(format!("unknown command: {}", head.kind));
                RpcCommand::operation(&head.kind, text).unwrap_or_else(unknown).map(Box::new)
            }
            why => Err(format!("{}: {why}", head.kind)),
        });
        Self::Command(id, head.kind, command)
    }
}

fn queue_mode<'de, D: Deserializer<'de>>(from: D) -> Result<QueueMode, D::Error> {
    match String::deserialize(from)?.as_str() {
        "all" => Ok(QueueMode::All),
        "one-at-a-time" => Ok(QueueMode::OneAtATime),
        other => Err(serde::de::Error::custom(format!("there is no mode {other:?}: all or one-at-a-time"))),
    }
}

fn approval_mode<'de, D: Deserializer<'de>>(from: D) -> Result<ApprovalMode, D::Error> {
    let name = String::deserialize(from)?;
    ApprovalMode::parse(&name).ok_or_else(|| {
        let known = ApprovalMode::ALL.map(ApprovalMode::as_str).join(", ");
        serde::de::Error::custom(format!("there is no mode {name:?}: {known}"))
    })
}
