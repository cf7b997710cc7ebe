//! The folder in which the agent works on a session. A session's header comes from elsewhere, so it counts only at or below
//! the folder where the person is; any other folder must be named. Follows links. Asks nobody.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use offshoot_protocol::FolderRefusal;
use offshoot_session::list::header;
use offshoot_session::medium::{FileMedium, real_path_or_same};
use offshoot_session::session::Session;

/// The folder where the person is, and those that the person named since the start.
#[derive(Debug, Clone)]
pub struct WorkFolders {
    here: PathBuf,
    /// Real paths.
    named: Arc<Mutex<Vec<PathBuf>>>,
}

impl WorkFolders {
    /// The person is in this folder.
    pub fn new(here: &Path) -> Self {
        Self { here: real_path_or_same(here), named: Arc::default() }
    }

    /// Continues the session in its own folder or in the named one.
    ///
    /// # Errors
    /// The reason, if neither is possible. The session is unchanged.
    pub fn enter(&self, session: &mut Session, named: Option<&Path>) -> Result<(), FolderRefusal> {
        let folder = self.of(session.header().cwd(), named)?;
        // A path that is not Unicode stays as the header has it.
        if let Some(folder) = folder.to_str().filter(|folder| session.cwd() != Some(folder)) {
            session.work_in(folder);
        }
        Ok(())
    }

    /// Checks whether [`WorkFolders::enter`] would refuse the session of this file. A file that is not a session passes: opening it fails.
    ///
    /// # Errors
    /// As there.
    pub fn check(&self, file: &Path, named: Option<&Path>) -> Result<(), FolderRefusal> {
        let header = FileMedium::open(file).ok().and_then(|medium| header(&medium).ok());
        header.map_or(Ok(()), |header| self.of(header.cwd(), named).map(drop))
    }

    /// The real path of the folder for a session whose header says `own`.
    ///
    /// # Errors
    /// As [`WorkFolders::enter`].
    pub fn of(&self, own: Option<&str>, named: Option<&Path>) -> Result<PathBuf, FolderRefusal> {
        let here = self.here.clone();
        let own = own.filter(|own| !own.is_empty()).map_or_else(|| here.clone(), |own| here.join(own));
        let real = own.canonicalize().ok().filter(|real| real.is_dir());
        let Some(named) = named.map(|named| here.join(named)) else {
            return match real {
                None => Err(FolderRefusal::Gone { own, here }),
                Some(real) if self.counts(&real) => Ok(real),
                Some(_) => Err(FolderRefusal::Elsewhere { own, here }),
            };
        };
        match (named.canonicalize().ok(), real) {
            (Some(named), _) if named == here => Ok(here),
            (Some(named), Some(real)) if named == real => {
                if !self.counts(&named) {
                    self.named().push(named.clone());
                }
                Ok(named)
            }
            (_, None) if named == own => Err(FolderRefusal::Gone { own, here }),
            (_, _) => Err(FolderRefusal::Neither { named, own, here }),
        }
    }

    fn counts(&self, real: &Path) -> bool {
        real.starts_with(&self.here) || self.named().iter().any(|named| real.starts_with(named))
    }

    fn named(&self) -> std::sync::MutexGuard<'_, Vec<PathBuf>> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
