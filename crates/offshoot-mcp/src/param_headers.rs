//! Arguments of calls that a tool's schema wants repeated as headers of HTTP, in the newer era. Sends nothing.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use offshoot_session::text::clean_lines;
use serde_json::Value;

/// The member of a parameter's schema that names its header.
const ANNOTATION: &str = "x-mcp-header";
/// How the header of a parameter begins.
const START: &str = "Mcp-Param-";
/// A longer value is none of a header.
const LONGEST: usize = 8 << 10;

/// A parameter and its header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParamHeader {
    pub(crate) param: String,
    /// Whole, as it is sent.
    pub(crate) header: String,
}

/// The headers that a schema names.
///
/// # Errors
/// A name is none of a header, is there twice, or belongs to a parameter that is no text, whole number or flag, as a clause.
pub(crate) fn designated(schema: &Value) -> Result<Vec<ParamHeader>, String> {
    let mut all: Vec<ParamHeader> = Vec::new();
    for (param, about) in schema["properties"].as_object().into_iter().flatten() {
        let Some(named) = about.get(ANNOTATION) else { continue };
        let shown = clean_lines(param);
        let name = named.as_str().filter(|name| !name.is_empty() && name.bytes().all(is_of_token));
        let name = name.ok_or_else(|| format!("the header of its parameter {shown} has no usable name"))?;
        if !matches!(about["type"].as_str(), Some("string" | "integer" | "boolean")) {
            return Err(format!("its parameter {shown} cannot be a header: it is no text, whole number or flag"));
        }
        let header = format!("{START}{name}");
        if all.iter().any(|other| other.header.eq_ignore_ascii_case(&header)) {
            return Err(format!("two of its parameters have the header {header}"));
        }
        all.push(ParamHeader { param: param.clone(), header });
    }
    Ok(all)
}

/// RFC 9110.
fn is_of_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// An argument as the value of a header; `None`: it is not sent as one.
pub(crate) fn encoded(argument: &Value) -> Option<String> {
    let text = match argument {
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) => return Some(argument.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && text.trim() == text
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    let value = if is_plain { text } else { format!("=?base64?{}?=", STANDARD.encode(text)) };
    (value.len() <= LONGEST).then_some(value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parameters_name_their_headers() {
        let of = |properties: Value| {
            let all = designated(&json!({ "properties": properties }));
            all.map(|all| all.into_iter().map(|one| format!("{}={}", one.param, one.header)).collect::<Vec<_>>())
        };
        let good = json!({"a": {"type": "string", "x-mcp-header": "Region"}, "b": {"type": "object"}});
        assert_eq!(of(good), Ok(vec!["a=Mcp-Param-Region".to_owned()]));
        for (bad, why) in [
            (json!({"a": {"type": "string", "x-mcp-header": ""}}), "no usable name"),
            (json!({"a": {"type": "string", "x-mcp-header": "a b"}}), "no usable name"),
            (json!({"a": {"type": "string", "x-mcp-header": "a:b"}}), "no usable name"),
            (json!({"a": {"type": "string", "x-mcp-header": "é"}}), "no usable name"),
            (json!({"a": {"type": "string", "x-mcp-header": 7}}), "no usable name"),
            (json!({"a": {"type": "number", "x-mcp-header": "A"}}), "cannot be a header"),
            (json!({"a": {"type": "object", "x-mcp-header": "A"}}), "cannot be a header"),
            (
                json!({"a": {"type": "string", "x-mcp-header": "A"}, "b": {"type": "string", "x-mcp-header": "a"}}),
                "two of its parameters",
            ),
        ] {
            assert!(of(bad.clone()).unwrap_err().contains(why), "{bad}");
        }
    }

    #[test]
    fn what_no_header_can_have_is_base64() {
        let of = |argument: Value| encoded(&argument);
        for (argument, value) in [
            (json!("us-west1"), "us-west1"),
            (json!("two words"), "two words"),
            (json!(""), ""),
            (json!(42), "42"),
            (json!(false), "false"),
            (json!("é"), "=?base64?w6k=?="),
            (json!(" a"), "=?base64?IGE=?="),
            (json!("a\r\nb"), "=?base64?YQ0KYg==?="),
            (json!("a\tb"), "=?base64?YQli?="),
            (json!("=?base64?YQ==?="), "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
        ] {
            assert_eq!(of(argument.clone()).as_deref(), Some(value), "{argument}");
        }
        assert_eq!([of(json!(null)), of(json!([1])), of(json!("x".repeat(9000)))], [None, None, None]);
    }
}
