//! What readers of messages share: content blocks, values as text, line ranges.

use crate::entry::Entry;
use crate::json::{Json, JsonKind};

pub(crate) fn blocks<'a>(content: Json<'a>, kind: &'static str) -> impl Iterator<Item = Json<'a>> + use<'a> {
    content.items().filter(move |block| block.str("type").is_some_and(|own| own == kind))
}

/// The tool calls of a message.
pub fn call_blocks(message: Json<'_>) -> impl Iterator<Item = Json<'_>> {
    message.get("content").into_iter().flat_map(|content| blocks(content, "toolCall"))
}

/// A string's content, or another value's JSON; `None` for `null`.
pub fn value_text(value: Json<'_>) -> Option<String> {
    match value.kind() {
        JsonKind::Null => None,
        JsonKind::String => value.as_str().map(std::borrow::Cow::into_owned),
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

pub(crate) fn context_edit(entry: &Entry) -> &'static str {
    if entry.get("replacement").is_some_and(Json::is_null) { "omit" } else { "replace" }
}
