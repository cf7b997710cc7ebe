//! What a search of sessions asks for, and how well a session answers. The rules and scores are pi's (0.87); lower is
//! better. Pure: the selector uses it on what it knows, the program around it on everything that was said.

use offshoot_session::list::SessionInfo;
use regex::{Regex, RegexBuilder};

use crate::fuzzy::{Searched, Wanted, is_space};

/// A search as it was typed: words, `"phrases"`, or `re:` with a regular expression.
#[derive(Debug, Clone)]
pub struct Query(Asked);

#[derive(Debug, Clone)]
enum Asked {
    Tokens(Vec<Token>),
    Pattern(Regex),
    /// A pattern that is none, and why: nothing fits.
    Wrong(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Phrase(String),
    Fuzzy(Wanted),
}

/// What of a session is searched: its id, its name, everything that was said, its folder.
#[must_use]
pub fn searched(info: &SessionInfo) -> String {
    let said = info.all_messages_text.as_deref().unwrap_or(&info.first_message);
    text_of(&info.id, info.name.as_deref(), said, &info.cwd)
}

pub(super) fn text_of(id: &str, name: Option<&str>, said: &str, cwd: &str) -> String {
    format!("{id} {} {said} {cwd}", name.unwrap_or_default())
}

impl Query {
    /// Reads what was typed. A pattern is looked for in any case; quotes that do not pair are plain characters.
    #[must_use]
    pub fn parse(typed: &str) -> Self {
        let typed = typed.trim_matches(is_space);
        match typed.strip_prefix("re:") {
            Some(pattern) => Self(pattern_of(pattern.trim_matches(is_space))),
            None => Self(Asked::Tokens(tokens(typed))),
        }
    }

    /// Whether everything fits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, Asked::Tokens(tokens) if tokens.is_empty())
    }

    /// Why the pattern is none.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        match &self.0 {
            Asked::Wrong(why) => Some(why),
            Asked::Tokens(_) | Asked::Pattern(_) => None,
        }
    }

    /// How well a text fits; `None` if it does not.
    #[must_use]
    pub fn score(&self, text: &str) -> Option<f64> {
        match &self.0 {
            Asked::Wrong(_) => None,
            Asked::Pattern(pattern) => pattern.find(text).map(|found| units(text.get(..found.start())) as f64 * 0.1),
            Asked::Tokens(tokens) if tokens.is_empty() => Some(0.0),
            Asked::Tokens(_) => self.score_ready(&Searched::new(text)),
        }
    }

    /// The same for a text that was made ready before. Patterns look at small letters then.
    pub(super) fn score_ready(&self, text: &Searched) -> Option<f64> {
        let Asked::Tokens(tokens) = &self.0 else { return self.score(text.lower()) };
        let mut blanks_only = None;
        let mut sum = 0.0;
        for token in tokens {
            sum += match token {
                Token::Fuzzy(word) => text.score(word)?,
                Token::Phrase(phrase) => {
                    let text = blanks_only.get_or_insert_with(|| single_blanks(text.lower()));
                    units(text.get(..text.find(phrase)?)) as f64 * 0.1
                }
            };
        }
        Some(sum)
    }
}

/// A place as JavaScript counts it.
fn units(before: Option<&str>) -> usize {
    before.map_or(0, |before| if before.is_ascii() { before.len() } else { before.encode_utf16().count() })
}

fn pattern_of(pattern: &str) -> Asked {
    if pattern.is_empty() {
        return Asked::Wrong("there is no pattern behind re:".to_owned());
    }
    match RegexBuilder::new(pattern).case_insensitive(true).build() {
        Ok(pattern) => Asked::Pattern(pattern),
        Err(error) => {
            // Of a syntax error's picture only the last line says what is wrong.
            let text = error.to_string();
            let why = text.lines().last().unwrap_or_default();
            Asked::Wrong(format!("no pattern: {}", why.strip_prefix("error: ").unwrap_or(why)))
        }
    }
}

fn tokens(typed: &str) -> Vec<Token> {
    let fuzzy = |word: &str| (!word.is_empty()).then(|| Token::Fuzzy(Wanted::new(word)));
    if typed.matches('"').count() % 2 == 1 {
        return typed.split(is_space).filter_map(fuzzy).collect();
    }
    let mut tokens = Vec::new();
    for (number, part) in typed.split('"').enumerate() {
        if number % 2 == 0 {
            tokens.extend(part.split(is_space).filter_map(fuzzy));
        } else {
            let phrase = single_blanks(&part.to_lowercase());
            tokens.extend((!phrase.is_empty()).then_some(Token::Phrase(phrase)));
        }
    }
    tokens
}

/// Without white space at the ends, and with single blanks inside.
fn single_blanks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(typed: &str, text: &str) -> Option<f64> {
        Query::parse(typed).score(text)
    }

    #[test]
    fn phrases_are_found_across_line_ends_and_cases() {
        assert_eq!(score("\"Node  CVE\"", "see\nnode\n cve"), Some(0.4));
        assert_eq!(score("\"node cve\"", "cve node"), None);
        assert_eq!(score("node cve", "cve node cve").map(|score| score < 0.0), Some(true));
    }

    #[test]
    fn quotes_that_do_not_pair_are_characters() {
        assert_eq!(tokens("a \"b c"), ["a", "\"b", "c"].map(|word| Token::Fuzzy(Wanted::new(word))));
        assert_eq!(
            tokens("a\"b c\"d"),
            [Token::Fuzzy(Wanted::new("a")), Token::Phrase("b c".into()), Token::Fuzzy(Wanted::new("d"))]
        );
        assert!(tokens("\"\" \" \"").is_empty());
    }

    #[test]
    fn patterns_are_found_in_any_case() {
        assert_eq!(score("re: b.C", "aabXc"), Some(0.2));
        assert_eq!(score("re:^b", "ab"), None);
        assert_eq!(score("re:b", "😀b"), Some(0.2));
    }

    #[test]
    fn a_pattern_that_is_none_finds_nothing_and_says_why() {
        for typed in ["re:", "re:  ", "re:(", "re:[z-a]"] {
            let query = Query::parse(typed);
            assert_eq!(query.score("("), None);
            assert!(query.error().is_some_and(|why| !why.is_empty() && !why.contains('\n')), "{typed}");
        }
        insta::assert_snapshot!(Query::parse("re:(a").error().unwrap(), @"no pattern: unclosed group");
    }

    #[test]
    fn an_empty_search_fits_everything() {
        for typed in ["", "  ", "\"\""] {
            assert!(Query::parse(typed).is_empty());
            assert_eq!(score(typed, "x"), Some(0.0));
        }
    }
}
