//! Sessions of a store that name another one as their parent, with the calls that made them. Only rows that may have such a call are parsed.

use std::collections::HashMap;
use std::path::Path;

use offshoot_session::clock::Millis;
use offshoot_session::json::Json;
use rusqlite::{Connection, Row};

use super::{MOST_SESSIONS, is_plain};
use crate::agent::Agent;
use crate::foreign_store::ForeignStore;
use crate::subagent_status::SubagentStatus;

/// A session that another one has started.
pub(crate) struct ChildRow {
    pub(crate) id: String,
    pub(crate) title: String,
    /// The call that made it; of opencode the last call of `task` before it began.
    pub(crate) call: Option<String>,
    /// The message with the call.
    pub(crate) entry: Option<String>,
    /// What the call has given.
    pub(crate) outcome: Option<SubagentStatus>,
    pub(crate) updated: Option<Millis>,
    created: Option<Millis>,
}

/// The sessions that name this one as their parent; a store that cannot be read has none.
pub(crate) fn children_of(agent: Agent, store: &Path, id: &str) -> Vec<ChildRow> {
    let read = |connection: &Connection| {
        let mut rows = rows_of(agent, connection, id)?;
        match agent {
            _ if rows.is_empty() => {}
            Agent::Opencode => with_tasks(connection, id, &mut rows)?,
            _ => with_calls(connection, id, &mut rows)?,
        }
        Ok(rows)
    };
    ForeignStore::of_sessions(store).read(read).ok().flatten().unwrap_or_default()
}

/// Times of opencode are in milliseconds, those of Crush in seconds.
fn unit_of(agent: Agent) -> Millis {
    if agent == Agent::Opencode { 1 } else { 1000 }
}

fn rows_of(agent: Agent, connection: &Connection, id: &str) -> rusqlite::Result<Vec<ChildRow>> {
    let of = match agent {
        Agent::Opencode => "SELECT id, title, time_created, time_updated FROM session WHERE parent_id = ?1",
        _ => "SELECT id, title, created_at, updated_at FROM sessions WHERE parent_session_id = ?1",
    };
    let mut children = connection.prepare(&format!("{of} LIMIT {MOST_SESSIONS}"))?;
    let child = |row: &Row<'_>| {
        let time = |at| row.get::<_, Option<Millis>>(at).ok().flatten().map(|time| time.saturating_mul(unit_of(agent)));
        let title = row.get::<_, Option<String>>(1).ok().flatten().unwrap_or_default();
        let (call, entry, outcome) = (None, None, None);
        Ok(ChildRow { id: row.get(0)?, title, call, entry, outcome, updated: time(3), created: time(2) })
    };
    let children = children.query_map([id], child)?;
    Ok(children.filter_map(rusqlite::Result::ok).filter(|child| is_plain(&child.id)).collect())
}

/// The record of a session that names a parent, with this one's id.
pub(super) fn child_in(agent: Agent, record: Json<'_>) -> Option<(String, ChildRow)> {
    let (table, parent, created, updated) = match agent {
        Agent::Opencode => ("session", "parent_id", "time_created", "time_updated"),
        _ => ("sessions", "parent_session_id", "created_at", "updated_at"),
    };
    let text = |name: &str| record.str(name).map(std::borrow::Cow::into_owned);
    let time = |name: &str| Some((record.get(name)?.as_f64()? as Millis).saturating_mul(unit_of(agent)));
    let (id, parent) = (text("id").filter(|id| is_plain(id))?, text(parent)?);
    let title = text("title").unwrap_or_default();
    let row =
        ChildRow { id, title, call: None, entry: None, outcome: None, updated: time(updated), created: time(created) };
    record.str("table").is_some_and(|own| own == table).then_some((parent, row))
}

/// A call of opencode's `task`.
pub(super) struct TaskCall {
    at: Millis,
    message: String,
    call: String,
    outcome: Option<SubagentStatus>,
}

