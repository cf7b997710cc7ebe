//! The table of models: built-in ones, overridden and extended by the user's.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use offshoot_protocol::model::{Compat, Model, Price, PriceTier};
use offshoot_protocol::{Levels, Secret};
use offshoot_session::medium::read_regular_text;

use super::file::{self, Cost, Definition, Details, Ordered, Provider};
use super::places::ModelPlaces;
use super::{privacy, value};

/// Ids, limits and prices, as published by the providers.
const BUILTIN: &str = include_str!("builtin.json");
/// A larger `models.json` is refused.
const LIMIT: u64 = 8 << 20;
/// Of more troubles no line is named: each search for one reads the file.
const MOST_LINES: usize = 100;
/// The defaults of models from `models.json`.
const WINDOW: u64 = 128_000;
const ANSWER: u64 = 16_384;
/// Each provider's default model.
const DEFAULTS: [(&str, &str); 3] =
    [("anthropic", "claude-opus-4-8"), ("openai", "gpt-5.5"), ("google", "gemini-3.1-pro-preview")];

#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Models {
    list: Vec<Model>,
    /// Keys in `models.json`, unresolved.
    keys: Vec<(String, Secret)>,
}

/// A problem with a user's file. Valid parts of the file still apply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {what}", path.display(), line.map(|line| format!(":{line}")).unwrap_or_default())]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Trouble {
    pub path: PathBuf,
    /// From 1.
    pub line: Option<usize>,
    /// The problem, and how to solve it.
    pub what: String,
}

impl Models {
    /// Without the user's models.
    pub fn builtin() -> Self {
        let mut models = Self::default();
        // A test proves that the file is valid.
        let file = file::parse(BUILTIN).unwrap_or_default();
        models.add(file.providers, &mut |_, _| {});
        models
    }

