//! Reports what a summary lacks: the user's rules, paths, identifiers and numbers, compared word by word.
//!
//! Cheap and local, without a model. A summary that paraphrases may be reported wrongly; rules are therefore compared
//! by most of their words.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::CompactionPlan;
use crate::conversation::{Speaker, SpokenPart};
use crate::json::{Object, quote};
use crate::summary::{is_rule, sentences};
use crate::text::one_line;

/// The kind of a missing thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sort {
    /// A sentence of the user that reads like a rule.
    Rule,
    /// A file or folder.
    Path,
    /// A URL.
    Address,
    /// A name from code, or a hash.
    Identifier,
    /// A number with at least two digits or a point.
    Number,
}

impl Sort {
    /// All, the most serious first.
    pub const ALL: [Self; 5] = [Self::Rule, Self::Path, Self::Address, Self::Identifier, Self::Number];

    /// `rules`, `paths`, `addresses`, `identifiers` or `numbers`.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Rule => "rules",
            Self::Path => "paths",
            Self::Address => "addresses",
            Self::Identifier => "identifiers",
            Self::Number => "numbers",
        }
    }

    /// The word for this many: `path` for one.
    pub fn noun(self, count: usize) -> &'static str {
        match self {
            _ if count != 1 => self.plural(),
            Self::Rule => "rule",
            Self::Path => "path",
            Self::Address => "address",
            Self::Identifier => "identifier",
            Self::Number => "number",
        }
    }

    /// The most things of this sort to list.
    fn most(self) -> usize {
        match self {
            Self::Rule | Self::Identifier => 12,
            Self::Path => 20,
            Self::Address | Self::Number => 8,
        }
    }
}

/// Something that the dropped messages have and the summary lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names of the others say what they are")]
pub struct Missing {
    pub sort: Sort,
    pub text: String,
    /// How often the messages have it.
    pub times: usize,
}

/// What is missing of one sort.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the name says it")]
pub struct Finding {
    pub sort: Sort,
    /// How many different things the dropped messages have.
    pub said: usize,
    /// How many of them the summary lacks.
    pub missing: usize,
    /// The most important ones, by speaker and frequency.
    pub listed: Vec<Missing>,
}

/// What a summary lacks, by sort, the most serious first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// One finding for each of [`Sort::ALL`].
    pub findings: Vec<Finding>,
}

/// Compares a summary with the messages that its plan drops.
pub fn report(plan: &CompactionPlan, summary: &str) -> Report {
    let mut seen = Seen::default();
    plan.dropped().flat_map(|said| &said.parts).for_each(|part| seen.take(part));
    let has = Has::new(summary);
    Report { findings: Sort::ALL.iter().map(|sort| seen.finding(*sort, &has)).collect() }
}

impl Report {
    /// Whether nothing is missing.
    pub fn is_clean(&self) -> bool {
        self.findings.iter().all(|finding| finding.missing == 0)
    }

    /// `{"rules":{"said","missing","listed":[{"text","times"}]},"paths":…,"addresses":…,"identifiers":…,"numbers":…}`.
    pub fn to_json(&self) -> String {
        let findings = self.findings.iter().map(|finding| {
            let listed = finding.listed.iter();
            let listed = listed.map(|one| Object::new().raw("text", quote(&one.text)).raw("times", one.times).finish());
            let listed: Vec<String> = listed.collect();
            let object = Object::new().raw("said", finding.said).raw("missing", finding.missing);
            (finding.sort.plural(), object.raw("listed", format!("[{}]", listed.join(","))).finish())
        });
        findings.fold(Object::new(), |object, (name, finding)| object.raw(name, finding)).finish()
    }
}

/// The things in the dropped messages: how often, how important, and where last.
#[derive(Default)]
struct Seen {
    things: HashMap<(Sort, String), Weight>,
    place: usize,
}

#[derive(Default, Clone, Copy)]
struct Weight {
    times: usize,
    weight: usize,
    last: usize,
}

impl Seen {
    fn take(&mut self, part: &SpokenPart) {
        let weight = match part.speaker {
            Speaker::User => 8,
            Speaker::Assistant => 4,
            Speaker::Calls => 2,
            Speaker::Result => 1,
        };
        if part.speaker == Speaker::User {
            for sentence in sentences(&part.text).filter(|sentence| is_rule(sentence)) {
                self.add(Sort::Rule, one_line(sentence, RULE), weight);
            }
        }
        // Tools' input and output is full of code and numbers that nobody discussed.
        let only_paths = matches!(part.speaker, Speaker::Calls | Speaker::Result);
        // Texts in a call's arguments have escaped line breaks and tabs.
        let text = match part.speaker {
            Speaker::Calls => Cow::Owned(part.text.replace("\\n", " ").replace("\\t", " ").replace("\\r", " ")),
            _ => Cow::Borrowed(part.text.as_str()),
        };
        for word in words(&text) {
            if let Some(sort) = sort_of(word).filter(|sort| !only_paths || matches!(sort, Sort::Path | Sort::Address)) {
                self.add(sort, word.to_owned(), weight);
            }
        }
    }

