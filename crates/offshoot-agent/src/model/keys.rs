//! Providers' keys: their sources, the order of precedence, and that nobody else can read them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use offshoot_protocol::model::Model;
use offshoot_protocol::{KeyError, Secret};
use offshoot_session::clock::Clock;
use offshoot_session::medium::read_regular_text;
use serde::Deserialize;

use super::aws::{self, Aws};
use super::azure;
use super::catalogue::{self, CatalogueProvider};
use super::environment;
use super::key_command::KeyCommands;
use super::privacy::too_open;
use super::table::{Models, Trouble};
use super::value::{self, Unset};
use crate::provider::{Http, LocalServer};

/// Looks up an environment variable.
pub type Env = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

const LIMIT: u64 = 1 << 20;

/// The variable whose key goes into `Authorization: Bearer` alone.
const BEARER: &str = "ANTHROPIC_AUTH_TOKEN";
/// The provider whose key is for the gateway, and not for the servers after it.
const GATEWAY: &str = "cloudflare-ai-gateway";

/// In order of precedence: given by the caller, `auth.json`, `models.json`, the environment.
#[derive(Clone)]
pub struct Keys {
    explicit: Option<Secret>,
    stored: Vec<(String, Secret)>,
    /// The variables of the entries of `auth.json`.
    entries_env: Vec<(String, BTreeMap<String, String>)>,
    env: Env,
    commands: KeyCommands,
    /// For services that give temporary keys.
    http: Http,
    /// Secrets that no model needs.
    others: Vec<Secret>,
    /// What sign-ins have left in the files.
    tokens: Vec<Secret>,
}

/// What an `auth.json` has.
struct AuthEntries {
    keys: Vec<(String, Secret)>,
    env: Vec<(String, BTreeMap<String, String>)>,
    tokens: Vec<Secret>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub enum KeyOrigin {
    Explicit,
    AuthFile,
    ModelsFile,
    Variable(&'static str),
}

impl KeyOrigin {
    /// The file or the variable, as people know it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Explicit => "given",
            Self::AuthFile => "auth.json",
            Self::ModelsFile => "models.json",
            Self::Variable(name) => name,
        }
    }
}

/// A model with resolved headers, and its key.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct KeyedModel {
    pub model: Arc<Model>,
    /// `None` for servers that need none.
    pub key: Option<Secret>,
}

#[derive(Deserialize)]
struct Credential {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    key: Option<String>,
    /// Variables of this provider alone.
    #[serde(default)]
    env: BTreeMap<String, String>,
}

impl Keys {
    /// Keys from the environment only. The clock limits how long output of commands is cached.
    pub fn new(env: Env, clock: Arc<dyn Clock>) -> Self {
        Self {
            explicit: None,
            stored: Vec::new(),
            entries_env: Vec::new(),
            env,
            http: Http::new(clock.clone()),
            commands: KeyCommands::new(clock),
            others: Vec::new(),
            tokens: Vec::new(),
        }
    }

    /// Shares the cache of command output.
    #[must_use]
    pub fn remembering_with(mut self, others: &Self) -> Self {
        self.commands = others.commands.clone();
        self
    }

    /// The provider refused its key: cached output of its commands is removed.
    pub fn forget(&self, provider: &str) {
        self.commands.forget(provider);
    }

    /// A key from the caller, which takes precedence over all others.
    #[must_use]
    pub fn with(mut self, explicit: Option<Secret>) -> Self {
        self.explicit = explicit.filter(|key| !key.expose().trim().is_empty());
        self
    }

    /// Adds the keys of `auth.json` in this folder, in pi's shape: `{PROVIDER: {"type": "api_key", "key": …}}`. A file
    /// that others may read is refused, because its keys may be known. A missing file is not an error.
    #[must_use]
    pub fn load(mut self, home: &Path) -> (Self, Vec<Trouble>) {
        let path = home.join("auth.json");
        match read(&path) {
            Ok(AuthEntries { keys, env, tokens }) => {
                self.stored = keys;
                self.entries_env = env;
                self.tokens.extend(tokens);
                (self, Vec::new())
            }
            Err(None) => (self, Vec::new()),
            Err(Some(trouble)) => (self, vec![trouble]),
        }
    }

