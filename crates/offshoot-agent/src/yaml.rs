//! Converts YAML to JSON text. Each value keeps its line, so that errors of the JSON reader name the right line of the YAML. Knows no file and no shape.

use std::collections::HashMap;
use std::fmt::Write as _;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span};
use serde_json::Value;

/// Aliases may repeat a text; more than this is refused.
const LONGEST: usize = 8 << 20;
const DEEPEST: usize = 64;

/// A fault, with its line from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct YamlFault {
    pub line: usize,
    pub why: String,
}

/// What a plain scalar means by YAML's core schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PlainScalar {
    Flag(bool),
    Null,
    Number,
    Text,
}

impl PlainScalar {
    pub(crate) fn of(text: &str) -> Self {
        match text {
            "true" | "True" | "TRUE" => Self::Flag(true),
            "false" | "False" | "FALSE" => Self::Flag(false),
            "" | "~" | "null" | "Null" | "NULL" => Self::Null,
            _ if is_number(text) => Self::Number,
            _ => Self::Text,
        }
    }
}

fn is_number(text: &str) -> bool {
    let radix = |prefix: &str, radix: u32| {
        text.strip_prefix(prefix)
            .is_some_and(|digits| !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix)))
    };
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_spelt = matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN");
    let is_decimal = unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && unsigned.chars().all(|at| at.is_ascii_digit() || matches!(at, '.' | 'e' | 'E' | '-' | '+'))
        && unsigned.parse::<f64>().is_ok();
    is_spelt || is_decimal || radix("0x", 16) || radix("0o", 8)
}

/// The first document of a text as JSON. An empty one is null.
///
/// # Errors
/// The text is not YAML, or too long or too deep.
pub fn yaml_to_json(text: &str) -> Result<String, YamlFault> {
    let scan = |error: ScanError| YamlFault { line: error.marker().line(), why: error.info().to_owned() };
    let mut json = JsonWriter::default();
    for event in Parser::new_from_str(text.strip_prefix('\u{feff}').unwrap_or(text)) {
        let (event, span) = event.map_err(scan)?;
        if matches!(event, Event::DocumentEnd) {
            break;
        }
        json.take(&event, span)?;
    }
    if json.text.trim().is_empty() {
        json.text.push_str("null");
    }
    Ok(json.text)
}

/// A list or a mapping that is open, and how many values it has.
struct OpenValue {
    is_mapping: bool,
    values: usize,
    /// The anchor of the value, and where it begins.
    anchor: usize,
    start: usize,
}

#[derive(Default)]
struct JsonWriter {
    text: String,
    line: usize,
    open: Vec<OpenValue>,
    anchors: HashMap<usize, String>,
    /// The bytes that anchors keep.
    kept: usize,
}

impl JsonWriter {
    fn take(&mut self, event: &Event<'_>, span: Span) -> Result<(), YamlFault> {
        let line = span.start.line();
        let fault = |why: &str| Err(YamlFault { line, why: why.to_owned() });
        match event {
            Event::MappingStart(anchor, _) | Event::SequenceStart(anchor, _) => {
                let is_mapping = matches!(event, Event::MappingStart(..));
                if self.is_key() {
                    return fault("a list or a mapping is no name");
                }
                if self.open.len() == DEEPEST {
                    return fault("it is nested too deeply");
                }
                self.begin(line);
                self.open.push(OpenValue { is_mapping, values: 0, anchor: *anchor, start: self.text.len() });
                self.text.push(if is_mapping { '{' } else { '[' });
            }
            Event::MappingEnd | Event::SequenceEnd => {
                let Some(open) = self.open.pop() else { return Ok(()) };
                self.text.push(if open.is_mapping { '}' } else { ']' });
                self.keep(open.anchor, open.start);
            }
            Event::Scalar(text, style, anchor, tag) => {
                let is_plain = *style == ScalarStyle::Plain && tag.is_none() && !self.is_key();
                self.begin(line);
                let start = self.text.len();
                let written = match PlainScalar::of(text) {
                    PlainScalar::Flag(flag) if is_plain => flag.to_string(),
                    PlainScalar::Null if is_plain => "null".to_owned(),
                    PlainScalar::Number if is_plain => number(text),
                    _ => Value::from(text.as_ref()).to_string(),
                };
                self.text.push_str(&written);
                self.keep(*anchor, start);
            }
            Event::Alias(anchor) => {
                if self.is_key() {
                    return fault("an alias is no name");
                }
                let Some(value) = self.anchors.get(anchor).cloned() else { return fault("its alias means nothing") };
                self.begin(line);
                self.text.push_str(&value);
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) | Event::DocumentEnd => {}
        }
        if self.text.len() > LONGEST || self.kept > LONGEST { fault("its aliases make it too long") } else { Ok(()) }
    }

