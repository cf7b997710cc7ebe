//! Chooses the model that a run asks, from models and keys in the user's files. Asks no model.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use offshoot_agent::model::{FoundModel, KeyOrigin, Keys, Models, ScopedModel, Trouble, UnknownModel, scope, too_open};
use offshoot_foreign::{OmpKey, omp_keys};
use offshoot_protocol::model::Model;
use offshoot_protocol::{Peer, Secret, ThinkingLevel};
use offshoot_session::clock::SystemClock;
use offshoot_session::entry::Source as _;
use offshoot_session::json::Json;
use offshoot_session::session::Session;
use offshoot_settings::nearest::nearest;
use offshoot_settings::{PeerUse, Settings};

use offshoot_workspace::KnownModels;

use crate::app::App;
use crate::config;
use crate::config::auth_file::AuthFile;
use crate::config::local_models_file;
use crate::config::settings::peer_folders;
use crate::error::{CommandError, FailureKind, Result};
use crate::near_model::near_model;

/// oh-my-pi's database, which has its keys.
pub const KEYS_OF_OMP: &str = "agent.db";

/// The model that is asked, as typed.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ModelArgs {
    /// The provider, such as anthropic, openai, google, or one of models.json
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,

    /// The model: an id, a part of one, or provider/id; `:LEVEL` after it sets the thinking level
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,

    /// The thinking level: off, minimal, low, medium, high, xhigh, max
    #[arg(long, value_name = "LEVEL", value_parser = thinking)]
    pub thinking: Option<ThinkingLevel>,
}

impl ModelArgs {
    /// Refuses the options where no model is asked.
    pub fn refuse(&self, hint: &str) -> Result<()> {
        let given = [("--provider", self.provider.is_some()), ("--model", self.model.is_some())];
        let given = given.into_iter().chain([("--thinking", self.thinking.is_some())]).find(|(_, is_given)| *is_given);
        match given {
            None => Ok(()),
            Some((option, _)) => {
                Err(CommandError::usage(format!("{option} has no effect: no model writes a summary")).hint(hint))
            }
        }
    }
}

fn thinking(text: &str) -> std::result::Result<ThinkingLevel, String> {
    ThinkingLevel::parse(text)
        .ok_or_else(|| format!("there are {}", ThinkingLevel::ALL.map(ThinkingLevel::as_str).join(", ")))
}

/// What happens if no model has a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithoutKey {
    /// The run is refused.
    Refuse,
    /// A model is chosen anyway, and the agent waits for its key.
    Wait,
}

/// Sources of the choice, in order of precedence.
pub struct ModelSources<'a> {
    /// What was typed.
    pub typed: &'a ModelArgs,
    /// The session, which records the model that was asked last.
    pub session: &'a Session,
    /// The settings in effect.
    pub settings: &'a Settings,
    /// Patterns of the models to begin with; empty for all.
    pub scope: &'a [String],
    /// What happens without a key.
    pub without_key: WithoutKey,
}

/// A model, and how it is asked.
pub struct ChosenModel {
    /// The model.
    pub model: Model,
    /// As requested; each model clamps it to what it supports.
    pub thinking: ThinkingLevel,
}

/// All models, and the keys that there are.
pub struct ModelTable {
    /// Those of offshoot, of the user's files and of extensions.
    pub models: Arc<Models>,
    /// Where their keys come from.
    pub keys: Keys,
    /// The providers that a person signs in to, and whether somebody is.
    sign_ins: BTreeMap<String, bool>,
}

