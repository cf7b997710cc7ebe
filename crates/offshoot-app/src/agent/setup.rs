//! The agent's setup: model, keys, tools, prompt and settings, from the command line, the session and the user's files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError};

use offshoot_agent::approval::ReadCommands;
use offshoot_agent::context_files::{self, ContextTrouble, Links};
use offshoot_agent::file_entries::FileRecording;
use offshoot_agent::model::{Keys, Models};
use offshoot_agent::prompt_weight::PromptWeight;
use offshoot_agent::provider::{Http, ToolSpec};
use offshoot_agent::resources::{
    Interruption, ResourceLists, ResourcePlaces, RuleSettings, SharedResources, SystemTexts, TypedTexts, of_project,
};
use offshoot_agent::sandbox::Sandbox;
use offshoot_agent::sessions::{ReadyFiles, Sessions};
use offshoot_agent::stored_prompt::{StoredPrompt, ToolSets};
use offshoot_agent::system_prompt::{PromptParts, SystemPrompt};
use offshoot_agent::tool::{
    self, ConversationLink, KeyGuard, OutputFolder, Shell, Tool, ToolChoice, ToolContext, ToolFilter,
};
use offshoot_agent::{
    Accessing, Approver, Family, FamilyLimits, KeySource, ReloadedSetup, RunLimits, Setup, SetupSource,
};
use offshoot_mcp::search_tool::TOOL_SEARCH;
use offshoot_mcp::server::Presence;
use offshoot_mcp::start_plan::{Confine, ConfinedWords};
use offshoot_protocol::model::Model;
use offshoot_protocol::{AgentError, FilesAlong, Peer, Secret};
use offshoot_session::clock::to_iso;
use offshoot_session::error::{Invalid, Result as Read};
use offshoot_session::session::{NewSession, Session};
use offshoot_session::store::{DirStore, Store as _};
use offshoot_session::tree::NodeIx;
use offshoot_session::zone::Zone;
use offshoot_settings::{Layer, Layers, Scope, Settings, StreamRuleSettings};
use offshoot_workspace::{fork_files, recover_files};

use super::approval::{Project, permissions, start_mode};
use super::args::AgentOutput;
use super::{Args, confine};
use crate::app::App;
use crate::config::settings::peer_folders;
use crate::config::{Environment, own_program};
use crate::error::{CommandError, FailureKind, Result};
use crate::http::http;
use crate::mcp::{self, KeysAndSecrets, McpSelection, ServerSecrets};
use crate::models::{ChosenModel, ModelArgs, ModelSources, ModelTable, WithoutKey};
use crate::packages::{BroughtFiles, brought, brought_by_folders};
use crate::trust::{RunTrust, Trust};

/// oh-my-pi keeps keys in a database.
const KEY_FILES: [&str; 4] = ["auth.json", "agent.db", "agent.db-wal", "agent.db-journal"];

/// The setup of an agent for this session.
///
/// # Errors
/// The settings, the models, the tools or the sandbox are refused, or no model has a key and nobody can enter one.
pub fn setup(app: &App, args: &Args, session: &Session, approver: Approver) -> Result<Setup> {
    let person = match approver {
        Approver::Nobody if args.mode != Some(AgentOutput::Rpc) => Presence::Nobody,
        Approver::FrontEnd(_) | Approver::Nobody => Presence::Somebody,
    };
    let (mut setup, servers) = setup_of_folder(app, args, session, approver)?;
    if !args.no_mcp {
        add_servers(app, args, session, (&mut setup, ServerSettings { person, ..servers }));
    }
    Ok(setup)
}

/// What servers need of the settings.
struct ServerSettings {
    imports: Vec<String>,
    http: Http,
    person: Presence,
}

