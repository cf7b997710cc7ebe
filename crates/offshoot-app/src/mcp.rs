//! The MCP servers of a run: which files name them, which of them may start, and what they start with.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use offshoot_agent::provider::Http;
use offshoot_agent::{Accessing, KeySource};
use offshoot_mcp::cache::DefinitionCache;
use offshoot_mcp::config_file::{ConfigScope, ConfiguredServer, merge};
use offshoot_mcp::oauth::TokenStore;
use offshoot_mcp::server::{Presence, ServerContext};
use offshoot_mcp::servers::Servers;
use offshoot_mcp::start_plan::{Confine, Surroundings, is_inherited, shown_reach};
use offshoot_protocol::Secret;
use offshoot_protocol::model::Model;
use offshoot_session::text::clean_lines;

use crate::app::App;
use crate::config::mcp_files::{self, EnabledServers};
use crate::config::mcp_tokens::ServerTokens;
use crate::config::{all_variables, own_program, variables};
use crate::trust::Trust;

/// Which files of servers count.
#[derive(Debug, Clone, Default)]
pub struct McpSelection {
    /// Those of the command line.
    pub named: Vec<PathBuf>,
    /// Other programs whose files are read.
    pub imports: Vec<String>,
}

/// A server of the files, and why it does not start, if so.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct FoundServer {
    pub configured: ConfiguredServer,
    pub held_back: Option<HeldBack>,
}

/// Why a server does not start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldBack {
    /// Its file or a person has turned it off.
    Disabled,
    /// It comes with a folder that is not trusted.
    Untrusted,
    /// It comes with a project, and nobody has named it.
    NotNamed,
    /// The same, and the user wants to hear no more of it.
    Refused,
}

/// Every server that the files of a folder name, and what is wrong with the files.
pub fn find(app: &App, folder: &Path, selection: &McpSelection) -> (Vec<FoundServer>, Vec<String>) {
    let (files, mut troubles) = mcp_files::read(&app.environment, folder, &selection.named, &selection.imports);
    if files.is_empty() {
        return (Vec::new(), troubles);
    }
    let (servers, more) = merge(&files);
    let is_trusted = app.trust_of(folder).0 == Trust::Given;
    // What an untrusted project says is not repeated either.
    let of_project = |text: &String| {
        let is_of = |file: &(Arc<offshoot_mcp::config_file::ConfigSource>, _)| {
            file.0.scope == ConfigScope::Project && text.starts_with(&format!("{}:", file.0.path.display()))
        };
        files.iter().any(is_of)
    };
    troubles.extend(more.into_iter().filter(|text| is_trusted || !of_project(text)));
    let enabled = app.environment.data.as_deref().map(EnabledServers::of);
    let found = servers.into_iter().map(|configured| {
        let is_named = || enabled.as_ref().is_some_and(|enabled| enabled.has(&configured));
        let is_refused = || enabled.as_ref().is_some_and(|enabled| enabled.has_refused(&configured));
        let held_back = match configured.source.scope {
            ConfigScope::Project if !is_trusted => Some(HeldBack::Untrusted),
            _ if !configured.is_enabled() => Some(HeldBack::Disabled),
            ConfigScope::Project if is_named() => None,
            ConfigScope::Project if is_refused() => Some(HeldBack::Refused),
            ConfigScope::Project => Some(HeldBack::NotNamed),
            ConfigScope::Named | ConfigScope::User | ConfigScope::Extension => None,
        };
        FoundServer { configured, held_back }
    });
    (found.collect(), troubles)
}

