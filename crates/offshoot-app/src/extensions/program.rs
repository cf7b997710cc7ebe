//! What extensions can ask of the program: models and keys from the user's files, the rest by the front end.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::model::KeyedModel;
use offshoot_agent::resources::{Resource, ResourceScope, Resources};
use offshoot_extensions::contract::{ExtensionSource, FlagInfo, HostFuture, LoadedExtension, ProgramMode};
use offshoot_extensions::program::{ExtensionFailure, Operated, Program, RegisteredProvider, RegisteredServer};
use offshoot_protocol::model::Model;
use offshoot_protocol::{AgentError, Secret, ThinkingLevel};
use offshoot_settings::{SETTINGS, SettingOrigin};
use offshoot_workspace::Failure;
use serde_json::{Map, Value, json};

use super::find::FoundExtensions;
use super::listing::listing;
use super::trust_listeners::TrustListeners;
use crate::app::App;
use crate::config::auth_file::AuthFile;
use crate::held;
use crate::known_flags::{KnownFlag, KnownFlags};
use crate::models::ModelTable;
use crate::trust::Trust;

/// The person in front of the program, as far as extensions need one.
pub trait ExtensionFront: Send + Sync {
    /// Which front end it is.
    fn mode(&self) -> ProgramMode;

    /// Whether a person can be asked.
    fn has_ui(&self) -> bool;

    /// Asks the person; the answer is what pi's method of `ctx.ui` returns.
    fn ask(&self, method: String, params: Value) -> HostFuture<'static, Value>;

    /// Shows the person something; nothing is answered.
    fn tell(&self, method: &str, params: Value);

    /// What a method answers at once.
    fn look(&self, method: &str, params: &Value) -> Value;

    /// An extension failed.
    fn failed(&self, failure: &ExtensionFailure);

    /// An extension ends the program.
    fn shutdown(&self);
}

/// Nobody can be asked: questions are answered as pi answers them without a user interface.
pub struct NoFront {
    /// Prints what extensions say.
    pub app: App,
    /// Whether events are printed or the answer.
    pub mode: ProgramMode,
}

/// The answer to a question that nobody hears.
pub fn unheard(method: &str) -> Value {
    if method == "confirm" { json!(false) } else { Value::Null }
}

impl ExtensionFront for NoFront {
    fn mode(&self) -> ProgramMode {
        self.mode
    }

    fn has_ui(&self) -> bool {
        false
    }

    fn ask(&self, method: String, _params: Value) -> HostFuture<'static, Value> {
        Box::pin(std::future::ready(unheard(&method)))
    }

    fn tell(&self, method: &str, params: Value) {
        if let ("extensions", Some(extensions)) = (method, params.as_array()) {
            self.app.ui.note(listing(&self.app.environment, extensions).join("\n").trim_end());
        }
    }

    fn look(&self, method: &str, _params: &Value) -> Value {
        if method == "getEditorText" { json!("") } else { Value::Null }
    }

    fn failed(&self, failure: &ExtensionFailure) {
        let ExtensionFailure { path, event, error, stack } = failure;
        let error = stack.as_ref().filter(|stack| stack.contains(error)).unwrap_or(error);
        self.app.ui.warning(&match path.as_str() {
            "" => error.clone(),
            path => format!("the extension {path} failed at {event}: {error}"),
        });
    }

    fn shutdown(&self) {}
}

/// A model that was asked for and is not known before its provider is registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwaitedModel {
    /// The provider that was typed.
    pub provider: Option<String>,
    /// The provider's default without one.
    pub name: Option<String>,
}

/// What the run says about models.
#[derive(Debug, Clone, Default)]
pub struct ProgramModels {
    /// Of the command line.
    pub key: Option<String>,
    /// The model that the run waits for until extensions have registered theirs.
    pub awaited: Option<AwaitedModel>,
    /// Patterns; empty for all models.
    pub scope: Vec<String>,
}

/// Looks for the files of extensions again.
pub(super) type FindAgain = Box<dyn Fn() -> FoundExtensions + Send + Sync>;