/// The MCP servers of the session's folder. They stay when another session is opened.
fn add_servers(app: &App, args: &Args, session: &Session, (setup, settings): (&mut Setup, ServerSettings)) {
    let ServerSettings { imports, http, person } = settings;
    let selection = McpSelection { named: args.mcp_config.clone(), imports };
    let (folder, secrets) = (setup.tool_context.cwd.clone(), ServerSecrets::default());
    let servers = mcp::servers(
        app,
        &folder,
        (&selection, &|| found_tools(session)),
        (http, person, server_confine(app, &folder)),
        &secrets,
    );
    setup.live_tools = Some(servers);
    setup.keys = Arc::new(KeysAndSecrets { keys: setup.keys.clone(), secrets });
}

/// Puts MCP servers into a sandbox, which is made when the first one wants it.
pub fn server_confine(app: &App, folder: &Path) -> Confine {
    let (app, folder) = (App { ui: app.ui.quiet(), ..app.clone() }, folder.to_path_buf());
    let made: OnceLock<std::result::Result<Sandbox, String>> = OnceLock::new();
    let hidden = key_files(&app);
    Arc::new(move |words, cwd| {
        let make = || confine::server_sandbox(&app, &folder).map_err(|error| error.with_hints_on_one_line());
        let sandbox = made.get_or_init(make).as_ref().map_err(Clone::clone)?;
        let words = sandbox.confined_words(words, cwd, &hidden)?;
        Ok(ConfinedWords { words, env: vec![("TMPDIR".to_owned(), sandbox.temporary.display().to_string())] })
    })
}

/// The tools of servers that searches on the session's branch have found.
fn found_tools(session: &Session) -> Vec<String> {
    let Some(context) = session.leaf().and_then(|_| session.context().ok()) else { return Vec::new() };
    let marks = format!("\"{TOOL_SEARCH}\"");
    let messages = context.messages(session).filter_map(std::result::Result::ok);
    let results = messages.filter(|message| message.json().text().contains(&marks));
    let named = results.filter_map(|message| serde_json::from_str::<serde_json::Value>(message.json().text()).ok());
    let named = named.filter(|message| message["role"] == "toolResult" && message["toolName"] == TOOL_SEARCH);
    named
        .flat_map(|message| {
            let names = message["details"]["loaded"].as_array().cloned().unwrap_or_default();
            names.into_iter().filter_map(|name| name.as_str().map(str::to_owned))
        })
        .collect()
}

