//! Whether a document has what a query looks for, and where in its text. Both the scan and the check of an index's hits use it.

use std::ops::Range;

use memchr::memmem;

use crate::document::Document;
use crate::query::{SearchQuery, Term, TermWords};
use crate::words;

/// How a document fits a query.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fit {
    /// Where in the text what was found is, in order, and of which group of the query it is; at most [`MOST_PLACES`] of each.
    pub places: Vec<(Range<usize>, usize)>,
    /// Whether a word was found inside of another one only.
    pub is_inside: bool,
}

/// Places that are kept of a document for each group of a query.
pub const MOST_PLACES: usize = 64;

/// What is found in one text for each term.
struct TextWords<'q> {
    terms: Vec<&'q TermWords>,
    /// Of each term the places of whole words.
    found: Vec<Vec<Range<usize>>>,
}

/// How a document fits, `None` if it does not. Filters are not looked at.
#[must_use]
pub fn fit(query: &SearchQuery, document: &Document) -> Option<Fit> {
    let terms: Vec<&Term> = query.terms().chain(&query.none).collect();
    let words = TextWords::find(&terms, &document.text);
    if query.none.iter().any(|term| words.has(term, &document.text)) {
        return None;
    }
    let (mut fit, mut lower) = (Fit::default(), None);
    for (group, any) in query.all.iter().enumerate() {
        let mut places: Vec<Range<usize>> =
            any.iter().flat_map(|term| words.places(term, &document.text)).take(MOST_PLACES).collect();
        if places.is_empty() {
            let folded: &String = lower.get_or_insert_with(|| words::folded(&document.text));
            places = any.iter().flat_map(|term| inside(term, &document.text, folded)).take(MOST_PLACES).collect();
            fit.is_inside = true;
        }
        if places.is_empty() {
            return None;
        }
        places.sort_by_key(|place| (place.start, place.end));
        places.dedup();
        fit.places.extend(places.into_iter().map(|place| (place, group)));
    }
    fit.places.sort_by_key(|(place, _)| (place.start, place.end));
    Some(fit)
}

impl<'q> TextWords<'q> {
    fn find(terms: &[&'q Term], text: &str) -> Self {
        let terms: Vec<&TermWords> = terms
            .iter()
            .filter_map(|term| match term {
                Term::Words(words) => Some(words),
                Term::Part(_) | Term::Pattern(_) => None,
            })
            .collect();
        let mut found = vec![Vec::new(); terms.len()];
        if !terms.is_empty() {
            let mut open = OpenPhrases::new(&terms);
            words::for_each_word(text, &mut |word, at| open.take(word, at, &mut found));
            let mut open = OpenPhrases::new(&terms);
            words::for_each_part(text, &mut |word, at| open.take(word, at, &mut found));
        }
        Self { terms, found }
    }

    fn of(&self, term: &TermWords) -> &[Range<usize>] {
        let at = self.terms.iter().position(|known| std::ptr::eq(*known, term));
        at.and_then(|at| self.found.get(at)).map_or(&[], Vec::as_slice)
    }

    fn places(&self, term: &Term, text: &str) -> Vec<Range<usize>> {
        match term {
            Term::Words(words) => self.of(words).to_vec(),
            Term::Part(_) => inside(term, text, &words::folded(text)),
            Term::Pattern(pattern) => {
                let found = pattern.find_iter(text).filter(|found| !found.is_empty());
                found.take(MOST_PLACES).map(|found| found.range()).collect()
            }
        }
    }

    fn has(&self, term: &Term, text: &str) -> bool {
        !self.places(term, text).is_empty()
    }
}

/// How far each phrase has come: the words of a text are held against all terms at once.
struct OpenPhrases<'q> {
    terms: &'q [&'q TermWords],
    /// Of each term the beginnings that fit so far: how many words, and where the first one is.
    open: Vec<Vec<(usize, usize)>>,
}

