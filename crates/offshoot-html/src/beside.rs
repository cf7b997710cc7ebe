//! What the page needs of an entry besides its line: its parsed Markdown, and images that are stored elsewhere.
//!
//! One JSON object, or nothing: `{"md":[…],"blobs":[{"hash":…,"data":…}]}`. `md` has one item for each text, in the order in
//! which the script reads them; 0 means plain text. An entry that records changes of files has `{"files":…}` instead.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use offshoot_session::blobs;
use offshoot_session::entry::{ContentBlock, Entry, Source};
use offshoot_session::json::{Json, JsonKind, Object};
use offshoot_session::kind::{Kind, Role};

use crate::markdown;

/// Appends the object; nothing if the page needs nothing.
pub(crate) fn write(source: &dyn Source, entry: &Entry, files: Option<&str>, out: &mut String) {
    if let Some(files) = files {
        return out.push_str(&Object::new().raw("files", files).finish());
    }
    let start = out.len();
    let mut has_prose = false;
    out.push_str("{\"md\":[");
    let empty = out.len();
    each_prose(entry, |text| {
        if out.len() > empty {
            out.push(',');
        }
        match markdown::write(text, out) {
            true => has_prose = true,
            false => out.push('0'),
        }
    });
    out.push(']');
    let blobs = pictures(source, entry);
    if !has_prose {
        out.truncate(start);
        out.push_str(if blobs.is_empty() { return } else { "{" });
    }
    if !blobs.is_empty() {
        let blob = |(hash, data): &(String, String)| Object::new().str("hash", hash).str("data", data).finish();
        let blobs: Vec<String> = blobs.iter().map(blob).collect();
        out.push_str(if has_prose { ",\"blobs\":[" } else { "\"blobs\":[" });
        out.push_str(&blobs.join(","));
        out.push(']');
    }
    out.push('}');
}

/// Passes on the texts of an entry that are Markdown, in order.
fn each_prose(entry: &Entry, mut each: impl FnMut(&str)) {
    match (entry.kind, entry.role) {
        (Kind::Message, Some(role)) => match role {
            Role::User | Role::Assistant | Role::System | Role::Developer | Role::Custom | Role::HookMessage => {
                match entry.of_message("content").and_then(Json::as_str) {
                    Some(text) => each(&text),
                    None => texts(entry.blocks(), each),
                }
            }
            Role::BranchSummary | Role::CompactionSummary => {
                entry.of_message("summary").and_then(Json::as_str).iter().for_each(|text| each(text));
            }
            Role::ToolResult | Role::BashExecution | Role::PythonExecution | Role::FileMention | Role::Unknown => {}
        },
        (Kind::CustomMessage, _) => {
            let content = entry.get("content");
            match content.and_then(Json::as_str) {
                Some(text) => each(&text),
                None => texts(content.into_iter().flat_map(Json::items).map(ContentBlock::from), each),
            }
        }
        (Kind::Compaction | Kind::BranchSummary, _) => entry.str("summary").iter().for_each(|text| each(text)),
        _ => {}
    }
}

fn texts<'a>(blocks: impl Iterator<Item = ContentBlock<'a>>, mut each: impl FnMut(&str)) {
    blocks.filter(|block| block.is("text")).for_each(|block| each(&block.str("text").unwrap_or_default()));
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
