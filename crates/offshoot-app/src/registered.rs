//! What extensions have registered for the whole program: providers of models, over those of the user's files, themes, and MCP servers.
//! Reads no file.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use offshoot_agent::model::Models;
use offshoot_extensions::program::{RegisteredProvider, RegisteredServer};
use offshoot_mcp::config_file::{ConfigScope, ConfigSource, ConfiguredServer};
use offshoot_mcp::server_config::{ConfigDialect, ServerEntry, read_entry};
use offshoot_mcp::servers::Servers;

impl std::fmt::Debug for Registered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Registered")
    }
}

/// Clones have the same.
#[derive(Clone, Default)]
pub struct Registered(Arc<Mutex<Lists>>);

#[derive(Default)]
struct Lists {
    providers: Vec<RegisteredProvider>,
    themes: Vec<PathBuf>,
    /// The MCP servers of the run.
    servers: Option<Arc<Servers>>,
}

impl Registered {
    fn lists(&self) -> MutexGuard<'_, Lists> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes all providers, in place of those before. Returns what is wrong with one.
    pub fn replace_providers(&self, providers: Vec<RegisteredProvider>) -> Vec<(PathBuf, String)> {
        let mut models = Models::builtin();
        let check = |provider: &RegisteredProvider| {
            let troubles = models.register(&provider.extension, &provider.name, &provider.config);
            troubles.into_iter().map(|trouble| (provider.extension.clone(), trouble.what)).collect::<Vec<_>>()
        };
        let troubles = providers.iter().flat_map(check).collect();
        self.lists().providers = providers;
        troubles
    }

    /// Adds their models and keys.
    pub fn add_to(&self, models: &mut Models) {
        for RegisteredProvider { extension, name, config, .. } in &self.lists().providers {
            // What is wrong was reported when it was registered.
            drop(models.register(Path::new(extension), name, config));
        }
    }

    /// The names of providers that a person signs in to.
    pub fn sign_ins(&self) -> Vec<String> {
        let lists = self.lists();
        let with_sign_in = lists.providers.iter().filter(|provider| provider.has_sign_in);
        with_sign_in.map(|provider| provider.name.clone()).collect()
    }

    /// The servers of the run, which those of extensions join.
    pub(crate) fn use_servers(&self, servers: &Arc<Servers>) {
        self.lists().servers = Some(servers.clone());
    }

    /// Takes all MCP servers, in place of those before. Returns what is wrong with one.
    pub fn replace_servers(&self, registered: Vec<RegisteredServer>) -> Vec<(PathBuf, String)> {
        let Some(servers) = self.lists().servers.clone() else { return Vec::new() };
        let (mut configured, mut troubles) = (Vec::new(), Vec::new());
        for RegisteredServer { extension, name, config } in registered {
            let entry = read_entry(&name, &config, ConfigDialect::Pi);
            match entry.map(|(entry, _)| entry) {
                Ok(ServerEntry::Whole(config)) => {
                    let (scope, dialect) = (ConfigScope::Extension, ConfigDialect::Pi);
                    let source = Arc::new(ConfigSource { path: extension, scope, dialect });
                    configured.push(ConfiguredServer { config: *config, source, overridden_by: None });
                }
                Ok(ServerEntry::Override(..)) => {
                    troubles.push((extension, format!("{name}: it has neither command nor url")));
                }
                Err(why) => troubles.push((extension, format!("{name}: {why}"))),
            }
        }
        servers.set_registered(configured);
        troubles
    }

    /// Takes all files and folders of themes, in place of those before.
    pub fn replace_themes(&self, themes: Vec<PathBuf>) {
        self.lists().themes = themes;
    }

    /// All files and folders of themes.
    pub fn themes(&self) -> Vec<PathBuf> {
        self.lists().themes.clone()
    }
}
