//! The search of the whole transcript, also of folded parts: counts matches in steps, outwards from the position of the
//! reader, and chooses the current one. It moves no row and draws nothing.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use offshoot_session::entry::Source;
use offshoot_session::error::Result;

use super::matches::{Needle, RowMatch, row_of};
use super::path::Key;
use super::{RowPlace, Transcript};
use crate::message::{Folds, RenderedRows};
use crate::stepped_search::{SearchSide, SearchedPlace, SteppedSearch};

/// The bytes that a search reads before a key returns. [`Transcript::search_on`] reads the rest.
const AT_ONCE: usize = 1 << 19;
/// The cost of reading and laying out a group, besides its bytes.
const GROUP: usize = 4_000;
/// The cost of laying out a byte. Reading it costs one.
const LAYOUT: usize = 4;
/// Everything is searched as if unfolded.
pub(super) const UNFOLDED: Folds<'static> = Folds { thinking: true, tools: true, other: &[] };

/// The other match to go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchStep {
    Next,
    Previous,
}

/// The end of the transcript at which the search went on from the other one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchWrap {
    ToBeginning,
    ToEnd,
}

/// What a search has found so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchStatus {
    /// The number of the current match, from 1; 0 if there is none.
    pub number: usize,
    pub count: usize,
    /// How much was searched, unless all was.
    pub percent: Option<usize>,
    pub wrap: Option<SearchWrap>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SearchGoal {
    /// The match that is nearest to the origin.
    Nearest,
    Step(SearchStep),
}

/// A position of the reader.
#[derive(Debug, Clone, Default)]
struct Origin {
    top: RowPlace,
    is_at_end: bool,
    /// The groups on the screen.
    groups: Range<usize>,
}

/// A match, by its group and its number in the unfolded rows of the group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FoundMatch {
    pub(super) group: usize,
    pub(super) nth: usize,
}

#[derive(Debug, Default)]
pub(super) struct Search {
    pub(super) needle: Option<Needle>,
    steps: SteppedSearch,
    /// The number of matches in each group.
    counts: Vec<u32>,
    width: usize,
    origin: Origin,
    goal: Option<SearchGoal>,
    wrap: Option<SearchWrap>,
    pub(super) current: Option<FoundMatch>,
    /// Whether the current match was not brought to the screen yet.
    pub(super) is_to_show: bool,
    /// Whether the reader has moved since the origin was noted.
    has_moved: bool,
    /// Whether it only shows where something is, and counts nothing.
    is_mark: bool,
    /// The part that was unfolded to show the current match.
    pub(super) unfolded: Option<(Key, usize)>,
    /// The row and column of the current match in its group, as laid out now.
    pub(super) shown_at: Option<(Key, usize, u16)>,
    /// The matches in the visible groups.
    pub(super) visible: HashMap<Key, (Arc<RenderedRows>, Vec<RowMatch>)>,
}

impl Search {
    /// Shows the first place of a text in a group.
    pub(super) fn mark(needle: Needle, group: usize) -> Self {
        let current = Some(FoundMatch { group, nth: 0 });
        Self { needle: Some(needle), current, is_to_show: true, is_mark: true, ..Self::default() }
    }

    fn count_in(&self, group: usize) -> usize {
        self.counts.get(group).map_or(0, |count| *count as usize)
    }

    fn sum(&self, groups: Range<usize>) -> usize {
        self.counts.get(groups).unwrap_or_default().iter().map(|count| *count as usize).sum()
    }

    /// The first group with matches, and the last one.
    fn first(&self, mut groups: Range<usize>) -> Option<usize> {
        groups.find(|group| self.count_in(*group) > 0)
    }

    fn last(&self, groups: Range<usize>) -> Option<usize> {
        groups.rev().find(|group| self.count_in(*group) > 0)
    }

    fn choose(&mut self, group: usize, nth: usize) {
        (self.current, self.goal, self.is_to_show) = (Some(FoundMatch { group, nth }), None, true);
        self.steps.prefer(SearchSide::Nearest);
    }

