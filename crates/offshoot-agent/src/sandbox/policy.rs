//! What a confined command may do, and the arguments that say so to the helper.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use offshoot_protocol::{SandboxMode, SandboxNetwork};
use offshoot_session::medium::real_path_or_same;

use super::SandboxOptions;
use super::git;

/// Names in the working folder that agents obey. They stay as they are.
pub(super) const OBEYED: [&str; 5] = [".offshoot", ".pi", ".omp", ".claude", ".mcp.json"];

/// Real paths. The longest one that contains a path decides about it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct SandboxPolicy {
    pub network: SandboxNetwork,
    /// Where the command starts.
    pub cwd: PathBuf,
    pub writable: Vec<PathBuf>,
    pub read_only: Vec<PathBuf>,
    /// Folders that cannot be moved or removed. They decide nothing about what is in them.
    pub pinned: Vec<PathBuf>,
    pub hidden: Vec<PathBuf>,
}

impl SandboxPolicy {
    /// What commands may do that start in this folder.
    pub fn new(options: &SandboxOptions, cwd: &Path, temporary: &Path) -> Self {
        let cwd = real_path_or_same(cwd);
        let mut policy = Self { network: options.network, cwd: cwd.clone(), ..Self::default() };
        policy.writable.push(temporary.to_owned());
        if options.mode == SandboxMode::ReadOnly {
            return policy;
        }
        let allowed = options.writable.iter().filter_map(|path| path.canonicalize().ok());
        if options.is_too_wide(&cwd) {
            policy.writable.extend(allowed);
            return policy;
        }
        let git = git::places(&cwd);
        policy.read_only = OBEYED.iter().map(|name| cwd.join(name)).filter(|path| path.exists()).collect();
        policy.read_only.extend(git.read_only);
        policy.writable.insert(0, cwd);
        policy.writable.extend(git.writable);
        policy.writable.extend(allowed);
        policy
    }

    /// Whether a command may write this file, by its real path.
    pub fn may_write(&self, real: &Path) -> bool {
        self.rights().may_write(real)
    }

    /// To ask about many files.
    pub fn rights(&self) -> WriteRights<'_> {
        let writable = self.writable.iter().map(|path| (path.as_path(), true));
        // A path in both lists is read-only.
        WriteRights(writable.chain(self.read_only.iter().map(|path| (path.as_path(), false))).collect())
    }
}

/// Which paths decide that what they contain may be written, or may not.
#[derive(Debug)]
pub struct WriteRights<'a>(HashMap<&'a Path, bool>);

impl WriteRights<'_> {
    /// Whether a command may write this file, by its real path.
    pub fn may_write(&self, real: &Path) -> bool {
        real.ancestors().find_map(|path| self.0.get(path)).copied().unwrap_or_default()
    }
}

/// The parts of the sandbox that the helper has to set up; it fails if it cannot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct SandboxLayers {
    pub namespaces: bool,
    pub landlock: bool,
    /// Refuses system calls.
    pub calls: bool,
}

/// What the helper does when it is confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HelperTask {
    /// Becomes the command.
    #[default]
    Run,
    /// The same for a command that reads what this process gets as its input: others have none.
    Serve,
    /// Prints the version of Landlock, and ends.
    Probe,
    /// Waits for the words of a command, and becomes it if nothing that confines it has changed meanwhile.
    Wait,
}

/// The command line of the helper.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct Helper {
    pub policy: SandboxPolicy,
    pub layers: SandboxLayers,
    pub task: HelperTask,
    pub command: Vec<OsString>,
}

impl Helper {
    /// The arguments of the program, from `sandbox` on.
    pub fn arguments(self) -> Vec<OsString> {
        let SandboxPolicy { network, cwd, writable, read_only, pinned, hidden } = self.policy;
        let flags = [
            (self.task == HelperTask::Probe, "--probe"),
            (self.task == HelperTask::Wait, "--wait"),
            (self.task == HelperTask::Serve, "--serve"),
            (self.layers.namespaces, "--namespaces"),
            (self.layers.landlock, "--landlock"),
            (self.layers.calls, "--calls"),
            (network == SandboxNetwork::Off, "--no-network"),
        ];
        let mut arguments = vec![OsString::from("sandbox")];
        arguments.extend(flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag.into()));
        let paths = [
            ("--cwd", vec![cwd]),
            ("--writable", writable),
            ("--read-only", read_only),
            ("--pinned", pinned),
            ("--hidden", hidden),
        ];
        for (name, paths) in paths {
            arguments.extend(paths.into_iter().flat_map(|path| [name.into(), path.into_os_string()]));
        }
        arguments.push("--".into());
        arguments.extend(self.command);
        arguments
    }

    /// Reads [`Helper::arguments`], without `sandbox`.
    ///
    /// # Errors
    /// Says which argument is wrong.
    pub fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut helper =
            Self { policy: SandboxPolicy { network: SandboxNetwork::On, ..Default::default() }, ..Default::default() };
        while let Some(argument) = arguments.next() {
            let mut path = || arguments.next().map(PathBuf::from).ok_or_else(|| "a path is missing".to_owned());
            match argument.to_str() {
                Some("--") => {
                    helper.command = arguments.collect();
                    return Ok(helper);
                }
                Some("--probe") => helper.task = HelperTask::Probe,
                Some("--wait") => helper.task = HelperTask::Wait,
                Some("--serve") => helper.task = HelperTask::Serve,
                Some("--namespaces") => helper.layers.namespaces = true,
                Some("--landlock") => helper.layers.landlock = true,
                Some("--calls") => helper.layers.calls = true,
                Some("--no-network") => helper.policy.network = SandboxNetwork::Off,
                Some("--cwd") => helper.policy.cwd = path()?,
                Some("--writable") => helper.policy.writable.push(path()?),
                Some("--read-only") => helper.policy.read_only.push(path()?),
                Some("--pinned") => helper.policy.pinned.push(path()?),
                Some("--hidden") => helper.policy.hidden.push(path()?),
                _ => return Err(format!("there is no argument {}", argument.display())),
            }
        }
        Err("the command is missing".to_owned())
    }
}
