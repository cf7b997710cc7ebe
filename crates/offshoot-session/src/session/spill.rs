//! Keeps entries that could not be written in a spill file until the session takes them.
//!
//! Each session file has one spill file in the caller's folder. Its first line names the session; the others are the
//! entries' final lines with ids, parents and times. It is removed only when the session has every line.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use super::append::{Place, WhileLocked, create_file};
use super::put::put;
use super::{Backing, Durability, Options, Session, SpillPolicy};
use crate::compose::NewEntry;
use crate::entry::Source as _;
use crate::error::{Code, Conflict, Diagnostic, Error, Result};
use crate::extract;
use crate::header::Header;
use crate::id::EntryId;
use crate::json::{Json, Object};
use crate::medium::{FileMedium, Medium, MemoryMedium, read_exact_at, read_regular};
use crate::pieces::{Pieces, create_folder_of, sync_folder};
use crate::text::counted;
use crate::tree::NodeIx;

#[derive(Debug, Default)]
pub(super) struct OwnSpill {
    pub(super) is_pending: bool,
    /// The entry that would be the leaf.
    pub(super) tail: Option<EntryId>,
}

impl Session {
    /// The id of the parent for a new entry: for the leaf, the last spilled entry.
    pub(super) fn id_below(&self, parent: Option<NodeIx>) -> Option<EntryId> {
        let tail = self.own.tail.clone().filter(|_| parent == self.leaf);
        tail.or_else(|| parent.and_then(|ix| self.tree().node(ix).id().cloned()))
    }

    /// Keeps entries that could not be appended; returns the error for the caller.
    pub(super) fn spilled(
        &mut self,
        chain: &[&NewEntry],
        chain_place: &Place<'_>,
        (error, while_locked): (Error, WhileLocked),
    ) -> Error {
        let is_foreign = matches!((&self.backing, &error), (Backing::Unborn(_), Error::Conflict { .. }));
        let Some((path, place)) = self.spill_place() else { return error };
        let is_refused = self.options.spill_policy == SpillPolicy::Temporary && is_lasting(&error);
        let is_for_keeping = match error {
            Error::Io { .. } | Error::Conflict { .. } => true,
            Error::Locked { .. } => while_locked == WhileLocked::Kept,
            _ => false,
        };
        if is_refused || is_foreign || !is_for_keeping {
            return error;
        }
        // The file may have the entries after all; their ids then show it.
        let tried = self.attempted.take();
        let (parent, at) = (chain_place.parent.clone(), chain_place.at);
        let batch = tried.unwrap_or_else(|| self.composed(chain, parent, at, self.loaded.end.length.max(1)));
        let lines: Vec<&str> = batch.nodes.iter().map(|node| batch.line(node)).collect();
        if Spill::at(&place).and_then(|spill| spill.add(&self.spill_head(&path), &lines)).is_err() {
            return error;
        }
        self.own.is_pending = true;
        let ids = batch.nodes.iter().filter_map(|node| node.id.clone()).collect();
        Error::Spilled { path, spill: place, ids, source: Box::new(error) }
    }

    /// The session's file and its spill file, which may not exist.
    fn spill_place(&self) -> Option<(PathBuf, PathBuf)> {
        let path = self.backing.path().to_path_buf();
        let place = spill_file(self.options.spill.as_ref()?, &path);
        Some((path, place))
    }

    fn spill_head(&self, path: &Path) -> String {
        let object = Object::new().str("type", "offshoot.spill").raw("version", 1).str("sessionId", self.id());
        let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        let object = object.str("file", &whole.to_string_lossy());
        match self.backing {
            // Only the spill file has this session.
            Backing::Unborn(_) => object.raw("header", self.header.line()).finish(),
            Backing::File(_) | Backing::Memory(_) => object.finish(),
        }
    }

