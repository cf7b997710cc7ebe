//! Neighbouring documents as blocks, which have their trigrams in the index. Made on any thread, without the database.

use offshoot_session::entry::Source as _;
use offshoot_session::session::Session;

use super::database::OF_NAMES;
use crate::session_documents::PlacedDocument;
use crate::trigrams::TrigramSet;
use crate::word_list::WordList;

/// After so many bytes of texts a block ends with the entry.
const BLOCK: usize = 96 << 10;

/// A block to be written.
pub(super) struct PreparedBlock {
    /// When the newest of its documents was said.
    pub(super) at: Option<i64>,
    /// The places of its first and of its last line in the file.
    pub(super) first: i64,
    pub(super) last: i64,
    pub(super) trigrams: WordList,
}

/// Gathers documents into blocks. One is used for many sessions, because its set is large.
pub(super) struct BlockMaker {
    set: TrigramSet,
    bytes: usize,
    at: Option<i64>,
    places: Option<(i64, i64)>,
}

impl BlockMaker {
    pub(super) fn new() -> Self {
        Self { set: TrigramSet::new(), bytes: 0, at: None, places: None }
    }

    /// Adds a document, and returns the block that ended before it.
    pub(super) fn add(&mut self, session: &Session, placed: &PlacedDocument) -> Option<PreparedBlock> {
        let offset = || placed.node.map_or(0, |ix| session.tree().node(ix).offset().cast_signed());
        let place = if placed.document.kind.is_name() { OF_NAMES } else { offset() };
        let is_over =
            self.places.is_some_and(|(first, last)| place != last && (first == OF_NAMES || self.bytes >= BLOCK));
        let ended = if is_over { self.end() } else { None };
        // Entries that are made of another program's records may not stand in the order of their places.
        let (first, last) = self.places.unwrap_or((place, place));
        self.places = Some((first.min(place), last.max(place)));
        self.at = self.at.max(placed.at);
        self.bytes += placed.document.text.len();
        self.set.add(&placed.document.text);
        ended
    }

    /// Forgets what it has of another session.
    pub(super) fn begin(&mut self) {
        self.end();
    }

    /// Ends the last block.
    pub(super) fn end(&mut self) -> Option<PreparedBlock> {
        let (first, last) = self.places.take()?;
        self.bytes = 0;
        Some(PreparedBlock { at: self.at.take(), first, last, trigrams: self.set.take() })
    }
}
