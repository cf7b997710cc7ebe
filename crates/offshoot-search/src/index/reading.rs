//! Reads a document's text back from its session, and holds it against the query: the index has no texts.

use std::sync::Arc;

use offshoot_session::entry::Source as _;
use offshoot_session::medium::{FileMedium, read_exact_at};
use offshoot_session::session::Session;
use offshoot_session::transcript::Item;

use super::candidate::{Candidate, IndexedSession};
use crate::document::{Document, DocumentKind, documents_of};
use crate::scan::SearchedPlace;
use crate::session_documents::masked;

/// The longest line that is read for a hit, in bytes: no text in it is longer.
const LONGEST_LINE: i64 = 1 << 30;

/// The file and the session that were read last: neighbouring documents are in one.
#[derive(Default)]
pub(super) struct LastFile {
    file: Option<(Arc<IndexedSession>, FileMedium)>,
    session: Option<(Arc<IndexedSession>, Session)>,
}

impl LastFile {
    fn of(&mut self, source: &Arc<IndexedSession>) -> Option<&FileMedium> {
        if !self.file.as_ref().is_some_and(|(known, _)| Arc::ptr_eq(known, source)) {
            self.file = Some((Arc::clone(source), FileMedium::open(&source.path).ok()?));
        }
        self.file.as_ref().map(|(_, medium)| medium)
    }

    fn session(&mut self, place: SearchedPlace<'_>, source: &Arc<IndexedSession>) -> Option<&Session> {
        if !self.session.as_ref().is_some_and(|(known, _)| Arc::ptr_eq(known, source)) {
            self.session = Some((Arc::clone(source), (place.open)(&source.path).ok()?));
        }
        self.session.as_ref().map(|(_, session)| session)
    }
}

/// The document of a row of the index; `None` if the file no longer has it, or if its line cannot matter.
pub(super) fn document(
    place: SearchedPlace<'_>,
    (candidate, source): (&Candidate, &Arc<IndexedSession>),
    last: &mut LastFile,
    can_matter: &dyn Fn(&[u8]) -> bool,
) -> Option<Document> {
    let is_name = candidate.kind.is_name();
    let mut document = if source.is_old || is_name {
        of_session(last.session(place, source)?, candidate)?
    } else {
        if candidate.length > LONGEST_LINE {
            return None;
        }
        let length = usize::try_from(candidate.length).ok()?;
        let line = read_exact_at(last.of(source)?, candidate.offset.cast_unsigned(), length).ok()?;
        if !can_matter(&line) {
            return None;
        }
        let item = Item::of_line(&String::from_utf8_lossy(&line))?;
        documents_of(&item).into_iter().nth(candidate.number)?
    };
    document.text = masked(place.mask, document.text);
    (document.kind == candidate.kind).then_some(document)
}

fn of_session(session: &Session, candidate: &Candidate) -> Option<Document> {
    let tree = session.tree();
    match candidate.kind {
        DocumentKind::Title => {
            let name = session.name().ok()?.or_else(|| session.title().map(str::to_owned))?;
            Some(Document::new(DocumentKind::Title, name))
        }
        DocumentKind::Label => {
            let target = candidate.entry.as_deref()?;
            let labels = tree.labels();
            let (_, label) = labels.into_iter().find(|(id, _)| id.as_str() == target)?;
            Some(Document::new(DocumentKind::Label, label.text.clone()))
        }
        _ => {
            let ix = tree.find(candidate.entry.as_deref()?)?;
            let item = Item::of_entry(&session.entry(ix).ok()?)?;
            documents_of(&item).into_iter().nth(candidate.number)
        }
    }
}
