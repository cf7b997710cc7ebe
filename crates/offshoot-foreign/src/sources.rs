//! The bytes of a session of any agent, and the mapper that reads them.

use std::io;
use std::path::Path;

use offshoot_session::json::Json;
use offshoot_session::medium::{Stamp, read_regular_text};

use crate::agent::Agent;
use crate::aider::{self, AiderFormat};
use crate::claude::ClaudeMapper;
use crate::codex::CodexMapper;
use crate::codex::files::{open_rollout, thread_of, with_base};
use crate::composing::SideFiles;
use crate::copilot::CopilotFormat;
use crate::crush::CrushFormat;
use crate::cursor::{CursorFormat, store, text};
use crate::foreign_medium::ForeignMedium;
use crate::gemini::GeminiFormat;
use crate::goose::GooseFormat;
use crate::kept_copy::{KeptSource, source_of};
use crate::linear::LinearMapper;
use crate::mapper::Mapper;
use crate::old_json;
use crate::opencode::OpencodeFormat;
use crate::rows;
use crate::side_folder::{KeptSide, SideFolder};

/// What is done with a session, whosever it is.
pub(crate) trait SessionVisitor {
    type Out;

    fn visit<M: Mapper + Send + Sync + 'static>(
        self,
        medium: ForeignMedium,
        mapper: M,
        side: Box<dyn SideFiles>,
    ) -> Self::Out;
}

/// Opens the bytes of a session.
pub(crate) fn medium_of(agent: Agent, path: &Path) -> io::Result<ForeignMedium> {
    if let Some(kept) = KeptSource::at(path) {
        return kept.medium(path);
    }
    if old_json::is_old(agent, path) {
        return old_json::medium_of(agent, path);
    }
    if agent == Agent::Cursor && text::is_text(path) {
        let stamp = Stamp::of(&std::fs::metadata(path)?);
        return Ok(ForeignMedium::of_bytes(path, stamp, text::records_of(path)?));
    }
    if let Some((history, id)) = aider::parts_of(path).filter(|_| agent == Agent::Aider) {
        let stamp = Stamp::of(&std::fs::metadata(&history)?);
        return Ok(ForeignMedium::of_bytes(path, stamp, aider::records_of(&history, &id)?));
    }
    match rows::parts_of(path) {
        Some((store, id)) => {
            let bytes = rows::records_of(agent, &store, &id)?;
            if bytes.is_empty() {
                return Err(io::Error::new(io::ErrorKind::NotFound, "the store has no such session"));
            }
            let stamp = rows::stamp_of(&store).ok_or(io::ErrorKind::NotFound)?;
            Ok(ForeignMedium::of_bytes(path, stamp, bytes))
        }
        None if agent == Agent::Codex => with_base(open_rollout(path)?),
        None => ForeignMedium::open(path),
    }
}

/// Hands the mapper of an agent to a visitor.
pub(crate) fn visit<V: SessionVisitor>(agent: Agent, path: &Path, medium: ForeignMedium, visitor: V) -> V::Out {
    let side: Box<dyn SideFiles> = match KeptSource::at(path) {
        Some(kept) => Box::new(KeptSide { copy: path.with_file_name(""), session: kept.source }),
        None => Box::new(SideFolder(path.with_extension(""))),
    };
    let path = &source_of(path);
    let id = id_of(agent, path).unwrap_or_default();
    match agent {
        Agent::Claude => visitor.visit(medium, ClaudeMapper::new(&id, is_subagent(path)), side),
        Agent::Codex => visitor.visit(medium, CodexMapper::new(thread_of(path).as_deref()), side),
        Agent::Opencode => visitor.visit(medium, LinearMapper::<OpencodeFormat>::new(&id, None), side),
        Agent::Gemini => visitor.visit(medium, LinearMapper::<GeminiFormat>::new("", gemini_cwd(path)), side),
        Agent::Goose => visitor.visit(medium, LinearMapper::<GooseFormat>::new(&id, None), side),
        Agent::Crush => visitor.visit(medium, LinearMapper::<CrushFormat>::new(&id, crush_cwd(path)), side),
        Agent::Copilot => visitor.visit(medium, LinearMapper::<CopilotFormat>::new(&id, None), side),
        Agent::Cursor => visitor.visit(medium, LinearMapper::<CursorFormat>::new(&id, cursor_cwd(path)), side),
        Agent::Aider => {
            let folder = path.parent().and_then(Path::parent).map(|folder| folder.to_string_lossy().into_owned());
            visitor.visit(medium, LinearMapper::<AiderFormat>::new(&id, folder), side)
        }
    }
}

/// The id of a session, as its path says it.
pub(crate) fn id_of(agent: Agent, path: &Path) -> Option<String> {
    let path = &source_of(path);
    let named = |name: Option<&std::ffi::OsStr>| name?.to_str().map(str::to_owned);
    match agent {
        Agent::Claude => named(path.file_stem()),
        Agent::Codex => thread_of(path),
        Agent::Opencode if old_json::is_old(agent, path) => named(path.file_stem()),
        Agent::Opencode | Agent::Crush | Agent::Aider => named(path.file_name()),
        Agent::Cursor | Agent::Goose => named(path.file_stem()),
        // The eight digits at the end of the name begin it.
        Agent::Gemini => named(path.file_stem()).map(|stem| stem.rsplit('-').next().unwrap_or_default().to_owned()),
        Agent::Copilot => named(path.parent()?.file_name()),
    }
}

/// Transcripts of subagents lie in a folder below their session's.
pub(crate) fn is_subagent(path: &Path) -> bool {
    let is_named = path.file_stem().is_some_and(|stem| stem.to_string_lossy().starts_with("agent-"));
    is_named && path.ancestors().any(|folder| folder.file_name().is_some_and(|name| name == "subagents"))
}

/// The project of a database in its folder `.crush`.
fn crush_cwd(path: &Path) -> Option<String> {
    let folder = path.parent()?.parent()?;
    let project = folder.file_name().filter(|name| *name == ".crush").and(folder.parent())?;
    Some(project.to_string_lossy().into_owned())
}

/// The working directory of a chat, which a file beside its other store says.
fn cursor_cwd(path: &Path) -> Option<String> {
    const LARGEST: u64 = 1 << 20;
    const MOST: usize = 10_000;
    if let Some((file, _)) = rows::parts_of(path) {
        return store::cwd_of(&file);
    }
    let id = path.file_stem()?;
    let root = path.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "projects"))?.parent()?;
    let folders = std::fs::read_dir(root.join("chats")).ok()?.flatten().take(MOST);
    let text = |folder: std::fs::DirEntry| read_regular_text(&folder.path().join(id).join("meta.json"), LARGEST).ok();
    let meta = folders.into_iter().find_map(text)?;
    Json::parse(&meta).ok()?.str("cwd").map(std::borrow::Cow::into_owned)
}

/// The project of a log, whose folder has a name that `projects.json` explains.
fn gemini_cwd(path: &Path) -> Option<String> {
    const LARGEST: u64 = 4 << 20;
    let chats = path.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "chats"))?;
    let slug = chats.parent()?.file_name()?.to_str()?;
    let text = read_regular_text(&chats.parent()?.parent()?.parent()?.join("projects.json"), LARGEST).ok()?;
    let projects = Json::parse(&text).ok()?.get("projects")?;
    let is_it = |(path, known): &(std::borrow::Cow<'_, str>, Json<'_>)| {
        known.as_str().is_some_and(|known| known == slug) || crate::key::hex_hash(&[path.as_bytes()], 64) == slug
    };
    projects.members().find(is_it).map(|(path, _)| path.into_owned())
}
