//! The children of one call while they run: what each has reported, and who of them still runs. Front ends and the call look at it; each
//! child writes its own part. Starts nothing.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, oneshot, watch};

use super::report::ChildReport;

/// The children of a call. Clones share them.
pub(crate) struct LiveCall {
    call: Mutex<CallState>,
    changed: Notify,
    /// How many run.
    running: watch::Sender<usize>,
}

#[derive(Default)]
struct CallState {
    reports: Vec<ChildReport>,
    /// Dropping one stops its child.
    stops: Vec<oneshot::Sender<()>>,
    /// Whether what the children said has been taken: none is added then.
    is_closed: bool,
}

/// Stops the children of a call when it is dropped.
pub(crate) struct CallGuard(pub(super) Arc<LiveCall>);

/// Runs while a child does.
pub(super) struct RunningChild(Arc<LiveCall>);

impl LiveCall {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { call: Mutex::default(), changed: Notify::new(), running: watch::Sender::new(0) })
    }

    fn call(&self) -> MutexGuard<'_, CallState> {
        self.call.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows where a child stands. A report of another place in the call is a new one.
    pub(super) fn set(&self, report: ChildReport) {
        let mut call = self.call();
        let at = call.reports.partition_point(|known| known.state.index < report.state.index);
        match call.reports.get_mut(at).filter(|known| known.state.index == report.state.index) {
            Some(known) => *known = report,
            None => call.reports.insert(at, report),
        }
        drop(call);
        self.changed.notify_one();
    }

    pub(super) fn reports(&self) -> Vec<ChildReport> {
        self.call().reports.clone()
    }

    /// Begins to run a child that `stop` stops. `None`: the call has ended.
    pub(super) fn begin(self: &Arc<Self>, stop: oneshot::Sender<()>) -> Option<RunningChild> {
        let mut call = self.call();
        if call.is_closed {
            return None;
        }
        call.stops.retain(|stop| !stop.is_closed());
        call.stops.push(stop);
        drop(call);
        self.running.send_modify(|running| *running += 1);
        Some(RunningChild(Arc::clone(self)))
    }

    /// Ends when something new is shown.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Waits until no child runs, and takes what they have reported: none is added after this.
    pub(super) async fn end(&self) -> Vec<ChildReport> {
        let mut running = self.running.subscribe();
        loop {
            // The sender is here.
            drop(running.wait_for(|running| *running == 0).await);
            let mut call = self.call();
            if *self.running.borrow() == 0 {
                call.is_closed = true;
                return call.reports.clone();
            }
        }
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        let mut call = self.0.call();
        call.is_closed = true;
        call.stops.clear();
    }
}

impl Drop for RunningChild {
    fn drop(&mut self) {
        self.0.running.send_modify(|running| *running = running.saturating_sub(1));
    }
}
