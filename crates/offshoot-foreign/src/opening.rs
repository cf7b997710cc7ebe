//! Finds out whose session a file is, by its records, and opens it.

use std::io;
use std::path::Path;

use offshoot_session::error::{Error, Result};
use offshoot_session::json::{Json, JsonKind};
use offshoot_session::session::Options;

use crate::agent::Agent;
use crate::claude::ClaudeMapper;
use crate::codex::CodexMapper;
use crate::codex::files::{thread_of, with_base};
use crate::foreign_medium::ForeignMedium;
use crate::foreign_session::{self, ForeignSession};
use crate::record::for_each_record;
use crate::side_folder::SideFolder;

/// So many records decide whose session it is.
const LOOKED_AT: u32 = 50;

/// Opens a session of another agent; `None` if the file is none. `options` are made only for one.
///
/// # Errors
/// The file cannot be read.
pub fn open_foreign(path: &Path, options: impl FnOnce() -> Options) -> Result<Option<ForeignSession>> {
    let medium = ForeignMedium::open(path).map_err(Error::io("open", path))?;
    match agent_of(&medium).map_err(Error::io("read", path))? {
        Some(Agent::Claude) => {
            let side = SideFolder(path.with_extension(""));
            let mapper = ClaudeMapper::new(&claude_id(path), is_subagent(path));
            foreign_session::open(medium, mapper, Box::new(side), options()).map(Some)
        }
        Some(Agent::Codex) => {
            let medium = with_base(medium).map_err(Error::io("read the parent of", path))?;
            let mapper = CodexMapper::new(thread_of(path).as_deref());
            let side = SideFolder(path.with_extension(""));
            foreign_session::open(medium, mapper, Box::new(side), options()).map(Some)
        }
        None => Ok(None),
    }
}

/// Whose session a file is; `None` if it is nobody's that is known here.
///
/// # Errors
/// The file cannot be read.
pub fn foreign_agent(path: &Path) -> Result<Option<Agent>> {
    let medium = ForeignMedium::open(path).map_err(Error::io("open", path))?;
    agent_of(&medium).map_err(Error::io("read", path))
}

pub(crate) fn claude_id(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Transcripts of subagents lie in a folder below their session's.
pub(crate) fn is_subagent(path: &Path) -> bool {
    let is_named = path.file_stem().is_some_and(|stem| stem.to_string_lossy().starts_with("agent-"));
    is_named && path.ancestors().any(|folder| folder.file_name().is_some_and(|name| name == "subagents"))
}

/// Whose session these records are.
fn agent_of(medium: &ForeignMedium) -> io::Result<Option<Agent>> {
    let mut found = None;
    let looked = for_each_record(medium, |raw| {
        if let Ok(record) = Json::parse(&raw.text()) {
            found = agent_of_record(record);
        }
        let is_enough = found.is_some() || raw.span.number >= LOOKED_AT;
        if is_enough { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    });
    match looked {
        Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
        _ => Ok(found),
    }
}

fn agent_of_record(record: Json<'_>) -> Option<Agent> {
    let is_text = |name: &str| record.get(name).is_some_and(|value| value.kind() == JsonKind::String);
    let is_claude = is_text("type")
        && ((is_text("sessionId") && record.get("payload").is_none()) || (is_text("summary") && is_text("leafUuid")));
    let is_codex = (is_text("type") && record.get("payload").is_some_and(|payload| payload.kind() == JsonKind::Object))
        || (is_text("id") && is_text("timestamp") && record.get("instructions").is_some());
    match () {
        () if is_claude => Some(Agent::Claude),
        () if is_codex => Some(Agent::Codex),
        () => None,
    }
}
