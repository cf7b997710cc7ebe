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

/// The times of opencode are in milliseconds, those of Crush in seconds.
fn rows_of(agent: Agent, connection: &Connection, id: &str) -> rusqlite::Result<Vec<ChildRow>> {
    let (of, unit) = match agent {
        Agent::Opencode => ("SELECT id, title, time_created, time_updated FROM session WHERE parent_id = ?1", 1),
        _ => ("SELECT id, title, created_at, updated_at FROM sessions WHERE parent_session_id = ?1", 1000),
    };
    let mut children = connection.prepare(&format!("{of} LIMIT {MOST_SESSIONS}"))?;
    let child = |row: &Row<'_>| {
        let time = |at| row.get::<_, Option<Millis>>(at).ok().flatten().map(|time| time.saturating_mul(unit));
        let title = row.get::<_, Option<String>>(1).ok().flatten().unwrap_or_default();
        let (call, entry, outcome) = (None, None, None);
        Ok(ChildRow { id: row.get(0)?, title, call, entry, outcome, updated: time(3), created: time(2) })
    };
    let children = children.query_map([id], child)?;
    Ok(children.filter_map(rusqlite::Result::ok).filter(|child| is_plain(&child.id)).collect())
}

/// opencode does not say which call it was.
fn with_tasks(connection: &Connection, id: &str, rows: &mut [ChildRow]) -> rusqlite::Result<()> {
    let mut parts = connection.prepare(
        "SELECT message_id, time_created, data FROM part WHERE session_id = ?1 AND instr(data, '\"task\"') > 0 ORDER BY time_created, id",
    )?;
    let mut found = parts.query([id])?;
    let mut tasks: Vec<(Millis, String, String, Option<SubagentStatus>)> = Vec::new();
    while let Some(row) = found.next()? {
        let (Ok(message), Ok(data)) = (row.get::<_, String>(0), row.get::<_, String>(2)) else { continue };
        let Ok(part) = Json::parse(&data) else { continue };
        let (true, Some(call)) = (part.str("tool").is_some_and(|tool| tool == "task"), part.str("callID")) else {
            continue;
        };
        let state = part.get("state").unwrap_or(Json::NULL);
        let outcome = match state.str("status").unwrap_or_default().as_ref() {
            "completed" => Some(SubagentStatus::Completed),
            "error" => Some(SubagentStatus::Failed),
            _ => None,
        };
        tasks.push((row.get(1).unwrap_or_default(), message, call.into_owned(), outcome));
    }
    tasks.sort_by_key(|(at, ..)| *at);
    for child in rows {
        let began = child.created.unwrap_or_default();
        let before = tasks.partition_point(|(at, ..)| *at <= began).checked_sub(1).and_then(|at| tasks.get(at));
        if let Some((_, message, call, outcome)) = before {
            (child.entry, child.call, child.outcome) = (Some(message.clone()), Some(call.clone()), *outcome);
        }
    }
    Ok(())
}

/// The id of a session that Crush's agent has started is that of the call.
fn with_calls(connection: &Connection, id: &str, rows: &mut [ChildRow]) -> rusqlite::Result<()> {
    let mut of: HashMap<String, &mut ChildRow> = HashMap::new();
    for row in rows {
        row.call = Some(row.id.clone());
        of.insert(row.id.clone(), row);
    }
    let mut messages = connection.prepare(
        "SELECT id, parts FROM messages WHERE session_id = ?1 AND (instr(parts, '\"tool_call\"') > 0 OR instr(parts, '\"tool_result\"') > 0)",
    )?;
    let mut found = messages.query([id])?;
    while let Some(row) = found.next()? {
        let (Ok(message), Ok(parts)) = (row.get::<_, String>(0), row.get::<_, String>(1)) else { continue };
        let Ok(parts) = Json::parse(&parts) else { continue };
        for part in parts.items() {
            let data = part.get("data").unwrap_or(Json::NULL);
            let child = |name: &str| data.str(name).map(std::borrow::Cow::into_owned);
            match part.str("type").unwrap_or_default().as_ref() {
                "tool_call" => {
                    if let Some(child) = child("id").and_then(|id| of.get_mut(&id)) {
                        child.entry.get_or_insert_with(|| message.clone());
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
    Ok(())
}
