//! Gives the terminal to a group of processes and takes it back, as a shell does for its jobs: the keys that interrupt, quit
//! and stop are the borrower's. Knows no screen and no extension.

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal, kill, killpg};
use nix::unistd::{Pid, getpgrp, tcsetpgrp};
use rustix::process::{WaitId, WaitIdOptions, waitid};

use super::ending::EndNotice;
use super::stop::stop;

/// How often it is checked whether the borrower still runs.
const STEP: Duration = Duration::from_millis(20);
/// A borrower that was told to end has this many steps to do so.
const STEPS_TO_END: u32 = 100;

/// Lends the terminal until the borrower gives it back or has ended. `begin` tells the borrower that it has the terminal; it
/// answers what ends the loan, or nothing if nobody wants the terminal any more.
///
/// # Errors
/// The group is not of this session.
pub(super) fn lend(group: u32, ending: &EndNotice, begin: impl FnOnce() -> Option<Receiver<()>>) -> io::Result<()> {
    let loan = Loan::begin(terminal()?, pid(group)?)?;
    let lent = begin().map_or(Ok(()), |is_over| loan.wait(&is_over, ending));
    loan.take_back().and(lent)
}

/// What became of a program that had the terminal.
pub(super) enum Borrowed {
    Ended(ExitStatus),
    /// offshoot has to end, and so had the program.
    ToldToEnd,
}

/// Runs a program that has the terminal until it ends.
///
/// # Errors
/// The program cannot be started.
pub(super) fn run(command: &mut Command, ending: &EndNotice) -> io::Result<Borrowed> {
    // Without a terminal of its session no key is a signal.
    let Ok(terminal) = terminal() else { return command.status().map(Borrowed::Ended) };
    let mut child = command.process_group(0).spawn()?;
    let loan = Loan::begin(terminal, pid(child.id())?)?;
    let borrowed = loan.wait_for(&mut child, ending);
    if borrowed.is_err() {
        loan.end_borrower();
    }
    loan.take_back()?;
    borrowed
}

/// The terminal in the hands of another group.
struct Loan {
    terminal: File,
    own: Pid,
    group: Pid,
}

impl Loan {
    fn begin(terminal: File, group: Pid) -> io::Result<Self> {
        let own = getpgrp();
        tcsetpgrp(&terminal, group)?;
        Ok(Self { terminal, own, group })
    }

    fn wait(&self, is_over: &Receiver<()>, ending: &EndNotice) -> io::Result<()> {
        // Nothing is ever sent: the sender goes.
        while is_over.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
            if ending.has_come() || kill(self.group, None).is_err() {
                break;
            }
            self.follow_stop()?;
        }
        Ok(())
    }

    fn wait_for(&self, child: &mut Child, ending: &EndNotice) -> io::Result<Borrowed> {
        while !ending.comes_within(STEP) {
            if let Some(status) = child.try_wait()? {
                return Ok(Borrowed::Ended(status));
            }
            self.follow_stop()?;
        }
        self.end_borrower();
        for _ in 0..STEPS_TO_END {
            if child.try_wait()?.is_some() {
                break;
            }
            std::thread::sleep(STEP);
        }
        Ok(Borrowed::ToldToEnd)
    }

    fn end_borrower(&self) {
        // It may have ended before.
        let _ = killpg(self.group, Signal::SIGTERM).and_then(|()| killpg(self.group, Signal::SIGCONT));
    }

    /// If the user has stopped the borrower, this program stops as well. Both continue together. Without a shell the borrower
    /// continues at once, and so does one that used the terminal before it had it.
    fn follow_stop(&self) -> io::Result<()> {
        let Some(signal) = self.stopped_by() else { return Ok(()) };
        if ![Signal::SIGTTIN, Signal::SIGTTOU].contains(&signal) {
            self.take_back()?;
            drop(stop());
            tcsetpgrp(&self.terminal, self.group)?;
        }
        Ok(killpg(self.group, Signal::SIGCONT)?)
    }

    /// The signal that has stopped the borrower.
    fn stopped_by(&self) -> Option<Signal> {
        let leader = rustix::process::Pid::from_raw(self.group.as_raw())?;
        let look = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(leader), look).ok().flatten()?;
        status.stopping_signal().and_then(|signal| Signal::try_from(signal).ok())
    }

    fn take_back(&self) -> io::Result<()> {
        // This process is in the background now. The signal for that would stop it.
        let quiet = SigSet::from_iter([Signal::SIGTTOU]);
        quiet.thread_block()?;
        let taken = tcsetpgrp(&self.terminal, self.own);
        quiet.thread_unblock()?;
        Ok(taken?)
    }
}

fn terminal() -> io::Result<File> {
    File::options().read(true).write(true).open("/dev/tty")
}

fn pid(id: u32) -> io::Result<Pid> {
    i32::try_from(id).map(Pid::from_raw).map_err(io::Error::other)
}