fn setup_of_folder(app: &App, args: &Args, session: &Session, approver: Approver) -> Result<(Setup, ServerSettings)> {
    let without_key = match approver {
        Approver::Nobody if args.mode != Some(AgentOutput::Rpc) => WithoutKey::Refuse,
        Approver::FrontEnd(_) | Approver::Nobody => WithoutKey::Wait,
    };
    recover_interrupted_files(app);
    let table = ModelTable::load(app).with_key(args.api_key.as_deref());
    let choose = |user: &Settings| {
        let scope = args.scope(user);
        let sources = ModelSources { typed: &args.model, session, settings: user, scope: &scope, without_key };
        let chosen = match table.choose(app, &sources) {
            Err(error) if error.kind == FailureKind::NotFound && may_be_registered(args) => awaited_model(args, user),
            chosen => chosen?,
        };
        Ok((chosen, tool_sets(args, user)?))
    };
    let layers = app.layers(session)?;
    let (user, (ChosenModel { model, thinking }, tool_sets)) = usable_settings(app, &layers, choose)?;
    let cwd = app.folder_of(session);
    let shell = shell(&user);
    let (prompt, troubles) = prompt_parts(app, args, &layers, &cwd);
    let sandbox = confine::sandbox(app, args, &user.sandbox, &cwd)?;
    let prompt = PromptParts { sandbox: sandbox.as_ref().map(|sandbox| sandbox.for_model(&cwd)), ..prompt };
    let resources = prompt.resources.clone();
    let tools = branch_tools(app, args, session, &tool_sets);
    let outputs = app.output_folder();
    // Sessions may be opened while the front end owns the terminal.
    let quiet = App { ui: app.ui.quiet(), ..app.clone() };
    let sessions = StoreSessions { app: quiet, store: app.store().ok(), table: table.models.clone() };
    adopt_orphans();
    let keys = key_guard(app, &table, &user);
    let http = http(app, &user).telling_causes(args.verbose);
    let servers = ServerSettings { imports: user.mcp_import.clone(), http: http.clone(), person: Presence::Nobody };
    let mut setup = Setup::new(Arc::new(http), Arc::new(model), &cwd, approver);
    setup.keys =
        Arc::new(ReloadingKeys { app: app.clone(), key: args.api_key.clone(), first: (table.models, table.keys) });
    setup.thinking = thinking;
    setup.system = SystemPrompt::Parts(Arc::new(prompt));
    setup.resources = resources;
    setup.tools = tools;
    setup.tool_sets = Some(tool_sets);
    setup.prompt_storage = user.prompt_storage;
    setup.tool_context = ToolContext {
        call_id: String::new(),
        outputs: OutputFolder::new(outputs, ""),
        session_env: Vec::new(),
        cwd,
        home: app.environment.home.clone(),
        keys,
        sandbox: None,
        neutral: None,
        conversation: ConversationLink::default(),
    };
    setup.tool_context.set_session(session.id(), session.file());
    let environment = &app.environment;
    let own = [&environment.data, &environment.cache, &app.session_dir].map(Clone::clone);
    let peers = environment.peers.iter().map(|folder| folder.path.clone());
    let others = peers.chain(environment.others.iter().map(|root| root.folder.clone()));
    let never = own.into_iter().flatten().chain(others).collect();
    let recording = |data| FileRecording { data, limits: app.file_limits, never };
    setup.files = app.environment.files().map(recording);
    setup.permissions = permissions(app, args, &layers, &setup.tool_context.cwd)?;
    setup.permissions.agent_folders = confine::agent_folders(app);
    let project = Project { folder: &setup.tool_context.cwd, troubles: &troubles, approver: &setup.approver };
    setup.permissions.mode = start_mode(app, args, setup.permissions.mode, &project);
    setup.permissions.mode = setup.permissions.mode.max(confine::limits(app).approval);
    setup.use_sandbox(sandbox);
    setup.permissions.reads = shell.runs_as_spelled().then(|| read_commands(app));
    setup.shell = shell;
    setup.launcher = own_program();
    let ledgers = app.environment.data.as_ref().map(|data| data.join("ledgers"));
    setup.family = Family::new(family_limits(&user), ledgers);
    setup.retry = user.retry;
    setup.compaction = user.compaction;
    setup.compaction_for = user.compaction_for;
    setup.branch_reserve = user.branch_reserve;
    setup.parallel_tools = user.parallel_tools;
    setup.steering = user.steering;
    setup.follow_up = user.follow_up;
    setup.limits = RunLimits {
        turns: args.max_turns,
        cost: args.max_cost,
        tokens: args.max_tokens,
        requests: args.max_requests,
        wait: args.wait_for_limit,
    };
    setup.zone = Zone::local();
    setup.sessions = Arc::new(sessions);
    setup.folders = app.folders.clone();
    setup.source =
        Some(Arc::new(FolderSetups { app: app.clone(), args: args.clone(), approver: setup.approver.clone() }));
    Ok((setup, servers))
}

fn family_limits(user: &Settings) -> FamilyLimits {
    FamilyLimits { at_once: user.tasks_at_once, depth: user.task_depth, children: user.most_tasks }
}

/// Completes or takes back a restore that a killed program has left.
fn recover_interrupted_files(app: &App) {
    let place = app.place();
    recover_files(&place);
    app.tell(&place.take_notes(), "");
}

/// The tokens of the system prompt and the tools that an agent in the session's folder would send, without extensions. Warns
/// of nothing.
pub fn overhead(app: &App, session: &Session) -> Result<u64> {
    Ok(prompt_weight(app, session)?.total())
}

