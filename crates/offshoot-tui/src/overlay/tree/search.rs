//! The search: what was typed, and which entries it has found so far. Bodies are read in slices, once, so that typing
//! never waits. Knows no rows.

use offshoot_session::entry::Source;
use offshoot_session::error::Result;
use offshoot_session::outline::{Outline, words};

/// How many bytes of words are kept; what does not fit is read again by every search.
const KEPT: usize = 18 << 20;
/// What it costs to look at an entry whose words are kept: little, besides a part of their bytes.
const LOOK: usize = 16;
const PART: usize = 8;
/// What it costs to fetch a line, besides its bytes.
const FETCH: usize = 2_000;

#[derive(Debug, Default)]
pub(super) struct Search {
    query: String,
    tokens: Vec<String>,
    /// What was found, by place in display order.
    found: Vec<bool>,
    /// What may be found: what less of the same query has found.
    candidates: Vec<bool>,
    next: usize,
    /// How many were found, and how many when rows were laid out last.
    count: usize,
    told: usize,
    words: Words,
}

impl Search {
    pub(super) fn query(&self) -> &str {
        &self.query
    }

    /// What was found, if there is something to look for.
    pub(super) fn found(&self) -> Option<&[bool]> {
        (!self.tokens.is_empty()).then_some(self.found.as_slice())
    }

    /// Whether entries are left to look at.
    pub(super) fn is_running(&self) -> bool {
        !self.tokens.is_empty() && self.next < self.found.len()
    }

    pub(super) fn percent(&self) -> usize {
        (self.next * 100).checked_div(self.found.len()).unwrap_or(100)
    }

    /// The first bookmark that the query asks for: `#name`.
    pub(super) fn label(&self) -> Option<&str> {
        self.tokens.iter().find_map(|token| token.strip_prefix('#')).filter(|name| !name.is_empty())
    }

    /// Begins anew with another query, over so many places.
    pub(super) fn set(&mut self, query: String, places: usize) {
        let tokens: Vec<String> = query.to_lowercase().split_whitespace().map(str::to_owned).collect();
        // Whatever more words find, less words had found.
        let is_narrower = !self.tokens.is_empty()
            && self.found.len() == places
            && self.tokens.iter().all(|old| tokens.iter().any(|new| new.contains(old.as_str())));
        if is_narrower {
            let known = self.next.min(places);
            self.candidates.truncate(0);
            self.candidates.extend(self.found.iter().take(known));
            self.candidates.resize(places, true);
        } else {
            self.candidates = vec![true; places];
        }
        self.found = vec![false; places];
        (self.next, self.count, self.told) = (0, 0, 0);
        self.tokens = tokens;
        self.query = query;
    }

    /// Looks on until so many bytes were looked at. Says whether rows should be laid out anew: at the end, and on the way when
    /// the first was found and then whenever twice as many were, so that all of it costs a few layouts.
    pub(super) fn work(&mut self, place: &SearchedTree<'_>, budget: usize) -> Result<bool> {
        let mut left = budget;
        while self.is_running() && left > 0 {
            let at = self.next;
            self.next += 1;
            if self.candidates.get(at) != Some(&true) {
                left = left.saturating_sub(1);
                continue;
            }
            let Some(ix) = place.outline.entry_at(at) else { continue };
            let label = (place.label)(ix).map(|label| label.to_lowercase());
            let (said, cost) = self.words.get(place, at)?;
            left = left.saturating_sub(cost);
            if fits(&self.tokens, label.as_deref(), &said) {
                self.count += 1;
                if let Some(found) = self.found.get_mut(at) {
                    *found = true;
                }
            }
        }
        let has_news = self.count > self.told * 2 || !self.is_running();
        if has_news {
            self.told = self.count;
        }
        Ok(has_news)
    }
}

pub(super) struct SearchedTree<'a> {
    pub(super) source: &'a dyn Source,
    pub(super) outline: &'a Outline,
    pub(super) label: &'a dyn Fn(offshoot_session::tree::NodeIx) -> Option<String>,
}

/// Every token must be in the bookmark or the words; `#name` also stands for a bookmark with the name in it.
fn fits(tokens: &[String], label: Option<&str>, said: &str) -> bool {
    tokens.iter().all(|token| {
        let in_label = |name: &str| label.is_some_and(|label| label.contains(name));
        said.contains(token.as_str()) || in_label(token) || token.strip_prefix('#').is_some_and(in_label)
    })
}

/// How many bytes of words lie in one piece: so few that a piece finds room where something else was.
const PIECE: usize = u16::MAX as usize;

/// The words of entries that were read, one behind the other, in pieces: one long text would be copied as it grows.
#[derive(Debug, Default)]
struct Words {
    pieces: Vec<String>,
    spans: Vec<Span>,
}

/// In which piece words stand, from where on, and how many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    piece: u16,
    start: u16,
    length: u16,
}

impl Span {
    /// Of words that were not read or found no room.
    const NONE: Self = Self { piece: u16::MAX, start: 0, length: 0 };
}

impl Words {
    /// The words at a place, and what it cost to get them.
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

    /// Where words are kept, if there is room.
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
