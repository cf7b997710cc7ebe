//! A model, how it is reached, what it can do and what it costs. Knows no wire format.

use serde::Deserialize;
use serde_json::Value;

use crate::cache_retention::CacheRetention;
use crate::levels::Levels;
use crate::message::{AssistantMessage, StopReason, Usage};
use crate::secret::Secret;
use crate::thinking::ThinkingBudgets;

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Price {
    pub input: f64,
    pub output: f64,
    pub cache_read: f64,
    pub cache_write: f64,
}

/// The price of requests with a larger context.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PriceTier {
    /// Applies above this many input tokens, cached ones included.
    pub above: u64,
    /// For the whole request.
    pub price: Price,
}

/// What signs requests to AWS.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct AwsSigning {
    pub access_key_id: Secret,
    pub secret_access_key: Secret,
    pub session_token: Option<Secret>,
    pub region: String,
    /// What a person does when the keys have expired.
    pub renewal: String,
}

/// A model and how to reach it.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Model {
    /// The provider's id.
    pub id: String,
    /// Its name in requests, where that is not the id: a deployment of the person's own.
    pub sent_as: Option<String>,
    pub name: String,
    /// The wire format: `anthropic-messages`, `openai-responses`, `openai-completions`, `google-generative-ai`,
    /// `mistral-conversations`, `bedrock-converse-stream`.
    pub api: String,
    pub provider: String,
    pub base_url: String,
    /// Whether it can think.
    pub reasoning: bool,
    /// Whether it accepts images.
    pub images: bool,
    /// In tokens.
    pub context_window: u64,
    /// The limit of an answer, in tokens.
    pub max_tokens: u64,
    pub price: Price,
    /// Prices for large contexts.
    pub tiers: Vec<PriceTier>,
    /// Its names of the thinking levels.
    pub levels: Levels,
    pub compat: Compat,
    /// Sent with every request. Their values may be keys.
    pub headers: Vec<(String, Secret)>,
    /// Whether the key is also sent as `Authorization: Bearer`, beside the wire format's own place.
    pub auth_header: bool,
    /// How requests are signed, instead of a key.
    pub signing: Option<AwsSigning>,
    /// The user's thinking tokens of each level, for models that take a number.
    pub budgets: ThinkingBudgets,
    /// Members of every request of Responses and Chat Completions; an object, or null.
    pub sampling: Value,
    /// The same by the name of a thinking level, over the others.
    pub sampling_by_level: Value,
    /// How long the provider is asked to keep the beginning of a conversation.
    pub cache_retention: CacheRetention,
}

/// Differences of an endpoint from others of its wire format. `None` is guessed from provider and address.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Compat {
    /// Anthropic: the model decides how much to think; it gets an effort instead of a budget.
    pub force_adaptive_thinking: Option<bool>,
    /// Anthropic: thinking without a signature may be sent back as thinking.
    pub allow_empty_signature: Option<bool>,
    /// Anthropic: tools may request streaming of arguments.
    pub supports_eager_tool_input_streaming: Option<bool>,
    pub supports_cache_control_on_tools: Option<bool>,
    /// OpenAI: the system prompt has the role `developer` for models that think.
    pub supports_developer_role: Option<bool>,
    pub supports_max_output_tokens: Option<bool>,
    pub supports_store: Option<bool>,
    pub supports_reasoning_effort: Option<bool>,
    pub supports_usage_in_streaming: Option<bool>,
    /// Completions: streams end with a `finish_reason`.
    pub supports_finish_reason: Option<bool>,
    pub supports_strict_mode: Option<bool>,
    /// Completions: `max_tokens` or `max_completion_tokens`.
    pub max_tokens_field: Option<String>,
    /// Completions: results name their tool.
    pub requires_tool_result_name: Option<bool>,
    /// Completions: an assistant message must separate a result from a user message.
    pub requires_assistant_after_tool_result: Option<bool>,
    /// Completions: the server refuses tools for this model. Offshoot's own, of servers on this machine.
    pub refuses_tools: bool,
    /// Completions: thinking is sent back as text.
    pub requires_thinking_as_text: Option<bool>,
    /// Completions: every assistant message has `reasoning_content`.
    pub requires_reasoning_content_on_assistant_messages: Option<bool>,
    /// Completions: how thinking is requested: `openai`, `openrouter`, `deepseek`, `zai`, `qwen`, `qwen-chat-template`,
    /// `chat-template`, `baseten`, `ant-ling`, `together`, `string-thinking`.
    pub thinking_format: Option<String>,
    /// Completions: `anthropic` if messages carry Anthropic's cache marks.
    pub cache_control_format: Option<String>,
    /// Completions: an assistant message without text has an empty text instead of null.
    pub requires_non_null_assistant_content: Option<bool>,
    /// Completions: values for the server's chat template, for the format `chat-template`.
    pub chat_template_kwargs: Option<Value>,
    /// Completions: the same for the format `baseten`.
    pub chat_template_args: Option<Value>,
    /// Completions: the member that limits the tokens of thinking.
    pub thinking_token_budget_field: Option<String>,
    /// Completions: that member is `thinking_token_budget`.
    pub supports_thinking_token_budget: Option<bool>,
    /// Completions: OpenRouter's choice of servers, sent as it is.
    pub open_router_routing: Option<Value>,
    /// Completions: the choice of servers of Vercel's gateway: `only` and `order`.
    pub vercel_gateway_routing: Option<Value>,
    /// Completions: arguments of tools are streamed.
    pub zai_tool_stream: Option<bool>,
    /// Completions: vLLM's priority of the request.
    pub vllm_priority: Option<Value>,
    /// OpenAI: whether the session's id is sent as the key of the prompt cache: `auto`, `enabled`, `disabled`.
    pub prompt_cache_key_mode: Option<String>,
    /// Headers tell the session's id, so that its requests reach the same server.
    pub send_session_affinity_headers: Option<bool>,
    /// Which headers: `openai`, `openai-nosession`, `openrouter`.
    pub session_affinity_format: Option<String>,
    /// The cache can be asked to keep a conversation for longer.
    pub supports_long_cache_retention: Option<bool>,
    /// Responses: the cache is asked by `prompt_cache_options`, which can also turn it off.
    pub supports_explicit_prompt_cache_mode: Option<bool>,
}

impl Model {
    /// Its name in requests.
    #[must_use]
    pub fn sent_name(&self) -> &str {
        self.sent_as.as_deref().unwrap_or(&self.id)
    }

    /// An answer without content, which is not finished.
    pub fn blank_answer(&self, timestamp: i64) -> AssistantMessage {
        AssistantMessage {
            content: Vec::new(),
            api: self.api.clone(),
            provider: self.provider.clone(),
            model: self.id.clone(),
            response_id: None,
            usage: Usage::default(),
            stop_reason: StopReason::Pending,
            error_message: None,
            timestamp,
        }
    }
}
