//! Giving the terminal to the shell. Knows no screen.

use std::io;

use rustix::process::{Signal, getpgrp, getppid, getsid, kill_current_process_group};

/// Stops the program until the shell wakes it.
///
/// # Errors
/// There is no shell to come back from.
pub(super) fn stop() -> io::Result<()> {
    // Without a shell in the same session nobody could wake us; nor could one that stops with us.
    let (own, shell) = (getsid(None)?, getppid().map(|shell| getsid(Some(shell))).transpose()?);
    if shell != Some(own) || getpgrp() == own {
        return Err(io::Error::other("there is no shell to come back from: the program goes on"));
    }
    Ok(kill_current_process_group(Signal::STOP)?)
}