    /// Goes a step from the current match, if the match there is known.
    fn step(&mut self, step: SearchStep) {
        let (searched, places) = (self.steps.searched(), self.counts.len());
        let Some(FoundMatch { group, nth }) = self.current else {
            self.goal = self.is_running().then_some(SearchGoal::Nearest);
            return;
        };
        match step {
            SearchStep::Next if nth + 1 < self.count_in(group) => self.choose(group, nth + 1),
            SearchStep::Previous if nth > 0 => self.choose(group, nth - 1),
            SearchStep::Next => match self.first(group + 1..searched.end) {
                Some(next) => self.choose(next, 0),
                None if searched.end < places => self.steps.prefer(SearchSide::After),
                None if searched.start > 0 => self.steps.prefer(SearchSide::Before),
                None => {
                    self.wrap = Some(SearchWrap::ToBeginning);
                    self.first(0..places).into_iter().for_each(|first| self.choose(first, 0));
                }
            },
            SearchStep::Previous => match self.last(searched.start..group) {
                Some(last) => self.choose(last, self.count_in(last) - 1),
                None if searched.start > 0 => self.steps.prefer(SearchSide::Before),
                None if searched.end < places => self.steps.prefer(SearchSide::After),
                None => {
                    self.wrap = Some(SearchWrap::ToEnd);
                    self.last(0..places).into_iter().for_each(|last| self.choose(last, self.count_in(last) - 1));
                }
            },
        }
    }

    fn is_running(&self) -> bool {
        self.needle.is_some() && self.steps.is_running()
    }
}

impl Transcript {
    /// Searches for a text from where the reader was when the search began, or has moved to since. An empty text goes
    /// back there.
    pub fn search_for(&mut self, source: &dyn Source, query: &str) -> Result<()> {
        let mut search = self.search.take().filter(|search| !search.is_mark).unwrap_or_default();
        if search.needle.is_none() || search.has_moved {
            search.origin = Origin {
                top: self.top,
                is_at_end: self.is_at_end,
                groups: self.visible.first().map_or(0, |slice| slice.at.group)
                    ..self.visible.last().map_or(0, |slice| slice.at.group + 1),
            };
        }
        (self.top, self.is_at_end) = (search.origin.top, search.origin.is_at_end);
        self.refold(&mut search);
        let needle = Needle::new(query);
        let is_narrower = match (&needle, &search.needle) {
            (Some(new), Some(old)) => search.width == self.width && new.is_narrower_than(old),
            (None, _) | (_, None) => false,
        };
        search.goal = needle.is_some().then_some(SearchGoal::Nearest);
        search.needle = needle;
        (search.current, search.wrap, search.has_moved) = (None, None, false);
        search.visible.clear();
        self.restart(&mut search, is_narrower);
        self.search = Some(search);
        self.search_on(source, AT_ONCE)
    }

    fn restart(&self, search: &mut Search, is_narrower: bool) {
        search.width = self.width;
        search.counts = vec![0; self.path.len()];
        search.steps.start(self.path.len(), search.origin.groups.clone(), is_narrower);
    }

    /// Goes to another match.
    pub fn search_step(&mut self, source: &dyn Source, step: SearchStep) -> Result<()> {
        if let Some(search) = &mut self.search {
            (search.goal, search.wrap, search.has_moved) = (Some(SearchGoal::Step(step)), None, true);
        }
        self.search_on(source, AT_ONCE)
    }

    /// Ends the search. The reader stays where the search led.
    pub fn end_search(&mut self) {
        self.search = None;
    }

    /// Notes that the reader has moved: a changed text is then searched from here.
    pub fn leave_search_origin(&mut self) {
        self.search.iter_mut().for_each(|search| (search.has_moved, search.wrap) = (true, None));
    }

    /// Whether [`Transcript::search_on`] has work to do.
    #[must_use]
    pub fn is_searching(&self) -> bool {
        let is_behind = |search: &Search| search.counts.len() < self.path.len() || search.width != self.width;
        self.search.as_ref().is_some_and(|search| {
            !search.is_mark && search.needle.is_some() && (search.is_running() || is_behind(search))
        })
    }

