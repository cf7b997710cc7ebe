//! Which lines of a session can have what a query looks for, decided by their bytes: most need not be decoded.

use regex::bytes::{Regex, RegexBuilder};

use crate::query::{SearchQuery, Term};

/// For each group of terms a pattern of their bytes; `None` for one that any line may have.
#[derive(Debug)]
pub(crate) struct LineCheck {
    groups: Vec<Option<Regex>>,
}

impl LineCheck {
    /// The check of a query.
    pub(crate) fn of(query: &SearchQuery) -> Self {
        Self { groups: query.all.iter().map(|any| pattern(any)).collect() }
    }

    /// Whether a line can have what is looked for. A line with other letters than those of ASCII, or with escapes of such, can:
    /// they may fold to anything.
    pub(crate) fn can_matter(&self, line: &[u8]) -> bool {
        self.groups.iter().all(|group| group.as_ref().is_none_or(|pattern| pattern.is_match(line)))
            || !line.is_ascii()
            || memchr::memmem::find(line, b"\\u").is_some()
    }
}

/// Any of the terms, without case.
fn pattern(any: &[Term]) -> Option<Regex> {
    let mut words = Vec::new();
    for term in any {
        let word = match term {
            // The longest word says most.
            Term::Words(term) => term.words.iter().max_by_key(|word| word.len())?,
            Term::Part(part) => part,
            Term::Pattern(_) => return None,
        };
        let is_plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_plain || word.is_empty() {
            return None;
        }
        words.push(word.as_str());
    }
    RegexBuilder::new(&words.join("|")).unicode(false).case_insensitive(true).build().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matters(typed: &str, line: &str) -> bool {
        LineCheck::of(&SearchQuery::parse(typed, &|_| None).unwrap()).can_matter(line.as_bytes())
    }

    #[test]
    fn lines_without_the_words_are_passed_over() {
        assert!(matters("needle", r#"{"text":"a Needle"}"#));
        assert!(!matters("needle", r#"{"text":"hay"}"#));
        assert!(!matters("needle hay", r#"{"text":"hay"}"#));
        assert!(matters("needle OR hay", r#"{"text":"hay"}"#));
        assert!(matters("needle", r#"{"text":"n\u00e9\u00e9dle"}"#));
        assert!(matters("needle", "{\"text\":\"néédle\"}"));
        assert!(matters("/x/ ", "anything") && matters("~-> ", "anything") && matters("日本語", "日本語"));
    }
}
