//! `offshoot guard COMMAND…`, which offshoot starts itself: it stays as the parent of the command, and ends it when the program ends.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use offshoot_agent::guard::{GUARD, stand_guard};
use offshoot_app::ui;

/// The word that begins its arguments.
pub(crate) const NAME: &str = GUARD;
/// As of shells: the command cannot be run.
const FAILED: u8 = 127;

pub(crate) fn run(words: &[OsString]) -> ExitCode {
    match stand_guard(words) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let name = words.first().map(|word| word.to_string_lossy()).unwrap_or_default();
            // Nobody may read it.
            drop(writeln!(ui::errors(), "offshoot: cannot run {name}: {error}"));
            ExitCode::from(FAILED)
        }
    }
}
