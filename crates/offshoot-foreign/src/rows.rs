//! Sessions in SQLite stores as records: a row is a JSON object on a line. A session's path is that of the store with the
//! session's id behind it.

mod children;
mod copies;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use offshoot_session::json::{Json, Object};
use offshoot_session::medium::Stamp;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Row};

use crate::agent::Agent;
use crate::cursor::store;
use crate::foreign_store::{ForeignStore, ForeignStoreError};
use crate::record::on_one_line;

pub(crate) use children::{ChildRow, children_of};
pub(crate) use copies::CopiedRows;

/// More sessions of a store are not listed.
const MOST_SESSIONS: u32 = 100_000;
/// Sessions below sessions are looked for so deep.
pub(crate) const DEEPEST: usize = 16;

/// The store and the id in a session's path; `None` if it is a path of another kind.
pub(crate) fn parts_of(path: &Path) -> Option<(PathBuf, String)> {
    let (store, id) = (path.parent()?, path.file_name()?.to_str()?);
    let is_store = store.extension().is_some_and(|extension| extension == "db") && store.is_file();
    (is_store && is_plain(id)).then(|| (store.to_path_buf(), id.to_owned()))
}

/// Ids come from foreign text and become parts of paths.
fn is_plain(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    !id.is_empty() && id.len() <= 128 && id.bytes().all(is_plain)
}

/// The stamp of a store with its log.
pub(crate) fn stamp_of(store: &Path) -> Option<Stamp> {
    let stamp = Stamp::of(&std::fs::metadata(store).ok()?);
    let mut log = store.as_os_str().to_owned();
    log.push("-wal");
    let log = std::fs::metadata(PathBuf::from(log)).ok().map(|meta| Stamp::of(&meta));
    Some(match log {
        Some(log) => Stamp {
            length: stamp.length + log.length,
            modified: stamp.modified.max(log.modified),
            changed: stamp.changed.max(log.changed),
            ..stamp
        },
        None => stamp,
    })
}

/// Whose store it is, by its tables.
pub(crate) fn agent_of(store: &Path) -> Option<Agent> {
    let look = |connection: &Connection| {
        let has = |table: &str, column: &str| connection.column_exists(None, table, column);
        Ok(match () {
            () if has("part", "message_id")? => Some(Agent::Opencode),
            () if has("messages", "content_json")? => Some(Agent::Goose),
            () if has("messages", "parts")? => Some(Agent::Crush),
            () if has("blobs", "data")? && has("meta", "value")? => Some(Agent::Cursor),
            () => None,
        })
    };
    ForeignStore::of_sessions(store).read(look).ok().flatten().flatten()
}

/// The ids of the sessions of a store that no other one of it has started.
///
/// # Errors
/// The store cannot be read.
pub(crate) fn ids_of(agent: Agent, file: &Path) -> Result<Vec<String>, ForeignStoreError> {
    if agent == Agent::Cursor {
        return Ok(store::id_of(file).into_iter().filter(|id| is_plain(id)).collect());
    }
    Ok(StoredIds::read(agent, file)?.ids(false))
}

/// The ids of the others.
///
/// # Errors
/// The store cannot be read.
pub(crate) fn started_ids_of(agent: Agent, file: &Path) -> Result<Vec<String>, ForeignStoreError> {
    Ok(StoredIds::read(agent, file)?.ids(true))
}

/// The sessions of a store, each with its parent.
struct StoredIds(HashMap<String, Option<String>>);

impl StoredIds {
    fn read(agent: Agent, file: &Path) -> Result<Self, ForeignStoreError> {
        let (table, parent) = match agent {
            Agent::Opencode => ("session", "parent_id"),
            _ => ("sessions", "parent_session_id"),
        };
        let read = |connection: &Connection| {
            let parent = if connection.column_exists(None, table, parent)? { parent } else { "NULL" };
            let mut ids = connection.prepare(&format!("SELECT id, {parent} FROM {table} LIMIT {MOST_SESSIONS}"))?;
            let ids = ids.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?)))?;
            Ok(ids.filter_map(rusqlite::Result::ok).filter(|(id, _)| is_plain(id)).collect())
        };
        Ok(Self(ForeignStore::of_sessions(file).read(read)?.unwrap_or_default()))
    }

    fn ids(&self, is_started: bool) -> Vec<String> {
        let mut ids: Vec<String> = self.0.keys().filter(|id| self.is_started(id) == is_started).cloned().collect();
        ids.sort();
        ids
    }

    /// Whether lists show a session below another one. A circle is below nothing.
    fn is_started(&self, id: &str) -> bool {
        let parent = |id: &str| self.0.get_key_value(self.0.get(id)?.as_deref()?).map(|(parent, _)| parent.as_str());
        let mut above = std::iter::successors(parent(id), |id| parent(id));
        let is_deep = above.by_ref().take(DEEPEST).count() == DEEPEST && above.next().is_some();
        parent(id).is_some() && !is_deep
    }
}