impl ModelTable {
    /// Reads the user's files, and returns what is wrong in them.
    pub fn read(app: &App) -> (Self, Vec<Trouble>) {
        let home = app.environment.data.as_deref();
        let (mut models, mut troubles) = Models::load(home);
        let mut keys = Keys::new(config::variables(), Arc::new(SystemClock)).with_environment(config::all_variables());
        if let Some(home) = home {
            let (loaded, found) = keys.load(home);
            keys = loaded;
            troubles.extend(found);
        }
        let peers = peer_folders(&app.environment);
        for (at, peer) in peers.iter().enumerate() {
            let (more, odd) = models.with_peer(home, peers.get(..at).unwrap_or_default(), peer);
            let (stored, found) = match peer.peer {
                Peer::Pi => keys.with_pi(&peer.path),
                Peer::Omp => with_keys_of_omp(keys, &peer.path),
            };
            (models, keys) = (more, stored);
            troubles.extend(odd.into_iter().chain(found));
        }
        local_models_file::known(&app.environment).iter().for_each(|found| _ = models.add_local(found));
        app.registered.add_to(&mut models);
        let auth = home.map(AuthFile::of);
        let is_in = |name: &String| auth.as_ref().is_some_and(|auth| auth.credentials(name).is_some());
        let sign_ins = app.registered.sign_ins().into_iter().map(|name| (name.clone(), is_in(&name))).collect();
        (Self { models: Arc::new(models), keys, sign_ins }, troubles)
    }

    /// Reads the user's files; what is wrong in them is a warning.
    pub fn load(app: &App) -> Self {
        let (table, troubles) = Self::read(app);
        troubles.iter().for_each(|trouble| app.ui.warning(&trouble.to_string()));
        table
    }

    /// How many tokens the session's own model takes; `None` if it is not known.
    pub fn window_of(app: &App, session: &Session) -> Option<u64> {
        let (provider, id) = recorded(session).0?;
        let quiet = App { ui: app.ui.quiet(), ..app.clone() };
        let model = Self::load(&quiet).models.get(&provider, &id).map(|model| model.context_window);
        model.filter(|window| *window > 0)
    }

    /// All models and keys, for operations.
    pub fn known(app: &App) -> KnownModels {
        let (Self { models, keys, .. }, troubles) = Self::read(app);
        let troubles = troubles.iter().map(ToString::to_string).collect();
        KnownModels { models, keys, troubles, near_provider }
    }

    /// The providers that have a key, and where it comes from.
    pub fn key_origins(&self) -> Vec<(&str, KeyOrigin)> {
        let keyed = |provider| Some((provider, self.keys.source(&self.models, provider)?));
        self.models.providers().into_iter().filter_map(keyed).collect()
    }

    /// The same with the key of `--api-key`.
    #[must_use]
    pub fn with_key(self, key: Option<&str>) -> Self {
        Self { keys: self.keys.with(key.map(Secret::new)), ..self }
    }

    /// Whether the model's provider has a key or a sign-in, or needs none.
    pub fn can_ask(&self, model: &Model) -> bool {
        match self.sign_ins.get(&model.provider) {
            Some(is_in) => *is_in || self.keys.source(&self.models, &model.provider).is_some(),
            None => self.keys.can_ask(&self.models, model),
        }
    }

    /// The same of a provider, without a look at its models where the catalogue has them.
    fn may_ask(&self, provider: &str) -> bool {
        self.sign_ins.contains_key(provider) || self.keys.may_ask(&self.models, provider)
    }

    /// The models that have a key.
    pub fn usable(&self) -> Vec<Arc<Model>> {
        let providers = self.models.providers().into_iter().filter(|provider| self.may_ask(provider));
        let models = providers.flat_map(|provider| self.models.of_provider(provider));
        models.filter(|model| self.can_ask(model)).cloned().map(Arc::new).collect()
    }

    /// The models of these patterns that can be asked, and what is wrong with a pattern. If there is none, all models.
    pub fn scope(&self, patterns: &[String]) -> (Vec<ScopedModel>, Vec<String>) {
        let usable = self.usable();
        let (found, mut warnings) = scope(&usable, patterns);
        if !found.is_empty() || usable.is_empty() {
            return (found, warnings);
        }
        warnings.push("no model is left: all with a key are used".to_owned());
        (scope(&usable, &[]).0, warnings)
    }

