//! The form that an agent's last answer must have: a JSON schema of the keywords below, and whether a text fits it. Asks nobody.
//!
//! A schema with a keyword that is not checked here is refused before anything runs: an answer that "fits" would say more than was
//! looked at.

use offshoot_session::text::one_line;
use serde_json::{Map, Value};

/// A larger schema is refused: it is in each request of the agent.
const LARGEST: usize = 16 << 10;
/// Schemas and values are looked at no deeper.
const DEEPEST: usize = 64;
/// Bytes of an error in words.
const LONGEST_ERROR: usize = 300;

/// Keywords that are checked.
const CHECKED: [&str; 20] = [
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minProperties",
];
/// The types of values.
const KINDS: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];
/// Keywords that say nothing about a value.
const SAID: [&str; 9] =
    ["title", "description", "default", "examples", "$schema", "$id", "$comment", "deprecated", "format"];

/// A schema that can be checked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OutputSchema(Value);

impl OutputSchema {
    /// Fails with words for the model that wrote it.
    pub(crate) fn new(schema: Value) -> Result<Self, String> {
        let size = schema.to_string().len();
        if size > LARGEST {
            return Err(format!("outputSchema has {size} bytes, and {LARGEST} are the most"));
        }
        known(&schema, 0)?;
        Ok(Self(schema))
    }

    /// The schema as JSON.
    pub(crate) fn text(&self) -> String {
        self.0.to_string()
    }

    /// For the agent's system prompt.
    pub(crate) fn order(&self) -> String {
        format!(
            "# Your last message\n\nWhen your work is done, your last message must be one JSON value that fits this JSON schema, \
             without any other words:\n\n{}",
            self.0
        )
    }

    /// The JSON text of an answer that fits, or why it does not.
    pub(crate) fn fitting(&self, answer: &str) -> Result<String, String> {
        let text = unfenced(answer.trim());
        let value: Value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
        check(&self.0, &value, &mut Vec::new()).map_err(|why| one_line(&why, LONGEST_ERROR))?;
        Ok(text.to_owned())
    }
}

/// The text in a block of code that is all there is.
fn unfenced(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let inner = inner.and_then(|inner| inner.split_once('\n')).map(|(_, inner)| inner.trim());
    inner.filter(|inner| !inner.contains("```")).unwrap_or(text)
}

/// Whether all of a schema is checked.
fn known(schema: &Value, depth: usize) -> Result<(), String> {
    if depth > DEEPEST {
        return Err(format!("outputSchema is deeper than {DEEPEST}"));
    }
    let members = match schema {
        Value::Bool(_) => return Ok(()),
        Value::Object(members) => members,
        _ => return Err("outputSchema is no JSON schema: an object is".to_owned()),
    };
    for (keyword, value) in members {
        if !CHECKED.contains(&keyword.as_str()) && !SAID.contains(&keyword.as_str()) {
            let known = CHECKED.join(", ");
            return Err(format!(
                "outputSchema has {:?}, which is not checked here; these are: {known}",
                one_line(keyword, 40)
            ));
        }
        has_form(keyword, value)?;
        match (keyword.as_str(), value) {
            ("properties", Value::Object(of)) => of.values().try_for_each(|schema| known(schema, depth + 1))?,
            ("anyOf" | "oneOf" | "allOf", Value::Array(all)) => {
                all.iter().try_for_each(|schema| known(schema, depth + 1))?;
            }
            ("additionalProperties" | "items" | "not", schema) => known(schema, depth + 1)?,
            _ => {}
        }
    }
    Ok(())
}

/// Whether the value of a keyword is one that is looked at: a bound that is a text would hold nothing back.
fn has_form(keyword: &str, value: &Value) -> Result<(), String> {
    let are_texts = |value: &Value| value.as_array().is_some_and(|all| all.iter().all(Value::is_string));
    let is_type = |value: &Value| value.as_str().is_some_and(|kind| KINDS.contains(&kind));
    let fits = match keyword {
        "type" => is_type(value) || value.as_array().is_some_and(|all| all.iter().all(is_type)),
        "required" => are_texts(value),
        "properties" => value.is_object(),
        "enum" | "anyOf" | "oneOf" | "allOf" => value.is_array(),
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => value.is_number(),
        "minItems" | "maxItems" | "minLength" | "maxLength" | "minProperties" => value.is_u64(),
        _ => true,
    };
    if fits { Ok(()) } else { Err(format!("outputSchema: {keyword} has another form")) }
}

