//! Compresses blocks on other threads and writes them in the order in which they came. Holds a few blocks at a time.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;

use crate::block::Block;

/// The most threads: reading keeps few busy.
const MOST_THREADS: usize = 4;
/// Blocks that wait for each thread.
const WAITING: usize = 3;

type Element = io::Result<Vec<u8>>;

struct Job {
    block: Block,
    done: SyncSender<Element>,
}

/// Writes blocks as elements of the page.
pub(crate) struct Press<'a> {
    out: &'a mut dyn Write,
    jobs: SyncSender<Job>,
    /// One for each block that is not written yet, the oldest first.
    pending: VecDeque<Receiver<Element>>,
    most: usize,
}

impl<'a> Press<'a> {
    /// The threads end when the press is dropped.
    pub(crate) fn new<'scope>(scope: &'scope Scope<'scope, '_>, out: &'a mut dyn Write) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        let most = threads * WAITING;
        let (jobs, taken) = sync_channel::<Job>(most);
        let taken = Arc::new(Mutex::new(taken));
        for _ in 0..threads {
            let taken = Arc::clone(&taken);
            scope.spawn(move || work(&taken));
        }
        Self { out, jobs, pending: VecDeque::new(), most }
    }

    pub(crate) fn add(&mut self, block: Block) -> io::Result<()> {
        while self.pending.len() >= self.most {
            self.write_oldest()?;
        }
        let (done, result) = sync_channel(1);
        self.jobs.send(Job { block, done }).map_err(|_| stopped())?;
        self.pending.push_back(result);
        Ok(())
    }

    /// Writes all blocks.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        while !self.pending.is_empty() {
            self.write_oldest()?;
        }
        Ok(())
    }

    fn write_oldest(&mut self) -> io::Result<()> {
        let Some(oldest) = self.pending.pop_front() else { return Ok(()) };
        let element = oldest.recv().map_err(|_| stopped())??;
        self.out.write_all(&element)
    }
}

fn work(taken: &Mutex<Receiver<Job>>) {
    loop {
        let job = taken.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { block, done }) = job else { return };
        // If nobody waits for it, the page has failed.
        done.send(block.element()).ok();
    }
}

fn stopped() -> io::Error {
    io::Error::other("a thread that compresses the page has stopped")
}