    /// The built-in table with `models.json` of this folder over it. A missing file is not an error.
    pub fn load(home: Option<&Path>) -> (Self, Vec<Trouble>) {
        let mut models = Self::builtin();
        let Some(path) = home.map(|home| home.join("models.json")) else { return (models, Vec::new()) };
        let text = match read_regular_text(&path, LIMIT) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return (models, Vec::new()),
            Err(error) => {
                return (models, vec![Trouble { path, line: None, what: format!("could not be read: {error}") }]);
            }
        };
        let mut troubles = models.read(&path, &text);
        if let Some(mode) = privacy::too_open(&path).filter(|_| models.has_literal_key()) {
            let what = format!("others may read the keys in it (mode {mode:03o}); `chmod 600` it");
            troubles.push(Trouble { path, line: None, what });
        }
        (models, troubles)
    }

    /// Adds the providers of the `models.json` of pi's folder that the file of `home` does not have. What is wrong with pi's
    /// file is reported as pi does: then nothing of it is used.
    #[must_use]
    pub fn behind(mut self, home: Option<&Path>, pi: &Path) -> (Self, Vec<Trouble>) {
        let path = pi.join("models.json");
        let text = match read_regular_text(&path, LIMIT) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return (self, Vec::new()),
            Err(error) => {
                return (self, vec![Trouble { path, line: None, what: format!("could not be read: {error}") }]);
            }
        };
        let own = home.and_then(|home| read_regular_text(&home.join("models.json"), LIMIT).ok());
        let own = own.and_then(|text| file::parse(&text).ok()).map(|file| file.providers);
        let is_own = |name: &str| own.as_ref().is_some_and(|own| own.0.iter().any(|(known, _)| known == name));
        match file::parse(&text) {
            Ok(mut file) => {
                file.providers.0.retain(|(name, _)| !is_own(name));
                let mut troubles = Vec::new();
                self.add(file.providers, &mut |_, what| {
                    troubles.push(Trouble { path: path.clone(), line: None, what });
                });
                (self, troubles)
            }
            Err(error) => {
                let line = Some(error.line()).filter(|line| *line > 0);
                let what = format!("{error}; nothing of the file is used until it is repaired");
                (self, vec![Trouble { path, line, what }])
            }
        }
    }

    /// The providers that a `models.json` names; none if it cannot be read.
    #[must_use]
    pub fn providers_of(path: &Path) -> Vec<String> {
        let text = read_regular_text(path, LIMIT).unwrap_or_default();
        let file = file::parse(&text).ok();
        file.map(|file| file.providers.0.into_iter().map(|(name, _)| name).collect()).unwrap_or_default()
    }

    /// Whether `models.json` itself contains a key, and not only the name of a variable or a command that prints one.
    pub fn has_literal_key(&self) -> bool {
        self.keys.iter().any(|(_, key)| value::is_literal(key.expose()) && key.is_telling())
    }

    /// Adds a provider that a program registers, in the shape of one in `models.json`. If it names models, they replace those
    /// that the provider had. `path` is for messages.
    pub fn register(&mut self, path: &Path, name: &str, provider: &serde_json::Value) -> Vec<Trouble> {
        if provider["models"].as_array().is_some_and(|models| !models.is_empty()) {
            self.list.retain(|model| model.provider != name);
        }
        self.keys.retain(|(known, _)| known != name || provider.get("apiKey").is_none());
        self.read(path, &serde_json::json!({"providers": {name: provider}}).to_string())
    }

    /// Adds the models in the text of a `models.json`; `path` is for messages.
    pub fn read(&mut self, path: &Path, text: &str) -> Vec<Trouble> {
        let mut troubles = Vec::new();
        let mut note = |line: Option<usize>, what: String| {
            troubles.push(Trouble { path: path.to_path_buf(), line, what });
        };
        match file::parse(text) {
            Ok(file) => {
                let mut asked = 0;
                self.add(file.providers, &mut |place, what| {
                    asked += 1;
                    note(if asked <= MOST_LINES { line_of(text, place) } else { None }, what);
                });
            }
            Err(error) => {
                let what = format!("{error}; nothing of the file is used until it is repaired");
                note(Some(error.line()).filter(|line| *line > 0), what);
            }
        }
        troubles
    }

    /// Providers and models are in the order of the table.
    pub fn all(&self) -> &[Model] {
        &self.list
    }

    /// Finds a model by its exact provider and id.
    pub fn get(&self, provider: &str, id: &str) -> Option<&Model> {
        self.list.iter().find(|model| model.provider == provider && model.id == id)
    }

    /// The provider's default model.
    pub fn default_of(&self, provider: &str) -> Option<&Model> {
        let named = DEFAULTS.iter().find(|(name, _)| *name == provider);
        let named = named.and_then(|(_, id)| self.get(provider, id));
        named.or_else(|| self.list.iter().find(|model| model.provider == provider))
    }

    /// In the order of the table.
    pub fn providers(&self) -> Vec<&str> {
        let mut known = HashSet::new();
        self.list.iter().map(|model| model.provider.as_str()).filter(|name| known.insert(*name)).collect()
    }

    pub(super) fn key_of(&self, provider: &str) -> Option<&Secret> {
        self.keys.iter().rfind(|(name, _)| name == provider).map(|(_, key)| key)
    }

    /// The keys and the headers that look like keys, unresolved.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &Secret> {
        let is_key = |name: &str| {
            let name = name.to_ascii_lowercase();
            ["auth", "key", "token", "secret", "cookie"].iter().any(|part| name.contains(part))
        };
        let headers = self.list.iter().flat_map(|model| &model.headers);
        let headers = headers.filter(move |(name, _)| is_key(name)).map(|(_, value)| value);
        self.keys.iter().map(|(_, key)| key).chain(headers)
    }

    fn add(&mut self, providers: Ordered<Provider>, note: &mut dyn FnMut(&str, String)) {
        let mut places = ModelPlaces::of(&self.list);
        for (name, provider) in providers.0 {
            self.keys.extend(provider.api_key.clone().map(|key| (name.clone(), Secret::new(key))));
            for at in places.of_provider(&name) {
                self.list.get_mut(*at).into_iter().for_each(|model| apply_provider(model, &provider));
            }
            for definition in &provider.models {
                let like = places.of_provider(&name).first().and_then(|at| self.list.get(*at));
                match define(&name, &provider, definition, like) {
                    Ok(model) => match places.get(&name, &model.id).and_then(|at| self.list.get_mut(at)) {
                        Some(known) => *known = model,
                        None => {
                            places.push(&model);
                            self.list.push(model);
                        }
                    },
                    Err(what) => note(&definition.id, what),
                }
            }
            for (id, details) in &provider.model_overrides.0 {
                if let Some(model) = places.get(&name, id).and_then(|at| self.list.get_mut(at)) {
                    apply_details(model, details);
                }
            }
        }
    }
}

