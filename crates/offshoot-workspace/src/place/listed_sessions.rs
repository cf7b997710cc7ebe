//! What lists show of sessions: from the catalogue if there is one, else from the store.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use offshoot_foreign::subagents;
use offshoot_session::children::ChildList;
use offshoot_session::clock::{Clock as _, SystemClock};
use offshoot_session::error::{self, Diagnostic};
use offshoot_session::list::SessionInfo;
use offshoot_session::session::{Session, SpillPolicy};
use offshoot_session::store::{DirStore, Progress, Scope, Store as _};

use super::Place;
use crate::failure::Result;

impl Place {
    /// Lists sessions, last activity first, through the catalogue if possible.
    ///
    /// # Errors
    /// The store's own root cannot be read.
    pub fn list(
        &self,
        store: &DirStore,
        scope: Scope<'_>,
        progress: Progress<'_>,
    ) -> Result<(Vec<SessionInfo>, Vec<Diagnostic>)> {
        match self.options.catalogue.as_ref().filter(|_| !scope.with_text) {
            // The real clock: it is compared with file times.
            Some(catalogue) => Ok(catalogue.list(store, scope.cwd, SystemClock.now(), progress)?),
            None => Ok(store.list(scope, progress)?),
        }
    }

    /// The agents that each of the sessions in these files has started, in their order, through the catalogue if possible.
    ///
    /// # Errors
    /// Of a session: the folder of its children cannot be read.
    #[must_use]
    pub fn children(&self, sessions: &[&Path]) -> Vec<error::Result<ChildList>> {
        match self.options.catalogue.as_ref() {
            // The real clock: it is compared with file times.
            Some(catalogue) => catalogue.children(sessions, SystemClock.now()),
            None => sessions.iter().map(|file| ChildList::of(file)).collect(),
        }
    }

    /// Those of an open session. A folder that cannot be read has none, and a session in memory neither.
    pub(crate) fn children_of(&self, session: &Session) -> ChildList {
        if let Some(file) = session.origin().filter(|_| session.file().is_none()) {
            let options = || self.options_for(file, SpillPolicy::default());
            let agent = self.agent_of_session(file);
            return agent.map(|agent| subagents(agent, session, file, options)).unwrap_or_default();
        }
        let read = session.file().map(|file| self.children(&[file])).unwrap_or_default();
        read.into_iter().flatten().next().unwrap_or_default()
    }

    /// What lists show of some files, in no order. Leaves out those that cannot be read.
    ///
    /// # Errors
    /// There is no store.
    pub(crate) fn infos(&self, files: &BTreeSet<PathBuf>) -> Result<Vec<SessionInfo>> {
        let files: Vec<PathBuf> = files.iter().cloned().collect();
        let store = self.store_with_agents()?;
        Ok(match self.options.catalogue.as_ref() {
            // The real clock: it is compared with file times.
            Some(catalogue) => catalogue.of_files(&store, &files, SystemClock.now()),
            None => store.infos_of(&files),
        })
    }
}
