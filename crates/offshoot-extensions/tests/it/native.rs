//! An extension in Rust, by the same contract as the others.

use std::sync::Arc;

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::operate::{AfterPlan, PlanAnswer, PresentModel, Steps};
use offshoot_agent::provider::{Api, Http};
use offshoot_agent::request_queue::Operate;
use offshoot_agent::testing::script::Reply;
use offshoot_agent::testing::server::Server;
use offshoot_agent::tool::{Shell, select};
use offshoot_agent::{Approver, Setup};
use offshoot_extensions::ExtensionSet;
use offshoot_extensions::contract::{ExtensionKind, ExtensionSource, LoadRequest, Origin, ProgramMode};
use offshoot_protocol::SessionReason;
use offshoot_protocol::model::Model;
use offshoot_session::clock::SystemClock;
use offshoot_session::entry::Source as _;
use offshoot_session::session::{NewSession, Options, Session};
use serde_json::json;

use crate::nobody::Nobody;
use crate::prune::Prune;

pub(crate) fn request() -> LoadRequest {
    let source = ExtensionSource {
        path: "prune.rs".into(),
        kind: ExtensionKind::Extension,
        origin: Origin::Flag,
        allowed: None,
    };
    LoadRequest {
        version: "0",
        cwd: "/".into(),
        agent_dir: None,
        mode: ProgramMode::Print,
        has_ui: false,
        flags: serde_json::Map::new(),
        reason: SessionReason::Startup,
        extensions: vec![source],
        launcher: None,
        limits: String::new(),
        pi_packages: Vec::new(),
    }
}

#[tokio::test]
async fn a_pruned_result_is_not_sent_and_stays_in_the_session() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.txt"), "a long text").unwrap();
    let call = Reply::call("read", "c1", json!({"path": "a.txt"}));
    let server = Server::start([call, Reply::text("Read."), Reply::text("Pruned."), Reply::text("Back.")]).unwrap();
    let api = Api::Anthropic;
    let model = Model {
        id: "m".to_owned(),
        api: "anthropic-messages".to_owned(),
        provider: "test".to_owned(),
        base_url: server.base_url(api),
        ..Model::default()
    };
    let set = Arc::new(ExtensionSet::new(
        vec![(Arc::new(Prune::default()), request())],
        Arc::new(Nobody),
        Arc::new(SystemClock),
    ));
    let mut setup =
        Setup::new(Arc::new(Http::new(Arc::new(SystemClock))), Arc::new(model), dir.path(), Approver::Nobody);
    setup.tools = select("read", &Shell::default()).unwrap();
    setup.extensions = Some(set.clone());
    let session = Session::in_memory(&NewSession::default(), Options::default()).unwrap();
    let agent = AgentSession::start(session, setup).unwrap();
    set.start(&agent);
    agent.prompt("read a.txt").await.unwrap();
    let result = agent.read(|session| {
        let is_result = |ix: &_| session.tree().node(*ix).role() == Some(offshoot_session::kind::Role::ToolResult);
        let found = session.tree().entries().find(is_result).unwrap();
        session.tree().node(found).id().unwrap().as_str().to_owned()
    });
    let result = result.await.unwrap();
    agent.prompt("/prune c1").await.unwrap();
    agent.prompt("and now?").await.unwrap();
    let sent = |at: usize| server.seen()[at].json()["messages"].to_string();
    assert!(sent(1).contains("a long text"));
    assert!(!sent(2).contains("a long text") && sent(2).contains("[pruned by the user]"), "{}", sent(2));
    let kept = agent
        .read(|session| session.tree().entries().any(|ix| session.entry(ix).unwrap().line().contains("a long text")));
    assert!(kept.await.unwrap());
    // Before the rule it does not hold.
    let there = Operate::new(Box::new(GoTo(result)), Some("at work"));
    agent.ask(there).await.unwrap();
    agent.prompt("elsewhere").await.unwrap();
    assert!(sent(3).contains("a long text"), "{}", sent(3));
    agent.close().await;
}

/// Goes to an entry.
struct GoTo(String);

impl Steps for GoTo {
    fn plan(&mut self, _: &Session, _: Option<&PresentModel>) -> AfterPlan {
        AfterPlan::Write
    }

    fn answered(&mut self, _: &Session, _: PlanAnswer) -> bool {
        true
    }

    fn write(&mut self, at: &mut Session) {
        at.switch(at.find(&self.0).unwrap()).unwrap();
    }

    fn tell(&mut self, _: &Session) {}
}
