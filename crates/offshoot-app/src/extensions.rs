//! The extensions of a run: which files they are, who answers what they ask, and the hosts that run them.

mod known;
mod find;
mod trust_listeners;
mod listing;
mod program;

use std::path::Path;
use std::sync::Arc;

use offshoot_extensions::ExtensionSet;
use offshoot_extensions::contract::{ExtensionSource, Host, LoadRequest, ProgramMode};
use offshoot_extensions::node::{NodeHost, NodeOptions, NodeSearch};
use offshoot_extensions::program::Program;
use offshoot_protocol::{Peer, SessionReason};
use offshoot_session::clock::SystemClock;
use offshoot_settings::{Layers, Settings};
use serde_json::{Map, Value};

use crate::app::App;
use crate::config;
pub use find::{ExtensionSelection, FoundExtensions, find, listed, wrongly_named};
pub use known::KnownExtensions;
pub use listing::{NO_EXTENSION, asks_for_list, listing};
pub use program::{AwaitedModel, ProgramModels};
use program::{ExtensionProgram, FindAgain};
pub use trust_listeners::TrustListeners;

pub use program::{ExtensionFront, NoFront, unheard};

/// How long an extension may work without yielding.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(30);
/// How long a handler may wait for nothing that offshoot knows of.
const LIMIT: std::time::Duration = std::time::Duration::from_secs(600);

/// The set that runs these extensions; `None` without one. Nothing is started yet.
pub fn set(
    app: &App,
    (sources, flags): (Vec<ExtensionSource>, Map<String, Value>),
    layers: &Layers,
    cwd: &Path,
    program: Arc<dyn Program>,
) -> Option<Arc<ExtensionSet>> {
    if sources.is_empty() {
        return None;
    }
    let request = request(app, (sources, flags), cwd, (program.mode(), program.has_ui()));
    let host = node_host(app, layers, cwd);
    Some(Arc::new(ExtensionSet::new(vec![(host, request)], program, Arc::new(SystemClock))))
}

/// The process that runs extensions of these settings. Nothing is started yet.
pub fn node_host(app: &App, layers: &Layers, cwd: &Path) -> Arc<dyn Host> {
    Arc::new(NodeHost::new(node_options(app, layers, cwd)))
}

fn node_options(app: &App, layers: &Layers, cwd: &Path) -> NodeOptions {
    let environment = &app.environment;
    let named = Settings::from(layers).node.map(|node| environment.whole_path(node));
    let search = NodeSearch { named: environment.node.clone().or(named), path: environment.path.clone() };
    let cache = environment.cache.clone().unwrap_or_else(|| cwd.join(".offshoot-cache"));
    let patience = environment.extension_patience.unwrap_or(PATIENCE);
    let limit = environment.extension_limit.unwrap_or(LIMIT);
    NodeOptions { search, cache, patience, limit }
}

/// What the process needs to load extensions, in a mode with or without a person.
pub fn request(
    app: &App,
    (extensions, flags): (Vec<ExtensionSource>, Map<String, Value>),
    cwd: &Path,
    (mode, has_ui): (ProgramMode, bool),
) -> LoadRequest {
    LoadRequest {
        version: env!("CARGO_PKG_VERSION"),
        cwd: cwd.to_path_buf(),
        agent_dir: app.environment.data.clone(),
        mode,
        has_ui,
        flags,
        reason: SessionReason::Startup,
        extensions,
        launcher: config::own_program(),
        limits: String::new(),
        pi_packages: pi_packages(app),
    }
}

/// Folders in which pi's own packages may be installed: beside the first `pi` on the path, and in pi's folder.
fn pi_packages(app: &App) -> Vec<std::path::PathBuf> {
    let environment = &app.environment;
    let beside = environment.path.iter().filter_map(|folder| {
        let program = folder.join("pi").canonicalize().ok()?;
        program.ancestors().find(|folder| folder.ends_with("node_modules")).map(Path::to_path_buf)
    });
    let own =
        environment.peer(Peer::Pi).into_iter().map(|pi| pi.join("npm/node_modules")).filter(|folder| folder.is_dir());
    beside.take(1).chain(own).collect()
}

/// The program that answers extensions on behalf of a front end.
pub fn program(
    app: &App,
    models: ProgramModels,
    (cwd, find): (&Path, FindAgain),
    front: Arc<dyn ExtensionFront>,
) -> Arc<dyn Program> {
    let app = App { ui: app.ui.quiet(), ..app.clone() };
    Arc::new(ExtensionProgram { app, models, find, cwd: cwd.to_path_buf(), front })
}
