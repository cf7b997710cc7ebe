//! Where tools come from. Knows no tool.

use std::fmt;

/// Where tools come from. Each source has its own tools, which are set and removed without those of the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolSource {
    /// offshoot's own.
    BuiltIn,
    /// All extensions together, which settle among themselves whose tool counts.
    Extensions,
    /// An MCP server, by its name.
    Mcp(String),
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
            Self::Mcp(_) | Self::Agent(_) => 2,
        }
    }
}

impl fmt::Display for ToolSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("offshoot"),
            Self::Extensions => f.write_str("an extension"),
            Self::Mcp(name) => write!(f, "the MCP server {name}"),
            Self::Agent(id) => write!(f, "the agent {id}"),
        }
    }
}
