//! Arguments of tools: JSON schemas from the doc comments of structs, and parsing.
//!
//! Schemas contain only what every provider accepts: no references, no formats, no `null` for optional fields.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Deserialize as _;
use serde::de::{DeserializeOwned, Deserializer, Error as _};
use serde_json::{Map, Value};

use super::ToolOutcome;
use crate::provider::ToolSpec;

/// A tool's description: the doc comment of its arguments, and those of their fields.
pub(crate) fn spec<T: JsonSchema>(name: &str) -> ToolSpec {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut parameters = settings.into_generator().into_root_schema_for::<T>().to_value();
    simplify(&mut parameters);
    // Providers want the member also where there is no argument.
    parameters.as_object_mut().map(|schema| schema.entry("properties").or_insert_with(|| Value::Object(Map::new())));
    let description = parameters.as_object_mut().and_then(|schema| schema.remove("description"));
    let description = description.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
    ToolSpec { name: name.to_owned(), description, parameters }
}

fn simplify(schema: &mut Value) {
    let Value::Object(object) = schema else { return };
    for key in ["title", "format", "default", "minimum", "$schema"] {
        object.remove(key);
    }
    if let Some(Value::Array(types)) = object.get("type") {
        let plain = types.iter().find(|name| *name != "null").cloned();
        object.extend(plain.map(|plain| ("type".to_owned(), plain)));
    }
    if let Some(Value::String(text)) = object.get_mut("description") {
        *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    if let Some(items) = object.get_mut("items") {
        simplify(items);
    }
    let fields = object.get_mut("properties").and_then(Value::as_object_mut);
    fields.into_iter().flat_map(Map::values_mut).for_each(simplify);
}

pub(crate) fn parse<T: DeserializeOwned>(name: &str, arguments: Value) -> Result<T, ToolOutcome> {
    serde_json::from_value(arguments)
        .map_err(|error| ToolOutcome::failed(format!("the arguments of {name} do not fit its schema: {error}")))
}

/// A whole number, also if the model wrote `3.0` or `"3"`.
pub(crate) fn whole<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    let value = Value::deserialize(from)?;
    let number = match &value {
        Value::Null => return Ok(None),
        Value::String(text) => text.trim().parse().ok(),
        Value::Number(number) => number.as_u64().or_else(|| {
            let number = number.as_f64().filter(|n| n.fract() == 0.0 && (0.0..9e15).contains(n))?;
            format!("{number:.0}").parse().ok()
        }),
        _ => None,
    };
    number.map(Some).ok_or_else(|| D::Error::custom(format!("{value} is not a whole number")))
}

/// A number, also if the model wrote `"1.5"`.
pub(crate) fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    let value = Value::deserialize(from)?;
    let number = match &value {
        Value::Null => return Ok(None),
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    };
    number.map(Some).ok_or_else(|| D::Error::custom(format!("{value} is not a number")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    /// Does a thing.
    /// Twice.
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Input {
        /// Which
        /// one.
        name: String,
        /// How often.
        #[serde(default, deserialize_with = "whole")]
        count: Option<u64>,
        /// Parts.
        #[serde(default)]
        parts: Vec<Part>,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    struct Part {
        /// Its text.
        text: Option<String>,
    }

    #[test]
    fn doc_comments_become_a_schema_that_every_provider_takes() {
        let spec = spec::<Input>("thing");
        assert_eq!((spec.name.as_str(), spec.description.as_str()), ("thing", "Does a thing. Twice."));
        let part = json!({"type": "object", "properties": {"text": {"description": "Its text.", "type": "string"}}});
        let expected = json!({
            "type": "object",
            "properties": {
                "name": {"description": "Which one.", "type": "string"},
                "count": {"description": "How often.", "type": "integer"},
                "parts": {"description": "Parts.", "type": "array", "items": part},
            },
            "required": ["name"],
        });
        assert_eq!(spec.parameters, expected);
    }

    #[test]
    fn numbers_are_taken_as_models_write_them() {
        let count = |value: Value| parse::<Input>("t", json!({"name": "a", "count": value})).map(|input| input.count);
        for value in [json!(3), json!(3.0), json!("3")] {
            assert_eq!(count(value).unwrap(), Some(3));
        }
        assert_eq!(count(Value::Null).unwrap(), None);
        for value in [json!(-1), json!(1.5), json!("x"), json!([])] {
            let failed = count(value).unwrap_err();
            assert!(failed.is_error, "{failed:?}");
        }
        let failed = parse::<Input>("thing", json!({})).unwrap_err();
        assert!(format!("{failed:?}").contains("missing field `name`"));
        let input = parse::<Input>("thing", json!({"name": "x", "parts": [{"text": "y"}], "more": 1})).unwrap();
        assert_eq!((input.name.as_str(), input.parts[0].text.as_deref()), ("x", Some("y")));
    }
}
