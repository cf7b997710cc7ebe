//! A terminal that goes away: the agent stops and writes what was under way, the front end is told, and a program that cannot
//! hear it ends all the same.
//!
//! The signal is not enough: who reads from a terminal that has gone may read for ever, and a terminal can go before
//! anybody listens to signals.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use offshoot_tui::app::msg::Msg;
use rustix::event::{PollFd, PollFlags, poll};
use tokio::sync::oneshot;

use crate::error::{CommandError, Result};

/// How long the agent has to write what was under way: longer than a lock is waited for.
const AGENT_GRACE: Duration = Duration::from_secs(12);
/// How long the front end has to end after the agent. Drafts are on the disk soon after they are written.
const GRACE: Duration = Duration::from_secs(2);
/// As shells tell that a hang-up ended a program.
const ENDED_BY_HANGUP: i32 = 129;

/// What the agent's thread holds: it hears of a hang-up, and has ended when this is dropped.
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
    /// Watches the terminal on standard input as long as the program runs.
    ///
    /// # Errors
    /// There can be no thread for it.
    pub(super) fn start(self, to: Sender<Msg>) -> Result<()> {
        let thread = std::thread::Builder::new().name("hangup".to_owned());
        let watch = move || {
            if wait().is_ok() {
                // Who has ended needs no news. The agent is told here: the front end may never read it.
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

/// Returns when the terminal has gone.
fn wait() -> io::Result<()> {
    let terminal = io::stdin();
    loop {
        // Nothing is asked for: that it has gone is told in any case.
        let mut watched = [PollFd::new(&terminal, PollFlags::empty())];
        match poll(&mut watched, None) {
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
            Ok(_) => return Ok(()),
        }
    }
}
