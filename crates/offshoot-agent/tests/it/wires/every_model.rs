//! What leaves for every built-in model that can be asked is a request that its server accepts, as far as the checker of this
//! crate's test server knows the rules.

use offshoot_agent::model::Models;
use offshoot_agent::provider::{Api, Outgoing, Request};
use offshoot_agent::testing::check;
use offshoot_agent::testing::seen::Seen;
use offshoot_agent::testing::server::KEY;
use offshoot_protocol::message::{AssistantMessage, Block, Message, StopReason};
use offshoot_protocol::model::Model;
use offshoot_protocol::{CacheRetention, ThinkingLevel};
use serde_json::{Value, json};

use super::{image, request, results, text, user};

/// A prompt, a call with its result, and pictures of the person and of a tool.
fn conversations(model: &Model) -> [Vec<Message>; 3] {
    let called = || {
        let call = Block::ToolCall {
            id: "call_1".to_owned(),
            name: "read".to_owned(),
            arguments: json!({"path": "x"}),
            arguments_error: None,
            thought_signature: None,
        };
        AssistantMessage { content: vec![call], stop_reason: StopReason::ToolUse, ..model.blank_answer(1) }
    };
    let with = |result: Block| {
        let answer = called();
        let rest = results(&answer, &[result]);
        [vec![user("go"), answer.into()], rest].concat()
    };
    [vec![user("hi")], with(text("done")), [with(image()), vec![user("and now?")]].concat()]
}

/// What the checker says, and what it does not know: limits, pictures for the blind, and addresses that are not filled in.
fn complaints(asked: &Request) -> Vec<String> {
    let model = &asked.model;
    let sent = Outgoing::new(asked).unwrap();
    let headers = sent.headers.iter().map(|(name, value)| (name.to_lowercase(), value.expose().to_owned())).collect();
    let path = sent.url.strip_prefix("https://").unwrap_or_default().to_owned();
    let seen = Seen { api: Api::parse(&model.api), path, headers, body: sent.body.clone() };
    let mut found = check::problems(&seen, KEY, &[]);
    let body: Value = serde_json::from_str(&sent.body).unwrap();
    let limits = [
        "/max_tokens",
        "/max_completion_tokens",
        "/max_output_tokens",
        "/generationConfig/maxOutputTokens",
        "/inferenceConfig/maxTokens",
    ];
    let limit = limits.into_iter().find_map(|name| body.pointer(name)?.as_u64());
    if limit.is_some_and(|limit| limit == 0 || limit > model.max_tokens.max(1)) {
        found.push(format!("the limit of the answer is {limit:?} where {} is the model's", model.max_tokens));
    }
    if !model.images && sent.body.contains("image/png") {
        found.push("a picture for a model that does not see".to_owned());
    }
    if !sent.url.starts_with("https://") {
        found.push(format!("the address is {}", sent.url));
    }
    found
}

#[test]
fn every_built_in_model_gets_requests_that_keep_the_rules() {
    let models = Models::builtin();
    let (mut checked, mut found) = (0, Vec::new());
    for model in models.all().filter(|model| models.refusal(model).is_none()) {
        for messages in conversations(model) {
            for thinking in [ThinkingLevel::Off, ThinkingLevel::Minimal, ThinkingLevel::High, ThinkingLevel::Max] {
                let cache_retention = CacheRetention::Long;
                let mut model = Model { cache_retention, ..model.clone() };
                if model.provider == "azure" {
                    // The person's own.
                    model.base_url = "https://resource.openai.azure.com/openai/v1?api-version=v1".to_owned();
                }
                let name = format!("{}/{} {}", model.provider, model.id, thinking.as_str());
                let mut asked = request(model, messages.clone());
                asked.thinking = thinking;
                found.extend(complaints(&asked).into_iter().map(|problem| format!("{name}: {problem}")));
                checked += 1;
            }
        }
    }
    assert!(found.is_empty(), "{} of {checked}, such as {:#?}", found.len(), &found[..found.len().min(20)]);
    assert!(checked > 1200 * 12, "{checked}");
}
