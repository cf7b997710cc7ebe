//! The sandbox of the model's commands: what it lets them do, how a command is started in it, and the words about it.
//!
//! Another program confines itself and then becomes the command: the binary's hidden command `sandbox`. Here is what both
//! sides agree on. Knows no settings file and no front end.

mod git;
mod policy;
mod nested;
mod prepared;
mod state;
mod report;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use offshoot_protocol::{SandboxMode, SandboxNetwork};
use offshoot_session::medium::real_path_or_same;

use crate::process::{self, End, Errors, Job, News};
pub use crate::process::{CommandMessage, READY, STARTED};
pub use nested::NestedRepositories;
pub use policy::{Helper, HelperTask, SandboxLayers, SandboxPolicy, WriteRights};
pub(crate) use prepared::MOST_PREPARED;
pub use prepared::PreparedCommands;
use prepared::SandboxKind;
pub use report::{SandboxCoverage, SandboxReport};
pub use state::{Confinement, SandboxState};

/// How a process begins that waits for a command.
fn waiting_job<'a>(words: &'a [OsString], cwd: &'a Path, keys: KeptKeys<'a>) -> Job<'a> {
    Job { words, cwd, env: &[], without: keys.variables, errors: Errors::Shown, timeout: None }
}

/// What the user wants.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct SandboxOptions {
    pub mode: SandboxMode,
    pub network: SandboxNetwork,
    /// Writable besides the working folder.
    pub writable: Vec<PathBuf>,
    /// Real paths. A working folder that contains one is not writable: the home directory, and agents' folders.
    pub guarded: Vec<PathBuf>,
    /// Whether commands are refused if they cannot be confined in every way.
    pub is_required: bool,
}

impl SandboxOptions {
    /// Whether commands that write in this folder could change what the agent or a log-in obeys.
    pub fn is_too_wide(&self, cwd: &Path) -> bool {
        let cwd = real_path_or_same(cwd);
        cwd.parent().is_none() || self.guarded.iter().any(|guarded| guarded.starts_with(&cwd))
    }
}

/// The user's keys: commands find nothing in these files, and do not inherit these variables.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct KeptKeys<'a> {
    pub(crate) files: &'a [PathBuf],
    pub(crate) variables: &'a [String],
}

/// Why the sandbox may have stopped a command, as a clause, and what the user can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SandboxRefusal {
    pub(crate) reason: String,
    remedy: &'static str,
    /// Whether the user wants no command outside.
    pub(crate) is_final: bool,
}

impl SandboxRefusal {
    /// For the model, under the command's output.
    pub(crate) fn note(&self) -> String {
        format!("[the sandbox may have stopped this: {}; {}, which is up to the user]", self.reason, self.remedy)
    }
}

/// A sandbox as it is on this system.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Sandbox {
    pub options: SandboxOptions,
    /// The program that has the command `sandbox`.
    pub helper: PathBuf,
    /// The commands' `TMPDIR`.
    pub temporary: PathBuf,
    /// Keeps the temporary folder.
    pub keeper: Arc<tempfile::TempDir>,
    /// Those below the folders that commands may write.
    pub nested: NestedRepositories,
    /// The next ones.
    pub prepared: PreparedCommands,
    pub state: SandboxState,
}

impl Sandbox {
    /// What commands may do that start in this folder.
    pub fn policy(&self, cwd: &Path, hidden: &[PathBuf]) -> SandboxPolicy {
        let mut policy = SandboxPolicy::new(&self.options, cwd, &self.temporary);
        self.nested.protect(&mut policy);
        policy.hidden = hidden.iter().filter(|path| path.exists()).cloned().collect();
        policy
    }

