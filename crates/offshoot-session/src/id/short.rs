//! The shortest start of an id that no other id has. Knows no trees and no sessions.

use std::hash::BuildHasher as _;
use std::sync::OnceLock;

use hashbrown::{DefaultHashBuilder, HashTable};

/// The fewest characters of an id that are printed, and that a command which writes takes.
pub const SHORTEST_ID: usize = 4;

/// So many ids are searched in a table, which is made once.
const MANY: usize = 4096;

/// Some ids, each with the shortest start that only it has among all ids.
#[derive(Debug, Clone, Default)]
pub struct ShortIds<'a> {
    /// Sorted, each id once.
    ids: Vec<ShortId<'a>>,
    places: OnceLock<IdPlaces>,
}

/// Where ids are in the list. They come from anybody, so they are hashed with a random seed.
#[derive(Debug, Clone, Default)]
struct IdPlaces {
    places: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl IdPlaces {
    fn of(ids: &[ShortId<'_>]) -> Self {
        let hasher = DefaultHashBuilder::default();
        let mut places = HashTable::with_capacity(ids.len());
        for (at, known) in ids.iter().enumerate() {
            places.insert_unique(hasher.hash_one(known.id), at as u32, |at| hasher.hash_one(ids[*at as usize].id));
        }
        Self { places, hasher }
    }

    fn find(&self, ids: &[ShortId<'_>], id: &str) -> Option<usize> {
        let key = key(id);
        let is_it = |at: &u32| ids.get(*at as usize).is_some_and(|known| known.is(key, id));
        self.places.find(self.hasher.hash_one(id), is_it).map(|at| *at as usize)
    }
}

#[derive(Debug, Clone, Copy)]
struct ShortId<'a> {
    /// The first bytes: most comparisons need no more.
    key: u64,
    id: &'a str,
    /// In bytes.
    length: usize,
}

impl<'a> ShortIds<'a> {
    /// The shortest starts of ids that are alone; [`ShortIds::beside`] adds the others.
    pub fn of(ids: impl IntoIterator<Item = &'a str>) -> Self {
        let mut ids: Vec<ShortId<'a>> = ids.into_iter().map(ShortId::new).collect();
        ids.sort_unstable_by(|a, b| (a.key, a.id).cmp(&(b.key, b.id)));
        ids.dedup_by(|a, b| a.id == b.id);
        Self { ids, places: OnceLock::new() }
    }

    /// The ids themselves, where looking for shorter starts would take too long.
    pub fn whole(ids: impl IntoIterator<Item = &'a str>) -> Self {
        let mut whole = Self::of(ids);
        whole.ids.iter_mut().for_each(|known| known.length = known.id.len());
        whole
    }

    /// The ids themselves, in order, each once.
    pub fn whole_ids(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.ids.iter().map(|known| known.id)
    }

    /// Lengthens the starts that another id has too. Every id must pass here once, in any order; one that is among the
    /// wanted ones may.
    pub fn beside(&mut self, other: &str) {
        let key = key(other);
        let at = self.ids.partition_point(|known| (known.key, known.id) < (key, other));
        let is_wanted = self.ids.get(at).is_some_and(|known| known.id == other);
        // Of all ids, the neighbours in order share the longest start.
        for near in [at.checked_sub(1), Some(at + usize::from(is_wanted))].into_iter().flatten() {
            if let Some(near) = self.ids.get_mut(near) {
                near.lengthen_beside(other);
            }
        }
    }

    /// Lengthens starts that mean something else.
    pub fn avoid(&mut self, means_something_else: impl Fn(&str) -> bool) {
        for known in &mut self.ids {
            while known.length < known.id.len() && means_something_else(&known.id[..known.length]) {
                known.lengthen_to(known.length);
            }
        }
    }

    /// The shortest start of an id; the whole of an unknown one.
    pub fn get<'b>(&self, id: &'b str) -> &'b str {
        let found = if self.ids.len() < MANY {
            self.ids.binary_search_by(|known| (known.key, known.id).cmp(&(key(id), id))).ok()
        } else {
            self.places.get_or_init(|| IdPlaces::of(&self.ids)).find(&self.ids, id)
        };
        found.and_then(|at| id.get(..self.ids.get(at)?.length)).unwrap_or(id)
    }

    /// How many characters the longest start has.
    pub fn longest(&self) -> usize {
        self.ids.iter().map(|known| known.id[..known.length].chars().count()).max().unwrap_or(0)
    }
}

impl<'a> ShortId<'a> {
    fn new(id: &'a str) -> Self {
        let length = id.char_indices().nth(SHORTEST_ID).map_or(id.len(), |(at, _)| at);
        Self { key: key(id), id, length }
    }

