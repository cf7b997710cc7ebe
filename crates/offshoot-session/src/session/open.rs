//! Opens sessions from files, creates new ones, and makes sessions in memory.

use std::io;
use std::path::{Path, PathBuf};

use super::ancestors::Ancestors;
use super::diverged::OtherBranches;
use super::snapshot::FactsCache;
use super::spill::OwnSpill;
use super::{Backing, Options, Session};
use crate::error::{Error, Invalid, Result};
use crate::header::{Header, NewHeader, TitleSlot};
use crate::id::is_valid_session_id;
use crate::index::load_indexed;
use crate::json::{Json, Object};
use crate::load::{Loaded, load};
use crate::medium::{FileMedium, Medium, MemoryMedium};

/// The properties of a new session.
#[derive(Debug, Clone, Copy, Default)]
#[expect(missing_docs, reason = "the name says it")]
pub struct NewSession<'a> {
    /// A new id if `None`.
    pub id: Option<&'a str>,
    pub cwd: &'a str,
    /// The session from which it is made.
    pub parent_session: Option<&'a str>,
}

impl Session {
    /// Opens a session file. Writes nothing, whatever its version or state. An empty file is a session that has not
    /// begun: the first append writes its header.
    ///
    /// # Errors
    /// [`Error::NotASession`] for a file with other content; [`Error::Io`].
    pub fn open(path: &Path, options: Options) -> Result<Self> {
        Self::over_file(options.medium(path)?, options, &NewSession::default())
    }

