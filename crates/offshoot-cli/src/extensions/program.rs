//! What extensions are told of the program: models and keys from the user's files, the rest by the front end.

use std::path::PathBuf;
use std::sync::Arc;

use offshoot_agent::model::Access;
use offshoot_agent::provider::{Model, Secret};
use offshoot_agent::resources::{Resource, ResourceScope, SharedResources};
use offshoot_extensions::contract::HostFuture;
use offshoot_extensions::program::{ExtensionFailure, Program};
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::models::ModelTable;
use crate::trust::Trust;

/// The person in front of the program, as far as extensions need one.
pub(crate) trait ExtensionFront: Send + Sync {
    fn mode(&self) -> &'static str;

    fn has_ui(&self) -> bool;

    fn ask(&self, method: String, params: Value) -> HostFuture<'static, Value>;

    fn tell(&self, method: &str, params: Value);

    fn look(&self, method: &str, params: &Value) -> Value;

    fn failed(&self, failure: &ExtensionFailure);

    fn shutdown(&self);
}

/// Nobody can be asked: questions are answered as pi answers them without a user interface.
pub(crate) struct NoFront {
    pub(crate) app: App,
    pub(crate) mode: &'static str,
}

/// The answer to a question that nobody hears.
pub(crate) fn unheard(method: &str) -> Value {
    if method == "confirm" { json!(false) } else { Value::Null }
}

impl ExtensionFront for NoFront {
    fn mode(&self) -> &'static str {
        self.mode
    }

    fn has_ui(&self) -> bool {
        false
    }

    fn ask(&self, method: String, _params: Value) -> HostFuture<'static, Value> {
        Box::pin(std::future::ready(unheard(&method)))
    }

    fn tell(&self, _method: &str, _params: Value) {}

    fn look(&self, method: &str, _params: &Value) -> Value {
        if method == "getEditorText" { json!("") } else { Value::Null }
    }

    fn failed(&self, failure: &ExtensionFailure) {
        let ExtensionFailure { path, event, error } = failure;
        self.app.ui.warning(&format!("the extension {path} failed at {event}: {error}"));
    }

    fn shutdown(&self) {}
}

pub(crate) struct ExtensionProgram {
    pub(crate) app: App,
    /// Of the command line.
    pub(crate) key: Option<String>,
    pub(crate) resources: SharedResources,
    pub(crate) cwd: PathBuf,
    pub(crate) front: Arc<dyn ExtensionFront>,
}

impl ExtensionProgram {
    fn table(&self) -> ModelTable {
        ModelTable::read(&self.app).0.with_key(self.key.as_deref())
    }
}

impl Program for ExtensionProgram {
    fn mode(&self) -> &'static str {
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
            _ => self.front.look(method, params),
        }
    }

    fn failed(&self, failure: &ExtensionFailure) {
        self.front.failed(failure);
    }

    fn models(&self, only_usable: bool) -> Vec<Arc<Model>> {
        let table = self.table();
        if only_usable { table.usable() } else { table.models.all().iter().cloned().map(Arc::new).collect() }
    }

    fn key(&self, provider: String, id: String) -> HostFuture<'static, Value> {
        let (app, key) = (self.app.clone(), self.key.clone());
        Box::pin(async move {
            let read = move || ModelTable::read(&app).0.with_key(key.as_deref());
            let Ok(table) = tokio::task::spawn_blocking(read).await else { return Value::Null };
            let Some(model) = table.models.get(&provider, &id).cloned().map(Arc::new) else { return Value::Null };
            match table.keys.access(&table.models, &model).await {
                Ok(Access { model, key }) => {
                    let headers = model.headers.iter().map(|(name, value)| (name.clone(), json!(value.expose())));
                    let key = key.as_ref().map(Secret::expose);
                    json!({"apiKey": key, "headers": headers.collect::<Map<_, _>>()})
                }
                Err(_) => Value::Null,
            }
        })
    }

    fn resource_commands(&self) -> Vec<Value> {
        let templates = self.resources.templates.iter();
        let templates = templates.map(|template| called(&template.about, "prompt", &template.about.name));
        let skills = self.resources.skills.iter();
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