pub(super) struct ExtensionProgram {
    pub app: App,
    pub models: ProgramModels,
    pub find: FindAgain,
    pub cwd: PathBuf,
    pub front: Arc<dyn ExtensionFront>,
}

impl ExtensionProgram {
    fn table(&self) -> ModelTable {
        ModelTable::read(&self.app).0.with_key(self.models.key.as_deref())
    }

    /// Those that the files set, as one object. Files that cannot be read are reported where the program uses them.
    fn settings(&self) -> Value {
        let Ok((layers, _)) = self.app.settings_files(&self.cwd).load() else { return json!({}) };
        let mut all = json!({});
        for setting in SETTINGS {
            let (Some(value), origin) = layers.value(setting) else { continue };
            if origin == SettingOrigin::Default {
                continue;
            }
            let mut place = &mut all;
            for name in setting.key.split('.') {
                place = &mut place[name];
            }
            *place = serde_json::from_str(&value.json()).unwrap_or_default();
        }
        all
    }
}

impl ExtensionProgram {
    /// Whether sessions of the folder are in this folder when nobody names one.
    fn keeps_by_default(&self, folder: &str) -> bool {
        let app = App { session_dir: None, ..self.app.clone() };
        let place = app.store().map(|store| store.path_for(&self.cwd.display().to_string(), "", ""));
        place.is_ok_and(|place| place.parent() == Some(Path::new(folder)))
    }
}

impl Program for ExtensionProgram {
    fn mode(&self) -> ProgramMode {
        self.front.mode()
    }

    fn has_ui(&self) -> bool {
        self.front.has_ui()
    }

