//! Gives the terminal to a group of processes and takes it back. Knows no screen and no extension.

use std::fs::File;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal, kill};
use nix::unistd::{Pid, getpgrp, tcsetpgrp};

/// How often it is checked whether the leader of the group still runs.
const STEP: Duration = Duration::from_millis(100);

/// Lends the terminal until the borrower gives it back or has ended. `begin` tells the borrower that it has the terminal; it
/// answers what ends the loan, or nothing if nobody wants the terminal any more.
///
/// # Errors
/// The group is not of this session.
pub(super) fn lend(group: u32, begin: impl FnOnce() -> Option<Receiver<()>>) -> io::Result<()> {
    let terminal = File::options().read(true).write(true).open("/dev/tty")?;
    let group = Pid::from_raw(i32::try_from(group).map_err(io::Error::other)?);
    let own = getpgrp();
    tcsetpgrp(&terminal, group)?;
    if let Some(is_over) = begin() {
        wait(group, &is_over);
    }
    // This process is in the background now. The signal for that would stop it.
    let quiet = SigSet::from_iter([Signal::SIGTTOU]);
    quiet.thread_block()?;
    let taken = tcsetpgrp(&terminal, own);
    quiet.thread_unblock()?;
    Ok(taken?)
}

fn wait(leader: Pid, is_over: &Receiver<()>) {
    // Nothing is ever sent: the sender goes.
    while is_over.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
        if kill(leader, None).is_err() {
            return;
        }
    }
}
