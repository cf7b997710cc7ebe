//! Older stores of JSON files, as the records that the newer ones have: opencode's folder of small files, and Gemini CLI's one file for each
//! session. Knows no tree.

use std::io;
use std::path::{Path, PathBuf};

use offshoot_session::json::{Json, Object};
use offshoot_session::medium::{Stamp, read_regular_text};

use crate::agent::Agent;
use crate::foreign_medium::ForeignMedium;
use crate::record::on_one_line;

/// A longer file is not read.
const LONGEST: u64 = 64 << 20;
/// A session with more messages, or a message with more parts, is not read.
const MOST_FILES: usize = 100_000;
/// Bytes of all files of a session.
const MOST_BYTES: usize = 1 << 30;

/// Whether a session is one of these.
pub(crate) fn is_old(agent: Agent, path: &Path) -> bool {
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    is_json && matches!(agent, Agent::Opencode | Agent::Gemini)
}

/// The agent of a file that is all of one object.
pub(crate) fn agent_of(path: &Path) -> Option<Agent> {
    let text = read_regular_text(path, LONGEST).ok()?;
    let json = Json::parse(&text).ok()?;
    if json.get("projectHash").is_some() && json.get("sessionId").is_some() {
        return Some(Agent::Gemini);
    }
    let is_session = json.get("projectID").is_some() && json.get("directory").is_some();
    (is_session && messages_of(path).is_some()).then_some(Agent::Opencode)
}

/// The records of a session.
pub(crate) fn medium_of(agent: Agent, path: &Path) -> io::Result<ForeignMedium> {
    let stamp = Stamp::of(&std::fs::symlink_metadata(path)?);
    let text = read_regular_text(path, LONGEST)?;
    let lines = if agent == Agent::Gemini { on_one_line(&text) + "\n" } else { opencode(path, &text)? };
    Ok(ForeignMedium::of_bytes(path, stamp, lines.into_bytes()))
}

/// The sessions of opencode's old store, each with its file.
pub(crate) fn opencode_files(root: &Path) -> Vec<PathBuf> {
    let projects = sorted(&root.join("storage/session"));
    projects.iter().flat_map(|project| sorted(project)).filter(|file| is_json(file)).collect()
}

/// The folder of a session's messages: `storage/session/PROJECT/ID.json` has them in `storage/message/ID`.
fn messages_of(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let storage = path.parent()?.parent()?.parent()?;
    let is_storage = path.parent()?.parent()?.file_name()? == "session";
    let id = path.file_stem()?;
    is_storage.then(|| (storage.join("message").join(id), storage.join("part")))
}

/// The record of the session, then one of each message with its parts, as the rows of the newer store are.
fn opencode(path: &Path, text: &str) -> io::Result<String> {
    let (messages, parts) = messages_of(path).ok_or(io::ErrorKind::NotFound)?;
    let session = Json::parse(text).map_err(io::Error::other)?;
    let created =
        |json: Json<'_>| json.get("time").and_then(|time| time.get("created")).map_or("0", Json::text).to_owned();
    let member = |object: Object, name: &str, value: Option<Json<'_>>| match value {
        Some(value) => object.raw(name, value.text().replace(['\n', '\r'], " ")),
        None => object,
    };
    let object = member(Object::new(), "id", session.get("id"));
    let object = member(object, "parent_id", session.get("parentID"));
    let object = member(object, "directory", session.get("directory"));
    let object = member(object, "title", session.get("title"));
    let object = member(object, "version", session.get("version"));
    let object = member(object, "revert", session.get("revert"));
    let object = object.raw("time_created", created(session));
    // What the newer store has no column for.
    let mut lines = object.raw("file", on_one_line(text)).str("table", "session").finish() + "\n";
    let (mut found, mut left) = (Vec::new(), MOST_BYTES);
    let mut read = |file: &Path| {
        let text = on_one_line(&read_regular_text(file, LONGEST)?) + "\n";
        left = left.checked_sub(text.len()).ok_or_else(|| io::Error::other("its files have more than 1 GiB"))?;
        Ok::<_, io::Error>(text)
    };
    for file in all(&messages)? {
        let text = read(&file)?;
        let Some(id) = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()) else { continue };
        let time = Json::parse(text.trim()).map_or_else(|_| "0".to_owned(), created);
        found.push((time.parse::<f64>().unwrap_or_default(), id, text));
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    for (time, id, text) in found {
        let mut own = Vec::new();
        for file in all(&parts.join(&id))? {
            let data = read(&file)?;
            if Json::parse(data.trim()).is_ok() {
                own.push(Object::new().raw("data", data.trim()).str("table", "part").finish());
            }
        }
        if Json::parse(text.trim()).is_err() {
            continue;
        }
        let object = Object::new().str("id", &id).raw("time_created", time).raw("data", text.trim());
        lines += &(object.str("table", "message").raw("parts", format!("[{}]", own.join(","))).finish() + "\n");
    }
    Ok(lines)
}

fn is_json(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "json")
}

/// All JSON of a folder.
fn all(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let files = sorted(folder);
    if files.len() > MOST_FILES {
        return Err(io::Error::other(format!("{} has more than {MOST_FILES} files", folder.display())));
    }
    Ok(files.into_iter().filter(|file| is_json(file)).collect())
}

/// What lies in a folder, sorted. Links are not followed.
fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let own = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    let mut paths: Vec<PathBuf> = own.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
