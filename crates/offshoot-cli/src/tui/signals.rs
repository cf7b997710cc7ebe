//! What the system says to the program, as messages for the front end. Does nothing itself.

use std::io;
use std::sync::mpsc::Sender;

use offshoot_tui::app::msg::Msg;
use rustix::process::Signal;
use tokio::signal::unix::{Signal as Stream, SignalKind, signal};
use tokio::sync::oneshot;

use crate::error::{CommandError, Result};

/// The signals that concern a front end.
pub(super) struct Signals {
    end: Stream,
    gone: Stream,
    stop: Stream,
    resumed: Stream,
}

impl Signals {
    /// From now on signals do not end the program, but come here.
    ///
    /// # Errors
    /// The system does not tell of signals.
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {
            end: signal(SignalKind::terminate())?,
            gone: signal(SignalKind::hangup())?,
            stop: signal(SignalKind::from_raw(Signal::TSTP.as_raw()))?,
            resumed: signal(SignalKind::from_raw(Signal::CONT.as_raw()))?,
        })
    }

    /// The next one.
    pub(super) async fn next(&mut self) -> Msg {
        tokio::select! {
            _ = self.end.recv() => Msg::End,
            _ = self.gone.recv() => Msg::End,
            _ = self.stop.recv() => Msg::Suspend,
            _ = self.resumed.recv() => Msg::Continued,
        }
    }
}

/// A thread that tells a front end of signals as long as this lives.
pub(super) struct Watch {
    /// When it is dropped, the thread ends.
    _ended: oneshot::Sender<()>,
}

impl Watch {
    /// Starts it.
    pub(super) fn start(to: Sender<Msg>) -> Result<Self> {
        let failed = |error| CommandError::io("listen to signals", &error);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let mut signals = runtime.block_on(async { Signals::listen() }).map_err(failed)?;
        let (ended, mut end) = oneshot::channel::<()>();
        let watch = async move {
            loop {
                tokio::select! {
                    _ = &mut end => break,
                    // A front end that has ended needs no signals.
                    msg = signals.next() => if to.send(msg).is_err() { break },
                }
            }
        };
        let thread = std::thread::Builder::new().name("signals".to_owned());
        thread.spawn(move || runtime.block_on(watch)).map_err(failed)?;
        Ok(Self { _ended: ended })
    }
}
