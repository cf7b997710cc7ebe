//! What operations share that bring entries here: the other session, the copies as JSON, and the files that did not come along.

use std::path::Path;

use offshoot_agent::forecast::RequestForecast;
use offshoot_session::entry::Source as _;
use offshoot_session::files::FileLists;
use offshoot_session::id::EntryId;
use offshoot_session::json::{Object, quote};
use offshoot_session::pick::PickPlan;
use offshoot_session::session::{Brought, Session, SpillPolicy};
use offshoot_session::text::one_line;
use offshoot_session::tree::NodeIx;

use crate::costs::with_forecast;
use crate::failure::Result;
use crate::file_moves::FileMoveOutcome;
use crate::given::SessionName;
use crate::lookup::Access;
use crate::operation::Finished;
use crate::place::Place;
use crate::run::open_session;
use crate::words::Note;

/// More files are counted.
const FILES: usize = 5;

/// The other session that was named; `None` if none was, or if it is the same.
///
/// # Errors
/// It cannot be found or read.
pub(crate) fn other_session(place: &Place, here: &Session, from: Option<&SessionName>) -> Result<Option<Session>> {
    let other = from.map(|from| place.open(&from.0, Access::Read, SpillPolicy::Temporary)).transpose()?;
    Ok(other.filter(|other| other.id() != here.id()))
}

/// Adds the ids of what was written, null if nothing was.
#[must_use]
pub fn with_brought(object: Object, brought: Option<&Brought>) -> Object {
    let Some(brought) = brought else { return object.raw("operationId", "null").raw("entryIds", "null") };
    let ids: Vec<String> = brought.entries.iter().map(|id| quote(id.as_str())).collect();
    object.str("operationId", brought.operation.as_str()).raw("entryIds", format!("[{}]", ids.join(",")))
}

/// The id of an entry.
pub(crate) fn id_of(session: &Session, ix: Option<NodeIx>) -> Option<EntryId> {
    ix.and_then(|ix| session.tree().node(ix).id().cloned())
}

/// Names the changed files that the folder of the session lacks.
pub(crate) fn missing_files(place: &Place, session: &Session, files: &FileLists) -> Option<Note> {
    let folder = session.cwd().filter(|cwd| !cwd.is_empty()).map_or(place.cwd(), Path::new);
    let lacks = |file: &&String| !folder.join(file).exists();
    let missing: Vec<String> = files.modified.iter().filter(lacks).map(|file| one_line(file, 80)).collect();
    if missing.is_empty() {
        return None;
    }
    let verb = if missing.len() == 1 { "is" } else { "are" };
    let more = missing.len().saturating_sub(FILES);
    let mut named = missing.into_iter().take(FILES).collect::<Vec<_>>().join(", ");
    if more > 0 {
        named.push_str(&format!(" and {more} more"));
    }
    Some(Note::Told(format!("only messages were copied; {named} {verb} not in this folder")))
}

/// Copies that were written, or would be.
#[derive(Debug)]
pub struct Copied {
    /// What is copied, and what is left out.
    pub plan: PickPlan,
    /// What was written.
    pub brought: Option<Brought>,
    /// The entry below which the copies are; `None` before the first one.
    pub onto: Option<EntryId>,
    /// The next request after a dry run.
    pub forecast: Option<RequestForecast>,
    /// The files that did not come along.
    pub(crate) missing: Option<Note>,
}

impl Copied {
    pub(crate) fn of(plan: PickPlan, finished: Finished<'_, Brought>) -> Result<Self> {
        let Finished { place, session, written, is_dry } = finished;
        let session = open_session(session)?;
        let forecast = is_dry.then(|| place.forecast(session, plan.onto, plan.tokens)).transpose()?;
        let missing = missing_files(place, session, &plan.files);
        Ok(Self { onto: id_of(session, plan.onto), plan, brought: written, forecast, missing })
    }

    pub(crate) fn to_json(&self, files: Option<&FileMoveOutcome>) -> String {
        let object = self.plan.to_json(self.onto.as_ref().map(EntryId::as_str));
        let object = with_forecast(with_brought(object, self.brought.as_ref()), self.forecast.as_ref());
        files.into_iter().fold(object, |object, files| object.raw("files", files.json())).finish()
    }
}
