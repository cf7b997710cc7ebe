//! What extensions get beside an agent, and what comes of their answers.

use std::sync::{Arc, Mutex};

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::provider::{Api, Http};
use offshoot_agent::testing::script::Reply;
use offshoot_agent::testing::server::Server;
use offshoot_agent::tool::{Shell, select};
use offshoot_agent::{Approver, Setup};
use offshoot_extensions::ExtensionSet;
use offshoot_extensions::contract::{
    CommandInfo, Failure, Handler, HandlerAnswer, HandlerId, Host, HostFuture, LoadRequest, LoadedExtension, Payload,
    Services,
};
use offshoot_protocol::model::Model;
use offshoot_session::clock::SystemClock;
use offshoot_session::session::{NewSession, Options, Session};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::native::request;
use crate::nobody::Nobody;

/// A host whose handlers answer by a function. Its command `/call METHOD PARAMETERS` calls what extensions may call.
struct Told {
    events: &'static [&'static str],
    answer: fn(&Value) -> Value,
    got: UnboundedSender<Value>,
    services: Mutex<Option<Arc<dyn Services>>>,
}

impl Host for Told {
    fn name(&self) -> &'static str {
        "told"
    }

    fn load(
        &self,
        _: LoadRequest,
        services: Arc<dyn Services>,
    ) -> HostFuture<'_, Result<Vec<LoadedExtension>, Failure>> {
        *self.services.lock().unwrap() = Some(services);
        let handler = |(id, event): (usize, &&str)| Handler { id: id as u64, event: (*event).to_owned() };
        let handlers = self.events.iter().enumerate().map(handler).collect();
        let commands = vec![CommandInfo { name: "call".to_owned(), ..CommandInfo::default() }];
        Box::pin(std::future::ready(Ok(vec![LoadedExtension { handlers, commands, ..LoadedExtension::default() }])))
    }

    fn handle(&self, _: HandlerId, payload: Payload) -> HostFuture<'_, Result<HandlerAnswer, Failure>> {
        let event: Value = serde_json::from_str(&payload.text()).unwrap();
        let ok = (self.answer)(&event);
        self.got.send(event).unwrap();
        Box::pin(std::future::ready(Ok(HandlerAnswer { ok, input: None })))
    }

    fn invoke(&self, what: Value, _: UnboundedSender<Value>) -> HostFuture<'_, Result<Value, Failure>> {
        let services = self.services.lock().unwrap().clone().unwrap();
        let (method, params) = what["args"].as_str().unwrap().split_once(' ').unwrap();
        let (method, params) = (method.to_owned(), serde_json::from_str(params).unwrap());
        Box::pin(async move {
            if method.starts_with("ui.") {
                return services.later(method, params, unbounded_channel().0).await.map_err(Failure::new);
            }
            let asked = tokio::task::spawn_blocking(move || services.now(&method, &params.to_string())).await.unwrap();
            asked.map(Value::String).map_err(Failure::new)
        })
    }

    fn close(&self) -> HostFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

struct Talk {
    agent: AgentSession,
    server: Server,
    got: UnboundedReceiver<Value>,
}

impl Talk {
    async fn start(
        events: &'static [&'static str],
        answer: fn(&Value) -> Value,
        replies: impl IntoIterator<Item = Reply>,
    ) -> Self {
        let server = Server::start(replies).unwrap();
        let model = Model {
            id: "m".to_owned(),
            api: "anthropic-messages".to_owned(),
            provider: "test".to_owned(),
            base_url: server.base_url(Api::Anthropic),
            ..Model::default()
        };
        let (to, got) = unbounded_channel();
        let host = Told { events, answer, got: to, services: Mutex::default() };
        let set = vec![(Arc::new(host) as Arc<dyn Host>, request())];
        let set = Arc::new(ExtensionSet::new(set, Arc::new(Nobody), Arc::new(SystemClock)));
        let http = Arc::new(Http::new(Arc::new(SystemClock)));
        let mut setup = Setup::new(http, Arc::new(model), std::env::temp_dir(), Approver::Nobody);
        setup.tools = select("ls", &Shell::default()).unwrap();
        setup.extensions = Some(set.clone());
        let session = Session::in_memory(&NewSession::default(), Options::default()).unwrap();
        let agent = AgentSession::start(session, setup).unwrap();
        set.start(&agent);
        Self { agent, server, got }
    }

    fn sent(&self, at: usize) -> Value {
        self.server.seen()[at].json().clone()
    }
}

