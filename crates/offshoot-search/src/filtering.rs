//! Which documents the filters of a query look at.

use offshoot_session::clock::Millis;
use offshoot_session::store::Flavour;

use crate::document::{Document, DocumentKind};
use crate::query::Filters;

/// The name of a program in a query.
#[must_use]
pub fn agent_word(flavour: Option<Flavour>) -> &'static str {
    match flavour {
        Some(Flavour::Pi) => "pi",
        Some(Flavour::Omp) => "omp",
        Some(Flavour::Foreign(format)) => format.word,
        Some(Flavour::Offshoot | Flavour::Flat) | None => "offshoot",
    }
}

impl Filters {
    /// Whether every session can have hits, whatever its folder, its program and its id.
    pub(crate) fn take_all_sessions(&self) -> bool {
        self.folders.is_empty() && self.agents.is_empty() && self.sessions.is_empty() && self.git_branches.is_empty()
    }

    /// Whether the sessions of a folder are searched.
    pub(crate) fn takes_folder(&self, folder: Option<&str>) -> bool {
        self.folders.is_empty() || folder.is_some_and(|folder| self.folders.iter().any(|one| one == folder))
    }

    /// Whether a session of this program, with this id, can have hits. The sessions here have no git branch.
    #[must_use]
    pub(crate) fn takes_session(&self, agent: &str, id: &str) -> bool {
        let is_agent = self.agents.is_empty() || self.agents.iter().any(|wanted| wanted == agent);
        let is_id = self.sessions.is_empty() || self.sessions.iter().any(|start| id.starts_with(start.as_str()));
        is_agent && is_id && self.git_branches.is_empty()
    }

    /// Whether a document that was said at this time can be a hit.
    #[must_use]
    pub fn takes(&self, document: &Document, at: Option<Millis>) -> bool {
        self.takes_facts(&mut Facts {
            kind: document.kind,
            tool: document.tool.as_deref(),
            model: document.model.as_deref(),
            files: &mut document.files.iter().map(String::as_str),
            at,
            is_error: document.is_error,
            has_picture: document.has_picture,
            is_injected: document.is_injected,
        })
    }

    /// The same of what is known of a document without its text.
    pub(crate) fn takes_facts(&self, facts: &mut Facts<'_>) -> bool {
        let folded = |text: &str| text.to_lowercase();
        let is_tool = self.tools.is_empty()
            || facts.tool.is_some_and(|own| self.tools.iter().any(|tool| folded(tool) == folded(own)));
        let is_model = self.models.is_empty()
            || facts.model.is_some_and(|own| self.models.iter().any(|one| folded(own).contains(&folded(one))));
        let files = &mut facts.files;
        let is_file = self.files.is_empty()
            || Iterator::any(files, |own| self.files.iter().any(|file| own.contains(file.as_str())));
        let is_speaker =
            self.spoken_by.is_empty() || facts.kind.spoken_by().is_some_and(|own| self.spoken_by.contains(&own));
        !facts.is_injected
            && is_speaker
            && is_tool
            && is_model
            && is_file
            && self.since.is_none_or(|since| facts.at.is_some_and(|at| at >= since))
            && self.until.is_none_or(|until| facts.at.is_some_and(|at| at < until))
            && (!self.is_error || facts.is_error)
            && (!self.has_picture || facts.has_picture)
    }
}

/// What filters look at of a document.
pub(crate) struct Facts<'a> {
    pub(crate) kind: DocumentKind,
    pub(crate) tool: Option<&'a str>,
    pub(crate) model: Option<&'a str>,
    pub(crate) files: &'a mut dyn Iterator<Item = &'a str>,
    pub(crate) at: Option<Millis>,
    pub(crate) is_error: bool,
    pub(crate) has_picture: bool,
    pub(crate) is_injected: bool,
}
