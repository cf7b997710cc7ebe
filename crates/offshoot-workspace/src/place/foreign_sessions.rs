//! Opens sessions, those of other agents included: these are only read.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use offshoot_foreign::{Agent, Archive, agent_of_store, foreign_agent, open_foreign};
use offshoot_session::error::Error;
use offshoot_session::medium::Stamp;
use offshoot_session::session::{Session, SpillPolicy};
use offshoot_session::store::{DirStore, ForeignFolder, ForeignFormat, Root};
use offshoot_session::text::shell_word;

use super::Place;
use crate::failure::{Failure, FailureKind, Hint, Result};

impl Place {
    /// The store together with the folders of other agents: to list, to search and to read.
    ///
    /// # Errors
    /// Nobody says where sessions are.
    pub fn store_with_agents(&self) -> Result<DirStore> {
        Ok(self.store()?.beside(&self.options.agents))
    }

    /// The ids of other agents' sessions with their files, the newest file of an id first.
    pub(crate) fn agents_sessions(&self, only: Option<Agent>) -> Vec<(String, PathBuf)> {
        self.sessions_in(only, |root| !Agent::is_kept_root(root), |format| format.folders)
    }

    /// The same of sessions whose sources are gone, and of which there are copies.
    pub(crate) fn kept_sessions(&self, only: Option<Agent>) -> Vec<(String, PathBuf)> {
        self.sessions_in(only, Agent::is_kept_root, |format| format.folders)
    }

    /// The same of sessions that others have started, here and in copies.
    pub(crate) fn started_sessions(&self, only: Option<Agent>) -> Vec<(String, PathBuf)> {
        let mut found = self.sessions_in(only, |root| !Agent::is_kept_root(root), |format| format.started);
        found.extend(self.sessions_in(only, Agent::is_kept_root, |format| format.started));
        found
    }

    /// Whether a session is a copy whose source is gone.
    #[must_use]
    pub fn is_kept(&self, file: &Path) -> bool {
        let mut roots = self.options.agents.iter().filter(|root| Agent::is_kept_root(root));
        roots.any(|root| file.starts_with(&root.folder))
    }

