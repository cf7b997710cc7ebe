//! Brings the index up to date: which files are new, grown or gone, and one transaction after another with what they say.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;

use offshoot_session::clock::Millis;
use offshoot_session::error::{Diagnostic, Result};
use offshoot_session::medium::Stamp;
use offshoot_session::store::{FoundFile, unreadable};
use rusqlite::{Connection, Row, TransactionBehavior};

use super::database::{Database, Sqlite};
use super::prepared::{KnownEnd, Prepared, PreparedDocument, SessionHead, ToPrepare, prepare};
use super::writing::IndexWriter;
use crate::filtering::agent_word;
use crate::scan::SearchedPlace;

/// What came of a refresh.
#[derive(Debug, Clone, Default)]
pub struct Refreshed {
    /// Whether every session that can be read is in the index.
    pub is_whole: bool,
    /// How many sessions there are.
    pub sessions: usize,
    /// How many were read.
    pub read: usize,
    /// What could not be read.
    pub diagnostics: Vec<Diagnostic>,
}

/// After so many bytes of prepared rows, what was read is kept.
const BATCH: usize = 48 << 20;
/// How many pieces of sessions wait for the writer.
const WAITING: usize = 4;

/// What the index has of a file.
struct KnownSource {
    id: i64,
    stamp: Option<Stamp>,
    is_settled: bool,
    end: KnownEnd,
}

pub(super) fn refresh(file: &Path, place: SearchedPlace<'_>, now: Millis) -> Result<Refreshed> {
    let (folders, unread) = place.store.folders(None)?;
    let mut files: Vec<FoundFile> = folders.into_iter().flat_map(|folder| folder.files).collect();
    files.sort_by_key(|found| std::cmp::Reverse(found.stamp.map(|stamp| stamp.modified)));
    let mut refreshed = Refreshed { sessions: files.len(), ..Refreshed::default() };
    refreshed.diagnostics = unread.iter().map(unreadable).collect();
    let Some(mut database) = Database::open(file) else { return Ok(refreshed) };
    let mut known = match known_sources(&database.connection) {
        Ok(known) => known,
        Err(error) => {
            database.done(file, Sqlite::<()>::Err(error));
            return Ok(refreshed);
        }
    };
    let mut tasks = Vec::new();
    for found in &files {
        let source = known.remove(found.path.as_os_str());
        let stands = source.as_ref().is_some_and(|source| source.is_settled && source.stamp == found.stamp);
        if !stands {
            let is_settled = found.stamp.is_some_and(|stamp| stamp.is_settled(now));
            let agent = agent_word(place.store.root_of(&found.path).map(|root| root.flavour));
            let same = source.filter(|source| is_same_file(source.stamp, found.stamp));
            let known = same.map(|source| source.end);
            tasks.push(ToPrepare { path: &found.path, agent, stamp: found.stamp, is_settled, known });
        }
    }
    let gone = known.into_iter().filter(|(path, _)| matches!(Path::new(path).try_exists(), Ok(false)));
    let gone: Vec<i64> = gone.map(|(_, source)| source.id).collect();
    let done = forget(&mut database, &gone).and_then(|()| read(&mut database, place, &tasks, &mut refreshed));
    refreshed.is_whole = database.done(file, done).is_some();
    Ok(refreshed)
}

fn is_same_file(one: Option<Stamp>, other: Option<Stamp>) -> bool {
    let identity = |stamp: Stamp| (stamp.device, stamp.inode);
    let has_grown = one.zip(other).is_some_and(|(one, other)| one.length <= other.length);
    one.map(identity) == other.map(identity) && has_grown
}

fn known_sources(connection: &Connection) -> Sqlite<HashMap<std::ffi::OsString, KnownSource>> {
    let mut query = connection.prepare(
        "SELECT id, path, device, inode, length, modified, changed, settled, entries, last, last_offset FROM source",
    )?;
    let rows = query
        .query_map([], |row| Ok((OsStr::from_bytes(&row.get::<_, Vec<u8>>(1)?).to_owned(), known_source(row)?)))?;
    rows.collect()
}

