//! `offshoot sandbox … -- COMMAND`, which offshoot starts itself: it confines this process, and then becomes the command.
//!
//! Fails closed: if a layer that was asked for cannot be set up, the command does not run. Must run before any thread
//! is started.

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod landlock_rules;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod namespaces;
#[cfg(target_os = "linux")]
mod outside;
#[cfg(target_os = "linux")]
mod wait;

use std::ffi::OsString;
use std::io::Write as _;
#[cfg(target_os = "linux")]
use std::os::unix::process::CommandExt as _;
use std::process::ExitCode;
#[cfg(target_os = "linux")]
use std::process::{Command, Stdio};

use offshoot_agent::sandbox::Helper;
#[cfg(target_os = "linux")]
use offshoot_agent::sandbox::{CommandMessage, HelperTask, STARTED};
use offshoot_app::ui;
#[cfg(target_os = "linux")]
use outside::Outside;

/// The word that begins its arguments.
pub(crate) const NAME: &str = "sandbox";
/// As of `env` and `timeout`: the command was not started.
const FAILED: u8 = 125;
/// Every command may use them.
#[cfg(target_os = "linux")]
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/random", "/dev/urandom"];

pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    match Helper::parse(arguments).and_then(|helper| confine(&helper)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            // Nobody may read it.
            drop(writeln!(ui::errors(), "offshoot: the sandbox cannot be set up: {why}"));
            ExitCode::from(FAILED)
        }
    }
}

#[cfg(target_os = "linux")]
fn confine(helper: &Helper) -> Result<(), String> {
    if helper.task == HelperTask::Wait {
        return wait_for_command(helper);
    }
    if helper.layers.namespaces {
        let outside = Outside::open()?;
        namespaces::enter(helper)?;
        mounts::arrange(&helper.policy)?;
        mounts::cover(&helper.policy.hidden)?;
        mounts::cover(&outside.sockets(&helper.policy)?)?;
    }
    let version = forbid(helper)?;
    if helper.task == HelperTask::Probe {
        return writeln!(ui::terminal(), "{version}").map_err(|error| error.to_string());
    }
    become_command(helper, &CommandMessage { words: helper.command.clone(), ..CommandMessage::default() })
}

/// What takes long is done before the command comes.
#[cfg(target_os = "linux")]
fn wait_for_command(helper: &Helper) -> Result<(), String> {
    let outside = Outside::open()?;
    namespaces::enter(helper)?;
    mounts::arrange(&helper.policy)?;
    mounts::cover(&outside.sockets(&helper.policy)?)?;
    let command = wait::for_command(&outside, &helper.policy)?;
    // Sockets that are new, and files of keys: they are replaced often.
    mounts::cover(&helper.policy.hidden)?;
    mounts::cover(&outside.sockets(&helper.policy)?)?;
    forbid(helper)?;
    wait::say(STARTED)?;
    become_command(helper, &command)
}

/// Everything that setting up needs itself. Returns the version of Landlock; 0 for none.
#[cfg(target_os = "linux")]
fn forbid(helper: &Helper) -> Result<u32, String> {
    let version = if helper.layers.landlock { landlock_rules::apply(helper)? } else { 0 };
    namespaces::drop_capabilities()?;
    if helper.layers.calls {
        calls::refuse()?;
    }
    Ok(version)
}

/// Returns only if that fails.
#[cfg(target_os = "linux")]
fn become_command(helper: &Helper, message: &CommandMessage) -> Result<(), String> {
    let (program, words) = message.words.split_first().ok_or("the command is missing")?;
    let mut command = Command::new(program);
    command.args(words).current_dir(&helper.policy.cwd);
    if helper.task != HelperTask::Serve {
        command.stdin(Stdio::null());
    }
    for name in &message.without {
        command.env_remove(name);
    }
    let error = command.envs(message.env.iter().map(|(name, value)| (name, value))).exec();
    Err(format!("cannot run {}: {error}", program.display()))
}

#[cfg(not(target_os = "linux"))]
fn confine(_: &Helper) -> Result<(), String> {
    Err("this system has none: there is a sandbox on Linux only".to_owned())
}
