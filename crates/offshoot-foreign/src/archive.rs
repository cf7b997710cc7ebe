//! Copies of other agents' sessions that outlive them, in a folder of the user's data: what a source has more is a compressed segment of
//! its own. A session that somebody forgot is never copied again. Only [`Archive::restore`] writes elsewhere.

use std::fs::{self, DirBuilder};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _};
use std::path::{Path, PathBuf};

use offshoot_session::clock::Millis;
use offshoot_session::json::{Json, Object, quote};
use offshoot_session::medium::{
    Medium as _, Stamp, append_or_create_regular, create_regular, open_regular, read_exact_at, read_regular_text,
    sync_folder,
};
use sha2::{Digest as _, Sha256};

use crate::agent::Agent;
use crate::foreign_medium::ForeignMedium;
use crate::kept_copy::manifest::{Segment, read_manifest};
use crate::kept_copy::{
    CopiedFile, MANIFEST, copy_of, files_with_copy, hex, is_source_gone, read_segments, segment_name,
};
use crate::key::{clean, hex_hash};
use crate::old_json;
use crate::rows;
use crate::side_files::{files_with, goes_with};
use crate::sources::medium_of;

/// Which agents' sessions are copied.
const SETTINGS: &str = "keep.json";
const FORGOTTEN: &str = "forgotten.jsonl";
/// Somebody was asked whether sessions are copied.
const ASKED: &str = "asked";
/// When a command copied last.
const LAST_RUN: &str = "last-run";
/// Whoever copies has it locked.
const LOCK: &str = "lock";
const HOUR: Millis = 60 * 60 * 1000;
/// Longer lists of ours are not read.
const LARGEST_LIST: u64 = 64 << 20;
/// How much before the end of a copy tells whether the source still begins with it.
const TAIL: u64 = 4 << 10;
const STEP: usize = 1 << 20;

/// The folder of all copies.
#[derive(Debug, Clone)]
pub struct Archive {
    folder: PathBuf,
}

/// A session that has been copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedSession {
    /// Whose it is.
    pub agent: Agent,
    /// Its name in the archive.
    pub name: String,
    /// Where it was.
    pub source: PathBuf,
    /// The bytes of the newest copy.
    pub bytes: u64,
    /// When it was last copied.
    pub at: Millis,
    generation: u32,
}

impl ArchivedSession {
    /// Whether its source has been deleted.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        is_source_gone(&self.source)
    }
}

/// What a copy came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptCopy {
    /// The copy has everything.
    Nothing,
    /// So many bytes are new.
    Bytes(u64),
    /// Somebody forgot it.
    Forgotten,
}

impl Archive {
    /// That of a folder, which need not exist.
    #[must_use]
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The agents whose sessions are copied; `None` if nobody has said so.
    #[must_use]
    pub fn agents(&self) -> Option<Vec<Agent>> {
        let words = self.setting("agents")?;
        Some(words.iter().filter_map(|word| Agent::from_word(word)).collect())
    }

    /// Globs of the folders whose sessions are not copied.
    #[must_use]
    pub fn excluded(&self) -> Vec<String> {
        self.setting("exclude").unwrap_or_default()
    }

