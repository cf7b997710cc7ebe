//! Watches for a terminal that disappears: the agent stops and writes what it has, the front end is informed, and a program
//! that does not react is ended.
//!
//! The signal is not enough: a read from a missing terminal may block forever, and the terminal can disappear before
//! signals are handled.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use offshoot_app::error::{CommandError, Result};
use offshoot_tui::app::msg::Msg;
use rustix::event::{PollFd, PollFlags, poll};
use tokio::sync::oneshot;

use super::ending::EndNotice;

/// The agent's time to write what it has: longer than the wait for a lock.
const AGENT_GRACE: Duration = Duration::from_secs(12);
/// The front end's time to end after the agent. Drafts are on the disk soon after they are written.
const GRACE: Duration = Duration::from_secs(2);
/// The exit code after a hang-up, as in shells.
const ENDED_BY_HANGUP: i32 = 129;

/// Held by the agent's thread: receives a hang-up; dropping it reports the agent's end.
pub(super) struct HangupNotice {
    pub(super) heard: oneshot::Receiver<()>,
    _ended: Sender<()>,
}

pub(super) struct HangupWatch {
    to_agent: oneshot::Sender<()>,
    agent_ended: Receiver<()>,
}

pub(super) fn hangup() -> (HangupWatch, HangupNotice) {
    let ((to_agent, heard), (ended, agent_ended)) = (oneshot::channel(), channel());
    (HangupWatch { to_agent, agent_ended }, HangupNotice { heard, _ended: ended })
}

impl HangupWatch {
    /// Watches the terminal on standard input while the program runs.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn start(self, to: Sender<Msg>, ending: EndNotice) -> Result<()> {
        let thread = std::thread::Builder::new().name("hangup".to_owned());
        let watch = move || {
            if wait().is_ok() {
                // Both may have ended. The agent is stopped here, because the front end may never read the message.
                ending.give();
                drop(to.send(Msg::End));
                let _ = self.to_agent.send(());
                let _ = self.agent_ended.recv_timeout(AGENT_GRACE);
                std::thread::sleep(GRACE);
                end();
            }
        };
        thread.spawn(watch).map(drop).map_err(|error| CommandError::io("watch the terminal", &error))
    }
}

#[expect(clippy::exit, reason = "the main thread reads for ever from a terminal that has gone, and cannot return")]
fn end() {
    std::process::exit(ENDED_BY_HANGUP)
}

fn wait() -> io::Result<()> {
    let terminal = io::stdin();
    loop {
        // No event is requested: a hang-up is always reported.
        let mut watched = [PollFd::new(&terminal, PollFlags::empty())];
        match poll(&mut watched, None) {
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
            Ok(_) => return Ok(()),
        }
    }
}
