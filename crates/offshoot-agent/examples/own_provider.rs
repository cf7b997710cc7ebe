//! A provider of your own: a request in, a stream of deltas out. This one needs no network: it repeats what it hears.
//!
//! ```text
//! cargo run -p offshoot-agent --example own_provider
//! ```

#![allow(clippy::print_stdout, reason = "an example is a whole program")]

use std::sync::Arc;

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::provider::{Answer, Delta, Deltas, Provider, Request};
use offshoot_agent::{Approver, Setup};
use offshoot_protocol::message::{AssistantMessage, Block, Message, StopReason, Usage};
use offshoot_protocol::model::Model;
use offshoot_session::session::{NewSession, Options, Session};

/// Repeats the last message of the user.
struct Echo;

impl Provider for Echo {
    fn stream(&self, request: Request) -> Deltas {
        let said = request.messages.iter().rev().find_map(|message| match message {
            Message::User(said) => Some(said.text()),
            Message::Assistant(_) | Message::ToolResult(_) | Message::Custom(_) => None,
        });
        let text = format!("You said: {}", said.unwrap_or_default());
        let message = AssistantMessage {
            content: vec![Block::text(&text)],
            api: request.model.api.clone(),
            provider: request.model.provider.clone(),
            model: request.model.id.clone(),
            response_id: None,
            usage: Usage { input: 1, output: 1, total_tokens: 2, ..Usage::default() },
            stop_reason: StopReason::Stop,
            error_message: None,
            timestamp: 0,
        };
        // Pieces on the way are for the eyes; the whole message comes at the end, whatever happened. A failure says by its
        // `Failure` whether it is worth another try.
        Box::pin(futures_util::stream::iter([
            Delta::Start,
            Delta::TextStart { index: 0 },
            Delta::Text { index: 0, delta: text },
            Delta::TextEnd { index: 0 },
            Delta::Done(Box::new(Answer { message, failure: None })),
        ]))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = Model { id: "echo".to_owned(), provider: "here".to_owned(), ..Model::default() };
    let setup = Setup::new(Arc::new(Echo), Arc::new(model), "/tmp", Approver::Nobody);
    let session = Session::in_memory(&NewSession { cwd: "/tmp", ..NewSession::default() }, Options::default())?;
    let agent = AgentSession::start(session, setup)?;
    let mut events = agent.subscribe();
    agent.prompt("hello").await?;
    while let Ok(event) = events.try_recv() {
        println!("{}", event.to_json());
    }
    agent.close().await;
    Ok(())
}