    /// From now on these agents' sessions are copied, but for those of folders that fit these globs. Of no agents nothing is.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn set(&self, agents: &[Agent], excluded: &[String]) -> io::Result<()> {
        self.make_folder(&self.folder)?;
        let list = |words: Vec<String>| format!("[{}]", words.join(","));
        let agents = list(agents.iter().map(|agent| quote(agent.word())).collect());
        let excluded = list(excluded.iter().map(|glob| quote(glob)).collect());
        let text = Object::new().raw("v", 1).raw("agents", agents).raw("exclude", excluded).finish();
        self.replace_file(SETTINGS, &text)
    }

    fn setting(&self, name: &str) -> Option<Vec<String>> {
        let text = read_regular_text(&self.folder.join(SETTINGS), LARGEST_LIST).ok()?;
        let words = Json::parse(&text).ok()?.get(name)?.items().filter_map(|word| Some(word.as_str()?.into_owned()));
        Some(words.collect())
    }

    /// Whether somebody was asked whether sessions are copied, or has said so.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        [ASKED, SETTINGS].iter().any(|name| self.folder.join(name).exists())
    }

    /// Notes that somebody was asked.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn note_asked(&self) -> io::Result<()> {
        self.make_folder(&self.folder)?;
        create_regular(&self.folder.join(ASKED)).map(drop)
    }

    /// Keeps other processes from copying as long as the file is open; `None` if one copies now.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn lock(&self) -> io::Result<Option<fs::File>> {
        self.make_folder(&self.folder)?;
        let file = append_or_create_regular(&self.folder.join(LOCK))?;
        match rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(file)),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a later command copies again; then that is noted.
    #[must_use]
    pub fn is_due(&self, now: Millis) -> bool {
        let file = self.folder.join(LAST_RUN);
        let last = read_regular_text(&file, 64).ok().and_then(|text| text.trim().parse::<Millis>().ok());
        let is_due = last.is_none_or(|last| now.saturating_sub(last) >= HOUR || now < last);
        is_due && self.replace_file(LAST_RUN, &now.to_string()).is_ok()
    }

    /// Copies what a session has more than its copy, with the files that go with it: outputs beside it, and its subagents.
    ///
    /// # Errors
    /// A file cannot be read, or a copy cannot be written. The other files are copied all the same.
    pub fn keep(&self, agent: Agent, source: &Path, now: Millis) -> io::Result<KeptCopy> {
        let name = name_of(agent, source);
        if self.is_forgotten(agent, &name)? {
            return Ok(KeptCopy::Forgotten);
        }
        let folder = self.folder.join(agent.word()).join(&name);
        let own = std::iter::once((folder.clone(), source.to_path_buf()));
        let with_it = files_with(agent, source).into_iter().map(|file| (copy_of(&folder, &file), file));
        let (mut bytes, mut failed) = (0, None);
        for (copy, file) in own.chain(with_it) {
            match self.keep_in(&copy, agent, &file, now) {
                Ok(KeptCopy::Bytes(more)) => bytes += more,
                Ok(KeptCopy::Nothing | KeptCopy::Forgotten) => {}
                // Its program has just removed it.
                Err(error) if error.kind() == io::ErrorKind::NotFound && file != source => {}
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        match failed {
            Some(error) => Err(error),
            None => Ok(if bytes > 0 { KeptCopy::Bytes(bytes) } else { KeptCopy::Nothing }),
        }
    }

    fn keep_in(&self, folder: &Path, agent: Agent, source: &Path, now: Millis) -> io::Result<KeptCopy> {
        let known = read_manifest(&folder.join(MANIFEST))?;
        let last = known.last();
        let stamp = source_stamp(source)?;
        if last.is_some_and(|last| last.modified == stamp.modified && last.stamp_length == stamp.length) {
            return Ok(KeptCopy::Nothing);
        }
        let medium = medium_of_source(agent, source)?;
        let length = medium.len()?;
        let have = last.map_or(0, |last| last.offset + last.length);
        let continues = last.is_some() && have <= length && self.continues(agent, &medium, &known, have)?;
        if continues && have == length {
            return Ok(KeptCopy::Nothing);
        }
        let offset = if continues { have } else { 0 };
        let generation = last.map_or(0, |last| if continues { last.generation } else { last.generation + 1 });
        self.make_folder(folder)?;
        let sha256 = write_segment(&medium, (offset, length), folder, generation)?;
        let tail = tail_of(&medium, length)?;
        let segment = Segment {
            generation,
            offset,
            length: length - offset,
            sha256,
            tail,
            source: source.to_path_buf(),
            modified: stamp.modified,
            stamp_length: stamp.length,
            at: now,
        };
        append_line(&folder.join(MANIFEST), &segment.line())?;
        sync_folder(folder)?;
        Ok(KeptCopy::Bytes(length - offset))
    }

    /// Whether a source begins with its copy. Rows may change anywhere.
    fn continues(&self, agent: Agent, medium: &ForeignMedium, known: &[Segment], have: u64) -> io::Result<bool> {
        let Some(last) = known.last() else { return Ok(false) };
        if agent.only_appends(medium.path()) {
            return Ok(tail_of(medium, have)? == last.tail);
        }
        if have != medium.len()? {
            return Ok(false);
        }
        let mut hash = Sha256::new();
        for_each_step(medium, (0, have), &mut |bytes| {
            hash.update(bytes);
            Ok(())
        })?;
        Ok(hex(hash) == last.sha256)
    }

    /// All copies, sorted by agent and name.
    ///
    /// # Errors
    /// A manifest cannot be read.
    pub fn list(&self) -> io::Result<Vec<ArchivedSession>> {
        let mut all = Vec::new();
        for agent in Agent::ALL {
            let Ok(entries) = fs::read_dir(self.folder.join(agent.word())) else { continue };
            for entry in entries {
                let entry = entry?;
                let known = read_manifest(&entry.path().join(MANIFEST))?;
                let Some(last) = known.last() else { continue };
                all.push(ArchivedSession {
                    agent: *agent,
                    name: entry.file_name().to_string_lossy().into_owned(),
                    source: last.source.clone(),
                    bytes: last.offset + last.length,
                    at: last.at,
                    generation: last.generation,
                });
            }
        }
        all.sort_by(|a, b| (a.agent, &a.name).cmp(&(b.agent, &b.name)));
        Ok(all)
    }

    /// The bytes of the newest copy of a session, each segment held against its hash.
    ///
    /// # Errors
    /// A segment is missing or damaged; those of `take`.
    pub fn read(&self, session: &ArchivedSession, take: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let folder = self.folder.join(session.agent.word()).join(&session.name);
        read_segments(&folder, &read_manifest(&folder.join(MANIFEST))?, session.generation, take)
    }

    /// Writes a session back to where it was, never over a file, and then the files that went with it, as far as they are gone.
    ///
    /// # Errors
    /// Something is there, the session was in a store of rows, or it cannot be read or written.
    pub fn restore(&self, session: &ArchivedSession) -> io::Result<()> {
        let target = &session.source;
        if is_in_store(target) || is_of_many(session.agent, target) {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "rows and parts cannot be given back to a store of another program",
            ));
        }
        if target.extension().is_some_and(|extension| extension == "zst") {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "it was compressed by its program"));
        }
        let copy = self.folder.join(session.agent.word()).join(&session.name);
        self.write_back(&copy, target)?;
        for file in files_with_copy(&copy) {
            let CopiedFile { source, manifest } = file;
            let is_missing = goes_with(session.agent, target, &source) && fs::symlink_metadata(&source).is_err();
            if let Some(copy) = manifest.parent().filter(|_| is_missing) {
                self.write_back(copy, &source)?;
            }
        }
        Ok(())
    }

    /// Writes the newest bytes of a copy to a file that is not there.
    fn write_back(&self, copy: &Path, target: &Path) -> io::Result<()> {
        let known = read_manifest(&copy.join(MANIFEST))?;
        let generation = known.last().map_or(0, |last| last.generation);
        let folder = target.parent().unwrap_or(Path::new("."));
        self.make_folder(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        read_segments(copy, &known, generation, &mut |bytes| file.write_all(bytes))?;
        file.as_file().sync_all()?;
        file.persist_noclobber(target)?;
        sync_folder(folder)
    }

    /// Removes a copy, and remembers that no later run may make it again.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn forget(&self, session: &ArchivedSession) -> io::Result<()> {
        // The note comes first: a copy without note would come back.
        append_line(
            &self.folder.join(FORGOTTEN),
            &Object::new().str("hash", &tombstone(session.agent, &session.name)).finish(),
        )?;
        fs::remove_dir_all(self.folder.join(session.agent.word()).join(&session.name))?;
        sync_folder(&self.folder)
    }

    fn is_forgotten(&self, agent: Agent, name: &str) -> io::Result<bool> {
        let text = match read_regular_text(&self.folder.join(FORGOTTEN), LARGEST_LIST) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        let stone = tombstone(agent, name);
        Ok(text.lines().any(|line| line.contains(&stone)))
    }

    fn replace_file(&self, name: &str, text: &str) -> io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(self.folder.join(name))?;
        sync_folder(&self.folder)
    }

    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)
    }
}

