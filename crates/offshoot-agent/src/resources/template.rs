//! Prompt templates: a Markdown file whose body is sent in place of `/name arguments`.
//!
//! Arguments are cut as pi 1.5.2 cuts them, so that `it's` stays a word; placeholders are those of pi 0.87.1. Files of oh-my-pi's
//! folders have oh-my-pi's placeholders.

use std::path::{Path, PathBuf};

use super::front_matter::parse;
use super::{Resource, ResourceTrouble, read};

/// Of a body without a description, the first line is shown up to here.
const LONGEST_FIRST_LINE: usize = 60;

#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct PromptTemplate {
    pub about: Resource,
    /// What the arguments are, for people.
    pub argument_hint: Option<String>,
    pub(super) body: String,
    dialect: TemplateDialect,
}

/// Whose placeholders a template has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TemplateDialect {
    Pi,
    /// `$1`, `$@`, `$ARGUMENTS`, `$@[2]`, `$@[2:1]`, `{{arguments}}`; a template without any has its arguments after it.
    Omp,
}

impl PromptTemplate {
    /// Reads a file; its name without `.md` is the template's.
    pub(super) fn load(
        file: &Path,
        scope: super::ResourceScope,
        dialect: TemplateDialect,
    ) -> Result<Self, ResourceTrouble> {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let parsed = parse(&read(file)?).map_err(|fault| ResourceTrouble::Invalid {
            file: file.to_path_buf(),
            line: fault.line,
            why: fault.why,
        })?;
        let first_line = || {
            let line = parsed.body.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            match line.char_indices().nth(LONGEST_FIRST_LINE) {
                Some((end, _)) => format!("{}...", &line[..end]),
                None => line.to_owned(),
            }
        };
        let description = parsed.text("description").map_or_else(first_line, str::to_owned);
        let argument_hint = parsed.text("argument-hint").map(str::to_owned);
        let about = Resource { name, description, file: PathBuf::from(file), scope, package: None };
        Ok(Self { about, argument_hint, body: parsed.body, dialect })
    }

    /// What is sent for these arguments.
    pub(super) fn fill(&self, arguments: &str) -> String {
        let arguments = cut(arguments);
        match self.dialect {
            TemplateDialect::Pi => substitute(&self.body, &arguments, placeholder),
            TemplateDialect::Omp => fill_as_omp(&self.body, &arguments),
        }
    }
}

/// What oh-my-pi replaces. Of its template language only the arguments are known.
fn fill_as_omp(body: &str, arguments: &[String]) -> String {
    let all = arguments.join(" ");
    let mut out = substitute(body, arguments, placeholder_of_omp);
    for name in ["{{arguments}}", "{{ARGUMENTS}}"] {
        if body.contains(name) {
            out = out.replace(name, &all);
        }
    }
    let has_some = body.contains("$@")
        || body.contains("$ARGUMENTS")
        || ["arguments", "ARGUMENTS", "args", "arg "].iter().any(|word| body.contains("{{") && body.contains(word))
        || body.split('$').skip(1).any(|after| digits(after).is_some());
    if !has_some && !all.is_empty() {
        out.push_str(if out.is_empty() { "" } else { "\n\n" });
        out.push_str(&all);
    }
    out
}

/// The same for oh-my-pi's placeholders.
fn placeholder_of_omp<'a>(text: &'a str, arguments: &[String]) -> Option<(String, &'a str)> {
    if let Some((inside, after)) = text.strip_prefix("@[").and_then(|rest| rest.split_once(']'))
        && let Some((first, more)) = digits(inside)
        && let Some(count) = match more.strip_prefix(':') {
            None if more.is_empty() => Some(usize::MAX),
            Some("") => Some(usize::MAX),
            Some(count) => digits(count).filter(|(_, rest)| rest.is_empty()).map(|(count, _)| count),
            None => None,
        }
    {
        let skipped = first.checked_sub(1).unwrap_or(usize::MAX);
        let some: Vec<&str> = arguments.iter().skip(skipped).take(count).map(String::as_str).collect();
        return Some((some.join(" "), after));
    }
    if let Some(after) = text.strip_prefix("ARGUMENTS").or_else(|| text.strip_prefix('@')) {
        return Some((arguments.join(" "), after));
    }
    let (number, after) = digits(text)?;
    Some((nth(arguments, number).unwrap_or_default().to_owned(), after))
}

