//! Suspends the program. Knows no screen.

use std::io;

use nix::unistd::{getpgrp, getppid, getsid};
use rustix::process::{Signal, kill_current_process_group};

/// Stops the program until the shell continues it.
///
/// # Errors
/// There is no shell to return to.
pub(super) fn stop() -> io::Result<()> {
    // Only a shell in the same session that does not stop with us could continue us. In a container the parent and the
    // leader of a session may be outside: both ids are 0 then, which rustix considers impossible.
    let (own, shell) = (getsid(None)?, getppid());
    if shell.as_raw() == 0 || getsid(Some(shell))? != own || getpgrp() == own {
        return Err(io::Error::other("there is no shell to return to: the program continues"));
    }
    Ok(kill_current_process_group(Signal::STOP)?)
}
