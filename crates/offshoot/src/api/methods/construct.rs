//! Methods that create, open, close and find sessions.

use std::borrow::Cow;
use std::io::Write;
use std::path::PathBuf;

use offshoot_session::list::SessionInfo;
use offshoot_session::manager::Params;
use offshoot_session::session::{NewFork, NewSession, Options, Session};
use offshoot_session::store::{DirStore, Scope, Store as _, file_name};

use crate::api::handles::{ApiServer, OpenSession};
use crate::api::records::{write_array, write_null, write_str};
use crate::api::wire::{ApiFailure, MethodResult};

struct SessionTarget {
    cwd: String,
    folder: PathBuf,
}

impl SessionTarget {
    fn of(server: &ApiServer<'_>, params: &Params<'_>, cwd_name: &str) -> Result<Self, ApiFailure> {
        let cwd = server.given_cwd(params, cwd_name)?.unwrap_or_else(|| server.cwd().to_owned());
        let folder = match server.given_folder(params)? {
            Some(folder) => folder,
            None => folder_of(server.store.path_for(&cwd, "", "")),
        };
        Ok(Self { cwd, folder })
    }
}

fn folder_of(mut file: PathBuf) -> PathBuf {
    file.pop();
    file
}

fn introduce(server: &mut ApiServer<'_>, handle: OpenSession, out: &mut dyn Write) -> MethodResult {
    let introduction = handle.introduction();
    let number = server.admit(handle);
    introduction.write(number, out)
}

/// The file appears with the first entry.
pub(in crate::api) fn create(server: &mut ApiServer<'_>, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let SessionTarget { cwd, folder } = SessionTarget::of(server, params, "cwd")?;
    let defaults = server.defaults(params)?;
    let (id, parent_session) = (params.opt_str("id")?, params.opt_str("parentSession")?);
    let new = NewSession { id: id.as_deref(), cwd: &cwd, parent_session: parent_session.as_deref() };
    let options = server.options(&folder, &defaults);
    let session = Session::create(&new, options, |id, timestamp| folder.join(file_name(id, timestamp)))?;
    introduce(server, OpenSession { session, cwd, folder: Some(folder), defaults }, out)
}

/// Opens a session file, or creates a session at a path without a file.
pub(in crate::api) fn open(server: &mut ApiServer<'_>, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let path = server.path(&params.str("path")?);
    let given_cwd = server.given_cwd(params, "cwd")?;
    let new = NewSession { cwd: given_cwd.as_deref().unwrap_or(server.cwd()), ..NewSession::default() };
    let defaults = server.defaults(params)?;
    let session = Session::open_or_create(&path, &new, server.options(&path, &defaults))?;
    server.store.note_opened(&path)?;
    let own_cwd = || session.cwd().unwrap_or(server.cwd()).to_owned();
    let cwd = given_cwd.clone().unwrap_or_else(own_cwd);
    let folder = server.given_folder(params)?.unwrap_or_else(|| folder_of(path));
    introduce(server, OpenSession { session, cwd, folder: Some(folder), defaults }, out)
}

/// Opens the most recently written session of the working directory, or creates one.
pub(in crate::api) fn continue_recent(
    server: &mut ApiServer<'_>,
    params: &Params<'_>,
    out: &mut dyn Write,
) -> MethodResult {
    let SessionTarget { cwd, folder } = SessionTarget::of(server, params, "cwd")?;
    let store = server.store_of(server.given_folder(params)?.as_deref());
    let defaults = server.defaults(params)?;
    let session = match store.most_recent_file(Some(&cwd))? {
        Some((path, _)) => Session::open(&path, server.options(&path, &defaults))?,
        None => {
            let new = NewSession { cwd: &cwd, ..NewSession::default() };
            let options = server.options(&folder, &defaults);
            Session::create(&new, options, |id, timestamp| folder.join(file_name(id, timestamp)))?
        }
    };
    introduce(server, OpenSession { session, cwd, folder: Some(folder), defaults }, out)
}

