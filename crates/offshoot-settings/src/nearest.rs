//! Suggests the name that a mistyped one probably means. Knows no names.

/// The similarity from which a candidate counts as a likely correction.
const ALIKE: f32 = 0.6;

/// The candidate most similar to `typed`, if it is similar enough.
pub fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let named: Vec<(String, &str)> = candidates.into_iter().map(|name| (name.to_lowercase(), name)).collect();
    let lower: Vec<&str> = named.iter().map(|(lower, _)| lower.as_str()).collect();
    let best = similar::get_close_matches(typed.to_lowercase().as_str(), &lower, 1, ALIKE);
    named.iter().find(|(lower, _)| Some(&lower.as_str()) == best.first()).map(|(_, name)| *name)
}

/// How much more similar one candidate must be than another to count as more similar.
const ABOUT: f32 = 0.05;

/// The same where candidates are versions of each other: of those that are about as similar as the best, the one that ranks highest. `part` is
/// what is compared of a candidate.
pub fn nearest_newest<'a, Rank: Ord>(
    typed: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    part: impl Fn(&'a str) -> &'a str,
    rank: impl Fn(&'a str) -> Rank,
) -> Option<&'a str> {
    let alike = |name: &'a str| (likeness(typed, name).max(likeness(typed, part(name))), name);
    let alike: Vec<(f32, &str)> = candidates.into_iter().map(alike).filter(|(alike, _)| *alike >= ALIKE).collect();
    let best = alike.iter().map(|(alike, _)| *alike).reduce(f32::max)?;
    let about = alike.iter().filter(|(alike, _)| *alike > best - ABOUT);
    about.max_by_key(|(_, name)| rank(name)).map(|(_, name)| *name)
}

/// The same among two groups: one of the second must be more similar than any of the first.
pub fn nearest_or<'a>(
    typed: &str,
    first: impl IntoIterator<Item = &'a str>,
    second: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    match (nearest(typed, first), nearest(typed, second)) {
        (Some(first), Some(second)) if likeness(typed, second) > likeness(typed, first) => Some(second),
        (first, second) => first.or(second),
    }
}

fn likeness(typed: &str, candidate: &str) -> f32 {
    let (typed, candidate) = (typed.to_lowercase(), candidate.to_lowercase());
    similar::TextDiff::from_chars(typed.as_str(), candidate.as_str()).ratio()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_seen_and_another_word_is_not() {
        let names = ["tree", "resume", "new", "branches"];
        assert_eq!(nearest("tere", names), Some("tree"));
        assert_eq!(nearest("Resune", names), Some("resume"));
        assert_eq!(nearest("branchs", names), Some("branches"));
        assert_eq!(nearest("n", names), None);
        assert_eq!(nearest("quit", names), None);
        assert_eq!(nearest("", names), None);
    }

    #[test]
    fn of_versions_that_are_about_as_similar_the_highest_counts() {
        let part = |name: &'static str| name.strip_suffix("-2025").unwrap_or(name);
        let newest = |typed, names: &[&'static str]| {
            nearest_newest(typed, names.iter().copied(), part, |name| (!name.ends_with("-2025"), name))
        };
        assert_eq!(newest("opus-9", &["opus-3", "opus-5", "opus-5-2025", "sonnet-7"]), Some("opus-5"));
        assert_eq!(newest("opus-3", &["opus-3", "opus-5"]), Some("opus-3"));
        assert_eq!(newest("xyz", &["opus-3"]), None);
    }

    #[test]
    fn the_second_group_counts_where_it_is_nearer() {
        let or = |typed| nearest_or(typed, ["list", "rename"], ["lint", "resume"]);
        assert_eq!(or("lsit"), Some("list"));
        assert_eq!(or("lints"), Some("lint"));
        assert_eq!(or("resum"), Some("resume"));
        assert_eq!(or("xyz"), None);
    }
}
