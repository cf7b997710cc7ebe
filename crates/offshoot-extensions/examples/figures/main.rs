//! What other people's code costs: `figures NODE [ROUNDS]` prints medians, with the real Node.js process and this crate as the
//! owner of the session.
//!
//! Everything is asked as the agent asks it: through the queue of handlers, and through the thread that has the session.

#![expect(clippy::disallowed_methods, clippy::unwrap_used, clippy::panic, reason = "an example is a whole program")]

mod nobody;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::extensions::{Extensions as _, RequestContext};
use offshoot_agent::provider::Http;
use offshoot_agent::tool::ToolOutcome;
use offshoot_agent::turn::Call;
use offshoot_agent::{Approver, Setup};
use offshoot_extensions::ExtensionSet;
use offshoot_extensions::contract::{ExtensionKind, ExtensionSource, Host, LoadRequest, Origin, ProgramMode};
use offshoot_extensions::node::{NodeHost, NodeOptions, NodeSearch};
use offshoot_protocol::SessionReason;
use offshoot_protocol::message::Block;
use offshoot_protocol::model::Model;
use offshoot_session::clock::SystemClock;
use offshoot_session::session::{NewSession, Options, Session};
use serde_json::{Map, json};

const EXTENSION: &str = r#"
export default function (pi: any) {
  pi.on("context", () => {});
  pi.on("tool_result", (event: any) => ({ content: event.content }));
  pi.registerCommand("now", {
    handler: async (count: string, ctx: any) => { for (let left = Number(count); left > 0; left--) ctx.sessionManager.getLeafId(); },
  });
}
"#;
/// So many calls are one measurement.
const CALLS: u32 = 2_000;
const MESSAGES: usize = 1_000;

#[derive(Default)]
struct Figures {
    ready: Vec<Duration>,
    kilobyte: Vec<Duration>,
    call: Vec<Duration>,
    context: Vec<Duration>,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let node = PathBuf::from(arguments.next().unwrap_or_else(|| panic!("which Node.js?")));
    let rounds: usize = arguments.next().map_or(5, |rounds| rounds.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("figures.ts"), EXTENSION).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut figures = Figures::default();
    for _ in 0..rounds {
        runtime.block_on(round(&node, folder.path(), &mut figures));
    }
    let rows = [
        ("the host is ready", figures.ready),
        ("1 KB there and back", figures.kilobyte),
        ("a synchronous call", figures.call),
        ("a handler of `context` that does nothing, 1,000 messages (2 MB)", figures.context),
    ];
    let mut out = std::io::stdout().lock();
    for (what, mut times) in rows {
        times.sort();
        let ms = |time: &Duration| time.as_secs_f64() * 1e3;
        let middle = times.get(times.len() / 2).map_or(0.0, ms);
        let (least, most) = (times.first().map_or(0.0, ms), times.last().map_or(0.0, ms));
        writeln!(out, "{what}: {middle:.3} ms ({least:.3} to {most:.3}, {} rounds)", times.len()).unwrap();
    }
}

fn host(node: &Path, folder: &Path) -> Arc<dyn Host> {
    let search = NodeSearch { named: Some(node.to_path_buf()), path: Vec::new() };
    Arc::new(NodeHost::new(NodeOptions {
        search,
        cache: folder.join("cache"),
        patience: Duration::from_secs(30),
        limit: Duration::from_secs(600),
    }))
}

fn request(folder: &Path) -> LoadRequest {
    let path = folder.join("figures.ts");
    LoadRequest {
        version: "0",
        cwd: folder.to_path_buf(),
        agent_dir: None,
        mode: ProgramMode::Print,
        has_ui: false,
        flags: Map::new(),
        reason: SessionReason::Startup,
        extensions: vec![ExtensionSource { path, kind: ExtensionKind::Extension, origin: Origin::Flag, allowed: None }],
        launcher: None,
        limits: String::new(),
        pi_packages: Vec::new(),
    }
}

/// A process of its own, and each figure once.
async fn round(node: &Path, folder: &Path, figures: &mut Figures) {
    let hosts = vec![(host(node, folder), request(folder))];
    let set = Arc::new(ExtensionSet::new(hosts, Arc::new(nobody::Nobody), Arc::new(SystemClock)));
    let http = Arc::new(Http::new(Arc::new(SystemClock)));
    let mut setup = Setup::new(http, Arc::new(Model::default()), folder, Approver::Nobody);
    setup.extensions = Some(set.clone());
    let session = Session::in_memory(&NewSession::default(), Options::default()).unwrap();
    let agent = AgentSession::start(session, setup).unwrap();
    let began = Instant::now();
    set.start(&agent);
    set.begun().await;
    figures.ready.push(began.elapsed());
    // The first calls compile the code.
    after_calls(&set, CALLS).await;
    figures.kilobyte.push(after_calls(&set, CALLS).await);
    set.command(format!("/now {CALLS}")).await;
    let from = Instant::now();
    set.command(format!("/now {CALLS}")).await;
    figures.call.push(from.elapsed() / CALLS);
    let words = "some words of the conversation ".repeat(62);
    let message = |at: usize| {
        let role = if at.is_multiple_of(2) { "user" } else { "assistant" };
        let content = [json!({"type": "text", "text": format!("{at} {words}")})];
        json!({"role": role, "content": content, "timestamp": at}).to_string()
    };
    let messages: Vec<String> = (0..MESSAGES).map(message).collect();
    let context = RequestContext { messages, ..RequestContext::default() };
    assert!(set.context(context.clone()).await.is_none());
    for _ in 0..10 {
        let given = context.clone();
        let from = Instant::now();
        assert!(set.context(given).await.is_none());
        figures.context.push(from.elapsed());
    }
    set.leaves(SessionReason::Quit, None).await;
    agent.close().await;
}

/// The time of one handler that gets a result of 1 KB and gives it back.
async fn after_calls(set: &ExtensionSet, count: u32) -> Duration {
    let call = Call { id: "call".to_owned(), name: "bash".to_owned(), arguments: json!({"command": "ls"}) };
    let outcome = ToolOutcome { content: vec![Block::text("x".repeat(1024))], ..ToolOutcome::default() };
    let from = Instant::now();
    for _ in 0..count {
        let after = set.after_call(call.clone(), outcome.clone()).await;
        assert_eq!(after.content.len(), 1);
    }
    from.elapsed() / count
}
