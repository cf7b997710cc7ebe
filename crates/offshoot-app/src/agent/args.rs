//! The arguments of the agent.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::ValueEnum;
use offshoot_protocol::{ApprovalMode, SandboxMode, SandboxNetwork};

use offshoot_settings::Settings;

use crate::session_words::session_words;

use crate::error::{CommandError, FailureKind, Result};
use crate::models::ModelArgs;

/// What a run prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AgentOutput {
    /// The answer.
    Text,
    /// Everything that happens, as pi's event stream.
    Json,
    /// The same, and commands on standard input.
    Rpc,
}

/// The version of pi whose records RPC writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum RpcVersion {
    /// pi 0.31.
    #[value(name = "0.31")]
    V031,
    /// pi 0.87 and later.
    #[default]
    #[value(name = "0.87")]
    V087,
}

/// How an answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum OutputFormat {
    /// Its words.
    #[default]
    Text,
    /// One JSON object.
    Json,
}

/// What is printed of a run without a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrintForm {
    /// The text of the last answer.
    Text,
    /// The last answer as one JSON object.
    Result,
    /// Every event as a line of JSON.
    Events,
}

/// Where the model may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SandboxArg {
    Off,
    Workspace,
    ReadOnly,
}

impl From<SandboxArg> for SandboxMode {
    fn from(typed: SandboxArg) -> Self {
        match typed {
            SandboxArg::Off => Self::Off,
            SandboxArg::Workspace => Self::Workspace,
            SandboxArg::ReadOnly => Self::ReadOnly,
        }
    }
}

/// The sandbox that the user has switched to while the program runs; copies share it.
#[derive(Debug, Clone, Default)]
pub struct RunSandbox(Arc<Mutex<Option<SandboxMode>>>);

impl RunSandbox {
    pub(super) fn get(&self) -> Option<SandboxMode> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the mode before.
    pub(super) fn replace(&self, mode: Option<SandboxMode>) -> Option<SandboxMode> {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), mode)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Network {
    On,
    Off,
}

impl From<Network> for SandboxNetwork {
    fn from(typed: Network) -> Self {
        match typed {
            Network::On => Self::On,
            Network::Off => Self::Off,
        }
    }
}

/// The agent.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Agent")]
pub struct Args {
    /// The prompt; @FILE attaches a text file or a picture
    #[arg(value_name = "PROMPT")]
    words: Vec<String>,

    /// Print the answer and exit; piped input is put before the prompt
    #[arg(short, long)]
    pub print: bool,

    /// Do not read standard input: it does not become part of the prompt
    #[arg(long)]
    pub no_stdin: bool,

    /// Send a further prompt after the answer (repeatable)
    #[arg(long, value_name = "TEXT")]
    pub then: Vec<String>,

    /// What to print: text (the answer, as -p), json (every event as one line, in pi's shapes) or rpc (the same, with
    /// commands on standard input: docs/rpc.md)
    #[arg(long, value_enum, hide_possible_values = true)]
    pub mode: Option<AgentOutput>,

    /// With --mode rpc: write the records of this version of pi, 0.31 or 0.87 [default: 0.87]
    #[arg(long, value_enum, value_name = "VERSION", hide_possible_values = true)]
    pub rpc_version: Option<RpcVersion>,

    /// The form of -p's answer: text or json ({"result", "isError", "stopReason", "usage", "sessionId", …})
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    pub output_format: OutputFormat,

    /// Continue the newest session of this folder
    #[arg(short = 'c', long = "continue", conflicts_with_all = ["resume", "session", "fork", "no_session"])]
    pub go_on: bool,

    /// Choose a session to continue (needs a terminal)
    #[arg(short, long, conflicts_with_all = ["session", "fork", "no_session"])]
    pub resume: bool,

