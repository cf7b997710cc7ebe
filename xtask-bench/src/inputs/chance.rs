//! Repeatable randomness: the same seed gives the same numbers on every run.

/// SplitMix64.
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`; 0 when `end` is 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        let wide = u128::from(self.next()) * (end as u128);
        usize::try_from(wide >> 64).unwrap_or(0)
    }

    /// A number in `[0, 1)`.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(super) fn happens(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    pub(super) fn pick<'a>(&mut self, items: &[&'a str]) -> &'a str {
        items.get(self.below(items.len())).copied().unwrap_or_default()
    }

    /// A log-normal length around `median`, cut at `cap`.
    pub(super) fn length(&mut self, median: usize, spread: f64, cap: usize) -> usize {
        // Twelve uniforms are normal enough for a length.
        let normal = (0..12).map(|_| self.unit()).sum::<f64>() - 6.0;
        let length = median as f64 * (normal * spread).exp();
        (length as usize).clamp(1, cap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_lie_around_the_median_and_under_the_cap() {
        let mut chance = Chance::new(1);
        let mut lengths: Vec<usize> = (0..10_001).map(|_| chance.length(1000, 1.5, 50_000)).collect();
        lengths.sort_unstable();
        assert!((900..1100).contains(&lengths[5_000]), "median {}", lengths[5_000]);
        assert!(lengths[9_900] > 15_000 && lengths[10_000] <= 50_000);
    }

    #[test]
    fn below_stays_below_and_reaches_every_number() {
        let mut chance = Chance::new(2);
        let seen: std::collections::BTreeSet<usize> = (0..200).map(|_| chance.below(7)).collect();
        assert_eq!(seen.len(), 7);
        assert!(seen.iter().all(|n| *n < 7) && chance.below(0) == 0);
    }
}
