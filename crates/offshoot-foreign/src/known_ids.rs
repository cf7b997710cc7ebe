//! What foreign ids mean: a table of numbers that point into a list. It takes two thirds of the memory of a map. Ids come from anybody, so they are
//! hashed with a random seed.

use std::hash::BuildHasher as _;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::key::Key;

/// An id with the entry that it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KnownId {
    pub(crate) key: Key,
    pub(crate) at: u32,
    /// Tells its record from others with the same id.
    pub(crate) print: u32,
}

#[derive(Debug, Default)]
pub(crate) struct KnownIds {
    all: Vec<KnownId>,
    /// Where the ids are in the list.
    places: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl KnownIds {
    /// Makes room for so many more ids.
    pub(crate) fn expect(&mut self, more: usize) {
        let Self { all, places, hasher } = self;
        all.reserve(more);
        places.reserve(more, |number| all.get(*number as usize).map_or(0, |known| hasher.hash_one(known.key)));
    }

    /// From now on an id means this. Returns its number, which stays.
    pub(crate) fn put(&mut self, known: KnownId) -> u32 {
        let Self { all, places, hasher } = self;
        let hash_of = |number: &u32| all.get(*number as usize).map_or(0, |known| hasher.hash_one(known.key));
        let is_it = |number: &u32| all.get(*number as usize).is_some_and(|there| there.key == known.key);
        let next = all.len() as u32;
        let number = *places.entry(hasher.hash_one(known.key), is_it, hash_of).or_insert(next).get();
        match all.get_mut(number as usize) {
            Some(there) => *there = known,
            None => all.push(known),
        }
        number
    }

    /// The id with this number.
    pub(crate) fn key(&self, number: u32) -> Option<Key> {
        self.all.get(number as usize).map(|known| known.key)
    }

    pub(crate) fn get(&self, key: Key) -> Option<KnownId> {
        let is_it = |number: &u32| self.all.get(*number as usize).is_some_and(|known| known.key == key);
        self.all.get(*self.places.find(self.hasher.hash_one(key), is_it)? as usize).copied()
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
