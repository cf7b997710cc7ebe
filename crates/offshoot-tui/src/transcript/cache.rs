//! A bounded cache of bodies and rows. The least recently used values are dropped first.

use std::collections::HashMap;
use std::hash::Hash;

struct Kept<V> {
    value: V,
    weight: usize,
    used: u64,
}

/// A cache with a bound on the sum of weights.
pub(super) struct Cache<K, V> {
    kept: HashMap<K, Kept<V>>,
    weight: usize,
    limit: usize,
    now: u64,
}

impl<K: Hash + Eq + Copy, V> Cache<K, V> {
    pub(super) fn new(limit: usize) -> Self {
        Self { kept: HashMap::new(), weight: 0, limit, now: 0 }
    }

    /// Begins a frame. Values that are used or added from now on stay until the next frame.
    pub(super) fn frame(&mut self) {
        self.now += 1;
        if self.weight <= self.limit {
            return;
        }
        // The goal is well below the bound, so that most frames drop nothing.
        let goal = self.limit / 4 * 3;
        let mut ages: Vec<(u64, K)> = self.kept.iter().map(|(key, kept)| (kept.used, *key)).collect();
        ages.sort_unstable_by_key(|(used, _)| *used);
        for (used, key) in ages {
            // The next frame most likely needs the values of the last one.
            if self.weight <= goal || used + 1 >= self.now {
                break;
            }
            self.remove(key);
        }
    }

    pub(super) fn get(&mut self, key: K) -> Option<&V> {
        let kept = self.kept.get_mut(&key)?;
        kept.used = self.now;
        Some(&kept.value)
    }

    /// Returns a value without marking it as used.
    pub(super) fn peek(&self, key: K) -> Option<&V> {
        self.kept.get(&key).map(|kept| &kept.value)
    }

    pub(super) fn put(&mut self, key: K, value: V, weight: usize) {
        self.remove(key);
        self.weight += weight;
        self.kept.insert(key, Kept { value, weight, used: self.now });
    }

    pub(super) fn remove(&mut self, key: K) {
        if let Some(old) = self.kept.remove(&key) {
            self.weight -= old.weight;
        }
    }

    pub(super) fn clear(&mut self) {
        self.kept.clear();
        self.weight = 0;
    }

    #[cfg(test)]
    pub(super) fn weight(&self) -> usize {
        self.weight
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_used_for_longest_goes() {
        let mut cache = Cache::new(100);
        for key in 0..50 {
            cache.frame();
            cache.put(key, (), 10);
            cache.get(0);
            assert!(cache.weight() <= 120, "{}", cache.weight());
        }
        assert!(cache.get(0).is_some() && cache.get(49).is_some() && cache.get(10).is_none());
    }

    #[test]
    fn a_frame_that_is_larger_than_the_bound_stays_whole() {
        let mut cache = Cache::new(10);
        for _ in 0..3 {
            cache.frame();
            for key in 0..9 {
                if cache.get(key).is_none() {
                    cache.put(key, (), 10);
                }
            }
            assert_eq!(cache.weight(), 90);
        }
        cache.frame();
        cache.frame();
        assert!(cache.weight() <= 10, "{}", cache.weight());
        cache.put(1, (), 5);
        cache.clear();
        assert_eq!((cache.weight(), cache.peek(1)), (0, None));
    }
}
