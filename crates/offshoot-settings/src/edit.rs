//! Changes one setting in a file's text and keeps every other byte. Reads no file.

use std::ops::Range;

use offshoot_session::json::{Json, JsonKind, quote};

use crate::comments::blanked;
use crate::layer::{UnreadableSettings, object};
use crate::value::Value;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error(transparent)]
    UnreadableSettings(#[from] UnreadableSettings),
    #[error("{0} is not an object")]
    NoObject(String),
}

/// Sets a setting in a file's text, or removes it if `value` is `None`.
///
/// # Errors
/// The text is not a JSON object, or a parent of the setting is not an object.
pub fn edit(text: &str, key: &str, value: Option<&Value>) -> Result<String, EditError> {
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parts: Vec<&str> = key.split('.').collect();
    let plain = blanked(bare);
    let Some(mut json) = object(bare, &plain)? else {
        let new = |value| format!("{text}{{\n  {}\n}}\n", nested(&parts, value, 1));
        return Ok(value.map_or_else(|| text.to_owned(), new));
    };
    let mut rest = parts.as_slice();
    while let [name, inner @ ..] = rest {
        let Some(member) = ObjectMember::find(&plain, json, name) else {
            return Ok(value.map_or_else(
                || text.to_owned(),
                |value| {
                    let depth = parts.len() - rest.len() + 1;
                    inserted(bare, &plain, json, &nested(rest, value, depth), depth)
                },
            ));
        };
        if inner.is_empty() {
            return Ok(match value {
                Some(value) => spliced(bare, member.value, &value.json()),
                None => removed(bare, &plain, &member),
            });
        }
        if member.json.kind() != JsonKind::Object {
            return Err(EditError::NoObject((*name).to_owned()));
        }
        (json, rest) = (member.json, inner);
    }
    Ok(text.to_owned())
}

struct ObjectMember<'a> {
    json: Json<'a>,
    value: Range<usize>,
    start: usize,
    /// Where the preceding value ends.
    before: Option<usize>,
    is_last: bool,
}

impl<'a> ObjectMember<'a> {
    /// Finds a member by name; if the name is repeated, the last one.
    fn find(text: &'a str, object: Json<'a>, name: &str) -> Option<Self> {
        let inside = span(text, object);
        let members: Vec<_> = object.members().map(|(name, value)| (name, value, span(text, value))).collect();
        let at = members.iter().rposition(|(known, _, _)| known == name)?;
        let (_, json, value) = members.get(at)?;
        let before = at.checked_sub(1).and_then(|before| members.get(before)).map(|(_, _, span)| span.end);
        let start = name_after(text, before.unwrap_or(inside.start + 1));
        Some(Self { json: *json, value: value.clone(), start, before, is_last: at + 1 == members.len() })
    }
}

fn name_after(text: &str, from: usize) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from + rest.find('"').unwrap_or(0)
}

fn span(text: &str, json: Json<'_>) -> Range<usize> {
    let start = (json.text().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + json.text().len()
}

fn spliced(text: &str, range: Range<usize>, new: &str) -> String {
    let before = text.get(..range.start).unwrap_or_default();
    let after = text.get(range.end..).unwrap_or_default();
    format!("{before}{new}{after}")
}

/// Removes a member, its comma and the white space around it; comments stay.
fn removed(text: &str, plain: &str, member: &ObjectMember<'_>) -> String {
    let comma = |from: usize| plain.get(from..).and_then(|rest| rest.find(',')).map(|at| from + at);
    let blanks = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        rest.len() - rest.trim_start().len()
    };
    if !member.is_last {
        let end = comma(member.value.end).map_or(member.value.end, |comma| comma + 1);
        return spliced(text, member.start..end + blanks(end), "");
    }
    let ahead = text.get(..member.start).unwrap_or_default().trim_end();
    // The line feed after a comment belongs to the comment.
    let is_comment = plain.get(..ahead.len()).is_some_and(|plain| plain.ends_with([' ', '\n']));
    let start = if is_comment { member.start } else { ahead.len() };
    match member.before.and_then(comma) {
        Some(comma) if comma + 1 < start => spliced(&spliced(text, start..member.value.end, ""), comma..comma + 1, ""),
        Some(comma) => spliced(text, comma..member.value.end, ""),
        None if is_comment => spliced(text, start..member.value.end, ""),
        None => spliced(text, start..member.value.end + blanks(member.value.end), ""),
    }
}

