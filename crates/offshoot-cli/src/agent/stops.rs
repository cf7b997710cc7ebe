//! The signals that stop a run without a screen.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

pub(super) struct Stops {
    interrupt: Signal,
    terminate: Signal,
    /// `None` if whoever started the program wants it to outlive the terminal, as `nohup` does.
    hangup: Option<Signal>,
}

impl Stops {
    pub(super) fn listen() -> io::Result<Self> {
        let hangup = SignalKind::hangup();
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: if is_ignored(hangup) { None } else { Some(signal(hangup)?) },
        })
    }

    pub(super) async fn next(&mut self) {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => drop(hangup.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            () = hangup => {}
        }
    }
}

/// Whether the program was started with this signal ignored. Without `/proc` it counts as not ignored.
fn is_ignored(kind: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (kind.as_raw_value() - 1) & 1 == 1
}
