//! A hit in one line: the words around what was found.

use std::ops::Range;

use offshoot_session::text::clean;

/// Characters of a snippet before and behind what was found.
const AROUND: usize = 60;
/// How far apart places may be that a snippet shows together, in characters.
const TOGETHER: usize = 60;

/// A line of a text with what was found in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snippet {
    /// One line without control characters; `…` stands where more is.
    pub text: String,
    /// Where in it what was found is, in bytes.
    pub ranges: Vec<Range<usize>>,
}

impl Snippet {
    /// The line around the places that are near each other and say most: those of most groups, and of rare ones.
    #[must_use]
    pub fn of(text: &str, places: &[(Range<usize>, usize)]) -> Self {
        let (first, end) = best_cluster(text, places);
        // What was found may be long, as a pattern's is.
        let end = text.floor_char_boundary(end.min(first.saturating_add(16 * AROUND)));
        let (before, after) = (text.get(..first).unwrap_or_default(), text.get(end..).unwrap_or_default());
        let start = before.char_indices().rev().nth(AROUND - 1).map_or(0, |(at, _)| at);
        let stop = after.char_indices().nth(AROUND).map_or(text.len(), |(at, _)| end + at);
        let mut snippet = Self::default();
        if start > 0 {
            snippet.text.push('…');
        }
        let mut at = start;
        for (place, _) in places.iter().filter(|(place, _)| place.start >= start && place.end <= end) {
            if place.start < at {
                continue;
            }
            snippet.add(text.get(at..place.start).unwrap_or_default());
            let from = snippet.text.len();
            snippet.add(text.get(place.clone()).unwrap_or_default());
            snippet.ranges.push(from..snippet.text.len());
            at = place.end;
        }
        snippet.add(text.get(at..stop).unwrap_or_default());
        if stop < text.len() {
            snippet.text.push('…');
        }
        snippet
    }

    /// Adds a text as one line: several blanks are one, and control characters are spelled.
    fn add(&mut self, text: &str) {
        let mut is_blank = self.text.is_empty() || self.text.ends_with(' ');
        let mut line = String::with_capacity(text.len());
        for c in text.chars() {
            if c.is_whitespace() {
                if !is_blank {
                    line.push(' ');
                }
                is_blank = true;
            } else {
                line.push(c);
                is_blank = false;
            }
        }
        self.text.push_str(&clean(&line));
    }
}

/// Where the best of the clusters of places begins and ends.
fn best_cluster(text: &str, places: &[(Range<usize>, usize)]) -> (usize, usize) {
    let groups = places.iter().map(|(_, group)| group + 1).max().unwrap_or_default();
    let mut rarity = vec![0.0_f64; groups];
    places.iter().for_each(|(_, group)| rarity[*group] += 1.0);
    let mut best = (0.0, 0, 0);
    for (at, (first, _)) in places.iter().enumerate() {
        let (mut end, mut worth) = (first.end, 0.0);
        let mut seen = vec![false; groups];
        for (place, group) in places.get(at..).unwrap_or_default() {
            let between = text.get(end..place.start).map_or(0, |between| between.chars().take(TOGETHER + 1).count());
            if between > TOGETHER || place.end.saturating_sub(first.start) > 4 * AROUND {
                break;
            }
            end = end.max(place.end);
            if !std::mem::replace(&mut seen[*group], true) {
                worth += 1.0 + 1.0 / rarity[*group];
            }
        }
        if worth > best.0 {
            best = (worth, first.start, end);
        }
    }
    (best.1, best.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, found: &[&str]) -> String {
        let place = |found: &&str| text.find(found).map(|at| at..at + found.len()).unwrap();
        let places: Vec<(Range<usize>, usize)> = found.iter().map(place).zip(0..).collect();
        let snippet = Snippet::of(text, &places);
        let mut shown = String::new();
        let mut at = 0;
        for range in &snippet.ranges {
            shown += &format!("{}[{}]", &snippet.text[at..range.start], &snippet.text[range.clone()]);
            at = range.end;
        }
        shown + &snippet.text[at..]
    }

    #[test]
    fn a_line_shows_what_was_found_and_its_surroundings() {
        assert_eq!(shown("a needle\n  here", &["needle"]), "a [needle] here");
        let long = format!("{} needle {}", "x".repeat(100), "y".repeat(100));
        assert_eq!(shown(&long, &["needle"]), format!("…{} [needle] {}…", "x".repeat(59), "y".repeat(59)));
        assert_eq!(shown("", &[]), "");
    }

    #[test]
    fn near_places_are_shown_together_and_far_ones_are_not() {
        assert_eq!(shown("one and two", &["one", "two"]), "[one] and [two]");
        let far = format!("one {} two", "x ".repeat(100));
        assert!(shown(&far, &["one", "two"]).starts_with("[one] x x"), "{}", shown(&far, &["one", "two"]));
        assert!(!shown(&far, &["one", "two"]).contains("two"));
    }

    #[test]
    fn the_line_with_most_words_is_shown() {
        let text = format!("one {} two and three", "x ".repeat(100));
        assert!(shown(&text, &["one", "two", "three"]).ends_with("[two] and [three]"));
    }

    #[test]
    fn control_characters_are_spelled() {
        let shown = shown("a\u{1b}[31m needle \u{202e}x", &["needle"]);
        assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'), "{shown:?}");
        assert!(shown.contains("[needle]"), "{shown:?}");
    }
}
