//! What readers of messages share: content blocks, values as text, line ranges, errors.

use std::borrow::Cow;

use crate::entry::{ContentBlock, Entry};
use crate::json::{Json, JsonKind};

fn blocks<'a>(content: Json<'a>, kind: &'static str) -> impl Iterator<Item = Json<'a>> + use<'a> {
    content.items().filter(move |block| block.str("type").is_some_and(|own| own == kind))
}

/// The tool calls of a message.
pub fn call_blocks(message: Json<'_>) -> impl Iterator<Item = Json<'_>> {
    message.get("content").into_iter().flat_map(|content| blocks(content, "toolCall"))
}

/// [`call_blocks`] of an entry's message.
pub fn calls(entry: &Entry) -> impl Iterator<Item = ContentBlock<'_>> {
    entry.blocks().filter(|block| block.is("toolCall"))
}

/// A string's content, or another value's JSON; `None` for `null`.
pub fn value_text(value: Json<'_>) -> Option<String> {
    match value.kind() {
        JsonKind::Null => None,
        JsonKind::String => value.as_str().map(Cow::into_owned),
        _ => Some(value.text().to_owned()),
    }
}

/// The suffix `:from-to` for a partial read with these arguments.
pub fn line_range(offset: Option<&str>, limit: Option<&str>) -> String {
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<u64>().ok());
    match (number(offset), number(limit)) {
        (None, None) => String::new(),
        (from, None) => format!(":{}", from.unwrap_or(1)),
        (from, Some(limit)) => {
            let from = from.unwrap_or(1);
            format!(":{from}-{}", from.saturating_add(limit).saturating_sub(1))
        }
    }
}

/// An error for people: the message in a provider's JSON, if there is one.
pub fn error_words(error: &str) -> Cow<'_, str> {
    let told = |at: usize| {
        let (before, body) = error.split_at_checked(at)?;
        let json = Json::parse(body.trim_end()).ok()?;
        let inner = json.get("error").unwrap_or(json);
        let message = inner.str("message").or_else(|| inner.as_str())?;
        let before = before.trim_end();
        Some(if before.is_empty() { message.into_owned() } else { format!("{before} {message}") })
    };
    error.find('{').and_then(told).map_or(Cow::Borrowed(error), Cow::Owned)
}

pub(crate) fn context_edit(entry: &Entry) -> &'static str {
    if entry.get("replacement").is_some_and(Json::is_null) { "omit" } else { "replace" }
}
