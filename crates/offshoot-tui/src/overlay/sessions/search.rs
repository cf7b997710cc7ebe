//! Session search: parses a query and scores sessions. A word must occur in the messages or the id as typed; in names
//! and folders it matches fuzzily. A `"phrase"` or a `re:` pattern must match exactly everywhere. Every part of the
//! query must match somewhere. Lower scores are better.
//!
//! The module is pure. The selector applies it to the fields in its list, and the surrounding program applies it to the
//! files.

use std::ops::Range;

use offshoot_session::id::EntryId;
use offshoot_session::text::one_line;
use regex::{Regex, RegexBuilder, bytes};
use unicode_segmentation::GraphemeCursor;

use crate::fuzzy::{Searched, Wanted, is_space};

/// A parsed query.
#[derive(Debug, Clone, Default)]
pub struct Query {
    parts: Vec<Part>,
    /// The error of an invalid pattern. Nothing matches then.
    error: Option<String>,
}

/// A part of the query that must match.
#[derive(Debug, Clone)]
struct Part {
    pattern: Regex,
    /// The fuzzy matcher of a word.
    fuzzy: Option<Wanted>,
    /// Finds the lines of a file that may contain the part; `None` accepts every line.
    sieve: Option<bytes::Regex>,
}

/// The searchable fields of a session.
#[derive(Debug, Clone, Default)]
pub(super) struct Fields {
    /// The name and the folder.
    fuzzy: [Searched; 2],
    exact: [String; 2],
}

/// The matches in a session's messages.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextHits {
    /// Whether each part was found.
    pub found: Vec<bool>,
    /// The first match.
    pub first: Option<FirstMatch>,
}

/// The first message of a session that has a part of the query.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FirstMatch {
    /// Its entry, if it has an id.
    pub entry: Option<EntryId>,
    /// What was found.
    pub words: String,
    /// The words around it.
    pub snippet: String,
}

/// The score of an exact match outside the name.
const EXACT: f64 = 50.0;
/// The number of characters of a snippet before the match, and in all.
const BEFORE: usize = 24;
const SNIPPET: usize = 200;

impl Fields {
    pub(super) fn new(name: Option<&str>, folder: &str, id: &str, first: &str) -> Self {
        let fuzzy = [Searched::new(name.unwrap_or_default()), Searched::new(folder)];
        Self { fuzzy, exact: [id.to_owned(), first.to_owned()] }
    }
}

impl Query {
    /// Parses words, phrases in quotes (the last quote may be missing), or `re:` with a pattern. All of them ignore
    /// case.
    #[must_use]
    pub fn parse(typed: &str) -> Self {
        let typed = typed.trim_matches(is_space);
        let parts = match typed.strip_prefix("re:").map(|pattern| pattern.trim_matches(is_space)) {
            Some("") => Err("there is no pattern after re:".to_owned()),
            Some(pattern) => Part::new(pattern, None, None).map(|part| vec![part]),
            None => parts(typed),
        };
        match parts {
            Ok(parts) => Self { parts, error: None },
            Err(why) => Self { parts: Vec::new(), error: Some(why) },
        }
    }

    /// Whether the query matches everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.error.is_none()
    }

    /// The error of an invalid pattern.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// The score of a session, from its fields and the matches in its messages. Lower is better. `None` if a part was
    /// not found.
    pub(super) fn score(&self, fields: &Fields, hits: &TextHits) -> Option<f64> {
        if self.error.is_some() {
            return None;
        }
        let in_text = |at: usize| hits.found.get(at).copied().unwrap_or_default().then_some(EXACT);
        self.parts.iter().enumerate().map(|(at, part)| part.score(fields).or_else(|| in_text(at))).sum()
    }

    /// The matches in a shown text, from left to right. They begin and end between graphemes.
    pub(super) fn matches(&self, text: &str) -> Vec<Range<usize>> {
        let found = self.parts.iter().flat_map(|part| part.pattern.find_iter(text));
        let mut found: Vec<_> = found.map(|found| whole_graphemes(text, found.range())).collect();
        found.sort_by_key(|range| range.start);
        let mut end = 0;
        found.retain(|range| {
            range.start >= end && !range.is_empty() && {
                end = range.end;
                true
            }
        });
        found
    }

    /// Whether a line of a session file may contain a match.
    #[must_use]
    pub fn can_be_in(&self, line: &[u8]) -> bool {
        self.parts.iter().any(|part| part.sieve.as_ref().is_none_or(|sieve| sieve.is_match(line)))
    }

    /// Searches a message and updates the hits. Returns whether every part has been found.
    pub fn look_in(&self, entry: Option<&str>, text: &str, hits: &mut TextHits) -> bool {
        hits.found.resize(self.parts.len(), false);
        for (part, is_found) in self.parts.iter().zip(&mut hits.found).filter(|(_, is_found)| !**is_found) {
            let Some(found) = part.pattern.find(text) else { continue };
            *is_found = true;
            hits.first.get_or_insert_with(|| FirstMatch {
                entry: entry.map(EntryId::new),
                words: one_line(found.as_str(), SNIPPET),
                snippet: snippet(text, found.start()),
            });
        }
        hits.found.iter().all(|is_found| *is_found)
    }
}