    /// Adds the keys of pi's `auth.json` for providers that the own file does not name. A name alone is the key itself in pi,
    /// and the variable of that name here if it is set: that is reported.
    #[must_use]
    pub fn with_pi(mut self, pi: &Path) -> (Self, Vec<Trouble>) {
        let path = pi.join("auth.json");
        let found = match read(&path) {
            Ok(found) => found,
            Err(trouble) => return (self, trouble.into_iter().collect()),
        };
        self.tokens.extend(found.tokens);
        let new = found.keys.into_iter().filter(|(name, _)| self.stored(name).is_none()).collect::<Vec<_>>();
        let odd = new.iter().filter(|(_, key)| value::is_name(key.expose()) && (self.env)(key.expose()).is_some());
        let troubles = odd.map(|(name, _)| Trouble {
            path: path.clone(),
            line: None,
            what: format!("the key of {name} is the name of a variable that is set, whose value is used; in pi the name itself is the key"),
        });
        let troubles = troubles.collect();
        let is_new = |name: &String| self.entries_env.iter().all(|(known, _)| known != name);
        let env: Vec<_> = found.env.into_iter().filter(|(name, _)| is_new(name)).collect();
        self.entries_env.extend(env);
        self.stored.extend(new);
        (self, troubles)
    }

    /// Adds keys of oh-my-pi's database for providers that have none yet, each a provider and its key: the name of a variable that is
    /// set, a command after `!`, or the key itself.
    #[must_use]
    pub fn with_others(mut self, found: impl IntoIterator<Item = (String, String)>) -> Self {
        for (name, key) in found {
            let name = azure::present_name(&name).to_owned();
            let key = if value::command(&key).is_some() { key } else { key.replace('$', "$$") };
            if self.stored(&name).is_none() {
                self.stored.push((name, Secret::new(key)));
            }
        }
        self
    }

    /// The source of a provider's key, found without running a command. `None` if there is none.
    pub fn source(&self, models: &Models, provider: &str) -> Option<KeyOrigin> {
        let can = |key: &Secret| value::lacks(key.expose(), &*self.env).is_none();
        if self.explicit.is_some() {
            return Some(KeyOrigin::Explicit);
        }
        if self.stored(provider).is_some_and(can) {
            return Some(KeyOrigin::AuthFile);
        }
        if models.key_of(provider).is_some_and(can) {
            return Some(KeyOrigin::ModelsFile);
        }
        let of_aws = || aws::source(&|name| self.stored_variable(provider, name)).filter(|_| provider == aws::PROVIDER);
        self.variable(provider).map(|(name, _)| name).or_else(of_aws).map(KeyOrigin::Variable)
    }

    /// Adds the secrets among all variables of the environment, such as `GITHUB_TOKEN`: they are masked, too.
    #[must_use]
    pub fn with_environment(mut self, all: impl IntoIterator<Item = (String, String)>) -> Self {
        let secrets = all.into_iter().filter(|(name, value)| environment::is_secret(name, value));
        self.others = secrets.map(|(_, value)| Secret::new(value)).collect();
        self
    }

    /// Every key that is known without running a command: the caller's, those of the files with what sign-ins have left there,
    /// those of the environment, and what commands printed before.
    pub fn known(&self, models: &Models) -> Vec<Secret> {
        let named = self.named(models).filter(|key| value::command(key.expose()).is_none());
        let resolved = named.filter_map(|key| value::resolve(key.expose(), &*self.env).ok());
        let variables = self.variables(models).into_iter().filter_map(|name| (self.env)(&name));
        let texts = resolved.chain(variables).flat_map(with_bare_key).map(Secret::new);
        let others = self.explicit.iter().chain(&self.others).chain(&self.tokens).cloned();
        others.chain(texts).chain(self.commands.remembered_keys()).collect()
    }