    /// Continue this session; a path that does not exist starts a new one there
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["fork", "no_session"], value_parser = session_words())]
    pub session: Option<String>,

    /// Work in this folder on a session of another one: the session's folder, or this one
    #[arg(long, value_name = "DIR")]
    pub session_folder: Option<PathBuf>,

    /// Copy this session with all its branches, and continue the copy
    #[arg(long, value_name = "SESSION", conflicts_with = "no_session", value_parser = session_words())]
    pub fork: Option<String>,

    /// Continue this folder's session of exactly this id, or start it; with --fork: the id of the copy
    #[arg(long, value_name = "ID", conflicts_with_all = ["session", "go_on", "resume"])]
    pub session_id: Option<String>,

    /// Name the session
    #[arg(short, long, value_parser = session_name)]
    pub name: Option<String>,

    /// Keep the session in memory only
    #[arg(long)]
    pub no_session: bool,

    #[expect(missing_docs, reason = "a doc comment would be the help of all its arguments")]
    #[command(flatten)]
    pub model: ModelArgs,

    /// The models between which ctrl+p changes, separated by commas: ids, parts of ids, or globs such as anthropic/* or
    /// *sonnet*:high [default: the settings' enabledModels, else all with a key]
    #[arg(long, value_name = "PATTERNS", value_delimiter = ',')]
    pub models: Option<Vec<String>>,

    /// The model's tools, separated by commas; '' for none [default: the settings', else read,bash,edit,write]
    #[arg(short, long, value_name = "NAMES")]
    pub tools: Option<String>,

    /// Give the model no tools, not even those of extensions, but those of --tools
    #[arg(long)]
    pub no_tools: bool,

    /// As pi's: of the tools only those of extensions
    #[arg(long, hide = true)]
    pub no_builtin_tools: bool,

    /// Take these tools away
    #[arg(long, value_name = "NAMES")]
    pub exclude_tools: Option<String>,

    /// As pi's: the conversation is in the terminal's own scrollback
    #[arg(long, hide = true, value_parser = ["regular"])]
    tui_mode: Option<String>,

    /// As pi's: nothing is fetched at the start
    #[arg(long, hide = true)]
    pub(super) offline: bool,

    /// Say all at the start, whatever `quietStartup` says, and every cause of a lost connection
    #[arg(long)]
    pub verbose: bool,

    /// Where the model may write: off (everywhere), workspace (in this folder) or read-only [default: the settings', else off]
    #[arg(long, value_enum, value_name = "MODE", hide_possible_values = true)]
    pub sandbox: Option<SandboxArg>,

    /// What `/sandbox` has chosen in the place of the mode.
    #[arg(skip)]
    pub sandbox_of_run: RunSandbox,

    /// Whether commands in the sandbox have a network: on or off [default: the settings', else off]
    #[arg(long, value_enum, value_name = "on|off", hide_possible_values = true)]
    pub sandbox_network: Option<Network>,

    /// With -p: stop before the model is asked again after this many answers
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_turns: Option<u32>,

    /// With -p: stop before a request that would bring the cost above this many US dollars
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub max_cost: Option<f64>,

    /// With -p: stop before a request that would bring all tokens above this many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_tokens: Option<u64>,

    /// With -p: stop before the request after this many, with those of all agents that are started
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_requests: Option<u64>,

    /// With -p: stop after this time, such as 90s, 10m or 2h
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub max_time: Option<Duration>,

    /// Wait as long as this for a provider's limit that names its end, such as 5h [default: 24h on a terminal, else not]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub wait_for_limit: Option<Duration>,

    /// What the model may do unasked: auto, edits, ask, read-only or plan [default: the settings', else auto]
    #[arg(long, value_name = "MODE", value_parser = ApprovalMode::NAMES, hide_possible_values = true)]
    pub approval: Option<String>,

    /// Replace the system prompt by a text, or by a file's (repeatable)
    #[arg(long, value_name = "TEXT|FILE")]
    pub system_prompt: Vec<String>,

    /// Add a text, or a file's, after the system prompt (repeatable)
    #[arg(long, value_name = "TEXT|FILE")]
    pub append_system_prompt: Vec<String>,

    /// Use this skill, or the skills in this folder (repeatable)
    #[arg(long, value_name = "PATH")]
    pub skill: Vec<PathBuf>,

    /// Use no skills but those of --skill
    #[arg(long)]
    pub no_skills: bool,

    /// Use this prompt template, or those in this folder (repeatable)
    #[arg(long, value_name = "PATH")]
    pub prompt_template: Vec<PathBuf>,

    /// Use no prompt templates but those of --prompt-template
    #[arg(long)]
    pub no_prompt_templates: bool,

    /// A theme, or a folder of themes (repeatable)
    #[arg(long, value_name = "PATH")]
    pub theme: Vec<PathBuf>,

    /// The theme of this run: a name, or two as LIGHT/DARK
    #[arg(long, value_name = "NAME")]
    pub use_theme: Option<String>,

    /// Run this extension: a file, a folder, or npm:NAME or git:HOST/PATH, fetched for this run. It is a program with your rights (repeatable)
    #[arg(short, long, value_name = "PATH")]
    pub extension: Vec<PathBuf>,

    /// Run this hook of pi 0.31: a file or a folder (repeatable)
    #[arg(long, value_name = "PATH", hide = true)]
    pub hook: Vec<PathBuf>,

    /// Options that are not offshoot's, for extensions.
    #[arg(skip)]
    pub extension_flags: Vec<(String, Option<String>)>,

    /// Run no extensions but those of --extension
    #[arg(long)]
    pub no_extensions: bool,

    /// Start the MCP servers of this file, too: what it names runs with your rights (repeatable)
    #[arg(long, value_name = "FILE")]
    pub mcp_config: Vec<PathBuf>,

    /// Start no MCP servers
    #[arg(long)]
    pub no_mcp: bool,

    /// Use no themes but those of --theme and the built-in ones
    #[arg(long)]
    pub no_themes: bool,

    /// Give the model no AGENTS.md or CLAUDE.md
    #[arg(long)]
    pub no_context_files: bool,

    /// The provider's key for this run. Other users can see it in the process list: prefer the variable
    #[arg(long, value_name = "KEY")]
    pub api_key: Option<String>,
}

