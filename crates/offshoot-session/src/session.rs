//! One session: its tree, the leaf, and the file. Opening never writes. An append is on the medium before the tree
//! grows and the leaf moves. See *Writing* in `docs/format.md`.

mod ancestors;
mod diverged;
#[cfg(any(test, feature = "testing"))]
mod over;
mod snapshot;
mod standing;
mod put;
mod operate;
mod append;
mod spill;
mod turns;
mod half_answer;
mod open;
mod branch;
mod trial;
mod undo;
mod bring;
mod fork;
mod upgrade;
mod abridged;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::clock::{Clock, SystemClock};
use crate::compose::NewEntry;
use crate::context::{self, Context};
use crate::entry::{Entry, Source};
use crate::error::{Conflict, Diagnostic, Error, Invalid, Result};
use crate::facts::Facts;
use crate::header::{Dialect, Header};
use crate::id::{EntryId, IdSource, RandomIds};
use crate::json::Json;
use crate::load::{Loaded, Opened};
use crate::medium::{FileMedium, Medium, read_regular};
use crate::migrate::upgrade_header;
use crate::operation::Unfinished;
use crate::tree::{NodeIx, Tree};

pub use crate::index::{IndexAccess, is_indexed};
pub use abridged::Abridged;
pub use branch::Popped;
pub use bring::{Brought, PlannedMerge, PlannedPick};
pub use fork::{Extracted, NewFork, SessionPart};
pub use open::NewSession;
pub use operate::Standpoint;
pub use snapshot::Snapshot;
pub use spill::{discard_spill, spill_file};
pub use undo::UndoPlan;

/// What an append guarantees when it returns. The file has the bytes in each case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The system has the bytes: they survive the process, but not a crash of the system.
    Os,
    /// The disk has the bytes (`fdatasync`): they survive a crash of the system and a power failure.
    #[default]
    Data,
    /// The disk has the bytes and the file's metadata, such as its times (`fsync`).
    Full,
}

impl Durability {
    /// From the weakest to the strongest.
    pub const ALL: [Self; 3] = [Self::Os, Self::Data, Self::Full];

    /// `os`, `data` or `full`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Os => "os",
            Self::Data => "data",
            Self::Full => "full",
        }
    }

    /// Parses [`Durability::as_str`].
    ///
    /// # Errors
    /// [`Error::Invalid`] for any other word.
    pub fn from_word(word: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|level| level.as_str() == word);
        found.ok_or_else(|| Invalid::Durability { word: word.to_owned() }.into())
    }
}

/// Which entries go to the spill folder when they cannot be appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SpillPolicy {
    /// All of them: what an agent heard or a model said exists nowhere else.
    #[default]
    Everything,
    /// Those that may be appended later, as after a full disk. A read-only file or a deleted folder refuses them for
    /// good, and the person who typed the command can type it again.
    Temporary,
}

/// Settings of a session.
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub struct Options {
    pub clock: Box<dyn Clock>,
    pub ids: Box<dyn IdSource>,
    /// What appends guarantee.
    pub durability: Durability,
    /// The spelling for files that do not show one.
    pub dialect: Dialect,
    /// The folder of omp's blob store.
    pub blobs: Option<PathBuf>,
    /// The cache folder for side indexes, which open big files without reading them; `None` uses none.
    pub index: Option<PathBuf>,
    /// Whether opening may write a side index.
    pub index_access: IndexAccess,
    /// Called while a file is read with the bytes read and its length; both are equal in the last call.
    pub progress: Option<Box<dyn Fn(u64, u64) + Send + Sync>>,
    /// The folder for entries that cannot be written to their session ([`Error::Spilled`]). With `None`, only the
    /// caller has them.
    pub spill: Option<PathBuf>,
    pub spill_policy: SpillPolicy,
    /// The folder in which processes tell each other which prompts they are answering; `None` tells nobody.
    pub turns: Option<PathBuf>,
    /// How long an append waits for another program's lock ([`Error::Locked`]).
    pub lock_wait: Duration,
}

impl Options {
    fn medium(&self, path: &Path) -> Result<FileMedium> {
        let mut medium = FileMedium::open(path).map_err(Error::io("open", path))?;
        medium.set_patience(self.lock_wait);
        Ok(medium)
    }