/// The place of a value, for people.
fn place(path: &[String]) -> String {
    if path.is_empty() { "the value".to_owned() } else { path.join("") }
}

fn check(schema: &Value, value: &Value, path: &mut Vec<String>) -> Result<(), String> {
    let members = match schema {
        Value::Bool(true) => return Ok(()),
        Value::Object(members) => members,
        _ => return Err(format!("{} is not allowed", place(path))),
    };
    if let Some(kinds) = members.get("type") {
        let is_of = |kind: &Value| kind.as_str().is_some_and(|kind| is_kind(value, kind));
        let fits = kinds.as_array().map_or_else(|| is_of(kinds), |kinds| kinds.iter().any(is_of));
        if !fits {
            return Err(format!("{} is {}, not {kinds}", place(path), kind_of(value)));
        }
    }
    if let Some(all) = members.get("enum").and_then(Value::as_array)
        && !all.iter().any(|one| same(one, value))
    {
        return Err(format!("{} is none of {}", place(path), Value::from(all.clone())));
    }
    if let Some(only) = members.get("const").filter(|only| !same(only, value)) {
        return Err(format!("{} is not {only}", place(path)));
    }
    combined(members, value, path)?;
    match value {
        Value::Object(object) => object_fits(members, object, path),
        Value::Array(items) => {
            bounds(members, ("minItems", "maxItems", "items"), items.len(), path)?;
            let Some(schema) = members.get("items") else { return Ok(()) };
            items.iter().enumerate().try_for_each(|(at, item)| below(schema, item, format!("[{at}]"), path))
        }
        Value::String(text) => bounds(members, ("minLength", "maxLength", "characters"), text.chars().count(), path),
        Value::Number(number) => number_fits(members, number.as_f64().unwrap_or(f64::NAN), path),
        Value::Null | Value::Bool(_) => Ok(()),
    }
}

fn below(schema: &Value, value: &Value, name: String, path: &mut Vec<String>) -> Result<(), String> {
    path.push(name);
    let checked = check(schema, value, path);
    path.pop();
    checked
}

fn combined(members: &Map<String, Value>, value: &Value, path: &mut Vec<String>) -> Result<(), String> {
    let of = |name: &str| members.get(name).and_then(Value::as_array);
    for schema in of("allOf").into_iter().flatten() {
        check(schema, value, path)?;
    }
    if let Some(any) = of("anyOf")
        && !any.iter().any(|schema| check(schema, value, path).is_ok())
    {
        return Err(format!("{} fits none of anyOf", place(path)));
    }
    if let Some(one) = of("oneOf") {
        let count = one.iter().filter(|schema| check(schema, value, path).is_ok()).count();
        if count != 1 {
            return Err(format!("{} fits {count} of oneOf, not one", place(path)));
        }
    }
    match members.get("not").is_some_and(|not| check(not, value, path).is_ok()) {
        true => Err(format!("{} fits what it must not", place(path))),
        false => Ok(()),
    }
}

fn object_fits(
    members: &Map<String, Value>,
    object: &Map<String, Value>,
    path: &mut Vec<String>,
) -> Result<(), String> {
    let required = members.get("required").and_then(Value::as_array).into_iter().flatten();
    if let Some(missing) = required.filter_map(Value::as_str).find(|name| !object.contains_key(*name)) {
        return Err(format!("{} lacks {missing:?}", place(path)));
    }
    bounds(members, ("minProperties", "", "members"), object.len(), path)?;
    let own = members.get("properties").and_then(Value::as_object);
    for (name, value) in object {
        let step = format!(".{}", one_line(name, 40));
        match (own.and_then(|own| own.get(name)), members.get("additionalProperties")) {
            (Some(schema), _) => below(schema, value, step, path)?,
            (None, Some(Value::Bool(false))) => {
                return Err(format!("{} has {:?}, which is not in the schema", place(path), one_line(name, 40)));
            }
            (None, Some(schema)) => below(schema, value, step, path)?,
            (None, None) => {}
        }
    }
    Ok(())
}

