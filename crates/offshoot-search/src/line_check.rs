//! Which lines of a session can have what a query looks for, decided by their bytes: most need not be decoded.

use memchr::memmem;
use regex::bytes::{Regex, RegexBuilder};

use crate::query::{SearchQuery, Term};
use crate::words::{beyond_ascii, is_all_unspaced};

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

    /// Whether a line can have what is looked for. Words with letters beyond ASCII are compared as they fold; a line that
    /// escapes letters can have anything.
    pub(crate) fn can_matter(&self, line: &[u8]) -> bool {
        let lacks = |group: &&Regex| !group.is_match(line);
        let mut lacking = self.groups.iter().flatten().filter(lacks).peekable();
        if lacking.peek().is_none() || escapes_letters(line) {
            return true;
        }
        if line.is_ascii() {
            return false;
        }
        let Ok(line) = std::str::from_utf8(line) else { return true };
        let folded = beyond_ascii(line);
        lacking.all(|group| group.is_match(folded.as_bytes()))
    }
}

/// Whether a character that may be in a word is written as `\u` and four digits.
fn escapes_letters(line: &[u8]) -> bool {
    memmem::find_iter(line, b"\\u").any(|at| {
        let digits = line.get(at + 2..at + 6).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        code.is_none_or(|code| !code.is_ascii() || code.is_ascii_alphanumeric() || code == b'_')
    })
}

/// The longest run of plain letters in a part, which stands in a line as it is; the part itself if that says little.
fn plain_run(part: &str) -> &str {
    let runs = part.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    runs.max_by_key(|run| run.len()).filter(|run| run.len() > 1).unwrap_or(part)
}

/// Any of the terms, without case.
fn pattern(any: &[Term]) -> Option<Regex> {
    let mut words = Vec::new();
    for term in any {
        let word: &str = match term {
            // The longest word says most.
            Term::Words(term) => term.words.iter().max_by_key(|word| word.len())?,
            Term::Part(part) => plain_run(part),
            Term::Pattern(_) => return None,
        };
        let is_plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if word.is_empty() || !is_plain && !is_all_unspaced(word) {
            return None;
        }
        words.push(word.bytes().map(|byte| format!("\\x{byte:02x}")).collect::<String>());
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
        assert!(matters("needle", "{\"text\":\"néédle\"}") && matters("needle hay", "ｎｅｅｄｌｅ in the Hay"));
        assert!(!matters("needle", "{\"text\":\"café — 日本 needl\\u001b[31me\"}"));
        assert!(matters("needle", r#"{"text":"\u006eeedle"}"#));
        assert!(matters("本語", "日本語") && !matters("語本", "日本語"));
        assert!(matters("~ist/lea", r#"{"path":"src/list/leaf"}"#) && !matters("~ist/lea", r#"{"path":"src/lis/le"}"#));
        assert!(matters("/x/ ", "anything") && matters("~-> ", "anything") && matters("日本語", "日本語"));
    }
}
