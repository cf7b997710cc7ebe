//! Signing in to providers that extensions register with `oauth`: the steps that a person takes, the credentials that are kept,
//! and the models that depend on them. The program keeps the credentials; the extension alone knows what they mean.

use std::sync::Arc;

use offshoot_protocol::Secret;
use offshoot_session::clock::Millis;
use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;

use crate::contract::{Failure, Host, LoadedExtension};
use crate::shared::Shared;

/// Of pi's credentials: the members that hold secrets.
const SECRETS: [&str; 2] = ["access", "refresh"];

/// A provider that a person signs in to.
#[derive(Clone)]
pub(crate) struct SignIn {
    host: Arc<dyn Host>,
    ext: usize,
    /// The extension's file.
    path: String,
    pub(crate) provider: String,
    /// For people.
    name: String,
    described: Value,
}

impl SignIn {
    async fn ask(&self, kind: &str, more: Value) -> Result<Value, Failure> {
        let mut what = json!({"kind": kind, "ext": self.ext, "provider": self.provider});
        if let (Some(what), Value::Object(more)) = (what.as_object_mut(), more) {
            what.extend(more);
        }
        self.host.invoke(what, unbounded_channel().0).await
    }
}

/// Whether credentials are in pi's shape.
fn is_sound(credentials: &Value) -> bool {
    SECRETS.iter().all(|name| credentials[*name].is_string()) && credentials["expires"].is_number()
}

#[expect(clippy::cast_precision_loss, reason = "milliseconds of this century are exact")]
fn has_expired(credentials: &Value, now: Millis) -> bool {
    credentials["expires"].as_f64().is_none_or(|expires| now as f64 >= expires)
}

impl Shared {
    /// All of them; the last of a name counts.
    pub(crate) fn sign_ins(&self) -> Vec<SignIn> {
        let registry = self.registry();
        let of = |extension: &crate::registry::Extension| {
            let sign_in = |described: &Value| {
                let provider = described["name"].as_str()?.to_owned();
                let name = described["oauth"].as_object()?.get("name").and_then(Value::as_str);
                Some(SignIn {
                    host: extension.host.clone(),
                    ext: extension.loaded.id,
                    path: extension.path(),
                    name: name.unwrap_or(&provider).to_owned(),
                    provider,
                    described: described.clone(),
                })
            };
            extension.loaded.providers.iter().filter_map(sign_in).collect::<Vec<_>>()
        };
        let mut all: Vec<SignIn> = Vec::new();
        for sign_in in registry.extensions.iter().flat_map(of) {
            all.retain(|known| known.provider != sign_in.provider);
            all.push(sign_in);
        }
        all
    }

    pub(crate) fn sign_in(&self, provider: &str) -> Option<SignIn> {
        self.sign_ins().into_iter().find(|sign_in| sign_in.provider == provider)
    }

    /// The secrets of all that a person is signed in to, also of a provider that its extension has taken away.
    pub(crate) fn signed_in_secrets(&self) -> Vec<Secret> {
        let kept = self.known_providers().into_iter().filter_map(|provider| self.program.credentials(&provider));
        let secrets = |kept: Value| SECRETS.map(|name| kept[name].as_str().map(Secret::new));
        kept.flat_map(secrets).flatten().collect()
    }

    /// The key of a sign-in, refreshed if it has expired; `None` if nobody is signed in.
    pub(crate) async fn signed_in_key(&self, sign_in: &SignIn) -> Result<Option<Secret>, String> {
        let Some(credentials) = self.fresh_credentials(sign_in).await? else { return Ok(None) };
        let key = sign_in.ask("provider.getApiKey", json!({"credentials": credentials})).await;
        let key = key.map_err(|failure| failure.message)?;
        Ok(key.as_str().map(Secret::new))
    }

    /// The key and the headers for a model, in pi's shape; null if there is none.
    pub(crate) async fn key(&self, provider: String, id: String) -> Result<Value, String> {
        let sign_in = self.sign_in(&provider);
        let mut found = self.program.key(provider, id).await;
        let signed_in = match &sign_in {
            Some(sign_in) => self.signed_in_key(sign_in).await?,
            None => None,
        };
        if let Some(key) = signed_in {
            found["apiKey"] = json!(key.expose());
        }
        Ok(found)
    }