    fn file(&self, path: &Path) -> Result<Backing> {
        Ok(Backing::File(Box::new(self.medium(path)?)))
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            clock: Box::new(SystemClock),
            ids: Box::new(RandomIds),
            durability: Durability::default(),
            dialect: Dialect::default(),
            blobs: None,
            index: None,
            index_access: IndexAccess::default(),
            progress: None,
            spill: None,
            spill_policy: SpillPolicy::default(),
            turns: None,
            lock_wait: FileMedium::PATIENCE,
        }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Options {{ {:?}, {:?} }}", self.durability, self.dialect)
    }
}

enum Backing {
    /// The first append will create the file.
    Unborn(PathBuf),
    File(Box<dyn Medium>),
    Memory(Box<dyn Medium>),
}

impl Backing {
    fn path(&self) -> &Path {
        match self {
            Self::Unborn(path) => path,
            Self::File(medium) | Self::Memory(medium) => medium.path(),
        }
    }
}

/// See [`Session::open`] and [`Session::create`].
pub struct Session {
    backing: Backing,
    header: Header,
    loaded: Loaded,
    leaf: Option<NodeIx>,
    options: Options,
    /// Why appends are refused or need a look at the file first.
    broken: Option<standing::Broken>,
    holds_lock: bool,
    attempted: Option<put::Batch>,
    own: spill::OwnSpill,
    turn: Option<turns::TurnMark>,
    half: Option<half_answer::KeptHalf>,
    has_looked_for_halves: bool,
    /// The operation that was cut off at the end of the file, when the session was opened.
    unfinished: Option<Unfinished>,
    /// In place of the header's working directory.
    works_in: Option<String>,
    others: diverged::OtherBranches,
    /// Diagnostics since the last [`Session::take_news`].
    news: Vec<Diagnostic>,
    facts: snapshot::FactsCache,
    ancestors: ancestors::Ancestors,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Session {{ {}, {:?}, {} entries }}", self.id(), self.file(), self.tree().len())
    }
}

#[expect(missing_docs, reason = "the names of the others say what they return")]
impl Session {
    pub fn id(&self) -> &str {
        self.header.id()
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The header's line as version 3.
    pub fn header_line(&self) -> String {
        upgrade_header(&self.header).unwrap_or_else(|| self.header.line().to_owned())
    }

    /// `None` for a session in memory. A new session's file appears with its first entry.
    pub fn file(&self) -> Option<&Path> {
        match &self.backing {
            Backing::Unborn(path) => Some(path),
            Backing::File(medium) => Some(medium.path()),
            Backing::Memory(_) => None,
        }
    }

    /// The path that names where its bytes are: its file, or another agent's, which is only read.
    pub fn origin(&self) -> Option<&Path> {
        match &self.backing {
            Backing::Memory(medium) if self.loaded.is_made() => Some(medium.path()),
            Backing::Unborn(_) | Backing::File(_) | Backing::Memory(_) => self.file(),
        }
    }

    /// Closes the file for appending, until the next append: one descriptor less, for programs with many sessions.
    pub fn close_writer(&mut self) {
        if let Backing::File(medium) = &mut self.backing {
            medium.close_writer();
        }
    }

    /// How long appends wait for another program's lock from now on, instead of [`Options::lock_wait`].
    pub fn set_lock_wait(&mut self, wait: Duration) {
        self.options.lock_wait = wait;
        if let Backing::File(medium) = &mut self.backing {
            medium.set_patience(wait);
        }
    }

    /// The working directory: that of [`Session::work_in`], else the header's.
    pub fn cwd(&self) -> Option<&str> {
        self.works_in.as_deref().or(self.header.cwd())
    }

    /// Continues the session in another folder than its header names. Copies of it get that folder; its file keeps its own.
    pub fn work_in(&mut self, cwd: impl Into<String>) {
        self.works_in = Some(cwd.into());
    }

    /// The spelling of the file.
    pub fn dialect(&self) -> Dialect {
        self.loaded.dialect.unwrap_or(self.options.dialect)
    }

    /// The version of the file on disk.
    pub fn version(&self) -> u32 {
        self.loaded.version()
    }

    /// The file's diagnostics, and notes about newer work on other branches.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.loaded.diagnostics
    }

    /// The entry below which the next one goes; `None` before the first.
    pub fn leaf(&self) -> Option<NodeIx> {
        self.leaf
    }

    pub fn leaf_id(&self) -> Option<&EntryId> {
        self.leaf.and_then(|ix| self.tree().node(ix).id())
    }

