//! The tools that look at commands in the background and stop them. They come into use with the first such command.

use std::sync::Arc;
use std::time::Duration;

use offshoot_protocol::BackgroundState;
use offshoot_protocol::message::Block;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::{BackgroundCommands, CommandLook};
use crate::provider::ToolSpec;
use crate::tool::{Running, Tier, Tool, ToolContext, ToolOutcome, args};

/// The name of [`BashOutput`].
pub const BASH_OUTPUT_TOOL: &str = "bash_output";
/// The name of [`BashStop`].
pub const BASH_STOP_TOOL: &str = "bash_stop";
/// The name of [`BashList`].
pub const BASH_LIST_TOOL: &str = "bash_list";
/// Longer waits end early.
const LONGEST_WAIT: f64 = 600.0;
/// Bytes of output in the message about an end.
const IN_MESSAGE: usize = 4 << 10;

/// New output of a background command since the last call, and whether it still runs.
#[derive(Debug, Deserialize, JsonSchema)]
struct BashOutputInput {
    /// Such as b1.
    id: String,
    /// Seconds to wait for output or the end.
    #[serde(default, deserialize_with = "args::number")]
    wait: Option<f64>,
}

/// Stop a background command and all that it started.
#[derive(Debug, Deserialize, JsonSchema)]
struct BashStopInput {
    /// Such as b1.
    id: String,
}

/// List the background commands.
#[derive(Debug, Deserialize, JsonSchema)]
struct BashListInput {}

/// The tool `bash_output`.
#[derive(Debug, Clone, Copy, Default)]
pub struct BashOutput;

/// The tool `bash_stop`.
#[derive(Debug, Clone, Copy, Default)]
pub struct BashStop;

/// The tool `bash_list`.
#[derive(Debug, Clone, Copy, Default)]
pub struct BashList;

impl Tool for BashOutput {
    fn name(&self) -> &str {
        BASH_OUTPUT_TOOL
    }

    fn spec(&self) -> ToolSpec {
        args::spec::<BashOutputInput>(BASH_OUTPUT_TOOL)
    }

    fn tier(&self, _: &Value, _: &ToolContext) -> Tier {
        Tier::Read(Vec::new())
    }

    fn run(&self, arguments: Value, place: Arc<ToolContext>, _: UnboundedSender<ToolOutcome>) -> Running {
        Box::pin(async move {
            let input: BashOutputInput = match args::parse(BASH_OUTPUT_TOOL, arguments) {
                Ok(input) => input,
                Err(failed) => return failed,
            };
            let wait = input.wait.filter(|wait| wait.is_finite()).unwrap_or_default().clamp(0.0, LONGEST_WAIT);
            match commands(&place) {
                Ok(commands) => match commands.look(&input.id, Duration::from_secs_f64(wait)).await {
                    Ok(look) => looked(&look),
                    Err(why) => ToolOutcome::failed(why),
                },
                Err(failed) => failed,
            }
        })
    }
}

impl Tool for BashStop {
    fn name(&self) -> &str {
        BASH_STOP_TOOL
    }

    fn spec(&self) -> ToolSpec {
        args::spec::<BashStopInput>(BASH_STOP_TOOL)
    }

    /// It ends what was allowed to run.
    fn tier(&self, _: &Value, _: &ToolContext) -> Tier {
        Tier::Read(Vec::new())
    }

    fn run(&self, arguments: Value, place: Arc<ToolContext>, _: UnboundedSender<ToolOutcome>) -> Running {
        Box::pin(async move {
            let BashStopInput { id } = match args::parse(BASH_STOP_TOOL, arguments) {
                Ok(input) => input,
                Err(failed) => return failed,
            };
            let commands = match commands(&place) {
                Ok(commands) => commands,
                Err(failed) => return failed,
            };
            let stopped = match commands.stop(&id).await {
                Ok(_) => commands.look(&id, Duration::ZERO).await,
                Err(why) => Err(why),
            };
            stopped.map_or_else(ToolOutcome::failed, |look| looked(&look))
        })
    }
}

impl Tool for BashList {
    fn name(&self) -> &str {
        BASH_LIST_TOOL
    }

    fn spec(&self) -> ToolSpec {
        args::spec::<BashListInput>(BASH_LIST_TOOL)
    }

    fn tier(&self, _: &Value, _: &ToolContext) -> Tier {
        Tier::Read(Vec::new())
    }

    fn run(&self, _: Value, place: Arc<ToolContext>, _: UnboundedSender<ToolOutcome>) -> Running {
        Box::pin(async move {
            let commands = match commands(&place) {
                Ok(commands) => commands.all(),
                Err(failed) => return failed,
            };
            let line = |command: &offshoot_protocol::BackgroundCommand| {
                format!("{} {}: {}", command.id, command.state, command.command)
            };
            let lines: Vec<String> = commands.iter().map(line).collect();
            let text =
                if lines.is_empty() { "No command runs in the background.".to_owned() } else { lines.join("\n") };
            ToolOutcome { details: Some(json!({ "commands": commands })), ..ToolOutcome::text(text) }
        })
    }
}

fn commands(place: &ToolContext) -> Result<&BackgroundCommands, ToolOutcome> {
    let commands = place.conversation.background();
    commands.ok_or_else(|| ToolOutcome::failed("Commands in the background cannot run here."))
}

fn looked(look: &CommandLook) -> ToolOutcome {
    let (unread, state) = (unread(look), state_words(look));
    let text = if unread.is_empty() { "(nothing new)".to_owned() } else { unread };
    let whole = look.whole.path.as_ref().map(|path| path.display().to_string());
    let mut outcome = ToolOutcome::text(text);
    outcome.content.push(Block::text(format!("[{}: {state}]", look.command.id)));
    outcome.details = Some(json!({ "command": look.command, "fullOutputPath": whole }));
    outcome
}

/// What nobody has seen of the output, with a note of what is left out.
pub(super) fn unread(look: &CommandLook) -> String {
    let Some(printed) = &look.unread else { return String::new() };
    if printed.omitted == 0 {
        return printed.text.clone();
    }
    let place = match &look.whole.path {
        Some(path) => format!("all of it is in {}", path.display()),
        None => "they are lost".to_owned(),
    };
    format!("[{} bytes before this are left out; {place}]\n{}", printed.omitted, printed.text)
}

/// How far it is, for the model.
pub(super) fn state_words(look: &CommandLook) -> String {
    let seconds = look.took.as_secs();
    match look.command.state {
        BackgroundState::Running => format!("running for {seconds} s"),
        state => format!("{state} after {seconds} s"),
    }
}

/// Its last part, for a message beside a prompt.
pub(super) fn end_of_unread(look: &CommandLook) -> String {
    let unread = unread(look);
    let start = unread.ceil_char_boundary(unread.len().saturating_sub(IN_MESSAGE));
    let (cut, shown) = unread.split_at(start);
    if cut.is_empty() {
        return unread;
    }
    let place = look.whole.path.as_ref().map_or(String::new(), |path| format!("; all of it is in {}", path.display()));
    format!("[{start} bytes before this are left out{place}]\n{shown}")
}
