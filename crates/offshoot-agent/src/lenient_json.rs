//! Reads JSON that other programs wrote as JavaScript reads it: whatever the session library accepts becomes a value.
//!
//! Foreign text is parsed here and nowhere else: stored entries, providers' events, extensions, clients. What it becomes is for models
//! and screens; who stores foreign JSON keeps its text.

use std::borrow::Cow;

use offshoot_session::json::{completed, strict};
use serde::de::DeserializeOwned;
use serde_json::{Error, Value};

/// Reads JSON, with U+FFFD for half a surrogate pair, `null` for a number beyond a double, the text of a container that is nested too
/// deeply, and the last of members with the same name.
///
/// # Errors
/// The text is not JSON, or another type of value.
pub fn from_str<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    serde_json::from_str(text).or_else(|error| {
        let made = strict(text);
        let again = serde_json::from_str::<Value>(&made).and_then(serde_json::from_value);
        if matches!(made, Cow::Borrowed(_)) { again.map_err(|_| error) } else { again }
    })
}

/// [`from_str`] of bytes; those that are not UTF-8 become U+FFFD.
///
/// # Errors
/// The bytes are not JSON, or another type of value.
pub fn from_slice<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    from_str(&String::from_utf8_lossy(bytes))
}

/// The value that a text begins, such as the arguments of a call while they stream; `None` before it begins. It is for people to see:
/// what a tool runs with is the business of `call_arguments`.
#[must_use]
pub fn unfinished(text: &str) -> Option<Value> {
    from_str(text).ok().or_else(|| from_str(&completed(text)?).ok())
}

/// JSON as text for a strict parser; borrowed if it is already.
///
/// # Errors
/// The text is not JSON.
pub fn strict_text(text: &str) -> Result<Cow<'_, str>, Error> {
    let made = strict(text);
    serde_json::from_str::<serde::de::IgnoredAny>(&made)?;
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_javascript_reads_is_read() {
        for (text, expected) in [
            (r#"{"a":"\ud83d"}"#, json!({"a": "\u{fffd}"})),
            (r#"{"a":1e999,"a":2}"#, json!({"a": 2})),
            (r#"{"a":"\ud83d\ude00"}"#, json!({"a": "😀"})),
        ] {
            assert_eq!(from_str::<Value>(text).unwrap(), expected);
            assert_eq!(from_slice::<Value>(text.as_bytes()).unwrap(), expected);
        }
        assert!(from_str::<Value>(r#"{"a":"\ud83d"#).is_err());
        assert_eq!(from_slice::<Value>(b"\"\xff\"").unwrap(), json!("\u{fffd}"));
        assert_eq!(
            unfinished(r#"{"a":"\ud83d","b":1e999,"c":["d"#),
            Some(json!({"a": "\u{fffd}", "b": null, "c": ["d"]}))
        );
        assert_eq!((unfinished(""), unfinished("{}"), unfinished("[1] x")), (None, Some(json!({})), Some(json!([1]))));
    }
}
