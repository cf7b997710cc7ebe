//! A summariser of your own: it is asked when a session is compacted and when a branch is left.
//!
//! ```text
//! cargo run -p offshoot-agent --example own_summarizer
//! ```

#![allow(clippy::print_stdout, reason = "an example is a whole program")]

use std::sync::Arc;

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::provider::{Deltas, Provider, Request};
use offshoot_agent::summarise::{AsyncSummariser, Summary};
use offshoot_agent::{Approver, Setup};
use offshoot_protocol::model::Model;
use offshoot_session::compose::NewEntry;
use offshoot_session::json::Json;
use offshoot_session::session::{NewSession, Options, Session};
use offshoot_session::summariser::{SummariserAnswer, SummariserRequest as Wanted};

/// Counts what was said, and says no more.
struct Count;

impl AsyncSummariser for Count {
    fn summarise(&self, wanted: Wanted) -> Summary {
        // The conversation is in the prompt as text; `entries` names what it is made of.
        let text = format!("## Goal\n{} messages were exchanged ({:?}).", wanted.entries.len(), wanted.purpose);
        // `usage` would be what it cost. An error here lets the summariser without a model take over.
        Box::pin(async move { Ok(SummariserAnswer { text, usage: None }) })
    }

    // Shows up in the entry's details: readers see that no model wrote this.
    fn name(&self) -> Option<&'static str> {
        Some("count")
    }
}

/// Is never asked.
struct Nobody;

impl Provider for Nobody {
    fn stream(&self, _: Request) -> Deltas {
        Box::pin(futures_util::stream::empty())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut session = Session::in_memory(&NewSession { cwd: "/tmp", ..NewSession::default() }, Options::default())?;
    for number in 0..6 {
        for role in ["user", "assistant"] {
            let words = "some words ".repeat(50);
            let message = format!(
                r#"{{"role":"{role}","content":[{{"type":"text","text":"{number} {words}"}}],"stopReason":"stop"}}"#
            );
            session.append(&NewEntry::message(Json::parse(&message)?)?)?;
        }
    }
    let model = Model { id: "none".to_owned(), provider: "here".to_owned(), ..Model::default() };
    let mut setup = Setup::new(Arc::new(Nobody), Arc::new(model), "/tmp", Approver::Nobody);
    setup.compaction.keep_recent_tokens = 400;
    setup.summariser = Some(Arc::new(Count));
    let agent = AgentSession::start(session, setup)?;
    println!("{}", agent.compact(None).await?.to_json());
    agent.close().await;
    Ok(())
}
