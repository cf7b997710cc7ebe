//! Members of `compat` that change a request, as pi 1.6.0 builds it.

use std::path::Path;

use offshoot_agent::model::Models;
use offshoot_agent::provider::{Api, Outgoing};
use offshoot_protocol::model::{Compat, Model};
use offshoot_protocol::{CacheRetention, Levels, ThinkingLevel};
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

#[test]
fn each_wire_is_asked_in_its_way_how_long_its_cache_keeps_a_conversation() {
    let asked = |provider: &str, api: Api, compat: Value, cache_retention: CacheRetention| {
        let compat: Compat = serde_json::from_value(compat).unwrap();
        let model = Model { provider: provider.to_owned(), compat, cache_retention, ..model(api, "http://x") };
        let mut asked = request(model, vec![user("x")]);
        asked.session_id = Some("s1".to_owned());
        let sent = Outgoing::new(&asked).unwrap();
        let told = sent.headers.iter().filter(|(_, value)| value.expose() == "s1").count();
        let body: Value = serde_json::from_str(&sent.body).unwrap();
        let marks = sent.body.matches(r#""cache_control":{"type":"ephemeral"}"#).count();
        let hours = sent.body.matches(r#""cache_control":{"type":"ephemeral","ttl":"1h"}"#).count();
        let members = ["prompt_cache_key", "prompt_cache_retention", "prompt_cache_options"];
        let members = members.into_iter().filter_map(|name| Some(format!(" {name}={}", body.get(name)?)));
        format!("{told} {marks} {hours}{}", members.collect::<String>())
    };
    let (none, short, long) = (CacheRetention::None, CacheRetention::Short, CacheRetention::Long);
    let is_short = json!({"supportsLongCacheRetention": false});
    let explicit = json!({"supportsExplicitPromptCacheMode": true});
    let marked = json!({"cacheControlFormat": "anthropic", "sendSessionAffinityHeaders": true});
    for (provider, api, compat, retention, expected) in [
        ("anthropic", Api::Anthropic, json!({}), none, "0 0 0"),
        ("anthropic", Api::Anthropic, json!({}), short, "0 3 0"),
        ("anthropic", Api::Anthropic, json!({}), long, "0 0 3"),
        ("anthropic", Api::Anthropic, is_short.clone(), long, "0 3 0"),
        ("openai", Api::Responses, json!({}), none, "0 0 0"),
        ("openai", Api::Responses, json!({}), short, r#"2 0 0 prompt_cache_key="s1""#),
        ("openai", Api::Responses, json!({}), long, r#"2 0 0 prompt_cache_key="s1" prompt_cache_retention="24h""#),
        ("openai", Api::Responses, is_short.clone(), long, r#"2 0 0 prompt_cache_key="s1""#),
        ("openai", Api::Responses, explicit.clone(), none, r#"0 0 0 prompt_cache_options={"mode":"explicit"}"#),
        ("openai", Api::Responses, explicit.clone(), short, r#"2 0 0 prompt_cache_key="s1""#),
        ("openai", Api::Responses, explicit, long, r#"2 0 0 prompt_cache_key="s1" prompt_cache_options={"ttl":"30m"}"#),
        ("groq", Api::Completions, json!({}), short, "0 0 0"),
        ("groq", Api::Completions, json!({}), long, r#"0 0 0 prompt_cache_key="s1" prompt_cache_retention="24h""#),
        ("together", Api::Completions, json!({}), long, "0 0 0"),
        ("router", Api::Completions, marked.clone(), none, "0 0 0"),
        ("router", Api::Completions, marked.clone(), short, "3 3 0"),
        ("router", Api::Completions, marked, long, r#"3 0 3 prompt_cache_key="s1" prompt_cache_retention="24h""#),
        ("google", Api::Google, json!({}), long, "0 0 0"),
        ("opencode", Api::Google, json!({}), none, "1 0 0"),
    ] {
        let got = asked(provider, api, compat.clone(), retention);
        assert_eq!(got, expected, "{provider} {api:?} {compat} {}", retention.as_str());
    }
}

/// As pi's `samplingParams`: the level's members over the model's, and both over what the wire format says.
#[test]
fn members_of_models_json_are_in_every_request_of_the_openai_wires() {
    let file = json!({"providers": {"own": {"baseUrl": "http://x", "models": [
        {"id": "c", "api": "openai-completions", "reasoning": true, "samplingParams": {"temperature": 0.6, "top_p": 0.9, "stream": 1},
         "samplingParamsByThinkingLevel": {"off": {"temperature": 0}, "high": {"top_k": 20}}},
        {"id": "r", "api": "openai-responses", "samplingParams": {"temperature": 0.6}},
        {"id": "a", "api": "anthropic-messages", "samplingParams": {"temperature": 0.6}},
    ], "modelOverrides": {"c": {"samplingParams": {"top_p": 0.5}, "samplingParamsByThinkingLevel": {"high": {"min_p": 1}}}}}}});
    let mut models = Models::default();
    assert_eq!(models.read(Path::new("models.json"), &file.to_string()), []);
    let asked = |id: &str, thinking: ThinkingLevel| {
        let mut asked = request(models.get("own", id).unwrap().clone(), vec![user("x")]);
        asked.thinking = thinking;
        let body: Value = serde_json::from_str(&Outgoing::new(&asked).unwrap().body).unwrap();
        let names = ["temperature", "top_p", "top_k", "min_p", "stream"];
        names.into_iter().filter_map(|name| Some(format!("{name}={} ", body.get(name)?))).collect::<String>()
    };
    assert_eq!(asked("c", ThinkingLevel::Off), "temperature=0 top_p=0.5 stream=1 ");
    assert_eq!(asked("c", ThinkingLevel::High), "temperature=0.6 top_p=0.5 top_k=20 min_p=1 stream=1 ");
    assert_eq!(asked("r", ThinkingLevel::High), "temperature=0.6 stream=true ");
    assert_eq!(asked("a", ThinkingLevel::High), "stream=true ");
}