    /// Whether any pattern fits a model with a key: else all of these are used, as without patterns.
    pub fn has_scope(&self, patterns: &[String]) -> bool {
        let is_blank = patterns.iter().all(|pattern| pattern.trim().is_empty());
        !is_blank && !scope(&self.usable(), patterns).0.is_empty()
    }

    /// The model that a person named.
    ///
    /// # Errors
    /// None is called so, or several are.
    pub fn find(&self, provider: Option<&str>, name: &str) -> std::result::Result<FoundModel, UnknownModel> {
        let default_is_usable =
            |provider: &str| self.models.default_of(provider).is_some_and(|model| self.can_ask(model));
        let usable = |provider: &str| self.may_ask(provider) && default_is_usable(provider);
        let mut found = self.models.find(provider, name, &usable)?;
        if let Some(warning) = &mut found.warning {
            let known = self.models.of_provider(&found.model.provider).iter().map(|model| model.id.as_str());
            let near = near_model(&found.model.id, known).map(|near| format!("; did you mean {near}?"));
            warning.push_str(&near.unwrap_or_default());
        }
        Ok(found)
    }

    fn not_found(&self, error: &UnknownModel) -> CommandError {
        let models = || self.models.all();
        let near = match error {
            UnknownModel::Provider(name) => near_provider(&self.models, name),
            UnknownModel::Model(name) if name.contains('/') => {
                let names: Vec<String> = models().map(|model| format!("{}/{}", model.provider, model.id)).collect();
                near_model(name, names.iter().map(String::as_str)).map(str::to_owned)
            }
            UnknownModel::Model(name) => near_model(name, models().map(|model| model.id.as_str())).map(str::to_owned),
            UnknownModel::Ambiguous { .. } => None,
        };
        let told = CommandError::new(FailureKind::NotFound, error.to_string());
        let told = match near {
            Some(near) => told.hint(format!("did you mean {near}?")),
            None => told,
        };
        told.hint("`offshoot models` lists the models; models.json adds others")
    }

    /// The model of the command line, else the session's, else the user's, else the first with a key.
    pub fn choose(&self, app: &App, sources: &ModelSources<'_>) -> Result<ChosenModel> {
        let (models, typed, user) = (&self.models, sources.typed, sources.settings);
        let find =
            |provider: Option<&str>, name: &str| self.find(provider, name).map_err(|error| self.not_found(&error));
        let (recorded, level) = recorded(sources.session);
        let own = recorded.and_then(|(provider, id)| models.get(&provider, &id));
        let mut named = None;
        let model = if let Some(name) = &typed.model {
            let found = find(typed.provider.as_deref(), name)?;
            found.warning.iter().for_each(|warning| app.ui.warning(warning));
            named = found.level;
            found.model
        } else if let Some(provider) = typed.provider.as_deref() {
            let model = models.default_of(provider);
            model.cloned().ok_or_else(|| self.not_found(&UnknownModel::Provider(provider.to_owned())))?
        } else if let Some(model) = own.filter(|model| self.can_ask(model)) {
            model.clone()
        } else if let Some(first) = self.first_of_scope(app, sources) {
            named = first.level;
            Model::clone(&first.model)
        } else if let Some(found) = self.of_settings(app, user)? {
            named = found.level;
            found.model
        } else {
            let providers = || models.providers().into_iter();
            let mut defaults = providers().filter(|provider| self.may_ask(provider));
            let first = defaults.find_map(|provider| models.default_of(provider).filter(|model| self.can_ask(model)));
            let waiting = own.or_else(|| providers().find_map(|provider| models.default_of(provider)));
            let waiting = waiting.filter(|_| sources.without_key == WithoutKey::Wait);
            first.or(waiting).cloned().ok_or_else(|| unasked_folders(app).fold(self.no_key(), CommandError::hint))?
        };
        // The session's level does not count if the model has only one: the user did not choose it.
        let level = level.filter(|_| model.levels().len() > 1);
        let usual = user.thinking_of.get(&format!("{}/{}", model.provider, model.id)).copied();
        let thinking = typed.thinking.or(named).or(level).or(usual).unwrap_or(user.thinking);
        Ok(ChosenModel { model, thinking })
    }

