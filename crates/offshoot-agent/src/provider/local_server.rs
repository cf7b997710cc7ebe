//! Model servers on the person's own machine: which kinds there are, where each listens, and what a found model is for a request.
//! Asks none of them.

use offshoot_protocol::Levels;
use offshoot_protocol::model::{Compat, Model};
use offshoot_session::clock::Millis;
use serde::{Deserialize, Serialize};

/// Where a server does not say how much a model takes.
const WINDOW: u64 = 128_000;
const ANSWER: u64 = 16_384;

/// A kind of model server that people run themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum LocalServer {
    #[serde(rename = "ollama")]
    Ollama,
    #[serde(rename = "lm-studio")]
    LmStudio,
    #[serde(rename = "llama.cpp")]
    LlamaCpp,
    #[serde(rename = "vllm")]
    Vllm,
}

/// A model of a server, as far as the server tells.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LocalModel {
    /// Its name at the server.
    pub id: String,
    /// How many tokens it takes; `None` if the server does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// How it is asked to think, or not to.
    pub thinking: LocalThinking,
    /// Whether it sees pictures.
    pub images: bool,
    /// Whether the server refuses requests with tools for it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub refuses_tools: bool,
}

/// How a model of an own server is asked to think.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LocalThinking {
    /// Nothing is known: nothing is asked for.
    #[default]
    Unknown,
    /// By `reasoning_effort`.
    Effort,
    /// By a switch of its chat template.
    Template,
}

/// A server that answered, and its models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalModels {
    /// The kind.
    pub server: LocalServer,
    /// Where it answered, without `/v1`.
    pub address: String,
    /// When it answered.
    pub date: Millis,
    /// Its models that write text.
    pub models: Vec<LocalModel>,
}

impl LocalServer {
    /// Every kind, in the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::Ollama, Self::LmStudio, Self::LlamaCpp, Self::Vllm];

    /// The kind with this provider's name, whose case does not count.
    #[must_use]
    pub fn of_provider(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|server| server.provider().eq_ignore_ascii_case(name))
    }

    /// The name of its models' provider.
    #[must_use]
    pub fn provider(self) -> &'static str {
        match self {
            Self::Ollama => "ollama",
            Self::LmStudio => "lm-studio",
            Self::LlamaCpp => "llama.cpp",
            Self::Vllm => "vllm",
        }
    }

    /// Its name for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Ollama => "Ollama",
            Self::LmStudio => "LM Studio",
            Self::LlamaCpp => "llama.cpp",
            Self::Vllm => "vLLM",
        }
    }

    /// The variable with its key, which only some people give it.
    pub(crate) fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::Ollama => None,
            Self::LmStudio => Some("LM_API_TOKEN"),
            Self::LlamaCpp => Some("LLAMA_API_KEY"),
            Self::Vllm => Some("VLLM_API_KEY"),
        }
    }

    fn port(self) -> u16 {
        match self {
            Self::Ollama => 11434,
            Self::LmStudio => 1234,
            Self::LlamaCpp => 8080,
            Self::Vllm => 8000,
        }
    }

    /// Where it is looked for, without `/v1`: at the address of its variable, else at its usual port on this machine.
    #[must_use]
    pub fn address(self, env: &dyn Fn(&str) -> Option<String>) -> String {
        let get = |name: &str| {
            let value = env(name)?;
            let value = value.trim().trim_matches(['"', '\'']).trim().to_owned();
            (!value.is_empty()).then_some(value)
        };
        let usual = format!("http://127.0.0.1:{}", self.port());
        let named = match self {
            Self::Ollama => get("OLLAMA_HOST"),
            Self::LmStudio => get("LM_STUDIO_BASE_URL"),
            Self::LlamaCpp => get("LLAMA_BASE_URL").or_else(|| {
                let (host, port) = (get("LLAMA_ARG_HOST"), get("LLAMA_ARG_PORT"));
                let has_one = host.is_some() || port.is_some();
                let port = port.unwrap_or_else(|| self.port().to_string());
                has_one.then(|| format!("{}:{port}", host.unwrap_or_else(|| "127.0.0.1".to_owned())))
            }),
            Self::Vllm => get("VLLM_BASE_URL"),
        };
        named.map_or(usual, |named| self.whole_address(&named))
    }

    /// An address as programs take it: the scheme, the host and the port may be missing.
    fn whole_address(self, named: &str) -> String {
        let (scheme, rest) = named.split_once("://").unwrap_or(("http", named));
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let path = path.trim_end_matches('/');
        let path = path.strip_suffix("v1").unwrap_or(path).trim_end_matches('/');
        let path = if path.is_empty() { String::new() } else { format!("/{path}") };
        // With a scheme, a missing port is the scheme's.
        let port = if named.contains("://") { None } else { Some(self.port()) };
        let is_six = |host: &str| host.matches(':').count() > 1 && !host.starts_with('[');
        let (host, port) = match host.rsplit_once(':') {
            _ if is_six(host) => (format!("[{host}]"), port),
            Some((name, number)) if !number.ends_with(']') => {
                (name.to_owned(), number.parse().ok().or(Some(self.port())))
            }
            _ => (host.to_owned(), port),
        };
        // A server listens at these; a client cannot ask there.
        let host = match host.as_str() {
            "" | "0.0.0.0" => "127.0.0.1",
            "[::]" => "[::1]",
            host => host,
        };
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{host}{port}{path}", scheme.to_ascii_lowercase())
    }
}

