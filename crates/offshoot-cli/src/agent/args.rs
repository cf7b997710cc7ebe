//! The arguments of the agent.

use clap::ValueEnum;

use crate::error::{CommandError, Result};
use crate::models::ModelArgs;

/// How the agent speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentOutput {
    /// The answer.
    Text,
    /// Everything that happens, as pi's event stream.
    Json,
}

/// How an answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Its words.
    #[default]
    Text,
    /// One JSON object.
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PrintForm {
    /// The text of the last answer.
    Text,
    /// The last answer as one JSON object.
    Result,
    /// Every event as a line of JSON.
    Events,
}

/// The agent.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Agent")]
pub(crate) struct Args {
    /// What to say to the model; @FILE stands for a file's text, or a picture. Several are said one after the other
    #[arg(value_name = "PROMPT")]
    pub(crate) prompts: Vec<String>,

    /// Print the answer and exit; what is piped in is put before the prompt
    #[arg(short, long)]
    pub(crate) print: bool,

    /// How to speak: text (with -p), or json: every event as one line, in pi's shapes
    #[arg(long, value_enum, hide_possible_values = true)]
    pub(crate) mode: Option<AgentOutput>,

    /// How -p prints the answer: text, or json: {"result", "isError", "stopReason", "usage", "sessionId", …}
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub(crate) output_format: OutputFormat,

    /// Go on with the newest session of this folder
    #[arg(short = 'c', long = "continue", conflicts_with_all = ["resume", "session", "fork", "no_session"])]
    pub(crate) go_on: bool,

    /// Choose a session to go on with (needs the interactive mode)
    #[arg(short, long, conflicts_with_all = ["session", "fork", "no_session"])]
    pub(crate) resume: bool,

    /// Go on with this session; the path of a file that is not there begins one
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["fork", "no_session"])]
    pub(crate) session: Option<String>,

    /// Copy this session, all branches of it, and go on with the copy
    #[arg(long, value_name = "SESSION", conflicts_with = "no_session")]
    pub(crate) fork: Option<String>,

    /// Keep the session in memory only
    #[arg(long)]
    pub(crate) no_session: bool,

    #[command(flatten)]
    pub(crate) model: ModelArgs,

    /// The tools that the model has, parted by commas; none for '' [default: the settings', else read,bash,edit,write]
    #[arg(long, value_name = "NAMES")]
    pub(crate) tools: Option<String>,

    /// Say this to the model in the place of offshoot's own words
    #[arg(long, value_name = "TEXT")]
    pub(crate) system_prompt: Option<String>,

    /// Say this to the model behind offshoot's own words
    #[arg(long, value_name = "TEXT")]
    pub(crate) append_system_prompt: Option<String>,

    /// The provider's key, for this run; others on this machine may see it: better set the variable
    #[arg(long, value_name = "KEY")]
    pub(crate) api_key: Option<String>,
}

impl Args {
    /// The form of the output; `None` for the interactive mode.
    pub(crate) fn form(&self, is_terminal: bool) -> Result<Option<PrintForm>> {
        if !self.print && self.mode.is_none() && is_terminal {
            return Ok(None);
        }
        if self.resume {
            return Err(CommandError::usage("choosing a session needs a terminal")
                .hint("`offshoot list` shows the sessions, `offshoot --session ID -p PROMPT` goes on with one")
                .hint("`offshoot -c -p PROMPT` goes on with the newest"));
        }
        match (self.mode, self.print, self.output_format) {
            (Some(AgentOutput::Json), _, _) => Ok(Some(PrintForm::Events)),
            (Some(AgentOutput::Text), _, OutputFormat::Json) | (None, true, OutputFormat::Json) => {
                Ok(Some(PrintForm::Result))
            }
            (Some(AgentOutput::Text), _, OutputFormat::Text) | (None, true, OutputFormat::Text) => {
                Ok(Some(PrintForm::Text))
            }
            (None, false, _) => Err(self.no_screen()),
        }
    }

    fn no_screen(&self) -> CommandError {
        let error = CommandError::usage("a conversation needs a terminal");
        match self.prompts.as_slice() {
            [word] if !word.contains(' ') => error
                .hint(format!("if {word:?} was meant as a command: `offshoot --help` lists them"))
                .hint(format!("`offshoot -p {}` asks the model and prints its answer", crate::app::quoted(word))),
            _ => error
                .hint("`offshoot -p PROMPT` asks the model and prints its answer")
                .hint("`offshoot --mode json PROMPT` prints everything that happens"),
        }
    }
}
