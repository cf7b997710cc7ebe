//! The files beside a session that an import keeps: which they are, and whether an imported session has them. Names that nobody expects are
//! not looked at, so no file of settings or keys is kept.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use offshoot_session::entry::Source as _;
use offshoot_session::error::{Error, Result};
use offshoot_session::kind::{Kind, SOURCE_RECORD};
use offshoot_session::medium::read_regular;
use offshoot_session::session::Session;
use sha2::{Digest as _, Sha256};

use crate::agent::Agent;
use crate::below::below;
use crate::key::hex_hash;
use crate::rows;
use crate::source_record::{PayloadTexts, bytes_of, file_name};
use crate::sources::is_subagent;

/// A larger file is not kept.
const LARGEST: u64 = 64 << 20;
/// More files of a session are not kept.
const MOST: usize = 10_000;
/// Names of Gemini CLI's logs have so much of their ids.
const SHORTEST_START: usize = 8;
/// More folders of workflows are not looked at.
const MOST_FOLDERS: usize = 1_000;

/// A file beside a session.
#[derive(Debug)]
pub(crate) struct SideFile {
    /// Its path below the session's folder, or its name.
    pub(crate) name: String,
    path: PathBuf,
}

impl SideFile {
    /// Its bytes.
    ///
    /// # Errors
    /// It cannot be read, or is too large.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>> {
        read_regular(&self.path, LARGEST).map_err(Error::io("read", &self.path))
    }
}

/// The id of the entry that keeps a file with this content.
pub(crate) fn file_id(agent: Agent, name: &str, bytes: &[u8]) -> String {
    hex_hash(&[agent.word().as_bytes(), b"file", name.as_bytes(), bytes], 16) + ".s"
}

/// The files beside a session, by their names. Links are not followed.
pub(crate) fn side_files(agent: Agent, path: &Path) -> Vec<SideFile> {
    let mut files = match agent {
        Agent::Claude if is_subagent(path) => note_of(path).into_iter().collect(),
        Agent::Claude => of_claude(&path.with_extension("")),
        Agent::Cursor => note_of_chat(path).into_iter().collect(),
        _ => Vec::new(),
    };
    files.truncate(MOST);
    files
}

/// What is copied together with a session: the files beside it, and its subagents with the notes on them.
pub(crate) fn files_with(agent: Agent, path: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = side_files(agent, path).into_iter().map(|file| file.path).collect();
    if agent == Agent::Gemini {
        files.extend(gemini_logs(path, None).into_iter().take(MOST));
    }
    if let Some((store, id)) = rows::parts_of(path) {
        // What keeps a store from being read, the copy of the session itself says.
        let below = rows::ids_below(agent, &store, &id).unwrap_or_default();
        files.extend(below.into_iter().take(MOST).map(|id| store.join(id)));
    }
    if agent == Agent::Claude && !is_subagent(path) {
        let subagents =
            transcript_folders(&path.with_extension("")).into_iter().flat_map(|folder| transcripts(&folder));
        for transcript in subagents.take(MOST) {
            files.extend(note_of(&transcript).map(|note| note.path));
            files.push(transcript);
        }
    }
    files
}

/// Whether a file may be one of those, by its path: a manifest may name any file.
pub(crate) fn goes_with(agent: Agent, session: &Path, file: &Path) -> bool {
    let is_plain = !file.components().any(|part| part == Component::ParentDir);
    is_plain
        && match agent {
            Agent::Gemini => is_gemini_log(session, file),
            Agent::Opencode | Agent::Crush => file.parent() == session.parent() && file != session,
            _ => file.starts_with(session.with_extension("")),
        }
}

/// Whether it may be a subagent.
pub(crate) fn is_started(agent: Agent, session: &Path, file: &Path) -> bool {
    let is_session = match agent {
        Agent::Claude => is_subagent(file) && file.extension().is_some_and(|ending| ending == "jsonl"),
        Agent::Gemini | Agent::Opencode | Agent::Crush => true,
        Agent::Codex | Agent::Goose | Agent::Copilot | Agent::Cursor | Agent::Aider => false,
    };
    is_session && goes_with(agent, session, file)
}

