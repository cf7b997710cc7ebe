//! One session: its tree, the place in it, and the file behind both.
//!
//! Opening reads and never writes. What is appended is on the medium before the tree grows and the leaf moves. See
//! `docs/format.md`, *Writing*.

mod diverged;
#[cfg(any(test, feature = "testing"))]
mod over;
mod snapshot;
mod standing;
mod put;
mod append;
mod spill;
mod open;
mod branch;
mod upgrade;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::clock::{Clock, SystemClock};
use crate::context::{self, Context};
use crate::entry::{Entry, Source};
use crate::error::{Conflict, Diagnostic, Error, Invalid, Result};
use crate::facts::Facts;
use crate::header::{Dialect, Header};
use crate::id::{EntryId, IdSource, RandomIds};
use crate::load::{Loaded, Opened};
use crate::medium::{FileMedium, Medium, read_regular};
use crate::migrate::upgrade_header;
use crate::tree::{NodeIx, Tree};

pub use branch::{Extracted, Popped, SessionPart};
pub use open::NewSession;
pub use snapshot::Snapshot;

/// How much an append promises when it returns (the bytes are in the file under each of them).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The system has the bytes: they survive the end of this process, not that of the system.
    Os,
    /// The disk has the bytes (`fdatasync`): they survive a crash of the system and a loss of power.
    #[default]
    Data,
    /// The disk has the bytes and all that is known of the file, such as its times (`fsync`).
    Full,
}

impl Durability {
    /// From the weakest to the strongest.
    pub const ALL: [Self; 3] = [Self::Os, Self::Data, Self::Full];

    /// The word for it: `os`, `data`, `full`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Os => "os",
            Self::Data => "data",
            Self::Full => "full",
        }
    }

    /// The level that a word stands for.
    ///
    /// # Errors
    /// [`Error::Invalid`] for any other word.
    pub fn from_word(word: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|level| level.as_str() == word);
        found.ok_or_else(|| Invalid::Durability { word: word.to_owned() }.into())
    }
}

/// Where a session takes time and ids from, and what its appends promise.
pub struct Options {
    /// The clock.
    pub clock: Box<dyn Clock>,
    /// Fresh ids.
    pub ids: Box<dyn IdSource>,
    /// What appends promise.
    pub durability: Durability,
    /// The spelling for files that do not show one.
    pub dialect: Dialect,
    /// The folder of omp's blob store, for messages that refer to it.
    pub blobs: Option<PathBuf>,
    /// The cache folder for side indexes, with which big files open without being read; `None` does without.
    pub index: Option<PathBuf>,
    /// Is told while a file is read: bytes read, and bytes of the file. Both are equal once, when that is done.
    pub progress: Option<Box<dyn Fn(u64, u64) + Send + Sync>>,
    /// The folder for entries that cannot be written to their session ([`Error::Spilled`]); `None` does without: then
    /// they are nowhere but with the caller.
    pub spill: Option<PathBuf>,
    /// How long an append waits for another program that holds the lock before it gives up ([`Error::Locked`]).
    pub lock_wait: Duration,
}

impl Options {
    /// Opens a session's file.
    fn medium(&self, path: &Path) -> Result<FileMedium> {
        let medium = FileMedium::open(path).map_err(Error::io("open", path))?;
        Ok(medium.with_patience(self.lock_wait))
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
            progress: None,
            spill: None,
            lock_wait: FileMedium::PATIENCE,
        }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Options {{ {:?}, {:?} }}", self.durability, self.dialect)
    }
}

/// Where a session's bytes are.
enum Backing {
    /// Not yet: the first append creates the file.
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

/// A session.
pub struct Session {
    backing: Backing,
    header: Header,
    loaded: Loaded,
    leaf: Option<NodeIx>,
    options: Options,
    /// Why no more appends are simply accepted.
    broken: Option<standing::Broken>,
    holds_lock: bool,
    /// What the last failed append tried to write.
    attempted: Option<put::Batch>,
    own: spill::Own,
    /// What other programs have appended meanwhile.
    others: diverged::Others,
    /// What has been found out since the caller asked last.
    news: Vec<Diagnostic>,
    facts: snapshot::Known,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Session {{ {}, {:?}, {} entries }}", self.id(), self.file(), self.tree().len())
    }
}

impl Session {
    /// The session id.
    pub fn id(&self) -> &str {
        self.header.id()
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The header's line as version 3 has it.
    pub fn header_line(&self) -> String {
        upgrade_header(&self.header).unwrap_or_else(|| self.header.line().to_owned())
    }

    /// The file; `None` for a session in memory. A new session's file appears with its first entry.
    pub fn file(&self) -> Option<&Path> {
        match &self.backing {
            Backing::Unborn(path) => Some(path),
            Backing::File(medium) => Some(medium.path()),
            Backing::Memory(_) => None,
        }
    }

    /// The working directory that the header names.
    pub fn cwd(&self) -> Option<&str> {
        self.header.cwd()
    }

    /// The spelling of the file.
    pub fn dialect(&self) -> Dialect {
        self.loaded.dialect.unwrap_or(self.options.dialect)
    }

    /// The version of the file as it is on disk.
    pub fn version(&self) -> u32 {
        self.loaded.version()
    }

    /// What is odd about the file, and whether newer work stands on another branch.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.loaded.diagnostics
    }

    /// The place in the tree where the next entry goes; `None` before the first entry.
    pub fn leaf(&self) -> Option<NodeIx> {
        self.leaf
    }

    /// The id of that place.
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

    /// The display name: the last `session_info` in file order, if it names one.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn name(&self) -> Result<Option<String>> {
        let Some(ix) = self.loaded.last_session_info else { return Ok(None) };
        let name = self.entry(ix)?.str("name").map(|name| name.trim().to_owned());
        Ok(name.filter(|name| !name.is_empty()))
    }

    /// The title in omp's sense: the slot's, else the header's.
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

    /// An entry's line as it stands in the file, byte for byte, without line feed.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn raw_line(&self, ix: NodeIx) -> Result<Vec<u8>> {
        let node = self.tree().node(ix);
        self.raw_bytes(node.offset(), usize::try_from(node.length()).unwrap_or(usize::MAX))
    }

    /// Bytes of the file as they stand; `offset + length` at most [`Session::raw_length`].
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