    async fn fresh_credentials(&self, sign_in: &SignIn) -> Result<Option<Value>, String> {
        let now = self.clock.now();
        let provider = sign_in.provider.as_str();
        // One refresh at a time: a token for refreshing is used once.
        let _turn = self.refreshing.lock().await;
        let Some(kept) = self.program.credentials(provider) else { return Ok(None) };
        if !has_expired(&kept, now) {
            return Ok(Some(kept));
        }
        match sign_in.ask("provider.refreshToken", json!({"credentials": kept})).await {
            Ok(fresh) if is_sound(&fresh) => {
                self.program.keep_credentials(provider, Some(&fresh))?;
                Ok(Some(fresh))
            }
            Ok(_) => Err("its extension answered with no credentials".to_owned()),
            Err(failure) => match self.program.credentials(provider) {
                // Another program was faster.
                Some(now_kept) if now_kept != kept && !has_expired(&now_kept, now) => Ok(Some(now_kept)),
                _ => Err(failure.message),
            },
        }
    }

    /// `/login` and `/logout`; `None` if there is nothing to sign in to, or an extension has a command of that name.
    pub(crate) async fn sign_in_command(&self, name: &str, args: &str) -> Option<()> {
        let is_in = match name {
            "login" => true,
            "logout" => false,
            _ => return None,
        };
        let all = self.sign_ins();
        if all.is_empty() || self.registry().command(name).is_some() {
            return None;
        }
        let Some(sign_in) = self.chosen(args.trim(), all, is_in).await else { return Some(()) };
        let (path, shown) = (sign_in.path.clone(), sign_in.name.clone());
        let done = if is_in { self.log_in(sign_in).await } else { self.log_out(&sign_in) };
        match done {
            Ok(()) => {
                let what = if is_in { "signed in to" } else { "signed out of" };
                self.program.tell_user("notify", json!({"message": format!("{what} {shown}"), "type": "info"}));
            }
            Err(why) => self.report(&path, &format!("command:{name}"), &Failure::new(why)),
        }
        Some(())
    }

    /// The named one, the only one, or the one that a person chooses.
    async fn chosen(&self, name: &str, all: Vec<SignIn>, is_in: bool) -> Option<SignIn> {
        if let Some(found) = all.iter().find(|sign_in| sign_in.provider == name) {
            return Some(found.clone());
        }
        if !name.is_empty() {
            let known: Vec<&str> = all.iter().map(|sign_in| sign_in.provider.as_str()).collect();
            let why = format!("there is no provider {name} to sign in to; there is {}", known.join(", "));
            self.report("", "command:login", &Failure::new(why));
            return None;
        }
        if let [only] = all.as_slice() {
            return Some(only.clone());
        }
        let options: Vec<&str> = all.iter().map(|sign_in| sign_in.name.as_str()).collect();
        let title = if is_in { "Sign in to" } else { "Sign out of" };
        let answer = self.program.ask_user("select".to_owned(), json!({"title": title, "options": options})).await;
        all.iter().find(|sign_in| Some(sign_in.name.as_str()) == answer.as_str()).cloned()
    }

    async fn log_in(&self, sign_in: SignIn) -> Result<(), String> {
        let done = sign_in.ask("provider.login", json!({})).await;
        self.program.tell_user("setStatus", json!({"key": "login", "text": null}));
        let credentials = done.map_err(|failure| failure.message)?;
        if !is_sound(&credentials) {
            return Err("the sign-in has no access, refresh and expires".to_owned());
        }
        self.program.keep_credentials(&sign_in.provider, Some(&credentials))?;
        self.change_models().await;
        self.refresh_models().await;
        Ok(())
    }

    fn log_out(&self, sign_in: &SignIn) -> Result<(), String> {
        self.program.keep_credentials(&sign_in.provider, None)
    }

