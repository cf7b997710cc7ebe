//! Copies of sessions as sessions: one whose source is gone is read from its copy, under the path of the copy's manifest. Never writes.

pub(crate) mod manifest;

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use offshoot_session::medium::{Stamp, open_regular};
use sha2::{Digest as _, Sha256};

use crate::agent::Agent;
use crate::below::below;
use crate::cursor::text;
use crate::foreign_medium::ForeignMedium;
use crate::key::{clean, hex_hash};
use crate::old_json;
use crate::record::on_one_line;
use manifest::{Segment, read_manifest};

/// The file in the folder of a copy that lists its segments.
pub(crate) const MANIFEST: &str = "manifest.jsonl";
/// Whatever goes with a session has its copies in this folder of the session's.
pub(crate) const WITH_IT: &str = "with-it";
/// A longer copy is not read as a session.
const LARGEST: u64 = 512 << 20;
const STEP: usize = 1 << 20;

/// A copy of a session.
pub(crate) struct KeptSource {
    pub(crate) agent: Agent,
    /// Where the session was.
    pub(crate) source: PathBuf,
    segments: Vec<Segment>,
}

impl KeptSource {
    /// The copy with this manifest; `None` if the path is another one.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        path.file_name().filter(|name| *name == MANIFEST)?;
        let of = path.parent()?.parent()?;
        // What goes with a session lies in the session's copy.
        let of = if of.file_name().is_some_and(|name| name == WITH_IT) { of.parent()?.parent()? } else { of };
        let agent = Agent::from_word(of.file_name()?.to_str()?)?;
        let segments = read_manifest(path).ok()?;
        let source = segments.last()?.source.clone();
        Some(Self { agent, source, segments })
    }

    /// Its records.
    ///
    /// # Errors
    /// A segment is missing or damaged, or the copy is too large.
    pub(crate) fn medium(&self, path: &Path) -> io::Result<ForeignMedium> {
        let stamp = Stamp::of(&std::fs::symlink_metadata(path)?);
        let generation = self.segments.last().map_or(0, |last| last.generation);
        let mut bytes = Vec::new();
        read_segments(path.parent().unwrap_or(path), &self.segments, generation, &mut |piece| {
            if bytes.len() as u64 + piece.len() as u64 > LARGEST {
                let why = format!("the copy is larger than {} MiB", LARGEST >> 20);
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
            }
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
        let bytes = match self.agent {
            Agent::Cursor if text::is_text(&self.source) => {
                text::records(&String::from_utf8_lossy(&bytes)).into_bytes()
            }
            Agent::Gemini if old_json::is_old(self.agent, &self.source) => {
                (on_one_line(&String::from_utf8_lossy(&bytes)) + "\n").into_bytes()
            }
            _ => bytes,
        };
        Ok(ForeignMedium::of_bytes(path, stamp, bytes))
    }
}

/// Where a session is or was, as a copy of it says: its path, or that of the source of a copy.
#[must_use]
pub fn source_of(path: &Path) -> PathBuf {
    KeptSource::at(path).map_or_else(|| path.to_path_buf(), |kept| kept.source)
}

/// Whether the source of a copy has been deleted.
pub(crate) fn is_source_gone(source: &Path) -> bool {
    let is_part = |extension: &std::ffi::OsStr| extension == "db" || extension == "md";
    let file = source.parent().filter(|store| store.extension().is_some_and(is_part)).unwrap_or(source);
    std::fs::symlink_metadata(file).is_err()
}

/// The copy of a file that goes with a session.
#[derive(Debug)]
pub(crate) struct CopiedFile {
    /// Where the file was. A manifest may name any file.
    pub(crate) source: PathBuf,
    /// The manifest of its copy.
    pub(crate) manifest: PathBuf,
}

/// The files that went with a session, in the session's copy.
pub(crate) fn files_with_copy(session: &Path) -> Vec<CopiedFile> {
    let copies = below(&session.join(WITH_IT), std::fs::FileType::is_dir).into_iter();
    let file = |copy: PathBuf| {
        let manifest = copy.join(MANIFEST);
        let source = read_manifest(&manifest).ok()?.pop()?.source;
        Some(CopiedFile { source, manifest })
    };
    copies.filter_map(file).collect()
}

/// The folder of the copy of a file that goes with a session, in the session's copy.
pub(crate) fn copy_of(session: &Path, file: &Path) -> PathBuf {
    let folder = file.parent().map(|folder| folder.as_os_str().as_encoded_bytes()).unwrap_or_default();
    let name = file.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    session.join(WITH_IT).join(format!("{}-{}", clean(&name), hex_hash(&[folder], 8)))
}

/// The newest bytes of a file that goes with a session, from the session's copy.
///
/// # Errors
/// The copy is missing, has more than `largest` bytes, or is damaged.
pub(crate) fn copy_with(session: &Path, file: &Path, largest: u64) -> io::Result<Vec<u8>> {
    let copy = copy_of(session, file);
    let known = read_manifest(&copy.join(MANIFEST))?;
    let last = known.last().ok_or(io::ErrorKind::NotFound)?;
    let mut bytes = Vec::new();
    read_segments(&copy, &known, last.generation, &mut |piece| {
        bytes.extend_from_slice(piece);
        if bytes.len() as u64 > largest { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(()) }
    })?;
    Ok(bytes)
}

/// Passes the segments of a generation on, each held against its hash.
///
/// # Errors
/// One is missing or damaged; those of `take`.
pub(crate) fn read_segments(
    folder: &Path,
    segments: &[Segment],
    generation: u32,
    take: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut at = 0;
    for segment in segments.iter().filter(|segment| segment.generation == generation) {
        if segment.offset != at {
            return Err(damaged("a segment is missing"));
        }
        let file = open_regular(&folder.join(segment_name(segment.generation, segment.offset)))?;
        let (mut unpacked, mut hash, mut left) = (zstd::Decoder::new(file)?, Sha256::new(), segment.length);
        let mut buffer = vec![0; STEP];
        loop {
            let count = unpacked.read(&mut buffer)?;
            let bytes = buffer.get(..count).unwrap_or_default();
            if bytes.is_empty() {
                break;
            }
            left = left.checked_sub(count as u64).ok_or_else(|| damaged("a segment is too long"))?;
            hash.update(bytes);
            take(bytes)?;
        }
        if left > 0 || hex(hash) != segment.sha256 {
            return Err(damaged("a segment is not what was copied"));
        }
        at += segment.length;
    }
    Ok(())
}

pub(crate) fn segment_name(generation: u32, offset: u64) -> String {
    format!("seg-{generation}-{offset}.zst")
}

pub(crate) fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn damaged(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
