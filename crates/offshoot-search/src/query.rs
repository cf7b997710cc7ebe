//! What is searched: words, phrases, patterns and filters as a person types them. Reads text alone; knows no session.

mod filters;

use std::fmt;

use regex::{Regex, RegexBuilder};

use crate::words;

pub use filters::{Filters, SortOrder, SpokenBy};

/// How many hits a search gives that asks for no number.
pub const USUAL_LIMIT: usize = 30;
/// The longest query, in bytes.
const LONGEST_QUERY: usize = 4096;
/// What a compiled pattern may weigh, in bytes.
const LARGEST_PATTERN: usize = 1 << 20;

/// A query.
#[derive(Debug, Clone, Default)]
pub struct SearchQuery {
    /// A document that is found has one term of each of these.
    pub all: Vec<Vec<Term>>,
    /// And none of these.
    pub none: Vec<Term>,
    /// And passes these.
    pub filters: Filters,
}

/// What is looked for in a text.
#[derive(Debug, Clone)]
pub enum Term {
    /// Words that follow each other, folded, of which the last may be the beginning of a longer one.
    Words(TermWords),
    /// Any part of the text, folded.
    Part(String),
    /// A regular expression.
    Pattern(Regex),
}

/// Words that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermWords {
    /// Folded.
    pub words: Vec<String>,
    /// Whether the last one may be the beginning of a longer word.
    pub is_beginning: bool,
    /// Whether they were quoted: then they are not searched for inside of other words.
    pub is_quoted: bool,
    /// As they were typed.
    pub typed: String,
}

/// Why a query cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadQuery {
    /// What is wrong, for a person.
    pub why: String,
}

impl fmt::Display for BadQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for BadQuery {}

impl BadQuery {
    fn new(why: impl Into<String>) -> Self {
        Self { why: why.into() }
    }
}

/// A piece of a query as it was typed.
#[derive(Debug, PartialEq, Eq)]
struct Piece<'q> {
    is_not: bool,
    /// The name before a colon.
    filter: Option<&'q str>,
    text: &'q str,
    shape: PieceShape,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PieceShape {
    Plain,
    Quoted,
    Pattern,
}

impl SearchQuery {
    /// Reads a query. `when` reads a time, such as `7d` or `2026-09-01`.
    ///
    /// Words must all be in one text. `OR` joins the term before and the term after it, `-` excludes, `"…"` keeps words
    /// together, `word*` is a beginning, `~part` any part of a word, `/…/` or `re:…` a regular expression. What has no word
    /// in it is searched for as a part.
    ///
    /// # Errors
    /// A value of a filter or a regular expression is wrong, or nothing is searched for.
    pub fn parse(typed: &str, when: &dyn Fn(&str) -> Option<i64>) -> Result<Self, BadQuery> {
        if typed.len() > LONGEST_QUERY {
            return Err(BadQuery::new(format!("a query has at most {LONGEST_QUERY} bytes")));
        }
        let mut query = Self::default();
        let mut joins = false;
        if let Some((before, pattern)) = after_re(typed) {
            query.read(before, &mut joins, when)?;
            query.all.push(vec![Term::Pattern(pattern_of(pattern)?)]);
        } else {
            query.read(typed, &mut joins, when)?;
        }
        if query.all.is_empty() && query.none.is_empty() && query.filters == Filters::default() {
            return Err(BadQuery::new("nothing is searched for"));
        }
        Ok(query)
    }

    fn read(&mut self, typed: &str, joins: &mut bool, when: &dyn Fn(&str) -> Option<i64>) -> Result<(), BadQuery> {
        for piece in pieces(typed) {
            if piece.shape == PieceShape::Plain && piece.text == "OR" && piece.filter.is_none() && !piece.is_not {
                *joins = !self.all.is_empty();
                continue;
            }
            if let Some(name) = piece.filter {
                if piece.is_not {
                    return Err(BadQuery::new(format!("-{name}: a filter cannot be excluded, only words can")));
                }
                self.filters.read(name, piece.text, when)?;
                continue;
            }
            let Some(term) = Term::of(&piece)? else { continue };
            match self.all.last_mut() {
                _ if piece.is_not => self.none.push(term),
                Some(before) if *joins => before.push(term),
                Some(_) | None => self.all.push(vec![term]),
            }
            *joins = false;
        }
        Ok(())
    }

