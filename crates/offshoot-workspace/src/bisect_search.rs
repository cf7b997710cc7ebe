//! The search for the first of many states that is bad, where some cannot be tested. Pure: who tests is given.

use std::ops::RangeInclusive;

/// What came of a test of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It passed.
    Good,
    /// It failed.
    Bad,
    /// It says nothing about this state.
    Skipped,
}

/// States in a row, of which the first is good and the last is bad.
#[derive(Debug, Clone)]
pub struct BisectSearch {
    /// By the number of the state.
    is_skipped: Vec<bool>,
    last_good: usize,
    first_bad: usize,
}

impl BisectSearch {
    /// A search among state 0, which is good, and so many later ones, the last of which is bad.
    #[must_use]
    pub fn new(later: usize) -> Self {
        Self { is_skipped: vec![false; later + 1], last_good: 0, first_bad: later }
    }

    /// The state to test now; `None` if no test can say more. It is in the middle of the suspects and, the more of them were skipped, the
    /// further beside it: neighbours of a state that is skipped are probably skipped, too.
    #[must_use]
    pub fn next(&self) -> Option<usize> {
        let is_skipped = |at: &usize| self.is_skipped.get(*at).copied().unwrap_or_default();
        let (skipped, untested): (Vec<_>, Vec<_>) = (self.last_good + 1..self.first_bad).partition(is_skipped);
        let middle = self.last_good.midpoint(self.first_bad);
        let doubled = skipped.len().checked_sub(1).map_or(0, |times| 1_usize << times.min(30));
        let beside = doubled.min((self.first_bad - self.last_good) / 3);
        untested.into_iter().min_by_key(|at| at.abs_diff(middle).abs_diff(beside))
    }

    /// Takes a verdict.
    pub fn take(&mut self, state: usize, verdict: Verdict) {
        match verdict {
            Verdict::Good => self.last_good = self.last_good.max(state),
            Verdict::Bad => self.first_bad = self.first_bad.min(state),
            Verdict::Skipped => {
                if let Some(is_skipped) = self.is_skipped.get_mut(state) {
                    *is_skipped = true;
                }
            }
        }
    }

    /// The states among which the first bad one is: one, unless states before it could not be tested.
    #[must_use]
    pub fn suspects(&self) -> RangeInclusive<usize> {
        self.last_good + 1..=self.first_bad
    }

    /// About how many tests are left.
    #[must_use]
    pub fn left(&self) -> usize {
        let untested = self.suspects().filter(|at| self.is_skipped.get(*at) == Some(&false)).count();
        usize::try_from(untested.max(1).ilog2()).unwrap_or_default()
    }
}

/// What two runs of one test say together. One that is not sure of itself says nothing, and `true` is returned with it.
#[must_use]
pub fn both_verdicts(first: Verdict, second: Verdict) -> (Verdict, bool) {
    match (first, second) {
        (Verdict::Good, Verdict::Good) => (Verdict::Good, false),
        (Verdict::Bad, Verdict::Bad) => (Verdict::Bad, false),
        (Verdict::Skipped, _) | (_, Verdict::Skipped) => (Verdict::Skipped, false),
        (Verdict::Good, Verdict::Bad) | (Verdict::Bad, Verdict::Good) => (Verdict::Skipped, true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a search, and returns the suspects and the states that were tested.
    fn searched(later: usize, mut judge: impl FnMut(usize) -> Verdict) -> (RangeInclusive<usize>, Vec<usize>) {
        let mut search = BisectSearch::new(later);
        let mut tested = Vec::new();
        while let Some(state) = search.next() {
            tested.push(state);
            assert!(tested.len() <= later, "no state is tested twice: {tested:?}");
            search.take(state, judge(state));
        }
        (search.suspects(), tested)
    }

    fn plain(state: usize, first_bad: usize) -> Verdict {
        if state < first_bad { Verdict::Good } else { Verdict::Bad }
    }

    #[test]
    fn the_first_bad_state_of_many_is_found_with_few_tests() {
        for first_bad in 1..=200 {
            let (suspects, tested) = searched(200, |state| plain(state, first_bad));
            assert_eq!(suspects, first_bad..=first_bad);
            assert!(tested.len() <= 8, "{tested:?}");
        }
        assert_eq!(searched(1, |_| unreachable!()).0, 1..=1);
    }

    /// Every third state cannot be built, and neither can forty in a row.
    #[test]
    fn states_that_are_skipped_are_among_the_suspects_only_beside_the_first_bad_one() {
        let is_skipped = |state: usize| state.is_multiple_of(3) || (80..120).contains(&state);
        for first_bad in 1..=200 {
            let judge = |state| if is_skipped(state) { Verdict::Skipped } else { plain(state, first_bad) };
            let (suspects, tested) = searched(200, judge);
            assert!(suspects.contains(&first_bad), "{suspects:?} {first_bad}");
            let (start, end) = (*suspects.start(), *suspects.end());
            assert!((start..end).all(is_skipped), "{suspects:?}: all but the last were skipped");
            let most = if (78..=122).contains(&first_bad) { 60 } else { 25 };
            assert!(tested.len() <= most, "{first_bad}: {tested:?}");
        }
    }

    /// A test that passes or fails by chance in some states is found out by its second run, and never leads to the wrong state.
    #[test]
    fn a_flaky_test_is_run_twice_and_leads_nowhere_wrong() {
        for first_bad in 1..=200 {
            let mut flaky = Vec::new();
            let mut run = 0;
            let mut once = |state: usize| {
                run += 1;
                // Near the middle each second run says the opposite.
                let is_turned = (95..105).contains(&state) && run % 2 == 0;
                if is_turned == (state < first_bad) { Verdict::Bad } else { Verdict::Good }
            };
            let judge = |state| {
                let (verdict, is_flaky) = both_verdicts(once(state), once(state));
                flaky.extend(is_flaky.then_some(state));
                verdict
            };
            let (suspects, _) = searched(200, judge);
            assert!(suspects.contains(&first_bad), "{suspects:?} {first_bad}");
            assert!(flaky.contains(&100), "the middle is tested first: {flaky:?}");
            if !(95..=105).contains(&first_bad) {
                assert_eq!(suspects, first_bad..=first_bad);
            }
        }
    }
}
