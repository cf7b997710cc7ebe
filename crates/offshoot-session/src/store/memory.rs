//! A store whose sessions live as long as it does.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Progress, Scope, Store};
use crate::clock::Millis;
use crate::error::{Diagnostic, Error, Result};
use crate::list::{SessionInfo, session_info, sort_by_activity};
use crate::medium::{Medium as _, MemoryMedium};
use crate::session::{NewSession, Options, Session};

/// A store in memory. Clones share their sessions.
#[derive(Debug, Clone, Default)]
pub struct MemoryStore {
    sessions: Arc<Mutex<BTreeMap<String, MemoryMedium>>>,
}

#[expect(missing_docs, reason = "the name says it")]
impl MemoryStore {
    pub fn new() -> Self {
        Self::default()
    }

    fn sessions(&self) -> MutexGuard<'_, BTreeMap<String, MemoryMedium>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn create(&self, new: &NewSession<'_>, options: Options) -> Result<Session> {
        let medium = MemoryMedium::default();
        let session = Session::over_memory(medium.clone(), new, options)?;
        self.sessions().insert(session.id().to_owned(), medium);
        Ok(session)
    }

    fn open(&self, id: &str, options: Options) -> Result<Session> {
        let medium = self.sessions().get(id).cloned().filter(|medium| medium.len().is_ok_and(|length| length > 0));
        let medium = medium.ok_or_else(|| Error::SessionNotFound { given: id.to_owned() })?;
        Session::over_memory(medium, &NewSession::default(), options)
    }

    fn list(&self, scope: Scope<'_>, progress: Progress<'_>) -> Result<(Vec<SessionInfo>, Vec<Diagnostic>)> {
        let media: Vec<MemoryMedium> = self.sessions().values().cloned().collect();
        let mut sessions = Vec::new();
        for (at, medium) in media.iter().enumerate() {
            progress(at, media.len());
            if medium.len().is_ok_and(|length| length > 0) {
                let info = session_info(medium, None, scope.with_text)?;
                if scope.cwd.is_none_or(|cwd| info.cwd == cwd) {
                    sessions.push(info);
                }
            }
        }
        progress(media.len(), media.len());
        sort_by_activity(&mut sessions);
        Ok((sessions, Vec::new()))
    }

    fn most_recent(&self, cwd: Option<&str>) -> Result<Option<String>> {
        let (sessions, _) = self.list(Scope { cwd, with_text: false }, &mut |_, _| {})?;
        let newest = sessions.iter().max_by_key(|info| info.modified.unwrap_or(Millis::MIN));
        Ok(newest.map(|info| info.id.clone()))
    }

    fn ids(&self) -> Result<Vec<String>> {
        let begun = |medium: &MemoryMedium| medium.len().is_ok_and(|length| length > 0);
        Ok(self.sessions().iter().filter(|(_, medium)| begun(medium)).map(|(id, _)| id.clone()).collect())
    }
}
