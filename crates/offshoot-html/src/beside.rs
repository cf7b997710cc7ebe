//! What the page needs of an entry besides its line: its parsed Markdown, and images that are stored elsewhere.
//!
//! One JSON object, or nothing: `{"md":[…],"blobs":[{"hash":…,"data":…}]}`. `md` has one item for each text, in the order in
//! which the script reads them; 0 means plain text.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use offshoot_session::blobs;
use offshoot_session::entry::{ContentBlock, Entry, Source};
use offshoot_session::json::{Json, JsonKind, Object};
use offshoot_session::kind::{Kind, Role};

use crate::markdown;

pub(crate) fn of(source: &dyn Source, entry: &Entry) -> Option<String> {
    let prose: Vec<Option<String>> = prose(entry).iter().map(|text| markdown::operations(text)).collect();
    let blobs = pictures(source, entry);
    let has_prose = prose.iter().any(Option::is_some);
    if !has_prose && blobs.is_empty() {
        return None;
    }
    let mut object = Object::new();
    if has_prose {
        let items: Vec<String> = prose.into_iter().map(|item| item.unwrap_or_else(|| "0".to_owned())).collect();
        object = object.raw("md", format_args!("[{}]", items.join(",")));
    }
    if !blobs.is_empty() {
        let blob = |(hash, data): &(String, String)| Object::new().str("hash", hash).str("data", data).finish();
        let blobs: Vec<String> = blobs.iter().map(blob).collect();
        object = object.raw("blobs", format_args!("[{}]", blobs.join(",")));
    }
    Some(object.finish())
}

/// The texts of an entry that are Markdown, in order.
fn prose(entry: &Entry) -> Vec<Cow<'_, str>> {
    match (entry.kind, entry.role) {
        (Kind::Message, Some(role)) => match role {
            Role::User | Role::Assistant | Role::System | Role::Developer | Role::Custom | Role::HookMessage => {
                match entry.of_message("content").and_then(Json::as_str) {
                    Some(text) => vec![text],
                    None => texts(entry.blocks()),
                }
            }
            Role::BranchSummary | Role::CompactionSummary => {
                entry.of_message("summary").and_then(Json::as_str).into_iter().collect()
            }
            Role::ToolResult | Role::BashExecution | Role::PythonExecution | Role::FileMention | Role::Unknown => {
                Vec::new()
            }
        },
        (Kind::CustomMessage, _) => match entry.get("content") {
            Some(content) => match content.as_str() {
                Some(text) => vec![text],
                None => texts(content.items().map(ContentBlock::from)),
            },
            None => Vec::new(),
        },
        (Kind::Compaction | Kind::BranchSummary, _) => entry.str("summary").into_iter().collect(),
        _ => Vec::new(),
    }
}

fn texts<'a>(blocks: impl Iterator<Item = ContentBlock<'a>>) -> Vec<Cow<'a, str>> {
    blocks.filter(|block| block.is("text")).map(|block| block.str("text").unwrap_or_default()).collect()
}

/// Images that the line refers to by hash, with their base64.
fn pictures(source: &dyn Source, entry: &Entry) -> Vec<(String, String)> {
    if entry.kind != Kind::Message || !entry.line().contains("blob:sha256:") {
        return Vec::new();
    }
    let content = entry.of_message("content");
    let blocks = content.filter(|content| content.kind() == JsonKind::Array).map(Json::items).into_iter().flatten();
    let mut found: Vec<(String, String)> = Vec::new();
    for data in blocks.filter_map(|block| block.str("data").map(Cow::into_owned)) {
        let Some(hash) = blobs::reference(&data).filter(|hash| found.iter().all(|(known, _)| known != hash)) else {
            continue;
        };
        if let Some(bytes) = source.blob(hash) {
            found.push((hash.to_owned(), STANDARD.encode(bytes)));
        }
    }
    found
}
