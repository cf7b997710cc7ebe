//! The sandbox that the command line and the settings ask for. What this system enforces of it is found by trying it once.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use offshoot_agent::Limits;
use offshoot_agent::sandbox::{
    Confinement, Helper, HelperTask, NestedRepositories, PreparedCommands, Sandbox, SandboxLayers, SandboxOptions,
    SandboxPolicy, SandboxState,
};
use offshoot_protocol::{SandboxMode, SandboxNetwork};
use offshoot_session::medium::real_path_or_same;
use offshoot_settings::SandboxSettings;

use super::Args;
use super::args::Network;
use crate::app::App;
use crate::error::{CommandError, Result};

/// This program, even after its file was replaced.
const SELF: &str = "/proc/self/exe";

/// What an agent may do at most that an extension of another one has started; without one everything.
pub(super) fn limits(app: &App) -> Limits {
    app.environment.limits.as_deref().map(Limits::parse).unwrap_or_default()
}

/// `None` if no sandbox is wanted.
pub(super) fn sandbox(app: &App, args: &Args, settings: &SandboxSettings, cwd: &Path) -> Result<Option<Sandbox>> {
    let options = options(app, args, settings);
    if options.mode == SandboxMode::Off {
        return Ok(None);
    }
    let failed = |error| CommandError::io("make a temporary folder for commands in the sandbox", &error);
    let mode = Permissions::from_mode(0o700);
    let keeper = tempfile::Builder::new().prefix("offshoot-").permissions(mode).tempdir().map_err(failed)?;
    let temporary = keeper.path().canonicalize().map_err(failed)?;
    let state = SandboxState::Impossible(String::new());
    let (helper, keeper) = (PathBuf::from(SELF), Arc::new(keeper));
    let (nested, prepared) = (NestedRepositories::default(), PreparedCommands::default());
    let mut sandbox = Sandbox { options, helper, temporary, keeper, nested, prepared, state };
    sandbox.nested = NestedRepositories::find(&sandbox.policy(cwd, &[]));
    sandbox.state = attempt(&sandbox.policy(cwd, &[]));
    let told = sandbox.told(cwd);
    if sandbox.is_whole() {
        app.ui.note(&told);
    } else {
        app.ui.warning(&told);
    }
    Ok(Some(sandbox))
}

fn options(app: &App, args: &Args, settings: &SandboxSettings) -> SandboxOptions {
    let expand = |path: &String| app.environment.path(path);
    let limits = limits(app);
    let (mode, network) =
        (args.sandbox.map_or(settings.mode, Into::into), args.sandbox_network.map_or(settings.network, Network::into));
    SandboxOptions {
        mode: mode.max(limits.sandbox),
        network: if limits.network == SandboxNetwork::Off { limits.network } else { network },
        writable: settings.writable.iter().map(expand).collect(),
        guarded: guarded(app),
        is_required: settings.is_required,
    }
}

/// The home directory and the agents' own folders, by their real paths.
fn guarded(app: &App) -> Vec<PathBuf> {
    let all = app.environment.home.clone().into_iter().chain(agent_folders(app));
    all.map(|folder| real_path_or_same(&folder)).collect()
}

/// The folders of offshoot, pi and oh-my-pi, wherever variables put them.
pub(super) fn agent_folders(app: &App) -> Vec<PathBuf> {
    let environment = &app.environment;
    let own =
        [&environment.data, &environment.cache, &environment.spill, &environment.pi].into_iter().flatten().cloned();
    own.chain(environment.others.iter().map(|root| root.folder.clone())).collect()
}

fn attempt(policy: &SandboxPolicy) -> SandboxState {
    let mut all = SandboxLayers { namespaces: true, landlock: true, calls: true };
    if let Ok(landlock) = probe(policy, all) {
        return SandboxState::On(Confinement { namespaces: Ok(()), landlock: Ok(landlock), calls: Ok(()) });
    }
    let calls = probe(policy, SandboxLayers { calls: true, ..SandboxLayers::default() }).map(drop);
    all.calls = calls.is_ok();
    let on = |namespaces, landlock| SandboxState::On(Confinement { namespaces, landlock, calls });
    let why = match probe(policy, all) {
        Ok(landlock) => return on(Ok(()), Ok(landlock)),
        Err(why) => why,
    };
    if probe(policy, SandboxLayers { landlock: false, ..all }).is_ok() {
        return on(Ok(()), Err(why));
    }
    match probe(policy, SandboxLayers { namespaces: false, ..all }) {
        Ok(landlock) => on(Err(why), Ok(landlock)),
        Err(landlock) if landlock == why => SandboxState::Impossible(why),
        Err(landlock) => SandboxState::Impossible(format!("{why}; {landlock}")),
    }
}

/// The version of Landlock, or why these layers cannot be set up.
fn probe(policy: &SandboxPolicy, layers: SandboxLayers) -> std::result::Result<u32, String> {
    let helper = Helper { policy: policy.clone(), layers, task: HelperTask::Probe, command: Vec::new() };
    let output = Command::new(SELF).args(helper.arguments()).output();
    let output = output.map_err(|error| format!("offshoot cannot start itself by {SELF}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        return text(&output.stdout).parse().map_err(|_| "its helper has not answered".to_owned());
    }
    let said = text(&output.stderr);
    Err(said.strip_prefix("offshoot: the sandbox cannot be set up: ").unwrap_or(&said).to_owned())
}
