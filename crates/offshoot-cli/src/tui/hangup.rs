//! A terminal that goes away: the front end is told, and a program that cannot hear it ends all the same.
//!
//! The signal is not enough: who reads from a terminal that has gone may read for ever, and a terminal can go before
//! anybody listens to signals.

use std::io;
use std::sync::mpsc::Sender;
use std::time::Duration;

use offshoot_tui::app::msg::Msg;
use rustix::event::{PollFd, PollFlags, poll};

use crate::error::{CommandError, Result};

/// How long the front end has to end. Entries are on the disk as soon as they are shown, and drafts soon after.
const GRACE: Duration = Duration::from_secs(2);
/// As shells tell that a hang-up ended a program.
const ENDED_BY_HANGUP: i32 = 129;

/// Watches the terminal on standard input as long as the program runs.
///
/// # Errors
/// There can be no thread for it.
pub(super) fn watch(to: Sender<Msg>) -> Result<()> {
    let thread = std::thread::Builder::new().name("hangup".to_owned());
    let watch = move || {
        if wait().is_ok() {
            // A front end that has ended needs no news.
            drop(to.send(Msg::End));
            std::thread::sleep(GRACE);
            end();
        }
    };
    thread.spawn(watch).map(drop).map_err(|error| CommandError::io("watch the terminal", &error))
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