/// The name of a session in the archive: the one of its file, or its id in a store.
fn name_of(agent: Agent, source: &Path) -> String {
    let stem = source.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = stem.strip_suffix(".zst").unwrap_or(&stem);
    let stem = stem.strip_suffix(".jsonl").unwrap_or(stem);
    let stem = if stem == "events" { agent.id_of(source).unwrap_or_default() } else { stem.to_owned() };
    match agent {
        // Its programs move files.
        Agent::Codex => clean(&stem),
        _ => {
            let folder = source.parent().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default();
            format!("{}-{}", clean(&stem), hex_hash(&[folder.as_bytes()], 8))
        }
    }
}

/// Says which session was forgotten to whoever asks for it, and nothing to others.
fn tombstone(agent: Agent, name: &str) -> String {
    hex_hash(&[b"forgotten", agent.word().as_bytes(), name.as_bytes()], 32)
}

/// Whether a session is a part of a file.
fn is_in_store(source: &Path) -> bool {
    let is_store = |extension: &std::ffi::OsStr| extension == "db" || extension == "md";
    source.parent().and_then(Path::extension).is_some_and(is_store)
}

/// Whether a session is made of many files.
fn is_of_many(agent: Agent, source: &Path) -> bool {
    agent == Agent::Opencode && old_json::is_old(agent, source)
}