/// The logs of a session's subagents, in the folder that has the session's id for its name. The name of the session's log only begins with it.
pub(crate) fn gemini_logs(path: &Path, id: Option<&str>) -> Vec<PathBuf> {
    let named = || {
        let start = Agent::Gemini.id_of(path).filter(|start| start.len() >= SHORTEST_START)?;
        let folders = below(path.parent()?, std::fs::FileType::is_dir).into_iter();
        let named = folders.filter_map(|folder| folder.file_name()?.to_str().map(str::to_owned));
        named.into_iter().find(|name| name.starts_with(&start))
    };
    let id = id.map(str::to_owned).or_else(named);
    let folder = id.map(|id| path.with_file_name(id));
    let logs = folder.map(|folder| below(&folder, std::fs::FileType::is_file)).unwrap_or_default();
    // A name out of a file may be a path.
    logs.into_iter().filter(|log| is_gemini_log(path, log)).collect()
}

fn is_gemini_log(session: &Path, log: &Path) -> bool {
    let folder = log.parent().filter(|folder| folder.parent() == session.parent());
    let is_own = folder.and_then(Path::file_name).is_some_and(|name| name.len() >= SHORTEST_START);
    is_own && log.extension().is_some_and(|ending| ending == "jsonl")
}

/// Outputs that were too long for the transcript, and the journals of workflows.
fn of_claude(folder: &Path) -> Vec<SideFile> {
    let outputs = below(&folder.join("tool-results"), std::fs::FileType::is_file).into_iter();
    let journals = transcript_folders(folder).into_iter();
    let journals = journals.map(|folder| folder.join("journal.jsonl")).filter(|file| is_file(file));
    let named = |path: PathBuf| {
        let name = path.strip_prefix(folder).ok()?.to_str()?.to_owned();
        Some(SideFile { name, path })
    };
    outputs.chain(journals).filter_map(named).collect()
}

/// The folder of subagents in a session's folder, and those of its workflows.
pub(crate) fn transcript_folders(session: &Path) -> Vec<PathBuf> {
    let folder = session.join("subagents");
    let workflows = below(&folder.join("workflows"), std::fs::FileType::is_dir);
    std::iter::once(folder).chain(workflows.into_iter().take(MOST_FOLDERS)).collect()
}

/// `agent-….jsonl` in a folder.
pub(crate) fn transcripts(folder: &Path) -> Vec<PathBuf> {
    let is_transcript = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.starts_with("agent-") && name.ends_with(".jsonl")
    };
    below(folder, std::fs::FileType::is_file).into_iter().filter(is_transcript).collect()
}

/// What is said of a subagent beside its transcript.
fn note_of(path: &Path) -> Option<SideFile> {
    let path = path.with_extension("meta.json");
    let name = path.file_name()?.to_str()?.to_owned();
    is_file(&path).then_some(SideFile { name, path })
}

/// What is said of a chat beside its store.
fn note_of_chat(path: &Path) -> Option<SideFile> {
    let path = path.parent().filter(|store| store.is_file())?.with_file_name("meta.json");
    is_file(&path).then(|| SideFile { name: "meta.json".to_owned(), path })
}

fn is_file(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file())
}

/// The files beside a session that an imported session does not give back byte for byte.
///
/// # Errors
/// The session or a file cannot be read.
pub fn lacking_files(agent: Agent, path: &Path, session: &Session) -> Result<Vec<String>> {
    let files = side_files(agent, path);
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let kept = kept_files(session)?;
    let mut lacking = Vec::new();
    for file in files {
        let digest: [u8; 32] = Sha256::digest(file.bytes()?).into();
        if !kept.get(&file.name).is_some_and(|known| known.contains(&digest)) {
            lacking.push(file.name);
        }
    }
    Ok(lacking)
}

/// The files that an imported session keeps, by their names: the hashes of their contents.
fn kept_files(session: &Session) -> Result<HashMap<String, HashSet<[u8; 32]>>> {
    let tree = session.tree();
    let mut payloads = PayloadTexts::new(session);
    let mut kept: HashMap<String, HashSet<[u8; 32]>> = HashMap::new();
    for ix in tree.entries().filter(|ix| tree.node(*ix).kind() == Kind::Custom && tree.node(*ix).is_leaf_marker()) {
        let entry = session.entry(ix)?;
        let Some(data) = entry.get("data").filter(|_| entry.str("customType").is_some_and(|is| is == SOURCE_RECORD))
        else {
            continue;
        };
        let Some(name) = file_name(data) else { continue };
        if let Some(bytes) = bytes_of(data, &mut |id| payloads.get(id)) {
            kept.entry(name).or_default().insert(Sha256::digest(&bytes).into());
        }
    }
    Ok(kept)
}
