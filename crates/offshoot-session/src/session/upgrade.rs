//! Upgrades old files at their first append, and recreates deleted ones on request.

use std::path::PathBuf;

use super::{Backing, Session};
use crate::entry::Source as _;
use crate::error::{Error, Result};
use crate::extract;
use crate::medium::{Medium, MemoryMedium};
use crate::pieces::Pieces;

impl Session {
    /// Upgrades an old file now. Returns the backup's path, or `None` if the session was not old or is in memory. The
    /// new file replaces the old one in one step.
    ///
    /// # Errors
    /// [`Error::Conflict`] if another program replaced, shortened or deleted the file; [`Error::Io`]. It stays then.
    pub fn upgrade(&mut self) -> Result<Option<PathBuf>> {
        if !self.loaded.is_old() {
            return Ok(None);
        }
        self.refuse_if_broken()?;
        // The lock keeps others from appending to bytes that are about to be replaced; those who wait for it find the
        // file replaced. It ends with the old medium.
        if matches!(self.backing, Backing::File(_)) {
            self.locked()?;
        }
        let upgraded = self.upgrade_locked();
        if upgraded.is_err() {
            self.unlock()?;
        }
        upgraded
    }

    /// [`Session::upgrade`] without reading the new file.
    ///
    /// # Errors
    /// Those of [`Session::upgrade`].
    pub fn upgrade_and_close(mut self) -> Result<Option<PathBuf>> {
        if !self.loaded.is_old() {
            return Ok(None);
        }
        self.refuse_if_broken()?;
        let Backing::File(_) = self.backing else { return Ok(None) };
        // The lock ends with the session.
        self.locked()?;
        self.replaced_by_upgrade(self.medium()?).map(Some)
    }

    /// Replaces the file by the upgraded one; returns the backup's path.
    fn replaced_by_upgrade(&self, medium: &dyn Medium) -> Result<PathBuf> {
        let pieces = extract::everything(self, &self.loaded, None)?;
        pieces.replace(medium, medium.path(), &format!(".v{}.bak", self.version()))
    }

    fn upgrade_locked(&mut self) -> Result<Option<PathBuf>> {
        let leaf = self.leaf_id().cloned();
        let backup = match &self.backing {
            Backing::Unborn(_) => None,
            Backing::File(medium) => {
                let path = medium.path().to_path_buf();
                let backup = self.replaced_by_upgrade(medium.as_ref())?;
                self.backing = self.options.file(&path)?;
                self.holds_lock = false;
                Some(backup)
            }
            Backing::Memory(_) => {
                let pieces = extract::everything(self, &self.loaded, None)?;
                self.backing = Backing::Memory(Box::new(self.in_memory_copy(&pieces)?));
                None
            }
        };
        self.reload()?;
        self.leaf = leaf.and_then(|id| self.tree().find(id.as_str()));
        Ok(backup)
    }

    /// Writes the file again after another program deleted it; the open file still has its bytes. The session then
    /// takes appends.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the path has a file; [`Error::Io`]. Nothing is written then.
    pub fn recreate(&mut self) -> Result<()> {
        let medium = self.medium()?;
        let path = medium.path().to_path_buf();
        let mut pieces = Pieces::default();
        pieces.range(0, medium.len().map_err(Error::io("read", &path))?);
        pieces.create(medium, &path)?;
        self.backing = self.options.file(&path)?;
        self.holds_lock = false;
        self.broken = None;
        self.reload()
    }

    pub(super) fn in_memory_copy(&self, pieces: &Pieces) -> Result<MemoryMedium> {
        let mut bytes = Vec::new();
        let source = self.medium()?;
        pieces.write(source, &mut bytes).map_err(Error::io("read", source.path()))?;
        Ok(MemoryMedium::new(bytes))
    }
}
