//! Members of `compat` that change a request, as pi 1.6.0 builds it.

use offshoot_agent::provider::{Api, Outgoing};
use offshoot_protocol::model::{Compat, Model};
use offshoot_protocol::{Levels, ThinkingLevel};
use serde_json::{Value, json};

use super::{model, request, user};

/// The members of a request of Chat Completions that `compat` adds or changes.
fn added(compat: &Value, level: ThinkingLevel) -> Value {
    let body = |compat: &Value| -> Value {
        let compat: Compat = serde_json::from_value(compat.clone()).unwrap();
        let levels = Levels::new([("high", Some("much".to_owned())), ("off", Some("none".to_owned()))]);
        let mut asked = request(Model { compat, levels, ..model(Api::Completions, "http://x") }, vec![user("x")]);
        (asked.thinking, asked.max_tokens) = (level, Some(8000));
        serde_json::from_str(&Outgoing::new(&asked).unwrap().body).unwrap()
    };
    let (plain, changed) = (body(&json!({})), body(compat));
    let members = changed.as_object().unwrap().iter().filter(|(name, value)| plain.get(name) != Some(value));
    Value::Object(members.map(|(name, value)| (name.clone(), value.clone())).collect())
}

#[test]
fn each_member_has_its_effect() {
    let values = json!({
        "enable_thinking": {"$var": "thinking.enabled"}, "effort": {"$var": "thinking.effort", "omitWhenOff": true},
        "b": {"$var": "thinking.budget"}, "x": 1,
    });
    let template = json!({"thinkingFormat": "chat-template", "chatTemplateKwargs": values});
    let baseten = json!({"thinkingFormat": "baseten", "chatTemplateArgs": values});
    let (high, off) = (ThinkingLevel::High, ThinkingLevel::Off);
    let filled = json!({"enable_thinking": true, "effort": "much", "b": 6976, "x": 1});
    let routing = json!({"order": ["a"], "allow_fallbacks": false});
    for (compat, level, expected) in [
        (template.clone(), high, json!({"chat_template_kwargs": filled})),
        (template, off, json!({"chat_template_kwargs": {"enable_thinking": false, "x": 1}})),
        (baseten.clone(), high, json!({"chat_template_args": filled})),
        (baseten, off, json!({"chat_template_args": {"enable_thinking": false, "x": 1}})),
        (json!({"thinkingFormat": "ant-ling"}), high, json!({"reasoning": {"effort": "much"}})),
        (json!({"thinkingFormat": "ant-ling"}), off, json!({})),
        (json!({"thinkingTokenBudgetField": "thinking_budget"}), high, json!({"thinking_budget": 6976})),
        (json!({"supportsThinkingTokenBudget": true}), high, json!({"thinking_token_budget": 6976})),
        (json!({"supportsThinkingTokenBudget": true}), off, json!({})),
        (json!({"openRouterRouting": routing}), off, json!({"provider": routing})),
        (
            json!({"vercelGatewayRouting": {"only": ["a"], "x": 1}}),
            off,
            json!({"providerOptions": {"gateway": {"only": ["a"]}}}),
        ),
        (json!({"vercelGatewayRouting": {}}), off, json!({})),
        (json!({"vllmPriority": -2}), off, json!({"priority": -2})),
        (json!({"zaiToolStream": true}), off, json!({"tool_stream": true})),
    ] {
        assert_eq!(added(&compat, level), expected, "{compat} {}", level.as_str());
    }
}

#[test]
fn the_session_is_told_in_headers_and_in_the_cache_key() {
    let asked = |provider: &str, api: Api, compat: Value| {
        let compat: Compat = serde_json::from_value(compat).unwrap();
        let model = Model { provider: provider.to_owned(), compat, ..model(api, "http://x") };
        let mut asked = request(model, vec![user("x")]);
        asked.session_id = Some("s1".to_owned());
        let sent = Outgoing::new(&asked).unwrap();
        let told = sent.headers.iter().filter(|(_, value)| value.expose() == "s1");
        let names: Vec<&str> = told.map(|(name, _)| name.as_str()).collect();
        let body: Value = serde_json::from_str(&sent.body).unwrap();
        format!("{} | {}", names.join(" "), body["prompt_cache_key"].as_str().unwrap_or_default())
    };
    let affinity = json!({"sendSessionAffinityHeaders": true});
    for (provider, api, compat, expected) in [
        ("openai", Api::Responses, json!({}), "session-id x-client-request-id | s1"),
        ("openai", Api::Responses, json!({"sessionAffinityFormat": "openai-nosession"}), "x-client-request-id | s1"),
        ("openai", Api::Responses, json!({"promptCacheKeyMode": "disabled"}), "session-id x-client-request-id | "),
        ("baseten", Api::Completions, affinity.clone(), "session_id x-client-request-id x-session-affinity | "),
        ("groq", Api::Completions, json!({"promptCacheKeyMode": "enabled"}), " | s1"),
        ("openrouter", Api::Anthropic, json!({}), "x-session-id | "),
        ("fireworks", Api::Anthropic, affinity, "x-session-affinity | "),
        ("opencode", Api::Google, json!({}), "x-opencode-session | "),
    ] {
        assert_eq!(asked(provider, api, compat.clone()), expected, "{provider} {api:?} {compat}");
    }
}
