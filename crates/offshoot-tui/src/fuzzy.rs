//! Fuzzy matching: the typed characters must occur in order, anywhere. The scores are pi's (0.87), and with them the
//! order of results; lower is better. Knows no list and no screen.

/// A token prepared for searching many texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    typed: Typed,
    swapped: Option<Typed>,
}

/// In lower case, as text and as JavaScript's UTF-16 units.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Typed {
    lower: String,
    units: Vec<u16>,
}

impl Wanted {
    #[must_use]
    pub fn new(token: &str) -> Self {
        let typed = |lower: String| Typed { units: lower.encode_utf16().collect(), lower };
        let lower = token.to_lowercase();
        Self { swapped: swapped(&lower).map(typed), typed: typed(lower) }
    }
}

/// A text prepared for all tokens of a query.
#[derive(Debug, Clone, Default)]
pub struct Searched {
    lower: String,
    is_ascii: bool,
}

impl Searched {
    #[must_use]
    pub fn new(text: &str) -> Self {
        let lower = text.to_lowercase();
        Self { is_ascii: lower.is_ascii(), lower }
    }

    #[must_use]
    pub fn lower(&self) -> &str {
        &self.lower
    }

    /// The score of a token; `None` if its characters do not occur in order.
    ///
    /// Letters and digits (`gpt5`) are also tried in exchanged order (`5gpt`), at a small cost.
    #[must_use]
    pub fn score(&self, token: &Wanted) -> Option<f64> {
        let swapped = || self.as_typed(token.swapped.as_ref()?).map(|score| score + 5.0);
        self.as_typed(&token.typed).or_else(swapped)
    }

    fn as_typed(&self, Typed { lower, units }: &Typed) -> Option<f64> {
        let score =
            if self.is_ascii { match_bytes(units, self.lower.as_bytes()) } else { match_units(units, &self.lower) }?;
        Some(if *lower == self.lower && !lower.is_empty() { score - 100.0 } else { score })
    }
}

struct TokenScore {
    score: f64,
    run: f64,
    /// Starts at -1: a match at the start of the text counts as consecutive.
    last: i64,
}

impl TokenScore {
    const NOTHING: Self = Self { score: 0.0, run: 0.0, last: -1 };

    fn at(&mut self, at: i64, before: Option<u16>) {
        if self.last == at - 1 {
            self.run += 1.0;
            self.score -= self.run * 5.0;
        } else {
            self.run = 0.0;
            if self.last >= 0 {
                self.score += (at - self.last - 1) as f64 * 2.0;
            }
        }
        if before.is_none_or(ends_word) {
            self.score -= 10.0;
        }
        self.score += at as f64 * 0.1;
        self.last = at;
    }
}

/// Matches a token in a text with one byte per unit.
fn match_bytes(token: &[u16], text: &[u8]) -> Option<f64> {
    let (mut found, mut from) = (TokenScore::NOTHING, 0);
    for unit in token {
        let at = from + memchr::memchr(u8::try_from(*unit).ok()?, text.get(from..)?)?;
        let before = at.checked_sub(1).and_then(|before| text.get(before));
        found.at(i64::try_from(at).ok()?, before.copied().map(u16::from));
        from = at + 1;
    }
    Some(found.score)
}

/// Matches a token in one pass. Positions are UTF-16 units, as in JavaScript.
fn match_units(token: &[u16], text: &str) -> Option<f64> {
    let mut wanted = token.iter().copied();
    let Some(mut next) = wanted.next() else { return Some(0.0) };
    let (mut found, mut before) = (TokenScore::NOTHING, None);
    for (at, unit) in (0_i64..).zip(text.encode_utf16()) {
        if unit == next {
            found.at(at, before);
            match wanted.next() {
                Some(unit) => next = unit,
                None => return Some(found.score),
            }
        }
        before = Some(unit);
    }
    None
}

fn ends_word(unit: u16) -> bool {
    char::from_u32(u32::from(unit)).is_some_and(|c| matches!(c, '-' | '_' | '.' | '/' | ':') || is_space(c))
}