#[tokio::test]
async fn the_prompt_and_the_tools_of_a_request_can_be_changed() {
    let answer = |event: &Value| {
        let mut messages = event["messages"].as_array().unwrap().clone();
        match event["messages"][0]["role"] == "system" {
            false => json!({"messages": [{"role": "user", "content": "by the first", "timestamp": 1}]}),
            true if messages[1]["content"] == "by the first" => {
                messages[0]["content"] = json!("another prompt");
                messages[0]["toolsAdded"] = json!([]);
                json!({"messages": messages})
            }
            true => Value::Null,
        }
    };
    let mut talk = Talk::start(&["context", "context_with_system"], answer, [Reply::text("Yes.")]).await;
    talk.agent.prompt("hello").await.unwrap();
    let plain = talk.got.try_recv().unwrap();
    assert!(!plain["messages"].to_string().contains("\"system\""), "{plain}");
    let whole = talk.got.try_recv().unwrap();
    assert_eq!(whole["type"], "context_with_system");
    assert_eq!(whole["messages"][0]["toolsAdded"][0]["name"], "ls");
    let sent = talk.sent(0);
    assert!(sent["system"].to_string().contains("another prompt"), "{sent}");
    assert!(sent.get("tools").is_none_or(|tools| tools == &json!([])), "{sent}");
    assert!(sent["messages"].to_string().contains("by the first"), "{sent}");
    talk.agent.close().await;
}

#[tokio::test]
async fn what_an_extension_says_as_the_user_is_looked_at_like_what_a_person_says() {
    let answer = |event: &Value| match event["type"].as_str().unwrap() {
        "input" => json!({"action": "transform", "text": format!("{}!", event["text"].as_str().unwrap())}),
        _ => json!({"systemPrompt": "for this run"}),
    };
    let mut talk = Talk::start(&["input", "before_agent_start"], answer, [Reply::text("Yes.")]).await;
    talk.agent.prompt(r#"/call pi.sendUserMessage {"content":"hello"}"#).await.unwrap();
    let input = talk.got.recv().await.unwrap();
    assert_eq!((&input["text"], &input["source"]), (&json!("hello"), &json!("extension")));
    let start = talk.got.recv().await.unwrap();
    assert_eq!((&start["prompt"], &start["messageType"]), (&json!("hello!"), &json!("user")));
    talk.agent.wait_for_idle().await.unwrap();
    let sent = talk.sent(0);
    assert!(sent["system"].to_string().contains("for this run"), "{sent}");
    assert!(sent["messages"].to_string().contains("hello!"), "{sent}");
    talk.agent.close().await;
}

#[tokio::test]
async fn a_question_to_the_user_is_told_to_extensions() {
    let mut talk = Talk::start(&["ui_prompt_start", "ui_prompt_end"], |_| Value::Null, []).await;
    talk.agent.prompt(r#"/call ui.confirm {"title":"Sure?","message":"Really?"}"#).await.unwrap();
    for event in ["ui_prompt_start", "ui_prompt_end"] {
        let expected = json!({"type": event, "reason": "ui_prompt", "kind": "confirm", "title": "Sure?"});
        assert_eq!(talk.got.recv().await.unwrap(), expected);
    }
    talk.agent.close().await;
}

#[tokio::test]
async fn a_blocked_call_can_end_the_run() {
    let answer = |_: &Value| json!({"block": true, "reason": "no", "terminate": true});
    let talk = Talk::start(&["tool_call"], answer, [Reply::call("ls", "c1", json!({}))]).await;
    talk.agent.prompt("look").await.unwrap();
    assert_eq!(talk.server.seen().len(), 1, "the model is not asked again");
    talk.agent.close().await;
}