    /// The variables that providers' keys are in: the usual ones, and those that the files name.
    pub fn variables(&self, models: &Models) -> Vec<String> {
        let mut names: Vec<String> = usual_variables().map(str::to_owned).collect();
        names.extend(self.named(models).flat_map(|key| value::variables(key.expose())));
        names.sort();
        names.dedup();
        names
    }

    /// Keys as the files have them, unresolved.
    fn named<'a>(&'a self, models: &'a Models) -> impl Iterator<Item = &'a Secret> {
        self.stored.iter().map(|(_, key)| key).chain(models.secrets())
    }

    /// The key of a provider that may have none, without a look at its models.
    ///
    /// # Errors
    /// The key is named, and cannot be had.
    pub async fn key_if_any(&self, models: &Models, provider: &str) -> Result<Option<Secret>, KeyError> {
        match (&self.explicit, self.stored(provider).or_else(|| models.key_of(provider))) {
            (Some(key), _) => Ok(Some(key.clone())),
            (None, Some(named)) => Ok(Some(self.fill("key", provider, named).await?)),
            (None, None) => Ok(self.variable(provider).map(|(_, key)| key)),
        }
    }

    /// Whether there is a key for the model, or it needs none.
    pub fn can_ask(&self, models: &Models, model: &Model) -> bool {
        let has_key = self.source(models, &model.provider).is_some() || !needs_key(models, model);
        has_key && self.lacks(models, model).is_none()
    }

    /// Whether models of the provider may be such that can be asked, found without parsing the catalogue.
    pub fn may_ask(&self, models: &Models, provider: &str) -> bool {
        !models.is_as_in_catalogue(provider) || self.source(models, provider).is_some()
    }

    /// What a model lacks besides a key.
    pub fn lacks(&self, models: &Models, model: &Model) -> Option<String> {
        let unset = || self.address(model).err().map(|name| format!("its address needs the variable {name}"));
        models.refusal(model).or_else(unset)
    }

    /// The model's address with its variables filled in; else the name of one that is not set.
    fn address(&self, model: &Model) -> Result<String, String> {
        let env = |name: &str| self.stored_variable(&model.provider, name);
        if azure::has_own_address(model) {
            azure::address(model, &env)
        } else {
            value::fill_address(&model.base_url, &env)
        }
    }

    /// A variable of the provider's entry in `auth.json`, else of the environment.
    fn stored_variable(&self, provider: &str, name: &str) -> Option<String> {
        let of_entry = self.entries_env.iter().find(|(known, _)| known == provider).and_then(|(_, env)| env.get(name));
        of_entry.cloned().or_else(|| (self.env)(name)).filter(|value| !value.trim().is_empty())
    }

    /// The key and the headers for a model. Runs commands from the user's files, so it needs a tokio runtime.
    ///
    /// # Errors
    /// A required key is missing.
    pub async fn access(&self, models: &Models, model: &Model) -> Result<KeyedModel, KeyError> {
        let provider = model.provider.as_str();
        let key = self.key_if_any(models, provider).await?;
        let is_bearer = self.source(models, provider) == Some(KeyOrigin::Variable(BEARER));
        let mut model = model.clone();
        model.base_url =
            self.address(&model).map_err(|name| KeyError::Address { provider: provider.to_owned(), name })?;
        if azure::has_own_address(&model) {
            model.sent_as = azure::deployment(&model, &|name| self.stored_variable(provider, name));
        }
        for (name, header) in &mut model.headers {
            *header = self.fill(&format!("header {name}"), provider, header).await?;
        }
        if model.api == aws::API {
            self.reach_bedrock(&mut model, key.is_some()).await?;
        }
        if key.is_none() && model.signing.is_none() && needs_key(models, &model) {
            let usual = || variables(provider).collect::<Vec<_>>().join(" or ");
            let variables = if provider == aws::PROVIDER { aws::VARIABLES.to_owned() } else { usual() };
            return Err(KeyError::None { provider: provider.to_owned(), variables });
        }
        let header =
            if provider == GATEWAY { Some("cf-aig-authorization") } else { is_bearer.then_some("authorization") };
        let Some(header) = header else { return Ok(KeyedModel { model: Arc::new(model), key }) };
        as_header(&mut model, header, key);
        Ok(KeyedModel { model: Arc::new(model), key: None })
    }