    fn sessions_in(
        &self,
        only: Option<Agent>,
        fits: impl Fn(&Root) -> bool,
        folders: impl Fn(&'static ForeignFormat) -> fn(&Path, Option<&str>) -> Vec<ForeignFolder>,
    ) -> Vec<(String, PathBuf)> {
        let mut found: Vec<(String, PathBuf, Option<i64>)> = Vec::new();
        for root in self.options.agents.iter().filter(|root| fits(root)) {
            let Some((agent, format)) = root.format().and_then(|format| Some((Agent::from_word(format.word)?, format)))
            else {
                continue;
            };
            if only.is_none_or(|only| only == agent) {
                // Their sessions lie in the folders where people work.
                let is_here = matches!(agent, Agent::Crush | Agent::Aider);
                let here = is_here.then(|| self.cwd().to_string_lossy().into_owned());
                let files = folders(format)(&root.folder, here.as_deref()).into_iter().flat_map(|folder| folder.files);
                let named = |(path, stamp): (PathBuf, Option<Stamp>)| {
                    Some((agent.id_of(&path)?, path, stamp.map(|stamp| stamp.modified)))
                };
                found.extend(files.filter_map(named));
            }
        }
        found.sort_by_key(|(.., modified)| Reverse(*modified));
        found.into_iter().map(|(id, path, _)| (id, path)).collect()
    }

    /// The agent whose session a file is, by its folder or by its records.
    pub(crate) fn agent_of_session(&self, file: &Path) -> Option<Agent> {
        self.agent_of(file).or_else(|| foreign_agent(file).ok().flatten())
    }

    /// The agents that have a folder here.
    #[must_use]
    pub fn agents(&self) -> Vec<Agent> {
        let roots = self.options.agents.iter().filter(|root| !Agent::is_kept_root(root));
        roots.filter_map(|root| Agent::from_word(root.format()?.word)).collect()
    }

    /// The copies of other agents' sessions.
    ///
    /// # Errors
    /// There is no folder for the user's data.
    pub fn archive(&self) -> Result<Archive> {
        let data = self.data().ok_or_else(|| {
            Failure::refused(FailureKind::Failed, "there is no home directory to keep copies in")
                .hint(Hint::Text("set OFFSHOOT_HOME".to_owned()))
        })?;
        Ok(Archive::new(data.join("archive")))
    }

    /// The folder of an agent, if it is there.
    pub(crate) fn root_of(&self, agent: Agent) -> Option<PathBuf> {
        let is_of = |root: &&Root| {
            !Agent::is_kept_root(root) && root.format().is_some_and(|format| format.word == agent.word())
        };
        self.options.agents.iter().find(is_of).map(|root| root.folder.clone())
    }

    /// The agent in whose folder a file is, or whose store it is a part of: those of some lie where people work.
    #[must_use]
    pub fn agent_of(&self, file: &Path) -> Option<Agent> {
        if let Some(root) = self.options.agents.iter().find(|root| file.starts_with(&root.folder)) {
            return Agent::from_word(root.format()?.word);
        }
        let is_store = |extension: &std::ffi::OsStr| extension == "db" || extension == "md";
        file.parent().filter(|store| store.extension().is_some_and(is_store))?;
        foreign_agent(file).ok().flatten()
    }

    /// Opens a session file. If the file does not show its dialect, its folder decides.
    ///
    /// # Errors
    /// It cannot be read, or is no session.
    pub fn open_file(&self, file: &Path, spill_policy: SpillPolicy) -> Result<Session> {
        Session::open(file, self.options_for(file, spill_policy)).map_err(|error| {
            if let Err(store) = refuse_store(file) {
                return store;
            }
            let by_records = || foreign_agent(file).ok().flatten();
            let agent = match &error {
                Error::NotASession { .. } => self.agent_of(file).or_else(by_records),
                // A session in a store has no file of its own.
                _ => self.agent_of(file),
            };
            agent.map_or_else(|| error.into(), |agent| only_read(file, agent))
        })
    }

    /// Opens a session file to read, which may be another agent's.
    ///
    /// # Errors
    /// It cannot be read, or is nobody's session.
    pub fn open_to_read(&self, file: &Path) -> Result<Session> {
        refuse_store(file)?;
        let options = || self.options_for(file, SpillPolicy::default());
        if let Some(agent) = self.agent_of(file) {
            return Ok((agent.format().open)(file, options())?);
        }
        match Session::open(file, options()) {
            Err(error @ Error::NotASession { .. }) => match open_foreign(file, options)? {
                Some(foreign) => Ok(foreign.session),
                None => Err(error.into()),
            },
            opened => Ok(opened?),
        }
    }
}

/// A file that holds several sessions is none itself.
fn refuse_store(file: &Path) -> Result<()> {
    let Some(agent) = agent_of_store(file) else { return Ok(()) };
    let why = format!("{} holds sessions of {}, and is none itself", file.display(), agent.title());
    let list = match agent {
        Agent::Aider | Agent::Crush => format!("`offshoot list --agent {}` in its folder", agent.word()),
        _ => format!("`offshoot list --all --agent {}`", agent.word()),
    };
    let list = format!("{list} shows them; their ids name them");
    Err(Failure::refused(FailureKind::Usage, why).hint(Hint::Text(list)))
}

/// Why nothing is written to a session of another agent.
fn only_read(file: &Path, agent: Agent) -> Failure {
    let why = format!("{} is a session of {}, which is only read", file.display(), agent.title());
    let import = format!("`offshoot import {}` makes it yours", shell_word(&file.to_string_lossy()));
    Failure::refused(FailureKind::Conflict, why).hint(Hint::Text(import))
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests prepare their own files")]
mod tests {
    use offshoot_session::entry::Source as _;

    use super::*;
    use crate::lookup::Access;
    use crate::place::PlaceOptions;

    #[test]
    fn a_session_of_another_agent_is_read_and_never_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("s.jsonl");
        let line = r#"{"type":"user","sessionId":"s","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"why?"}}"#;
        std::fs::write(&file, format!("{line}\n")).unwrap();
        let place = Place::new(PlaceOptions::in_folder(folder.path()));
        let open = |access| place.open(&file.to_string_lossy(), access, SpillPolicy::default());
        assert_eq!(open(Access::Read).unwrap().tree().len(), 1);
        assert_eq!(place.agent_of_session(&file), Some(Agent::Claude));
        let refused = open(Access::Write).unwrap_err().to_string();
        assert!(refused.ends_with("s.jsonl is a session of Claude Code, which is only read"), "{refused}");
        std::fs::write(&file, "{\"type\":\"other\"}\n").unwrap();
        assert!(open(Access::Read).unwrap_err().to_string().contains("not a session"));
    }
}
