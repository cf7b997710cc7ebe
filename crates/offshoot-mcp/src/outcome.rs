//! What a call has resulted in, as a result of offshoot's tools: texts within the usual limits, pictures, and what models cannot see as a
//! line or a file.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use offshoot_agent::tool::truncate::{self, TextLimits};
use offshoot_agent::tool::{OutputFolder, ToolOutcome, stored_picture};
use offshoot_protocol::message::Block;
use offshoot_session::text::one_line;
use serde_json::{Map, Value, json};

/// More blocks of a result are counted, not shown.
const MOST_BLOCKS: usize = 500;
const LONGEST_NAME: usize = 1000;
/// Larger files of a result are not kept.
const LARGEST_FILE: usize = 64 << 20;

/// Whose result it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResultOf<'a> {
    pub(crate) server: &'a str,
    pub(crate) tool: &'a str,
    /// Where long texts and files go.
    pub(crate) outputs: &'a OutputFolder,
    /// Whether the model can read resources of the server.
    pub(crate) reads_resources: bool,
}

/// The result of a call. May take time: pictures are decoded.
pub(crate) fn outcome(of: ResultOf<'_>, result: &Value) -> ToolOutcome {
    let blocks = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut content: Vec<Block> = blocks.iter().take(MOST_BLOCKS).map(|block| shown(of, block)).collect();
    if blocks.len() > MOST_BLOCKS {
        content.push(Block::text(format!("[{} more parts of the result are left out]", blocks.len() - MOST_BLOCKS)));
    }
    let structured = result.get("structuredContent").filter(|value| !value.is_null());
    if let Some(value) = structured.filter(|value| !says(blocks, value)) {
        content.push(Block::text(format!("```json\n{value}\n```")));
    }
    let is_error = result["isError"] == true;
    let has_words = content.iter().any(|block| !matches!(block, Block::Text { text, .. } if text.is_empty()));
    if !has_words {
        let words = if is_error { "returned an error without words" } else { "returned nothing" };
        content = vec![Block::text(format!("MCP tool {}/{} {words}", of.server, of.tool))];
    }
    let mut details = Map::new();
    details.insert("serverName".to_owned(), json!(of.server));
    details.insert("mcpToolName".to_owned(), json!(of.tool));
    if let Some(path) = limit(&mut content, of.outputs) {
        details.insert("fullOutputPath".to_owned(), json!(path));
    } else if let Some(value) = structured {
        details.insert("structuredContent".to_owned(), value.clone());
    }
    ToolOutcome { content, details: Some(Value::Object(details)), is_error, ..ToolOutcome::default() }
}

/// Whether the texts of the result say what the structured content does: one is its JSON, or each of its members is one of them, as in
/// `{"content": "the text of a file"}`.
fn says(blocks: &[Value], structured: &Value) -> bool {
    let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    let is_said = |value: &Value| value.as_str().is_some_and(|text| texts.contains(&text));
    let are_members_said = |members: &Map<String, Value>| !members.is_empty() && members.values().all(is_said);
    structured.as_object().is_some_and(are_members_said)
        || texts.iter().filter_map(|text| serde_json::from_str::<Value>(text).ok()).any(|value| value == *structured)
}

fn shown(of: ResultOf<'_>, block: &Value) -> Block {
    let resource = &block["resource"];
    match block["type"].as_str().unwrap_or_default() {
        "text" => Block::text(block["text"].as_str().unwrap_or_default()),
        "image" => picture(block["data"].as_str().unwrap_or_default()),
        "audio" => file(of, "Audio", block, "data"),
        "resource_link" => Block::text(link(of, block)),
        "resource" => match (resource["text"].as_str(), resource["mimeType"].as_str().unwrap_or_default()) {
            (Some(text), _) => Block::text(text),
            (None, mime) if mime.starts_with("image/") => picture(resource["blob"].as_str().unwrap_or_default()),
            (None, mime) if is_text(mime) => match decoded(resource, "blob") {
                Ok(bytes) => Block::text(String::from_utf8_lossy(&bytes)),
                Err(why) => Block::text(format!("[Resource {}: {why}]", name_of(resource))),
            },
            (None, _) => file(of, "Binary resource", resource, "blob"),
        },
        other => Block::text(format!("[a part of the type {:?} is left out]", one_line(other, 60))),
    }
}

fn picture(base64: &str) -> Block {
    stored_picture(base64).unwrap_or_else(|why| Block::text(format!("[picture left out: {why}]")))
}

/// As pi's.
fn is_text(mime: &str) -> bool {
    let kind = mime.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind.starts_with("text/") || kind == "application/json" || kind.ends_with("+json") || kind.ends_with("+xml")
}