    /// The terms that a text must have, without the choices.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        self.all.iter().flatten()
    }
}

impl Term {
    fn of(piece: &Piece<'_>) -> Result<Option<Self>, BadQuery> {
        let text = piece.text;
        match piece.shape {
            PieceShape::Pattern => return pattern_of(text).map(Self::Pattern).map(Some),
            PieceShape::Plain if text.len() > 1 && text.starts_with('~') => {
                return Ok(Some(Self::Part(words::folded(text.trim_start_matches('~')))));
            }
            PieceShape::Plain | PieceShape::Quoted => {}
        }
        let (words, is_open) = words::of_query(text);
        if words.is_empty() {
            return Ok((!text.is_empty()).then(|| Self::Part(words::folded(text))));
        }
        let is_quoted = piece.shape == PieceShape::Quoted;
        let is_beginning = is_open || !is_quoted && text.ends_with('*');
        let typed = text.trim_end_matches('*').to_owned();
        Ok(Some(Self::Words(TermWords { words, is_beginning, is_quoted, typed })))
    }
}

fn pattern_of(text: &str) -> Result<Regex, BadQuery> {
    let pattern = RegexBuilder::new(text).case_insensitive(true).multi_line(true).size_limit(LARGEST_PATTERN).build();
    pattern.map_err(|error| {
        // The last line of several says what is wrong.
        let why = error.to_string();
        let why = why.lines().next_back().unwrap_or_default().trim().trim_start_matches("error: ").to_owned();
        BadQuery::new(format!("/{text}/ is not a regular expression: {why}"))
    })
}

/// The query before `re:` at the start of a word, and the pattern after it, up to the end.
fn after_re(typed: &str) -> Option<(&str, &str)> {
    let at = if typed.starts_with("re:") { 0 } else { typed.find(" re:")? + 1 };
    let pattern = typed.get(at + 3..)?.trim();
    Some((typed.get(..at)?, pattern)).filter(|_| !pattern.is_empty())
}

/// The pieces of a query. A quote or a `/` that nothing ends goes to the end.
fn pieces(typed: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = typed.trim_start();
    while !rest.is_empty() {
        // A word that begins with two, such as `--all`, is one.
        let excluded =
            rest.strip_prefix('-').filter(|after| !after.starts_with(|c: char| c == '-' || c.is_whitespace()));
        let excluded = excluded.filter(|after| !after.is_empty());
        let (is_not, start) = (excluded.is_some(), excluded.unwrap_or(rest));
        let (filter, start) = match filters::name_of(start) {
            Some(name) => (Some(name), start.get(name.len() + 1..).unwrap_or_default()),
            None => (None, start),
        };
        let (text, shape, after) = one_piece(start);
        pieces.push(Piece { is_not, filter, text, shape });
        rest = after.trim_start();
    }
    pieces
}

fn one_piece(start: &str) -> (&str, PieceShape, &str) {
    let closed = |mark: char| {
        let inner = start.strip_prefix(mark)?;
        let end = inner.find(mark)?;
        let after = inner.get(end + 1..)?;
        Some((inner.get(..end)?, after)).filter(|(inner, _)| !inner.is_empty())
    };
    if let Some(inner) = start.strip_prefix('"') {
        return match closed('"') {
            Some((text, after)) => (text, PieceShape::Quoted, after),
            None => (inner.trim_end_matches('"'), PieceShape::Quoted, ""),
        };
    }
    // A path begins with a `/`, too: only what a second one ends is a pattern.
    if let Some((text, after)) = closed_pattern(start) {
        return (text, PieceShape::Pattern, after);
    }
    let end = start.find(char::is_whitespace).unwrap_or(start.len());
    let (text, after) = start.split_at(end);
    (text, PieceShape::Plain, after)
}

