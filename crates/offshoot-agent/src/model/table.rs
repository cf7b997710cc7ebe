//! The table of models: built-in ones, overridden and extended by the user's.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use offshoot_protocol::model::Model;
use offshoot_protocol::{Peer, PeerFolder, Secret};
use offshoot_session::medium::read_regular_text;

use super::file::{self, ModelsDialect, ModelsFault, Ordered, Provider};
use super::provider_models::ProviderModels;
use super::{azure, catalogue, privacy, value};
use crate::provider::Api;
use crate::provider::LocalModels;

/// A larger `models.json` is refused.
const LIMIT: u64 = 8 << 20;
/// Of more troubles no line is named: each search for one reads the file.
const MOST_LINES: usize = 100;
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Models {
    groups: Vec<ProviderModels>,
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
        let groups = catalogue::providers().iter().map(ProviderModels::of_catalogue).collect();
        Self { groups, keys: Vec::new() }
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

    /// Adds the providers of a peer's file that no file before it has: those of `home` and of the peers `before` it. What is
    /// wrong with the peer's file is reported as the peer does: then nothing of it is used.
    #[must_use]
    pub fn with_peer(mut self, home: Option<&Path>, before: &[PeerFolder], peer: &PeerFolder) -> (Self, Vec<Trouble>) {
        let path = peer_file(peer);
        let text = match read_regular_text(&path, LIMIT) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return (self, Vec::new()),
            Err(error) => {
                return (self, vec![Trouble { path, line: None, what: format!("could not be read: {error}") }]);
            }
        };
        let own = home.map(|home| providers_of(&home.join("models.json"), ModelsDialect::Pi)).unwrap_or_default();
        let of_peers = before.iter().flat_map(Self::providers_of_peer);
        let named: Vec<String> = own.into_iter().chain(of_peers).collect();
        match dialect(peer.peer).parse(&text) {
            Ok(mut file) => {
                file.providers.0.retain(|(name, _)| !named.contains(name));
                let mut troubles = Vec::new();
                self.add(file.providers, &mut |_, what| {
                    troubles.push(Trouble { path: path.clone(), line: None, what });
                });
                (self, troubles)
            }
            Err(ModelsFault { line, why }) => {
                let what = format!("{why}; nothing of the file is used until it is repaired");
                (self, vec![Trouble { path, line, what }])
            }
        }
    }

    /// The providers that a peer's file of models names; none if it cannot be read.
    #[must_use]
    pub fn providers_of_peer(peer: &PeerFolder) -> Vec<String> {
        providers_of(&peer_file(peer), dialect(peer.peer))
    }

    /// Whether `models.json` itself contains a key, and not only the name of a variable or a command that prints one.
    pub fn has_literal_key(&self) -> bool {
        self.keys.iter().any(|(_, key)| value::is_literal(key.expose()) && key.is_telling())
    }

    /// Adds a provider that a program registers, in the shape of one in `models.json`. If it names models, they replace those
    /// that the provider had. `path` is for messages.
    pub fn register(&mut self, path: &Path, name: &str, provider: &serde_json::Value) -> Vec<Trouble> {
        let has_models = provider["models"].as_array().is_some_and(|models| !models.is_empty());
        if let Some(group) = self.groups.iter_mut().find(|group| group.name == name && has_models) {
            group.change(Vec::clear);
        }
        self.keys.retain(|(known, _)| known != name || provider.get("apiKey").is_none());
        let troubles = self.read(path, &serde_json::json!({"providers": {name: provider}}).to_string());
        if let Some(group) = self.groups.iter_mut().find(|group| group.name == name) {
            group.is_registered = true;
        }
        troubles
    }

    /// Adds the models that a server of the person's own was found to have. What files say of the provider counts before; where they
    /// name another address, nothing is added, and the answer is `false`.
    pub fn add_local(&mut self, found: &LocalModels) -> bool {
        let name = found.server.provider();
        let own = self.of_provider(name).first().map(|model| same_place(&model.base_url));
        if own.is_some_and(|own| own != same_place(&found.base_url())) {
            return false;
        }
        if self.group(name).is_none() {
            self.groups.push(ProviderModels::new(name));
        }
        if let Some(group) = self.groups.iter_mut().find(|group| group.name == name) {
            group.change(|list| {
                let like = list.first().cloned();
                for mut model in found.models() {
                    if let Some(like) = &like {
                        (model.auth_header, model.headers) = (like.auth_header, like.headers.clone());
                    }
                    if !list.iter().any(|known| known.id == model.id) {
                        list.push(model);
                    }
                }
            });
        }
        true
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

    /// Providers and models are in the order of the table. This parses the whole catalogue.
    pub fn all(&self) -> impl Iterator<Item = &Model> {
        self.groups.iter().flat_map(ProviderModels::models)
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.groups.iter().map(|group| group.count() as u64).sum()
    }

    /// The models of a provider.
    pub fn of_provider(&self, provider: &str) -> &[Model] {
        self.group(provider).map_or(&[], ProviderModels::models)
    }

    /// Finds a model by its exact provider and id.
    pub fn get(&self, provider: &str, id: &str) -> Option<&Model> {
        self.of_provider(provider).iter().find(|model| model.id == id)
    }

    /// The provider's default model.
    pub fn default_of(&self, provider: &str) -> Option<&Model> {
        let named = catalogue::default_of(provider).and_then(|id| self.get(provider, id));
        named.or_else(|| self.of_provider(provider).first())
    }

    /// In the order of the table.
    pub fn providers(&self) -> Vec<&str> {
        self.groups.iter().filter(|group| !group.is_empty()).map(|group| group.name.as_str()).collect()
    }

    /// The providers that have a model of this id, whose case does not count.
    pub(super) fn providers_with<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a str> {
        self.groups.iter().filter(move |group| group.has(id)).map(|group| group.name.as_str())
    }

    /// The provider of this name, whose case does not count; also of a name that it had before.
    pub fn provider_named(&self, name: &str) -> Option<&str> {
        let name = azure::present_name(name);
        self.providers().into_iter().find(|known| known.eq_ignore_ascii_case(name))
    }

    /// The provider's name for people, if the catalogue has it.
    pub fn name_of(provider: &str) -> Option<&'static str> {
        catalogue::provider(provider).map(|known| known.name)
    }

    /// Where the facts of the built-in models are from, and of which day (`YYYY-MM-DD`).
    pub fn catalogue_source() -> (&'static str, &'static str) {
        catalogue::source()
    }

    /// Whether neither a file nor an extension says anything of this built-in provider.
    pub fn is_as_in_catalogue(&self, provider: &str) -> bool {
        self.group(provider).is_some_and(ProviderModels::is_as_in_catalogue)
    }

    /// Why a model of the catalogue is listed and cannot be asked, whatever keys there are.
    pub fn refusal(&self, model: &Model) -> Option<String> {
        let group = self.group(&model.provider).filter(|group| group.catalogue.is_some() && !group.is_registered)?;
        if Api::parse(&model.api).is_none() {
            return Some(format!("offshoot does not speak {}", model.api));
        }
        if model.base_url.is_empty() && !azure::has_own_address(model) {
            return Some("its address is your own: give `baseUrl` in models.json".to_owned());
        }
        catalogue::withheld(&model.provider).filter(|_| group.is_as_in_catalogue()).map(str::to_owned)
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
        let models = self.groups.iter().flat_map(ProviderModels::changed_models);
        let headers = models.flat_map(|model| &model.headers);
        let headers = headers.filter(move |(name, _)| is_key(name)).map(|(_, value)| value);
        self.keys.iter().map(|(_, key)| key).chain(headers)
    }

    fn add(&mut self, providers: Ordered<Provider>, note: &mut dyn FnMut(&str, String)) {
        let mut places: HashMap<String, usize> =
            self.groups.iter().enumerate().map(|(at, group)| (group.name.clone(), at)).collect();
        for (name, provider) in providers.0 {
            let name = azure::present_name(&name).to_owned();
            self.keys.extend(provider.api_key.clone().map(|key| (name.clone(), Secret::new(key))));
            let at = *places.entry(name.clone()).or_insert_with(|| {
                self.groups.push(ProviderModels::new(&name));
                self.groups.len() - 1
            });
            self.groups.get_mut(at).into_iter().for_each(|group| group.apply(&provider, note));
        }
    }

    fn group(&self, provider: &str) -> Option<&ProviderModels> {
        let provider = azure::present_name(provider);
        self.groups.iter().find(|group| group.name == provider)
    }
}

