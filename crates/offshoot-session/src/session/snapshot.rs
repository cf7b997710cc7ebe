//! A session at one moment, for readers elsewhere while the session continues. Writes nothing and takes no lock.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Backing, Session};
use crate::entry::{Entry, Source};
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::gather;
use crate::index;
use crate::load::{Loaded, Opened};
use crate::medium::{Medium, MemoryMedium, read_regular};
use crate::tree::{NodeIx, Tree};

/// A session as it was when [`Session::snapshot`] was called, without later entries.
pub struct Snapshot {
    medium: Box<dyn Medium>,
    is_file: bool,
    loaded: Loaded,
    leaf: Option<NodeIx>,
    blobs: Option<PathBuf>,
    index: Option<PathBuf>,
    facts: FactsCache,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Snapshot {{ {:?}, {} entries }}", self.medium.path(), self.tree().len())
    }
}

impl Session {
    /// The session as it is now, to be read elsewhere, for example on another thread. Reads nothing, but shares pages
    /// and facts that the session has read. Stays readable when the file is replaced or deleted.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be opened again.
    pub fn snapshot(&self) -> Result<Snapshot> {
        let medium: Box<dyn Medium> = match &self.backing {
            Backing::File(medium) | Backing::Memory(medium) => {
                medium.apart().map_err(Error::io("open once more", medium.path()))?
            }
            Backing::Unborn(_) => Box::new(MemoryMedium::default()),
        };
        self.tree().whole(Snapshot {
            medium,
            is_file: matches!(self.backing, Backing::File(_)),
            loaded: self.loaded.clone(),
            leaf: self.leaf,
            blobs: self.options.blobs.clone(),
            index: self.options.index.clone(),
            facts: self.facts.clone(),
        })
    }
}

#[expect(missing_docs, reason = "the name says it")]
impl Snapshot {
    pub fn leaf(&self) -> Option<NodeIx> {
        self.leaf
    }

    fn opened(&self) -> Opened<'_> {
        Opened { medium: self.medium.as_ref(), loaded: &self.loaded }
    }
}

impl Source for Snapshot {
    fn tree(&self) -> &Tree {
        &self.loaded.tree
    }

    fn entry(&self, ix: NodeIx) -> Result<Entry> {
        self.opened().entry(ix)
    }

    fn blob(&self, hash: &str) -> Option<Vec<u8>> {
        read_regular(&self.blobs.as_ref()?.join(hash), u64::MAX).ok()
    }

    fn view(&self) -> Option<Box<dyn Source + '_>> {
        self.opened().view()
    }

    fn facts(&self) -> Result<Option<Arc<Facts>>> {
        let file = self.is_file.then(|| self.medium.path());
        self.facts.of(self, file, self.loaded.end.length, self.index.as_deref()).map(Some)
    }

    fn raw_span(&self, ix: NodeIx) -> Option<(u64, u64)> {
        self.opened().raw_span(ix)
    }

    fn splice(&self, ix: NodeIx) -> Result<Option<(u64, u64, String)>> {
        self.opened().splice(ix)
    }
}

#[derive(Debug, Default)]
pub(super) struct FactsCache(Mutex<Option<Arc<Facts>>>);

impl Clone for FactsCache {
    fn clone(&self) -> Self {
        Self(Mutex::new(self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()))
    }
}

impl FactsCache {
    /// The facts of a source, continued from known ones. A file's facts can come from the index folder; `length` is how
    /// much of the file is known.
    pub(super) fn of(
        &self,
        source: &dyn Source,
        file: Option<&Path>,
        length: u64,
        folder: Option<&Path>,
    ) -> Result<Arc<Facts>> {
        let count = source.tree().stored_len();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let facts = match (kept.take(), file) {
            (Some(known), _) if known.count == count => known,
            (Some(known), _) if known.count < count => Arc::new(gather::read(source, Arc::unwrap_or_clone(known))?),
            (_, Some(file)) => Arc::new(index::facts::facts(source, file, length, folder)?),
            (_, None) => Arc::new(gather::read(source, Facts::default())?),
        };
        Ok(kept.insert(facts).clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NewSession, Options};
    use super::*;
    use crate::compose::NewEntry;
    use crate::json::Json;
    use crate::stats::totals;

    fn said(text: &str) -> NewEntry {
        let message = format!(r#"{{"role":"user","content":"{text}"}}"#);
        NewEntry::message(Json::parse(&message).unwrap()).unwrap()
    }

    fn texts(source: &dyn Source) -> Vec<String> {
        let text = |ix| source.entry(ix).unwrap().message().unwrap().str("content").unwrap().into_owned();
        source.tree().entries().map(text).collect()
    }

    #[test]
    fn it_stays_as_it_was_while_the_session_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let new = NewSession { cwd: "/work", ..NewSession::default() };
        let path = folder.path().join("s.jsonl");
        let on_disk = Session::create(&new, Options::default(), |_, _| path.clone()).unwrap();
        for mut session in [on_disk, Session::in_memory(&new, Options::default()).unwrap()] {
            let empty = session.snapshot().unwrap();
            session.append(&said("a")).unwrap();
            let one = session.snapshot().unwrap();
            let first = session.leaf();
            let node = |source: &dyn Source| std::ptr::from_ref(source.tree().node(first.unwrap()));
            assert_eq!(node(&one), node(&session), "no copy");
            assert_eq!(totals(&session).unwrap().entries, 1);
            session.append(&said("b")).unwrap();
            let two = session.snapshot().unwrap();
            assert_eq!((texts(&empty), empty.leaf()), (vec![], None));
            assert_eq!((texts(&one), one.leaf()), (vec!["a".to_owned()], first));
            assert_eq!(texts(&two), ["a", "b"]);
            assert_eq!([&one, &two].map(|source| totals(source).unwrap().entries), [1, 2]);
        }
    }

    #[test]
    fn pages_are_shared_until_the_session_changes_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let new = NewSession { cwd: "/work", ..NewSession::default() };
        let mut session = Session::create(&new, Options::default(), |_, _| path.clone()).unwrap();
        let long = "word ".repeat(1000);
        session.append_all(&vec![said(&long); 400]).unwrap();
        let indexed = || Options { index: Some(folder.path().join("index")), ..Options::default() };
        drop(Session::open(&path, indexed()).unwrap());
        let mut session = Session::open(&path, indexed()).unwrap();
        assert_eq!(session.tree().paged_len(), 400, "the index is used");
        let early = session.tree().entries().nth(7).unwrap();
        let id = session.tree().node(early).id().unwrap().clone();
        let before = session.snapshot().unwrap();
        assert!(std::ptr::eq(before.tree().node(early), session.tree().node(early)));
        session.branch(id.as_str()).unwrap();
        session.append(&said("another way")).unwrap();
        assert_eq!((before.tree().children(early).count(), session.tree().children(early).count()), (1, 2));
        assert_eq!(before.tree().leaves().count(), 1);
        assert_eq!(session.snapshot().unwrap().tree().children(early).count(), 2);
    }

    #[test]
    fn it_outlives_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let new = NewSession { cwd: "/work", ..NewSession::default() };
        let mut session = Session::create(&new, Options::default(), |_, _| path.clone()).unwrap();
        session.append(&said("a")).unwrap();
        let snapshot = session.snapshot().unwrap();
        drop(session);
        std::fs::write(folder.path().join("other"), "something else").unwrap();
        std::fs::rename(folder.path().join("other"), &path).unwrap();
        assert_eq!(texts(&snapshot), ["a"]);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(texts(&snapshot), ["a"]);
    }
}
