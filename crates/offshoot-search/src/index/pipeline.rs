//! Prepares sessions on all cores and writes them here, one transaction after another.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

use offshoot_session::error::Result;
use rusqlite::TransactionBehavior;

use super::blocks::BlockMaker;
use super::database::{Database, Sqlite};
use super::prepared::{Prepared, SessionHead};
use super::writing::IndexWriter;

/// After so many bytes of prepared rows, what was read is kept: first soon, then twice as much each time, up to the second.
const FIRST_BATCH: usize = 1 << 20;
const LARGEST_BATCH: usize = 12 << 20;
/// Pieces of sessions go to the writer in parcels of about so many bytes: most sessions are smaller.
const PARCEL: usize = 1 << 20;
/// How many parcels wait for the writer: as much as is prepared while it writes what it has gathered.
const WAITING: usize = 8;

/// Called for each session once it is written or cannot be read.
pub(super) type WhenDone<'a> = &'a mut dyn FnMut(usize, Result<()>);

/// Prepares the session with this number and passes its pieces to the function, until that returns false.
pub(super) type Prepare<'a> =
    &'a (dyn Fn(usize, &mut BlockMaker, &mut dyn FnMut(Prepared) -> bool) -> Result<()> + Sync);

/// Prepares and writes `count` sessions until `is_over`, roughly in their order. Pieces that are prepared by then are written.
pub(super) fn write_all(
    database: &mut Database,
    count: usize,
    prepare: Prepare<'_>,
    is_over: &(dyn Fn() -> bool + Sync),
    done: WhenDone<'_>,
) -> Sqlite<()> {
    // One core is the writer's, which has more to do than a reader.
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let readers = cores.saturating_sub(1).max(1).min(count);
    let next = AtomicUsize::new(0);
    let (send, receive) = sync_channel(WAITING);
    std::thread::scope(|scope| {
        // Dropped with this scope, so that a writer that gives up stops the readers.
        let receive = receive;
        for _ in 0..readers {
            let (next, send) = (&next, send.clone());
            scope.spawn(move || {
                let mut parcel = Parcel { pieces: Vec::new(), weight: 0, send };
                let (mut maker, mut is_wanted) = (BlockMaker::new(), true);
                while is_wanted && !is_over() {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    let mut tell = |prepared| !is_over() && parcel.put(number, Ok(prepared));
                    if let Err(error) = prepare(number, &mut maker, &mut tell) {
                        is_wanted = parcel.put(number, Err(error));
                    }
                }
                parcel.send();
            });
        }
        drop(send);
        let mut writing = Writing { open: HashMap::new(), batch: FIRST_BATCH, done };
        let mut waiting = receive.into_iter().flatten();
        while !writing.batch(database, &mut waiting)? {}
        Ok(())
    })
}

/// A piece of a session, or why it cannot be read, with its number.
type Piece = (usize, Result<Prepared>);

/// Pieces that go to the writer together.
struct Parcel {
    pieces: Vec<Piece>,
    weight: usize,
    send: SyncSender<Vec<Piece>>,
}

impl Parcel {
    /// Returns whether the writer still takes pieces.
    fn put(&mut self, number: usize, piece: Result<Prepared>) -> bool {
        self.weight += piece.as_ref().map_or(0, Prepared::weight);
        self.pieces.push((number, piece));
        self.weight < PARCEL || self.send()
    }

    fn send(&mut self) -> bool {
        self.weight = 0;
        self.send.send(std::mem::take(&mut self.pieces)).is_ok()
    }
}

/// The sessions that are being written.
struct Writing<'a> {
    /// Of each its row; nothing of one that another process has written meanwhile.
    open: HashMap<usize, (Option<i64>, Option<Box<SessionHead>>)>,
    /// How many bytes are written in one transaction.
    batch: usize,
    done: WhenDone<'a>,
}

impl Writing<'_> {
    /// Writes pieces in one transaction, and returns whether they were the last ones.
    fn batch(&mut self, database: &mut Database, waiting: &mut dyn Iterator<Item = Piece>) -> Sqlite<bool> {
        // Without a piece nothing is locked.
        let Some((number, piece)) = waiting.next() else { return Ok(true) };
        let transaction = database.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut writer = IndexWriter::new(&transaction)?;
        let (mut weight, mut ended, mut is_end) = (0, Vec::new(), true);
        for (number, piece) in std::iter::once((number, piece)).chain(waiting) {
            weight += piece.as_ref().map_or(0, Prepared::weight);
            self.write(&mut writer, number, piece, &mut ended)?;
            if weight > self.batch {
                is_end = false;
                break;
            }
        }
        writer.write_waiting()?;
        drop(writer);
        transaction.commit()?;
        self.batch = self.batch.saturating_mul(2).min(LARGEST_BATCH);
        for (number, result) in ended {
            (self.done)(number, result);
        }
        Ok(is_end)
    }

    fn write(
        &mut self,
        writer: &mut IndexWriter<'_>,
        number: usize,
        piece: Result<Prepared>,
        ended: &mut Vec<(usize, Result<()>)>,
    ) -> Sqlite<()> {
        let source = self.open.get(&number).and_then(|(source, _)| *source);
        match piece {
            Ok(Prepared::Begin(head)) => {
                let source = writer.begin(&head)?;
                self.open.insert(number, (source, Some(head)));
            }
            Ok(Prepared::BeginBlocks { source, from }) => {
                writer.begin_blocks(source, from)?;
                self.open.insert(number, (Some(source), None));
            }
            Ok(Prepared::Documents(documents)) => {
                if let Some(source) = source {
                    writer.add(source, documents)?;
                }
            }
            Ok(Prepared::Blocks(blocks)) => {
                if let Some(source) = source {
                    writer.add_blocks(source, blocks)?;
                }
            }
            Ok(Prepared::End(left_out)) => {
                if let Some((Some(source), Some(head))) = self.open.remove(&number) {
                    writer.end(source, &head, left_out)?;
                }
                ended.push((number, Ok(())));
            }
            Ok(Prepared::EndBlocks { source, entries }) => {
                self.open.remove(&number);
                writer.end_blocks(source, entries)?;
                ended.push((number, Ok(())));
            }
            Err(error) => {
                self.open.remove(&number);
                ended.push((number, Err(error)));
            }
        }
        Ok(())
    }
}
