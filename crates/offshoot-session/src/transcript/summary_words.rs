//! One row of words for a summary. Knows no entry.

/// The words of a summary that name its branch: its goal, or else its first words after the sentence that introduces it.
/// `None` if it states no goal: then the words before it name the branch better.
pub fn summary_words(summary: &str) -> Option<&str> {
    /// So many lines may introduce a summary; the last of them ends with a colon.
    const LEAD: usize = 3;
    let lines = || summary.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_goal = |line: &str| line.starts_with('#') && line.trim_matches(['#', ' ', ':']).eq_ignore_ascii_case("goal");
    let lead = lines().take(LEAD).position(|line| line.ends_with(':') && !line.starts_with(['#', '-', '*']));
    let named = match lines().position(is_goal) {
        Some(at) => lines().nth(at + 1).filter(|line| !line.starts_with('#')),
        None => lines().skip(lead.map_or(0, |at| at + 1)).find(|line| !line.starts_with('#')),
    };
    named.filter(|named| !named.starts_with("(none"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_named_by_its_goal_or_its_first_words() {
        let lead =
            "Another branch of this conversation was tried before the return to this point. What happened there:";
        let pis =
            "The user explored a different conversation branch before returning here.\nSummary of that exploration:";
        for (summary, named) in [
            (format!("{lead}\n\n## Goal\nCount words as people do\n\n## Done\n- x"), Some("Count words as people do")),
            (format!("{lead}\n\n## Goal\n(none stated)\n\n## Done\n- x"), None),
            (format!("{pis}\n\n## Goal\n\nFaster"), Some("Faster")),
            (format!("{lead}\n\nTried an arena. It held."), Some("Tried an arena. It held.")),
            ("Tried to count: it failed.".to_owned(), Some("Tried to count: it failed.")),
            ("## Next\n- more".to_owned(), Some("- more")),
            (format!("{lead}\n"), None),
            (String::new(), None),
        ] {
            assert_eq!(summary_words(&summary), named, "{summary}");
        }
    }
}
