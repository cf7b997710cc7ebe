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
use offshoot_session::session::Session;
use offshoot_settings::{Layers, SandboxSettings, Settings};

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
    let sandbox = made(options, cwd)?;
    let told = sandbox.told(cwd);
    if sandbox.is_whole() {
        app.ui.note(&told);
    } else {
        app.ui.warning(&told);
    }
    Ok(Some(sandbox))
}

/// The sandbox of servers that want one, whatever commands have: at least the workspace, and all of it or nothing.
///
/// # Errors
/// The settings cannot be read, or the temporary folder cannot be made.
pub(super) fn server_sandbox(app: &App, folder: &Path) -> Result<Sandbox> {
    let settings = Settings::from(&app.settings_files(folder).load()?.0).sandbox;
    let limits = limits(app);
    let options = SandboxOptions {
        mode: settings.mode.max(SandboxMode::Workspace).max(limits.sandbox),
        network: if limits.network == SandboxNetwork::Off { limits.network } else { settings.network },
        writable: settings.writable.iter().map(|path| app.environment.path(path)).collect(),
        guarded: guarded(app),
        is_required: true,
    };
    made(options, folder)
}

fn made(options: SandboxOptions, cwd: &Path) -> Result<Sandbox> {
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
    Ok(sandbox)
}

/// Switches to another mode for the rest of this run, and returns what commands run in from now on.
///
/// # Errors
/// The sandbox cannot be set up; the mode stays.
pub fn switch_sandbox(app: &App, args: &Args, session: &Session, mode: SandboxMode) -> Result<Option<Sandbox>> {
    let app = App { ui: app.ui.quiet(), ..app.clone() };
    let settings = Settings::from(&app.layers(session)?).sandbox;
    let before = args.sandbox_of_run.replace(Some(mode));
    sandbox(&app, args, &settings, &app.folder_of(session)).inspect_err(|_| {
        args.sandbox_of_run.replace(before);
    })
}

/// Why the sandbox has its mode, as a clause.
///
/// # Errors
/// The settings cannot be read.
pub fn why_sandbox(app: &App, args: &Args, session: &Session) -> Result<&'static str> {
    let layers = App { ui: app.ui.quiet(), ..app.clone() }.layers(session)?;
    let mode = |layers: &Layers| Settings::from(layers).sandbox.mode;
    let of_user = mode(&Layers { global: layers.global.clone(), ..Layers::default() });
    let chosen = args.sandbox_of_run.get().or(args.sandbox.map(Into::into)).unwrap_or_else(|| mode(&layers));
    Ok(match () {
        () if limits(app).sandbox > chosen => "the agent that started this one allows no more",
        () if args.sandbox_of_run.get().is_some() => "you switched it with /sandbox, until this program ends",
        () if args.sandbox.is_some() => "--sandbox on the command line",
        () if mode(&layers) != of_user => "the setting sandbox.mode of this project, which is stricter than yours",
        () if of_user != SandboxMode::Off => "your setting sandbox.mode",
        () => "the default: --sandbox, the setting sandbox.mode and /sandbox turn it on",
    })
}

fn options(app: &App, args: &Args, settings: &SandboxSettings) -> SandboxOptions {
    let expand = |path: &String| app.environment.path(path);
    let limits = limits(app);
    let typed = args.sandbox_of_run.get().or(args.sandbox.map(Into::into));
    let (mode, network) =
        (typed.unwrap_or(settings.mode), args.sandbox_network.map_or(settings.network, Network::into));
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
    let own = [&environment.data, &environment.cache, &environment.spill].into_iter().flatten().cloned();
    let peers = environment.peers.iter().map(|folder| folder.path.clone());
    own.chain(peers).chain(environment.others.iter().map(|root| root.folder.clone())).collect()
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