    /// Sets the address of the model's region, and what signs requests without a key.
    async fn reach_bedrock(&self, model: &mut Model, has_key: bool) -> Result<(), KeyError> {
        let provider = model.provider.clone();
        let variable = |name: &str| self.stored_variable(&provider, name);
        let own = self.entries_env.iter().find(|(known, _)| *known == provider);
        let own_profile = own.and_then(|(_, env)| env.get("AWS_PROFILE")).map(String::as_str);
        let aws = Aws { variable: &variable, own_profile, commands: &self.commands, http: &self.http };
        model.base_url = aws.address(model);
        if !has_key {
            model.signing = aws.signing(model).await.map_err(|why| KeyError::Aws { why })?;
        }
        Ok(())
    }

    fn stored(&self, provider: &str) -> Option<&Secret> {
        self.stored.iter().find(|(name, _)| name == provider).map(|(_, key)| key)
    }

    fn variable(&self, provider: &str) -> Option<(&'static str, Secret)> {
        let found = |name| Some((name, (self.env)(name).filter(|key| !key.trim().is_empty())?));
        variables(provider).find_map(found).map(|(name, key)| (name, Secret::new(key.trim())))
    }

    async fn fill(&self, what: &str, provider: &str, value: &Secret) -> Result<Secret, KeyError> {
        let named = || (what.to_owned(), provider.to_owned());
        let Some(command) = value::command(value.expose()) else {
            return value::resolve(value.expose(), &*self.env).map(Secret::new).map_err(|Unset(name)| {
                let (what, provider) = named();
                KeyError::Unset { what, provider, name }
            });
        };
        self.commands.ask(provider, command).await.map_err(|why| {
            let (what, provider) = named();
            KeyError::Command { what, provider, why }
        })
    }
}

/// Puts the key into a header of its own, unless the model has one.
fn as_header(model: &mut Model, header: &str, key: Option<Secret>) {
    let has_own = model.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(header));
    let value = key.filter(|_| !has_own).map(|key| Secret::new(format!("Bearer {}", key.expose())));
    model.headers.extend(value.map(|value| (header.to_owned(), value)));
}

/// A header's value, and what is after its `Bearer`.
fn with_bare_key(value: String) -> impl Iterator<Item = String> {
    let bare = value.trim().rsplit_once(' ').map(|(_, key)| key.to_owned());
    std::iter::once(value).chain(bare)
}

/// The variables that providers' keys are usually in.
fn usual_variables() -> impl Iterator<Item = &'static str> {
    let of_catalogue = catalogue::providers().iter().flat_map(CatalogueProvider::variables);
    let local = LocalServer::ALL.into_iter().filter_map(LocalServer::key_variable);
    of_catalogue.chain(local).chain(aws::SECRETS)
}

/// Whether a provider's key is usually in this variable.
#[must_use]
pub fn is_key_variable(name: &str) -> bool {
    usual_variables().any(|known| known == name)
}

fn variables(provider: &str) -> impl Iterator<Item = &'static str> {
    let of_catalogue = catalogue::provider(provider).into_iter().flat_map(CatalogueProvider::variables);
    of_catalogue.chain(LocalServer::of_provider(provider).and_then(LocalServer::key_variable))
}

