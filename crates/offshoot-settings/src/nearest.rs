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
}