    /// Whether it is this id, whose key this is. Of a short one the key says it all, which is nearer than its text.
    fn is(&self, key: u64, id: &str) -> bool {
        self.key == key && self.id.len() == id.len() && (id.len() <= size_of::<u64>() || self.id == id)
    }

    fn lengthen_beside(&mut self, other: &str) {
        let shared = self.id.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
        if shared >= self.length {
            self.lengthen_to(shared);
        }
    }

    /// Until after the character at a byte.
    fn lengthen_to(&mut self, shared: usize) {
        let after = (shared + 1..self.id.len()).find(|at| self.id.is_char_boundary(*at));
        self.length = after.unwrap_or(self.id.len());
    }
}

fn key(id: &str) -> u64 {
    let mut first = [0; 8];
    first.iter_mut().zip(id.bytes()).for_each(|(place, byte)| *place = byte);
    u64::from_be_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(wanted: &[&str], all: &[&str]) -> Vec<String> {
        let mut ids = ShortIds::of(wanted.iter().copied());
        all.iter().for_each(|id| ids.beside(id));
        wanted.iter().map(|id| ids.get(id).to_owned()).collect()
    }

    #[test]
    fn whole_ids_stay_whole() {
        let ids = ShortIds::whole(["1b9d40c6", "abc"]);
        assert_eq!((ids.get("1b9d40c6"), ids.get("abc"), ids.longest()), ("1b9d40c6", "abc", 8));
    }

    #[test]
    fn starts_are_unique_among_all_ids_and_have_four_characters() {
        let all = [
            "1b9d40c6",
            "1b9d41ff",
            "1b9e0000",
            "abc",
            "abcd",
            "abcde",
            "日本語の長い名",
            "日本語の長さ",
            "long-id-000000001",
        ];
        assert_eq!(short(&["1b9d40c6"], &all), ["1b9d40"]);
        assert_eq!(short(&["1b9e0000", "1b9d41ff"], &all), ["1b9e", "1b9d41"]);
        // The whole of an id that is the start of another names it.
        assert_eq!(short(&["abc", "abcd", "abcde"], &all), ["abc", "abcd", "abcde"]);
        assert_eq!(short(&["日本語の長い名"], &all), ["日本語の長い"]);
        assert_eq!(short(&["long-id-000000001"], &[]), ["long"]);
        assert_eq!(short(&["long-id-000000001"], &["long-id-000000002", "long-id-00000000"]), ["long-id-000000001"]);
        assert_eq!(short(&["x", ""], &["x", "x", ""]), ["x", ""]);
    }

    /// The neighbours in order decide, so the same comes of comparing each with each.
    #[test]
    fn the_neighbours_share_the_longest_start() {
        let all: Vec<String> = (0..3000u32).map(|at| format!("{:08x}", at.wrapping_mul(2_654_435_761))).collect();
        let mut ids = ShortIds::of(all.iter().step_by(7).map(String::as_str));
        all.iter().for_each(|id| ids.beside(id));
        for id in all.iter().step_by(7) {
            let start = ids.get(id);
            assert_eq!(all.iter().filter(|other| other.starts_with(start)).count(), 1, "{start}");
            let less = &start[..start.len() - 1];
            assert!(start.len() == 4 || all.iter().filter(|other| other.starts_with(less)).count() > 1, "{start}");
        }
        assert!(ids.longest() <= 8);
    }

    #[test]
    fn many_ids_are_found_where_they_are() {
        let all: Vec<String> = (0..5000u32).map(|at| format!("{:08x}", at.wrapping_mul(2_654_435_761))).collect();
        let mut ids = ShortIds::of(all.iter().map(String::as_str));
        assert!(ids.ids.len() >= MANY);
        all.iter().for_each(|id| ids.beside(id));
        let places = IdPlaces::of(&ids.ids);
        for (at, known) in ids.ids.iter().enumerate() {
            assert_eq!(places.find(&ids.ids, known.id), Some(at));
            assert_eq!(ids.get(known.id), &known.id[..known.length]);
        }
        assert_eq!((places.find(&ids.ids, "0"), ids.get("not among them")), (None, "not among them"));
    }

    #[test]
    fn a_start_that_means_something_else_grows() {
        let mut ids = ShortIds::of(["beefcafe", "beef"]);
        ids.avoid(|start| matches!(start, "beef" | "beefc"));
        assert_eq!((ids.get("beefcafe"), ids.get("beef")), ("beefca", "beef"));
    }
}