    /// Runs a command in the sandbox, as [`process::run`] does without one, and prepares the next. The caller has asked whether commands
    /// are refused.
    pub(crate) async fn run(
        &self,
        job: Job<'_>,
        keys: KeptKeys<'_>,
        mut tell: impl FnMut(News<'_>),
    ) -> io::Result<End> {
        let SandboxState::On(confinement) = &self.state else { return process::run(job, tell).await };
        let layers = confinement.layers();
        let waits = self.helper_words(&job, (keys, layers), HelperTask::Wait);
        let mut end = None;
        if let Some(process) = self.prepared.take(self.kind(), &waiting_job(&waits, job.cwd, keys)) {
            end = process::run_waiting(process, job, &mut tell).await?;
        }
        let end = match end {
            Some(end) => end,
            None => {
                let confined = self.helper_words(&job, (keys, layers), HelperTask::Run);
                process::run(Job { words: &confined, ..job }, tell).await?
            }
        };
        self.make_ready(job.cwd, keys, 1);
        Ok(end)
    }

    /// Prepares so many commands that start in this folder. Needs a tokio runtime.
    pub(crate) fn make_ready(&self, cwd: &Path, keys: KeptKeys<'_>, commands: usize) {
        let SandboxState::On(confinement) = &self.state else { return };
        let layers = confinement.layers();
        // Either layer alone does not keep a command away from the process that waits.
        if layers.namespaces && layers.landlock {
            let job = waiting_job(&[], cwd, keys);
            let waits = self.helper_words(&job, (keys, layers), HelperTask::Wait);
            self.prepared.prepare(self.kind(), &Job { words: &waits, ..job }, commands);
        }
    }

    fn kind(&self) -> SandboxKind {
        SandboxKind { mode: self.options.mode, network: self.options.network }
    }

    /// The command line of a helper for this command.
    fn helper_words(
        &self,
        job: &Job<'_>,
        (keys, layers): (KeptKeys<'_>, SandboxLayers),
        task: HelperTask,
    ) -> Vec<OsString> {
        let command = if task == HelperTask::Run { job.words.to_vec() } else { Vec::new() };
        let helper = Helper { policy: self.policy(job.cwd, keys.files), layers, task, command };
        std::iter::once(self.helper.clone().into_os_string()).chain(helper.arguments()).collect()
    }

    /// The words that run a command in the sandbox, in this folder, with the input that they are started with. These files are hidden from it.
    ///
    /// # Errors
    /// This system cannot confine it, in words.
    pub fn confined_words(&self, words: &[OsString], cwd: &Path, hidden: &[PathBuf]) -> Result<Vec<OsString>, String> {
        let gaps = self.state.gaps(self.options.network);
        let SandboxState::On(confinement) = &self.state else { return Err(gaps.to_string()) };
        if self.options.is_required && !gaps.is_empty() {
            return Err(format!("this system does not enforce all of it: {gaps}"));
        }
        let (policy, layers) = (self.policy(cwd, hidden), confinement.layers());
        let helper = Helper { policy, layers, task: HelperTask::Serve, command: words.to_vec() };
        Ok(std::iter::once(self.helper.clone().into_os_string()).chain(helper.arguments()).collect())
    }

    /// Whether this system enforces all of it.
    pub fn is_whole(&self) -> bool {
        self.state.gaps(self.options.network).is_empty()
    }

    /// The same for commands that write no file of the user's and have no network; `None` if this system does not enforce all of it.
    pub fn read_only(&self) -> Option<Self> {
        let (mode, network) = (SandboxMode::ReadOnly, SandboxNetwork::Off);
        let options = SandboxOptions { mode, network, is_required: true, ..self.options.clone() };
        let sandbox = Self { options, ..self.clone() };
        sandbox.is_whole().then_some(sandbox)
    }

    /// Why no command runs.
    pub fn refuses_commands(&self) -> Option<String> {
        let gaps = self.state.gaps(self.options.network);
        (self.options.is_required && !gaps.is_empty()).then(|| {
            format!(
                "no command runs: sandbox.required is set, and this system does not enforce all of the sandbox: {gaps}"
            )
        })
    }

    /// Refuses a write that commands could not do either.
    pub(crate) fn refuse_write(&self, cwd: &Path, real: &Path) -> Result<(), String> {
        let policy = self.policy(cwd, &[]);
        if policy.may_write(real) {
            return Ok(());
        }
        Err(format!("{} is not changed: the sandbox lets you write only {}", real.display(), self.places(cwd)))
    }

    /// The notice for the user at the start.
    pub fn told(&self, cwd: &Path) -> String {
        let is_wide = self.options.is_too_wide(cwd);
        let what = match (self.options.mode, self.options.network) {
            (SandboxMode::Workspace, network) if is_wide => match network {
                SandboxNetwork::Off => {
                    "your own settings are in this folder: commands write only in $TMPDIR and sandbox.writable, and have no network"
                }
                SandboxNetwork::On => {
                    "your own settings are in this folder: commands write only in $TMPDIR and sandbox.writable"
                }
            },
            (SandboxMode::ReadOnly, SandboxNetwork::Off) => "commands write no file of yours and have no network",
            (SandboxMode::ReadOnly, SandboxNetwork::On) => "commands write no file of yours",
            (_, SandboxNetwork::Off) => "commands write only in the working folder and have no network",
            (_, SandboxNetwork::On) => "commands write only in the working folder",
        };
        let gaps = self.state.gaps(self.options.network);
        let unprotected = self.nested.notice().map(|notice| format!("; {notice}")).unwrap_or_default();
        match (&self.state, self.refuses_commands()) {
            (_, Some(refused)) => refused,
            (SandboxState::On(_), None) if gaps.is_empty() => format!("sandbox: {what}{unprotected}"),
            (SandboxState::On(_), None) => format!("sandbox, in part: {what}{unprotected}; not stopped here: {gaps}"),
            (SandboxState::Impossible(_), None) => format!("no sandbox: {gaps}; commands do what you could do"),
        }
    }

    /// The paragraph of the system prompt for the model.
    pub fn for_model(&self, cwd: &Path) -> String {
        let network = match self.options.network {
            SandboxNetwork::Off => " and have no network",
            SandboxNetwork::On => "",
        };
        let place = match self.options.mode {
            SandboxMode::ReadOnly => "only in $TMPDIR",
            _ if self.options.is_too_wide(cwd) => "only in $TMPDIR and where the user allows it",
            _ => "only in the working folder, in $TMPDIR and where the user allows it",
        };
        match (&self.state, self.refuses_commands()) {
            (_, Some(_)) => "No command can run here: the sandbox that the user requires is not available.".to_owned(),
            (SandboxState::On(_), None) if self.state.gaps(self.options.network).is_empty() => {
                format!("Commands run in a sandbox: they can write {place}{network}.")
            }
            (SandboxState::On(_), None) => {
                format!(
                    "Commands run in a sandbox that this system enforces in part: they should write {place}{network}."
                )
            }
            (SandboxState::Impossible(_), None) => {
                "The user wants commands in a sandbox, which this system cannot make: be careful with them.".to_owned()
            }
        }
    }

    /// Why a failed command may have failed, if its output looks like a refusal of the sandbox.
    pub(crate) fn refusal(&self, cwd: &Path, output: &str) -> Option<SandboxRefusal> {
        const FILES: [&str; 3] = ["Read-only file system", "Permission denied", "Operation not permitted"];
        const NETWORK: [&str; 8] = [
            "Network is unreachable",
            "ENETUNREACH",
            "Could not resolve host",
            "Temporary failure in name resolution",
            "EAI_AGAIN",
            "ENOTFOUND",
            "Name or service not known",
            "failed to lookup address",
        ];
        let SandboxState::On(_) = self.state else { return None };
        let says = |words: &[&str]| words.iter().any(|word| output.contains(word));
        let is_network = self.options.network == SandboxNetwork::Off && says(&NETWORK);
        if !is_network && !says(&FILES) {
            return None;
        }
        let places = self.places(cwd);
        let (reason, remedy) = if is_network {
            let remedy = "--sandbox-network on, or the setting sandbox.network, allows it";
            (format!("commands in it have no network and write only {places}"), remedy)
        } else {
            (format!("commands in it write only {places}"), "the setting sandbox.writable adds folders")
        };
        Some(SandboxRefusal { reason, remedy, is_final: self.options.is_required })
    }

    fn places(&self, cwd: &Path) -> String {
        let policy = SandboxPolicy::new(&self.options, cwd, &self.temporary);
        let writable: Vec<String> = policy.writable.iter().map(|path| path.display().to_string()).collect();
        let mut read_only: Vec<String> = policy.read_only.iter().map(|path| path.display().to_string()).collect();
        read_only.extend((!self.nested.is_empty()).then(|| self.nested.to_string()));
        let inside = format!("in {}", writable.join(", "));
        if read_only.is_empty() { inside } else { format!("{inside}, except {}", read_only.join(", ")) }
    }
}
