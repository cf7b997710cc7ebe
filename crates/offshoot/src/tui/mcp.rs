//! `/mcp`: the MCP servers of the running conversation. Knows no protocol.

use offshoot_agent::agent_session::AgentSession;
use offshoot_app::error::{CommandError, Result};
use offshoot_session::transcript::Level;
use offshoot_tui::app::msg::Msg;

use super::job_context::JobContext;

const NONE: &str = "No MCP server has started; `offshoot mcp` says which there are, and `offshoot mcp add` adds one.";

/// Shows a page with the servers, or connects one again.
pub(super) fn show(context: &JobContext, agent: &AgentSession, words: Option<&str>) -> Result<()> {
    let live = agent.live_tools();
    let (action, name) =
        words.unwrap_or_default().split_once(char::is_whitespace).unwrap_or((words.unwrap_or_default(), ""));
    match (action.trim(), name.trim()) {
        ("" | "list", "") => {
            let mut lines = live.map(|live| live.lines()).unwrap_or_default();
            if lines.is_empty() {
                lines.push(NONE.to_owned());
            }
            lines.extend([String::new(), "/mcp reconnect NAME connects one again.".to_owned()]);
            context.tell(Msg::Page("MCP servers".to_owned(), lines));
            Ok(())
        }
        ("reconnect", name) if !name.is_empty() => {
            let live = live.ok_or_else(|| CommandError::usage("no MCP server has started"))?;
            live.reconnect(name).map_err(CommandError::usage)?;
            context.notice(Level::Info, format!("connecting {name} again; /mcp shows how it stands"));
            Ok(())
        }
        _ => Err(CommandError::usage("that is /mcp [reconnect NAME]")),
    }
}