    /// Opens a session whose own file could not be created, from its spill file; `None` if there is none.
    /// [`Session::append_spilled`] creates the file.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn open_spilled(path: &Path, options: Options) -> Result<Option<Self>> {
        let place = options.spill.as_ref().map(|folder| spill_file(folder, path));
        let kept = place.map(|place| SpillContent::read(&place)).transpose()?.flatten();
        let header = kept.and_then(|kept| kept.header);
        Ok(header.map(|header| Self::unborn(path.to_path_buf(), header, options)))
    }

    pub(super) fn note_spill(&mut self) {
        let Some((_, place)) = self.spill_place() else { return };
        let Ok(Some(kept)) = SpillContent::read(&place) else { return };
        let count = kept.lines.len();
        let message = format!(
            "{} that could not be written to this session {} in {}",
            counted(count, "entry", "entries"),
            if count == 1 { "is" } else { "are" },
            place.display()
        );
        let entry = kept.lines.first().map(|line| line.id.clone());
        self.loaded.diagnostics.push(Diagnostic { code: Code::Spilled, line: None, offset: 0, entry, message });
    }

    /// Whether entries of this session could not be written. They wait for its next append.
    pub fn has_waiting(&self) -> bool {
        self.own.is_pending
    }

    /// The lines that wait below the leaf, oldest first.
    pub(super) fn waiting_path(&self) -> Result<Vec<(EntryId, String)>> {
        let Some(mut id) = self.own.tail.clone() else { return Ok(Vec::new()) };
        let kept = self.spill_place().map(|(_, place)| SpillContent::read(&place)).transpose()?.flatten();
        let lines = kept.map(|kept| kept.lines).unwrap_or_default();
        let mut lines: HashMap<EntryId, String> = lines.into_iter().map(|line| (line.id, line.text)).collect();
        let mut path = Vec::new();
        while let Some(line) = lines.remove(&id) {
            let parent = Json::trusted(&line).str("parentId").map(EntryId::new);
            path.push((id, line));
            match parent {
                Some(parent) => id = parent,
                None => break,
            }
        }
        path.reverse();
        Ok(path)
    }

    /// The entries that [`Session::append_spilled`] would write.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn spilled_ids(&self) -> Result<Vec<EntryId>> {
        let kept = self.spill_place().map(|(_, place)| SpillContent::read(&place)).transpose()?.flatten();
        Ok(kept.map(|kept| kept.lines.into_iter().map(|line| line.id).collect()).unwrap_or_default())
    }

    /// Writes the spill file's entries to the session with their ids and parents. Entries that the session has are
    /// skipped, so an interrupted attempt does no harm. Returns all ids; the leaf stays.
    ///
    /// # Errors
    /// Those of [`Session::append`]; [`Error::Conflict`] also if the spill file is from another session at this path.
    /// The spill file then stays.
    pub fn append_spilled(&mut self) -> Result<Vec<EntryId>> {
        let Some((path, place)) = self.spill_place() else { return Ok(Vec::new()) };
        if !place.exists() {
            return Ok(Vec::new());
        }
        let mut spill = Spill::at(&place)?;
        let given = SpillContent::read(&place).and_then(|kept| match kept {
            None => Ok(Vec::new()),
            Some(kept) if kept.session_id != self.id() => {
                let why = Conflict::ForeignSpill { spill: place.clone(), session_id: kept.session_id };
                Err(Error::conflict(&path, why))
            }
            Some(kept) => self.put_back(&kept.lines),
        });
        match given {
            Ok(ids) => {
                spill.remove()?;
                self.loaded.diagnostics.retain(|told| told.code != Code::Spilled);
                Ok(ids)
            }
            Err(error) => {
                spill.unlock();
                Err(error)
            }
        }
    }

    /// [`Session::append_spilled`] for this session's own entries, moving the leaf where it would be.
    pub(super) fn append_own_spilled(&mut self) -> Result<()> {
        if self.own.is_pending {
            self.append_spilled()?;
            let tail = std::mem::take(&mut self.own).tail;
            self.leaf = tail.and_then(|id| self.tree().find(id.as_str())).or(self.leaf);
        }
        Ok(())
    }

    /// Copies the session and the entries in its spill file to a new file. Neither changes.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the file exists; [`Error::Io`].
    pub fn copy_with_spilled(&self, path: &Path) -> Result<Vec<EntryId>> {
        let kept = self.spill_place().map(|(_, place)| SpillContent::read(&place)).transpose()?.flatten();
        let kept = kept.map(|kept| kept.lines).unwrap_or_default();
        let (memory, mut pieces) = (MemoryMedium::default(), Pieces::default());
        let source: &dyn Medium = match &self.backing {
            Backing::Unborn(_) => {
                pieces.text(self.opening_lines());
                &memory
            }
            Backing::File(medium) | Backing::Memory(medium) => {
                pieces = extract::everything(self, &self.loaded, None)?;
                medium.as_ref()
            }
        };
        for line in kept.iter().filter(|line| self.tree().find(line.id.as_str()).is_none()) {
            pieces.line(&line.text);
        }
        pieces.create(source, path)?;
        Ok(kept.into_iter().map(|line| line.id).collect())
    }

    /// Writes the lines that the session does not have. The leaf stays.
    pub(super) fn put_back(&mut self, lines: &[SpilledLine]) -> Result<Vec<EntryId>> {
        self.refuse_if_broken()?;
        if let Backing::Unborn(path) = &self.backing {
            let text = self.opening_lines() + &joined(lines.iter());
            self.backing = create_file(path, &text, &self.options)?;
            self.reload()?;
        } else {
            self.upgrade()?;
            let standing = self.locked()?;
            let put = self.put_missing(lines, standing.length);
            let unlocked = self.unlock();
            put?;
            unlocked?;
        }
        Ok(lines.iter().map(|line| line.id.clone()).collect())
    }

    fn put_missing(&mut self, lines: &[SpilledLine], length: u64) -> Result<()> {
        let mut missing = Vec::new();
        for line in lines {
            match self.tree().find(line.id.as_str()) {
                None => missing.push(line),
                Some(ix) if self.raw_line(ix)? == line.text.as_bytes() => {}
                Some(_) => return Err(self.conflict(Conflict::IdTaken { id: line.id.clone() })),
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let heal = if self.loaded.end.terminated { "" } else { "\n" };
        let opening = if length == 0 { self.opening_lines() } else { String::new() };
        self.put_locked(length, &format!("{heal}{opening}{}", joined(missing.into_iter())))?;
        self.reload()
    }
}

/// Removes a spill file without writing its entries, which are then lost.
///
/// # Errors
/// [`Error::Io`].
pub fn discard_spill(spill: &Path) -> Result<()> {
    Spill::at(spill)?.remove()
}

/// Whether a write fails again until somebody changes the file or its folder.
fn is_lasting(error: &Error) -> bool {
    use io::ErrorKind::{IsADirectory, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem};
    match error {
        Error::Io { source, .. } => {
            matches!(source.kind(), IsADirectory | NotADirectory | NotFound | PermissionDenied | ReadOnlyFilesystem)
        }
        Error::Conflict { why, .. } => matches!(why, Conflict::Deleted | Conflict::Replaced | Conflict::Shortened),
        _ => false,
    }
}

fn joined<'a>(lines: impl Iterator<Item = &'a SpilledLine>) -> String {
    lines.fold(String::new(), |text, line| text + &line.text + "\n")
}

