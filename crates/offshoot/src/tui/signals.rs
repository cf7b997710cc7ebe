//! Turns signals into messages for the current front end, or the next one. Does nothing else.

use std::io;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use offshoot_app::error::{CommandError, Result};
use offshoot_tui::app::msg::Msg;
use rustix::process::Signal;
use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

use super::ending::EndNotice;

/// A thread that handles signals while the program runs. They no longer end the program: the receiver must.
#[derive(Debug)]
pub(super) struct Signals(Arc<Mutex<SignalTarget>>);

#[derive(Debug, Default)]
struct SignalTarget {
    to: Option<Sender<Msg>>,
    ending: EndNotice,
    /// Messages that arrived without a receiver.
    undelivered: Vec<Msg>,
}

impl Signals {
    pub(super) fn listen() -> Result<Self> {
        let failed = |error| CommandError::io("listen to signals", &error);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let mut streams = runtime.block_on(async { SignalStreams::open() }).map_err(failed)?;
        let signals = Self(Arc::default());
        let told = signals.0.clone();
        let receive = move || {
            runtime.block_on(async {
                loop {
                    let msg = streams.next().await;
                    lock(&told).receive(msg);
                }
            });
        };
        std::thread::Builder::new().name("signals".to_owned()).spawn(receive).map_err(failed)?;
        Ok(signals)
    }

    /// Connects a front end, which first gets the undelivered messages.
    pub(super) fn connect(&self, to: Sender<Msg>) {
        let mut told = lock(&self.0);
        told.to = Some(to);
        std::mem::take(&mut told.undelivered).into_iter().for_each(|msg| told.receive(msg));
    }

    pub(super) fn ending(&self) -> EndNotice {
        lock(&self.0).ending.clone()
    }

    /// A front end has ended: messages it did not read are kept for the next one.
    pub(super) fn disconnect(&self, inbox: &Receiver<Msg>) {
        let mut told = lock(&self.0);
        told.to = None;
        inbox.try_iter().for_each(|msg| told.receive(msg));
    }
}

impl SignalTarget {
    fn receive(&mut self, msg: Msg) {
        if matches!(msg, Msg::End) {
            self.ending.give();
        }
        let undelivered = match &self.to {
            Some(to) => to.send(msg).err().map(|undelivered| undelivered.0),
            None => Some(msg),
        };
        // Other messages need not be repeated.
        self.undelivered.extend(undelivered.filter(|msg| matches!(msg, Msg::End | Msg::Suspend)));
    }
}

fn lock(told: &Mutex<SignalTarget>) -> MutexGuard<'_, SignalTarget> {
    told.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The signals for a front end. In raw mode no key is a signal: an interrupt comes from outside, and ends the program as the
/// others do.
struct SignalStreams {
    end: Stream,
    interrupt: Stream,
    quit: Stream,
    gone: Stream,
    stop: Stream,
    resumed: Stream,
    window: Stream,
}

impl SignalStreams {
    fn open() -> io::Result<Self> {
        Ok(Self {
            end: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            gone: signal(SignalKind::hangup())?,
            stop: signal(SignalKind::from_raw(Signal::TSTP.as_raw()))?,
            resumed: signal(SignalKind::from_raw(Signal::CONT.as_raw()))?,
            window: signal(SignalKind::window_change())?,
        })
    }

    async fn next(&mut self) -> Msg {
        tokio::select! {
            _ = self.end.recv() => Msg::End,
            _ = self.interrupt.recv() => Msg::End,
            _ = self.quit.recv() => Msg::End,
            _ = self.gone.recv() => Msg::End,
            _ = self.stop.recv() => Msg::Suspend,
            _ = self.resumed.recv() => Msg::Continued,
            _ = self.window.recv() => Msg::WindowChanged,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn what_one_front_end_does_not_hear_is_for_the_next() {
        let signals = Signals(Arc::default());
        let (sender, inbox) = channel();
        signals.connect(sender.clone());
        lock(&signals.0).receive(Msg::Continued);
        assert!(matches!(inbox.try_recv(), Ok(Msg::Continued)));
        // One sent but unread, one between two front ends, and one of the first front end itself.
        lock(&signals.0).receive(Msg::Suspend);
        sender.send(Msg::Idle).unwrap();
        signals.disconnect(&inbox);
        lock(&signals.0).receive(Msg::Continued);
        lock(&signals.0).receive(Msg::End);
        let (sender, inbox) = channel();
        signals.connect(sender);
        assert!(matches!(inbox.try_iter().collect::<Vec<_>>()[..], [Msg::Suspend, Msg::End]));
    }
}
