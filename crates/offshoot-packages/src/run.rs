//! Runs npm and git: without questions, with an end, with an environment of their own, and with what they said in the error.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::environment::ProgramEnvironment;
use crate::error::{PackageError, Result};

/// A package that takes longer to fetch is given up.
const LONGEST: Duration = Duration::from_secs(600);
const PAUSE: Duration = Duration::from_millis(20);
/// npm lists the files of a package.
const MOST_SAID: u64 = 16 << 20;
const SHOWN: usize = 600;

/// Whether a program is there. It is started where no project has settings for it.
pub(crate) fn exists(program: &str, environment: &ProgramEnvironment) -> bool {
    let tried = Command::new(program)
        .arg("--version")
        .env_clear()
        .envs(environment.variables())
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success())
}

/// A program to be run.
pub(crate) struct Program<'a> {
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a [&'a str],
    /// The user's.
    pub(crate) environment: &'a ProgramEnvironment,
    /// Variables of offshoot's, which come before the user's.
    pub(crate) variables: &'a [(&'a str, &'a OsStr)],
}

impl Program<'_> {
    /// Runs it in a folder and returns what it printed. `package` names the package in an error.
    pub(crate) fn run(&self, package: &str, folder: &Path) -> Result<String> {
        self.run_watched(package, folder, &mut || Ok(()))
    }

    /// The same, and ends the program with the first error of `watch`, which is called again and again.
    pub(crate) fn run_watched(
        &self,
        package: &str,
        folder: &Path,
        watch: &mut dyn FnMut() -> Result<()>,
    ) -> Result<String> {
        let mut command = Command::new(self.name);
        command.args(self.arguments).current_dir(folder);
        command.env_clear().envs(self.environment.variables()).envs(self.variables.iter().copied());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        watched(package, self.name, command, watch)
    }
}

fn watched(
    package: &str,
    program: &str,
    mut command: Command,
    watch: &mut dyn FnMut() -> Result<()>,
) -> Result<String> {
    let failed = |why: String| PackageError::fetch(package, why);
    let mut child = command.spawn().map_err(|error| failed(format!("{program} cannot be started: {error}")))?;
    let pipes = (child.stdout.take(), child.stderr.take());
    let (Some(out), Some(err)) = pipes else { return Err(failed(format!("{program} has no output"))) };
    let reading = |pipe: Box<dyn std::io::Read + Send>| {
        std::thread::spawn(move || {
            let mut pipe = pipe.take(MOST_SAID);
            let mut said = Vec::new();
            drop(pipe.read_to_end(&mut said));
            // What is beyond the bound is read and dropped, so that the program can end.
            drop(std::io::copy(&mut pipe.into_inner(), &mut std::io::sink()));
            String::from_utf8_lossy(&said).into_owned()
        })
    };
    let (out, err) = (reading(Box::new(out)), reading(Box::new(err)));
    let mut waited = Duration::ZERO;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if waited < LONGEST => {
                if let Err(error) = watch() {
                    end(&mut child);
                    return Err(error);
                }
                std::thread::sleep(PAUSE);
                waited += PAUSE;
            }
            Ok(None) | Err(_) => {
                end(&mut child);
                return Err(failed(format!("{program} took longer than {} seconds", LONGEST.as_secs())));
            }
        }
    };
    let (out, err) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
    if status.success() {
        return Ok(out);
    }
    let said = if err.trim().is_empty() { out } else { err };
    let said: String = said.trim().chars().take(SHOWN).collect();
    Err(failed(format!("{program} failed: {said}")))
}

/// It may have ended by itself.
fn end(child: &mut Child) {
    drop(child.kill());
    drop(child.wait());
}
