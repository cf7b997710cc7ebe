//! The input as lines, and whether there is more of it without waiting for it.

use std::io::{self, BufRead, BufReader, Read};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Requests as they come.
pub(super) struct ApiInput<R> {
    reader: BufReader<R>,
}

impl<R: Read + AsFd> ApiInput<R> {
    pub(super) fn new(input: R) -> Self {
        Self { reader: BufReader::new(input) }
    }

    pub(super) fn lines(&mut self) -> &mut impl BufRead {
        &mut self.reader
    }

    /// Whether something has come, or the input has ended, within a while.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn has_more(&self, wait: Duration) -> io::Result<bool> {
        if !self.reader.buffer().is_empty() {
            return Ok(true);
        }
        let mut watched = [PollFd::new(self.reader.get_ref(), PollFlags::IN)];
        let wait = Timespec { tv_sec: wait.as_secs().cast_signed(), tv_nsec: i64::from(wait.subsec_nanos()) };
        match poll(&mut watched, Some(&wait)) {
            Ok(count) => Ok(count > 0),
            Err(error) if error == rustix::io::Errno::INTR => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
