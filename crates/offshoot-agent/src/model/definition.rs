//! How what a file says of a provider or a model becomes a model. Reads no file.

use offshoot_protocol::model::{Compat, Model, Price, PriceTier};
use offshoot_protocol::{Levels, Secret};

use serde_json::Value;

use super::file::{self, Cost, Definition, Details, OmpThinking, Ordered, Provider};

/// The defaults of models from `models.json`.
const WINDOW: u64 = 128_000;
const ANSWER: u64 = 16_384;
/// oh-my-pi's thinking levels, the least first.
const EFFORTS: [&str; 6] = ["minimal", "low", "medium", "high", "xhigh", "max"];

/// `like`: another model of the provider.
pub(super) fn define(
    name: &str,
    provider: &Provider,
    definition: &Definition,
    like: Option<&Model>,
) -> Result<Model, String> {
    let api = definition.api.as_ref().or(provider.api.as_ref()).or(like.map(|model| &model.api));
    let url = definition.base_url.as_ref().or(provider.base_url.as_ref()).or(like.map(|model| &model.base_url));
    let id = &definition.id;
    let api = api.ok_or_else(|| format!("model {id} of {name} has no `api`; give it to the provider or the model"))?;
    let url = url.ok_or_else(|| format!("provider {name} has no `baseUrl`, which model {id} needs"))?;
    for (member, number) in
        [("contextWindow", definition.details.context_window), ("maxTokens", definition.details.max_tokens)]
    {
        if number.is_some_and(|number| number <= 0.0) {
            return Err(format!("`{member}` of model {id} is not above 0"));
        }
    }
    let mut model = Model {
        id: id.clone(),
        name: id.clone(),
        api: api.clone(),
        provider: name.to_owned(),
        base_url: url.clone(),
        context_window: WINDOW,
        max_tokens: ANSWER,
        ..Model::default()
    };
    apply_ways(&mut model, provider);
    apply_details(&mut model, &definition.details);
    Ok(model)
}

pub(super) fn apply_provider(model: &mut Model, provider: &Provider) {
    if let Some(url) = &provider.base_url {
        url.clone_into(&mut model.base_url);
    }
    apply_ways(model, provider);
}

/// All of a provider but its address.
fn apply_ways(model: &mut Model, provider: &Provider) {
    model.auth_header = provider.auth_header.unwrap_or(model.auth_header);
    model.compat = merged(provider.compat.clone(), std::mem::take(&mut model.compat));
    headers(model, &provider.headers);
}

pub(super) fn apply_details(model: &mut Model, details: &Details) {
    if let Some(name) = &details.name {
        name.clone_into(&mut model.name);
    }
    model.reasoning = details.reasoning.unwrap_or(model.reasoning);
    model
        .levels
        .extend(Levels::new(details.thinking_level_map.0.iter().map(|(level, name)| (level.as_str(), name.clone()))));
    if let Some(thinking) = &details.thinking {
        model.levels.extend(levels_of_omp(thinking));
    }
    if let Some(input) = &details.input {
        model.images = input.iter().any(|kind| kind == "image");
    }
    if let Some(cost) = &details.cost {
        price(model, cost);
    }
    model.context_window = details.context_window.map_or(model.context_window, whole);
    model.max_tokens = details.max_tokens.map_or(model.max_tokens, whole);
    model.compat = merged(details.compat.clone(), std::mem::take(&mut model.compat));
    lay_over(&mut model.sampling, &details.sampling_params);
    if let Some(levels) = details.sampling_params_by_thinking_level.as_object() {
        for (level, members) in levels {
            let by_level = model.sampling_by_level.as_object().cloned().unwrap_or_default();
            let mut of_level = by_level.get(level).cloned().unwrap_or_default();
            lay_over(&mut of_level, members);
            lay_over(&mut model.sampling_by_level, &Value::Object([(level.clone(), of_level)].into_iter().collect()));
        }
    }
    headers(model, &details.headers);
}

/// The levels that oh-my-pi does not name are not there.
fn levels_of_omp(thinking: &OmpThinking) -> Levels {
    let mapped = |level: &str| thinking.effort_map.0.iter().find(|(known, _)| known == level).map(|(_, name)| name);
    let at = |level: &Option<String>| level.as_ref().and_then(|level| EFFORTS.iter().position(|known| known == level));
    let range = at(&thinking.min_level).zip(at(&thinking.max_level));
    let is_there = |at: usize, level: &str| match (&thinking.efforts, range) {
        (Some(efforts), _) => efforts.iter().any(|known| known == level),
        (None, Some((least, greatest))) => (least..=greatest).contains(&at),
        (None, None) => true,
    };
    let levels = EFFORTS.iter().enumerate().map(|(at, level)| {
        let name = mapped(level).cloned().unwrap_or_else(|| (*level).to_owned());
        (*level, is_there(at, level).then_some(name))
    });
    Levels::new(levels)
}