    /// Opens a session file, or starts a new session there. An empty file becomes the session in `new`.
    ///
    /// # Errors
    /// Those of [`Session::open`] and [`Session::create`].
    pub fn open_or_create(path: &Path, new: &NewSession<'_>, options: Options) -> Result<Self> {
        match options.medium(path) {
            Ok(medium) => Self::over_file(medium, options, new),
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Self::create(new, options, |_, _| path.to_path_buf())
            }
            Err(error) => Err(error),
        }
    }

    /// Starts a new session. `place` makes the path of its file from its id and its creation time (text). The first
    /// append creates the file and never replaces another.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an invalid id.
    pub fn create(
        new: &NewSession<'_>,
        mut options: Options,
        place: impl FnOnce(&str, &str) -> PathBuf,
    ) -> Result<Self> {
        let header = new_header(new, &mut options)?;
        let path = place(header.id(), header.timestamp().unwrap_or_default());
        Ok(Self::unborn(path, header, options))
    }

    /// Starts a session that is never on disk.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an invalid id.
    pub fn in_memory(new: &NewSession<'_>, mut options: Options) -> Result<Self> {
        let header = new_header(new, &mut options)?;
        Self::from_text(&format!("{}\n", header.line()), options)
    }

    /// A session in memory from the text of a session file.
    ///
    /// # Errors
    /// [`Error::NotASession`].
    pub fn from_text(text: &str, options: Options) -> Result<Self> {
        let medium = MemoryMedium::new(text.as_bytes().to_vec());
        let loaded = load(&medium)?;
        Self::over(Backing::Memory(Box::new(medium)), loaded, options, &NewSession::default())
    }

    /// A session over bytes in memory that others may share. If they are empty, the first append writes the header.
    pub(crate) fn over_memory(medium: MemoryMedium, new: &NewSession<'_>, options: Options) -> Result<Self> {
        let loaded = load(&medium)?;
        Self::over(Backing::Memory(Box::new(medium)), loaded, options, new)
    }

    /// A session of another program, to read: `medium` has its records, and refuses to be locked and to be written.
    ///
    /// # Errors
    /// A record cannot be read.
    pub fn of_records(medium: Box<dyn Medium>, loaded: Loaded, options: Options) -> Result<Self> {
        Self::over(Backing::Memory(medium), loaded, options, &NewSession::default())
    }

    fn over_file(medium: FileMedium, options: Options, new: &NewSession<'_>) -> Result<Self> {
        let loaded = read_file(&medium, &options)?;
        let mut session = Self::over(Backing::File(Box::new(medium)), loaded, options, new)?;
        session.note_divergence();
        session.note_spill();
        session.note_foreign_turn();
        session.note_half_answers();
        Ok(session)
    }

    pub(super) fn over(backing: Backing, loaded: Loaded, mut options: Options, new: &NewSession<'_>) -> Result<Self> {
        let header = match &loaded.header {
            Some(header) => header.clone(),
            None => new_header(new, &mut options)?,
        };
        let mut session = Self::new(backing, header, loaded, options);
        session.leave_unfinished()?;
        Ok(session)
    }

    pub(super) fn unborn(path: PathBuf, header: Header, options: Options) -> Self {
        let mut session = Self::new(Backing::Unborn(path), header, Loaded::default(), options);
        session.note_spill();
        session
    }

    pub(super) fn new(backing: Backing, header: Header, loaded: Loaded, options: Options) -> Self {
        Self {
            leaf: loaded.tree.last(),
            backing,
            header,
            loaded,
            options,
            broken: None,
            holds_lock: false,
            own: OwnSpill::default(),
            turn: None,
            half: None,
            has_looked_for_halves: false,
            unfinished: None,
            works_in: None,
            others: OtherBranches::default(),
            news: Vec::new(),
            attempted: None,
            facts: FactsCache::default(),
            ancestors: Ancestors::default(),
        }
    }

    /// A session in memory from an array of entries. Without header, entries that lack ids are of version 1.
    ///
    /// # Errors
    /// [`Error::NotASession`], [`Error::Invalid`].
    pub fn seeded(entries: Json<'_>, new: &NewSession<'_>, mut options: Options) -> Result<Self> {
        let mut lines: Vec<&str> = entries.items().map(Json::text).collect();
        let header;
        if lines.first().is_none_or(|first| Header::parse(first).is_none()) {
            let has_ids = entries.items().all(|entry| entry.str("id").is_some());
            header = match (new_header(new, &mut options)?, has_ids) {
                (header, true) => header.line().to_owned(),
                (header, false) => without_version(&header),
            };
            lines.insert(0, &header);
        }
        Self::from_text(&(lines.join("\n") + "\n"), options)
    }

    /// The header's line, after omp's title slot if there is one.
    pub(super) fn opening_lines(&self) -> String {
        let slot = self.loaded.slot.as_ref().map(TitleSlot::line);
        let lines: Vec<&str> = slot.into_iter().chain([self.header.line()]).collect();
        lines.join("\n") + "\n"
    }
}

pub(super) fn read_file(medium: &FileMedium, options: &Options) -> Result<Loaded> {
    let length = medium.len().map_err(Error::io("read", medium.path()))?;
    let tell = |done| options.progress.iter().for_each(|progress| progress(done, length));
    let loaded = load_indexed(medium, options.index.as_deref(), options.index_access, &mut |done| tell(done))?;
    tell(length);
    Ok(loaded)
}

fn new_header(new: &NewSession<'_>, options: &mut Options) -> Result<Header> {
    let id = match new.id {
        Some(id) => check_session_id(id).map(|()| id.to_owned())?,
        None => options.ids.session_id(),
    };
    let parent_session = new.parent_session;
    let at = options.clock.now();
    Ok(Header::new(&NewHeader { id: &id, at, cwd: new.cwd, parent_session, title: None }))
}

/// A header without version, for entries of version 1.
fn without_version(header: &Header) -> String {
    let others = header.json().members().filter(|(name, _)| name != "version");
    others.fold(Object::new(), |object, (name, value)| object.json(&name, value)).finish()
}

pub(super) fn check_session_id(id: &str) -> Result<()> {
    if is_valid_session_id(id) {
        return Ok(());
    }
    Err(Invalid::SessionId { id: id.to_owned() }.into())
}