/// Cuts a line into arguments. A quote opens at the beginning of a word only, and only if it is closed; before the same
/// sign inside, a backslash keeps it.
fn cut(text: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let mut word = String::new();
        if let Some((quoted, after)) =
            Some(first).filter(|sign| matches!(sign, '"' | '\'')).and_then(|sign| closed(&rest[1..], sign))
        {
            word = quoted;
            rest = after;
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        word.push_str(&rest[..end]);
        arguments.push(word);
        rest = rest[end..].trim_start();
    }
    arguments
}

/// The text up to the closing sign, and what follows it.
fn closed(text: &str, sign: char) -> Option<(String, &str)> {
    let mut quoted = String::new();
    let mut signs = text.char_indices().peekable();
    while let Some((at, sign_here)) = signs.next() {
        match sign_here {
            '\\' if signs.peek().is_some_and(|(_, next)| *next == sign) => {
                quoted.push(sign);
                signs.next();
            }
            _ if sign_here == sign => return Some((quoted, &text[at + 1..])),
            _ => quoted.push(sign_here),
        }
    }
    None
}

/// Reads a placeholder from the text after its sign. Returns its value and the rest of the text.
type Placeholder = for<'a> fn(&'a str, &[String]) -> Option<(String, &'a str)>;

/// Replaces placeholders, once: what comes from arguments and defaults is not looked at again.
fn substitute(body: &str, arguments: &[String], placeholder: Placeholder) -> String {
    let mut out = String::with_capacity(body.len());
    let mut rest = body;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match placeholder(rest, arguments) {
            Some((value, after)) => {
                out.push_str(&value);
                rest = after;
            }
            None => out.push('$'),
        }
    }
    out.push_str(rest);
    out
}

/// The value of a placeholder, whose `$` is before the text, and what follows it.
fn placeholder<'a>(text: &'a str, arguments: &[String]) -> Option<(String, &'a str)> {
    let all = || arguments.join(" ");
    if let Some(after) = text.strip_prefix("ARGUMENTS").or_else(|| text.strip_prefix('@')) {
        return Some((all(), after));
    }
    if let Some((number, after)) = digits(text) {
        return Some((nth(arguments, number).unwrap_or_default().to_owned(), after));
    }
    let (inside, after) = text.strip_prefix('{')?.split_once('}')?;
    let or = |value: &str, default: &str| if value.is_empty() { default.to_owned() } else { value.to_owned() };
    if let Some((what, default)) = inside.split_once(":-") {
        let value = match what {
            "@" | "ARGUMENTS" => Some(all()),
            _ => digits(what)
                .filter(|(_, rest)| rest.is_empty())
                .map(|(number, _)| nth(arguments, number).unwrap_or_default().to_owned()),
        };
        if let Some(value) = value {
            return Some((or(&value, default), after));
        }
    }
    let (first, more) = digits(inside.strip_prefix("@:")?)?;
    let count = match more.strip_prefix(':') {
        Some(count) => digits(count).filter(|(_, rest)| rest.is_empty())?.0,
        None if more.is_empty() => usize::MAX,
        None => return None,
    };
    let some: Vec<&str> = arguments.iter().skip(first.saturating_sub(1)).take(count).map(String::as_str).collect();
    Some((some.join(" "), after))
}

/// A number at the beginning of a text; one that is too large counts as the largest.
fn digits(text: &str) -> Option<(usize, &str)> {
    let end = text.find(|at: char| !at.is_ascii_digit()).unwrap_or(text.len());
    (end > 0).then(|| (text[..end].parse().unwrap_or(usize::MAX), &text[end..]))
}