    /// What an extension says while a person signs in.
    pub(crate) async fn sign_in_step(&self, step: &str, params: &Value) -> Result<Value, String> {
        let text = |name: &str| params[name].as_str().unwrap_or_default();
        let notify = |message: String| self.program.tell_user("notify", json!({"message": message, "type": "info"}));
        match step {
            "auth" => {
                let words = [format!("sign in at {}", text("url")), text("instructions").to_owned()];
                notify(words.join("\n").trim_end().to_owned());
                Ok(Value::Null)
            }
            "deviceCode" => {
                notify(format!("enter the code {} at {}", text("userCode"), text("verificationUri")));
                Ok(Value::Null)
            }
            "progress" => {
                self.program.tell_user("setStatus", json!({"key": "login", "text": text("message")}));
                Ok(Value::Null)
            }
            "prompt" => {
                let question = json!({"title": text("message"), "placeholder": params["placeholder"]});
                let answer = self.program.ask_user("input".to_owned(), question).await;
                let is_empty = answer.as_str().is_some_and(|answer| answer.trim().is_empty());
                let is_allowed = params["allowEmpty"].as_bool() == Some(true) || !is_empty;
                if answer.is_string() && is_allowed { Ok(answer) } else { Err("the sign-in was cancelled".to_owned()) }
            }
            "select" => {
                let options = params["options"].as_array().cloned().unwrap_or_default();
                let labels: Vec<&Value> = options.iter().map(|option| &option["label"]).collect();
                let question = json!({"title": text("message"), "options": labels});
                let answer = self.program.ask_user("select".to_owned(), question).await;
                let chosen = options.iter().find(|option| option["label"] == answer);
                Ok(chosen.map(|option| option["id"].clone()).unwrap_or_default())
            }
            _ => Err(format!("offshoot does not serve oauth.{step}")),
        }
    }

    /// Lets extensions change the models of those that a person is signed in to.
    pub(crate) async fn change_models(&self) {
        for sign_in in
            self.sign_ins().into_iter().filter(|sign_in| sign_in.described["oauth"]["hasModifyModels"] == true)
        {
            let Some(credentials) = self.program.credentials(&sign_in.provider) else { continue };
            let models = self.program.models(false).into_iter().filter(|model| model.provider == sign_in.provider);
            let models: Vec<Value> = models.map(|model| crate::payload::model(&model)).collect();
            let asked = json!({"models": models, "credentials": credentials});
            let changed = sign_in.ask("provider.modifyModels", asked).await;
            self.use_models(&sign_in, changed);
        }
    }

    /// Reads the lists of models of providers that have one elsewhere, where there is a key or a sign-in.
    pub(crate) async fn refresh_models(&self) {
        let all = {
            let registry = self.registry();
            let of = |extension: &crate::registry::Extension| {
                let refreshed = extension.loaded.providers.iter().filter(|known| known["hasRefreshModels"] == true);
                let with = |described: &Value| SignIn {
                    host: extension.host.clone(),
                    ext: extension.loaded.id,
                    path: extension.path(),
                    provider: described["name"].as_str().unwrap_or_default().to_owned(),
                    name: String::new(),
                    described: described.clone(),
                };
                refreshed.map(with).collect::<Vec<_>>()
            };
            registry.extensions.iter().flat_map(of).collect::<Vec<_>>()
        };
        for provider in all {
            // One that cannot be refreshed is reported with the next request.
            let credentials = self.fresh_credentials(&provider).await.ok().flatten();
            let has_key = provider.described["config"]["apiKey"].is_string();
            if credentials.is_none() && !has_key {
                continue;
            }
            let credential = credentials.map(|mut credentials| {
                credentials["type"] = json!("oauth");
                credentials
            });
            let listed = provider.ask("provider.refreshModels", json!({"credential": credential})).await;
            self.use_models(&provider, listed);
        }
    }

    fn use_models(&self, of: &SignIn, models: Result<Value, Failure>) {
        match models {
            Ok(Value::Array(models)) => {
                let mut described = of.described.clone();
                described["config"]["models"] = Value::Array(models);
                self.registry().add(LoadedExtension {
                    id: of.ext,
                    providers: vec![described],
                    ..LoadedExtension::default()
                });
                self.publish_providers();
            }
            Ok(_) => self.report(&of.path, "register_provider", &Failure::new("its list of models is not a list")),
            Err(failure) => self.report(&of.path, "register_provider", &failure),
        }
    }
}
