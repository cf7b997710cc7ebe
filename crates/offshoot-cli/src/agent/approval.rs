//! Which of the model's calls run without a question, from the command line and the settings.

use offshoot_agent::approval::{ApprovalMode, Permissions};
use offshoot_settings::{Layers, Scope};

use super::Args;
use crate::app::App;
use crate::error::{CommandError, Result};

/// A rule of the user's that cannot be read stops the start: it may be one that refuses. A project must not stop it.
pub(super) fn permissions(app: &App, args: &Args, layers: &Layers) -> Result<Permissions> {
    let (permissions, wrong) = layers.permissions();
    for (scope, why) in wrong {
        match scope {
            Scope::Global => return Err(CommandError::usage(format!("a rule of the settings cannot be read: {why}"))),
            Scope::Project => app.ui.warning(&format!("a rule of the project's settings is not used: {why}")),
        }
    }
    let mode = args.approval.as_deref().and_then(ApprovalMode::parse).unwrap_or(permissions.mode);
    Ok(Permissions { mode, ..permissions })
}