/// The path of a session file's spill file: a recognisable name, and a hash of the whole path.
pub fn spill_file(folder: &Path, file: &Path) -> PathBuf {
    let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
    // The file may be missing, so its folder is resolved instead.
    let parent = whole.parent().and_then(|parent| parent.canonicalize().ok());
    let whole = parent.and_then(|parent| Some(parent.join(whole.file_name()?))).unwrap_or(whole);
    let stem = whole.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let stem: String = stem.chars().take(80).map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    // FNV-1a, because the name must be the same in every version.
    let bytes = whole.as_os_str().as_encoded_bytes().iter();
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    folder.join(format!("{stem}-{hash:016x}.jsonl"))
}

#[derive(Debug)]
pub(super) struct SpilledLine {
    pub(super) id: EntryId,
    pub(super) text: String,
}

/// The content of a spill file. A torn line was never acknowledged.
#[derive(Debug)]
struct SpillContent {
    session_id: String,
    /// The session's header, if only the spill file has it.
    header: Option<Header>,
    lines: Vec<SpilledLine>,
}

impl SpillContent {
    /// `None` if the file is missing or has no entries.
    fn read(place: &Path) -> Result<Option<Self>> {
        let text = match read_regular(place, u64::MAX) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("read", place)(error)),
        };
        let mut whole = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
        let head = |line: &str| {
            let head = Json::parse(line).ok()?;
            let header = head.get("header").and_then(|header| Header::parse(header.text()));
            Some((head.str("sessionId")?.into_owned(), header))
        };
        let head = whole.next().and_then(head);
        let line = |text: &str| {
            let id = EntryId::new(Json::parse(text).ok()?.str("id")?);
            Some(SpilledLine { id, text: text.to_owned() })
        };
        let lines: Vec<SpilledLine> = whole.filter_map(line).collect();
        Ok(head.filter(|_| !lines.is_empty()).map(|(session_id, header)| Self { session_id, header, lines }))
    }
}

struct Spill {
    medium: FileMedium,
    length: u64,
}

impl Spill {
    /// Opens or creates a spill file that others may remove meanwhile.
    fn at(place: &Path) -> Result<Self> {
        create_folder_of(place)?;
        loop {
            let opened = FileMedium::open(place).or_else(|error| match error.kind() {
                io::ErrorKind::NotFound => FileMedium::create(place),
                _ => Err(error),
            });
            let mut medium = match opened {
                Ok(medium) => medium,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(Error::io("open", place)(error)),
            };
            let standing = medium.lock().map_err(Error::io("lock", place))?;
            if standing.is_current {
                return Ok(Self { medium, length: standing.length });
            }
        }
    }

    fn add(mut self, head: &str, lines: &[&str]) -> Result<()> {
        let place = self.medium.path().to_path_buf();
        let head = if self.length == 0 { format!("{head}\n") } else { String::new() };
        let last = read_exact_at(&self.medium, self.length.saturating_sub(1), usize::from(self.length > 0));
        let is_torn = last.map_err(Error::io("read", &place))? != b"\n" && self.length > 0;
        let heal = if is_torn { "\n" } else { "" };
        let text = lines.iter().fold(format!("{heal}{head}"), |text, line| text + line + "\n");
        put(&mut self.medium, self.length, text.as_bytes(), Durability::Data).map_err(|failed| failed.error)?;
        sync_folder(&place)
    }

    /// Removes the file under its lock, so that nobody adds to it unseen.
    fn remove(&mut self) -> Result<()> {
        let place = self.medium.path().to_path_buf();
        std::fs::remove_file(&place).map_err(Error::io("remove", &place))?;
        sync_folder(&place)
    }

    fn unlock(&mut self) {
        drop(self.medium.unlock());
    }
}
