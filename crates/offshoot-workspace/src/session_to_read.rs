//! The session that an operation reads, as its input names it.

use offshoot_session::entry::Source as _;
use offshoot_session::entry_name::short_ids;
use offshoot_session::error::{Code, Diagnostic};
use offshoot_session::id::EntryId;
use offshoot_session::session::{Abridged, Session, Snapshot};

use crate::failure::Result;
use crate::given::SessionName;
use crate::input;
use crate::lookup::LatestOf;
use crate::words::Note;

input! {
    /// The session that an operation reads.
    pub struct SessionToRead {
        /// A path, an id or its unique start or end, a name, or `latest`
        session: SessionName = arg,
        /// With `latest`: the latest session of every folder, not of this one
        all: bool = flag (requires ["session"]),
    }
}

impl SessionToRead {
    /// Of which folders it is, if it is named `latest`.
    #[must_use]
    pub fn latest_of(&self) -> LatestOf {
        if self.all { LatestOf::EveryFolder } else { LatestOf::ThisFolder }
    }

    /// What names the session in a hint.
    pub(crate) fn name<'a>(&'a self, session: &'a Session) -> &'a str {
        if self.all { session.id() } else { &self.session.0 }
    }

    /// What is odd about the session.
    #[must_use]
    pub fn odd(&self, session: &Session) -> Note {
        Note::OddOf(self.name(session).to_owned(), with_short_ids(session, session.diagnostics().to_vec()))
    }
}

/// A session that is shown, apart from whoever holds it.
#[derive(Debug)]
pub(crate) struct ShownSession {
    pub(crate) session: Snapshot,
    pub(crate) id: String,
    /// Its folder, as it names it.
    pub(crate) cwd: String,
    /// Its file, else its id.
    named: String,
    odd: Note,
    /// What names it in a hint.
    given: String,
}

impl ShownSession {
    pub(crate) fn of(session: &Session, input: &SessionToRead) -> Result<Self> {
        let file = session.file().map(|file| file.display().to_string());
        Ok(Self {
            session: session.snapshot()?,
            id: session.id().to_owned(),
            cwd: session.cwd().unwrap_or_default().to_owned(),
            named: file.unwrap_or_else(|| session.id().to_owned()),
            odd: input.odd(session),
            given: input.name(session).to_owned(),
        })
    }

    /// For people: without lines that are too long to look at.
    pub(crate) fn abridged(&self) -> Abridged<'_> {
        Abridged::of(&self.session, self.named.clone())
    }

    /// What is odd about it.
    pub(crate) fn odd(&self) -> Note {
        self.odd.clone()
    }

    /// What else is odd about it.
    pub(crate) fn odd_beside(&self, diagnostics: &[Diagnostic]) -> Note {
        Note::OddOf(self.given.clone(), diagnostics.to_vec())
    }
}

/// Names the branches of notices by the short ids of their ends.
#[must_use]
pub fn with_short_ids(session: &Session, mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let tree = session.tree();
    let is_notice = |told: &&mut Diagnostic| told.code == Code::Diverged;
    for told in diagnostics.iter_mut().filter(is_notice) {
        let Some(id) = told.entry.clone() else { continue };
        let Ok(ids) = short_ids(tree, tree.find(id.as_str())) else { continue };
        let short = ids.get(id.as_str());
        told.message = told.message.replace(id.as_str(), short);
        told.entry = Some(EntryId::new(short));
    }
    diagnostics
}
