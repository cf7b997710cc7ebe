//! The line of a copy: the source's bytes, with the origin added and usage set to nothing.

use std::collections::HashMap;

use crate::blobs::{self, ReadBlob};
use crate::compose::with_member;
use crate::entry::Entry;
use crate::json::{Json, JsonKind, Object, quote};
use crate::kind::Role;
use crate::provenance::Origin;
use crate::transcript::call_blocks;

/// Usage of a copy: its tokens and cost count where they were spent.
const NO_USAGE: &str = r#"{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}"#;

/// How a copy differs from its source.
pub(super) struct Changes<'a> {
    pub(super) origin: &'a Origin,
    /// New ids of tool calls, by the old ones.
    pub(super) calls: &'a HashMap<String, String>,
    /// Reads images that the other dialect keeps outside the session.
    pub(super) blob: Option<ReadBlob<'a>>,
}

/// The line, and whether images were written into it.
pub(super) fn line(entry: &Entry, changes: &Changes<'_>) -> (String, bool) {
    let mut line = with_origin(entry.json(), changes.origin);
    if Json::trusted(&line).get("usage").is_some_and(|usage| usage.kind() == JsonKind::Object) {
        line = with_member(Json::trusted(&line), "usage", NO_USAGE);
    }
    let Some(source) = entry.message() else { return (line, false) };
    let mut message = source.text().to_owned();
    if source.get("usage").is_some_and(|usage| usage.kind() == JsonKind::Object) {
        message = with_member(Json::trusted(&message), "usage", NO_USAGE);
    }
    // What omp knows of the request that was answered: it was another one.
    message = without_member(&message, "contextSnapshot");
    if !changes.calls.is_empty() {
        message = with_calls_renamed(&message, entry.role, changes.calls);
    }
    let resolved = changes.blob.and_then(|read| blobs::resolve(&message, read));
    let has_images = resolved.is_some();
    let message = resolved.unwrap_or(message);
    match message == source.text() {
        true => (line, false),
        false => (with_member(Json::trusted(&line), "message", &message), has_images),
    }
}

/// The object with `pickedFrom` after its type; a copy keeps the place of the member that it has.
fn with_origin(object: Json<'_>, origin: &Origin) -> String {
    let origin = origin.to_json();
    if object.get("pickedFrom").is_some() {
        return with_member(object, "pickedFrom", &origin);
    }
    match object.get("type") {
        Some(kind) => {
            let end = kind.span_in(object.text()).end;
            format!("{},\"pickedFrom\":{origin}{}", &object.text()[..end], &object.text()[end..])
        }
        None => with_member(object, "pickedFrom", &origin),
    }
}

fn without_member(object: &str, name: &str) -> String {
    let json = Json::trusted(object);
    if json.get(name).is_none() {
        return object.to_owned();
    }
    let others = json.members().filter(|(known, _)| known != name);
    others.fold(Object::new(), |object, (name, value)| object.json(&name, value)).finish()
}

/// A call's and its result's ids, replaced.
fn with_calls_renamed(message: &str, role: Option<Role>, calls: &HashMap<String, String>) -> String {
    let json = Json::trusted(message);
    if role == Some(Role::ToolResult) {
        let new = json.str("toolCallId").and_then(|id| calls.get(id.as_ref()).cloned());
        return new.map_or_else(|| message.to_owned(), |new| with_member(json, "toolCallId", &quote(&new)));
    }
    let ids = call_blocks(json).filter_map(|block| block.get("id"));
    let mut places: Vec<_> =
        ids.filter_map(|id| Some((id.span_in(message), calls.get(id.as_str()?.as_ref())?))).collect();
    places.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
    let mut renamed = message.to_owned();
    for (span, new) in places {
        renamed.replace_range(span, &quote(new));
    }
    renamed
}
