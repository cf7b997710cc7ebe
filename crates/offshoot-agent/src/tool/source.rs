//! Where tools come from. Knows no tool.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use super::{FormAsker, Tool};

/// Where tools come from. Each source has its own tools, which are set and removed without those of the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolSource {
    /// offshoot's own.
    BuiltIn,
    /// All extensions together, which settle among themselves whose tool counts.
    Extensions,
    /// An MCP server, by its name.
    Mcp(String),
    /// offshoot's own for all MCP servers: they search tools and read resources.
    McpHelpers,
    /// An agent that offers tools to this one, by its id.
    Agent(String),
}

impl ToolSource {
    /// Of tools with one name, that of the lowest rank is used, and of equal ranks that of the source that was added first.
    /// An extension wraps or replaces built-in tools on purpose; nobody else may.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Self::Extensions => 0,
            Self::BuiltIn => 1,
            Self::McpHelpers | Self::Mcp(_) | Self::Agent(_) => 2,
        }
    }
}

impl fmt::Display for ToolSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("offshoot"),
            Self::Extensions => f.write_str("an extension"),
            Self::McpHelpers => f.write_str("offshoot's client for MCP"),
            Self::Mcp(name) => write!(f, "the MCP server {name}"),
            Self::Agent(id) => write!(f, "the agent {id}"),
        }
    }
}

/// The agent, as sources of tools see it. Does not keep it from ending.
pub trait ToolTaker: Send + Sync {
    /// Takes the tools of a source, in place of all that it had before. Those that are given before a prompt count for it.
    fn set(&self, source: ToolSource, tools: Vec<Arc<dyn Tool>>);

    /// Tells the person what is wrong with a source.
    fn tell(&self, words: String);

    /// Asks the person, if somebody is there when a question comes.
    fn asker(&self) -> FormAsker;
}

/// Sources whose tools come and go while an agent runs, such as servers that are started beside it.
pub trait LiveTools: Send + Sync {
    /// An agent has started. Does not wait.
    fn start(&self, agent: Arc<dyn ToolTaker>);

    /// Before each prompt. Waits for tools that its request has to declare, a limited time.
    fn ready(&self) -> Waiting<'_>;

    /// Prompts of sources that a person can call, as far as they are known.
    fn prompts(&self) -> Vec<SourcePrompt> {
        Vec::new()
    }

    /// Waits until prompts are known that were not at the time of `seen`, and gives the time of now. Without `seen` also until every
    /// source has been tried, a limited time. By default for ever.
    fn prompts_changed(&self, _seen: Option<u64>) -> NextPrompts<'_> {
        Box::pin(std::future::pending())
    }

    /// The text for a typed line that calls a prompt of a source (`/name arguments`); `None` for any other line. The error is in words.
    fn expand<'a>(&'a self, _typed: &'a str) -> Expanding<'a> {
        Box::pin(std::future::ready(None))
    }

    /// Where each source stands, as lines for a person, who may have been sent escapes: they are cleaned.
    fn lines(&self) -> Vec<String>;

    /// Connects a source anew, beside the conversation.
    ///
    /// # Errors
    /// There is none of this name, in words.
    fn reconnect(&self, name: &str) -> Result<(), String>;

    /// The agent ends.
    fn close(&self) -> Waiting<'_>;
}

/// A prompt of a source. All texts are foreign, and each is one line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub struct SourcePrompt {
    /// Without the slash.
    pub name: String,
    /// Another spelling.
    pub short: String,
    pub source: String,
    pub description: String,
    /// Its arguments.
    pub usage: String,
}

/// A prompt that is being fetched.
pub type Expanding<'a> = Pin<Box<dyn Future<Output = Option<Result<String, String>>> + Send + 'a>>;

/// The number of the next change.
pub type NextPrompts<'a> = Pin<Box<dyn Future<Output = u64> + Send + 'a>>;

/// Something that takes its time.
pub type Waiting<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;