/// What a person is told of servers that do not start.
pub fn held_back_words(app: &App, found: &[FoundServer]) -> Vec<String> {
    let short = |path: &Path| app.environment.short(&path.display().to_string());
    let mut words = Vec::new();
    let mut untrusted: Vec<&Path> = Vec::new();
    for FoundServer { configured, held_back } in found {
        let (path, name) = (configured.source.path.as_path(), &configured.config.name);
        match held_back {
            Some(HeldBack::Untrusted) if !untrusted.contains(&path) => {
                untrusted.push(path);
                words.push(format!(
                    "{} is not used: this folder is not trusted; `offshoot --trust` and `offshoot mcp enable NAME` start its servers",
                    short(path)
                ));
            }
            Some(HeldBack::NotNamed) => {
                let runs = clean_lines(&shown_reach(&configured.config.reach)).into_owned();
                words.push(format!(
                    "{}: the MCP server {name} is not started; `offshoot mcp enable {name}` lets it run: {runs}",
                    short(path)
                ));
            }
            Some(HeldBack::Untrusted | HeldBack::Disabled | HeldBack::Refused) | None => {}
        }
    }
    words
}

/// The values of headers and variables of servers, which no text must contain.
#[derive(Debug, Clone, Default)]
pub struct ServerSecrets(Arc<Mutex<Vec<Secret>>>);

impl ServerSecrets {
    fn add(&self, value: &str) {
        let mut secrets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Of `Bearer abc` the last word.
        secrets.extend(value.split_whitespace().last().map(Secret::new));
        secrets.push(Secret::new(value));
    }
}

/// Keys with those of servers.
pub(crate) struct KeysAndSecrets {
    pub(crate) keys: Arc<dyn KeySource>,
    pub(crate) secrets: ServerSecrets,
}

impl KeySource for KeysAndSecrets {
    fn access<'a>(&'a self, model: &'a Arc<Model>) -> Accessing<'a> {
        self.keys.access(model)
    }

    fn refused(&self, provider: &str) {
        self.keys.refused(provider);
    }

    fn known(&self) -> Vec<Secret> {
        let secrets = self.secrets.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.keys.known().into_iter().chain(secrets).collect()
    }
}

/// What servers of a folder start with. They are told that nobody is there, and there is no sandbox.
pub fn context(app: &App, folder: &Path, http: Http, secrets: &ServerSecrets) -> ServerContext {
    let secrets = secrets.clone();
    let around = Surroundings {
        variables: variables(),
        inherited: all_variables().into_iter().filter(|(name, _)| is_inherited(name)).collect(),
        home: app.environment.home.clone(),
        cwd: folder.to_path_buf(),
        launcher: own_program(),
        confine: Arc::new(|_, _| Err("there is none here".to_owned())),
        keep_secret: Arc::new(move |value| secrets.add(value)),
    };
    let data = app.environment.data.clone();
    let tokens = move |server: &str, url: &str| -> Arc<dyn TokenStore> {
        Arc::new(ServerTokens::of(data.as_deref(), server, url))
    };
    ServerContext { around, http, tokens: Arc::new(tokens), person: Presence::Nobody }
}

/// The definitions of earlier runs.
pub fn definitions(app: &App) -> DefinitionCache {
    DefinitionCache::new(app.environment.cache.as_ref().map(|cache| cache.join("mcp")))
}

/// The servers of a folder that start, to which extensions may add; `loaded` are tools that the branch has found by a search. What keeps others from starting is a warning.
pub(crate) fn servers(
    app: &App,
    folder: &Path,
    (selection, loaded): (&McpSelection, &dyn Fn() -> Vec<String>),
    (http, person, confine): (Http, Presence, Confine),
    secrets: &ServerSecrets,
) -> Arc<Servers> {
    let (found, troubles) = find(app, folder, selection);
    troubles.iter().chain(&held_back_words(app, &found)).for_each(|trouble| app.ui.warning(trouble));
    let starting: Vec<ConfiguredServer> =
        found.into_iter().filter(|server| server.held_back.is_none()).map(|server| server.configured).collect();
    // Extensions may register some.
    let loaded = if starting.is_empty() { Vec::new() } else { loaded() };
    let mut context = ServerContext { person, ..context(app, folder, http, secrets) };
    context.around.confine = confine;
    let servers = Servers::new(starting, &context, (definitions(app), loaded));
    app.registered.use_servers(&servers);
    servers
}
