//! What lists show of sessions: from the catalogue if there is one, else from the store.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use offshoot_foreign::{Agent, SubagentsOf, subagents};
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

    /// The agents that each of the sessions in these files has started, in their order, through the catalogue if possible. A session may be
    /// another agent's.
    ///
    /// # Errors
    /// Of a session: the folder of its children cannot be read.
    #[must_use]
    pub fn children(&self, sessions: &[&Path]) -> Vec<error::Result<ChildList>> {
        let is_own = |file: &&&Path| self.agent_of(file).is_none();
        let own: Vec<&Path> = sessions.iter().filter(is_own).copied().collect();
        let own: Vec<error::Result<ChildList>> = match self.options.catalogue.as_ref() {
            // The real clock: it is compared with file times.
            Some(catalogue) => catalogue.children(&own, SystemClock.now()),
            None => own.iter().map(|file| ChildList::of(file)).collect(),
        };
        let mut own = own.into_iter();
        let children = |file: &&Path| match self.agent_of(file) {
            Some(agent) => Ok(self.subagents_of(agent, file, None)),
            None => own.next().unwrap_or_else(|| Ok(ChildList::default())),
        };
        sessions.iter().map(children).collect()
    }

    /// Those of an open session. A folder that cannot be read has none, and a session in memory neither.
    pub(crate) fn children_of(&self, session: &Session) -> ChildList {
        if let Some(file) = session.origin().filter(|_| session.file().is_none()) {
            let agent = self.agent_of_session(file);
            return agent.map(|agent| self.subagents_of(agent, file, Some(session))).unwrap_or_default();
        }
        let read = session.file().map(|file| self.children(&[file])).unwrap_or_default();
        read.into_iter().flatten().next().unwrap_or_default()
    }

    /// Those of another agent's session. What the catalogue knows of them is not read again.
    fn subagents_of(&self, agent: Agent, file: &Path, session: Option<&Session>) -> ChildList {
        let of = SubagentsOf { agent, path: file, session, now: self.now() };
        let known = |files: &[PathBuf]| self.infos(&files.iter().cloned().collect()).unwrap_or_default();
        subagents(of, known, || self.options_for(file, SpillPolicy::default()))
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
