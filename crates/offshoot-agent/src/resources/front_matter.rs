//! The YAML block at the beginning of a Markdown file: texts and booleans of its outermost mapping, and the body after it.
//! Knows no kind of file.
//!
//! Where the block begins and ends is as in pi 0.87.1.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError};

use crate::yaml::PlainScalar;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Field {
    Text(String),
    Flag(bool),
    /// The texts of a list.
    List(Vec<String>),
    /// A whole number.
    Number(u64),
    /// Another number, null or a mapping.
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FrontMatter {
    fields: BTreeMap<String, Field>,
    pub(crate) body: String,
}

/// A fault of the block, with its line in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FrontMatterFault {
    pub(crate) line: usize,
    pub(crate) why: String,
}

impl FrontMatter {
    /// The text of a field, if it is one and not blank.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match self.fields.get(name)? {
            Field::Text(text) if !text.trim().is_empty() => Some(text),
            Field::Text(_) | Field::Flag(_) | Field::List(_) | Field::Number(_) | Field::Other => None,
        }
    }

    /// The texts of a field that is a text or a list of some; none of them is blank.
    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        let texts = match self.fields.get(name) {
            Some(Field::Text(text)) => std::slice::from_ref(text),
            Some(Field::List(texts)) => texts,
            Some(Field::Flag(_) | Field::Number(_) | Field::Other) | None => &[],
        };
        texts.iter().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect()
    }

    /// Whether the block has the field, whatever its value.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// A whole number.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        match self.fields.get(name)? {
            Field::Number(number) => Some(*number),
            Field::Text(text) => text.trim().parse().ok(),
            Field::Flag(_) | Field::List(_) | Field::Other => None,
        }
    }

    pub(crate) fn is_false(&self, name: &str) -> bool {
        self.fields.get(name) == Some(&Field::Flag(false))
    }

    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.fields.get(name) == Some(&Field::Flag(true))
    }
}

/// Parts a file. A text without a block, or with one that does not end, is all body, as it is; a body after a block is
/// trimmed. Line ends become `\n`, a byte order mark goes.
pub(crate) fn parse(text: &str) -> Result<FrontMatter, FrontMatterFault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
    let Some((block, body)) = parted(&text) else {
        return Ok(FrontMatter { fields: BTreeMap::new(), body: text });
    };
    Ok(FrontMatter { fields: fields(block)?, body: body.trim().to_owned() })
}

/// The same where a block that is no YAML has lines `name: value`, as rules of other programs have them: each value on its own.
pub(crate) fn parse_lines(text: &str) -> FrontMatter {
    if let Ok(parsed) = parse(text) {
        return parsed;
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n").replace('\r', "\n");
    let Some((block, body)) = parted(&text) else { return FrontMatter { fields: BTreeMap::new(), body: text } };
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|at| at.is_alphanumeric() || matches!(at, '_' | '-'));
    let lines = block.lines().filter_map(|line| line.split_once(':')).filter(|(name, _)| is_name(name));
    let field = |(name, value): (&str, &str)| {
        let read = fields(&format!("v: {}", value.trim())).ok().and_then(|mut read| read.remove("v"));
        (name.to_owned(), read.unwrap_or_else(|| Field::Text(value.trim().to_owned())))
    };
    FrontMatter { fields: lines.map(field).collect(), body: body.trim().to_owned() }
}

/// What follows the closing dashes on their line belongs to the body.
fn parted(text: &str) -> Option<(&str, &str)> {
    let end = 3 + text.strip_prefix("---")?.find("\n---")?;
    let begin = text.char_indices().nth(4).map_or(text.len(), |(at, _)| at);
    Some((text.get(begin..end).unwrap_or_default(), &text[end + 4..]))
}

fn fields(block: &str) -> Result<BTreeMap<String, Field>, FrontMatterFault> {
    // The block begins in the file's second line.
    let fault = |line: usize, why: String| FrontMatterFault { line: line + 1, why };
    let scan = |error: ScanError| fault(error.marker().line(), error.info().to_owned());
    let mut fields = BTreeMap::new();
    let (mut depth, mut documents) = (0_usize, 0_usize);
    let (mut is_mapping, mut key) = (false, None::<String>);
    // The name of a list that is open, and its texts.
    let mut list: Option<(String, Vec<String>)> = None;
    for event in Parser::new_from_str(block) {
        let (event, span) = event.map_err(scan)?;
        let line = span.start.line();
        let is_outermost = depth == 1 && is_mapping;
        let field = match event {
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    return Err(fault(line, "a second document begins".to_owned()));
                }
                continue;
            }
            Event::MappingStart(..) | Event::SequenceStart(..) => {
                is_mapping |= depth == 0 && matches!(event, Event::MappingStart(..));
                if let (true, Event::SequenceStart(..), Some(name)) = (is_outermost, &event, &key) {
                    list = Some((name.clone(), Vec::new()));
                }
                depth += 1;
                Field::Other
            }
            Event::MappingEnd | Event::SequenceEnd => {
                depth = depth.saturating_sub(1);
                if let Some((name, texts)) = list.take_if(|_| depth == 1) {
                    fields.insert(name, Field::List(texts));
                }
                continue;
            }
            Event::Alias(_) => Field::Other,
            Event::Scalar(text, style, _, tag) if style == ScalarStyle::Plain && tag.is_none() => plain(&text),
            Event::Scalar(text, ..) => Field::Text(text.into_owned()),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => continue,
        };
        if let (2, Some((_, texts)), Field::Text(text)) = (depth, &mut list, &field) {
            texts.push(text.clone());
        }
        if !is_outermost {
            continue;
        }
        match key.take() {
            None => key = Some(if let Field::Text(name) = field { name } else { String::new() }),
            Some(name) if fields.contains_key(&name) => return Err(fault(line, format!("`{name}` is there twice"))),
            Some(name) => drop(fields.insert(name, field)),
        }
    }
    Ok(fields)
}