    /// The model that the settings name. One that a peer's settings name counts only with a key: people log in to providers there.
    fn of_settings(&self, app: &App, user: &Settings) -> Result<Option<FoundModel>> {
        let Some(name) = &user.model else { return Ok(None) };
        let found = self.find(user.provider.as_deref(), name).map_err(|error| self.not_found(&error))?;
        match user.model_of {
            Some(peer) if !self.can_ask(&found.model) => {
                let Model { provider, id, .. } = &found.model;
                let peer = peer.as_str();
                app.ui.warning(&format!(
                    "{provider}/{id}, the model of {peer}'s settings, is not used: {provider} has no key here"
                ));
                Ok(None)
            }
            _ => Ok(Some(found)),
        }
    }

    /// Why no model can be asked.
    fn no_key(&self) -> CommandError {
        let lacks = |provider| self.models.default_of(provider).and_then(|model| self.keys.lacks(&self.models, model));
        let useless =
            self.key_origins().into_iter().filter_map(|(provider, key)| Some((provider, key, lacks(provider)?)));
        let useless = useless.map(|(provider, key, why)| format!("{provider} has a key ({}), but {why}", key.as_str()));
        useless.fold(no_key(), CommandError::hint)
    }

    /// The user's model if the scope has it, else the first of the scope; `None` without a scope.
    fn first_of_scope(&self, app: &App, sources: &ModelSources<'_>) -> Option<ScopedModel> {
        if sources.scope.iter().all(|pattern| pattern.trim().is_empty()) {
            return None;
        }
        let (mut scope, warnings) = self.scope(sources.scope);
        warnings.iter().for_each(|warning| app.ui.warning(warning));
        if !self.has_scope(sources.scope) {
            return None;
        }
        let user = sources.settings;
        let own = user.model.as_ref().and_then(|name| self.find(user.provider.as_deref(), name).ok());
        let own = own.map(|found| found.model);
        let is_own = |scoped: &ScopedModel| {
            own.as_ref().is_some_and(|own| (&own.provider, &own.id) == (&scoped.model.provider, &scoped.model.id))
        };
        let at = scope.iter().position(is_own).unwrap_or(0);
        (at < scope.len()).then(|| scope.swap_remove(at))
    }
}

/// The next model of the scope, or the previous one, as pi chooses it: after the last model comes the first, and from a model outside
/// the scope the first or the last. `None` if the scope has no other model.
pub fn next_of<'a>(scope: &'a [ScopedModel], now: &Model, is_forward: bool) -> Option<&'a ScopedModel> {
    let is_now = |scoped: &ScopedModel| (&scoped.model.provider, &scoped.model.id) == (&now.provider, &now.id);
    let (at, count) = (scope.iter().position(is_now), scope.len().max(1));
    let next = match (at, is_forward) {
        (Some(at), true) => (at + 1) % count,
        (Some(at), false) => (at + count - 1) % count,
        (None, true) => 0,
        (None, false) => count - 1,
    };
    scope.get(next).filter(|next| !is_now(next))
}

/// The thinking level with which a model is used from now on: the scope's, else the user's for this model.
pub fn level_of(scoped: &ScopedModel, user: &Settings) -> Option<ThinkingLevel> {
    let name = format!("{}/{}", scoped.model.provider, scoped.model.id);
    scoped.level.or_else(|| user.thinking_of.get(&name).copied())
}

