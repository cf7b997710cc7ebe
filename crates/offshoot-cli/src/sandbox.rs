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

use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use offshoot_agent::sandbox::Helper;
use offshoot_app::ui;

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

fn confine(helper: &Helper) -> Result<(), String> {
    let version = restrict(helper)?;
    if helper.is_probe {
        return writeln!(ui::terminal(), "{version}").map_err(|error| error.to_string());
    }
    let mut words = helper.command.iter();
    let program = words.next().ok_or("the command is missing")?;
    let error = Command::new(program).args(words).current_dir(&helper.policy.cwd).exec();
    Err(format!("cannot run {}: {error}", program.display()))
}

/// Returns the version of Landlock; 0 for none.
#[cfg(target_os = "linux")]
fn restrict(helper: &Helper) -> Result<u32, String> {
    if helper.layers.namespaces {
        // A new network namespace does not show them.
        let sockets = mounts::sockets(&helper.policy);
        namespaces::enter(helper)?;
        mounts::arrange(&helper.policy, sockets)?;
    }
    let version = if helper.layers.landlock { landlock_rules::apply(helper)? } else { 0 };
    namespaces::drop_capabilities()?;
    if helper.layers.calls {
        calls::refuse()?;
    }
    Ok(version)
}

#[cfg(not(target_os = "linux"))]
fn restrict(_: &Helper) -> Result<u32, String> {
    Err("this system has none: there is a sandbox on Linux only".to_owned())
}