/// Where what is said is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    InFile,
    InMemory,
}

impl Keeping {
    /// An error that ended a run, with what is left of the conversation.
    pub fn told(self, error: CommandError) -> CommandError {
        match (error.kind, self) {
            (FailureKind::Limit, Self::InFile) => {
                error.hint("what was said and done is in the session: `offshoot -c -p PROMPT` goes on")
            }
            (FailureKind::Stopped, Self::InFile) => {
                CommandError { message: format!("{}: what was said so far is in the session", error.message), ..error }
            }
            (FailureKind::Limit | FailureKind::Stopped, Self::InMemory) => {
                error.hint("nothing was kept, because of --no-session")
            }
            (
                FailureKind::Failed
                | FailureKind::Usage
                | FailureKind::NotFound
                | FailureKind::Damaged
                | FailureKind::Conflict
                | FailureKind::Model
                | FailureKind::ClosedPipe,
                _,
            ) => error,
        }
    }
}

impl Args {
    /// Whether the session of these arguments is kept.
    pub fn keeping(&self) -> Keeping {
        if self.no_session { Keeping::InMemory } else { Keeping::InFile }
    }

    /// The words of the prompt, without attached files.
    pub fn prompt_words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(String::as_str).filter(|word| attached(word).is_none())
    }

    /// Patterns of the models between which a key changes; none for all.
    pub fn scope(&self, user: &Settings) -> Vec<String> {
        self.models.clone().or_else(|| user.enabled_models.clone()).unwrap_or_default()
    }

    /// The names of the attached files.
    pub fn attachments(&self) -> impl Iterator<Item = &str> {
        self.words.iter().filter_map(|word| attached(word))
    }

    /// The form of the output; `None` for the interactive mode.
    pub fn form(&self, is_terminal: bool) -> Result<Option<PrintForm>> {
        if self.rpc_version.is_some() {
            return Err(CommandError::usage("--rpc-version needs --mode rpc"));
        }
        if !self.print && self.mode.is_none() && is_terminal {
            let counts = self.max_turns.is_some() || self.max_tokens.is_some() || self.max_requests.is_some();
            if counts || self.max_cost.is_some() || self.max_time.is_some() {
                let why = "--max-turns, --max-cost, --max-tokens, --max-requests and --max-time need -p or --mode json";
                return Err(CommandError::usage(why));
            }
            return Ok(None);
        }
        if self.resume {
            return Err(CommandError::usage("choosing a session needs a terminal")
                .hint("`offshoot list` shows the sessions, `offshoot --session ID -p PROMPT` continues one")
                .hint("`offshoot -c -p PROMPT` continues the newest"));
        }
        match (self.mode, self.print, self.output_format) {
            (Some(AgentOutput::Json | AgentOutput::Rpc), _, _) => Ok(Some(PrintForm::Events)),
            (Some(AgentOutput::Text), _, OutputFormat::Json) | (None, true, OutputFormat::Json) => {
                Ok(Some(PrintForm::Result))
            }
            (Some(AgentOutput::Text), _, OutputFormat::Text) | (None, true, OutputFormat::Text) => {
                Ok(Some(PrintForm::Text))
            }
            (None, false, _) => Err(Self::no_screen("a conversation needs a terminal")),
        }
    }

    /// The refusal of a conversation without a screen, and what does without one.
    pub fn no_screen(why: &str) -> CommandError {
        CommandError::usage(why)
            .hint("`offshoot -p PROMPT` asks the model and prints its answer")
            .hint("`offshoot --mode json PROMPT` prints every event")
    }
}

fn session_name(text: &str) -> std::result::Result<String, String> {
    let name = text.trim();
    if name.is_empty() { Err("a name is not empty".to_owned()) } else { Ok(name.to_owned()) }
}

fn dollars(text: &str) -> std::result::Result<f64, String> {
    let dollars = text.trim_start_matches('$').parse::<f64>().ok();
    dollars.filter(|dollars| dollars.is_finite() && *dollars > 0.0).ok_or_else(|| "say it as in 0.50".to_owned())
}

fn time(text: &str) -> std::result::Result<Duration, String> {
    let (number, unit) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(number) => (number, text.chars().last()),
        None => (text, None),
    };
    let seconds = match unit {
        Some('m') => 60,
        Some('h') => 3600,
        _ => 1,
    };
    let number = number.parse::<u32>().ok().filter(|number| *number > 0);
    let time = number.map(|number| Duration::from_secs(u64::from(number) * seconds));
    time.ok_or_else(|| "say it as in 90s, 10m or 2h".to_owned())
}

fn attached(word: &str) -> Option<&str> {
    word.strip_prefix('@').filter(|name| !name.is_empty())
}
