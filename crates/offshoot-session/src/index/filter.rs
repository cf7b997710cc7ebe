//! A Bloom filter of ids, for reading many new entries over an index.

use crate::packed::hash;

/// Bits for each id: about one in a hundred new ids looks known.
const BITS: u64 = 10;
/// How many bits each id sets.
const PROBES: u32 = 5;

#[derive(Debug)]
pub(super) struct Filter {
    words: Vec<u64>,
}

impl Filter {
    /// A filter for about `expected` ids; more only make false positives more frequent.
    pub(super) fn new(expected: u64) -> Self {
        let words = (expected.saturating_mul(BITS) / 64).clamp(1, 1 << 27);
        Self { words: vec![0; words as usize] }
    }

    pub(super) fn add(&mut self, id: &str) {
        for (word, bit) in self.bits(id) {
            self.words[word] |= bit;
        }
    }

    /// `false` only for ids that were not added.
    pub(super) fn may_have(&self, id: &str) -> bool {
        self.bits(id).all(|(word, bit)| self.words[word] & bit != 0)
    }

    fn bits(&self, id: &str) -> impl Iterator<Item = (usize, u64)> + use<> {
        let (hash, count) = (hash(id.as_bytes()), self.words.len() as u64 * 64);
        // Two halves of one hash make any number of probes.
        let (first, step) = (hash & 0xffff_ffff, (hash >> 32) | 1);
        (0..u64::from(PROBES)).map(move |probe| {
            let at = (first.wrapping_add(probe.wrapping_mul(step)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16) % count;
            ((at / 64) as usize, 1 << (at % 64))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_known_and_little_else() {
        let id = |at: u32| format!("{:08x}", at.wrapping_mul(2_654_435_761));
        let mut filter = Filter::new(20_000);
        (0..20_000).for_each(|at| filter.add(&id(at)));
        assert!((0..20_000).all(|at| filter.may_have(&id(at))));
        let wrong = (20_000..40_000).filter(|at| filter.may_have(&id(*at))).count();
        assert!(wrong < 800, "{wrong} of 20000");
    }
}