    /// What the search has found so far; `None` without a search, or if its text is empty.
    #[must_use]
    pub fn search_status(&self) -> Option<SearchStatus> {
        let search = self.search.as_ref().filter(|search| search.needle.is_some() && !search.is_mark)?;
        let number = search.current.map_or(0, |found| search.sum(0..found.group) + found.nth + 1);
        Some(SearchStatus {
            number,
            count: search.sum(0..search.counts.len()),
            percent: self.is_searching().then(|| search.steps.percent()),
            wrap: search.wrap,
        })
    }

    /// Searches about `budget` bytes more.
    pub fn search_on(&mut self, source: &dyn Source, budget: usize) -> Result<()> {
        let Some(mut search) = self.search.take_if(|search| !search.is_mark) else { return Ok(()) };
        let done = self.count_matches(&mut search, source, budget);
        let chosen = done.and_then(|()| match search.goal {
            Some(SearchGoal::Nearest) => self.choose_nearest(&mut search, source),
            Some(SearchGoal::Step(step)) => {
                search.step(step);
                Ok(())
            }
            None => Ok(()),
        });
        if !search.is_running() {
            search.goal = None;
        }
        self.search = Some(search);
        chosen
    }

    fn count_matches(&self, search: &mut Search, source: &dyn Source, budget: usize) -> Result<()> {
        let Some(needle) = &search.needle else { return Ok(()) };
        let needle = needle.clone();
        if search.width != self.width {
            self.restart(search, false);
        }
        search.steps.grow(self.path.len());
        search.counts.resize(self.path.len(), 0);
        let counts = &mut search.counts;
        search.steps.work(budget, |at| {
            let (found, bytes) = self.matches_in(source, &needle, at)?;
            let count = u32::try_from(found.len()).unwrap_or(u32::MAX);
            counts.get_mut(at).into_iter().for_each(|known| *known = count);
            Ok(SearchedPlace { is_found: count > 0, cost: GROUP.saturating_add(bytes.saturating_mul(LAYOUT)) })
        })
    }

    /// The matches in the unfolded rows of a group, and the bytes read.
    pub(super) fn matches_in(&self, source: &dyn Source, needle: &Needle, at: usize) -> Result<(Vec<RowMatch>, usize)> {
        let Some(group) = self.group(at) else { return Ok((Vec::new(), 0)) };
        let (content, bytes) = self.read_content(source, group)?;
        let found = content.map(|content| needle.find(&self.render(group, &content, UNFOLDED).lines, self.width));
        Ok((found.unwrap_or_default(), bytes))
    }

    /// Chooses a match on the screen, or else the nearest one.
    fn choose_nearest(&self, search: &mut Search, source: &dyn Source) -> Result<()> {
        let Some(needle) = search.needle.clone() else { return Ok(()) };
        let (searched, screen) = (search.steps.searched(), search.origin.groups.clone());
        if searched.end < screen.end.min(search.counts.len()) {
            return Ok(());
        }
        // In the first group, the matches above the screen are before it.
        let top = screen.start;
        let mut above = 0;
        if let (Some(group), true) = (self.group(top), search.count_in(top) > 0 && search.origin.top.row > 0) {
            let (content, _) = self.read_content(source, group)?;
            let content = content.map(|content| {
                let (now, all) =
                    (self.render(group, &content, self.folds(group.key)), self.render(group, &content, UNFOLDED));
                let is_above = |found: &RowMatch| row_of(&now, &all, found).row < search.origin.top.row;
                needle.find(&all.lines, self.width).iter().take_while(|found| is_above(found)).count()
            });
            above = content.unwrap_or(0);
        }
        let first = if above < search.count_in(top) { top } else { top + 1 };
        let after = search.first(first..searched.end);
        let before = if above > 0 { Some(top) } else { search.last(searched.start..top) };
        let is_nearer = |after: usize, before: usize| after.saturating_sub(screen.end) <= top.saturating_sub(before);
        match (after, before) {
            (Some(after), _) if after < screen.end => search.choose(after, if after == top { above } else { 0 }),
            (Some(after), before) if before.is_none_or(|before| is_nearer(after, before)) => search.choose(after, 0),
            (_, Some(before)) if before == top => search.choose(top, above - 1),
            (_, Some(before)) => search.choose(before, search.count_in(before) - 1),
            (Some(_), None) | (None, None) => {}
        }
        Ok(())
    }
}
