//! A tool as a server declares it, made fit for models: a name, words without escapes, and a schema of an object.

use offshoot_agent::provider::ToolSpec;
use offshoot_session::text::{clean_lines, cut};
use serde_json::{Value, json};

use crate::param_headers::designated;

/// A larger schema is left out, with its tool.
const LARGEST_SCHEMA: usize = 64 << 10;
const LONGEST_DESCRIPTION: usize = 8 << 10;
const LONGEST_NAME: usize = 512;

/// A tool of a server.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct ToolDefinition {
    /// The server's own name of it.
    pub name: String,
    pub description: String,
    pub parameters: Value,
    /// Whether the server says that it only reads.
    pub claims_to_read: bool,
}

impl ToolDefinition {
    /// Reads a declaration.
    ///
    /// # Errors
    /// Why the tool cannot be declared, as a clause.
    pub fn of(server: &str, value: &Value) -> Result<Self, String> {
        let name = value["name"].as_str().filter(|name| !name.is_empty() && name.len() <= LONGEST_NAME);
        let name = name.ok_or("a tool has no usable name")?;
        let shown = clean_lines(name);
        let schema = match value.get("inputSchema") {
            None | Some(Value::Null) => json!({}),
            Some(schema @ Value::Object(_)) => schema.clone(),
            Some(_) => return Err(format!("the schema of {shown} is not an object")),
        };
        let text = |value: &Value| value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        let title = || text(&value["title"]).or_else(|| text(&value["annotations"]["title"]));
        let described = text(&value["description"]).or_else(title);
        let described = described.unwrap_or_else(|| format!("MCP tool {name} from server {server}"));
        let parameters = object_schema(schema);
        if parameters.to_string().len() > LARGEST_SCHEMA {
            return Err(format!("the schema of {shown} has more than {} KiB", LARGEST_SCHEMA >> 10));
        }
        designated(&parameters).map_err(|why| format!("{shown} is not used: {why}"))?;
        Ok(Self {
            name: name.to_owned(),
            description: shortened(&described),
            parameters,
            claims_to_read: value["annotations"]["readOnlyHint"] == true,
        })
    }

    /// As models get it.
    pub(crate) fn spec(&self, name: &str) -> ToolSpec {
        let Self { description, parameters, .. } = self.clone();
        ToolSpec { name: name.to_owned(), description, parameters }
    }

    /// As the cache keeps it: a declaration again.
    pub(crate) fn to_json(&self) -> Value {
        let annotations = json!({"readOnlyHint": self.claims_to_read});
        json!({"name": self.name, "description": self.description, "inputSchema": self.parameters, "annotations": annotations})
    }

    /// The bytes of its declaration in requests.
    pub(crate) fn weight(&self) -> usize {
        self.name.len() + self.description.len() + self.parameters.to_string().len()
    }
}

/// pi adds the same two members, and changes nothing else.
fn object_schema(mut schema: Value) -> Value {
    if let Some(members) = schema.as_object_mut() {
        members.entry("type").or_insert_with(|| json!("object"));
        members.entry("properties").or_insert_with(|| json!({}));
    }
    schema
}

fn shortened(text: &str) -> String {
    let text = clean_lines(text);
    match text.len() <= LONGEST_DESCRIPTION {
        true => text.into_owned(),
        false => format!("{}…", cut(&text, LONGEST_DESCRIPTION)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_that_of_an_object_and_otherwise_as_it_is() {
        let of = |schema: Value| {
            ToolDefinition::of("s", &json!({"name": "t", "inputSchema": schema})).map(|tool| tool.parameters)
        };
        assert_eq!(of(json!({})), Ok(json!({"type": "object", "properties": {}})));
        let whole =
            json!({"$schema": "x", "type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "required": ["a"]});
        assert_eq!(of(whole.clone()), Ok(whole));
        assert_eq!(of(json!("x")), Err("the schema of t is not an object".to_owned()));
        let large = json!({"description": "x".repeat(LARGEST_SCHEMA)});
        assert_eq!(of(large), Err("the schema of t has more than 64 KiB".to_owned()));
    }

    #[test]
    fn a_description_is_trimmed_cut_and_without_escapes() {
        let of = |value: Value| ToolDefinition::of("s", &value).unwrap().description;
        assert_eq!(of(json!({"name": "t", "description": "  does it\n"})), "does it");
        assert_eq!(of(json!({"name": "t", "description": " ", "title": "The tool"})), "The tool");
        assert_eq!(of(json!({"name": "t", "annotations": {"title": "Noted"}})), "Noted");
        assert_eq!(of(json!({"name": "t"})), "MCP tool t from server s");
        assert!(!of(json!({"name": "t", "description": "a\u{1b}[31mb\u{202e}"})).contains(['\u{1b}', '\u{202e}']));
        assert!(of(json!({"name": "t", "description": "é".repeat(20_000)})).len() <= 2 * LONGEST_DESCRIPTION + 4);
        for nameless in [json!({}), json!({"name": ""}), json!({"name": 7}), json!({"name": "x".repeat(600)})] {
            assert!(ToolDefinition::of("s", &nameless).is_err(), "{nameless}");
        }
    }
}
