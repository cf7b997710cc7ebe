//! The least that it takes to embed the agent: a session, a model, a prompt, and what happens on the way.
//!
//! ```text
//! cargo run -p offshoot-agent --example minimal
//! ```
//!
//! The model is played by a server on this machine. For a real one, take a [`Model`] from `model::Models::load` and a key
//! from `model::Keys`.

#![allow(clippy::print_stdout, reason = "an example is a whole program")]

use std::sync::Arc;

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::provider::{Api, Http};
use offshoot_agent::testing::script::Reply;
use offshoot_agent::testing::server::{KEY, Server};
use offshoot_agent::tool::{self, Shell};
use offshoot_agent::{Approver, Setup};
use offshoot_protocol::model::Model;
use offshoot_protocol::{Event, Secret, Update};
use offshoot_session::clock::SystemClock;
use offshoot_session::session::{NewSession, Options, Session};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::start([
        Reply::call("ls", "call_1", serde_json::json!({"path": "/"})),
        Reply::text("That is the root folder."),
    ])?;
    let model = Model {
        id: "scripted".to_owned(),
        api: Api::Anthropic.as_str().to_owned(),
        provider: "here".to_owned(),
        base_url: server.base_url(Api::Anthropic),
        context_window: 100_000,
        max_tokens: 4000,
        ..Model::default()
    };

    let mut setup = Setup::new(Arc::new(Http::new(Arc::new(SystemClock))), Arc::new(model), "/tmp", Approver::Nobody);
    setup.keys = Arc::new(Some(Secret::new(KEY)));
    setup.tools = tool::select("ls,read", &Shell::default())?;
    setup.system = "You look around.".into();

    // In memory; `Session::create` and `Session::open` give one with a file.
    let session = Session::in_memory(&NewSession { cwd: "/tmp", ..NewSession::default() }, Options::default())?;
    let agent = AgentSession::start(session, setup)?;
    let mut events = agent.subscribe();

    let settled = agent.prompt("what is in the root folder?").await?;
    while let Ok(told) = events.try_recv() {
        match &*told.event {
            Event::ToolExecutionStart { tool_name, args, .. } => println!("[{tool_name} {args}]"),
            Event::MessageUpdate { assistant_message_event: Update::TextEnd { content, .. }, .. } => {
                println!("{content}");
            }
            _ => {}
        }
    }
    let stats = agent.stats().await?;
    println!("{settled:?}: {} answers, {} tokens", stats.assistant_messages, stats.usage.total);
    agent.close().await;
    Ok(())
}