impl Part {
    fn new(pattern: &str, fuzzy: Option<Wanted>, sieve: Option<bytes::Regex>) -> Result<Self, String> {
        let pattern = RegexBuilder::new(pattern).case_insensitive(true).build().map_err(|error| {
            // Only the last line of a syntax error says what is wrong.
            let text = error.to_string();
            let why = text.lines().last().unwrap_or_default();
            format!("no pattern: {}", why.strip_prefix("error: ").unwrap_or(why))
        })?;
        Ok(Self { pattern, fuzzy, sieve })
    }

    fn score(&self, fields: &Fields) -> Option<f64> {
        let fuzzy = || {
            let word = self.fuzzy.as_ref()?;
            fields.fuzzy.iter().filter_map(|text| text.score(word)).min_by(f64::total_cmp)
        };
        let in_fuzzy = || fields.fuzzy.iter().any(|text| self.pattern.is_match(text.lower()));
        let is_exact = || in_fuzzy() || fields.exact.iter().any(|text| self.pattern.is_match(text));
        fuzzy().or_else(|| is_exact().then_some(EXACT))
    }
}

/// Every second piece between quotes is a phrase.
fn parts(typed: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    for (number, piece) in typed.split('"').enumerate() {
        let words = || piece.split(is_space).filter(|word| !word.is_empty());
        if number % 2 == 0 {
            for word in words() {
                parts.push(Part::new(&regex::escape(word), Some(Wanted::new(word)), needle(word).and_then(sieve))?);
            }
        } else if words().next().is_some() {
            let phrase: Vec<String> = words().map(regex::escape).collect();
            let needle = words().filter_map(needle).max_by_key(|needle| needle.len());
            parts.push(Part::new(&phrase.join(r"\s+"), None, needle.and_then(sieve))?);
        }
    }
    Ok(parts)
}

/// The longest run of letters and digits. JSON writes them as they are, or as numbers.
fn needle(word: &str) -> Option<&str> {
    let runs = word.split(|c: char| !c.is_ascii_alphanumeric());
    runs.filter(|run| !run.is_empty()).max_by_key(|run| run.len())
}

/// Matches lines that contain the needle, or letters that are written as numbers.
fn sieve(needle: &str) -> Option<bytes::Regex> {
    let pattern = format!(r"{needle}|\\u00[2-7]");
    bytes::RegexBuilder::new(&pattern).case_insensitive(true).unicode(false).build().ok()
}

/// A range of a text, widened to whole graphemes.
fn whole_graphemes(text: &str, range: Range<usize>) -> Range<usize> {
    let is_boundary = |at: usize| GraphemeCursor::new(at, text.len(), true).is_boundary(text, 0) != Ok(false);
    let start = (0..=range.start).rev().find(|at| text.is_char_boundary(*at) && is_boundary(*at));
    let end = (range.end..=text.len()).find(|at| text.is_char_boundary(*at) && is_boundary(*at));
    start.unwrap_or(range.start)..end.unwrap_or(range.end)
}