/// Members of an object over those of another. What is not an object has none.
fn lay_over(below: &mut Value, over: &Value) {
    if let Value::Object(over) = over {
        let mut all = below.as_object().cloned().unwrap_or_default();
        all.extend(over.clone());
        *below = Value::Object(all);
    }
}

fn headers(model: &mut Model, headers: &Ordered<String>) {
    for (name, value) in &headers.0 {
        model.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        model.headers.push((name.clone(), Secret::new(value.clone())));
    }
}

fn price(model: &mut Model, cost: &Cost) {
    let old = model.price;
    model.price = Price {
        input: cost.input.unwrap_or(old.input),
        output: cost.output.unwrap_or(old.output),
        cache_read: cost.cache_read.unwrap_or(old.cache_read),
        cache_write: cost.cache_write.unwrap_or(old.cache_write),
    };
    if let Some(tiers) = &cost.tiers {
        let tier = |tier: &file::Tier| PriceTier {
            above: whole(tier.input_tokens_above),
            price: Price {
                input: tier.input,
                output: tier.output,
                cache_read: tier.cache_read,
                cache_write: tier.cache_write,
            },
        };
        model.tiers = tiers.iter().map(tier).collect();
    }
}

fn whole(number: f64) -> u64 {
    number.max(0.0) as u64
}

fn merged(new: Compat, old: Compat) -> Compat {
    Compat {
        refuses_tools: new.refuses_tools || old.refuses_tools,
        force_adaptive_thinking: new.force_adaptive_thinking.or(old.force_adaptive_thinking),
        allow_empty_signature: new.allow_empty_signature.or(old.allow_empty_signature),
        supports_eager_tool_input_streaming: new
            .supports_eager_tool_input_streaming
            .or(old.supports_eager_tool_input_streaming),
        supports_cache_control_on_tools: new.supports_cache_control_on_tools.or(old.supports_cache_control_on_tools),
        supports_developer_role: new.supports_developer_role.or(old.supports_developer_role),
        supports_max_output_tokens: new.supports_max_output_tokens.or(old.supports_max_output_tokens),
        supports_store: new.supports_store.or(old.supports_store),
        supports_reasoning_effort: new.supports_reasoning_effort.or(old.supports_reasoning_effort),
        supports_usage_in_streaming: new.supports_usage_in_streaming.or(old.supports_usage_in_streaming),
        supports_finish_reason: new.supports_finish_reason.or(old.supports_finish_reason),
        supports_strict_mode: new.supports_strict_mode.or(old.supports_strict_mode),
        max_tokens_field: new.max_tokens_field.or(old.max_tokens_field),
        requires_tool_result_name: new.requires_tool_result_name.or(old.requires_tool_result_name),
        requires_assistant_after_tool_result: new
            .requires_assistant_after_tool_result
            .or(old.requires_assistant_after_tool_result),
        requires_thinking_as_text: new.requires_thinking_as_text.or(old.requires_thinking_as_text),
        requires_reasoning_content_on_assistant_messages: new
            .requires_reasoning_content_on_assistant_messages
            .or(old.requires_reasoning_content_on_assistant_messages),
        thinking_format: new.thinking_format.or(old.thinking_format),
        cache_control_format: new.cache_control_format.or(old.cache_control_format),
        requires_non_null_assistant_content: new
            .requires_non_null_assistant_content
            .or(old.requires_non_null_assistant_content),
        chat_template_kwargs: members(new.chat_template_kwargs, old.chat_template_kwargs),
        chat_template_args: members(new.chat_template_args, old.chat_template_args),
        thinking_token_budget_field: new.thinking_token_budget_field.or(old.thinking_token_budget_field),
        supports_thinking_token_budget: new.supports_thinking_token_budget.or(old.supports_thinking_token_budget),
        open_router_routing: members(new.open_router_routing, old.open_router_routing),
        vercel_gateway_routing: members(new.vercel_gateway_routing, old.vercel_gateway_routing),
        zai_tool_stream: new.zai_tool_stream.or(old.zai_tool_stream),
        vllm_priority: new.vllm_priority.or(old.vllm_priority),
        prompt_cache_key_mode: new.prompt_cache_key_mode.or(old.prompt_cache_key_mode),
        send_session_affinity_headers: new.send_session_affinity_headers.or(old.send_session_affinity_headers),
        session_affinity_format: new.session_affinity_format.or(old.session_affinity_format),
        supports_long_cache_retention: new.supports_long_cache_retention.or(old.supports_long_cache_retention),
        supports_explicit_prompt_cache_mode: new
            .supports_explicit_prompt_cache_mode
            .or(old.supports_explicit_prompt_cache_mode),
    }
}

/// Objects are merged member by member; of other values the new one counts.
fn members(new: Option<Value>, old: Option<Value>) -> Option<Value> {
    match (new, old) {
        (Some(Value::Object(new)), Some(Value::Object(mut old))) => {
            old.extend(new);
            Some(Value::Object(old))
        }
        (new, old) => new.or(old),
    }
}
