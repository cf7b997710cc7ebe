//! The tree search: the query, the entries found so far, and their words. Bodies are read once, in steps, so that typing
//! never waits. Does not use rows.

use offshoot_session::entry::Source;
use offshoot_session::error::Result;
use offshoot_session::outline::{Outline, words};

use crate::stepped_search::{SearchedPlace, SteppedSearch};

/// The number of bytes of words to keep. Other words are read again by every search.
const KEPT: usize = 18 << 20;
/// The cost of searching an entry with kept words: this, plus 1/`PART` of their bytes.
const LOOK: usize = 16;
const PART: usize = 8;
/// The cost of fetching a line, besides its bytes.
const FETCH: usize = 2_000;

#[derive(Debug, Default)]
pub(super) struct Search {
    query: String,
    tokens: Vec<String>,
    /// The entries, by place in display order.
    steps: SteppedSearch,
    /// The number of found entries at the last layout of the rows.
    told: usize,
    words: Words,
}

impl Search {
    pub(super) fn query(&self) -> &str {
        &self.query
    }

    /// The found entries, if there is a query.
    pub(super) fn found(&self) -> Option<&[bool]> {
        (!self.tokens.is_empty()).then_some(self.steps.found())
    }

    /// Whether entries remain to be searched.
    pub(super) fn is_running(&self) -> bool {
        !self.tokens.is_empty() && self.steps.is_running()
    }

    pub(super) fn percent(&self) -> usize {
        self.steps.percent()
    }

    /// The first label in the query: `#name`.
    pub(super) fn label(&self) -> Option<&str> {
        self.tokens.iter().find_map(|token| token.strip_prefix('#')).filter(|name| !name.is_empty())
    }

    /// Starts a search for a new query over this many places.
    pub(super) fn set(&mut self, query: String, places: usize) {
        let tokens: Vec<String> = query.to_lowercase().split_whitespace().map(str::to_owned).collect();
        // Entries that match a longer query also match the shorter one.
        let is_narrower = !self.tokens.is_empty()
            && self.tokens.iter().all(|old| tokens.iter().any(|new| new.contains(old.as_str())));
        self.steps.start(places, 0..0, is_narrower);
        self.told = 0;
        self.tokens = tokens;
        self.query = query;
    }

    /// Searches about `budget` bytes. Returns whether the rows should be laid out again: at the end, at the first
    /// match, and whenever the number of matches has doubled. So the whole search costs a few layouts.
    pub(super) fn work(&mut self, place: &SearchedTree<'_>, budget: usize) -> Result<bool> {
        if !self.is_running() {
            return Ok(true);
        }
        let (tokens, words) = (&self.tokens, &mut self.words);
        self.steps.work(budget, |at| {
            let Some(ix) = place.outline.entry_at(at) else { return Ok(SearchedPlace { is_found: false, cost: 0 }) };
            let label = (place.label)(ix).map(|label| label.to_lowercase());
            let (said, cost) = words.get(place, at)?;
            Ok(SearchedPlace { is_found: fits(tokens, label.as_deref(), &said), cost })
        })?;
        let has_news = self.steps.count() > self.told * 2 || !self.is_running();
        if has_news {
            self.told = self.steps.count();
        }
        Ok(has_news)
    }
}

pub(super) struct SearchedTree<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) outline: &'a Outline,
    pub(super) label: &'a dyn Fn(offshoot_session::tree::NodeIx) -> Option<String>,
}

/// Whether every token is in the label or in the words. `#name` also matches a label that contains the name.
fn fits(tokens: &[String], label: Option<&str>, said: &str) -> bool {
    tokens.iter().all(|token| {
        let in_label = |name: &str| label.is_some_and(|label| label.contains(name));
        said.contains(token.as_str()) || in_label(token) || token.strip_prefix('#').is_some_and(in_label)
    })
}

/// The number of bytes of words in a piece. A piece is small enough to fit into freed memory.
const PIECE: usize = u16::MAX as usize;

/// The words of the entries that were read, one after the other, in pieces. One long text would be copied as it grows.
#[derive(Debug, Default)]
struct Words {
    pieces: Vec<String>,
    spans: Vec<Span>,
}

/// The position of words: the piece, the start in it, and the number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    piece: u16,
    start: u16,
    length: u16,
}

impl Span {
    /// Words that were not read, or found no room.
    const NONE: Self = Self { piece: u16::MAX, start: 0, length: 0 };
}

impl Words {
    /// The words at a place, and the cost of getting them.
    fn get(&mut self, place: &SearchedTree<'_>, at: usize) -> Result<(std::borrow::Cow<'_, str>, usize)> {
        if self.spans.len() <= at {
            self.spans.resize(place.outline.places().max(at + 1), Span::NONE);
        }
        let span = self.spans.get(at).copied().unwrap_or(Span::NONE);
        if span != Span::NONE {
            let known = self.kept(span);
            return Ok((known.into(), LOOK + known.len() / PART));
        }
        let Some(ix) = place.outline.entry_at(at) else { return Ok(("".into(), LOOK)) };
        let length = usize::try_from(place.source.tree().node(ix).length()).unwrap_or(usize::MAX);
        let said = words(&place.source.entry(ix)?);
        if let (Some(kept), Some(span)) = (self.keep(&said), self.spans.get_mut(at)) {
            *span = kept;
        }
        Ok((said.into(), FETCH.saturating_add(length)))
    }

    fn kept(&self, span: Span) -> &str {
        let piece = self.pieces.get(usize::from(span.piece)).map(String::as_str).unwrap_or_default();
        let start = usize::from(span.start);
        piece.get(start..start + usize::from(span.length)).unwrap_or_default()
    }

    /// Stores words, if there is room.
    fn keep(&mut self, said: &str) -> Option<Span> {
        let has_room = self.pieces.last().is_some_and(|piece| piece.len() + said.len() <= PIECE);
        if !has_room && said.len() <= PIECE && self.pieces.len() < KEPT / PIECE {
            self.pieces.push(String::with_capacity(PIECE));
        }
        let number = u16::try_from(self.pieces.len().checked_sub(1)?).ok()?;
        let piece = self.pieces.last_mut().filter(|piece| piece.len() + said.len() <= PIECE)?;
        let (start, length) = (u16::try_from(piece.len()).ok()?, u16::try_from(said.len()).ok()?);
        piece.push_str(said);
        Some(Span { piece: number, start, length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_kept_in_pieces_within_a_bound() {
        let mut words = Words::default();
        let half = "é".repeat(PIECE / 4);
        let length = u16::try_from(half.len()).unwrap();
        assert_eq!(words.keep(&"x".repeat(PIECE + 1)), None, "more than a piece");
        let kept: Vec<_> = std::iter::from_fn(|| words.keep(&half)).take(1_000).collect();
        assert_eq!(kept.len(), 2 * KEPT / PIECE);
        let span = |piece, start| Span { piece, start, length };
        assert_eq!(kept[..3], [span(0, 0), span(0, length), span(1, 0)]);
        assert_eq!(words.pieces[0].get(..), Some("é".repeat(PIECE / 4 * 2).as_str()));
    }
}