    fn ask_user(&self, method: String, params: Value) -> HostFuture<'static, Value> {
        self.front.ask(method, params)
    }

    fn tell_user(&self, method: &str, params: Value) {
        self.front.tell(method, params);
    }

    fn look(&self, method: &str, params: &Value) -> Value {
        match method {
            "isProjectTrusted" => json!(self.app.trust_of(&self.cwd).0 == Trust::Given),
            "getSettings" => self.settings(),
            "usesDefaultSessionDir" => json!(self.keeps_by_default(params["sessionDir"].as_str().unwrap_or_default())),
            _ => self.front.look(method, params),
        }
    }

    fn failed(&self, failure: &ExtensionFailure) {
        self.front.failed(failure);
    }

    fn operate(
        &self,
        agent: AgentSession,
        operation: &'static str,
        given: Vec<(&'static str, Vec<String>)>,
    ) -> HostFuture<'static, Result<Operated, AgentError>> {
        let app = self.app.clone();
        Box::pin(async move {
            let order = held::order_of_texts(operation, given);
            match held::operate(&app, &agent, order).await {
                Ok(outcome) => {
                    let said = outcome.said(|operation, says| format!("/{operation} {says}"));
                    Ok(Operated { said: Some(said), warning: outcome.warning(), data: outcome.data() })
                }
                Err(Failure::Stopped) => Ok(Operated::default()),
                Err(Failure::Agent(error)) => Err(error),
                Err(failure) => Err(AgentError::Failed(failure.to_string())),
            }
        })
    }

    fn models(&self, only_usable: bool) -> Vec<Arc<Model>> {
        let table = self.table();
        if only_usable { table.usable() } else { table.models.all().cloned().map(Arc::new).collect() }
    }

    fn register_providers(&self, providers: Vec<RegisteredProvider>) -> Vec<(PathBuf, String)> {
        self.app.registered.replace_providers(providers)
    }

    fn register_servers(&self, servers: Vec<RegisteredServer>) -> Vec<(PathBuf, String)> {
        self.app.registered.replace_servers(servers)
    }

    /// The project's have to be those that the user has allowed, also after the start.
    fn sources(&self) -> Option<Vec<ExtensionSource>> {
        let FoundExtensions { sources, troubles, .. } = (self.find)();
        for error in troubles {
            self.front.failed(&ExtensionFailure { path: String::new(), event: "load".to_owned(), error, stack: None });
        }
        Some(sources)
    }

    fn use_themes(&self, themes: Vec<PathBuf>) {
        self.app.registered.replace_themes(themes);
    }

    fn credentials(&self, provider: &str) -> Option<Value> {
        self.app.environment.data.as_deref().and_then(|data| AuthFile::of(data).credentials(provider))
    }

    fn keep_credentials(&self, provider: &str, credentials: Option<&Value>) -> Result<(), String> {
        let data = self.app.environment.data.as_deref().ok_or("there is no data folder to keep a sign-in in")?;
        AuthFile::of(data).keep(provider, credentials)
    }

    fn keep_loaded(&self, extensions: Vec<(ExtensionSource, LoadedExtension)>) {
        TrustListeners::keep(&self.app.environment, &extensions);
        let one = |flag: FlagInfo| KnownFlag {
            name: flag.name,
            description: flag.description.unwrap_or_default(),
            kind: flag.r#type,
        };
        let flags = |(source, loaded): (ExtensionSource, LoadedExtension)| {
            (source.path, loaded.flags.into_iter().map(one).collect())
        };
        KnownFlags::keep(&self.app.environment, extensions.into_iter().map(flags).collect());
    }

    fn awaited_model(&self) -> Option<Arc<Model>> {
        let AwaitedModel { provider, name } = self.models.awaited.as_ref()?;
        let table = self.table();
        let found = match (name, provider) {
            (Some(name), _) => {
                table.find(provider.as_deref(), name).map(|found| found.model).map_err(|error| error.to_string())
            }
            (None, Some(provider)) => {
                table.models.default_of(provider).cloned().ok_or_else(|| format!("there is no provider {provider}"))
            }
            (None, None) => return None,
        };
        let missing = |error| {
            self.front.failed(&ExtensionFailure { path: String::new(), event: "load".to_owned(), error, stack: None });
        };
        found.map_err(missing).ok().map(Arc::new)
    }

    fn scoped_models(&self) -> Vec<(Arc<Model>, Option<ThinkingLevel>)> {
        if self.models.scope.iter().all(|pattern| pattern.trim().is_empty()) {
            return Vec::new();
        }
        let (scoped, _) = self.table().scope(&self.models.scope);
        scoped.into_iter().map(|scoped| (scoped.model, scoped.level)).collect()
    }

    fn key(&self, provider: String, id: String) -> HostFuture<'static, Value> {
        let (app, key) = (self.app.clone(), self.models.key.clone());
        Box::pin(async move {
            let read = move || ModelTable::read(&app).0.with_key(key.as_deref());
            let Ok(table) = tokio::task::spawn_blocking(read).await else { return Value::Null };
            let Some(model) = table.models.get(&provider, &id).cloned().map(Arc::new) else { return Value::Null };
            match table.keys.access(&table.models, &model).await {
                Ok(KeyedModel { model, key }) => {
                    let headers = model.headers.iter().map(|(name, value)| (name.clone(), json!(value.expose())));
                    let key = key.as_ref().map(Secret::expose);
                    json!({"apiKey": key, "headers": headers.collect::<Map<_, _>>()})
                }
                Err(_) => Value::Null,
            }
        })
    }

    fn resource_commands(&self, resources: &Resources) -> Vec<Value> {
        let templates = resources.templates.iter();
        let templates = templates.map(|template| called(&template.about, "prompt", &template.about.name));
        let skills = resources.skills.iter();
        let skills = skills.map(|skill| called(&skill.about, "skill", &format!("skill:{}", skill.about.name)));
        templates.chain(skills).collect()
    }

    fn shutdown(&self) {
        self.front.shutdown();
    }
}

fn called(about: &Resource, source: &'static str, name: &str) -> Value {
    let scope = match about.scope {
        ResourceScope::CommandLine => "temporary",
        ResourceScope::Project => "project",
        ResourceScope::User => "user",
    };
    json!({
        "name": name, "description": about.description, "source": source,
        "sourceInfo": {"path": about.file.display().to_string(), "source": source, "scope": scope, "origin": "top-level"}
    })
}