/// `ab12` as `12ab` and vice versa.
fn swapped(token: &str) -> Option<String> {
    let middle = |first: fn(&char) -> bool, then: fn(&char) -> bool| {
        let end = token.find(|c| !first(&c)).filter(|end| *end > 0)?;
        let (head, tail) = token.split_at(end);
        tail.chars().all(|c| then(&c)).then(|| format!("{tail}{head}"))
    };
    middle(char::is_ascii_lowercase, char::is_ascii_digit)
        .or_else(|| middle(char::is_ascii_digit, char::is_ascii_lowercase))
}

/// JavaScript's white space.
#[must_use]
pub fn is_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

/// The indexes of the texts that match all words of a query, best first; all in their order for an empty query. Words
/// are separated by white space and slashes.
#[must_use]
pub fn filter(texts: impl IntoIterator<Item = impl AsRef<str>>, query: &str) -> Vec<usize> {
    let tokens = query.split(|c| is_space(c) || c == '/').filter(|token| !token.is_empty());
    let tokens: Vec<Wanted> = tokens.map(Wanted::new).collect();
    let score = |text: &str| {
        let text = Searched::new(text);
        tokens.iter().try_fold(0.0, |sum, token| Some(sum + text.score(token)?))
    };
    let mut fitting: Vec<(usize, f64)> =
        texts.into_iter().enumerate().filter_map(|(at, text)| Some((at, score(text.as_ref())?))).collect();
    fitting.sort_by(|a, b| a.1.total_cmp(&b.1));
    fitting.into_iter().map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(token: &str, text: &str) -> Option<f64> {
        Searched::new(text).score(&Wanted::new(token))
    }

    #[test]
    fn scores_follow_the_rules() {
        // Start of the text, then consecutive matches: -5-10, -10+0.1, -15+0.2.
        assert!((score("abc", "abcd").unwrap() - -39.7).abs() < 1e-9);
        // The whole text scores -100.
        assert!((score("abc", "ABC").unwrap() - -139.7).abs() < 1e-9);
        // A gap of 3 (+6), then the start of a word (-10).
        assert!((score("ab", "a-x-b").unwrap() - (-15.0 + 6.0 - 10.0 + 0.4)).abs() < 1e-9);
        assert_eq!(score("ba", "ab"), None);
        assert_eq!(score("", "ab"), Some(0.0));
        assert_eq!(score("a", ""), None);
    }

    #[test]
    fn letters_and_digits_may_be_swapped() {
        let there = score("5gpt", "gpt 5gpt").unwrap();
        assert!((score("gpt5", "x 5gpt").unwrap() - score("5gpt", "x 5gpt").unwrap() - 5.0).abs() < 1e-9);
        assert!(there < score("gpt5", "x 5gpt").unwrap() + 100.0);
        assert_eq!(score("5gpt", "gpt"), None);
        assert_eq!(score("a-5", "5-a"), None);
    }

    #[test]
    fn places_are_counted_as_javascript_does() {
        // The smiley is two units, so `b` is at 2.
        assert!((score("b", "😀b").unwrap() - 0.2).abs() < 1e-9);
        assert!(score("😀", "x😀").is_some());
    }

    #[test]
    fn leaping_and_walking_come_to_the_same() {
        let texts = ["", "a", "aab", "the parser, a-parser/of_things", "pa.rs:er parser", "ppppaaarrrsssser"];
        for text in texts {
            for token in ["", "a", "parser", "pser", "rr", "the things", "é"] {
                let units: Vec<u16> = token.encode_utf16().collect();
                assert_eq!(match_bytes(&units, text.as_bytes()), match_units(&units, text), "{token} in {text}");
            }
        }
    }

    #[test]
    fn lists_are_filtered_by_all_words() {
        let names = ["claude-opus", "gpt-5", "claude-haiku"];
        assert_eq!(filter(names, "claude/ha"), [2]);
        assert_eq!(filter(names, "  "), [0, 1, 2]);
        assert_eq!(filter(names, "gpt5"), [1]);
        assert!(filter(names, "zzz").is_empty());
    }
}
