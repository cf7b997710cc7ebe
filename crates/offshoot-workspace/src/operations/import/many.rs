//! Imports of many sessions of other agents: which ones are meant, what came of each, and what failed.

use std::collections::HashSet;
use std::path::PathBuf;

use offshoot_foreign::{Agent, ImportReport};
use offshoot_session::json::Object;
use offshoot_session::list::SessionInfo;
use offshoot_session::store::{Scope, WorkFolder};
use offshoot_session::text::counted;

use super::{ImportInput, ImportPlan};
use crate::failure::{Failure, Result};
use crate::foreign_import::{ForeignImport, report_json};
use crate::operations::list::since;
use crate::place::{Place, SessionProgram};

/// A session that is meant.
#[derive(Debug)]
pub(super) struct WantedImport {
    agent: Agent,
    source: PathBuf,
    /// Its bytes; of a session in a store it is not known.
    bytes: Option<u64>,
}

/// A session that was imported.
#[derive(Debug)]
pub(super) struct ImportedOne {
    agent: Agent,
    source: PathBuf,
    path: PathBuf,
    note: Option<String>,
    /// What was imported, and what has no place.
    pub report: ImportReport,
    sha256: Option<String>,
}

/// The sessions of other agents that fit the options, newest first.
pub(super) fn wanted(place: &Place, input: &ImportInput) -> Result<Vec<WantedImport>> {
    let since = input.since.as_ref().map(|given| since(place, &given.0)).transpose()?;
    let mut folder = input.cwd.as_ref().map(|folder| WorkFolder::new(&place.folder(&folder.0)));
    let store = place.store_with_agents()?;
    let progress = place.progress("reading sessions");
    let told = &mut |done: usize, total: usize| progress(done as u64, total as u64);
    let (mut all, _) = place.list(&store, Scope { cwd: None, with_text: false }, told)?;
    // Stores and histories in the folders of projects are found by who is there.
    let (here, _) = place.list(&store, Scope { cwd: Some(&place.cwd().to_string_lossy()), with_text: false }, told)?;
    let listed: HashSet<PathBuf> = all.iter().map(|info| info.path.clone()).collect();
    all.extend(here.into_iter().filter(|info| !listed.contains(&info.path)));
    let wish = |info: SessionInfo| {
        let agent = place.agent_of(&info.path)?;
        let fits = input.agent.is_none_or(|wanted| wanted.takes(SessionProgram::of_agent(agent)))
            && since.is_none_or(|since| info.modified.is_some_and(|time| time >= since))
            && store.belongs(&info, folder.as_mut())
            && info.message_count > 0;
        let bytes = std::fs::metadata(&info.path).ok().map(|meta| meta.len());
        fits.then_some(WantedImport { agent, source: info.path, bytes })
    };
    Ok(all.into_iter().filter_map(wish).collect())
}

/// Imports them one after another. One that fails does not end the others.
pub(super) fn import_all(
    place: &Place,
    wanted: &[WantedImport],
    import: impl Fn(&WantedImport) -> Result<ImportedOne>,
) -> (Vec<ImportedOne>, Vec<Failure>) {
    let progress = place.progress("importing");
    let (mut done, mut failed) = (Vec::new(), Vec::new());
    for (number, one) in (1..).zip(wanted) {
        if place.is_stopped() {
            break;
        }
        match import(one) {
            Ok(imported) => done.push(imported),
            Err(failure) => failed.push(failure),
        }
        progress(number, wanted.len() as u64);
    }
    (done, failed)
}

/// What would be imported, in words: how many sessions of each agent, and how large they are.
pub(super) fn words_of(wanted: &[WantedImport]) -> String {
    let bytes: u64 = wanted.iter().filter_map(|one| one.bytes).sum();
    let of = |agent: &Agent| {
        let count = wanted.iter().filter(|one| one.agent == *agent).count();
        (count > 0).then(|| format!("{} {count}", agent.title()))
    };
    let agents: Vec<String> = Agent::ALL.iter().filter_map(of).collect();
    let size = format!("{:.1} MB", bytes as f64 / 1e6);
    format!("{}, {size}: {}", counted(wanted.len(), "session", "sessions"), agents.join(", "))
}

impl WantedImport {
    /// Imports it, and compares if that is asked for.
    pub(super) fn import(&self, place: &Place, of: &ImportPlan) -> Result<ImportedOne> {
        let plan = ForeignImport::plan(place, self.agent, &self.source, of.is_now)?;
        let imported = plan.make(place)?;
        let sha256 = if of.is_verified { Some(plan.verify(place)?.sha256) } else { None };
        let (agent, source, path) = (self.agent, self.source.clone(), imported.target);
        Ok(ImportedOne { agent, source, path, note: imported.note, report: plan.report, sha256 })
    }

    pub(super) fn json(&self) -> String {
        let object = Object::new().str("agent", self.agent.word()).str("source", &self.source.to_string_lossy());
        match self.bytes {
            Some(bytes) => object.raw("bytes", bytes).finish(),
            None => object.raw("bytes", "null").finish(),
        }
    }
}

impl ImportedOne {
    pub(super) fn json(&self) -> String {
        Object::new()
            .str("agent", self.agent.word())
            .str("source", &self.source.to_string_lossy())
            .str("path", &self.path.to_string_lossy())
            .str_or_null("note", self.note.as_deref())
            .raw("report", report_json(&self.report))
            .opt_str("sha256", self.sha256.as_deref())
            .finish()
    }

    pub(super) fn line(&self) -> String {
        let note = self.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
        format!("{}{note}", self.path.display())
    }
}