/// A pattern between two `/`, of which the second one ends a word and has no `\` before it.
fn closed_pattern(start: &str) -> Option<(&str, &str)> {
    let inner = start.strip_prefix('/')?;
    let is_end = |at: usize| {
        let is_escaped = inner.get(..at).is_some_and(|before| before.ends_with('\\'));
        let after = inner.get(at + 1..).unwrap_or_default();
        !is_escaped && (after.is_empty() || after.starts_with(char::is_whitespace))
    };
    let end = inner.match_indices('/').map(|(at, _)| at).find(|at| is_end(*at))?;
    Some((inner.get(..end)?, inner.get(end + 1..)?)).filter(|(pattern, _)| !pattern.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(typed: &str) -> SearchQuery {
        SearchQuery::parse(typed, &|given| given.parse().ok()).unwrap()
    }

    fn said(term: &Term) -> String {
        match term {
            Term::Words(words) => {
                let star = if words.is_beginning { "*" } else { "" };
                let quote = if words.is_quoted { "\"" } else { "" };
                format!("{quote}{}{star}{quote}", words.words.join(" "))
            }
            Term::Part(part) => format!("~{part}"),
            Term::Pattern(pattern) => format!("/{pattern}/"),
        }
    }

    fn all(typed: &str) -> String {
        let query = read(typed);
        let all: Vec<String> = query.all.iter().map(|any| any.iter().map(said).collect::<Vec<_>>().join("|")).collect();
        let none: Vec<String> = query.none.iter().map(|term| format!("-{}", said(term))).collect();
        [all, none].concat().join(" & ")
    }

    #[test]
    fn terms_are_read_as_typed() {
        assert_eq!(all("Foo bar"), "foo & bar");
        assert_eq!(all("a OR b c"), "a|b & c");
        assert_eq!(all("\"loses Lines\" -old -\"b c\""), "\"loses lines\" & -old & -\"b c\"");
        assert_eq!(all("migr* ~rseHTTP std::fs"), "migr* & ~rsehttp & std fs");
        assert_eq!(all("日本語 検"), "日本 本語 & 検*");
        assert_eq!(all("-- => \"open"), "~-- & ~=> & \"open\"");
        assert_eq!(all("--all -> - x"), "all & ~- & x & -~>");
        assert_eq!(all("OR a OR"), "a");
    }

    #[test]
    fn patterns_end_where_a_word_ends() {
        assert_eq!(all(r"/max_conn\w+ to \d+/ x"), r"/max_conn\w+ to \d+/ & x");
        assert_eq!(all("/usr/lib"), "usr lib");
        assert_eq!(all(r"/a\/b/"), r"/a\/b/");
        assert_eq!(all("x re:a b|c"), "x & /a b|c/");
    }

    #[test]
    fn bad_queries_say_why() {
        let bad = |typed: &str| SearchQuery::parse(typed, &|given| given.parse().ok()).unwrap_err().why;
        assert_eq!(bad("  "), "nothing is searched for");
        assert!(bad("/(/").starts_with("/(/ is not a regular expression: "), "{}", bad("/(/"));
        assert_eq!(bad("since:soon x"), "since:soon is not a time: an age such as 7d, or a date such as 2026-09-01");
        assert_eq!(bad("x -role:user"), "-role: a filter cannot be excluded, only words can");
        assert!(bad("role:king").starts_with("role:king: "), "{}", bad("role:king"));
        assert_eq!(bad(&"x".repeat(5000)), "a query has at most 4096 bytes");
    }

    #[test]
    fn words_with_a_colon_that_name_no_filter_are_words() {
        assert_eq!(all("error: http://x"), "error & http x");
    }
}
