//! What extensions ask of the session: the methods of the session manager, and what puts another session in its place.

use std::borrow::Cow;
use std::io::Write;

use offshoot_agent::writer::OwnedSession;
use offshoot_protocol::AgentError;
use offshoot_protocol::request::PreparedSession;
use offshoot_session::json::{Json, quote};
use offshoot_session::manager::{
    self, EntryNaming, Holder, Method, MethodError, MethodInput, MethodRow, Params, drafted, find,
};

/// As in pi: ids name entries, and successors go where the session is.
const HOLDER: Holder<'static> = Holder { cwd: None, folder: None, naming: EntryNaming::Id };

/// Runs a method of the session manager, whose arguments are JSON; `None` if there is none with this name. An append and a
/// move return the id of what was written.
pub(crate) fn run(owned: &mut OwnedSession, method: &str, params: &str) -> Option<Result<String, AgentError>> {
    let row = find(method)?;
    Some(arguments(params).and_then(|params| answer(owned, row, params)))
}

/// The entries of the context as these drafts would leave it. Of drafts that are refused nothing is written, so they change nothing.
pub(crate) fn context_entries(owned: &OwnedSession, drafts: &str) -> Result<String, AgentError> {
    let session = owned.session();
    let drafts = Json::parse(drafts).map_err(|error| error.to_string())?;
    let entries: Result<Vec<_>, _> = drafts.items().map(|draft| drafted(session, draft)).collect();
    let tried = entries.ok().filter(|entries| !entries.is_empty()).and_then(|entries| session.with(&entries).ok());
    reading(|out| manager::context_entries(tried.as_ref().unwrap_or(session), out))
}

fn answer(owned: &mut OwnedSession, row: &MethodRow, params: Params<'_>) -> Result<String, AgentError> {
    params.check(&[row.params])?;
    let given = MethodInput { params, holder: &HOLDER };
    let id = match row.method {
        Method::Reads(read) => return reading(|out| read.run(owned.session(), given, out)),
        Method::Appends(make) => {
            let entry = make(owned.session(), &params)?;
            owned.append(&[entry])?.into_iter().next()
        }
        Method::Moves(move_leaf) => owned.move_leaf(move_leaf, given)?,
    };
    Ok(id.map_or_else(|| "null".to_owned(), |id| quote(id.as_str())))
}

/// The session that a method puts in the place of one that is being prepared; `None` for another method.
pub(crate) fn prepared(method: &str, params: &str) -> Option<Result<PreparedSession, AgentError>> {
    let prepare = match method {
        "newSession" => |params: Params<'_>| {
            let text = |name: &str| params.opt_str(name).map(|text| text.map(Cow::into_owned));
            Ok(PreparedSession::New { id: text("id")?, parent: text("parentSession")? })
        },
        "setSessionFile" => {
            |params: Params<'_>| Ok(PreparedSession::File(params.str("sessionFile")?.into_owned().into()))
        }
        "createBranchedSession" => {
            |params: Params<'_>| Ok(PreparedSession::Path { leaf: params.str("leafId")?.into_owned() })
        }
        _ => return None,
    };
    Some(arguments(params).and_then(|params| prepare(params).map_err(|error: MethodError| error.into())))
}

fn reading(read: impl FnOnce(&mut dyn Write) -> Result<(), MethodError>) -> Result<String, AgentError> {
    let mut out = Vec::new();
    read(&mut out)?;
    String::from_utf8(out).map_err(|error| error.to_string().into())
}

fn arguments(params: &str) -> Result<Params<'_>, AgentError> {
    Ok(Params::new(Some(Json::parse(params).map_err(|error| error.to_string())?)))
}
