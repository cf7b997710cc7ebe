//! What stops a run without a screen: signals, and the end of its time.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

use offshoot_session::medium::read_regular_text;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Sleep, sleep};

/// Why a run stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// An interrupt, a request to end, or a closed terminal.
    Signal,
    /// Comes once.
    TimeUp,
}

/// Waits for what stops a run.
pub struct Stops {
    interrupt: Signal,
    terminate: Signal,
    quit: Signal,
    /// `None` if whoever started the program wants it to outlive the terminal, as `nohup` does.
    hangup: Option<Signal>,
    time: Option<Pin<Box<Sleep>>>,
}

impl Stops {
    /// Within a runtime. The time begins now.
    pub fn listen(limit: Option<Duration>) -> io::Result<Self> {
        let hangup = SignalKind::hangup();
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            quit: signal(SignalKind::quit())?,
            hangup: if is_ignored(hangup) { None } else { Some(signal(hangup)?) },
            time: limit.map(|limit| Box::pin(sleep(limit))),
        })
    }

    /// The next reason to stop.
    pub async fn next(&mut self) -> Stop {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => drop(hangup.recv().await),
                None => std::future::pending().await,
            }
        };
        let time = async {
            match &mut self.time {
                Some(time) => time.await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.quit.recv() => {}
            () = hangup => {}
            () = time => {
                self.time = None;
                return Stop::TimeUp;
            }
        }
        Stop::Signal
    }
}

/// Whether the program was started with this signal ignored. Without `/proc` it counts as not ignored.
pub fn is_ignored(kind: SignalKind) -> bool {
    let status = read_regular_text(Path::new("/proc/self/status"), 1 << 20).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (kind.as_raw_value() - 1) & 1 == 1
}