impl LocalModels {
    /// Where requests go.
    pub(crate) fn base_url(&self) -> String {
        format!("{}/v1", self.address)
    }

    /// The models for requests.
    pub(crate) fn models(&self) -> impl Iterator<Item = Model> {
        self.models.iter().map(|found| self.model(found))
    }

    fn model(&self, found: &LocalModel) -> Model {
        let context_window = found.context_window.unwrap_or(WINDOW);
        let level = |name: &'static str, named: Option<&str>| (name, named.map(str::to_owned));
        let levels = match found.thinking {
            LocalThinking::Unknown => Levels::default(),
            LocalThinking::Effort => Levels::new([level("off", Some("none")), level("minimal", None)]),
            LocalThinking::Template => Levels::new([level("minimal", None), level("low", None), level("high", None)]),
        };
        let template = (found.thinking == LocalThinking::Template).then(|| "qwen-chat-template".to_owned());
        Model {
            id: found.id.clone(),
            name: found.id.clone(),
            api: "openai-completions".to_owned(),
            provider: self.server.provider().to_owned(),
            base_url: self.base_url(),
            reasoning: found.thinking != LocalThinking::Unknown,
            levels,
            images: found.images,
            context_window,
            max_tokens: ANSWER.min(context_window),
            compat: Compat {
                supports_store: Some(false),
                supports_developer_role: Some(false),
                supports_reasoning_effort: Some(found.thinking == LocalThinking::Effort),
                supports_strict_mode: Some(false),
                max_tokens_field: Some("max_tokens".to_owned()),
                thinking_format: template,
                refuses_tools: found.refuses_tools,
                ..Compat::default()
            },
            ..Model::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_looked_for_where_their_variables_say() {
        let at = |server: LocalServer, variables: &[(&str, &str)]| {
            server.address(&|name| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            })
        };
        let usual = LocalServer::ALL.map(|server| at(server, &[]));
        assert_eq!(
            usual,
            ["http://127.0.0.1:11434", "http://127.0.0.1:1234", "http://127.0.0.1:8080", "http://127.0.0.1:8000"]
        );
        for (host, expected) in [
            ("", "http://127.0.0.1:11434"),
            (" \"box\" ", "http://box:11434"),
            (":4000", "http://127.0.0.1:4000"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("0.0.0.0:99", "http://127.0.0.1:99"),
            ("box:80x", "http://box:11434"),
            ("::1", "http://[::1]:11434"),
            ("[::]:7", "http://[::1]:7"),
            ("[::1]", "http://[::1]:11434"),
            ("http://box", "http://box"),
            ("HTTPS://box:8443/", "https://box:8443"),
            ("https://box/ollama/v1/", "https://box/ollama"),
        ] {
            assert_eq!(at(LocalServer::Ollama, &[("OLLAMA_HOST", host)]), expected, "{host}");
        }
        let llama = |variables| at(LocalServer::LlamaCpp, variables);
        assert_eq!(llama(&[("LLAMA_ARG_PORT", "9")]), "http://127.0.0.1:9");
        assert_eq!(llama(&[("LLAMA_ARG_HOST", "0.0.0.0")]), "http://127.0.0.1:8080");
        assert_eq!(llama(&[("LLAMA_ARG_PORT", "9"), ("LLAMA_BASE_URL", "http://box:1/v1")]), "http://box:1");
        assert_eq!(at(LocalServer::Vllm, &[("VLLM_BASE_URL", "http://box:1/v1")]), "http://box:1");
        assert_eq!(at(LocalServer::LmStudio, &[("LM_STUDIO_BASE_URL", "box:1")]), "http://box:1");
    }
}
