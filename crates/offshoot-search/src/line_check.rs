//! Which lines of a session can have what a query looks for, decided by their bytes: most need not be decoded.

use memchr::memmem;
use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

use crate::query::{SearchQuery, Term};
use crate::words::{folded, is_all_unspaced};

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

    /// Whether a line can have what is looked for. Letters beyond ASCII are compared as they fold; a line that escapes letters can
    /// have anything.
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
        let folded = folded(line);
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

/// Any of the terms, without case.
fn pattern(any: &[Term]) -> Option<Regex> {
    let mut words: Vec<String> = Vec::new();
    for term in any {
        match term {
            // The longest word says most.
            Term::Words(term) => words.push(written(term.words.iter().max_by_key(|word| word.len())?)?),
            Term::Part(part) => words.push(written(longest_run(part))?),
            Term::Pattern(pattern) => words.extend(literals_of(pattern.as_str())?),
        }
    }
    RegexBuilder::new(&words.join("|")).unicode(false).case_insensitive(true).build().ok()
}

/// A pattern of how a line may write a text, but for letters that it escapes.
fn written(text: &str) -> Option<String> {
    if text.is_empty() || !text.is_ascii() && !is_all_unspaced(text) {
        return None;
    }
    text.bytes().map(written_byte).collect()
}

/// `None` for blanks: what is decoded may have others, or none.
fn written_byte(byte: u8) -> Option<String> {
    match byte {
        b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | 0x80.. => Some(format!("\\x{byte:02x}")),
        b'"' | b'\\' => Some(format!(r"\\(?:\x{byte:02x}|u00{byte:02x})")),
        b'!'..=b'~' => Some(format!(r"(?:\\?\x{byte:02x}|\\u00{byte:02x})")),
        _ => None,
    }
}

/// The longest run of visible characters of ASCII, if it has two at least; else the text.
fn longest_run(text: &str) -> &str {
    let runs = text.split(|letter: char| !letter.is_ascii_graphic());
    runs.max_by_key(|run| run.len()).filter(|run| run.len() > 1).unwrap_or(text)
}

/// Patterns of texts, one of which is in all that a pattern fits.
fn literals_of(pattern: &str) -> Option<Vec<String>> {
    // With case, so that literals stay literals.
    let parsed = ParserBuilder::new().multi_line(true).build().parse(pattern).ok()?;
    literals(&parsed)?.iter().map(|literal| written(literal)).collect()
}

fn literals(pattern: &Hir) -> Option<Vec<String>> {
    match pattern.kind() {
        HirKind::Literal(literal) => Some(vec![longest_run(str::from_utf8(&literal.0).ok()?).to_owned()]),
        HirKind::Capture(capture) => literals(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => literals(&repetition.sub),
        HirKind::Concat(parts) => {
            let shortest = |some: &Vec<String>| some.iter().map(String::len).min();
            parts.iter().filter_map(literals).max_by_key(shortest)
        }
        HirKind::Alternation(parts) => {
            let all: Vec<Vec<String>> = parts.iter().map(literals).collect::<Option<_>>()?;
            Some(all.concat())
        }
        HirKind::Repetition(_) | HirKind::Empty | HirKind::Class(_) | HirKind::Look(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use offshoot_session::transcript::Item;

    use super::*;
    use crate::document::documents_of;
    use crate::matching::fit;

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
        assert!(matters("/./ ", "anything") && matters("日本語", "日本語"));
    }

    #[test]
    fn parts_are_looked_for_as_lines_write_them() {
        for line in ["src/list/leaf", r"src\/list\/leaf", r"list\u002Fleaf", "LIST/LEAF", "lïst/léaf"] {
            assert!(matters("~ist/lea", line), "{line}");
        }
        assert!(!matters("~ist/lea", "list leaf") && !matters("~ist/lea", "list//leaf"));
        assert!(matters(r#"~a"b"#, r#"{"text":"a\"b"}"#) && !matters(r#"~a"b"#, r#"{"a":"b"}"#));
        assert!(matters("~->", "a->b") && !matters("~->", "a-b"));
        assert!(matters(r"~c:\x", r#"{"path":"c:\\x"}"#) && !matters(r"~c:\x", r#"{"path":"c:x"}"#));
    }

    #[test]
    fn patterns_are_looked_for_by_their_literals() {
        let merge = r#"/merge\("[a-z]+ r/"#;
        assert!(matters(merge, r#"merge(\"a r"#) && !matters(merge, "merge (a r"));
        assert!(matters("/(foo|ba)r+/", "fo bar") && !matters("/(foo|ba)r+/", "fo b"));
        // Errors of providers are shortened to their messages.
        assert!(matters("/too much/", r#"too {"message":"much"}"#));
        assert!(matters("/(?i)foo/", "bar") && matters("/(fo)*/", "bar") && matters("/naïve/", "naïve"));
        assert!(matters(r"/a\nbc/", r"a\nbc") && !matters(r"/a\nbc/", "ab"));
    }

    const PIECES: [&str; 18] = [
        "src/list",
        "\"quoted\"",
        "c:\\x",
        "->",
        "Straße",
        "ｎａｒｒｏｗ",
        "e\u{301}tat",
        "日本語",
        "a",
        "_b",
        "\t",
        "\n",
        " ",
        "<b>",
        "½",
        "\u{1F600}",
        "K",
        "…",
    ];

    /// Ways to write a text in JSON.
    fn lines_of(text: &str) -> [String; 3] {
        let line =
            |content: &str| format!(r#"{{"type":"message","id":"e","message":{{"role":"user","content":{content}}}}}"#);
        let plain = serde_json::Value::from(text).to_string();
        let escaped: String = plain
            .encode_utf16()
            .map(|unit| match u8::try_from(unit) {
                Ok(byte) if byte.is_ascii() => char::from(byte).to_string(),
                _ => format!("\\u{unit:04X}"),
            })
            .collect();
        [line(&plain), line(&plain.replace('/', "\\/")), line(&escaped)]
    }

    proptest::proptest! {
        /// Whatever a text has is in each line that says it.
        #[test]
        fn no_line_that_fits_is_passed_over(
            pieces in proptest::collection::vec(proptest::sample::select(&PIECES[..]), 1..9),
            (from, length) in (0..20_usize, 1..9_usize),
        ) {
            let text = pieces.concat();
            let part: String = text.chars().skip(from).take(length).collect();
            let is_word = |part: &str| !part.is_empty() && !part.chars().any(|c| c.is_whitespace() || c == '"');
            let pattern = format!("/{}/", regex::escape(&part).replace('/', "\\/"));
            let typed = [is_word(&part).then(|| format!("~{part}")), (!part.is_empty()).then_some(pattern)];
            for typed in typed.into_iter().flatten() {
                let Ok(query) = SearchQuery::parse(&typed, &|_| None) else { continue };
                let check = LineCheck::of(&query);
                for line in lines_of(&text) {
                    let documents = documents_of(&Item::of_line(&line).unwrap());
                    let fits = documents.iter().any(|document| fit(&query, document).is_some());
                    proptest::prop_assert!(!fits || check.can_matter(line.as_bytes()), "{} in {}", typed, line);
                }
            }
        }
    }
}
