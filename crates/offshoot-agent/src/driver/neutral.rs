//! Lines that only read, made ready to run: git's settings are looked at right before git runs, and what could run something is turned off.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::approval::{GitReads, LISTING, NeutralSettings, ReadLine};
use crate::process::{self, End, Errors, Job, News};
use crate::tool::{NeutralCommand, ToolContext};

/// Settings are listed within milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);
/// More bytes of settings are not read.
const MAX_BYTES: usize = 1 << 20;

/// The command that runs in the place of the line.
///
/// # Errors
/// Why it may do more than read, as a clause.
pub(super) async fn prepare(line: ReadLine, context: &ToolContext) -> Result<NeutralCommand, String> {
    let mut settings = NeutralSettings::new();
    if let Some(GitReads { program, folders }) = &line.git {
        // Most lines run git in one folder.
        let mut looked_at: Vec<&PathBuf> = Vec::new();
        for folder in folders {
            if !looked_at.contains(&folder) {
                let listed = list(program, folder, &settings, context).await?;
                settings.follow(&listed)?;
                looked_at.push(folder);
            }
        }
    }
    Ok(NeutralCommand { text: line.text, variables: settings.variables() })
}

async fn list(
    program: &Path,
    folder: &Path,
    settings: &NeutralSettings,
    context: &ToolContext,
) -> Result<Vec<u8>, String> {
    let words: Vec<OsString> =
        std::iter::once(program.into()).chain(LISTING.iter().map(|word| OsString::from(*word))).collect();
    let job = Job {
        words: &words,
        cwd: folder,
        env: &settings.variables(),
        without: &NeutralCommand::without(&context.keys.variables),
        errors: Errors::Dropped,
        timeout: Some(PATIENCE),
    };
    let mut listed = Vec::new();
    let end = process::run(job, |news| match news {
        News::Piece(bytes) if listed.len() <= MAX_BYTES => listed.extend_from_slice(bytes),
        News::Piece(_) | News::Tick => {}
    });
    match end.await {
        Ok(End::Exited(0)) if listed.len() <= MAX_BYTES => Ok(listed),
        Ok(_) => Err("git does not list the settings of this repository".to_owned()),
        Err(error) => Err(format!("git cannot be asked for the settings of this repository: {error}")),
    }
}