/// The ids of the sessions that a session and those below it have started.
///
/// # Errors
/// The store cannot be read.
pub(crate) fn ids_below(agent: Agent, file: &Path, id: &str) -> Result<Vec<String>, ForeignStoreError> {
    let (table, parent) = match agent {
        Agent::Opencode => ("session", "parent_id"),
        Agent::Crush => ("sessions", "parent_session_id"),
        _ => return Ok(Vec::new()),
    };
    let query = format!(
        "WITH RECURSIVE below(id, depth) AS (SELECT id, 1 FROM {table} WHERE {parent} = ?1
         UNION SELECT s.id, depth + 1 FROM {table} s JOIN below ON s.{parent} = below.id WHERE depth < {DEEPEST})
         SELECT DISTINCT id FROM below WHERE id <> ?1 ORDER BY id LIMIT {MOST_SESSIONS}"
    );
    let read = |connection: &Connection| {
        let mut ids = connection.prepare(&query)?;
        let ids = ids.query_map([id], |row| row.get::<_, String>(0))?;
        Ok(ids.filter_map(rusqlite::Result::ok).filter(|id| is_plain(id)).collect())
    };
    Ok(ForeignStore::of_sessions(file).read(read)?.unwrap_or_default())
}

/// The records of a session; empty if the store has no such session.
///
/// # Errors
/// The store cannot be read.
pub(crate) fn records_of(agent: Agent, file: &Path, id: &str) -> io::Result<Vec<u8>> {
    let is_here = agent != Agent::Cursor || store::id_of(file).is_some_and(|own| own == id);
    let read = |connection: &Connection| match agent {
        _ if !is_here => Ok(String::new()),
        Agent::Cursor => store::records(connection),
        Agent::Opencode => opencode(connection, id),
        _ => plain(connection, id, agent),
    };
    match ForeignStore::of_sessions(file).read(read) {
        Ok(lines) => Ok(lines.unwrap_or_default().into_bytes()),
        Err(ForeignStoreError::Io(error)) => Err(error),
        Err(error) => Err(io::Error::other(error)),
    }
}

fn opencode(connection: &Connection, id: &str) -> rusqlite::Result<String> {
    let mut lines = String::new();
    let of_session = "SELECT s.*, (SELECT worktree FROM project p WHERE p.id = s.project_id) AS worktree FROM session s WHERE s.id = ?1";
    let session = connection.query_row(of_session, [id], |row| object(row, "session", &["revert"])).optional()?;
    let Some(session) = session else { return Ok(lines) };
    push(&mut lines, session);
    let mut parts: HashMap<String, Vec<String>> = HashMap::new();
    let mut statement = connection.prepare("SELECT * FROM part WHERE session_id = ?1 ORDER BY id")?;
    let mut rows = statement.query([id])?;
    while let Some(row) = rows.next()? {
        let made = object(row, "part", &["data"])?.finish();
        parts.entry(row.get("message_id")?).or_default().push(made);
    }
    let mut statement = connection.prepare("SELECT * FROM message WHERE session_id = ?1 ORDER BY time_created, id")?;
    let mut rows = statement.query([id])?;
    while let Some(row) = rows.next()? {
        let own = parts.remove(&row.get::<_, String>("id")?).unwrap_or_default();
        push(&mut lines, object(row, "message", &["data"])?.raw("parts", format!("[{}]", own.join(","))));
    }
    Ok(lines)
}

/// One row of `sessions`, then those of `messages`.
fn plain(connection: &Connection, id: &str, agent: Agent) -> rusqlite::Result<String> {
    let mut lines = String::new();
    let json = ["parts", "content_json", "metadata_json", "model_config_json"];
    let of_session = "SELECT * FROM sessions WHERE id = ?1";
    let session = connection.query_row(of_session, [id], |row| object(row, "sessions", &json)).optional()?;
    let Some(session) = session else { return Ok(lines) };
    push(&mut lines, session);
    let order = if agent == Agent::Goose { "id" } else { "created_at, rowid" };
    let mut statement =
        connection.prepare(&format!("SELECT * FROM messages WHERE session_id = ?1 ORDER BY {order}"))?;
    let mut rows = statement.query([id])?;
    while let Some(row) = rows.next()? {
        push(&mut lines, object(row, "messages", &json)?);
    }
    Ok(lines)
}

fn push(lines: &mut String, object: Object) {
    lines.push_str(&object.finish());
    lines.push('\n');
}

/// A row with its columns in order. Columns of JSON stand as they are.
fn object(row: &Row<'_>, table: &str, json: &[&str]) -> rusqlite::Result<Object> {
    let mut object = Object::new();
    let statement: &rusqlite::Statement<'_> = row.as_ref();
    for (at, name) in statement.column_names().enumerate() {
        object = match row.get_ref(at)? {
            ValueRef::Null => object.raw(name, "null"),
            ValueRef::Integer(number) => object.raw(name, number),
            ValueRef::Real(number) if number.is_finite() => object.raw(name, number),
            ValueRef::Real(_) => object.raw(name, "null"),
            ValueRef::Blob(bytes) => object.raw(name, Object::new().raw("bytes", bytes.len()).finish()),
            ValueRef::Text(text) => {
                let text = String::from_utf8_lossy(text);
                let is_json = json.contains(&name) && Json::parse(&text).is_ok();
                if is_json { object.raw(name, on_one_line(&text)) } else { object.str(name, &text) }
            }
        };
    }
    Ok(object.str("table", table))
}
