//! What foreign ids mean: a table of numbers that point into a list. It takes two thirds of the memory of a map. Ids come from anybody, so where one
//! stands is nobody's choice but chance's.

use std::hash::{BuildHasher as _, RandomState};

use crate::key::Key;

/// An id with the entry that it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KnownId {
    pub(crate) key: Key,
    pub(crate) at: u32,
    /// Tells its record from others with the same id.
    pub(crate) print: u32,
}

const FREE: u32 = u32::MAX;
const FEWEST: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct KnownIds {
    all: Vec<KnownId>,
    /// Where the ids are in the list. Their number is a power of two, and at least a quarter of them is free.
    places: Vec<u32>,
    hasher: RandomState,
}

impl KnownIds {
    /// From now on an id means this. Returns its number, which stays.
    pub(crate) fn put(&mut self, known: KnownId) -> u32 {
        if (self.all.len() + 1) * 4 > self.places.len() * 3 {
            self.grow();
        }
        let place = self.place_of(known.key);
        let Some(number) = self.places.get_mut(place) else { return FREE };
        match self.all.get_mut(*number as usize) {
            Some(there) => *there = known,
            None => {
                *number = self.all.len() as u32;
                self.all.push(known);
            }
        }
        *number
    }

    /// The id with this number.
    pub(crate) fn key(&self, number: u32) -> Option<Key> {
        self.all.get(number as usize).map(|known| known.key)
    }

    pub(crate) fn get(&self, key: Key) -> Option<KnownId> {
        self.all.get(*self.places.get(self.place_of(key))? as usize).copied()
    }

    /// The place of an id, or the free one where it would be.
    fn place_of(&self, key: Key) -> usize {
        let last = self.places.len().wrapping_sub(1);
        let mut place = self.hasher.hash_one(key) as usize & last;
        while let Some(number) = self.places.get(place).filter(|number| **number != FREE) {
            if self.all.get(*number as usize).is_none_or(|known| known.key == key) {
                break;
            }
            place = (place + 1) & last;
        }
        place
    }

    fn grow(&mut self) {
        self.places = vec![FREE; (self.places.len() * 2).max(FEWEST)];
        for number in 0..self.all.len() {
            let Some(key) = self.all.get(number).map(|known| known.key) else { return };
            let place = self.place_of(key);
            if let Some(free) = self.places.get_mut(place) {
                *free = number as u32;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_knows_what_a_map_knows(puts in proptest::collection::vec((0..300u32, 0..9u32), 0..600)) {
            let (mut known, mut map) = (KnownIds::default(), HashMap::new());
            for (at, (id, print)) in puts.into_iter().enumerate() {
                let key = Key::of(&id.to_string());
                let put = KnownId { key, at: at as u32, print };
                let number = known.put(put);
                map.insert(key, put);
                prop_assert_eq!(known.key(number), Some(key));
            }
            for id in 0..301u32 {
                let key = Key::of(&id.to_string());
                prop_assert_eq!(known.get(key), map.get(&key).copied());
            }
            for number in 0..300 {
                prop_assert_eq!(known.key(number).is_some(), (number as usize) < map.len());
            }
        }
    }
}