fn bounds(
    members: &Map<String, Value>,
    (least, most, what): (&str, &str, &str),
    count: usize,
    path: &[String],
) -> Result<(), String> {
    let of = |name: &str| members.get(name).and_then(Value::as_f64);
    let number = count as f64;
    match (of(least), of(most)) {
        (Some(least), _) if number < least => Err(format!("{} has {count} of at least {least} {what}", place(path))),
        (_, Some(most)) if number > most => Err(format!("{} has {count} of at most {most} {what}", place(path))),
        _ => Ok(()),
    }
}

fn number_fits(members: &Map<String, Value>, number: f64, path: &[String]) -> Result<(), String> {
    let of = |name: &str| members.get(name).and_then(Value::as_f64);
    let is_low = of("minimum").is_some_and(|least| number < least)
        || of("exclusiveMinimum").is_some_and(|above| number <= above);
    let is_high =
        of("maximum").is_some_and(|most| number > most) || of("exclusiveMaximum").is_some_and(|below| number >= below);
    match (is_low, is_high) {
        (true, _) => Err(format!("{} is too small: {number}", place(path))),
        (_, true) => Err(format!("{} is too large: {number}", place(path))),
        _ => Ok(()),
    }
}

fn is_kind(value: &Value, kind: &str) -> bool {
    match kind {
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        other => kind_of(value) == other,
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// 1 and 1.0 are one number.
fn same(one: &Value, other: &Value) -> bool {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_fit_or_say_where_they_do_not() {
        let schema =
            OutputSchema::new(json!({"type": "object", "required": ["files", "risk"], "additionalProperties": false,
            "properties": {"risk": {"enum": ["low", "high"]}, "score": {"type": ["integer", "null"], "minimum": 1},
                "files": {"type": "array", "maxItems": 2, "items": {"type": "string", "minLength": 2}},
                "how": {"oneOf": [{"const": 1}, {"type": "string", "not": {"const": "x"}}]}}}));
        let schema = schema.unwrap();
        let fits = r#"{"files": ["ab"], "risk": "low", "score": 2.0, "how": "y"}"#;
        assert_eq!(schema.fitting(fits), Ok(fits.to_owned()));
        assert_eq!(schema.fitting(&format!("\n```json\n{fits}\n```\n")), Ok(fits.to_owned()));
        for (answer, why) in [
            ("Done.", "it is not JSON: expected value at line 1 column 1"),
            ("[]", r#"the value is array, not "object""#),
            (r#"{"files": []}"#, r#"the value lacks "risk""#),
            (r#"{"files": ["ab", 3], "risk": "low"}"#, r#".files[1] is number, not "string""#),
            (r#"{"files": ["a"], "risk": "low"}"#, ".files[0] has 1 of at least 2 characters"),
            (r#"{"files": ["aa", "bb", "cc"], "risk": "low"}"#, ".files has 3 of at most 2 items"),
            (r#"{"files": [], "risk": "odd"}"#, r#".risk is none of ["low","high"]"#),
            (r#"{"files": [], "risk": "low", "score": 0}"#, ".score is too small: 0"),
            (r#"{"files": [], "risk": "low", "more": 1}"#, r#"the value has "more", which is not in the schema"#),
            (r#"{"files": [], "risk": "low", "how": "x"}"#, ".how fits 0 of oneOf, not one"),
        ] {
            assert_eq!(schema.fitting(answer), Err(why.to_owned()), "{answer}");
        }
    }

    #[test]
    fn a_schema_that_cannot_be_checked_is_refused() {
        let refused = |schema: Value| OutputSchema::new(schema).unwrap_err();
        assert!(refused(json!({"$ref": "#/x"})).contains("which is not checked here"));
        assert!(refused(json!({"properties": {"a": {"pattern": "x"}}})).contains("\"pattern\""));
        assert!(refused(json!([])).contains("no JSON schema"));
        // What is not looked at would fit everything.
        for odd in [
            json!({"type": 5}),
            json!({"type": ["string", "text"]}),
            json!({"required": "a"}),
            json!({"required": [1]}),
            json!({"properties": []}),
            json!({"enum": "a"}),
            json!({"anyOf": {}}),
            json!({"minimum": "1"}),
            json!({"minItems": -1}),
            json!({"items": {"maxLength": 1.5}}),
        ] {
            assert!(refused(odd.clone()).contains("has another form"), "{odd}");
        }
        assert!(refused(json!({"description": "x".repeat(20_000)})).contains("are the most"));
        let mut deep = json!({});
        for _ in 0..100 {
            deep = json!({"items": deep});
        }
        assert!(refused(deep).contains("deeper"));
    }
}