/// `like`: another model of the provider.
fn define(name: &str, provider: &Provider, definition: &Definition, like: Option<&Model>) -> Result<Model, String> {
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

fn apply_provider(model: &mut Model, provider: &Provider) {
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

fn apply_details(model: &mut Model, details: &Details) {
    if let Some(name) = &details.name {
        name.clone_into(&mut model.name);
    }
    model.reasoning = details.reasoning.unwrap_or(model.reasoning);
    model
        .levels
        .extend(Levels::new(details.thinking_level_map.0.iter().map(|(level, name)| (level.as_str(), name.clone()))));
    if let Some(input) = &details.input {
        model.images = input.iter().any(|kind| kind == "image");
    }
    if let Some(cost) = &details.cost {
        price(model, cost);
    }
    model.context_window = details.context_window.map_or(model.context_window, whole);
    model.max_tokens = details.max_tokens.map_or(model.max_tokens, whole);
    model.compat = merged(details.compat.clone(), std::mem::take(&mut model.compat));
    headers(model, &details.headers);
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
    }
}

/// The first line that contains a name in quotes.
fn line_of(text: &str, name: &str) -> Option<usize> {
    let quoted = serde_json::Value::from(name).to_string();
    text.lines().position(|line| line.contains(&quoted)).map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use offshoot_protocol::ThinkingLevel;

    use super::*;

    fn with(text: &str) -> (Models, Vec<String>) {
        let mut models = Models::builtin();
        let troubles = models.read(Path::new("models.json"), text);
        (models, troubles.iter().map(ToString::to_string).collect())
    }

    /// The time grew with the square of the number of models: a file of 8 MiB took minutes.
    #[test]
    fn thousands_of_models_are_read_in_one_pass() {
        let models = |provider: usize| {
            let ids = (0..100).map(|id| format!(r#"{{"id": "m{id}"}}"#)).collect::<Vec<_>>().join(",");
            format!(
                r#""p{provider}": {{"baseUrl": "http://x", "api": "openai-completions", "models": [{ids}, {ids}],
                "modelOverrides": {{"m7": {{"name": "seven"}}}}}}"#
            )
        };
        let many = (0..300).map(models).collect::<Vec<_>>().join(",");
        let (table, troubles) = with(&format!(r#"{{"providers": {{{many}}}}}"#));
        assert_eq!(troubles, [""; 0]);
        let builtin = Models::builtin();
        assert_eq!(table.all().len(), builtin.all().len() + 30_000, "a model that is defined again is replaced");
        assert_eq!(table.providers().len(), builtin.providers().len() + 300);
        assert_eq!(table.get("p299", "m7").unwrap().name, "seven");
    }

    #[test]
    fn the_built_in_table_is_sound() {
        let models = Models::builtin();
        assert_eq!(models.providers(), ["anthropic", "openai", "google"]);
        assert!(models.all().len() >= 40);
        for model in models.all() {
            assert!(model.context_window > 0 && model.max_tokens > 0 && model.price.output > 0.0, "{model:?}");
            assert!(crate::provider::Api::parse(&model.api).is_some(), "{model:?}");
            assert!(model.base_url.starts_with("https://"), "{model:?}");
        }
        for (provider, id) in DEFAULTS {
            assert_eq!(models.default_of(provider).unwrap().id, id);
        }
        let opus = models.get("anthropic", "claude-opus-4-8").unwrap();
        assert_eq!(opus.clamp(ThinkingLevel::Max), ThinkingLevel::Max);
        assert_eq!(opus.compat.force_adaptive_thinking, Some(true));
        let gpt = models.get("openai", "gpt-5.5").unwrap();
        assert_eq!((gpt.tiers[0].above, gpt.tiers[0].price.input), (272_000, 10.0));
        assert_eq!(gpt.compat.supports_strict_mode, Some(true));
    }

    fn loaded(home: &Path) -> Vec<String> {
        Models::load(Some(home)).1.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_file_with_keys_that_others_may_read_is_warned_of() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("models.json");
        let warnings = |key: &str, mode: u32| {
            std::fs::write(&file, format!(r#"{{"providers": {{"openai": {{"apiKey": "{key}"}}}}}}"#)).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            loaded(home.path())
        };
        let key = "sk-0123456789-0123456789";
        let warning = format!("{}: others may read the keys in it (mode 644); `chmod 600` it", file.display());
        assert_eq!(warnings(key, 0o644), [warning]);
        assert_eq!(warnings(key, 0o600), [""; 0]);
        for harmless in
            ["lm-studio", "$A_VARIABLE_WITH_A_LONG_NAME", "A_VARIABLE_WITH_A_LONG_NAME", "!pass show openai-key-1"]
        {
            assert_eq!(warnings(harmless, 0o644), [""; 0], "{harmless}");
        }
    }

    /// A FIFO waited for ever, and a link to `/dev/zero` filled the memory.
    #[test]
    fn a_file_that_never_ends_is_not_read() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("models.json");
        std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
        assert!(loaded(home.path())[0].contains("could not be read: it is a device, not a regular file"));
        std::fs::remove_file(&file).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
        assert!(loaded(home.path())[0].contains("could not be read: it is a FIFO, not a regular file"));
    }

    #[test]
    fn the_users_file_adds_replaces_and_changes() {
        let (models, troubles) = with(
            r#"{"$schema": "x", "providers": {
              "ollama": {"baseUrl": "http://localhost:11434/v1", "api": "openai-completions", "apiKey": "ollama", "future": 1,
                "compat": {"supportsStore": false, "future": []},
                "models": [{"id": "qwen:7b"}, {"id": "big", "name": "Big", "reasoning": true, "input": ["text", "image"],
                  "contextWindow": 32000, "maxTokens": 4000, "cost": {"input": 1}, "headers": {"x-a": "1"},
                  "compat": {"maxTokensField": "max_tokens"}, "thinkingLevelMap": {"off": null, "max": "ultra"}}]},
              "anthropic": {"baseUrl": "http://proxy", "headers": {"x-team": "$TEAM"},
                "modelOverrides": {"claude-opus-5": {"contextWindow": 5000}, "nobody": {"name": "x"}}}
            }}"#,
        );
        assert_eq!(troubles, [""; 0]);
        let small = models.get("ollama", "qwen:7b").unwrap();
        assert_eq!((small.context_window, small.max_tokens, small.reasoning), (128_000, 16_384, false));
        assert_eq!((small.name.as_str(), small.images, small.compat.supports_store), ("qwen:7b", false, Some(false)));
        let big = models.get("ollama", "big").unwrap();
        assert_eq!((big.name.as_str(), big.images, big.context_window), ("Big", true, 32_000));
        assert_eq!(
            (big.compat.max_tokens_field.as_deref(), big.compat.supports_store),
            (Some("max_tokens"), Some(false))
        );
        assert_eq!(
            (big.clamp(ThinkingLevel::Off), big.clamp(ThinkingLevel::Max)),
            (ThinkingLevel::Minimal, ThinkingLevel::Max)
        );
        assert_eq!(models.default_of("ollama").unwrap().id, "qwen:7b");
        let opus = models.get("anthropic", "claude-opus-5").unwrap();
        assert_eq!((opus.base_url.as_str(), opus.context_window, opus.headers.len()), ("http://proxy", 5000, 1));
        assert!(models.key_of("ollama").is_some() && models.key_of("anthropic").is_none());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line_and_the_rest_counts() {
        let (models, troubles) = with(
            "{\"providers\": {\n \"a\": {\"models\": [{\"id\": \"lost\"}]},\n \"b\": {\"baseUrl\": \"http://x\",\n  \
             \"models\": [{\"id\": \"dumb\"}]},\n \"c\": {\"baseUrl\": \"http://x\", \"api\": \"openai-completions\",\n  \
             \"models\": [{\"id\": \"none\", \"maxTokens\": 0}, {\"id\": \"good\"}]}}}",
        );
        assert_eq!(
            troubles,
            [
                "models.json:2: model lost of a has no `api`; give it to the provider or the model",
                "models.json:4: model dumb of b has no `api`; give it to the provider or the model",
                "models.json:6: `maxTokens` of model none is not above 0",
            ]
        );
        assert!(models.get("c", "good").is_some());
        let (models, troubles) = with("{\"providers\": {\n \"a\": {\"models\": {}}}}");
        assert!(troubles[0].starts_with("models.json:2: invalid type: map, expected a sequence"), "{troubles:?}");
        assert!(!models.all().is_empty());
    }
}