fn known_source(row: &Row<'_>) -> Sqlite<KnownSource> {
    let device: Option<i64> = row.get(2)?;
    let number = |at: usize| row.get::<_, Option<i64>>(at).map(Option::unwrap_or_default);
    let stamp = Stamp {
        device: device.unwrap_or_default().cast_unsigned(),
        inode: number(3)?.cast_unsigned(),
        length: number(4)?.cast_unsigned(),
        modified: number(5)?,
        changed: number(6)?,
    };
    Ok(KnownSource {
        id: row.get(0)?,
        stamp: device.map(|_| stamp),
        is_settled: row.get(7)?,
        end: KnownEnd {
            entries: usize::try_from(number(8)?).unwrap_or_default(),
            last: row.get(9)?,
            last_offset: number(10)?.cast_unsigned(),
        },
    })
}

/// Removes sessions that are gone.
fn forget(database: &mut Database, gone: &[i64]) -> Sqlite<()> {
    if gone.is_empty() {
        return Ok(());
    }
    let transaction = database.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut writer = IndexWriter::new(&transaction)?;
    for id in gone {
        writer.forget(*id)?;
    }
    drop(writer);
    transaction.commit()
}

/// Prepares the sessions on all cores and writes them here, in their order or nearly so.
fn read(
    database: &mut Database,
    place: SearchedPlace<'_>,
    tasks: &[ToPrepare<'_>],
    refreshed: &mut Refreshed,
) -> Sqlite<()> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(tasks.len());
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
                    let Some(task) = tasks.get(number) else { return };
                    let mut tell = |prepared| send.send((number, Ok(prepared))).is_ok();
                    let done =
                        (place.open)(task.path).and_then(|session| prepare(&session, task, place.mask, &mut tell));
                    if let Err(error) = done
                        && send.send((number, Err(error))).is_err()
                    {
                        return;
                    }
                }
            });
        }
        drop(send);
        let mut writing = Writing { place, all: tasks.len(), open: HashMap::new(), refreshed };
        let mut waiting = receive.into_iter();
        while !writing.batch(database, &mut waiting)? {}
        Ok(())
    })
}

/// A piece of a session, or why it cannot be read, with its number.
type Piece = (usize, Result<Prepared>);

/// The sessions that are being written.
struct Writing<'a> {
    place: SearchedPlace<'a>,
    all: usize,
    open: HashMap<usize, (i64, Box<SessionHead>)>,
    refreshed: &'a mut Refreshed,
}

impl Writing<'_> {
    /// Writes pieces in one transaction, and returns whether they were the last ones.
    fn batch(&mut self, database: &mut Database, waiting: &mut dyn Iterator<Item = Piece>) -> Sqlite<bool> {
        let transaction = database.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut writer = IndexWriter::new(&transaction)?;
        let (mut weight, mut is_end) = (0, true);
        for (number, piece) in waiting {
            weight += self.write(&mut writer, number, piece)?;
            if weight > BATCH {
                is_end = false;
                break;
            }
        }
        drop(writer);
        transaction.commit()?;
        Ok(is_end)
    }

    /// Writes a piece, and returns about how many bytes it has.
    fn write(&mut self, writer: &mut IndexWriter<'_>, number: usize, piece: Result<Prepared>) -> Sqlite<usize> {
        match piece {
            Ok(Prepared::Begin(head)) => {
                let source = writer.begin(&head)?;
                self.open.insert(number, (source, head));
            }
            Ok(Prepared::Documents(documents)) => {
                if let Some((source, _)) = self.open.get(&number) {
                    writer.add(*source, &documents)?;
                }
                return Ok(documents.iter().map(PreparedDocument::weight).sum());
            }
            Ok(Prepared::End(left_out)) => {
                if let Some((source, head)) = self.open.remove(&number) {
                    writer.end(source, &head, left_out)?;
                }
                self.count();
            }
            Err(error) => {
                self.open.remove(&number);
                self.refreshed.diagnostics.push(unreadable(&error));
                self.count();
            }
        }
        Ok(0)
    }

    fn count(&mut self) {
        self.refreshed.read += 1;
        (self.place.progress)(self.refreshed.read, self.all);
    }
}