    /// The entry with this id.
    ///
    /// # Errors
    /// [`Error::EntryNotFound`].
    pub fn find(&self, id: &str) -> Result<NodeIx> {
        self.tree().whole(self.tree().find(id))?.ok_or_else(|| Error::no_entry(id))
    }

    /// The name: the last `session_info` in file order, unless it is empty.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn name(&self) -> Result<Option<String>> {
        let Some(ix) = self.loaded.last_session_info else { return Ok(None) };
        let name = self.entry(ix)?.str("name").map(|name| name.trim().to_owned());
        Ok(name.filter(|name| !name.is_empty()))
    }

    /// Whether this is the session's name already; an empty text means no name.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn is_named(&self, name: &str) -> Result<bool> {
        let entry = NewEntry::session_info(name);
        let wanted = entry.member("name").map(Json::trusted).and_then(Json::as_str).filter(|name| !name.is_empty());
        Ok(self.name()?.as_deref() == wanted.as_deref())
    }

    /// Whether this is the entry's label already; `None` and an empty text stand for none.
    pub fn is_labelled(&self, target: &EntryId, text: Option<&str>) -> bool {
        let known = self.tree().label(target).map(|label| label.text.as_str());
        known == text.filter(|text| !text.is_empty())
    }

    /// omp's title: the slot's, else the header's.
    pub fn title(&self) -> Option<&str> {
        let title = match &self.loaded.slot {
            Some(slot) => Some(slot.title.as_str()),
            None => self.header.title(),
        };
        title.filter(|title| !title.is_empty())
    }

    /// The context at an entry, in the form of the file's dialect.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn context_at(&self, leaf: Option<NodeIx>) -> Result<Context> {
        context::build(self, leaf, self.dialect())
    }

    /// The context at the leaf.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn context(&self) -> Result<Context> {
        self.context_at(self.leaf)
    }

    /// Whether its lines are made from records of another program.
    pub fn is_made(&self) -> bool {
        self.loaded.is_made()
    }

    /// An entry's line as in the file, without line feed; of another program's session as it is shown.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn raw_line(&self, ix: NodeIx) -> Result<Vec<u8>> {
        if self.is_made() {
            return Ok(self.entry(ix)?.line().as_bytes().to_vec());
        }
        let node = self.tree().node(ix);
        self.raw_bytes(node.offset(), usize::try_from(node.length()).unwrap_or(usize::MAX))
    }

    /// Bytes of the file; `offset + length` is at most [`Session::raw_length`].
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn raw_bytes(&self, offset: u64, length: usize) -> Result<Vec<u8>> {
        let medium = self.medium()?;
        crate::medium::read_exact_at(medium, offset, length).map_err(Error::io("read", medium.path()))
    }

    /// How many bytes of the file have been read.
    pub fn raw_length(&self) -> u64 {
        self.loaded.end.length
    }

    fn medium(&self) -> Result<&dyn Medium> {
        match &self.backing {
            Backing::File(medium) | Backing::Memory(medium) => Ok(medium.as_ref()),
            Backing::Unborn(path) => Err(Error::conflict(path, Conflict::NotWritten)),
        }
    }
}

impl Source for Session {
    fn tree(&self) -> &Tree {
        &self.loaded.tree
    }

    fn entry(&self, ix: NodeIx) -> Result<Entry> {
        Opened { medium: self.medium()?, loaded: &self.loaded }.entry(ix)
    }

    fn blob(&self, hash: &str) -> Option<Vec<u8>> {
        read_regular(&self.options.blobs.as_ref()?.join(hash), u64::MAX).ok()
    }

    fn view(&self) -> Option<Box<dyn Source + '_>> {
        Opened { medium: self.medium().ok()?, loaded: &self.loaded }.view()
    }

    fn facts(&self) -> Result<Option<Arc<Facts>>> {
        let file = match &self.backing {
            Backing::File(medium) => Some(medium.path()),
            Backing::Memory(_) | Backing::Unborn(_) => None,
        };
        self.facts.of(self, file, self.loaded.end.length, self.options.index.as_deref()).map(Some)
    }

    fn raw_span(&self, ix: NodeIx) -> Option<(u64, u64)> {
        Opened { medium: self.medium().ok()?, loaded: &self.loaded }.raw_span(ix)
    }

    fn splice(&self, ix: NodeIx) -> Result<Option<(u64, u64, String)>> {
        Opened { medium: self.medium()?, loaded: &self.loaded }.splice(ix)
    }
}
