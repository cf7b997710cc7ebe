//! The terminal's bytes, decoded. Waits for them, and asks the terminal where its cursor is. One caller reads at a time.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IsTerminal as _, PipeReader};
use std::os::fd::{AsFd as _, OwnedFd};

use ratatui::layout::Position;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::decoder::{Decoded, Decoder};

/// How long the terminal may take to answer, in milliseconds.
const ANSWER_PATIENCE: u64 = 2000;
const STEP: u64 = 100;
/// A terminal that sends so many pieces has no answer among them.
const PIECES: usize = 1000;

#[derive(Debug)]
pub(super) struct Source {
    terminal: OwnedFd,
    /// Something comes in if the wait has to end early.
    woken: PipeReader,
    decoder: Decoder,
    ready: VecDeque<Decoded>,
}

impl Source {
    /// Reads standard input if it is a terminal, else the terminal of the session.
    pub(super) fn open(woken: PipeReader) -> io::Result<Self> {
        let input = io::stdin();
        let terminal = match input.is_terminal() {
            true => input.as_fd().try_clone_to_owned()?,
            false => File::open("/dev/tty")?.into(),
        };
        Ok(Self { terminal, woken, decoder: Decoder::default(), ready: VecDeque::new() })
    }

    /// Waits at most so many milliseconds for something to come, and takes all that is whole.
    pub(super) fn next(&mut self, milliseconds: u64) -> io::Result<Vec<Decoded>> {
        if self.ready.is_empty() {
            self.read(milliseconds)?;
        }
        Ok(self.take_ready())
    }

    /// What has come by now. Does not wait.
    pub(super) fn take_ready(&mut self) -> Vec<Decoded> {
        self.ready.drain(..).collect()
    }

    /// Nobody has read for a while: what comes before the next answer about the cursor was typed meanwhile.
    pub(super) fn expect_typed_ahead(&mut self) {
        self.decoder.expect_typed_ahead();
    }

    /// Where the cursor is, after `ask` has asked. `None` if the terminal does not answer. What else comes is kept.
    pub(super) fn cursor(&mut self, ask: impl FnOnce() -> io::Result<()>) -> io::Result<Option<Position>> {
        self.decoder.await_cursor(true);
        ask()?;
        let found = self.await_cursor();
        self.decoder.await_cursor(false);
        found
    }

    fn await_cursor(&mut self) -> io::Result<Option<Position>> {
        let mut left = ANSWER_PATIENCE;
        for _ in 0..PIECES {
            let step = left.min(self.decoder.patience(STEP));
            if !self.read(step)? {
                left -= step;
            }
            let found = self.ready.iter().position(|decoded| matches!(decoded, Decoded::Cursor(_)));
            if let Some(Decoded::Cursor(position)) = found.and_then(|at| self.ready.remove(at)) {
                return Ok(Some(position));
            }
            if left == 0 {
                break;
            }
        }
        Ok(None)
    }

    /// Answers whether something came.
    fn read(&mut self, milliseconds: u64) -> io::Result<bool> {
        let wait = self.decoder.patience(milliseconds);
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::try_from(wait.min(999) * 1_000_000).unwrap_or(0) };
        let mut watched = [PollFd::new(&self.terminal, PollFlags::IN), PollFd::new(&self.woken, PollFlags::IN)];
        match poll(&mut watched, Some(&timeout)) {
            Ok(0) => {
                self.ready.extend(self.decoder.rest(wait));
                return Ok(false);
            }
            Err(Errno::INTR) => return Ok(true),
            Err(error) => return Err(error.into()),
            Ok(_) => {}
        }
        let [has_come, is_woken] = [0, 1].map(|at| watched.get(at).is_some_and(|one| !one.revents().is_empty()));
        let mut bytes = [0; 4096];
        if is_woken {
            rustix::io::read(&self.woken, &mut bytes)?;
        }
        if has_come {
            match rustix::io::read(&self.terminal, &mut bytes) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.ready.extend(self.decoder.take(bytes.get(..count).unwrap_or_default())),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }
}
