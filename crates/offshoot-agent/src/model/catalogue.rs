//! The built-in models, as data that `cargo xtask models` writes: an index of providers and ids, and a part for each provider
//! whose rows are parsed when that provider is asked for. Knows no user's file and no key.

use std::sync::OnceLock;

use offshoot_protocol::model::Model;

use super::definition;
use super::file;

const INDEX: &str = include_str!("catalogue/index.tsv");
const ROWS: &str = include_str!("catalogue/models.jsonl");

/// Each provider's default model, as in pi.
const DEFAULTS: [(&str, &str); 42] = [
    ("amazon-bedrock", "us.anthropic.claude-opus-5-5"),
    ("ant-ling", "Ring-2.6-1T"),
    ("anthropic", "claude-opus-5-5"),
    ("azure", "gpt-6.2-sol"),
    ("baseten", "zai-org/GLM-5.3"),
    ("cerebras", "gpt-oss-120b"),
    ("cloudflare-ai-gateway", "workers-ai/@cf/moonshotai/kimi-k2.7-code"),
    ("cloudflare-workers-ai", "@cf/moonshotai/kimi-k2.7-code"),
    ("deepseek", "deepseek-v4-pro"),
    ("fireworks", "accounts/fireworks/models/kimi-k3"),
    ("github-copilot", "gpt-6.1-sol"),
    ("google", "gemini-4-argon"),
    ("google-vertex", "gemini-4-argon"),
    ("groq", "openai/gpt-oss-120b"),
    ("huggingface", "moonshotai/Kimi-K2.7-Code"),
    ("kimi-coding", "kimi-for-coding"),
    ("meta", "muse-spark-1.3"),
    ("minimax", "MiniMax-M3"),
    ("minimax-cn", "MiniMax-M3"),
    ("mistral", "devstral-medium-latest"),
    ("moonshotai", "kimi-k2.7-code"),
    ("moonshotai-cn", "kimi-k2.7-code"),
    ("nvidia", "nvidia/nemotron-3.5-super-vl-120b-a12b"),
    ("openai", "gpt-6.2-sol"),
    ("openai-codex", "gpt-6.2-sol"),
    ("opencode", "kimi-k2.7-code"),
    ("opencode-go", "kimi-k3.1-pro"),
    ("openrouter", "moonshotai/kimi-k2.7-code"),
    ("qwen-token-plan", "qwen3.8-max"),
    ("qwen-token-plan-cn", "qwen3.8-max"),
    ("qwen-token-plan-individual", "qwen3.8-max"),
    ("qwen-token-plan-individual-cn", "qwen3.8-max"),
    ("radius", "balanced"),
    ("together", "moonshotai/Kimi-K3"),
    ("vercel-ai-gateway", "zai/glm-5.3"),
    ("xai", "grok-4.7"),
    ("xiaomi", "mimo-v2.6-pro"),
    ("xiaomi-token-plan-ams", "mimo-v2.6-pro"),
    ("xiaomi-token-plan-cn", "mimo-v2.6-pro"),
    ("xiaomi-token-plan-sgp", "mimo-v2.6-pro"),
    ("zai", "glm-5.3"),
    ("zai-coding-cn", "glm-5.3"),
];

/// Providers that sell the models that they make. A bare id means its maker.
const MAKERS: [&str; 13] = [
    "anthropic",
    "openai",
    "google",
    "xai",
    "deepseek",
    "mistral",
    "meta",
    "moonshotai",
    "zai",
    "minimax",
    "xiaomi",
    "ant-ling",
    "nvidia",
];

/// Providers that are listed and cannot be asked, although their wire format is known.
const WITHHELD: [(&str, &str); 1] =
    [("github-copilot", "its tokens work only when a program poses as another vendor's client")];

/// A provider of the catalogue.
#[derive(Debug)]
pub(super) struct CatalogueProvider {
    pub(super) id: &'static str,
    /// Its name for people.
    pub(super) name: &'static str,
    variables: &'static str,
    ids: &'static str,
    rows: &'static str,
}

/// All providers, in the order in which they are listed.
pub(super) fn providers() -> &'static [CatalogueProvider] {
    static ALL: OnceLock<Vec<CatalogueProvider>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut rest = ROWS;
        let lines = INDEX.lines().filter(|line| !line.starts_with('#'));
        // A test proves that the index is valid.
        lines.filter_map(|line| CatalogueProvider::read(line, &mut rest)).collect()
    })
}

