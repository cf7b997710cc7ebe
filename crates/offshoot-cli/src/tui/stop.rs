//! Giving the terminal to the shell. Knows no screen.

use std::io;

use rustix::process::{Signal, getppid, getsid, kill_current_process_group};

/// Stops the program until the shell wakes it.
///
/// # Errors
/// There is no shell to come back from.
pub(super) fn stop() -> io::Result<()> {
    // Without a shell in the same session nobody could wake us.
    let shell = getppid().map(|shell| getsid(Some(shell))).transpose()?;
    if shell != Some(getsid(None)?) {
        return Err(io::Error::other("there is no shell to come back from: the program goes on"));
    }
    Ok(kill_current_process_group(Signal::STOP)?)
}
