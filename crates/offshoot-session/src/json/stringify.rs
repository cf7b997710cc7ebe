//! A value as JavaScript prints it after parsing it, which is what the peers measure and quote.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{Json, JsonKind};

/// The depth to which containers are printed again; deeper text is copied, so that depth costs neither stack nor
/// quadratic time. JavaScript gives up at such depths.
const DEPTH: usize = 256;

/// Among so many members a name is searched one after another.
const FEW: usize = 16;

enum StringifyStep<'a> {
    Value(Json<'a>, usize),
    Text(Cow<'a, str>),
}

/// The value as `JSON.stringify(JSON.parse(text))` prints it: without white space, with the shortest numbers, the last
/// of members with the same name, and array indexes first.
pub fn stringify(json: Json<'_>) -> String {
    let mut out = String::with_capacity(json.text().len());
    let mut steps = vec![StringifyStep::Value(json, 0)];
    while let Some(step) = steps.pop() {
        match step {
            StringifyStep::Text(text) => out.push_str(&text),
            StringifyStep::Value(value, depth) => match value.kind() {
                JsonKind::String => string(value.text(), &mut out),
                JsonKind::Number => out.push_str(&number(value)),
                JsonKind::Null | JsonKind::Bool => out.push_str(value.text()),
                JsonKind::Array | JsonKind::Object if depth >= DEPTH => out.push_str(value.text()),
                JsonKind::Array => {
                    let items = value.items().map(|item| (None, item)).collect();
                    open(&mut steps, items, ["[", "]"], depth);
                }
                JsonKind::Object => {
                    let members = js_members(value).into_iter().map(|(name, item)| (Some(name), item)).collect();
                    open(&mut steps, members, ["{", "}"], depth);
                }
            },
        }
    }
    out
}

/// Pushes a container's parts, the first one on top.
fn open<'a>(
    steps: &mut Vec<StringifyStep<'a>>,
    parts: Vec<(Option<Cow<'a, str>>, Json<'a>)>,
    brackets: [&'static str; 2],
    depth: usize,
) {
    let [open, close] = brackets;
    steps.push(StringifyStep::Text(close.into()));
    for (at, (name, value)) in parts.into_iter().enumerate().rev() {
        steps.push(StringifyStep::Value(value, depth + 1));
        let comma = if at > 0 { "," } else { "" };
        match name {
            Some(name) => steps.push(StringifyStep::Text(format!("{comma}{}:", super::quote(&name)).into())),
            None => steps.push(StringifyStep::Text(comma.into())),
        }
    }
    steps.push(StringifyStep::Text(open.into()));
}

/// The members of an object as JavaScript keeps them: each name once with its last value, array indexes first.
pub(crate) fn js_members<'a>(object: Json<'a>) -> Vec<(Cow<'a, str>, Json<'a>)> {
    let mut places = HashMap::new();
    let mut members: Vec<(Cow<'a, str>, Json<'a>)> = Vec::new();
    for (name, value) in object.members() {
        let place = match members.len() {
            ..FEW => members.iter().position(|(known, _)| *known == name),
            count => {
                if places.is_empty() {
                    places.extend(members.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)));
                }
                Some(*places.entry(name.clone()).or_insert(count)).filter(|place| *place < count)
            }
        };
        match place.and_then(|place| members.get_mut(place)) {
            Some(known) => known.1 = value,
            None => members.push((name, value)),
        }
    }
    // The sort is stable: other names stay in order.
    members.sort_by_key(|(name, _)| array_index(name).unwrap_or(u64::MAX));
    members
}

fn array_index(name: &str) -> Option<u64> {
    let index: u64 = name.parse().ok()?;
    (index < u64::from(u32::MAX) && index.to_string() == name).then_some(index)
}

/// Prints a JSON string with only the necessary escapes.
fn string(text: &str, out: &mut String) {
    let Some(mut at) = text.find('\\') else {
        out.push_str(text);
        return;
    };
    let mut rest = text;
    loop {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let length = if rest.starts_with("\\u") { unicode(rest, out) } else { plain_escape(rest, out) };
        rest = rest.get(length..).unwrap_or("");
        match rest.find('\\') {
            Some(next) => at = next,
            None => break out.push_str(rest),
        }
    }
}

/// Of escapes with two characters, only `\/` is unnecessary.
fn plain_escape(text: &str, out: &mut String) -> usize {
    out.push_str(if text.starts_with("\\/") { "/" } else { text.get(..2).unwrap_or("") });
    2
}

/// Decodes `\uXXXX` or a pair of them, unless the character must be escaped.
fn unicode(text: &str, out: &mut String) -> usize {
    let (decoded, length) = super::unescape_unicode(text);
    let digits = text.get(2..6).unwrap_or("");
    let is_lone = decoded == char::REPLACEMENT_CHARACTER && !digits.eq_ignore_ascii_case("fffd");
    if is_lone {
        out.push_str("\\u");
        out.push_str(&digits.to_ascii_lowercase());
    } else {
        let quoted = super::quote(decoded.encode_utf8(&mut [0; 4]));
        out.push_str(quoted.get(1..quoted.len() - 1).unwrap_or(""));
    }
    length
}

/// A number as JavaScript prints it; beyond the range of a double, `null`.
fn number(json: Json<'_>) -> String {
    match json.as_f64() {
        Some(value) if value.is_finite() => js_number(value),
        _ => "null".to_owned(),
    }
}

/// A finite number as JavaScript prints it: the fewest digits, with an exponent from 1e21 and below 1e-6.
pub(crate) fn js_number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if (1e-6..1e21).contains(&size) {
        return value.to_string();
    }
    let text = format!("{value:e}");
    match text.split_once('e') {
        Some((digits, power)) if !power.starts_with('-') => format!("{digits}e+{power}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected texts come from Node.
    #[test]
    fn prints_as_javascript_does() {
        for (text, expected) in [
            (r#"{ "b" : 1.0 , "a" : [ 1e2, -0, 0.10 ] }"#, r#"{"b":1,"a":[100,0,0.1]}"#),
            (r#"{"x":1,"10":2,"9":3,"x":4}"#, r#"{"9":3,"10":2,"x":4}"#),
            (r#""\u00e9\/\u000a\u001F\ud83d\ude00\uD83D""#, r#""é/\n\u001f😀\ud83d""#),
            ("1e21", "1e+21"),
            ("123456789012345680000", "123456789012345680000"),
            ("0.000001", "0.000001"),
            ("0.00000012", "1.2e-7"),
            ("9007199254740993", "9007199254740992"),
            ("1e999", "null"),
            ("{}", "{}"),
            ("[]", "[]"),
            (r#""\ufffd""#, "\"\u{fffd}\""),
        ] {
            assert_eq!(stringify(Json::parse(text).unwrap()), expected, "{text}");
        }
        // Each name twice, before and after there are many.
        for count in [1, 2, FEW - 1, FEW, FEW + 1, 40] {
            let members =
                |value: usize| (0..count).map(|at| format!(r#""m{at}":{value}"#)).collect::<Vec<_>>().join(",");
            let twice = format!("{{{},{}}}", members(1), members(2));
            assert_eq!(stringify(Json::parse(&twice).unwrap()), format!("{{{}}}", members(2)));
        }
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = format!("{}1{}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(stringify(Json::parse(&deep).unwrap()), deep);
    }
}