    /// Whether the next scalar is the name of a member.
    fn is_key(&self) -> bool {
        self.open.last().is_some_and(|open| open.is_mapping && open.values % 2 == 0)
    }

    /// Writes what is before a value, and goes to its line.
    fn begin(&mut self, line: usize) {
        if let Some(open) = self.open.last_mut() {
            let sign = match (open.is_mapping, open.values) {
                (_, 0) => "",
                (true, values) if values % 2 == 1 => ":",
                _ => ",",
            };
            self.text.push_str(sign);
            open.values += 1;
        }
        while self.line + 1 < line {
            self.text.push('\n');
            self.line += 1;
        }
    }

    fn keep(&mut self, anchor: usize, start: usize) {
        if anchor > 0 {
            let value = self.text.get(start..).unwrap_or_default().replace('\n', " ");
            self.kept += value.len();
            self.anchors.insert(anchor, value);
        }
    }
}

fn number(text: &str) -> String {
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let radix = [("0x", 16), ("0o", 8)]
        .into_iter()
        .find_map(|(prefix, radix)| i64::from_str_radix(unsigned.strip_prefix(prefix)?, radix).ok());
    let whole = radix.or_else(|| unsigned.parse::<i64>().ok());
    let mut written = String::new();
    match (whole, unsigned.parse::<f64>()) {
        (Some(whole), _) => drop(write!(written, "{whole}")),
        (None, Ok(number)) => written = Value::from(number).to_string(),
        (None, Err(_)) => written.push_str("null"),
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        serde_json::from_str(&yaml_to_json(text).unwrap()).unwrap()
    }

    #[test]
    fn values_are_those_of_yaml_1_2_and_stand_on_their_lines() {
        let text = "# mine\na: yes\nb:\n  - 1\n  - 0x1f\n  - 1.5e3\n  - .inf\n  - \"2\"\nc: {d: true, e: ~, \"f\": 'x: \"y\"'}\n1: |\n  two\n  lines\n";
        let expected = serde_json::json!({
            "a": "yes", "b": [1, 31, 1500.0, null, "2"], "c": {"d": true, "e": null, "f": "x: \"y\""}, "1": "two\nlines\n",
        });
        assert_eq!(value(text), expected);
        let json = yaml_to_json("a: 1\nb:\n\n  c: x\n").unwrap();
        assert_eq!(json.lines().position(|line| line.contains("\"c\"")), Some(3), "{json}");
        assert_eq!((value(""), value("- &a {x: 1}\n- *a\n")), (Value::Null, serde_json::json!([{"x": 1}, {"x": 1}])));
    }

    #[test]
    fn hostile_texts_are_refused_with_their_line() {
        let bomb: String = (1..60).map(|at| format!("a{at}: &a{at} [*a{0}, *a{0}]\n", at - 1)).collect::<String>();
        for (text, line, why) in [
            (format!("z: &a0 xxxxxxxxxxxxxxxx\n{bomb}"), 19, "its aliases make it too long"),
            (format!("a: {}{}", "[".repeat(2_000), "]".repeat(2_000)), 1, ""),
            (format!("a: {}{}", "[".repeat(DEEPEST), "]".repeat(DEEPEST)), 1, "it is nested too deeply"),
            ("a: b: c\n".to_owned(), 1, ""),
            ("a: 1\n? [x]\n: 2\n".to_owned(), 2, "a list or a mapping is no name"),
            ("a: *none\n".to_owned(), 1, ""),
            // Each of the anchors keeps the text.
            (
                format!(
                    "{}{}{}",
                    (0..60).map(|at| format!("&a{at} [")).collect::<String>(),
                    "x".repeat(1 << 18),
                    "]".repeat(60)
                ),
                1,
                "its aliases make it too long",
            ),
        ] {
            let fault = yaml_to_json(&text).unwrap_err();
            assert!(fault.line.abs_diff(line) <= 1, "{fault:?} of {}", &text[..20.min(text.len())]);
            assert!(fault.why.contains(why), "{fault:?} of {}", &text[..20.min(text.len())]);
        }
    }
}