fn name_of(resource: &Value) -> String {
    one_line(resource["uri"].as_str().unwrap_or_default(), LONGEST_NAME)
}

/// pi's line.
fn link(of: ResultOf<'_>, block: &Value) -> String {
    let text = |key: &str| block[key].as_str().map(|text| one_line(text, LONGEST_NAME)).filter(|text| !text.is_empty());
    let size = block["size"].as_u64().map(truncate::size);
    let facts: Vec<String> = [text("mimeType"), size].into_iter().flatten().collect();
    let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
    let described = text("description").map(|words| format!(": {words}")).unwrap_or_default();
    let read = if of.reads_resources {
        format!(". Read it with read_mcp_resource (server \"{}\")", of.server)
    } else {
        String::new()
    };
    let name = text("title").or_else(|| text("name")).unwrap_or_default();
    format!("[Resource {} \"{name}\"{facts}{described}{read}]", name_of(block))
}

fn decoded(value: &Value, key: &str) -> Result<Vec<u8>, String> {
    let text = value[key].as_str().unwrap_or_default();
    if text.len() / 4 * 3 > LARGEST_FILE {
        return Err(format!("it has more than {} MiB", LARGEST_FILE >> 20));
    }
    STANDARD.decode(text).map_err(|_| "it is not base64".to_owned())
}

fn file(of: ResultOf<'_>, what: &str, value: &Value, key: &str) -> Block {
    let mime = one_line(value["mimeType"].as_str().unwrap_or("unknown type"), 100);
    let uri = name_of(value);
    let what = if uri.is_empty() { what.to_owned() } else { format!("{what} {uri}") };
    let kept = decoded(value, key).and_then(|bytes| {
        let path = of.outputs.keep(&bytes).map_err(|error| error.to_string())?;
        Ok((bytes.len() as u64, path))
    });
    Block::text(match kept {
        Ok((size, path)) => format!("[{what} ({mime}, {}) saved to {}]", truncate::size(size), path.display()),
        Err(why) => format!("[{what} ({mime}) could not be saved: {why}]"),
    })
}

/// Cuts the texts of a result in the middle, and returns the file with all of them.
fn limit(content: &mut Vec<Block>, outputs: &OutputFolder) -> Option<String> {
    let text_of = |block: &Block| match block {
        Block::Text { text, .. } => Some(text.clone()),
        Block::Thinking { .. } | Block::ToolCall { .. } | Block::Image { .. } => None,
    };
    let texts: Vec<String> = content.iter().filter_map(text_of).collect();
    let limits = TextLimits::default();
    let bytes: u64 = texts.iter().map(|text| text.len() as u64).sum();
    let lines: u64 = texts.iter().map(|text| truncate::count_lines(text)).sum();
    if bytes <= limits.bytes && lines <= limits.lines {
        return None;
    }
    let whole = texts.join("\n\n");
    let half = TextLimits { lines: limits.lines / 2, bytes: limits.bytes / 2 };
    let first = truncate::head(&whole, half);
    let first = if first.first_line_exceeds_limit { start_of(&whole, half.bytes) } else { first.content };
    let last = truncate::tail(&whole, half).content;
    let kept = outputs.keep(whole.as_bytes());
    let said = match &kept {
        Ok(path) => format!("all of it is in {}", path.display()),
        Err(error) => format!("the rest is lost, for it could not be written to a file: {error}"),
    };
    let left_out = whole.len().saturating_sub(first.len() + last.len()) as u64;
    let cut = format!("{first}\n\n[{} left out here; {said}]\n\n{last}", truncate::size(left_out));
    content.retain(|block| text_of(block).is_none());
    content.insert(0, Block::text(cut));
    kept.ok().map(|path| path.display().to_string())
}

