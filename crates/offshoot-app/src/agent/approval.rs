//! Which of the model's calls run without a question, from the command line, the settings and the trust in the folder; and
//! the user's settings as the place of new rules.

use std::path::Path;

use offshoot_agent::approval::{Permissions, Rule};
use offshoot_agent::context_files::ContextTrouble;
use offshoot_agent::resources::of_project;
use offshoot_agent::{Approver, RuleStore};
use offshoot_protocol::ApprovalMode;
use offshoot_settings::{ALLOW, ASK, DENY, Layers, Scope, Value, WrittenRule};

use super::Args;
use crate::app::App;
use crate::config::settings::SettingsFiles;
use crate::error::{CommandError, Result};
use crate::trust::Trust;

/// The mode and the rules that count, with the command line's mode before that of the settings.
pub(super) fn permissions(app: &App, args: &Args, layers: &Layers) -> Result<Permissions> {
    let written = layers.permissions();
    let mode = args.approval.as_deref().and_then(ApprovalMode::parse).unwrap_or(written.mode);
    let (allow, ask, deny) =
        (rules(app, ALLOW, &written.allow)?, rules(app, ASK, &written.ask)?, rules(app, DENY, &written.deny)?);
    Ok(Permissions { mode, allow, ask, deny, ..Permissions::default() })
}

/// A rule of the user's that cannot be read stops the start: it may be one that refuses. A project must not stop it.
fn rules(app: &App, key: &str, written: &[WrittenRule]) -> Result<Vec<Rule>> {
    let mut rules = Vec::new();
    for rule in written {
        match (Rule::parse(&rule.text), rule.scope) {
            (Ok(rule), _) => rules.push(rule),
            (Err(why), Scope::Global) => {
                return Err(CommandError::usage(format!("a rule of the settings cannot be read: {key}: {why}")));
            }
            (Err(why), Scope::Project) => {
                app.ui.warning(&format!("a rule of the project's settings is not used: {key}: {why}"));
            }
        }
    }
    Ok(rules)
}

/// In a folder whose files would have an effect, and which the user does not trust, commands are not run unasked.
pub(super) fn start_mode(app: &App, args: &Args, wanted: ApprovalMode, project: &Project<'_>) -> ApprovalMode {
    let is_wanted = args.approval.is_some() || wanted != ApprovalMode::Auto;
    if is_wanted || project.is_trusted(app) || !project.has_effects(app) {
        return wanted;
    }
    let then = match project.approver {
        Approver::Nobody => "commands are refused",
        Approver::FrontEnd(_) => "commands are asked about",
    };
    app.ui.warning(&format!(
        "this folder is not trusted, so the approval mode is edits: {then}; --approval auto lets them run"
    ));
    ApprovalMode::Edits
}

/// The folder that the agent works in.
pub(super) struct Project<'a> {
    pub(super) folder: &'a Path,
    pub(super) troubles: &'a [ContextTrouble],
    pub(super) approver: &'a Approver,
}

impl Project<'_> {
    fn is_trusted(&self, app: &App) -> bool {
        app.trust_of(self.folder).0 == Trust::Given
    }

    /// As the question of trust lists them.
    fn has_effects(&self, app: &App) -> bool {
        let leads_outside = |trouble: &ContextTrouble| matches!(trouble, ContextTrouble::LeadsOutside { .. });
        let files = SettingsFiles::of(app.environment.data.as_deref(), self.folder);
        files.existing_project().is_some()
            || self.troubles.iter().any(leads_outside)
            || !of_project(self.folder, app.environment.home.as_deref()).is_empty()
    }
}

/// Puts rules into the user's settings, never into a project's.
pub struct UserRules(pub SettingsFiles);

impl RuleStore for UserRules {
    fn allow(&self, rule: &Rule) -> std::result::Result<(), String> {
        self.keep(rule).map_err(|error| error.on_one_line())
    }
}

impl UserRules {
    fn keep(&self, rule: &Rule) -> Result<()> {
        self.0.change(Scope::Global, ALLOW, |known| {
            let mut rules = match known {
                Some(Value::Texts(rules)) => rules.clone(),
                _ => Vec::new(),
            };
            if !rules.contains(&rule.to_string()) {
                rules.push(rule.to_string());
            }
            Ok(Some(Value::Texts(rules)))
        })
    }
}
