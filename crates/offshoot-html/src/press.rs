//! Makes parts of the page on other threads and gives them back in order. Holds a few parts at a time.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;

use crate::Error;
use crate::batch::{Batch, Made, Maker};
use crate::block::{Block, Packer};
use crate::streams::Sink;

/// The most threads: reading keeps few busy.
const MOST_THREADS: usize = 4;
/// Parts that wait for each thread.
const WAITING: usize = 3;
/// Bytes of the session that are in work, unless one part has more.
const MOST_BYTES: u64 = 16 << 20;

enum Job {
    Batch(Batch),
    Block(Block),
}

/// A finished part of the page.
pub(crate) enum Part {
    Batch(Box<Made>),
    Element(Vec<u8>),
}

struct Work {
    job: Job,
    done: SyncSender<Result<Part, Error>>,
}

/// A part that is not written yet.
struct Pending {
    part: Receiver<Result<Part, Error>>,
    bytes: u64,
}

pub(crate) struct Press {
    work: SyncSender<Work>,
    /// The oldest first.
    pending: VecDeque<Pending>,
    most: usize,
    bytes: u64,
}

impl Press {
    /// The threads end when the press is dropped.
    pub(crate) fn new<'scope>(scope: &'scope Scope<'scope, '_>, maker: Maker<'scope>) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        // A part that was made leads to two blocks at most, and they are added at once.
        let most = threads * WAITING;
        let (work, taken) = sync_channel::<Work>(most + 2);
        let taken = Arc::new(Mutex::new(taken));
        for _ in 0..threads {
            let taken = Arc::clone(&taken);
            scope.spawn(move || run(&taken, maker));
        }
        Self { work, pending: VecDeque::new(), most, bytes: 0 }
    }

    /// Whether the next part must be taken before a batch of so many bytes may be added.
    pub(crate) fn is_full(&self, bytes: u64) -> bool {
        self.pending.len() >= self.most || (self.bytes > 0 && self.bytes + bytes > MOST_BYTES)
    }

    pub(crate) fn add_batch(&mut self, batch: Batch) -> io::Result<()> {
        let bytes = batch.bytes;
        self.send(Job::Batch(batch), bytes)
    }

    /// The oldest part.
    pub(crate) fn next(&mut self) -> Option<Result<Part, Error>> {
        let oldest = self.pending.pop_front()?;
        self.bytes -= oldest.bytes;
        Some(oldest.part.recv().unwrap_or_else(|_| Err(stopped().into())))
    }

    fn send(&mut self, job: Job, bytes: u64) -> io::Result<()> {
        let (done, part) = sync_channel(1);
        self.work.send(Work { job, done }).map_err(|_| stopped())?;
        self.pending.push_back(Pending { part, bytes });
        self.bytes += bytes;
        Ok(())
    }
}

impl Sink for Press {
    fn add(&mut self, block: Block) -> io::Result<()> {
        self.send(Job::Block(block), 0)
    }
}

fn run(taken: &Mutex<Receiver<Work>>, maker: Maker<'_>) {
    let mut packer = Packer::new(maker.session.raw_length());
    loop {
        let work = taken.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Work { job, done }) = work else { return };
        let part = match job {
            Job::Batch(batch) => maker.make(&batch, &mut packer).map(|made| Part::Batch(Box::new(made))),
            Job::Block(block) => {
                let mut element = Vec::new();
                packer.element(&block, &mut element).map(|()| Part::Element(element)).map_err(Error::from)
            }
        };
        // If nobody waits for it, the page has failed.
        done.send(part).ok();
    }
}

fn stopped() -> io::Error {
    io::Error::other("a thread that makes the page has stopped")
}