    fn add(&mut self, sort: Sort, text: String, weight: usize) {
        self.place += 1;
        let place = self.place;
        let known = self.things.entry((sort, text)).or_default();
        known.times += 1;
        known.weight += weight;
        known.last = place;
    }

    fn finding(&self, sort: Sort, has: &Has<'_>) -> Finding {
        let own = || self.things.iter().filter(|((own, _), _)| *own == sort);
        let mut missing: Vec<_> = own().filter(|((_, text), _)| !has.says(sort, text)).collect();
        missing.sort_by_key(|(_, weight)| std::cmp::Reverse((weight.weight, weight.last)));
        let count = missing.len();
        missing.truncate(sort.most());
        let listed =
            missing.into_iter().map(|((_, text), weight)| Missing { sort, text: text.clone(), times: weight.times });
        Finding { sort, said: own().count(), missing: count, listed: listed.collect() }
    }
}

/// The most characters of a rule that are shown.
const RULE: usize = 200;

struct Has<'a> {
    summary: &'a str,
    words: HashSet<&'a str>,
    lower: HashSet<String>,
}

impl<'a> Has<'a> {
    fn new(summary: &'a str) -> Self {
        Self { summary, words: words(summary).collect(), lower: plain_words(summary).collect() }
    }

    fn says(&self, sort: Sort, text: &str) -> bool {
        match sort {
            Sort::Rule => self.says_most_words_of(text),
            Sort::Path => self.summary.contains(text) || self.words.iter().any(|word| is_tail(word, text)),
            Sort::Address | Sort::Identifier => self.words.contains(text) || self.summary.contains(text),
            Sort::Number => self.words.contains(text),
        }
    }

    /// Whether two thirds of a rule's words are in the summary, which may paraphrase it.
    fn says_most_words_of(&self, rule: &str) -> bool {
        let words: HashSet<String> = plain_words(rule).filter(|word| word.chars().count() > 2).collect();
        let said = words.iter().filter(|word| self.lower.contains(*word)).count();
        said * 3 >= words.len() * 2
    }
}

/// Whether a word names the same file relative to an inner folder.
fn is_tail(word: &str, path: &str) -> bool {
    sort_of(word) == Some(Sort::Path) && path.strip_suffix(word).is_some_and(|front| front.ends_with('/'))
}

fn plain_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// A text's words, without surrounding punctuation and without line numbers after file names.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let separates = |c: char| c.is_whitespace() || "\"'`()[]{}<>,;=|*\\!?$".contains(c);
    let trimmed = text.split(separates).map(|word| {
        let word = word.trim_start_matches([':', '#', '&', '%']).trim_end_matches(['.', ':', '#', '&', '%', '/']);
        without_line(without_line(word))
    });
    trimmed.filter(|word| (2..=200).contains(&word.len()))
}

/// `src/a.rs:12` becomes `src/a.rs`.
fn without_line(word: &str) -> &str {
    match word.rsplit_once(':') {
        Some((file, line)) if !file.contains("://") && is_path(file) && line.bytes().all(|b| b.is_ascii_digit()) => {
            file
        }
        _ => word,
    }
}

fn sort_of(word: &str) -> Option<Sort> {
    let is_number = word.starts_with(|c: char| c.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ':' | '-' | '_' | '/' | '+'));
    if is_number {
        return Some(Sort::Number);
    }
    if !word.contains(char::is_alphabetic) {
        return None;
    }
    if word.contains("://") {
        return Some(Sort::Address);
    }
    if is_path(word) {
        return Some(Sort::Path);
    }
    is_identifier(word).then_some(Sort::Identifier)
}

/// Endings that make a word without slash a file name; `theme.fg` is not one.
const ENDINGS: &str = " bash c cc cfg cjs conf cpp cs css csv cxx diff env gif go gz h hpp htm html ini ipynb java jpeg jpg js \
     json jsonl jsx kt lock log lua md mjs nix patch pdf php png proto ps1 py rb rs rst scss sh sql svelte svg swift tar toml ts \
     tsv tsx txt vue wasm xml yaml yml zig zip zsh ";