/// The same, part by part.
pub fn prompt_weight(app: &App, session: &Session) -> Result<PromptWeight> {
    let (app, args) = (&App { ui: app.ui.quiet(), ..app.clone() }, &Args::default());
    let layers = app.layers(session)?;
    let (user, tool_sets) = usable_settings(app, &layers, |user| tool_sets(args, user))?;
    let cwd = app.folder_of(session);
    let prompt = prompt_parts(app, args, &layers, &cwd).0;
    let sandbox = confine::sandbox(app, args, &user.sandbox, &cwd)?;
    let prompt = PromptParts { sandbox: sandbox.as_ref().map(|sandbox| sandbox.for_model(&cwd)), ..prompt };
    let tools = branch_tools(app, args, session, &tool_sets);
    let specs: Vec<ToolSpec> = tools.iter().map(|tool| tool.spec()).collect();
    let prompt = SystemPrompt::Parts(Arc::new(prompt));
    Ok(PromptWeight::of(&prompt, &prompt.text(&tools), &specs))
}

/// The parts of the system prompt of a folder but for its sandbox, and what is odd about its instructions.
fn prompt_parts(app: &App, args: &Args, layers: &Layers, cwd: &Path) -> (PromptParts, Vec<ContextTrouble>) {
    let home = app.environment.data.clone().unwrap_or_default();
    let is_trusted = app.trust_of(cwd).0 == Trust::Given;
    let links = if is_trusted { Links::Anywhere } else { Links::Inside };
    let peers = peer_folders(&app.environment).into_iter().map(|folder| folder.path);
    let home = std::iter::once(home.clone()).chain(peers).find(|folder| context_files::has_one(folder)).unwrap_or(home);
    let of_omp = cwd.join(Peer::Omp.in_project());
    let (context, troubles) = match args.no_context_files {
        true => Default::default(),
        false => context_files::find(&home, cwd, Some(of_omp.as_path()).filter(|_| is_trusted), links),
    };
    troubles.iter().for_each(|trouble| app.ui.warning(&trouble.to_string()));
    let (resources, texts) = resources(app, args, layers, cwd, is_trusted);
    let date = to_iso(app.now());
    let parts = PromptParts {
        context,
        custom: texts.replacing,
        append: texts.added,
        date: date.get(..10).unwrap_or(&date).to_owned(),
        cwd: cwd.to_path_buf(),
        resources,
        sandbox: None,
    };
    (parts, troubles)
}

/// Whether an extension may register a model that is not known.
fn may_be_registered(args: &Args) -> bool {
    let is_typed = args.model.model.is_some() || args.model.provider.is_some();
    is_typed && !(args.no_extensions && args.extension.is_empty() && args.hook.is_empty())
}

/// Stands for a model whose provider an extension has to register. It can be asked nothing.
fn awaited_model(args: &Args, user: &Settings) -> ChosenModel {
    let ModelArgs { provider, model, thinking } = args.model.clone();
    let (id, provider) = (model.unwrap_or_default(), provider.unwrap_or_default());
    let model = Model { name: id.clone(), id, provider, ..Model::default() };
    ChosenModel { model, thinking: thinking.unwrap_or(user.thinking) }
}

/// Whether a model is a placeholder until an extension registers it.
pub(super) fn is_awaited(model: &Model) -> bool {
    model.api.is_empty()
}

/// Fails as the choice of a model that no extension can register.
pub(super) fn choose_again(app: &App, args: &Args, session: &Session) -> Result<()> {
    let settings = Settings::from(&app.layers(session)?);
    let scope = args.scope(&settings);
    let without_key = WithoutKey::Refuse;
    let sources = ModelSources { typed: &args.model, session, settings: &settings, scope: &scope, without_key };
    ModelTable::read(app).0.with_key(args.api_key.as_deref()).choose(app, &sources).map(drop)
}

