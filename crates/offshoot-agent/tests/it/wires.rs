//! The wire formats against a server that checks every request: one script serves all.

mod answers;
mod azure;
mod bedrock;
mod boundaries;
mod checker;
mod compat;
mod cut_arguments;
mod damaged_streams;
mod dialects;
mod every_model;
mod failures;
mod halves;
mod keys;
mod rounds;
mod usage;

use std::sync::Arc;

use futures_util::StreamExt as _;
use offshoot_agent::provider::{Answer, Api, Delta, Hooks, Http, Provider as _, Request, ToolSpec, problems};
use offshoot_agent::testing::script::Reply;
use offshoot_agent::testing::server::{KEY, Server};
use offshoot_protocol::message::{AssistantMessage, Block, Content, Message, ToolResultMessage, UserMessage};
use offshoot_protocol::model::{Model, Price};
use offshoot_protocol::{Secret, ThinkingLevel};
use offshoot_session::clock::FixedClock;
use serde_json::json;

/// 1994-11-06T08:49:37Z.
pub(crate) const NOW: i64 = 784_111_777_000;

pub(crate) fn model(api: Api, base_url: &str) -> Model {
    let (provider, id) = match api {
        Api::Anthropic => ("anthropic", "claude-test"),
        Api::Responses => ("openai", "gpt-test"),
        Api::Completions => ("local", "llama-test"),
        Api::Google => ("google", "gemini-3-pro-test"),
        Api::Mistral => ("mistral", "mistral-test"),
        Api::Bedrock => ("amazon-bedrock", "anthropic.claude-opus-4-1-test"),
    };
    Model {
        id: id.to_owned(),
        name: id.to_owned(),
        api: api.as_str().to_owned(),
        provider: provider.to_owned(),
        base_url: base_url.to_owned(),
        reasoning: true,
        images: true,
        context_window: 200_000,
        max_tokens: 32_000,
        price: Price { input: 2.0, output: 10.0, cache_read: 0.2, cache_write: 2.5 },
        ..Model::default()
    }
}

pub(crate) fn request(model: Model, messages: Vec<Message>) -> Request {
    let read = ToolSpec {
        name: "read".to_owned(),
        description: "Reads a file".to_owned(),
        parameters: json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
    };
    Request {
        model: Arc::new(model),
        system: "You are a test.".to_owned(),
        messages,
        tools: vec![read],
        thinking: ThinkingLevel::High,
        max_tokens: None,
        key: Some(Secret::new(KEY)),
        session_id: Some("session-1".to_owned()),
        hooks: Hooks::default(),
    }
}

pub(crate) fn user(text: &str) -> Message {
    UserMessage { content: Content::Text(text.to_owned()), timestamp: 1 }.into()
}

pub(crate) fn text(text: &str) -> Block {
    Block::Text { text: text.to_owned(), text_signature: None }
}

pub(crate) fn image() -> Block {
    Block::Image { data: "iVBORw0KGgo=".to_owned(), mime_type: "image/png".to_owned() }
}

/// Results for every call of an answer.
pub(crate) fn results(answer: &AssistantMessage, content: &[Block]) -> Vec<Message> {
    let calls = answer.content.iter().filter_map(|block| match block {
        Block::ToolCall { id, name, .. } => Some((id.clone(), name.clone())),
        _ => None,
    });
    let result = |(tool_call_id, tool_name)| {
        let content = content.to_vec();
        Message::from(ToolResultMessage {
            tool_call_id,
            tool_name,
            content,
            details: None,
            nested_calls: None,
            is_error: false,
            timestamp: 1,
        })
    };
    calls.map(result).collect()
}

pub(crate) fn http() -> Http {
    Http::new(Arc::new(FixedClock(NOW)))
}

/// Sends a request and collects what comes.
pub(crate) fn ask(request: Request) -> (Vec<Delta>, Answer) {
    assert_eq!(problems(&request.messages), [], "the test's own conversation");
    ask_anyway(request)
}

pub(crate) fn ask_anyway(request: Request) -> (Vec<Delta>, Answer) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut deltas: Vec<Delta> = runtime.block_on(http().stream(request).collect());
    deltas.retain(|delta| !matches!(delta, Delta::Usage(_)));
    match deltas.pop() {
        Some(Delta::Done(answer)) => (deltas, *answer),
        other => panic!("the stream ended with {other:?}"),
    }
}

/// Asks a server that has one reply; every request must be valid.
pub(crate) fn ask_once(api: Api, reply: Reply) -> (Vec<Delta>, Answer) {
    let server = Server::start([reply]).unwrap();
    let out = ask(request(model(api, &server.base_url(api)), vec![user("hello")]));
    assert_eq!(server.problems(), [""; 0], "{api:?}");
    out
}