/// A session that is never on disk, empty or with the given entries.
pub(in crate::api) fn in_memory(server: &mut ApiServer<'_>, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let given_cwd = server.given_cwd(params, "cwd")?;
    let (id, parent_session) = (params.opt_str("id")?, params.opt_str("parentSession")?);
    let cwd = given_cwd.as_deref().unwrap_or(server.cwd());
    let new = NewSession { id: id.as_deref(), cwd, parent_session: parent_session.as_deref() };
    let session = match params.given("entries") {
        Some(_) => Session::seeded(params.array("entries")?, &new, Options::default())?,
        None => Session::in_memory(&new, Options::default())?,
    };
    let own_cwd = || session.cwd().unwrap_or(server.cwd()).to_owned();
    let cwd = given_cwd.clone().unwrap_or_else(own_cwd);
    let defaults = server.defaults(params)?;
    introduce(server, OpenSession { session, cwd, folder: None, defaults }, out)
}

/// Copies a session file with all branches, as a new session of another working directory.
pub(in crate::api) fn fork_from(server: &mut ApiServer<'_>, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let source = server.path(&params.str("sourcePath")?);
    let SessionTarget { cwd, folder } = SessionTarget::of(server, params, "targetCwd")?;
    let id = params.opt_str("id")?;
    let place = |id: &str, timestamp: &str| folder.join(file_name(id, timestamp));
    let defaults = server.defaults(params)?;
    let mut parent = Session::open(&source, server.options(&source, &defaults))?;
    let name = fork_name(params)?;
    let fork = NewFork { id: id.as_deref(), cwd: Some(&cwd), name: name.as_deref(), ..NewFork::default() };
    let made = parent.export(&fork, place)?;
    let path = made.file.unwrap_or_else(|| folder.join(made.id));
    let session = Session::open(&path, server.options(&path, &defaults))?;
    introduce(server, OpenSession { session, cwd, folder: Some(folder), defaults }, out)
}

/// The argument `name`; an empty name is none. As in pi, a fork gets no name that was not given.
pub(in crate::api) fn fork_name(params: &Params<'_>) -> Result<Option<String>, ApiFailure> {
    Ok(params.opt_str("name")?.map(Cow::into_owned).filter(|name| !name.is_empty()))
}

/// Replaces the session of a number with a new one.
pub(in crate::api) fn new_session(
    server: &mut ApiServer<'_>,
    params: &Params<'_>,
    out: &mut dyn Write,
) -> MethodResult {
    let (id, parent_session) = (params.opt_str("id")?, params.opt_str("parentSession")?);
    let (number, handle) = server.stale_handle(params)?;
    handle.session = handle.successor(id.as_deref(), parent_session.as_deref())?;
    handle.introduction().write(number, out)
}

/// Everything in the session is already on disk.
pub(in crate::api) fn close(server: &mut ApiServer<'_>, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    server.close(params)?;
    write_null(out)
}

pub(in crate::api) fn list(server: &mut ApiServer<'_>, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let cwd = server.given_cwd(params, "cwd")?.unwrap_or_else(|| server.cwd().to_owned());
    let store = server.store_of(server.given_folder(params)?.as_deref());
    write_list(&store, Some(&cwd), params, out)
}

pub(in crate::api) fn list_all(server: &mut ApiServer<'_>, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let store = server.store_of(server.given_folder(params)?.as_deref());
    write_list(&store, None, params, out)
}

fn write_list(store: &DirStore, cwd: Option<&str>, params: &Params<'_>, out: &mut dyn Write) -> MethodResult {
    let with_diagnostics = params.opt_bool("withDiagnostics")? == Some(true);
    let (sessions, diagnostics) = store.list(Scope { cwd, with_text: true }, &mut |_, _| {})?;
    let write_info = |out: &mut dyn Write, info: &SessionInfo| Ok(out.write_all(info.to_json().as_bytes())?);
    if !with_diagnostics {
        return write_array(out, &sessions, write_info);
    }
    out.write_all(b"{\"sessions\":")?;
    write_array(out, &sessions, write_info)?;
    out.write_all(b",\"diagnostics\":")?;
    write_array(out, &diagnostics, |out, diagnostic| Ok(out.write_all(diagnostic.to_json().as_bytes())?))?;
    Ok(out.write_all(b"}")?)
}

pub(in crate::api) fn find_most_recent(
    server: &mut ApiServer<'_>,
    params: &Params<'_>,
    out: &mut dyn Write,
) -> MethodResult {
    let folder = server.given_folder(params)?;
    let cwd = match server.given_cwd(params, "cwd")? {
        None if folder.is_none() => Some(server.cwd().to_owned()),
        cwd => cwd,
    };
    let found = server.store_of(folder.as_deref()).most_recent_file(cwd.as_deref())?;
    let path = found.map(|(path, _)| path.to_string_lossy().into_owned());
    write_str(out, path.as_deref())
}
