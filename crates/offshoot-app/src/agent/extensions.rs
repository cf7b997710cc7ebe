//! The extensions of a run, from its arguments, and what a run without a screen makes of them.

use std::sync::Arc;

use offshoot_agent::Setup;
use offshoot_extensions::ExtensionSet;
use offshoot_extensions::contract::Origin;
use offshoot_protocol::AgentError;
use offshoot_session::session::Session;
use offshoot_settings::{Scope, Settings};
use serde_json::{Value, json};

use super::Args;
use super::setup::{choose_again, is_awaited};
use crate::app::App;
use crate::error::{CommandError, FailureKind, Result};
use crate::extensions::{self, AwaitedModel, ExtensionFront, ExtensionSelection, FoundExtensions, ProgramModels};
use crate::models::{ModelTable, recorded};
use crate::packages::{BroughtFiles, brought};

/// What the arguments say of extensions.
pub(super) fn selection(args: &Args) -> ExtensionSelection {
    ExtensionSelection { named: args.extension.clone(), hooks: args.hook.clone(), finds: !args.no_extensions }
}

/// Fails if a path on the command line is not an extension.
pub fn check_extensions(app: &App, args: &Args) -> Result<()> {
    match extensions::wrongly_named(app, &selection(args)) {
        None => Ok(()),
        Some(wrong) => Err(CommandError::new(FailureKind::NotFound, wrong).hint(
            "`-e` and `--hook` name a script, or a folder with an index.ts or a package.json that lists scripts",
        )),
    }
}

/// Fails if an extension of the command line could not be loaded, or another that may be a guard: who asks for a gate does not work
/// without it.
pub async fn check_loaded(extensions: &ExtensionSet) -> std::result::Result<(), AgentError> {
    extensions.loaded().await;
    let listed = extensions.list();
    let is_wrong = |one: &Value| one["origin"] == json!(Origin::Flag) && !one["error"].is_null();
    if listed.iter().any(is_wrong) {
        return Err(AgentError::Failed("nothing was sent: an extension of the command line did not load".to_owned()));
    }
    match listed.iter().find(|one| one["mayGuard"] == true) {
        Some(one) => Err(AgentError::Failed(format!(
            "nothing was sent: the extension {} did not load and may be a guard; --no-extensions goes on without it",
            one["path"].as_str().unwrap_or_default()
        ))),
        None => Ok(()),
    }
}

/// Whether the user's packages are looked through too: this takes its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllPackages {
    /// They are.
    Yes,
    /// Only if the project lists some.
    OnlyIfTheProjectHasSome,
}

/// The extensions of a session's folder.
pub fn found(app: &App, args: &Args, session: &Session, all: AllPackages) -> Result<FoundExtensions> {
    // What is odd about the settings is reported where they are read first.
    let quiet = App { ui: app.ui.quiet(), ..app.clone() };
    let layers = quiet.layers(session)?;
    let cwd = app.folder_of(session);
    let lists_packages =
        layers.listed("packages").iter().any(|(scope, _)| all == AllPackages::Yes || *scope == Scope::Project);
    let brought =
        if lists_packages && !args.no_extensions { brought(&quiet, &layers, &cwd) } else { BroughtFiles::default() };
    Ok(extensions::find(app, &selection(args), &layers, &cwd, &brought))
}

/// A model of the command line, or of the session, whose provider an extension may register.
fn awaited(app: &App, args: &Args, session: &Session, setup: &Setup) -> Option<AwaitedModel> {
    let typed = &args.model;
    if is_awaited(&setup.model) {
        return Some(AwaitedModel { provider: typed.provider.clone(), name: typed.model.clone() });
    }
    let is_typed = typed.provider.is_some() || typed.model.is_some();
    let (provider, id) = recorded(session).0.filter(|_| !is_typed)?;
    let is_known = ModelTable::read(app).0.models.get(&provider, &id).is_some();
    (!is_known).then_some(AwaitedModel { provider: Some(provider), name: Some(id) })
}

/// Fails if the model of the command line does not exist and there is no extension that could register it.
pub fn check_model(app: &App, args: &Args, session: &Session, setup: &Setup) -> Result<()> {
    if !is_awaited(&setup.model) {
        return Ok(());
    }
    check_registered(app, args, session, (setup, &found(app, args, session, AllPackages::Yes)?))
}

fn check_registered(
    app: &App,
    args: &Args,
    session: &Session,
    (setup, found): (&Setup, &FoundExtensions),
) -> Result<()> {
    match is_awaited(&setup.model) && found.sources.is_empty() {
        true => choose_again(app, args, session),
        false => Ok(()),
    }
}

/// An option without a value is on.
fn flags(args: &Args) -> serde_json::Map<String, Value> {
    let value = |value: &Option<String>| value.as_ref().map_or(Value::Bool(true), |text| Value::String(text.clone()));
    args.extension_flags.iter().map(|(name, given)| (name.clone(), value(given))).collect()
}

/// Gives the setup the extensions of the session's folder; `None` if there are none.
pub fn extend(
    app: &App,
    args: &Args,
    session: &Session,
    setup: &mut Setup,
    front: Arc<dyn ExtensionFront>,
) -> Result<Option<Arc<ExtensionSet>>> {
    let found = found(app, args, session, AllPackages::Yes)?;
    found.troubles.iter().for_each(|trouble| app.ui.warning(trouble));
    let cwd = app.folder_of(session);
    if let Some((name, _)) = args.extension_flags.first().filter(|_| found.sources.is_empty()) {
        return Err(CommandError::usage(format!("unknown option --{name}")).hint("`offshoot --help` lists the options"));
    }
    if found.sources.is_empty() {
        let sets = setup.tool_sets.iter();
        let unknown = sets.flat_map(|sets| sets.filter.unknown(&sets.available));
        unknown.for_each(|unknown| app.ui.warning(&unknown.to_string()));
        return check_registered(app, args, session, (setup, &found)).map(|()| None);
    }
    let quiet = App { ui: app.ui.quiet(), ..app.clone() };
    let layers = quiet.layers(session)?;
    let models = ProgramModels {
        key: args.api_key.clone(),
        awaited: awaited(app, args, session, setup),
        scope: args.scope(&Settings::from(&layers)),
    };
    let again = {
        let (app, args, cwd) = (quiet.clone(), args.clone(), cwd.clone());
        move || {
            // Settings that cannot be read name no extensions.
            let layers = app.settings_files(&cwd).load().map(|(layers, _)| layers).unwrap_or_default();
            let brought = if args.no_extensions { BroughtFiles::default() } else { brought(&app, &layers, &cwd) };
            extensions::find(&app, &selection(&args), &layers, &cwd, &brought)
        }
    };
    let program = extensions::program(app, models, (&cwd, Box::new(again)), front);
    let set = extensions::set(app, (found.sources, flags(args)), &layers, &cwd, program);
    if let Some(set) = &set {
        setup.extend(Arc::clone(set) as Arc<dyn offshoot_agent::extensions::Extensions>);
    }
    Ok(set)
}
