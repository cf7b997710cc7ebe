//! A search of numbered places in steps, so that no key waits for it: which places may match, which do, and how far the
//! search has come. It does not know what a place contains.

use std::ops::Range;

use offshoot_session::error::Result;

/// The side on which a search continues.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum SearchSide {
    /// The one that is nearer to the origin.
    #[default]
    Nearest,
    Before,
    After,
}

/// The result of a place, and what it cost to get it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SearchedPlace {
    pub(crate) is_found: bool,
    pub(crate) cost: usize,
}

/// A search that goes outwards from an origin. The searched places have no gaps.
#[derive(Debug, Default)]
pub(crate) struct SteppedSearch {
    found: Vec<bool>,
    /// The places that may match, from the results of a shorter query.
    candidates: Vec<bool>,
    origin: Range<usize>,
    searched: Range<usize>,
    side: SearchSide,
    count: usize,
}

impl SteppedSearch {
    /// Starts a search of this many places. If the new query is narrower, places that did not match are left out.
    pub(crate) fn start(&mut self, places: usize, origin: Range<usize>, is_narrower: bool) {
        if is_narrower && self.found.len() == places {
            for (at, candidate) in self.candidates.iter_mut().enumerate() {
                *candidate &= !self.searched.contains(&at) || self.found.get(at) == Some(&true);
            }
        } else {
            self.candidates = vec![true; places];
        }
        self.found = vec![false; places];
        let start = origin.start.min(places);
        self.searched = start..start;
        (self.origin, self.side, self.count) = (origin, SearchSide::Nearest, 0);
    }

    /// Adds places at the end.
    pub(crate) fn grow(&mut self, places: usize) {
        if places > self.found.len() {
            self.found.resize(places, false);
            self.candidates.resize(places, true);
        }
    }

    /// Chooses the side on which the search continues.
    pub(crate) fn prefer(&mut self, side: SearchSide) {
        self.side = side;
    }

    pub(crate) fn found(&self) -> &[bool] {
        &self.found
    }

    /// The number of places found so far.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn searched(&self) -> Range<usize> {
        self.searched.clone()
    }

    /// Whether places remain to be searched.
    pub(crate) fn is_running(&self) -> bool {
        self.searched.len() < self.found.len()
    }

    pub(crate) fn percent(&self) -> usize {
        (self.searched.len() * 100).checked_div(self.found.len()).unwrap_or(100)
    }

    /// Searches places until their cost reaches `budget`. A place that fails is not searched again.
    pub(crate) fn work(&mut self, budget: usize, mut look: impl FnMut(usize) -> Result<SearchedPlace>) -> Result<()> {
        let mut left = budget;
        while left > 0
            && let Some(at) = self.advance()
        {
            left -= 1;
            if self.candidates.get(at) != Some(&true) {
                continue;
            }
            let place = look(at)?;
            left = left.saturating_sub(place.cost);
            if place.is_found {
                self.count += 1;
                self.found.get_mut(at).into_iter().for_each(|found| *found = true);
            }
        }
        Ok(())
    }

    fn advance(&mut self) -> Option<usize> {
        let (has_before, has_after) = (self.searched.start > 0, self.searched.end < self.found.len());
        let before = self.origin.start.saturating_sub(self.searched.start);
        let after = self.searched.end.saturating_sub(self.origin.end);
        let goes_after = match self.side {
            SearchSide::Nearest => after <= before,
            SearchSide::Before => false,
            SearchSide::After => true,
        };
        if has_after && (goes_after || !has_before) {
            self.searched.end += 1;
            return Some(self.searched.end - 1);
        }
        if has_before {
            self.searched.start -= 1;
            return Some(self.searched.start);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places in the order in which they are searched.
    fn order(search: &mut SteppedSearch, budget: usize) -> Vec<usize> {
        let mut order = Vec::new();
        let look = |at| {
            order.push(at);
            Ok(SearchedPlace { is_found: at % 2 == 0, cost: 0 })
        };
        search.work(budget, look).unwrap();
        order
    }

    #[test]
    fn a_search_goes_outwards_from_its_origin() {
        let mut search = SteppedSearch::default();
        search.start(8, 3..5, false);
        assert_eq!(order(&mut search, 4), [3, 4, 5, 2]);
        assert_eq!((search.searched(), search.percent(), search.is_running()), (2..6, 50, true));
        search.prefer(SearchSide::Before);
        assert_eq!(order(&mut search, 9), [1, 0, 6, 7]);
        assert_eq!((search.count(), search.percent(), search.is_running()), (4, 100, false));
        search.grow(9);
        assert_eq!((order(&mut search, 9), search.count()), (vec![8], 5));
        search.start(3, 0..0, false);
        assert_eq!(order(&mut search, 9), [0, 1, 2]);
        search.start(0, 7..9, false);
        assert_eq!((order(&mut search, 9), search.percent()), (vec![], 100));
    }

    #[test]
    fn a_narrower_query_leaves_out_what_did_not_match() {
        let mut search = SteppedSearch::default();
        search.start(6, 0..0, false);
        order(&mut search, 4);
        search.start(6, 0..0, true);
        assert_eq!(order(&mut search, 3), [0, 2], "a place that is left out costs little");
        search.start(6, 0..0, true);
        assert_eq!(order(&mut search, 9), [0, 2, 4, 5], "what was not searched may match");
        search.start(6, 0..0, false);
        assert_eq!(order(&mut search, 9).len(), 6);
    }
}