/// The settings, and what is chosen by them. A project or a peer whose settings name a model or a tool that does not exist must
/// not stop the start: they are left out, with a warning.
fn usable_settings<T>(app: &App, layers: &Layers, choose: impl Fn(&Settings) -> Result<T>) -> Result<(Settings, T)> {
    let settings = Settings::from(layers);
    let refused = match choose(&settings) {
        Ok(chosen) => return Ok((settings, chosen)),
        Err(refused) => refused,
    };
    let Layers { global, project, peers } = layers.clone();
    let without_peers = Layers { global: global.clone(), project, peers: Vec::new() };
    let without_project = Layers { global: global.clone(), project: Layer::default(), peers };
    let own = Layers { global, ..Layers::default() };
    let named = layers.peers.iter().map(|of| of.peer.as_str()).collect::<BTreeSet<_>>();
    let of_peers = format!("the settings of {} are", named.into_iter().collect::<Vec<_>>().join(" and "));
    let project = "the project's settings are".to_owned();
    for (rest, left) in [(without_peers, &of_peers), (without_project, &project), (own, &project)] {
        let users = Settings::from(&rest);
        if users == settings {
            continue;
        }
        if let Ok(chosen) = choose(&users) {
            app.ui.warning(&format!("{}; {left} not used", refused.on_one_line()));
            return Ok((users, chosen));
        }
    }
    Err(refused)
}

fn rule_settings(written: StreamRuleSettings) -> RuleSettings {
    let StreamRuleSettings { watches, interrupt_mode, disabled, has_built_in } = written;
    let interruption = Interruption::parse(&interrupt_mode).unwrap_or_default();
    RuleSettings { watches, interruption, disabled, has_built_in }
}

/// Begins to look for skills and prompt templates, and reads the texts of the system prompt. What is odd about these, and what
/// an untrusted project has, is reported.
fn resources(app: &App, args: &Args, layers: &Layers, cwd: &Path, is_trusted: bool) -> (SharedResources, SystemTexts) {
    let absolute = |paths: &[PathBuf]| paths.iter().map(|path| app.environment.whole_path(path)).collect();
    let lists = |scope: Scope| {
        let of = |key: &str| layers.listed(key).into_iter().find(|(of, _)| *of == scope).map(|(_, words)| words);
        ResourceLists { templates: of("prompts").unwrap_or_default(), skills: of("skills").unwrap_or_default() }
    };
    let places = ResourcePlaces {
        templates: absolute(&args.prompt_template),
        skills: absolute(&args.skill),
        project: is_trusted.then(|| cwd.to_path_buf()),
        data: app.environment.data.clone(),
        home: app.environment.home.clone(),
        finds_templates: !args.no_prompt_templates,
        finds_skills: !args.no_skills,
        rules: rule_settings(Settings::from(layers).rules),
        project_lists: lists(Scope::Project),
        user_lists: lists(Scope::Global),
        peers: peer_folders(&app.environment),
        peer_lists: Peer::ALL
            .map(|peer| {
                let of = |key: &str| layers.listed_by(peer, key).into_iter().flat_map(|(_, words)| words).collect();
                (peer, ResourceLists { templates: of("prompts"), skills: of("skills") })
            })
            .to_vec(),
        packages: Vec::new(),
    };
    let typed =
        TypedTexts { cwd: &app.environment.cwd, replacing: &args.system_prompt, added: &args.append_system_prompt };
    let (texts, troubles) = SystemTexts::find(&places, typed);
    troubles.iter().for_each(|trouble| app.ui.warning(&trouble.to_string()));
    if !is_trusted && app.trust != RunTrust::EveryFolder(false) {
        for folder in of_project(cwd, app.environment.home.as_deref()) {
            let folder = app.environment.short(&folder.display().to_string());
            app.ui.warning(&format!("{folder} is not used: this folder is not trusted; --trust uses it this once"));
        }
    }
    let is_off = args.no_skills && args.no_prompt_templates;
    let named = brought_by_folders(app, &args.extension);
    let (app, layers, cwd) = (app.clone(), layers.clone(), cwd.to_path_buf());
    let search = SharedResources::search(move || {
        let brought = if is_off { BroughtFiles::default() } else { brought(&app, &layers, &cwd).after(named) };
        let (found, troubles) = ResourcePlaces { packages: brought.packages, ..places }.find();
        let troubles = troubles.iter().map(ToString::to_string);
        (found, brought.troubles.into_iter().chain(troubles).collect())
    });
    (search, texts)
}

