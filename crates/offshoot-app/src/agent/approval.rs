//! Which of the model's calls run without a question, from the command line, the settings and the trust in the folder; and
//! the user's settings as the place of new rules.

use std::path::Path;

use offshoot_agent::approval::{Permissions, Rule};
use offshoot_agent::context_files::ContextTrouble;
use offshoot_agent::resources;
use offshoot_agent::{Approver, RuleStore};
use offshoot_protocol::{ApprovalMode, ApprovalScope};
use offshoot_settings::{ALLOW, ASK, DENY, Layers, Scope, Value, WrittenRule};

use super::Args;
use crate::app::App;
use crate::config::project_rules::ProjectRules;
use crate::config::settings::SettingsFiles;
use crate::error::{CommandError, FailureKind, Result};
use crate::trust::Trust;

/// The mode and the rules that count, with the command line's mode before that of the settings.
pub(super) fn permissions(app: &App, args: &Args, layers: &Layers, cwd: &Path) -> Result<Permissions> {
    let written = layers.permissions();
    let mode = args.approval.as_deref().and_then(ApprovalMode::parse).unwrap_or(written.mode);
    let (mut allow, ask, deny) =
        (rules(app, ALLOW, &written.allow)?, rules(app, ASK, &written.ask)?, rules(app, DENY, &written.deny)?);
    allow.extend(of_project(app, cwd));
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

/// What the user allows in the project of a folder. A file that cannot be read allows nothing.
fn of_project(app: &App, cwd: &Path) -> Vec<Rule> {
    let Some(data) = &app.environment.data else { return Vec::new() };
    let rules = ProjectRules::of(data, cwd);
    let texts = rules.allowed().unwrap_or_else(|error| {
        app.ui.warning(&error.with_hints_on_one_line());
        Vec::new()
    });
    let parse = |text: &String| match Rule::parse(text) {
        Ok(rule) => Some(rule),
        Err(why) => {
            app.ui.warning(&format!("a rule of yours for {} is not used: {why}", rules.root().display()));
            None
        }
    };
    texts.iter().filter_map(parse).collect()
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
            || files.existing_omp_project().is_some()
            || self.troubles.iter().any(leads_outside)
            || !resources::of_project(self.folder, app.environment.home.as_deref()).is_empty()
    }
}

/// Puts rules into the user's settings, or into the user's rules for a project; never into a project's files.
#[derive(Debug, Clone)]
pub struct UserRules {
    files: SettingsFiles,
    project: Option<ProjectRules>,
}

impl RuleStore for UserRules {
    fn allow(&self, rule: &Rule, scope: ApprovalScope) -> std::result::Result<(), String> {
        let kept = match (scope, &self.project) {
            (ApprovalScope::Session, _) => Ok(()),
            (ApprovalScope::Project, Some(project)) => project.allow(&rule.to_string()),
            (ApprovalScope::Project, None) => {
                Err(CommandError::new(FailureKind::Failed, "cannot keep the rule: no home directory is known"))
            }
            (ApprovalScope::Everywhere, _) => self.keep(rule),
        };
        kept.map_err(|error| error.on_one_line())
    }
}

impl UserRules {
    /// Those of a working folder.
    pub fn of(app: &App, folder: &Path) -> Self {
        let project = app.environment.data.as_deref().map(|data| ProjectRules::of(data, folder));
        Self { files: app.settings_files(folder), project }
    }

    /// The user's rules of the folder's project.
    pub fn project(&self) -> Option<&ProjectRules> {
        self.project.as_ref()
    }

    /// Removes a rule from all lists that the user keeps. Returns how many had it.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn remove(&self, rule: &str) -> Result<usize> {
        let mut count =
            usize::from(self.project.as_ref().map(|project| project.remove(rule)).transpose()? == Some(true));
        let (layers, _) = self.files.clone().without_project(Vec::new()).load()?;
        for key in [ALLOW, ASK, DENY] {
            let has_it =
                |value: &Value| matches!(value, Value::Texts(rules) if rules.iter().any(|known| known == rule));
            if !layers.global.get(key).is_some_and(has_it) {
                continue;
            }
            self.files.change(Scope::Global, key, |known| {
                let Some(Value::Texts(rules)) = known else { return Ok(known.cloned()) };
                let rules: Vec<String> = rules.iter().filter(|known| *known != rule).cloned().collect();
                Ok(Some(Value::Texts(rules)).filter(|value| *value != Value::Texts(Vec::new())))
            })?;
            count += 1;
        }
        Ok(count)
    }

    fn keep(&self, rule: &Rule) -> Result<()> {
        self.files.change(Scope::Global, ALLOW, |known| {
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
