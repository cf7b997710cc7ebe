//! The floor: how fast this machine can read a file and count its lines.
//!
//! No reader of sessions can be faster; how far a program is from it says more than seconds do.

use std::fs::File;
use std::io::Read as _;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

use crate::out;

/// Name of the hidden command.
pub(crate) const FLOOR: &str = "bench-floor";

/// `bench-floor FILE`: prints the number of newlines.
pub(crate) fn floor(args: &[String]) -> Result<ExitCode> {
    let [path] = args else { bail!("`{FLOOR}` wants one file") };
    let mut file = File::open(path).with_context(|| path.clone())?;
    let mut block = vec![0; 1 << 20];
    let mut lines = 0;
    loop {
        let read = file.read(&mut block)?;
        if read == 0 {
            break;
        }
        lines += memchr::memchr_iter(b'\n', &block[..read]).count();
    }
    out::say(&lines.to_string());
    Ok(ExitCode::SUCCESS)
}
