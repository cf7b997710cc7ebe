//! Takes the lock and looks at the file: one that grew is read on, one that was replaced stops appends.
//!
//! Size and inode reveal programs that take no lock. This file decides what a session may do after trouble.

use super::snapshot::FactsCache;
use super::{Backing, Session};
use crate::entry::Source as _;
use crate::error::{Code, Conflict, Diagnostic, Error, Result};
use crate::load::load;
use crate::medium::{Medium, MediumState, open_regular_to_append, read_exact_at};

/// Why a session does not simply append.
#[derive(Debug)]
pub(super) enum Broken {
    /// The end of the file is unknown. The next append reads it and continues there.
    Unknown(Conflict),
    /// Only opening the session again can help.
    ForGood(Conflict),
}

impl Session {
    /// Fails if the session must be opened again.
    pub(super) fn refuse_if_broken(&self) -> Result<()> {
        match &self.broken {
            Some(Broken::ForGood(why)) => Err(self.conflict(why.clone())),
            Some(Broken::Unknown(_)) | None => Ok(()),
        }
    }

    /// Also fails if the next append must look at the file first, for callers that do not.
    pub(super) fn refuse_unless_sound(&self) -> Result<()> {
        match &self.broken {
            Some(Broken::ForGood(why) | Broken::Unknown(why)) => Err(self.conflict(why.clone())),
            None => Ok(()),
        }
    }

    /// Whether the system lets this process append to the file. Writes nothing.
    ///
    /// # Errors
    /// [`Error::Io`]: a read-only file, a file of somebody else, or a read-only file system.
    pub fn check_writable(&self) -> Result<()> {
        let Backing::File(medium) = &self.backing else { return Ok(()) };
        let path = medium.path();
        open_regular_to_append(path).map(drop).map_err(Error::io("append to", path))
    }

    /// For a caller whose append broke off in between: its lock is released, and the next append reads the file again.
    pub fn distrust(&mut self) {
        if !matches!(self.broken, Some(Broken::ForGood(_))) {
            self.broken = Some(Broken::Unknown(Conflict::EndUnknown));
        }
        // If it cannot be released, the next append says so.
        drop(self.unlock());
    }

    pub(super) fn conflict(&self, why: Conflict) -> Error {
        Error::conflict(self.backing.path(), why)
    }

    fn give_up(&mut self, why: Conflict) -> Error {
        self.broken = Some(Broken::ForGood(why.clone()));
        self.conflict(why)
    }

    pub(super) fn medium_mut(&mut self) -> Result<&mut dyn Medium> {
        match &mut self.backing {
            Backing::File(medium) | Backing::Memory(medium) => Ok(medium.as_mut()),
            Backing::Unborn(path) => Err(Error::conflict(path, Conflict::NotWritten)),
        }
    }

    /// Takes the lock and reads what other programs have appended.
    pub(super) fn locked(&mut self) -> Result<MediumState> {
        let standing = self.take_lock()?;
        let known = self.loaded.end.length;
        let caught_up = if !standing.is_current {
            Err(self.no_longer_there())
        } else if standing.length < known {
            Err(self.give_up(Conflict::Shortened))
        } else if matches!(self.broken, Some(Broken::Unknown(_))) {
            self.reload()
        } else if standing.length > known {
            self.catch_up(standing.length)
        } else {
            Ok(())
        };
        match caught_up {
            Ok(()) => self.broken = None,
            Err(error) => {
                self.unlock()?;
                return Err(error);
            }
        }
        Ok(standing)
    }

    fn no_longer_there(&mut self) -> Error {
        let is_deleted = self.file().is_some_and(|path| std::fs::symlink_metadata(path).is_err());
        self.give_up(if is_deleted { Conflict::Deleted } else { Conflict::Replaced })
    }

    /// On a file system without locks, continues without and reports it once.
    fn take_lock(&mut self) -> Result<MediumState> {
        let medium = self.medium_mut()?;
        let path = medium.path().to_path_buf();
        match medium.lock() {
            Ok(standing) => {
                self.holds_lock = true;
                Ok(standing)
            }
            Err(error) if error.kind() == std::io::ErrorKind::Unsupported => {
                let look =
                    |medium: &dyn Medium| Ok(MediumState { is_current: medium.is_current()?, length: medium.len()? });
                let standing = look(medium).map_err(Error::io("look at", &path))?;
                self.note_missing_locks();
                Ok(standing)
            }
            Err(error) => Err(Error::io("lock", &path)(error)),
        }
    }