/// What changes when an agent writes to a session: the stamp of its file, or of its store with the log.
///
/// # Errors
/// It is not there, or cannot be looked at.
pub fn source_stamp(source: &Path) -> io::Result<Stamp> {
    match rows::parts_of(source) {
        Some((store, _)) => rows::stamp_of(&store).ok_or_else(|| io::ErrorKind::NotFound.into()),
        None => {
            let file = source.parent().filter(|_| is_in_store(source)).unwrap_or(source);
            Ok(Stamp::of(&fs::symlink_metadata(file)?))
        }
    }
}

/// The bytes of a session's own file: what it continues is a session of its own.
fn medium_of_source(agent: Agent, source: &Path) -> io::Result<ForeignMedium> {
    if is_in_store(source) || is_of_many(agent, source) {
        medium_of(agent, source)
    } else {
        ForeignMedium::open(source)
    }
}

fn write_segment(medium: &ForeignMedium, (from, to): (u64, u64), folder: &Path, generation: u32) -> io::Result<String> {
    let file = tempfile::NamedTempFile::new_in(folder)?;
    let mut packed = zstd::Encoder::new(file, 3)?;
    let mut hash = Sha256::new();
    for_each_step(medium, (from, to), &mut |bytes| {
        hash.update(bytes);
        packed.write_all(bytes)
    })?;
    let file = packed.finish()?;
    file.as_file().sync_all()?;
    // A segment without a line in the manifest is one that a kill left: its bytes may be fewer.
    file.persist(folder.join(segment_name(generation, from)))?;
    Ok(hex(hash))
}

/// Passes a stretch of a source on, piece by piece.
fn for_each_step(
    medium: &ForeignMedium,
    (from, to): (u64, u64),
    take: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let mut at = from;
    while at < to {
        let step = usize::try_from(to - at).unwrap_or(STEP).min(STEP);
        let bytes = read_exact_at(medium, at, step)?;
        take(&bytes)?;
        at += bytes.len() as u64;
    }
    Ok(())
}

/// The hash of the last bytes before an offset.
fn tail_of(medium: &ForeignMedium, end: u64) -> io::Result<String> {
    let from = end.saturating_sub(TAIL);
    let bytes = read_exact_at(medium, from, usize::try_from(end - from).unwrap_or_default())?;
    Ok(hash_of(&bytes))
}

fn append_line(file: &Path, line: &str) -> io::Result<()> {
    let mut last = [b'\n'];
    // A kill may have left half a line.
    match open_regular(file) {
        Ok(known) => {
            let length = known.metadata()?.len();
            if length > 0 {
                known.read_exact_at(&mut last, length - 1)?;
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut file = append_or_create_regular(file)?;
    let begin = if last == *b"\n" { "" } else { "\n" };
    file.write_all(format!("{begin}{line}\n").as_bytes())?;
    file.sync_all()
}

fn hash_of(bytes: &[u8]) -> String {
    hex(Sha256::new_with_prefix(bytes))
}
