//! What the agent is made of: model, keys, tools, prompt and settings, from what was typed, the session and the user's
//! files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_agent::context_files;
use offshoot_agent::model::{Access, KeyError, Keys, Models, Trouble};
use offshoot_agent::provider::{Http, Model, Secret, ThinkingLevel};
use offshoot_agent::sessions::Sessions;
use offshoot_agent::summarise::{ModelSummariser, Summarise as _};
use offshoot_agent::system_prompt::SystemPrompt;
use offshoot_agent::tool::{self, Place, Shell};
use offshoot_agent::{KeySource, Setup};
use offshoot_session::branch_summary;
use offshoot_session::clock::{SystemClock, to_iso};
use offshoot_session::compact;
use offshoot_session::error::{Error, Result as Read};
use offshoot_session::json::Json;
use offshoot_session::session::{NewSession, Session};
use offshoot_session::store::{DirStore, Store as _};
use offshoot_session::summariser::{Answer, Request, Summariser};
use offshoot_settings::Settings;

use super::{Args, Asked};
use crate::app::App;
use crate::config::{self, settings::Files as SettingsFiles};
use crate::error::{CommandError, Kind, Result};

/// What is known of models, and the keys.
struct Table {
    models: Arc<Models>,
    keys: Keys,
}

/// Who is asked.
struct Chosen {
    model: Model,
    /// How much it shall think, whether it can or not.
    thinking: ThinkingLevel,
}

/// What is done when no model can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keyless {
    /// Nothing: there is no agent then.
    Refused,
    /// The agent starts and waits for a key.
    Waits,
}

/// Everything but the session.
pub(crate) fn setup(app: &App, args: &Args, session: &Session, keyless: Keyless) -> Result<Setup> {
    let (user, troubles) = settings(app, session)?;
    troubles.iter().for_each(|trouble| app.ui.warning(trouble));
    let table = table(app, args.api_key.as_deref());
    let Chosen { model, thinking } = choose(app, &table, &user, session, (&args.asked, keyless))?;
    let cwd = folder(app, session);
    let shell = shell(&user, session);
    let wanted = args.tools.clone().or_else(|| user.tools.as_ref().map(|tools| tools.join(",")));
    let tools = tool::select(wanted.as_deref().unwrap_or(tool::DEFAULT), &shell)
        .map_err(|error| CommandError::usage(error.to_string()))?;
    let home = app.settings.data.clone().unwrap_or_default();
    let (context, unreadable) = context_files::find(&home, &cwd);
    unreadable.iter().for_each(|file| app.ui.warning(&format!("{file}: {}", file.source)));
    let date = to_iso(app.now());
    let prompt = SystemPrompt {
        tools: &tools,
        context: &context,
        custom: args.system_prompt.as_deref(),
        append: args.append_system_prompt.as_deref(),
        date: date.get(..10).unwrap_or(&date),
        cwd: &cwd,
    };
    let system = prompt.text();
    let spill = app.settings.cache.clone().unwrap_or_else(|| home.clone()).join("output");
    // Others are opened while a screen is shown.
    let quiet = App { ui: app.ui.quiet(), ..app.clone() };
    let sessions = Files { app: quiet, store: app.store().ok(), table: table.models.clone() };
    let mut setup = Setup::new(Arc::new(Http::new(Arc::new(SystemClock))), Arc::new(model), &cwd);
    setup.keys = Arc::new(Fresh { app: app.clone(), key: args.api_key.clone(), first: (table.models, table.keys) });
    setup.thinking = thinking;
    setup.system = system;
    setup.tools = tools;
    setup.place = Place { spill, cwd, home: app.settings.home.clone(), images: setup.model.images, hidden: None };
    setup.shell = shell;
    setup.retry = user.retry;
    setup.compaction = user.compaction;
    setup.compaction_for = user.compaction_for;
    setup.branch_reserve = user.branch_reserve;
    setup.steering = user.steering;
    setup.follow_up = user.follow_up;
    setup.sessions = Arc::new(sessions);
    Ok(setup)
}

/// What the user's settings and those of the session's folder say, and what in them has no effect.
fn settings(app: &App, session: &Session) -> Result<(Settings, Vec<String>)> {
    let (layers, troubles) = settings_files(app, session).load()?;
    Ok((Settings::from(&layers), troubles))
}

/// Where settings for a session stand.
pub(crate) fn settings_files(app: &App, session: &Session) -> SettingsFiles {
    SettingsFiles::of(app.settings.data.as_deref(), &folder(app, session))
}