/// Folders that make two plain words a path: `src/app` is one, `either/or` and `m/g` are not.
const FOLDERS: &str = " app apps assets bench benches bin build cmd config crates dist doc docs etc examples home include \
     internal lib node_modules packages pkg public scripts src target test tests tmp tools usr var vendor ";

/// Objects whose members look like file names: `console.log`, `process.env`, `response.json`.
const OBJECTS: &str = " axios console df document fs import.meta json log logger math module np obj plt process req request \
     res resp response self this torch window ";

/// `src/app`, `./a`, `~/a`, `a/b.rs`, `a/b/c`, `name.ending`.
fn is_path(word: &str) -> bool {
    let parts: Vec<&str> = word.split('/').filter(|part| !part.is_empty()).collect();
    let starts_well = word.starts_with(|c: char| c.is_alphanumeric() || "/.~_@".contains(c));
    if starts_well && word.contains('/') {
        let is_rooted = word.starts_with(['/', '.', '~', '@']);
        return match parts.as_slice() {
            [] => false,
            [_] => word.starts_with('/'),
            [first, second] if !is_rooted => {
                let is_name = |part: &&str| part.len() > 1 && part.contains(['.', '_', '-']);
                FOLDERS.contains(&format!(" {first} ")) || is_name(first) || is_name(second)
            }
            many => is_rooted || many.iter().any(|part| part.len() > 1),
        };
    }
    word.rsplit_once('.').is_some_and(|(stem, ending)| {
        let is_stem = stem.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
        let is_object = OBJECTS.contains(&format!(" {} ", stem.to_lowercase())) && !stem.is_empty();
        is_stem && !is_object && !ending.is_empty() && ENDINGS.contains(&format!(" {ending} "))
    })
}

/// `snake_case`, `camelCase`, `a::b`, `--flag`, or a hash of seven digits or more.
fn is_identifier(word: &str) -> bool {
    let word = word.strip_prefix("--").map_or(word, |flag| if flag.len() > 1 { "a_flag" } else { word });
    let is_name = word.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '-'));
    let has_hump = word.as_bytes().windows(2).any(|pair| matches!(pair, [b'a'..=b'z', b'A'..=b'Z']));
    let has_inner = word.trim_matches('_').contains('_') || word.contains("::") || has_hump;
    let is_hash = word.len() >= 7
        && word.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        && word.contains(|c: char| c.is_ascii_digit());
    word.len() >= 4 && (is_hash || (is_name && has_inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_apart() {
        for (word, sort) in [
            ("src/main.rs", Some(Sort::Path)),
            ("Cargo.toml", Some(Sort::Path)),
            ("/etc/hosts", Some(Sort::Path)),
            ("src/main", Some(Sort::Path)),
            ("a/b/main", Some(Sort::Path)),
            ("my-app/main", Some(Sort::Path)),
            ("@scope/name", Some(Sort::Path)),
            ("m/g", None),
            ("n/a", None),
            ("console.log", None),
            ("process.env", None),
            ("npm.log", Some(Sort::Path)),
            ("https://example.org/x", Some(Sort::Address)),
            ("read_file", Some(Sort::Identifier)),
            ("readFile", Some(Sort::Identifier)),
            ("std::fs", Some(Sort::Identifier)),
            ("--no-index", Some(Sort::Identifier)),
            ("61ad5e9", Some(Sort::Identifier)),
            ("8080", Some(Sort::Number)),
            ("1.2.3", Some(Sort::Number)),
            ("plain", None),
            ("either/or", None),
            ("e.g", None),
            ("theme.fg", None),
            (".env", Some(Sort::Path)),
            ("-", None),
        ] {
            assert_eq!(sort_of(word), sort, "{word}");
        }
    }

    #[test]
    fn words_lose_their_punctuation_and_line_numbers() {
        let text = "See `../src/a.rs:10:5`, (main.rs:3): it's at http://localhost:8080/.";
        assert_eq!(
            words(text).filter(|word| sort_of(word).is_some()).collect::<Vec<_>>(),
            ["../src/a.rs", "main.rs", "http://localhost:8080"]
        );
    }

    #[test]
    fn a_summary_may_name_a_file_from_further_in() {
        let has = Has::new("changed src/a.rs; port 8080, and never touch the main branch.");
        assert!(has.says(Sort::Path, "/home/x/src/a.rs"));
        assert!(!has.says(Sort::Path, "/home/x/src/b.rs"));
        assert!(has.says(Sort::Number, "8080") && !has.says(Sort::Number, "808"));
        assert!(has.says(Sort::Rule, "Please never touch main branch"));
        assert!(!has.says(Sort::Rule, "Always run the formatter before committing"));
    }
}