fn nth(arguments: &[String], number: usize) -> Option<&str> {
    arguments.get(number.checked_sub(1)?).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_cut_as_pi_1_5_2_cuts_them() {
        for (text, expected) in [
            (r#"a "b c" d"#, &["a", "b c", "d"][..]),
            ("'x y' z", &["x y", "z"]),
            (r#"'a "b" c'"#, &[r#"a "b" c"#]),
            (r#"a"b c"d"#, &[r#"a"b"#, r#"c"d"#]),
            ("x='1 2'", &["x='1", "2'"]),
            ("it's fine", &["it's", "fine"]),
            (r#""open end"#, &["\"open", "end"]),
            (r#""" x"#, &["", "x"]),
            (r"a\ b", &[r"a\", "b"]),
            (r#""a\"b" c"#, &["a\"b", "c"]),
            ("a\nb\tc", &["a", "b", "c"]),
            ("  \u{a0} ", &[]),
            ("é \"日 本\" 😀", &["é", "日 本", "😀"]),
        ] {
            assert_eq!(cut(text), expected, "{text}");
        }
    }

    #[test]
    fn placeholders_are_replaced_as_in_pi() {
        let three = ["one", "two words", "three"].map(str::to_owned);
        for (body, given, none) in [
            ("$1|$2|$4|$0|$10|$01", "one|two words||||one", "|||||"),
            ("$1x $1$2 $$1 \\$1", "onex onetwo words $one \\one", "x  $ \\"),
            ("$@|$ARGUMENTS|$ARGUMENTSx", "one two words three|one two words three|one two words threex", "||x"),
            ("${@:2}|${@:0}|${@:9}", "two words three|one two words three|", "||"),
            ("${@:2:1}|${@:1:0}|${@:2:99}", "two words||two words three", "||"),
            ("${1:-d}|${4:-d}|${4:-}|${0:-z}", "one|d||z", "d|d||z"),
            ("${2:-x y}|${4:-a $1 b}|${4:-{x}}", "two words|a $1 b|{x}", "x y|a $1 b|{x}"),
            ("${@:-none} ${ARGUMENTS:-none}", "one two words three one two words three", "none none"),
            ("${1} ${@: 2} $* ${@:2:x} $ ${ $", "${1} ${@: 2} $* ${@:2:x} $ ${ $", "${1} ${@: 2} $* ${@:2:x} $ ${ $"),
            ("${@:-2}", "one two words three", "2"),
        ] {
            assert_eq!(substitute(body, &three, placeholder), given, "{body}");
            assert_eq!(substitute(body, &[], placeholder), none, "{body}");
        }
        assert_eq!(substitute("$1 $@", &["$2".to_owned(), "$ARGUMENTS".to_owned()], placeholder), "$2 $2 $ARGUMENTS");
        assert_eq!(substitute("${1:-d}", &[String::new()], placeholder), "d");
        let ten: Vec<String> = (1..=10).map(|at| at.to_string()).collect();
        assert_eq!(substitute("$10 $99999999999999999999999", &ten, placeholder), "10 ");
    }

    /// What `substituteArgs`, `expandPromptTemplate` and the renderer of oh-my-pi 18.2.3 make of them.
    #[test]
    fn placeholders_of_its_folders_are_replaced_as_in_omp() {
        let three = ["one", "two words", "three"].map(str::to_owned);
        for (body, given) in [
            ("$1|$2|$4|$0|$10", "one|two words|||"),
            ("$@|$ARGUMENTS", "one two words three|one two words three"),
            ("$@[2]|$@[2:1]|$@[2:]|$@[9]|$@[0]", "two words three|two words|two words three||"),
            ("${1} $1", "${1} one"),
            ("{{arguments}}!", "one two words three!"),
            ("Plain.", "Plain.\n\none two words three"),
        ] {
            assert_eq!(fill_as_omp(body, &three), given, "{body}");
        }
        assert_eq!((fill_as_omp("Plain.", &[]), fill_as_omp("", &three[..1])), ("Plain.".to_owned(), "one".to_owned()));
    }
}