impl TaskCall {
    /// That of a message's part.
    pub(super) fn of(message: &str, at: Millis, part: Json<'_>) -> Option<Self> {
        part.str("tool").filter(|tool| tool == "task")?;
        let call = part.str("callID")?.into_owned();
        let status = part.get("state").and_then(|state| state.str("status")).unwrap_or_default();
        let outcome = match status.as_ref() {
            "completed" => Some(SubagentStatus::Completed),
            "error" => Some(SubagentStatus::Failed),
            _ => None,
        };
        Some(Self { at, message: message.to_owned(), call, outcome })
    }
}

/// opencode does not say which call it was.
pub(super) fn give_tasks(mut tasks: Vec<TaskCall>, rows: &mut [ChildRow]) {
    tasks.sort_by_key(|task| task.at);
    for child in rows {
        let began = child.created.unwrap_or_default();
        let before = tasks.partition_point(|task| task.at <= began).checked_sub(1).and_then(|at| tasks.get(at));
        if let Some(task) = before {
            child.entry = Some(task.message.clone());
            child.call = Some(task.call.clone());
            child.outcome = task.outcome;
        }
    }
}

fn with_tasks(connection: &Connection, id: &str, rows: &mut [ChildRow]) -> rusqlite::Result<()> {
    let mut parts = connection.prepare(
        "SELECT message_id, time_created, data FROM part WHERE session_id = ?1 AND instr(data, '\"task\"') > 0 ORDER BY time_created, id",
    )?;
    let mut found = parts.query([id])?;
    let mut tasks = Vec::new();
    while let Some(row) = found.next()? {
        let (Ok(message), Ok(data)) = (row.get::<_, String>(0), row.get::<_, String>(2)) else { continue };
        if let Ok(part) = Json::parse(&data) {
            tasks.extend(TaskCall::of(&message, row.get(1).unwrap_or_default(), part));
        }
    }
    give_tasks(tasks, rows);
    Ok(())
}

/// Sessions by the calls that made them: Crush's have the ids of these.
pub(super) fn by_calls(rows: &mut [ChildRow]) -> HashMap<String, &mut ChildRow> {
    let own = |row: &mut ChildRow| row.call = Some(row.id.clone());
    rows.iter_mut()
        .map(|row| {
            own(row);
            (row.id.clone(), row)
        })
        .collect()
}

/// Looks for these calls and their results in the parts of a message of Crush's.
pub(super) fn note_calls(message: &str, parts: Json<'_>, of: &mut HashMap<String, &mut ChildRow>) {
    for part in parts.items() {
        let data = part.get("data").unwrap_or(Json::NULL);
        let child = |name: &str| data.str(name).map(std::borrow::Cow::into_owned);
        match part.str("type").unwrap_or_default().as_ref() {
            "tool_call" => {
                if let Some(child) = child("id").and_then(|id| of.get_mut(&id)) {
                    child.entry.get_or_insert_with(|| message.to_owned());
                }
            }
            "tool_result" => {
                let Some(child) = child("tool_call_id").and_then(|id| of.get_mut(&id)) else { continue };
                let has_failed = data.get("is_error").and_then(Json::as_bool) == Some(true);
                let outcome = if has_failed { SubagentStatus::Failed } else { SubagentStatus::Completed };
                child.outcome = Some(outcome);
            }
            _ => {}
        }
    }
}

fn with_calls(connection: &Connection, id: &str, rows: &mut [ChildRow]) -> rusqlite::Result<()> {
    let mut of = by_calls(rows);
    let mut messages = connection.prepare(
        "SELECT id, parts FROM messages WHERE session_id = ?1 AND (instr(parts, '\"tool_call\"') > 0 OR instr(parts, '\"tool_result\"') > 0)",
    )?;
    let mut found = messages.query([id])?;
    while let Some(row) = found.next()? {
        let (Ok(message), Ok(parts)) = (row.get::<_, String>(0), row.get::<_, String>(1)) else { continue };
        if let Ok(parts) = Json::parse(&parts) {
            note_calls(&message, parts, &mut of);
        }
    }
    Ok(())
}