/// Where offshoot, pi and oh-my-pi keep keys and tokens, and the variables of keys that the settings do not name.
fn key_guard(app: &App, table: &ModelTable, user: &Settings) -> KeyGuard {
    let models = app.environment.data.iter().filter(|_| table.models.has_literal_key());
    let models = models.map(|folder| folder.join("models.json"));
    let files = key_files(app).into_iter().chain(models).collect();
    let mut variables = table.keys.variables(&table.models);
    variables.retain(|name| !user.shell_keep_keys.contains(name));
    KeyGuard { files, variables: variables.into(), ..KeyGuard::default() }
}

/// The files in which offshoot, pi and oh-my-pi keep keys and tokens.
pub(super) fn key_files(app: &App) -> Vec<PathBuf> {
    let home = |folder: &str| app.environment.home.as_ref().map(|home| home.join(folder));
    let agents = app.environment.others.iter().filter_map(|root| root.folder.parent().map(Path::to_path_buf));
    let folders = [app.environment.data.clone(), home(".pi/agent"), home(".omp/agent")].into_iter().flatten();
    folders.chain(agents).flat_map(|folder| KEY_FILES.map(|name| folder.join(name))).collect()
}

/// Where the programs are that count as reads.
pub(super) fn read_commands(app: &App) -> ReadCommands {
    let Environment { path, names_repository, .. } = &app.environment;
    ReadCommands { search_path: path.clone(), finds_repositories: !names_repository }
}

/// The tools of the command line, else of the settings, else the usual ones. Names of tools that extensions may bring are
/// checked when these are loaded.
fn tool_sets(args: &Args, user: &Settings) -> Result<ToolSets> {
    let parse = |names: &str| ToolChoice::parse(names).map_err(|error| CommandError::usage(error.to_string()));
    let available = tool::all(&shell(user));
    let usual = parse(tool::DEFAULT)?.of(&available, &[]);
    let of_settings = user.tools.as_ref().map(|names| parse(&names.join(","))).transpose()?;
    let usual = of_settings.as_ref().map_or_else(|| usual.clone(), |choice| choice.of(&available, &usual));
    let chosen = args.tools.as_deref().map(parse).transpose()?;
    let has_none = args.no_tools || args.no_builtin_tools;
    let before = if has_none { Vec::new() } else { usual.clone() };
    let mut first = chosen.as_ref().map_or_else(|| before.clone(), |choice| choice.of(&available, &before));
    let excluded = parse(args.exclude_tools.as_deref().unwrap_or_default())?;
    let of_settings = of_settings.filter(|_| chosen.is_none() && !has_none);
    let filter = ToolFilter { chosen, is_closed: args.no_tools, excluded, of_settings };
    first.retain(|tool| filter.allows(tool.name()));
    Ok(ToolSets { available, first, usual, filter })
}

/// The tools of the branch that the session continues, unless the command line names others. Those that are not there are
/// reported.
fn branch_tools(app: &App, args: &Args, session: &Session, sets: &ToolSets) -> Vec<Arc<dyn Tool>> {
    if args.tools.is_some() || args.no_tools || args.no_builtin_tools {
        return sets.first.clone();
    }
    let stored = session.leaf().and_then(|_| session.context().ok());
    let stored = stored.map(|context| StoredPrompt::of(session, &context)).unwrap_or_default();
    let (tools, mut missing) = sets.of(&stored);
    // Servers bring theirs when they have started.
    missing.retain(|name| args.no_mcp || !(name.starts_with("mcp__") || name == TOOL_SEARCH));
    if !missing.is_empty() {
        app.ui.warning(&format!("the session has tools that are not there: {}", missing.join(", ")));
    }
    tools
}