/// The words around a place. The words before it are whole.
fn snippet(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let start = before.char_indices().rev().nth(BEFORE).map_or(0, |(start, _)| start);
    let first = before.get(start..).unwrap_or_default();
    let start = if start == 0 { 0 } else { start + first.find(is_space).unwrap_or_default() };
    let start = whole_graphemes(text, start..start).start;
    let words = one_line(text.get(start..).unwrap_or_default(), SNIPPET);
    if start == 0 { words } else { format!("…{}", words.trim_start()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The score of a session with only this message.
    fn said(typed: &str, text: &str) -> Option<f64> {
        let (query, mut hits) = (Query::parse(typed), TextHits::default());
        query.look_in(None, text, &mut hits);
        query.score(&Fields::default(), &hits)
    }

    #[test]
    fn words_and_phrases_are_found_as_they_are_in_what_was_said() {
        assert_eq!(said("zanzi", "from Zanzibar"), Some(EXACT));
        assert_eq!(said("zanzi", "zebras and zinnias"), None, "not by letters that lie scattered");
        assert_eq!(said("\"zanzi\"", "from Zanzibar"), Some(EXACT));
        assert_eq!(said("\"Node  CVE\"", "see\nnode\n cve"), Some(EXACT));
        assert_eq!(said("\"node cve\"", "cve node"), None);
        assert_eq!(said("\"node cv", "a node cve"), Some(EXACT), "a phrase that is still typed");
        assert_eq!(said("node cve", "cve node"), Some(2.0 * EXACT));
        assert_eq!(said("node nope", "cve node"), None);
        assert_eq!(said("a.c", "abc"), None);
    }

    #[test]
    fn names_and_folders_are_found_fuzzily_and_ids_as_they_are() {
        let fields = Fields::new(Some("the page iterator"), "/home/me/pager", "0198abcd", "How long is it?");
        let score = |typed: &str| Query::parse(typed).score(&fields, &TextHits::default());
        assert!(score("pgit").is_some() && score("mepag").is_some());
        assert_eq!((score("98ab"), score("9abd")), (Some(EXACT), None));
        assert_eq!((score("long"), score("hwlng")), (Some(EXACT), None));
        assert_eq!((score("\"page it\""), score("\"pgit\"")), (Some(EXACT), None));
        assert!(score("iterator") < score("pgit"), "what is typed whole comes first");
    }

    #[test]
    fn what_is_found_is_shown_with_the_words_around_it() {
        let (query, mut hits) = (Query::parse("blue \"red fox\""), TextHits::default());
        assert!(!query.look_in(Some("aa"), "It was a very long day in the forest.\nThen a red\tfox came.", &mut hits));
        assert_eq!(
            (hits.found.as_slice(), hits.first.as_ref().map(|first| first.snippet.as_str())),
            (&[false, true][..], Some("…in the forest. Then a red fox came."))
        );
        assert!(query.look_in(Some("bb"), "blue", &mut hits));
        let first = hits.first.unwrap();
        assert_eq!((first.entry, first.words), (Some("aa".into()), "red fox".to_owned()));
        assert_eq!(query.matches("a red  fox, BLUE, blue"), [2..10, 12..16, 18..22]);
    }

    /// Regression: the highlight cut `👍🏽` in two, and the colour of the skin was lost.
    #[test]
    fn a_match_is_shown_with_whole_graphemes() {
        for (typed, text, shown) in
            [("👍", "so 👍🏽!", "👍🏽"), ("re:\u{1f3fd}", "so 👍🏽!", "👍🏽"), ("e", "be\u{301}!", "e\u{301}")]
        {
            let found = Query::parse(typed).matches(text).into_iter().map(|range| &text[range]);
            assert_eq!(found.collect::<Vec<_>>(), [shown]);
        }
    }

    #[test]
    fn lines_that_cannot_have_it_are_told_by_their_bytes() {
        for (typed, line, can) in [
            ("zanzi", r#"{"text":"from ZANZIBAR"}"#, true),
            ("zanzi", r#"{"text":"from Zan\u007aibar"}"#, true),
            ("zanzi", r#"{"text":"zan zi\n"}"#, false),
            ("\"a/b cde\"", r#"{"text":"cd\ne"}"#, false),
            ("\"a/b cde\"", r#"{"text":"a\/b\ncde"}"#, true),
            ("größe", r#"{"text":"GRÖSSE"}"#, true),
            ("日本", "anything", true),
            ("re:x", "anything", true),
        ] {
            assert_eq!(Query::parse(typed).can_be_in(line.as_bytes()), can, "{typed} {line}");
        }
    }

    #[test]
    fn patterns_are_found_in_any_case() {
        assert_eq!(said("re: b.C", "aabXc"), Some(EXACT));
        assert_eq!(said("re:^b", "ab"), None);
    }

    #[test]
    fn a_pattern_that_is_none_finds_nothing_and_says_why() {
        for typed in ["re:", "re:  ", "re:(", "re:[z-a]"] {
            let query = Query::parse(typed);
            assert_eq!(query.score(&Fields::default(), &TextHits::default()), None);
            assert!(query.error().is_some_and(|why| !why.is_empty() && !why.contains('\n')), "{typed}");
        }
        insta::assert_snapshot!(Query::parse("re:(a").error().unwrap(), @"no pattern: unclosed group");
    }

    #[test]
    fn an_empty_search_fits_everything() {
        for typed in ["", "  ", "\"\"", "\""] {
            assert!(Query::parse(typed).is_empty());
            assert_eq!(said(typed, "x"), Some(0.0));
        }
    }
}