/// The folder that the model works in.
fn folder(app: &App, session: &Session) -> PathBuf {
    session.cwd().filter(|cwd| !cwd.is_empty()).map_or_else(|| app.settings.cwd.clone(), PathBuf::from)
}

/// Commands of the model know which session they belong to.
fn shell(user: &Settings, session: &Session) -> Shell {
    let mut env = vec![("OFFSHOOT_SESSION_ID".to_owned(), session.id().to_owned())];
    env.extend(session.file().map(|file| ("OFFSHOOT_SESSION_FILE".to_owned(), file.display().to_string())));
    Shell { program: user.shell.as_ref().map(PathBuf::from), prefix: user.shell_prefix.clone(), env }
}

/// The models and keys that there are, and what is wrong with the files that name them.
pub(crate) fn known(app: &App) -> (Models, Keys, Vec<Trouble>) {
    let home = app.settings.data.as_deref();
    let (models, mut troubles) = Models::load(home);
    let mut keys = Keys::new(config::variables());
    if let Some(home) = home {
        let (loaded, found) = keys.load(home);
        keys = loaded;
        troubles.extend(found);
    }
    (models, keys, troubles)
}

fn table(app: &App, key: Option<&str>) -> Table {
    let (models, keys, troubles) = known(app);
    troubles.iter().for_each(|trouble| app.ui.warning(&trouble.to_string()));
    Table { models: Arc::new(models), keys: keys.with(key.map(Secret::new)) }
}

/// The model that was typed, else the session's, else the user's, else the first with a key.
fn choose(
    app: &App,
    table: &Table,
    user: &Settings,
    session: &Session,
    (asked, keyless): (&Asked, Keyless),
) -> Result<Chosen> {
    let Table { models, keys } = table;
    let can_ask = |model: &Model| keys.can_ask(models, model);
    let usable = |provider: &str| models.default_of(provider).is_some_and(can_ask);
    let find = |provider: Option<&str>, name: &str| {
        let found = models.find(provider, name, &usable);
        found.map_err(|error| {
            CommandError::new(Kind::NotFound, error.to_string()).hint("`offshoot models` lists the models")
        })
    };
    let (recorded, level) = recorded(session);
    let own = recorded.and_then(|(provider, id)| models.get(&provider, &id));
    let mut named = None;
    let model = if let Some(name) = &asked.model {
        let found = find(asked.provider.as_deref(), name)?;
        found.warning.iter().for_each(|warning| app.ui.warning(warning));
        named = found.level;
        found.model
    } else if let Some(provider) = asked.provider.as_deref() {
        let model = models.default_of(provider);
        model.cloned().ok_or_else(|| {
            CommandError::new(Kind::NotFound, format!("there is no provider {provider}"))
                .hint("`offshoot models` lists the models; models.json adds others")
        })?
    } else if let Some(model) = own.filter(|model| can_ask(model)) {
        model.clone()
    } else if let Some(name) = &user.model {
        let found = find(user.provider.as_deref(), name)?;
        named = found.level;
        found.model
    } else {
        let mut defaults = models.providers().into_iter().filter_map(|provider| models.default_of(provider));
        let first = defaults.clone().find(|model| can_ask(model));
        let waiting = own.or_else(|| defaults.next()).filter(|_| keyless == Keyless::Waits);
        first.or(waiting).cloned().ok_or_else(nobody)?
    };
    // A level that the model could not choose is none that the user chose.
    let level = level.filter(|_| model.levels().len() > 1);
    let thinking = asked.thinking.or(named).or(level).unwrap_or(user.thinking);
    Ok(Chosen { model, thinking })
}

fn nobody() -> CommandError {
    CommandError::new(Kind::Model, "there is no model to ask: no provider has a key")
        .hint("set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or write the key into auth.json")
        .hint(
            "a server of your own (llama.cpp, vLLM, Ollama) goes into models.json; `offshoot models --help` says where",
        )
}

/// The model and the level that a session that has begun was left with.
fn recorded(session: &Session) -> (Option<(String, String)>, Option<ThinkingLevel>) {
    let Some(context) = session.leaf().and_then(|_| session.context().ok()) else { return (None, None) };
    let model = context.model.as_deref().and_then(|json| {
        let json = Json::parse(json).ok()?;
        Some((json.str("provider")?.into_owned(), json.str("modelId")?.into_owned()))
    });
    let level =
        context.thinking_level.as_deref().and_then(|json| ThinkingLevel::parse(&Json::parse(json).ok()?.as_str()?));
    (model, level)
}

