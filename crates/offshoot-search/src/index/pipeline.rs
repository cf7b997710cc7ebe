//! Prepares sessions on all cores and writes them here, one transaction after another.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;

use offshoot_session::error::Result;
use rusqlite::TransactionBehavior;

use super::database::{Database, Sqlite};
use super::prepared::{Prepared, PreparedDocument, SessionHead};
use super::writing::IndexWriter;

/// After so many bytes of prepared rows, what was read is kept: first soon, then twice as much each time, up to the second.
const FIRST_BATCH: usize = 1 << 20;
const LARGEST_BATCH: usize = 16 << 20;
/// How many pieces of sessions wait for the writer.
const WAITING: usize = 4;

/// Called for each session once it is written or cannot be read.
pub(super) type WhenDone<'a> = &'a mut dyn FnMut(usize, Result<()>);

/// Prepares the session with this number and passes its pieces to the function, until that returns false.
pub(super) type Prepare<'a> = &'a (dyn Fn(usize, &mut dyn FnMut(Prepared) -> bool) -> Result<()> + Sync);

/// Prepares and writes `count` sessions until `is_over`, roughly in their order. Pieces that are prepared by then are written.
pub(super) fn write_all(
    database: &mut Database,
    count: usize,
    prepare: Prepare<'_>,
    is_over: &(dyn Fn() -> bool + Sync),
    done: WhenDone<'_>,
) -> Sqlite<()> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(count);
    let next = AtomicUsize::new(0);
    let (send, receive) = sync_channel(WAITING);
    std::thread::scope(|scope| {
        // Dropped with this scope, so that a writer that gives up stops the readers.
        let receive = receive;
        for _ in 0..cores {
            let (next, send) = (&next, send.clone());
            scope.spawn(move || {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count || is_over() {
                        return;
                    }
                    let mut tell = |prepared| !is_over() && send.send((number, Ok(prepared))).is_ok();
                    if let Err(error) = prepare(number, &mut tell)
                        && send.send((number, Err(error))).is_err()
                    {
                        return;
                    }
                }
            });
        }
        drop(send);
        let mut writing = Writing { open: HashMap::new(), batch: FIRST_BATCH, done };
        let mut waiting = receive.into_iter();
        while !writing.batch(database, &mut waiting)? {}
        Ok(())
    })
}

/// A piece of a session, or why it cannot be read, with its number.
type Piece = (usize, Result<Prepared>);

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
            weight += self.write(&mut writer, number, piece, &mut ended)?;
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

    /// Writes a piece, and returns about how many bytes it has.
    fn write(
        &mut self,
        writer: &mut IndexWriter<'_>,
        number: usize,
        piece: Result<Prepared>,
        ended: &mut Vec<(usize, Result<()>)>,
    ) -> Sqlite<usize> {
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
                let weight = documents.iter().map(PreparedDocument::weight).sum();
                if let Some(source) = source {
                    writer.add(source, documents)?;
                }
                return Ok(weight);
            }
            Ok(Prepared::Blocks(blocks)) => {
                let weight = blocks.iter().map(|block| block.trigrams.len()).sum();
                if let Some(source) = source {
                    writer.add_blocks(source, blocks)?;
                }
                return Ok(weight);
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
        Ok(0)
    }
}