/// The keys of oh-my-pi's database, unless others may read it.
fn with_keys_of_omp(keys: Keys, omp: &Path) -> (Keys, Vec<Trouble>) {
    let path = omp.join(KEYS_OF_OMP);
    let trouble = |what: String| vec![Trouble { path: path.clone(), line: None, what }];
    let found = match omp_keys(&path) {
        Ok(found) => found.keys,
        Err(error) => return (keys, trouble(format!("its keys are not used: {error}"))),
    };
    if let Some(mode) = too_open(&path).filter(|_| !found.is_empty()) {
        let what = format!("others may read it (mode {mode:03o}), so its keys are not used; `chmod 600` it");
        return (keys, trouble(what));
    }
    (keys.with_others(found.into_iter().map(|OmpKey { provider, key }| (provider, key))), Vec::new())
}

fn near_provider(models: &Models, name: &str) -> Option<String> {
    nearest(name, models.providers()).map(str::to_owned)
}

/// The folders of other programs that nobody has been asked about: what they have does not count yet.
fn unasked_folders(app: &App) -> impl Iterator<Item = String> {
    let layers = app.settings_files(&app.environment.cwd).load().map(|(layers, _)| layers).unwrap_or_default();
    Peer::ALL.into_iter().filter(move |peer| layers.use_of(*peer) == PeerUse::Ask).filter_map(|peer| {
        let folder = app.environment.peer(peer).filter(|folder| folder.is_dir())?;
        let (folder, setting) = (app.environment.short(&folder.display().to_string()), peer.setting());
        let asks = "`offshoot` on a terminal asks about it";
        Some(format!("{folder} does not count yet: {asks}, or set {setting} to \"on\" in your settings.json"))
    })
}

fn no_key() -> CommandError {
    CommandError::new(FailureKind::Model, "there is no model to ask: no provider has a key")
        .hint("`offshoot auth login PROVIDER` saves a key; or set its variable (ANTHROPIC_API_KEY, OPENAI_API_KEY, GROQ_API_KEY …)")
        .hint("`offshoot models --local` finds the models of a server on this machine (Ollama, LM Studio, llama.cpp, vLLM)")
}

/// The last model and thinking level of a session that has entries.
pub fn recorded(session: &Session) -> (Option<(String, String)>, Option<ThinkingLevel>) {
    let Some(leaf) = session.leaf() else { return (None, None) };
    let Ok(context) = session.context() else { return (None, None) };
    let model = context.model.as_deref().and_then(|json| {
        let json = Json::parse(json).ok()?;
        Some((json.str("provider")?.into_owned(), json.str("modelId")?.into_owned()))
    });
    // A context without such an entry is "off" too, but nobody chose that.
    let is_chosen = session.tree().thinking_level_change(leaf).is_some();
    let level = context.thinking_level.as_deref().filter(|_| is_chosen);
    let level = level.and_then(|json| ThinkingLevel::parse(&Json::parse(json).ok()?.as_str()?));
    (model, level)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `getNextCycleIndex` of pi 1.6.0.
    #[test]
    fn models_are_cycled_around_the_end_and_from_outside() {
        let model = |id: &str| Arc::new(Model { id: id.to_owned(), provider: "p".to_owned(), ..Model::default() });
        let next = |scope: &str, now: &str, is_forward: bool| {
            let scope: Vec<ScopedModel> =
                scope.split_whitespace().map(|id| ScopedModel { model: model(id), level: None }).collect();
            next_of(&scope, &model(now), is_forward).map(|next| next.model.id.clone()).unwrap_or_default()
        };
        for (scope, now, forward, backward) in [
            ("a b c", "a", "b", "c"),
            ("a b c", "c", "a", "b"),
            ("a b c", "x", "a", "c"),
            ("a", "x", "a", "a"),
            ("a", "a", "", ""),
            ("", "x", "", ""),
        ] {
            let both = (next(scope, now, true), next(scope, now, false));
            assert_eq!(both, (forward.to_owned(), backward.to_owned()), "{scope:?} at {now}");
        }
    }
}