    fn note_missing_locks(&mut self) {
        if self.loaded.diagnostics.iter().all(|known| known.code != Code::NoLock) {
            let message = "the file system has no locks: let one program at a time write to this session";
            let code = Code::NoLock;
            self.report(Diagnostic { code, line: None, offset: 0, entry: None, message: message.to_owned() });
        }
    }

    pub(super) fn unlock(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.holds_lock) {
            return Ok(());
        }
        let medium = self.medium_mut()?;
        let path = medium.path().to_path_buf();
        medium.unlock().map_err(Error::io("unlock", &path))
    }

    /// Reads what other processes have appended and returns whether there was anything. The leaf stays.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the file was shortened; [`Error::Io`].
    pub fn refresh(&mut self) -> Result<bool> {
        let Ok(medium) = self.medium() else { return Ok(false) };
        if self.loaded.is_made() {
            return Ok(false);
        }
        let length = medium.len().map_err(Error::io("read", medium.path()))?;
        if length == self.loaded.end.length {
            return Ok(false);
        }
        if length < self.loaded.end.length {
            return Err(self.conflict(Conflict::Shortened));
        }
        self.catch_up(length)?;
        Ok(true)
    }

    /// Whether the path still names the opened file; true for a session in memory or without a file.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn is_current(&self) -> Result<bool> {
        let Ok(medium) = self.medium() else { return Ok(true) };
        medium.is_current().map_err(Error::io("look at", medium.path()))
    }

    fn catch_up(&mut self, length: u64) -> Result<()> {
        let lines = self.loaded.end.lines;
        let (Backing::File(medium) | Backing::Memory(medium)) = &self.backing else { return Ok(()) };
        if !self.ends_as_known()? || !self.loaded.extend(medium.as_ref(), length)? {
            self.reload()?;
        }
        self.note_others(lines);
        Ok(())
    }

    /// Whether the last entry is still at its place. A program may have rewritten the file.
    fn ends_as_known(&self) -> Result<bool> {
        let Some(last) = self.tree().last() else { return Ok(true) };
        let (node, medium) = (self.tree().node(last), self.medium()?);
        let Some(id) = node.id() else { return Ok(true) };
        // Nearly every line has its id in its first or last few hundred bytes.
        let length = usize::try_from(node.length()).unwrap_or(usize::MAX);
        let line = read_exact_at(medium, node.offset(), length).map_err(Error::io("read", medium.path()))?;
        Ok(memchr::memmem::find(&line, id.as_str().as_bytes()).is_some())
    }

    /// Reads the whole file again. The leaf stays.
    pub(super) fn reload(&mut self) -> Result<()> {
        let leaf = self.leaf_id().cloned();
        let told = std::mem::take(&mut self.loaded.diagnostics);
        match load(self.medium()?) {
            Ok(loaded) => {
                self.loaded = loaded;
                self.facts = FactsCache::default();
            }
            Err(error) => {
                self.loaded.diagnostics = told;
                return Err(error);
            }
        }
        // Diagnostics that do not come from the file.
        let lasting =
            |told: &Diagnostic| matches!(told.code, Code::Diverged | Code::Spilled | Code::HalfAnswer | Code::NoLock);
        self.loaded.diagnostics.extend(told.into_iter().filter(lasting));
        if let Some(header) = &self.loaded.header {
            self.header = header.clone();
        }
        self.leaf = leaf.and_then(|id| self.tree().find(id.as_str()));
        Ok(())
    }

    /// After a write: whether the file ends where it does if no other program wrote.
    pub(super) fn ends_at(&self, length: u64) -> Result<bool> {
        let medium = self.medium()?;
        Ok(medium.len().map_err(Error::io("look at", medium.path()))? == length)
    }

    /// Adds to [`Session::diagnostics`] and [`Session::take_news`].
    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.news.push(diagnostic.clone());
        self.loaded.diagnostics.push(diagnostic);
    }

    /// What appends have found out about other programs since the last call: concurrent branches ([`Code::Diverged`])
    /// and missing locks ([`Code::NoLock`]). Also among [`Session::diagnostics`].
    pub fn take_news(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.news)
    }
}