fn needs_key(models: &Models, model: &Model) -> bool {
    let has_header = model.headers.iter().any(|(name, _)| {
        ["authorization", "x-api-key", "x-goog-api-key"].iter().any(|known| name.eq_ignore_ascii_case(known))
    });
    let is_far = model.base_url.is_empty() || model.base_url.starts_with("https://");
    let known = catalogue::provider(&model.provider).is_some() && is_far;
    !has_header && (known || models.key_of(&model.provider).is_some())
}

/// A key that is one variable of the credential's own is that variable's value.
fn of_credential(key: String, env: &BTreeMap<String, String>) -> String {
    let braced = key.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    let named = braced.or_else(|| key.strip_prefix('$'));
    match named.and_then(|name| env.get(name)) {
        Some(value) => value.replace('$', "$$"),
        None => key,
    }
}

fn read(path: &Path) -> Result<AuthEntries, Option<Trouble>> {
    let trouble = |line: Option<usize>, what: String| Some(Trouble { path: path.to_path_buf(), line, what });
    let text = match read_regular_text(path, LIMIT) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(None),
        Err(error) => return Err(trouble(None, format!("could not be read: {error}"))),
    };
    if let Some(mode) = too_open(path) {
        let what = format!("others may read it (mode {mode:03o}), so its keys are not used; `chmod 600` it");
        return Err(trouble(None, what));
    }
    // A parser's message may include part of the text, which may be a key.
    let credentials: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text)
        .map_err(|error| trouble(Some(error.line()), "is not a JSON object of providers".to_owned()))?;
    let is_of_sign_in = |value: &&serde_json::Value| value["type"] == "oauth";
    let token = |value: &serde_json::Value| ["access", "refresh"].map(|name| value[name].as_str().map(Secret::new));
    let tokens = credentials.values().filter(is_of_sign_in).flat_map(token).flatten().collect();
    let mut entries = AuthEntries { tokens, keys: Vec::new(), env: Vec::new() };
    for (name, value) in credentials {
        let credential = serde_json::from_value::<Credential>(value).ok();
        let Some(Credential { key, env, .. }) = credential.filter(|credential| credential.kind == "api_key") else {
            continue;
        };
        let name = azure::present_name(&name).to_owned();
        if let Some(key) = key.filter(|key| !key.trim().is_empty()) {
            entries.keys.push((name.clone(), Secret::new(of_credential(key, &env))));
        }
        entries.env.push((name, env));
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use offshoot_session::clock::SystemClock;
    use std::os::unix::fs::PermissionsExt as _;

    fn keys(pairs: &'static [(&str, &str)]) -> Keys {
        let find =
            move |name: &str| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        Keys::new(Arc::new(find), Arc::new(SystemClock))
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
    }

    fn models() -> Models {
        let mut models = Models::builtin();
        let troubles = models.read(
            Path::new("models.json"),
            r#"{"providers": {
              "google": {"apiKey": "$MY_GOOGLE"},
              "vault": {"baseUrl": "https://v", "api": "openai-completions", "apiKey": "!printf vaulted",
                "headers": {"x-team": "t-$TEAM"}, "models": [{"id": "m"}]},
              "local": {"baseUrl": "http://127.0.0.1:1/v1", "api": "openai-completions", "models": [{"id": "m"}]}}}"#,
        );
        assert_eq!(troubles, []);
        models
    }

    fn key(keys: &Keys, provider: &str) -> Result<Option<String>, String> {
        let models = models();
        let model = models.default_of(provider).unwrap();
        let access = block_on(keys.access(&models, model)).map_err(|error| error.to_string())?;
        Ok(access.key.map(|key| key.expose().to_owned()))
    }

    fn auth(text: &str, mode: u32) -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("auth.json");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        home
    }

    #[test]
    fn the_first_place_that_has_a_key_gives_it() {
        let all =
            &[("GEMINI_API_KEY", "env-g"), ("MY_GOOGLE", "file-g"), ("ANTHROPIC_API_KEY", "env-a"), ("TEAM", "7")];
        let home = auth(r#"{"google": {"type": "api_key", "key": "auth-g"}, "openai": {"type": "oauth"}}"#, 0o600);
        let (stored, troubles) = keys(all).load(home.path());
        assert_eq!(troubles, []);
        let explicit = stored.clone().with(Some(Secret::new("mine")));
        assert_eq!(key(&explicit, "google").unwrap().as_deref(), Some("mine"));
        assert_eq!(explicit.source(&models(), "google"), Some(KeyOrigin::Explicit));
        assert_eq!(key(&stored, "google").unwrap().as_deref(), Some("auth-g"));
        assert_eq!(key(&keys(all), "google").unwrap().as_deref(), Some("file-g"));
        assert_eq!(keys(all).source(&models(), "google"), Some(KeyOrigin::ModelsFile));
        assert_eq!(key(&stored, "anthropic").unwrap().as_deref(), Some("env-a"));
        assert_eq!(stored.source(&models(), "anthropic"), Some(KeyOrigin::Variable("ANTHROPIC_API_KEY")));
        assert_eq!(key(&stored, "vault").unwrap().as_deref(), Some("vaulted"));
        assert_eq!(key(&stored, "local").unwrap(), None);
        assert!(stored.can_ask(&models(), models().default_of("local").unwrap()));
        assert!(!stored.can_ask(&models(), models().default_of("openai").unwrap()));
    }

    #[test]
    fn headers_are_resolved_with_the_key() {
        let models = models();
        let model = models.get("vault", "m").unwrap();
        let access = block_on(keys(&[("TEAM", "7")]).access(&models, model)).unwrap();
        assert_eq!(access.model.headers[0].1.expose(), "t-7");
        assert!(!format!("{access:?}").contains("vaulted"));
        let error = block_on(keys(&[]).access(&models, model)).unwrap_err();
        assert_eq!(error.to_string(), "the header x-team of vault is the variable TEAM, which is not set");
    }

    #[test]
    fn a_missing_key_says_what_to_do() {
        let none = keys(&[]);
        let said = "there is no key for openai; run `offshoot auth login openai`, or set OPENAI_API_KEY";
        assert_eq!(key(&none, "openai").unwrap_err(), said);
        assert_eq!(key(&none, "google").unwrap_err(), "the key of google is the variable MY_GOOGLE, which is not set");
    }

    /// Whoever signed in: the extension that knows what they mean may not be loaded.
    #[test]
    fn what_sign_ins_have_left_is_known_and_is_no_key() {
        let home = auth(r#"{"corp": {"type": "oauth", "access": "acc", "refresh": "ref", "expires": 1}}"#, 0o600);
        let pis = auth(r#"{"anthropic": {"type": "oauth", "access": "pi-acc", "refresh": "pi-ref"}}"#, 0o600);
        let keys = keys(&[]).load(home.path()).0.with_pi(pis.path()).0;
        let known: Vec<String> = keys.known(&models()).iter().map(|key| key.expose().to_owned()).collect();
        for token in ["acc", "ref", "pi-acc", "pi-ref"] {
            assert!(known.iter().any(|known| known == token), "{token}");
        }
        assert!(keys.source(&models(), "anthropic").is_none());
    }

    #[test]
    fn an_auth_file_that_others_may_read_is_not_used_and_never_shown() {
        let home = auth(r#"{"openai": {"type": "api_key", "key": "open-secret"}}"#, 0o640);
        let (loaded, troubles) = keys(&[]).load(home.path());
        assert!(troubles[0].to_string().contains("others may read it (mode 640)"), "{troubles:?}");
        assert_eq!(loaded.source(&models(), "openai"), None);
        let home = auth("{\"openai\":\n \"open-secret", 0o600);
        let (_, troubles) = keys(&[]).load(home.path());
        assert_eq!(troubles[0].line, Some(2));
        assert!(!troubles[0].to_string().contains("open-secret"));
    }
}