impl<'q> OpenPhrases<'q> {
    fn new(terms: &'q [&'q TermWords]) -> Self {
        Self { terms, open: vec![Vec::new(); terms.len()] }
    }

    fn take(&mut self, word: &str, at: Range<usize>, found: &mut [Vec<Range<usize>>]) {
        for ((term, open), found) in self.terms.iter().zip(&mut self.open).zip(found) {
            let last = term.words.len().saturating_sub(1);
            let fits = |place: usize| {
                term.words.get(place).is_some_and(|wanted| {
                    if place == last && term.is_beginning { word.starts_with(&**wanted) } else { word == wanted }
                })
            };
            let mut next = Vec::new();
            for (count, start) in open.drain(..).chain([(0, at.start)]) {
                if !fits(count) {
                    continue;
                }
                if count < last {
                    next.push((count + 1, start));
                } else if found.len() < MOST_PLACES {
                    found.push(start..at.end);
                }
            }
            *open = next;
        }
    }
}

/// Where a term is inside of words: a part anywhere, a word that was not quoted as it was typed.
fn inside(term: &Term, text: &str, folded: &str) -> Vec<Range<usize>> {
    let needle = match term {
        Term::Part(part) => part.clone(),
        Term::Words(words) if !words.is_quoted => words::folded(&words.typed),
        Term::Words(_) | Term::Pattern(_) => return Vec::new(),
    };
    if needle.is_empty() {
        return Vec::new();
    }
    let found = memmem::find_iter(folded.as_bytes(), needle.as_bytes()).take(MOST_PLACES);
    let parts: Vec<Range<usize>> = found.map(|at| at..at + needle.len()).collect();
    if parts.is_empty() { parts } else { words::unfolded(text, &parts) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::DocumentKind;

    fn found(typed: &str, text: &str) -> Option<(Vec<String>, bool)> {
        let query = SearchQuery::parse(typed, &|_| None).unwrap();
        let document = Document::new(DocumentKind::User, text);
        let fit = fit(&query, &document)?;
        Some((fit.places.iter().map(|(place, _)| text[place.clone()].to_owned()).collect(), fit.is_inside))
    }

    fn words(typed: &str, text: &str) -> Vec<String> {
        found(typed, text).map(|(places, _)| places).unwrap_or_default()
    }

    #[test]
    fn words_phrases_and_beginnings_are_found() {
        assert_eq!(words("migration lines", "Lines after a Migration"), ["Lines", "Migration"]);
        assert_eq!(words("\"loses lines\"", "it loses, lines; lines loses"), ["loses, lines"]);
        assert_eq!(words("migr*", "a Migration"), ["Migration"]);
        assert_eq!(words("a OR b c", "b c"), ["b", "c"]);
        assert!(found("migration -lines", "migration of lines").is_none());
        assert!(found("\"a b\" x", "a c b x").is_none());
        assert_eq!(words("\"a a b\"", "a a a b"), ["a a b"]);
    }

    #[test]
    fn parts_of_identifiers_are_found() {
        assert_eq!(words("http header", "parseHTTPHeader"), ["HTTP", "Header"]);
        assert_eq!(words("\"loses lines\"", "cargo test migration_loses_lines"), ["loses_lines"]);
        assert_eq!(found("\"migration_loses_lines\"", "migration loses lines"), None);
    }

    #[test]
    fn unspaced_scripts_are_found_inside_of_runs() {
        for typed in ["検索", "日本語", "本語", "語", "の検索が"] {
            assert_eq!(
                found(typed, "日本語の検索が壊れている").map(|(_, is_inside)| is_inside),
                Some(false),
                "{typed}"
            );
        }
        assert!(found("語検", "日本語の検索が壊れている").is_none());
    }

    #[test]
    fn what_is_inside_of_a_word_follows_marked() {
        assert_eq!(found("rseHTTPHea", "parseHTTPHeader"), Some((vec!["rseHTTPHea".to_owned()], true)));
        assert_eq!(found("~rseHTTPHea", "parseHTTPHeader"), Some((vec!["rseHTTPHea".to_owned()], false)));
        assert_eq!(found("rulé", "Brûlée"), Some((vec!["rûlé".to_owned()], true)));
        assert_eq!(found("\"rse\"", "parse"), None);
    }

    #[test]
    fn patterns_are_found() {
        assert_eq!(words(r"/max_conn\w+ to \d+/", "raised MAX_connections to 40"), ["MAX_connections to 40"]);
    }
}