pub(super) fn provider(id: &str) -> Option<&'static CatalogueProvider> {
    providers().iter().find(|known| known.id == id)
}

/// Where the facts are from, and of which day they are (`YYYY-MM-DD`).
pub(super) fn source() -> (&'static str, &'static str) {
    let line = INDEX.lines().nth(1).and_then(|line| line.strip_prefix("# "));
    line.and_then(|line| line.split_once('\t')).unwrap_or_default()
}

pub(super) fn default_of(provider: &str) -> Option<&'static str> {
    DEFAULTS.iter().find(|(known, _)| *known == provider).map(|(_, id)| *id)
}

pub(super) fn is_maker(provider: &str) -> bool {
    MAKERS.contains(&provider)
}

pub(super) fn withheld(provider: &str) -> Option<&'static str> {
    WITHHELD.iter().find(|(known, _)| *known == provider).map(|(_, why)| *why)
}

impl CatalogueProvider {
    /// Takes this provider's rows off `rest`.
    fn read(line: &'static str, rest: &mut &'static str) -> Option<Self> {
        let mut members = line.splitn(5, '\t');
        let mut next = || members.next();
        let (id, name, variables, bytes, ids) = (next()?, next()?, next()?, next()?, next()?);
        let (rows, others) = rest.split_at_checked(bytes.parse().ok()?)?;
        *rest = others;
        Some(Self { id, name, variables, ids, rows })
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = &'static str> {
        self.ids.split(' ')
    }

    /// The variables that its key may be in, in the order in which they are asked.
    pub(super) fn variables(&self) -> impl Iterator<Item = &'static str> {
        // pi knows the first one only.
        let more = (self.id == "google").then_some("GOOGLE_API_KEY");
        self.variables.split(' ').filter(|name| !name.is_empty()).chain(more)
    }

    /// Parses the rows.
    pub(super) fn models(&self) -> Vec<Model> {
        let mut lines = self.rows.lines();
        // A test proves that every row is valid.
        let shared: file::Provider = lines.next().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
        let read = |line| definition::define(self.id, &shared, &serde_json::from_str(line).ok()?, None).ok();
        lines.filter_map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Api;

    /// Every row is a model of the index, and nothing of the rows is left.
    #[test]
    fn the_index_names_each_row() {
        let mut bytes = 0;
        for provider in providers() {
            let models = provider.models();
            let ids: Vec<&str> = models.iter().map(|model| model.id.as_str()).collect();
            assert_eq!(ids, provider.ids().collect::<Vec<_>>(), "{}", provider.id);
            bytes += provider.rows.len();
        }
        assert_eq!(bytes, ROWS.len());
        let (from, date) = source();
        assert!(from.starts_with("@earendil-works/pi-ai ") && date.len() == 10, "{from} {date}");
    }

    #[test]
    fn every_model_is_sound() {
        let mut usable = 0;
        for model in providers().iter().flat_map(CatalogueProvider::models) {
            assert!(model.context_window > 0 && model.max_tokens > 0, "{model:?}");
            assert!(model.price.input >= 0.0 && model.price.output >= 0.0, "{model:?}");
            let is_spoken = Api::parse(&model.api).is_some();
            assert!(model.base_url.starts_with("https://") || !is_spoken || model.provider == "azure", "{model:?}");
            // A value could be taken for a key, or name a variable.
            assert!(model.headers.iter().all(|(_, value)| value.expose().len() < 20), "{model:?}");
            assert!(withheld(&model.provider).is_none() || model.headers.is_empty(), "{model:?}");
            usable += usize::from(is_spoken && withheld(&model.provider).is_none());
        }
        assert!(usable > 1200, "{usable}");
    }

    #[test]
    fn each_default_is_a_model_of_its_provider() {
        for provider in providers() {
            let default = default_of(provider.id).unwrap_or_else(|| panic!("{} has no default", provider.id));
            assert!(provider.ids().any(|id| id == default), "{} has no {default}", provider.id);
        }
        assert!(MAKERS.iter().all(|maker| provider(maker).is_some()));
        assert!(WITHHELD.iter().all(|(id, _)| provider(id).is_some()));
    }
}
