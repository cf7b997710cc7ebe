//! Compares files with their stored readings, and reads those that changed. Knows no database.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hasher as _};
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use offshoot_session::children::ChildInfo;
use offshoot_session::clock::Millis;
use offshoot_session::error::{Error, Result};
use offshoot_session::list::{Reading, SessionInfo};
use offshoot_session::medium::{FileMedium, Medium, Stamp, read_exact_at};
use offshoot_session::session::Options;
use offshoot_session::store::FoundFile;

use crate::row::StoredReading;

/// How many bytes at the head and at the end of the read part are compared when a file has grown.
const SAMPLE: u64 = 4096;
/// Reading a file up to this size takes no longer than deciding whether to.
const SMALL: u64 = 4 << 20;

/// A file to open, with its stored reading.
pub(crate) struct Task<'a> {
    pub(crate) at: usize,
    pub(crate) folder: usize,
    pub(crate) found: &'a FoundFile,
    pub(crate) row: Option<StoredReading>,
}

pub(crate) struct ListedFile {
    pub(crate) at: usize,
    pub(crate) folder: usize,
    pub(crate) name: OsString,
    pub(crate) read: Result<ReadFile>,
    pub(crate) memory: Memory,
}

/// What was read of a file, with its last line.
pub(crate) struct ReadFile {
    path: PathBuf,
    modified: Option<Millis>,
    reading: Reading,
}

impl ReadFile {
    pub(crate) fn into_info(self) -> Result<SessionInfo> {
        self.reading.into_info(&self.path, self.modified)
    }

    pub(crate) fn into_child(self) -> Result<ChildInfo> {
        ChildInfo::of_reading(&self.path, self.reading)
    }
}

/// What happens to the stored reading.
pub(crate) enum Memory {
    Stays,
    New(Box<StoredReading>),
    Goes,
}

/// Whether a stored reading describes the whole file as it is now.
pub(crate) fn stands(found: &FoundFile, row: &StoredReading) -> bool {
    row.is_settled && found.stamp == Some(row.stamp) && row.is_whole()
}

/// Opens files on all cores; calls `done` after each.
pub(crate) fn read_all(tasks: &[Task<'_>], now: Millis, done: &mut dyn FnMut(ListedFile)) {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let next = AtomicUsize::new(0);
    let (send, receive) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..cores.min(tasks.len()) {
            let (next, send) = (&next, send.clone());
            scope.spawn(move || {
                let mut buffer = Vec::new();
                while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if send.send(read(task, now, &mut buffer)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(send);
        for looked in receive {
            done(looked);
        }
    });
}

fn read(task: &Task<'_>, now: Millis, buffer: &mut Vec<u8>) -> ListedFile {
    let path = &task.found.path;
    let name = path.file_name().map(OsString::from).unwrap_or_default();
    let (read, memory) = match file(task, now, buffer) {
        Ok((row, whole)) => {
            let reading = whole.unwrap_or_else(|| row.reading.clone());
            let read = ReadFile { path: path.clone(), modified: row.stamp.modified_at(), reading };
            (Ok(read), if task.row.as_ref() == Some(&row) { Memory::Stays } else { Memory::New(Box::new(row)) })
        }
        Err(error) => (Err(error), if task.row.is_some() { Memory::Goes } else { Memory::Stays }),
    };
    ListedFile { at: task.at, folder: task.folder, name, read, memory }
}

/// The new row of a file, and the reading to the end of its last line if no line feed ends that.
fn file(task: &Task<'_>, now: Millis, buffer: &mut Vec<u8>) -> Result<(StoredReading, Option<Reading>)> {
    let path = &task.found.path;
    if let Some(format) = task.found.format {
        let stamp = task.found.stamp.ok_or_else(|| Error::io("look at", path)(io::ErrorKind::NotFound.into()))?;
        let session = (format.open)(path, Options::default())?;
        let reading = Reading::of_session(&session, stamp.length)?;
        return Ok((StoredReading { stamp, is_settled: stamp.is_settled(now), samples: (0, 0), reading }, None));
    }
    let medium = FileMedium::open(path).map_err(Error::io("open", path))?;
    let stamp = medium.stamp().map_err(Error::io("read", path))?;
    let mut reading = match &task.row {
        Some(row) if may_go_on(row, &stamp) && samples(&medium, row.reading.offset).ok() == Some(row.samples) => {
            row.reading.clone()
        }
        _ => Reading::default(),
    };
    let whole = reading.read_further(&medium, stamp.length, buffer)?;
    let samples = samples(&medium, reading.offset).map_err(Error::io("read", path))?;
    Ok((StoredReading { stamp, is_settled: stamp.is_settled(now), samples, reading }, whole))
}

/// Whether the file can only have grown since it was read; its samples then decide. A file that had not settled is read
/// again even with an equal stamp, unless it is big.
fn may_go_on(row: &StoredReading, now: &Stamp) -> bool {
    let is_same_file = (row.stamp.device, row.stamp.inode) == (now.device, now.inode);
    let has_grown = row.stamp.length < now.length;
    let stands = row.stamp == *now && (row.is_settled || now.length > SMALL);
    is_same_file && row.reading.refused.is_none() && (has_grown || stands)
}

fn samples(medium: &dyn Medium, read: u64) -> io::Result<(u64, u64)> {
    let length = read.min(SAMPLE);
    let hash = |offset| {
        let bytes = read_exact_at(medium, offset, usize::try_from(length).unwrap_or_default())?;
        let mut hasher = DefaultHasher::new();
        hasher.write(&bytes);
        io::Result::Ok(hasher.finish())
    };
    Ok((hash(0)?, hash(read - length)?))
}