fn start_of(text: &str, bytes: u64) -> String {
    let end = text.floor_char_boundary(usize::try_from(bytes).unwrap_or(usize::MAX));
    text.get(..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(result: &Value) -> (Vec<String>, ToolOutcome, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let outputs = OutputFolder::new(folder.path(), "s");
        let outcome = outcome(ResultOf { server: "s", tool: "t", outputs: &outputs, reads_resources: true }, result);
        let text = |block: &Block| match block {
            Block::Text { text, .. } => text.clone(),
            other => format!("{other:?}").chars().take(5).collect(),
        };
        (outcome.content.iter().map(text).collect(), outcome, folder)
    }

    fn texts(result: &Value) -> Vec<String> {
        of(result).0
    }

    #[test]
    fn texts_stay_apart_and_links_are_lines() {
        let link = json!({"type": "resource_link", "uri": "demo://1", "name": "One", "mimeType": "text/plain", "size": 2048, "description": "the first"});
        let result = json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, link]});
        let line =
            r#"[Resource demo://1 "One" (text/plain, 2.0KB): the first. Read it with read_mcp_resource (server "s")]"#;
        assert_eq!(texts(&result), ["a", "b", line]);
    }

    #[test]
    fn structured_content_is_there_once() {
        let content = json!({"a": 1});
        let same = json!({"content": [{"type": "text", "text": "{\n \"a\": 1}"}], "structuredContent": content});
        assert_eq!(texts(&same), ["{\n \"a\": 1}"]);
        let other = json!({"content": [{"type": "text", "text": "found"}], "structuredContent": content});
        assert_eq!(texts(&other), ["found", "```json\n{\"a\":1}\n```"]);
        let file =
            json!({"content": [{"type": "text", "text": "all of it"}], "structuredContent": {"content": "all of it"}});
        assert_eq!(texts(&file), ["all of it"]);
        let more = json!({"content": [{"type": "text", "text": "x"}], "structuredContent": {"a": "x", "b": 1}});
        assert_eq!(texts(&more).len(), 2);
        let alone = json!({"structuredContent": content});
        let (shown, outcome, _folder) = of(&alone);
        assert_eq!(shown, ["```json\n{\"a\":1}\n```"]);
        assert_eq!(
            outcome.details,
            Some(json!({"serverName": "s", "mcpToolName": "t", "structuredContent": {"a": 1}}))
        );
    }

    #[test]
    fn an_error_is_one_with_the_servers_words() {
        let (shown, outcome, _folder) = of(&json!({"content": [{"type": "text", "text": "denied"}], "isError": true}));
        assert_eq!((shown, outcome.is_error), (vec!["denied".to_owned()], true));
        assert_eq!(texts(&json!({"isError": true})), ["MCP tool s/t returned an error without words"]);
        assert_eq!(texts(&json!({"content": []})), ["MCP tool s/t returned nothing"]);
    }

    #[test]
    fn resources_are_texts_pictures_or_files() {
        let resource = |resource: Value| json!({"type": "resource", "resource": resource});
        let blob = |mime: &str, bytes: &[u8]| {
            resource(json!({"uri": "u://x", "mimeType": mime, "blob": STANDARD.encode(bytes)}))
        };
        let result = json!({"content": [
            resource(json!({"uri": "u://x", "text": "words"})),
            blob("application/json", b"{}"),
            blob("image/png", b"no picture"),
            blob("application/zip", b"PK"),
            {"type": "audio", "mimeType": "audio/wav", "data": STANDARD.encode(b"RIFF")},
            {"type": "hologram"},
            {"type": "resource", "resource": {"uri": "u://y", "mimeType": "text/plain", "blob": "?"}},
        ]});
        let (shown, _, folder) = of(&result);
        assert_eq!(shown[..2], ["words", "{}"]);
        assert!(shown[2].starts_with("[picture left out: "), "{shown:?}");
        assert!(shown[3].starts_with("[Binary resource u://x (application/zip, 2B) saved to "), "{shown:?}");
        assert!(shown[4].starts_with("[Audio (audio/wav, 4B) saved to "), "{shown:?}");
        assert_eq!(shown[5..], ["[a part of the type \"hologram\" is left out]", "[Resource u://y: it is not base64]"]);
        let path = shown[3].split("saved to ").nth(1).unwrap().trim_end_matches(']');
        assert_eq!(std::fs::read(path).unwrap(), b"PK");
        assert!(path.starts_with(folder.path().to_str().unwrap()));
    }

    #[test]
    fn a_long_result_loses_its_middle_and_all_of_it_is_in_a_file() {
        let line = "x".repeat(99);
        let long = (0..5000).map(|number| format!("{number} {line}")).collect::<Vec<_>>().join("\n");
        let (shown, outcome, _folder) =
            of(&json!({"content": [{"type": "text", "text": long}], "structuredContent": {"a": 1}}));
        let text = &shown[0];
        assert!(
            text.len() < 60 << 10 && text.starts_with("0 x") && text.contains("left out here; all of it is in "),
            "{}",
            text.len()
        );
        let path = outcome.details.unwrap()["fullOutputPath"].as_str().unwrap().to_owned();
        assert!(std::fs::read_to_string(path).unwrap().starts_with(&long));
        let (shown, ..) = of(&json!({"content": [{"type": "text", "text": "y".repeat(1 << 20)}]}));
        assert!(shown[0].len() < 60 << 10 && shown[0].starts_with("yyy"));
    }
}