/// The end of a line comment that follows `from` on the same line, else `from`. A new member goes after such a comment.
fn line_comment(text: &str, from: usize) -> usize {
    let line = text.get(from..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    if line.trim_start().starts_with("//") { from + line.trim_end().len() } else { from }
}

/// Adds a member after the last one, in the object's layout.
fn inserted(text: &str, plain: &str, object: Json<'_>, member: &str, depth: usize) -> String {
    let whole = span(plain, object);
    let last = object.members().last().map(|(_, value)| span(plain, value).end);
    match last {
        Some(end) if object.text().contains('\n') => {
            let behind = line_comment(text, end);
            let text = spliced(text, behind..behind, &format!("\n{}{member}", "  ".repeat(depth)));
            spliced(&text, end..end, ",")
        }
        Some(end) => spliced(text, end..end, &format!(", {member}")),
        None => {
            let (inner, outer) = ("  ".repeat(depth), "  ".repeat(depth - 1));
            let inside = text.get(whole.start + 1..whole.end.saturating_sub(1)).unwrap_or_default();
            let start = whole.start + 1 + inside.trim_end().len();
            spliced(text, start..whole.end, &format!("\n{inner}{member}\n{outer}}}"))
        }
    }
}

/// Renders `"a": {"b": value}`, indented for `depth`.
fn nested(parts: &[&str], value: &Value, depth: usize) -> String {
    match parts {
        [] => String::new(),
        [name] => format!("{}: {}", quote(name), value.json()),
        [name, rest @ ..] => {
            let (inner, outer) = ("  ".repeat(depth + 1), "  ".repeat(depth));
            format!("{}: {{\n{inner}{}\n{outer}}}", quote(name), nested(rest, value, depth + 1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str, key: &str, value: &str) -> String {
        edit(text, key, Some(&Value::Text(value.to_owned()))).unwrap_or_else(|error| error.to_string())
    }

    fn unset(text: &str, key: &str) -> String {
        edit(text, key, None).unwrap_or_else(|error| error.to_string())
    }

    #[test]
    fn only_the_value_changes() {
        let text = "{\n\t\"unknown\" : 1.0e2 ,\n\t\"theme\":\"dark\",  \"z\": [1,\n2] }\n";
        assert_eq!(set(text, "theme", "light"), text.replace("\"dark\"", "\"light\""));
        assert_eq!(unset(text, "theme"), "{\n\t\"unknown\" : 1.0e2 ,\n\t\"z\": [1,\n2] }\n");
    }

    #[test]
    fn a_new_member_comes_last() {
        assert_eq!(set("", "theme", "x"), "{\n  \"theme\": \"x\"\n}\n");
        assert_eq!(set("{}", "theme", "x"), "{\n  \"theme\": \"x\"\n}");
        assert_eq!(set("{\"a\":1}\n", "theme", "x"), "{\"a\":1, \"theme\": \"x\"}\n");
        assert_eq!(set("{\n  \"a\": 1\n}\n", "theme", "x"), "{\n  \"a\": 1,\n  \"theme\": \"x\"\n}\n");
        assert_eq!(set("", "a.b", "x"), "{\n  \"a\": {\n    \"b\": \"x\"\n  }\n}\n");
        assert_eq!(set("{\"a\":{}}", "a.b", "x"), "{\"a\":{\n    \"b\": \"x\"\n  }}");
        assert_eq!(set("{\"a\":{\"c\":1}}", "a.b", "x"), "{\"a\":{\"c\":1, \"b\": \"x\"}}");
    }

    #[test]
    fn a_removed_member_takes_its_comma_along() {
        assert_eq!(unset("{\"a\":1,\"b\":2}", "a"), "{\"b\":2}");
        assert_eq!(unset("{\"a\":1, \"b\":2}", "b"), "{\"a\":1}");
        assert_eq!(unset("{ \"a\":1 }", "a"), "{}");
        assert_eq!(unset("{\"a\":{\"b\":1},\"c\":2}", "a.b"), "{\"a\":{},\"c\":2}");
        assert_eq!(unset("{\"a\":1}", "b"), "{\"a\":1}");
        assert_eq!(unset("", "b"), "");
    }

    #[test]
    fn comments_stay() {
        let text = "// mine\n{\n  // \"theme\"\n  \"theme\": \"dark\", // é\n  \"b\": 1 // one\n  /* end */\n}\n";
        assert_eq!(set(text, "theme", "light"), text.replace("\"dark\"", "\"light\""));
        assert_eq!(set(text, "c", "x"), text.replace("1 // one\n", "1, // one\n  \"c\": \"x\"\n"));
        assert_eq!(unset(text, "theme"), text.replace("\"theme\": \"dark\", // é", "// é"));
        assert_eq!(unset(text, "b"), text.replace("\"dark\", // é\n  \"b\": 1 // one", "\"dark\" // é\n   // one"));
        assert_eq!(unset("{ // a\n \"b\": 1 }", "b"), "{ // a\n  }");
        assert_eq!(set("// none\n", "c", "x"), "// none\n{\n  \"c\": \"x\"\n}\n");
        assert_eq!(set("{ /* a */ }", "c", "x"), "{ /* a */\n  \"c\": \"x\"\n}");
    }

    #[test]
    fn a_value_that_is_not_an_object_is_left_alone() {
        assert_eq!(set("{\"a\":1}", "a.b", "x"), "a is not an object");
        assert_eq!(set("{\"a\":", "a", "x"), "1:6: expected a value for JSON");
    }

    fn json() -> impl proptest::strategy::Strategy<Value = serde_json::Value> {
        use proptest::prelude::*;
        let leaf =
            prop_oneof![any::<bool>().prop_map(Into::into), "[a-z\"\\\\{}]{0,4}".prop_map(Into::into), Just(1.into())];
        let object = |inner| proptest::collection::vec(("[abc]|\\PC\"", inner), 0..4);
        leaf.prop_recursive(3, 12, 4, move |inner| {
            object(inner).prop_map(|members| serde_json::Value::Object(members.into_iter().collect()))
        })
    }

    proptest::proptest! {
        /// Parsing the edited text gives the old value with only this member changed.
        #[test]
        fn nothing_else_changes(old in json(), key in "[abc]|[ab]\\.[ab]", removes in proptest::bool::ANY, compact in proptest::bool::ANY) {
            let text = if compact { old.to_string() } else { serde_json::to_string_pretty(&old).unwrap() };
            let value = Value::Number(7);
            let Ok(new) = edit(&text, &key, (!removes).then_some(&value)) else { return Ok(()) };
            let new: serde_json::Value = serde_json::from_str(&new).unwrap();
            let mut expected = old;
            let object = match key.split_once('.') {
                None => Some(&mut expected),
                Some((outer, _)) if removes => expected.get_mut(outer),
                Some((outer, _)) => {
                    let members = expected.as_object_mut().unwrap();
                    Some(members.entry(outer).or_insert_with(|| serde_json::json!({})))
                }
            };
            let last = key.rsplit('.').next().unwrap();
            match object.and_then(serde_json::Value::as_object_mut) {
                Some(object) if removes => drop(object.shift_remove(last)),
                Some(object) => drop(object.insert(last.to_owned(), 7.into())),
                None => {}
            }
            proptest::prop_assert_eq!(new.to_string(), expected.to_string());
        }
    }
}
