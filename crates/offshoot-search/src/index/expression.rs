//! A query as SQLite's full text search understands it.

use super::prepared::kind_word;
use crate::document::DocumentKind;
use crate::query::{SearchQuery, SpokenBy, Term, TermWords};

/// What every document has.
pub(super) const EVERYTHING: &str = "({kinds} : \"k\" *)";

/// The expression of a query; `None` for one that the words of the index cannot answer.
pub(super) fn expression(query: &SearchQuery) -> Option<String> {
    let mut parts: Vec<String> = query.all.iter().map(|any| one_of(any)).collect::<Option<_>>()?;
    parts.extend(kinds(query));
    if parts.is_empty() {
        parts.push(EVERYTHING.to_owned());
    }
    let mut expression = parts.join(" AND ");
    if !query.none.is_empty() {
        expression = format!("({expression}) NOT {}", one_of(&query.none)?);
    }
    Some(expression)
}

/// The expression of the groups of a query that are words alone; `None` if there is none.
pub(super) fn expression_of_words(query: &SearchQuery) -> Option<String> {
    let groups: Vec<String> = query.all.iter().filter_map(|any| one_of(any)).collect();
    (!groups.is_empty()).then(|| groups.join(" AND "))
}

/// A single word of a query: as SQLite is asked for it, and the word itself if it is a whole one.
pub(super) type AskedWord = (String, Option<String>);

/// The expressions of the words and phrases of a query, each with its single words.
pub(super) fn words_and_phrases(query: &SearchQuery) -> Vec<(String, Vec<AskedWord>)> {
    let column = |phrase: &str| format!("({{words parts}} : {phrase})");
    let of_term = |term: &Term| match term {
        Term::Words(words) if words.words.len() > 1 => {
            let single = |word: &String| (column(&format!("\"{word}\"")), Some(word.clone()));
            Some((column(&phrase(words)), words.words.iter().map(single).collect()))
        }
        Term::Words(words) => {
            let whole = words.words.first().filter(|_| !words.is_beginning).cloned();
            Some((column(&phrase(words)), vec![(column(&phrase(words)), whole)]))
        }
        Term::Part(_) | Term::Pattern(_) => None,
    };
    query.all.iter().flatten().filter_map(of_term).collect()
}

fn words(term: &Term) -> Option<String> {
    match term {
        Term::Words(words) => Some(phrase(words)),
        Term::Part(_) | Term::Pattern(_) => None,
    }
}

fn one_of(any: &[Term]) -> Option<String> {
    let words: Option<Vec<String>> = any.iter().map(words).collect();
    words.map(|words| format!("({{words parts}} : ({}))", words.join(" OR ")))
}

/// A word, or words that follow each other, as SQLite is asked for them.
pub(super) fn phrase(words: &TermWords) -> String {
    let star = if words.is_beginning { " *" } else { "" };
    format!("\"{}\"{star}", words.words.join(" "))
}

fn kinds(query: &SearchQuery) -> Vec<String> {
    let filters = &query.filters;
    let mut parts = Vec::new();
    if !filters.spoken_by.is_empty() {
        parts.push(format!("({{kinds}} : ({}))", kind_words(&|by| filters.spoken_by.contains(&by))));
    }
    if !filters.files.is_empty() {
        // Only calls name files.
        parts.push(format!("({{kinds}} : {})", kind_word(DocumentKind::Call)));
    }
    for (is_wanted, word) in [(filters.is_error, "error"), (filters.has_picture, "image")] {
        if is_wanted {
            parts.push(format!("({{kinds}} : {word})"));
        }
    }
    parts
}

pub(super) fn kind_words(is_wanted: &dyn Fn(SpokenBy) -> bool) -> String {
    let wanted = DocumentKind::ALL.iter().filter(|kind| kind.spoken_by().is_some_and(is_wanted));
    let words: Vec<String> = wanted.map(|kind| kind_word(*kind)).collect();
    words.join(" OR ")
}

/// Whether words of the query may be inside of other words.
pub(super) fn may_be_inside(query: &SearchQuery) -> bool {
    query.terms().any(|term| matches!(term, Term::Words(words) if !words.is_quoted))
}

/// The words of a query beside each other, as an expression and as a query, if it is nothing but single words.
pub(super) fn adjacent(query: &SearchQuery) -> Option<(String, SearchQuery)> {
    let words = query.all.iter().map(|any| match any.as_slice() {
        [Term::Words(words)] if !words.is_beginning => Some(words.words.clone()),
        _ => None,
    });
    let groups: Vec<Vec<String>> = words.collect::<Option<_>>()?;
    let is_several = groups.len() > 1;
    let words = groups.concat();
    let expression = format!("{{words parts}} : \"{}\"", words.join(" "));
    let phrase = TermWords { words, is_beginning: false, is_quoted: true, typed: String::new() };
    let phrase = SearchQuery { all: vec![vec![Term::Words(phrase)]], ..SearchQuery::default() };
    is_several.then_some((expression, phrase))
}
