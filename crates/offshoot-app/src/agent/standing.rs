//! The permissions that an agent in this folder would begin with, and how they decide on a call that somebody names. Starts no agent and asks nobody.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_agent::approval::{ApprovalCall, Judgement, Permissions, judge};
use offshoot_agent::context_files::{self, Links};
use offshoot_agent::sandbox::Sandbox;
use offshoot_agent::tool::{KeyGuard, Tier};
use offshoot_agent::{Approver, RuleStore};
use offshoot_protocol::SandboxMode;
use offshoot_settings::{Layers, Settings};

use super::approval::{Project, permissions, start_mode};
use super::setup::{key_files, read_commands, shell};
use super::{Args, UserRules, confine};
use crate::app::App;
use crate::error::{CommandError, Result};
use crate::trust::Trust;

/// The permissions at the start of an agent in the working folder.
#[derive(Debug)]
pub struct StandingPermissions {
    /// The mode and the rules.
    pub permissions: Permissions,
    /// The settings that they come from.
    pub layers: Layers,
    cwd: PathBuf,
    home: Option<PathBuf>,
    keys: KeyGuard,
    // Its folder for temporary files is removed with it.
    _sandbox: Option<Sandbox>,
}

/// A call that somebody asks about: a command, or a tool with what it would work on.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedCall {
    /// The name of the tool.
    pub tool: String,
    /// What it would do.
    pub tier: Tier,
}

impl StandingPermissions {
    /// Reads the settings and tries the sandbox, as a start does. `approval` is the mode of the command line, `sandbox` another
    /// one than that of the settings.
    ///
    /// # Errors
    /// The settings or a rule of the user's cannot be read, or the sandbox cannot be tried.
    pub fn read(app: &App, approval: Option<&str>, sandbox: Option<SandboxMode>) -> Result<Self> {
        let mut args = Args::default();
        args.approval = approval.map(str::to_owned);
        args.sandbox_of_run.replace(sandbox);
        let args = &args;
        let cwd = app.environment.cwd.clone();
        let files = app.settings_files(&cwd);
        let (layers, troubles) = files.load()?;
        troubles.iter().for_each(|trouble| app.ui.warning(trouble));
        let user = Settings::from(&layers);
        let mut permissions = permissions(app, args, &layers, &cwd)?;
        let data = app.environment.data.clone().unwrap_or_default();
        let links = if app.trust_of(&cwd).0 == Trust::Given { Links::Anywhere } else { Links::Inside };
        let (_, troubles) = context_files::find(&data, &cwd, None, links);
        let rules: Arc<dyn RuleStore> = Arc::new(UserRules::of(app, &cwd));
        let project = Project { folder: &cwd, troubles: &troubles, approver: &Approver::FrontEnd(rules) };
        permissions.mode = start_mode(app, args, permissions.mode, &project).max(confine::limits(app).approval);
        permissions.agent_folders = confine::agent_folders(app);
        let sandbox = confine::sandbox(app, args, &user.sandbox, &cwd)?;
        permissions.confines_commands = sandbox.as_ref().is_some_and(Sandbox::is_whole);
        permissions.confines_to_reading = sandbox.as_ref().is_some_and(|sandbox| sandbox.read_only().is_some());
        permissions.reads = shell(&user).runs_as_spelled().then(|| read_commands(app));
        let keys = KeyGuard { files: key_files(app).into(), ..KeyGuard::default() };
        let home = app.environment.home.clone();
        Ok(Self { permissions, layers, cwd, home, keys, _sandbox: sandbox })
    }

    /// What would happen to a call.
    pub fn judge(&self, call: &NamedCall) -> Judgement {
        let NamedCall { tool, tier } = call;
        let view = ApprovalCall { tool, tier, cwd: &self.cwd, home: self.home.as_deref(), keys: &self.keys };
        judge(&self.permissions, &view)
    }
}

impl NamedCall {
    /// A command for the shell, or a call in the spelling of rules: `edit(src/main.rs)`, `web_fetch(domain:docs.rs)`, `mcp__files__list()`.
    ///
    /// # Errors
    /// There is nothing to read.
    pub fn parse(text: &str, app: &App) -> Result<Self> {
        let text = text.trim();
        if text.is_empty() {
            return Err(CommandError::usage("no call is named").hint("for example offshoot permissions why 'git push'"));
        }
        let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let named = text.split_once('(').and_then(|(tool, rest)| Some((tool, rest.strip_suffix(')')?)));
        let Some((tool, what)) = named.filter(|(tool, _)| is_name(tool)) else {
            return Ok(Self { tool: "bash".to_owned(), tier: Tier::Command(text.to_owned()) });
        };
        let whole = || vec![app.environment.whole_path(Path::new(what.trim()))];
        let tier = match tool {
            "bash" => Tier::Command(what.to_owned()),
            "edit" | "write" => Tier::Write(whole()),
            "read" | "ls" | "grep" | "find" => Tier::Read(whole()),
            _ => match what.strip_prefix("domain:") {
                Some(host) => Tier::Net(host.trim().to_owned()),
                None => Tier::Exec,
            },
        };
        Ok(Self { tool: tool.to_owned(), tier })
    }
}
