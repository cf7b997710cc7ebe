//! What the guard of all commands hears: which command begins, and which has ended. Starts no guard.

use std::io::{PipeWriter, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::Pid;

/// The guard reads the other end.
static LISTENER: Mutex<Option<PipeWriter>> = Mutex::new(None);

fn listener() -> MutexGuard<'static, Option<PipeWriter>> {
    LISTENER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a guard listens.
pub(super) fn is_there() -> bool {
    listener().is_some()
}

/// A guard reads the other end of this from now on.
pub(super) fn tell_from_now_on(pipe: PipeWriter) {
    *listener() = Some(pipe);
}

/// A command begins: its mark, and the leader of its session once it is known.
pub(super) fn begins(mark: &str, leader: Option<Pid>) {
    tell(&format!("+{mark} {}\n", leader.map_or(0, |leader| leader.as_raw_nonzero().get())));
}

/// A command has ended. What it has left in the background may live on.
pub(super) fn ends(mark: &str) {
    tell(&format!("-{mark}\n"));
}

fn tell(line: &str) {
    listener().take_if(|pipe| pipe.write_all(line.as_bytes()).is_err());
}