/// A plain scalar by YAML's core schema.
fn plain(text: &str) -> Field {
    match PlainScalar::of(text) {
        PlainScalar::Flag(flag) => Field::Flag(flag),
        PlainScalar::Null => Field::Other,
        PlainScalar::Number => text.parse().map_or(Field::Other, Field::Number),
        PlainScalar::Text => Field::Text(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> (Vec<(String, Field)>, String) {
        let parsed = parse(text).unwrap();
        (parsed.fields.into_iter().collect(), parsed.body)
    }

    fn text(name: &str, text: &str) -> (String, Field) {
        (name.to_owned(), Field::Text(text.to_owned()))
    }

    #[test]
    fn the_block_begins_and_ends_as_in_pi() {
        let number = || vec![("a".to_owned(), Field::Number(1))];
        assert_eq!(told("---\nname: x\n--- \nbody"), (vec![text("name", "x")], "body".to_owned()));
        assert_eq!(told("----\na: 1\n---\nb"), (number(), "b".to_owned()));
        assert_eq!(told("---\n---\nb"), (vec![], "b".to_owned()));
        assert_eq!(told("---\na: 1\n----\nb"), (number(), "-\nb".to_owned()));
        for whole in ["---\na: 1\nno end", "x\n---\na: 1\n---\n", "", "--", " whole \n"] {
            assert_eq!(told(whole), (vec![], whole.to_owned()));
        }
        assert_eq!(told("---\n[1,2]\n---\nx"), (vec![], "x".to_owned()));
        assert_eq!(
            told("\u{feff}---\r\nname: x\r\n---\r\n\r\nbody\r\nmore\r\n"),
            (vec![text("name", "x")], "body\nmore".to_owned())
        );
        assert_eq!(told("---é\n---\nb"), (vec![], "b".to_owned()));
    }

    #[test]
    fn values_are_those_of_yaml_1_2() {
        let (fields, _) = told(
            "---\na: yes\nb: true\nc: \"true\"\nd: >\n  folded\n  text\ne: [x]\nf: {g: h}\ni: 1.5e3\nj: !!str 12\nk: &a x\nl: *a\n---\n",
        );
        let other = |name: &str| (name.to_owned(), Field::Other);
        let list =
            |name: &str, of: &[&str]| (name.to_owned(), Field::List(of.iter().map(ToString::to_string).collect()));
        let expected = [
            text("a", "yes"),
            ("b".to_owned(), Field::Flag(true)),
            text("c", "true"),
            text("d", "folded text\n"),
            list("e", &["x"]),
            other("f"),
            other("i"),
            text("j", "12"),
            text("k", "x"),
            other("l"),
        ];
        assert_eq!(fields, expected);
    }

    #[test]
    fn a_block_that_is_no_yaml_has_its_lines() {
        let read =
            parse_lines("---\nglobs: **/*.ts\nscope: [text, \"tool:edit(*.rs, x)\"]\nalwaysApply: true\n---\nBody\n");
        assert_eq!((read.texts("globs"), read.is_true("alwaysApply")), (vec!["**/*.ts".to_owned()], true));
        assert_eq!(
            (read.texts("scope"), read.body.as_str()),
            (vec!["text".to_owned(), "tool:edit(*.rs, x)".to_owned()], "Body")
        );
    }

    #[test]
    fn faults_have_their_line() {
        let fault = |text: &str| parse(text).unwrap_err().line;
        assert_eq!(fault("---\na: 1\na: 2\n---\n"), 3);
        assert_eq!(fault("---\nname: x\ndescription: b: c\n---\n"), 3);
        assert!(parse("---\na: \"\n---").is_err());
    }

    #[test]
    fn a_hostile_block_costs_what_it_is_long() {
        let bomb: String = (0..60).map(|at| format!("a{at}: &a{at} [*a{}, *a{}]\n", at - 1, at - 1)).skip(1).collect();
        assert!(parse(&format!("---\nz: &a0 x\n{bomb}---\n")).is_ok());
        let deep = "[".repeat(20_000);
        drop(parse(&format!("---\na: {deep}\n---\n")));
    }
}
