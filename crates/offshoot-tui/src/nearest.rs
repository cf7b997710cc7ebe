//! What somebody may have meant who mistyped a name. Knows no names.

/// The candidate with the fewest letters to change, if that are so few that it may have been meant; of equally near ones
/// the first.
pub fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    // Swapped letters are one slip, not two.
    let distance = |name: &str| strsim::osa_distance(&typed, &name.to_lowercase());
    let near = candidates.into_iter().map(|name| (distance(name), name)).min_by_key(|(distance, _)| *distance);
    let allowed = (typed.chars().count() / 3).max(1);
    near.filter(|(distance, _)| *distance <= allowed).map(|(_, name)| name)
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
