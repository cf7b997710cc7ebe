//! The extensions of a run, from its arguments, and what a run without a screen makes of them.

use std::sync::Arc;

use offshoot_agent::Setup;
use offshoot_extensions::ExtensionSet;
use offshoot_session::session::Session;
use offshoot_settings::Scope;
use serde_json::Value;

use super::Args;
use crate::app::App;
use crate::error::Result;
use crate::extensions::{self, ExtensionFront, ExtensionWishes, FoundExtensions};
use crate::packages::{Brought, brought};

/// What the arguments say of extensions.
pub(crate) fn wishes(args: &Args) -> ExtensionWishes {
    ExtensionWishes { named: args.extension.clone(), hooks: args.hook.clone(), finds: !args.no_extensions }
}

/// Whether the user's packages are looked through too: this takes its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AllPackages {
    Yes,
    OnlyIfTheProjectHasSome,
}

/// The extensions of a session's folder.
pub(crate) fn found(app: &App, args: &Args, session: &Session, all: AllPackages) -> Result<FoundExtensions> {
    // What is odd about the settings is reported where they are read first.
    let quiet = App { ui: app.ui.quiet(), ..app.clone() };
    let layers = quiet.layers(session)?;
    let cwd = app.folder_of(session);
    let lists_packages =
        layers.listed("packages").iter().any(|(scope, _)| all == AllPackages::Yes || *scope == Scope::Project);
    let brought =
        if lists_packages && !args.no_extensions { brought(&quiet, &layers, &cwd) } else { Brought::default() };
    Ok(extensions::find(app, &wishes(args), &layers, &cwd, &brought))
}

/// An option without a value is on.
fn flags(args: &Args) -> serde_json::Map<String, Value> {
    let value = |value: &Option<String>| value.as_ref().map_or(Value::Bool(true), |text| Value::String(text.clone()));
    args.extension_flags.iter().map(|(name, given)| (name.clone(), value(given))).collect()
}

/// Gives the setup the extensions of the session's folder; `None` if there are none.
pub(crate) fn extend(
    app: &App,
    args: &Args,
    session: &Session,
    setup: &mut Setup,
    front: Arc<dyn ExtensionFront>,
) -> Result<Option<Arc<ExtensionSet>>> {
    let found = found(app, args, session, AllPackages::Yes)?;
    found.troubles.iter().for_each(|trouble| app.ui.warning(trouble));
    let cwd = app.folder_of(session);
    let program = extensions::program(app, args.api_key.clone(), setup.resources.clone(), &cwd, front);
    if found.sources.is_empty() {
        return Ok(None);
    }
    let quiet = App { ui: app.ui.quiet(), ..app.clone() };
    let set = extensions::set(app, (found.sources, flags(args)), &quiet.layers(session)?, &cwd, program);
    if let Some(set) = &set {
        setup.extensions = Some(Arc::clone(set) as Arc<dyn offshoot_agent::extensions::Extensions>);
    }
    Ok(set)
}
