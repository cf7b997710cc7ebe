//! A limit on the size of files (`ulimit -f`) ends a program that does not say what it does then. Here it is a failed write, as a full
//! disk is. What offshoot starts has the usual way.

use offshoot_app::agent::is_ignored;
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

/// The signal's number on the systems that offshoot knows.
const TOO_LARGE: i32 = if cfg!(any(target_arch = "mips", target_arch = "mips64")) { 31 } else { 25 };

/// From now on a write beyond the limit fails. Without the system's help the program ends there, as others do.
pub(crate) fn is_a_failed_write() {
    let kind = SignalKind::from_raw(TOO_LARGE);
    if is_ignored(kind) {
        return;
    }
    let Ok(runtime) = Builder::new_current_thread().enable_io().build() else { return };
    let _here = runtime.enter();
    // The handler stays when this is dropped.
    drop(signal(kind));
}