/// Processes that a command leaves behind become children of this program, so stopping the command finds them.
fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    // Without it stopping still finds what is marked.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).unwrap_or(());
}

pub(super) fn shell(user: &Settings) -> Shell {
    Shell {
        program: user.shell.as_ref().map(PathBuf::from),
        prefix: user.shell_prefix.clone(),
        env: Vec::new(),
        timeout: user.shell_timeout,
    }
}

/// The keys of the start. The files are read again for a key that was missing.
struct ReloadingKeys {
    app: App,
    key: Option<String>,
    first: (Arc<Models>, Keys),
}

impl KeySource for ReloadingKeys {
    fn access<'a>(&'a self, model: &'a Arc<Model>) -> Accessing<'a> {
        Box::pin(async move {
            let first = self.first.access(model).await;
            // The key of a provider that an extension has registered is not among the first.
            if first.is_ok() && self.first.0.get(&model.provider, &model.id).is_some() {
                return first;
            }
            let app = self.app.clone();
            let Ok((table, _)) = tokio::task::spawn_blocking(move || ModelTable::read(&app)).await else {
                return first;
            };
            let ModelTable { models, keys, .. } = table.with_key(self.key.as_deref());
            keys.remembering_with(&self.first.1).access(&models, model).await
        })
    }

    fn refused(&self, provider: &str) {
        self.first.refused(provider);
    }

    fn known(&self) -> Vec<Secret> {
        self.first.known()
    }
}

/// Reads the setup again for a session of another folder. Nobody is asked about trust.
struct FolderSetups {
    app: App,
    args: Args,
    approver: Approver,
}

impl SetupSource for FolderSetups {
    fn read(&self, session: &Session) -> std::result::Result<(ReloadedSetup, Vec<String>), String> {
        let (ui, warnings) = self.app.ui.collecting();
        let app = App { ui, ..self.app.clone() };
        let (setup, _) =
            setup_of_folder(&app, &self.args, session, self.approver.clone()).map_err(|error| error.on_one_line())?;
        let warnings = std::mem::take(&mut *warnings.lock().unwrap_or_else(PoisonError::into_inner));
        Ok((ReloadedSetup(Arc::new(setup)), warnings))
    }
}

struct StoreSessions {
    app: App,
    store: Option<DirStore>,
    table: Arc<Models>,
}

impl Sessions for StoreSessions {
    fn create(&self, new: &NewSession<'_>) -> Read<Session> {
        match &self.store {
            Some(store) => store.create(new, self.app.options()),
            None => Err(Invalid::NoSessionFolder.into()),
        }
    }

    fn open(&self, file: &Path) -> Read<Session> {
        self.app.note_opened(file);
        Session::open(file, self.app.options_for(file))
    }

    fn open_or_create(&self, file: &Path, new: &NewSession<'_>) -> Read<Session> {
        Session::open_or_create(file, new, self.app.options_for(file))
    }

    fn file_path(&self, cwd: &str, id: &str, timestamp: &str) -> PathBuf {
        match &self.store {
            Some(store) => store.path_for(cwd, id, timestamp),
            None => Path::new(cwd).join(offshoot_session::store::file_name(id, timestamp)),
        }
    }

    fn fork_name(&self, session: &Session) -> Read<Option<String>> {
        let Some(store) = &self.store else { return session.fork_name(&|_| false) };
        self.app.fork_name(session, store, session.cwd().unwrap_or_default())
    }

    fn files_of(
        &self,
        session: &Session,
        at: Option<NodeIx>,
        along: FilesAlong,
    ) -> std::result::Result<Box<dyn ReadyFiles>, AgentError> {
        let ready = fork_files(&self.app.place(), session, at, along);
        ready.map_err(|failure| AgentError::Failed(CommandError::of_operation(failure, None).with_hints_on_one_line()))
    }

    fn model(&self, provider: &str, id: &str) -> Option<Arc<Model>> {
        self.table.get(provider, id).cloned().map(Arc::new)
    }
}
