//! A tool of your own: its description for the model, and its code.
//!
//! ```text
//! cargo run -p offshoot-agent --example own_tool
//! ```

#![allow(clippy::print_stdout, reason = "an example is a whole program")]

use std::sync::Arc;

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::provider::{Api, Http, ToolSpec};
use offshoot_agent::testing::script::Reply;
use offshoot_agent::testing::server::{KEY, Server};
use offshoot_agent::tool::{Running, Tool, ToolContext, ToolOutcome};
use offshoot_agent::{Approver, Setup};
use offshoot_protocol::Secret;
use offshoot_protocol::model::Model;
use offshoot_session::clock::SystemClock;
use offshoot_session::session::{NewSession, Options, Session};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

/// Turns words round.
struct Reverse;

impl Tool for Reverse {
    fn name(&self) -> &str {
        "reverse"
    }

    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.name().to_owned(),
            description: "Turns a text round".to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {"text": {"type": "string", "description": "What to turn round"}},
                "required": ["text"],
            }),
        }
    }

    // It changes nothing, so several calls of it may run at the same time.
    // The line of the list in the system prompt.
    fn summary(&self) -> Option<&str> {
        Some("turn a text round")
    }

    fn run(&self, arguments: Value, _place: Arc<ToolContext>, partial: UnboundedSender<ToolOutcome>) -> Running {
        Box::pin(async move {
            // Models make mistakes: say what was wrong, so that they can mend it.
            let Some(text) = arguments["text"].as_str() else {
                return ToolOutcome::failed("`text` must be a string");
            };
            // Nobody may be watching.
            drop(partial.send(ToolOutcome::text("turning…")));
            ToolOutcome::text(text.chars().rev().collect::<String>())
        })
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::start([
        Reply::call("reverse", "call_1", json!({"text": "stressed"})),
        Reply::text("It says desserts."),
    ])?;
    let model = Model {
        id: "scripted".to_owned(),
        api: Api::Completions.as_str().to_owned(),
        provider: "here".to_owned(),
        base_url: server.base_url(Api::Completions),
        ..Model::default()
    };
    let mut setup = Setup::new(Arc::new(Http::new(Arc::new(SystemClock))), Arc::new(model), "/tmp", Approver::Nobody);
    setup.keys = Arc::new(Some(Secret::new(KEY)));
    setup.tools = vec![Arc::new(Reverse)];

    let session = Session::in_memory(&NewSession { cwd: "/tmp", ..NewSession::default() }, Options::default())?;
    let agent = AgentSession::start(session, setup)?;
    agent.prompt("turn 'stressed' round").await?;
    let last = agent.read(|session| {
        let context = session.context()?;
        context
            .messages(session)
            .map(|message| Ok(message?.json))
            .collect::<Result<Vec<_>, offshoot_session::error::Error>>()
    });
    for message in last.await?? {
        println!("{message}");
    }
    agent.close().await;
    Ok(())
}