const fn dialect(peer: Peer) -> ModelsDialect {
    match peer {
        Peer::Pi => ModelsDialect::Pi,
        Peer::Omp => ModelsDialect::Omp,
    }
}

fn peer_file(peer: &PeerFolder) -> PathBuf {
    let names: &[&str] = match peer.peer {
        Peer::Pi => &["models.json"],
        Peer::Omp => &["models.yml", "models.yaml"],
    };
    let mut files = names.iter().map(|name| peer.path.join(name));
    let first = files.next().unwrap_or_default();
    if first.exists() { first } else { files.find(|file| file.is_file()).unwrap_or(first) }
}

fn providers_of(path: &Path, dialect: ModelsDialect) -> Vec<String> {
    let text = read_regular_text(path, LIMIT).unwrap_or_default();
    let file = dialect.parse(&text).ok();
    file.map(|file| file.providers.0.into_iter().map(|(name, _)| name).collect()).unwrap_or_default()
}

/// An address, however this machine is called in it.
fn same_place(url: &str) -> String {
    url.trim_end_matches('/').to_ascii_lowercase().replace("://localhost", "://127.0.0.1")
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
        assert_eq!(table.all().count(), builtin.all().count() + 30_000, "a model that is defined again is replaced");
        assert_eq!(table.providers().len(), builtin.providers().len() + 300);
        assert_eq!(table.get("p299", "m7").unwrap().name, "seven");
    }

    #[test]
    fn the_built_in_table_has_the_facts_of_pi() {
        let models = Models::builtin();
        assert_eq!(models.providers().get(..3), Some(&["anthropic", "openai", "google"][..]));
        let opus = models.get("anthropic", "claude-opus-4-8").unwrap();
        assert_eq!(opus.clamp(ThinkingLevel::Max), ThinkingLevel::Max);
        assert_eq!(opus.compat.force_adaptive_thinking, Some(true));
        assert_eq!(models.get("anthropic", "claude-sonnet-4-5").unwrap().context_window, 200_000);
        let gpt = models.get("openai", "gpt-5.5").unwrap();
        assert_eq!((gpt.tiers[0].above, gpt.tiers[0].price.input), (272_000, 10.0));
        assert_eq!(gpt.compat.supports_strict_mode, Some(true));
        assert_eq!(models.default_of("groq").unwrap().base_url, "https://api.groq.com/openai/v1");
    }

    #[test]
    fn models_that_cannot_be_asked_say_why() {
        let (models, _) = with("{}");
        let why = |provider: &str| models.refusal(models.default_of(provider).unwrap());
        assert_eq!(why("google-vertex").as_deref(), Some("offshoot does not speak google-vertex"));
        assert!(why("github-copilot").unwrap().contains("another vendor's client"));
        assert_eq!(why("groq"), None);
        let (mut models, _) = with(
            r#"{"providers": {"google-vertex": {"baseUrl": "http://x"}, "own": {"baseUrl": "http://x", "api": "mine", "models": [{"id": "m"}]}}}"#,
        );
        let why = |models: &Models, provider: &str| models.refusal(models.default_of(provider).unwrap());
        assert!(why(&models, "google-vertex").is_some());
        assert_eq!(why(&models, "own"), None, "a provider of the user's is the user's matter");
        let registered = serde_json::json!({"baseUrl": "http://x", "api": "mine", "models": [{"id": "m"}]});
        models.register(Path::new("x"), "google-vertex", &registered);
        assert_eq!(why(&models, "google-vertex"), None, "an extension may stream it");
    }

    #[test]
    fn only_the_rows_of_the_provider_that_is_asked_for_are_parsed() {
        let (models, _) = with(r#"{"providers": {"groq": {"baseUrl": "http://x"}}}"#);
        assert!(models.get("deepseek", "deepseek-v4-pro").is_some());
        let parsed: Vec<&str> =
            models.groups.iter().filter(|group| group.is_parsed()).map(|group| &*group.name).collect();
        assert_eq!(parsed, ["deepseek", "groq"]);
        assert!(models.providers_with("Deepseek-V4-Pro").any(|provider| provider == "deepseek"));
        assert_eq!(models.groups.iter().filter(|group| group.is_parsed()).count(), 2);
    }

    /// pi takes both from the model of the same id, else from one with the same wire format.
    #[test]
    fn a_new_model_is_reached_as_its_sibling() {
        let (models, troubles) = with(
            r#"{"providers": {"opencode": {"models": [{"id": "n1", "api": "google-generative-ai"}, {"id": "n2"}]}}}"#,
        );
        assert_eq!(troubles, [""; 0]);
        assert_eq!(models.get("opencode", "n1").unwrap().base_url, "https://opencode.ai/inference/google/v1beta");
        assert_eq!(models.get("opencode", "n2").unwrap().api, "openai-completions");
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
        assert!(!models.providers().is_empty());
    }
}
