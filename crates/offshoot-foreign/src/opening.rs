//! Finds out whose session a file is, by its records, and opens it.

use std::io;
use std::path::Path;

use offshoot_session::error::{Diagnostic, Error, Result};
use offshoot_session::json::{Json, JsonKind};
use offshoot_session::session::Options;

use crate::agent::Agent;
use crate::aider;
use crate::claude::continued::continued_session;
use crate::composing::SideFiles;
use crate::cursor::{order, text};
use crate::foreign_medium::ForeignMedium;
use crate::foreign_session::{self, ForeignSession, OpenedBeside};
use crate::kept_copy::KeptSource;
use crate::mapper::Mapper;
use crate::old_json;
use crate::planned::ForeignHead;
use crate::record::for_each_record;
use crate::rows;
use crate::sources::{SessionVisitor, medium_of, visit};

/// So many records decide whose session it is.
const LOOKED_AT: u32 = 50;

/// Opens a session of another agent; `None` if the file is none. `options` are made only for one.
///
/// # Errors
/// The file cannot be read.
pub fn open_foreign(path: &Path, options: impl FnOnce() -> Options) -> Result<Option<ForeignSession>> {
    match foreign_agent(path)? {
        Some(agent) => open_of(agent, path, options()).map(Some),
        None => Ok(None),
    }
}

/// Opens a session of this agent.
pub(crate) fn open_of(agent: Agent, path: &Path, options: Options) -> Result<ForeignSession> {
    open_again(agent, path, options, &mut || medium_of(agent, path))
}

/// A file that becomes shorter while it is read is read again, once: its program writes it anew.
fn open_again(
    agent: Agent,
    path: &Path,
    options: Options,
    medium: &mut dyn FnMut() -> io::Result<ForeignMedium>,
) -> Result<ForeignSession> {
    let mut options = Some(options);
    let mut open = || {
        let medium = medium().map_err(Error::io("read", path))?;
        let parts = rows::parts_of(path).filter(|_| agent == Agent::Cursor);
        // What was copied into an archive has no transcript beside it.
        let told = parts.and_then(|(store, id)| order::compare((&store, &id), &medium));
        visit(agent, path, medium, Opening { path, options: &mut options, told })
    };
    match open() {
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::UnexpectedEof => open(),
        opened => opened,
    }
}

struct Opening<'a> {
    path: &'a Path,
    /// Taken when all is read.
    options: &'a mut Option<Options>,
    /// What is odd about the session beside its records.
    told: Option<Diagnostic>,
}

impl SessionVisitor for Opening<'_> {
    type Out = Result<ForeignSession>;

    fn visit<M: Mapper + Send + Sync + 'static>(
        self,
        medium: ForeignMedium,
        mapper: M,
        side: Box<dyn SideFiles>,
    ) -> Self::Out {
        let Self { path, options, told } = self;
        let parent = |head: &ForeignHead| {
            let (record, at) = head.continues.as_ref()?;
            continued_session(path, record, *at)
        };
        let beside = OpenedBeside { told, parent: &parent };
        foreign_session::open(medium, mapper, side, beside, || options.take().unwrap_or_default())
    }
}

/// Whose session a file is; `None` if it is nobody's that is known here.
///
/// # Errors
/// The file cannot be read.
pub fn foreign_agent(path: &Path) -> Result<Option<Agent>> {
    if let Some(kept) = KeptSource::at(path) {
        return Ok(Some(kept.agent));
    }
    if let Some((store, _)) = rows::parts_of(path) {
        return Ok(rows::agent_of(&store));
    }
    if text::is_text(path) {
        return Ok(Some(Agent::Cursor));
    }
    if aider::parts_of(path).is_some() {
        return Ok(Some(Agent::Aider));
    }
    if path.extension().is_some_and(|extension| extension == "json") {
        return Ok(old_json::agent_of(path));
    }
    let medium = ForeignMedium::open(path).map_err(Error::io("open", path))?;
    agent_of(&medium).map_err(Error::io("read", path))
}

/// Whose sessions a file holds that is none itself: a store, or a history of several runs.
#[must_use]
pub fn agent_of_store(path: &Path) -> Option<Agent> {
    match path.extension()?.to_str()? {
        "db" if path.is_file() => rows::agent_of(path),
        "md" => aider::ids_of(path).is_ok_and(|runs| !runs.is_empty()).then_some(Agent::Aider),
        _ => None,
    }
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
    let is_object = |name: &str| record.get(name).is_some_and(|value| value.kind() == JsonKind::Object);
    let begins = |name: &str, start: &str| record.str(name).is_some_and(|text| text.starts_with(start));
    match () {
        () if is_text("sessionId") && is_text("projectHash") => Some(Agent::Gemini),
        () if is_text("role") && is_object("message") && record.get("type").is_none() => Some(Agent::Cursor),
        () if begins("type", "session.start") && is_object("data") => Some(Agent::Copilot),
        () if is_text("working_dir") && record.get("message_count").is_some() => Some(Agent::Goose),
        () if is_text("type") && is_text("sessionId") && record.get("payload").is_none() => Some(Agent::Claude),
        () if is_text("type") && is_text("summary") && is_text("leafUuid") => Some(Agent::Claude),
        () if is_text("type") && is_object("payload") => Some(Agent::Codex),
        () if is_text("id") && is_text("timestamp") && record.get("instructions").is_some() => Some(Agent::Codex),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use offshoot_session::entry::Source as _;

    use super::*;

    #[test]
    fn a_file_that_becomes_shorter_while_it_is_read_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("s.jsonl");
        let line = |id: &str| {
            let message = r#""message":{"role":"user","content":"x"}"#;
            format!(r#"{{"type":"user","sessionId":"s","uuid":"{id}","parentUuid":null,{message}}}"#) + "\n"
        };
        let opened_of = |shrinks: usize| {
            std::fs::write(&file, line("a") + &line("b")).unwrap();
            let mut left = shrinks;
            let opened = open_again(Agent::Claude, &file, Options::default(), &mut || {
                let medium = medium_of(Agent::Claude, &file);
                if left > 0 {
                    left -= 1;
                    let length = std::fs::metadata(&file).unwrap().len();
                    std::fs::File::options().write(true).open(&file).unwrap().set_len(length / 2).unwrap();
                }
                medium
            });
            opened.map(|opened| opened.session.tree().len()).map_err(|error| error.to_string())
        };
        assert_eq!((opened_of(0), opened_of(1)), (Ok(2), Ok(1)));
        assert!(opened_of(2).unwrap_err().contains("could not read"), "somebody writes it all the time");
    }
}