/// The keys that there were at the start; the files are read anew for one that was not among them.
struct Fresh {
    app: App,
    key: Option<String>,
    first: (Arc<Models>, Keys),
}

impl KeySource for Fresh {
    fn access(&self, model: &Arc<Model>) -> std::result::Result<Access, KeyError> {
        self.first.access(model).or_else(|_| {
            let (models, keys, _) = known(&self.app);
            (Arc::new(models), keys.with(self.key.as_deref().map(Secret::new))).access(model)
        })
    }
}

/// Sessions of the store.
struct Files {
    app: App,
    store: Option<DirStore>,
    table: Arc<Models>,
}

impl Sessions for Files {
    fn create(&self, new: &NewSession<'_>) -> Read<Session> {
        match &self.store {
            Some(store) => store.create(new, self.app.options()),
            None => Err(Error::Invalid("there is no home directory to keep sessions in".to_owned())),
        }
    }

    fn open(&self, file: &Path) -> Read<Session> {
        Session::open(file, self.app.options_for(file))
    }

    fn place(&self, cwd: &str, id: &str, timestamp: &str) -> PathBuf {
        match &self.store {
            Some(store) => store.place(cwd, id, timestamp),
            None => Path::new(cwd).join(offshoot_session::store::file_name(id, timestamp)),
        }
    }

    fn model(&self, provider: &str, id: &str) -> Option<Arc<Model>> {
        self.table.get(provider, id).cloned().map(Arc::new)
    }
}

/// A model that writes the summaries of commands.
pub(crate) struct Summaries {
    model: ModelSummariser,
    branch_reserve: u64,
    runtime: tokio::runtime::Runtime,
}

impl Summaries {
    /// How many tokens of a branch fit into a request for its summary.
    pub(crate) fn branch_budget(&self) -> u64 {
        let window = match self.model.model.context_window {
            0 => branch_summary::DEFAULT_WINDOW,
            window => window,
        };
        window.saturating_sub(self.branch_reserve)
    }
}

/// The model that summarises a session: the one that was asked for, its own, the user's, or the first with a key.
/// `None`: there is none, and none was asked for.
pub(crate) fn summaries(app: &App, session: &Session, asked: &Asked) -> Result<Option<Summaries>> {
    let is_asked_for = asked.provider.is_some() || asked.model.is_some();
    let (user, troubles) = settings(app, session)?;
    troubles.iter().for_each(|trouble| app.ui.warning(trouble));
    match model_for_summaries(app, session, &user, asked) {
        Ok(model) => Ok(Some(model)),
        Err(error) if is_asked_for => Err(error),
        Err(_) => Ok(None),
    }
}

fn model_for_summaries(app: &App, session: &Session, user: &Settings, asked: &Asked) -> Result<Summaries> {
    let table = table(app, None);
    let Chosen { model, thinking } = choose(app, &table, user, session, (asked, Keyless::Refused))?;
    let thinking = model.clamp(thinking);
    let Access { model, key } = table.keys.access(&table.models, &model).map_err(|error| CommandError::from(&error))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| CommandError::io("start the summariser", &error))?;
    let provider = Arc::new(Http::new(Arc::new(SystemClock)));
    let model = ModelSummariser { provider, model, thinking, key, retry: user.retry, listener: None };
    Ok(Summaries { model, branch_reserve: user.branch_reserve, runtime })
}

/// How much a compaction keeps and leaves free, as the user set it: for the model that is asked, or in general. What in
/// the settings has no effect is told by [`summaries`].
pub(crate) fn compaction_settings(app: &App, session: &Session, asked: &Asked) -> Result<compact::Settings> {
    let (mut user, _) = settings(app, session)?;
    if user.compaction_for.is_empty() {
        return Ok(user.compaction);
    }
    let chosen = choose(app, &table(app, None), &user, session, (asked, Keyless::Refused)).ok();
    let name = chosen.map(|Chosen { model, .. }| format!("{}/{}", model.provider, model.id));
    Ok(name.and_then(|name| user.compaction_for.remove(&name)).unwrap_or(user.compaction))
}

impl Summariser for Summaries {
    fn summarise(&self, request: &Request) -> Read<Answer> {
        let written = self.runtime.block_on(self.model.summarise(request.clone()));
        written.map_err(Error::NoSummary)
    }
}
