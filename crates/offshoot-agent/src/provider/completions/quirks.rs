//! Differences between servers of Chat Completions: guessed from provider and address, unless configured.

use offshoot_protocol::model::Model;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quirks {
    /// Whether the server accepts `store`.
    pub(super) store: bool,
    pub(super) developer: bool,
    pub(super) effort: bool,
    pub(super) usage: bool,
    pub(super) limit: String,
    pub(super) result_name: bool,
    pub(super) bridge: bool,
    /// An assistant message without text has an empty text.
    pub(super) empty_content: bool,
    /// The member that limits the tokens of thinking.
    pub(super) budget: Option<String>,
    pub(super) thinking_as_text: bool,
    pub(super) always_reasoning: bool,
    pub(super) thinking: String,
    pub(super) anthropic_cache: bool,
    /// Whether the server's cache can be asked for a longer time.
    pub(super) long_cache: bool,
}

impl Quirks {
    pub(super) fn of(model: &Model) -> Self {
        let url = model.base_url.to_lowercase();
        let is = |names: &[&str], hosts: &[&str]| {
            names.contains(&model.provider.as_str()) || hosts.iter().any(|host| url.contains(host))
        };
        let deepseek = is(&["deepseek"], &["deepseek.com"]);
        let zai = is(&["zai", "zai-coding-cn"], &["api.z.ai", "open.bigmodel.cn"]);
        let together = is(&["together"], &["api.together.ai", "api.together.xyz"]);
        let moonshot = is(&["moonshotai", "moonshotai-cn"], &["api.moonshot."]);
        let gateway = is(&["cloudflare-ai-gateway"], &["gateway.ai.cloudflare.com"]);
        let nvidia = is(&["nvidia"], &["integrate.api.nvidia.com"]);
        let grok = is(&["xai"], &["api.x.ai"]);
        let openrouter = is(&["openrouter"], &["openrouter.ai"]);
        let chutes = url.contains("chutes.ai");
        let ling = is(&["ant-ling"], &["api.ant-ling.com"]);
        let workers = is(&["cloudflare-workers-ai"], &["api.cloudflare.com"]);
        let others = workers || is(&["cerebras", "opencode"], &["cerebras.ai", "opencode.ai"]);
        let own_way = deepseek || zai || together || moonshot || gateway || nvidia || grok || chutes || ling || others;
        let short_limit = chutes || deepseek || moonshot || gateway || together || nvidia || ling || zai;
        // The role is OpenAI's: templates of others often refuse it, and everybody takes `system`.
        let openai = is(&["openai"], &["api.openai.com"]);
        let thinking = match () {
            () if deepseek => "deepseek",
            () if zai => "zai",
            () if together => "together",
            () if ling => "ant-ling",
            () if openrouter => "openrouter",
            () => "openai",
        };
        let limit = if short_limit { "max_tokens" } else { "max_completion_tokens" };
        let said = &model.compat;
        Self {
            store: said.supports_store.unwrap_or(!own_way),
            developer: said.supports_developer_role.unwrap_or(openai),
            effort: said
                .supports_reasoning_effort
                .unwrap_or(!(grok || zai || moonshot || together || gateway || nvidia || ling)),
            usage: said.supports_usage_in_streaming != Some(false),
            limit: said.max_tokens_field.clone().unwrap_or_else(|| limit.to_owned()),
            result_name: said.requires_tool_result_name == Some(true),
            bridge: said.requires_assistant_after_tool_result == Some(true),
            empty_content: said.requires_assistant_after_tool_result == Some(true)
                || said.requires_non_null_assistant_content == Some(true),
            budget: said.thinking_token_budget_field.clone().or_else(|| {
                (said.supports_thinking_token_budget == Some(true)).then(|| "thinking_token_budget".to_owned())
            }),
            thinking_as_text: said.requires_thinking_as_text == Some(true),
            always_reasoning: said.requires_reasoning_content_on_assistant_messages.unwrap_or(deepseek),
            thinking: said.thinking_format.clone().unwrap_or_else(|| thinking.to_owned()),
            anthropic_cache: match &said.cache_control_format {
                Some(format) => format == "anthropic",
                None => openrouter && model.id.starts_with("anthropic/"),
            },
            long_cache: said
                .supports_long_cache_retention
                .unwrap_or(!(together || workers || gateway || nvidia || ling)),
        }
    }
}
