//! The todo list of a branch, in omp's form: what the last result of the tool `todo` on the path says, or the person's last change
//! of it. Knows no tool and changes nothing.

use std::borrow::Cow;

use crate::compose::NewEntry;
use crate::entry::{Entry, Source as _};
use crate::error::Result;
use crate::json::{Json, JsonKind, Object, quote};
use crate::kind::{Kind, Role};
use crate::session::Session;
use crate::tree::NodeIx;

/// The tool whose results have the list.
pub const TODO_TOOL: &str = "todo";

/// The custom type of the entries with the person's changes, as in omp.
pub const USER_EDIT: &str = "user_todo_edit";

/// So many results and custom entries of a path are read, from its end: a list that is further away is not found. Otherwise a long
/// conversation without a list would be read whole.
pub const LOOKED_AT: usize = 2_000;
/// The name of a result's tool stands before its text.
const FRONT: usize = 512;

/// What is to be done, in phases.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TodoList {
    /// In their order. A phase without tasks stays.
    pub phases: Vec<TodoPhase>,
}

/// A part of the work.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct TodoPhase {
    pub name: String,
    pub tasks: Vec<TodoTask>,
}

/// A task; its text is its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TodoTask {
    /// Once in a list.
    pub content: String,
    /// How far it is.
    pub status: TodoStatus,
    /// What a blocked one waits for.
    pub blocker: Option<String>,
}

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "the names say it")]
pub enum TodoStatus {
    #[default]
    Pending,
    InProgress,
    Completed,
    Abandoned,
    Blocked,
}

impl TodoStatus {
    const ALL: [Self; 5] = [Self::Pending, Self::InProgress, Self::Completed, Self::Abandoned, Self::Blocked];

    /// omp's word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Abandoned => "abandoned",
            Self::Blocked => "blocked",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// Whether somebody can work on it.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::InProgress)
    }

    /// Whether nothing is left to do.
    #[must_use]
    pub fn is_closed(self) -> bool {
        matches!(self, Self::Completed | Self::Abandoned)
    }
}

impl TodoTask {
    /// A task that nobody has begun.
    #[must_use]
    pub fn new(content: &str) -> Self {
        Self { content: content.to_owned(), status: TodoStatus::Pending, blocker: None }
    }
}

impl TodoList {
    /// The list at an entry; `None` where the path has none. Reads at most [`LOOKED_AT`] entries.
    ///
    /// # Errors
    /// The medium cannot be read.
    pub fn at(session: &Session, leaf: Option<NodeIx>) -> Result<Option<Self>> {
        let tree = session.tree();
        let may_have = |ix: &NodeIx| {
            let node = tree.node(*ix);
            node.kind() == Kind::Custom || node.role() == Some(Role::ToolResult)
        };
        for ix in leaf.into_iter().flat_map(|leaf| tree.ancestors(leaf)).filter(may_have).take(LOOKED_AT) {
            if may_have_list(session, ix)?
                && let Some(list) = Self::of_entry(&session.entry(ix)?)
            {
                return Ok(Some(list));
            }
        }
        Ok(None)
    }

    /// The list that an entry makes the current one: that of a result that changed it, or the person's.
    #[must_use]
    pub fn of_entry(entry: &Entry) -> Option<Self> {
        if let Some(message) = entry.message() {
            let is_result = message.str("toolName").as_deref() == Some(TODO_TOOL)
                && message.get("isError").and_then(Json::as_bool) != Some(true);
            return message.get("details").filter(|_| is_result).and_then(Self::of_details);
        }
        let is_edit = entry.str("customType").as_deref() == Some(USER_EDIT);
        entry.get("data").filter(|_| is_edit).and_then(|data| Self::of_json(data.get("phases")?))
    }

    /// The list that the details of a result make the current one; `None` for those of a look at it.
    #[must_use]
    pub fn of_details(details: Json<'_>) -> Option<Self> {
        if details.str("op").as_deref() == Some("view") {
            return None;
        }
        Self::of_json(details.get("phases")?)
    }

    /// From omp's `phases`. Whatever has another form makes it no list; a task without a known status is pending.
    #[must_use]
    pub fn of_json(phases: Json<'_>) -> Option<Self> {
        if phases.kind() != JsonKind::Array {
            return None;
        }
        let owned = |text: Cow<'_, str>| text.into_owned();
        let task = |task: Json<'_>| {
            let status = task.str("status").and_then(|word| TodoStatus::parse(&word)).unwrap_or_default();
            let content = task.str("content").map(owned)?;
            Some(TodoTask { content, status, blocker: task.str("blocker").map(owned) })
        };
        let phase = |phase: Json<'_>| {
            let tasks = phase.get("tasks").filter(|tasks| tasks.kind() == JsonKind::Array)?;
            let tasks = tasks.items().map(task).collect::<Option<Vec<_>>>()?;
            Some(TodoPhase { name: phase.str("name").map(owned)?, tasks })
        };
        Some(Self { phases: phases.items().map(phase).collect::<Option<_>>()? })
    }

    /// omp's `phases`.
    #[must_use]
    pub fn to_json(&self) -> String {
        let task = |task: &TodoTask| {
            let object = Object::new().str("content", &task.content).raw("status", quote(task.status.as_str()));
            object.opt_str("blocker", task.blocker.as_deref()).finish()
        };
        let phase = |phase: &TodoPhase| {
            let tasks: Vec<String> = phase.tasks.iter().map(task).collect();
            Object::new().str("name", &phase.name).raw("tasks", format!("[{}]", tasks.join(","))).finish()
        };
        format!("[{}]", self.phases.iter().map(phase).collect::<Vec<_>>().join(","))
    }

    /// The entry that makes this the list of a branch, as a change by the person.
    #[must_use]
    pub fn edited(&self) -> NewEntry {
        NewEntry::custom(USER_EDIT, Some(Json::trusted(&Object::new().raw("phases", self.to_json()).finish())))
    }

    /// All tasks, in their order.
    pub fn tasks(&self) -> impl Iterator<Item = &TodoTask> {
        self.phases.iter().flat_map(|phase| &phase.tasks)
    }
}

/// Whether the beginning of a line leaves it possible: the results of other tools may be long.
fn may_have_list(session: &Session, ix: NodeIx) -> Result<bool> {
    let node = session.tree().node(ix);
    let length = usize::try_from(node.length()).unwrap_or(usize::MAX).min(FRONT);
    let front = session.raw_bytes(node.offset(), length)?;
    let Some(named) = memchr::memmem::find(&front, b"\"toolName\":") else { return Ok(true) };
    let rest = front.get(named + b"\"toolName\":".len()..).unwrap_or_default().trim_ascii_start();
    let wanted = b"\"todo\"";
    Ok(rest.len() < wanted.len() || rest.starts_with(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Options;

    fn session(entries: &[&str]) -> Session {
        let mut text = String::from("{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n");
        let mut parent = "null".to_owned();
        for (at, entry) in entries.iter().enumerate() {
            text.push_str(&format!("{{\"id\":\"e{at}\",\"parentId\":{parent},{entry}}}\n"));
            parent = format!("\"e{at}\"");
        }
        Session::from_text(&text, Options::default()).unwrap()
    }

    fn result(name: &str, is_error: bool, details: &str) -> String {
        format!(
            r#""type":"message","message":{{"role":"toolResult","toolCallId":"c","toolName":"{name}","content":[],"isError":{is_error},"details":{details}}}"#
        )
    }

    const ONE: &str = r#"[{"name":"P","tasks":[{"content":"a","status":"in_progress"},{"content":"b","status":"blocked","blocker":"a \"key\""}]}]"#;

    /// omp's rules: neither a failed result nor a look nor another tool's details count; the person's change does.
    #[test]
    fn the_last_list_on_the_path_counts() {
        let good = result("todo", false, &format!(r#"{{"op":"init","phases":{ONE}}}"#));
        let not = [
            result("todo", true, r#"{"op":"done","phases":[]}"#),
            result("todo", false, r#"{"op":"view","phases":[]}"#),
            result("read", false, r#"{"phases":[]}"#),
            result("todo", false, r#"{"op":"done","phases":[{"name":1,"tasks":[]}]}"#),
            r#""type":"custom","customType":"x","data":{"phases":[]}"#.to_owned(),
        ];
        for other in &not {
            let session = session(&[&good, other]);
            let list = TodoList::at(&session, session.leaf()).unwrap().unwrap();
            assert_eq!(list.to_json(), ONE, "{other}");
        }
        let session = session(&[&good, r#""type":"custom","customType":"user_todo_edit","data":{"phases":[]}"#]);
        assert_eq!(TodoList::at(&session, session.leaf()).unwrap(), Some(TodoList::default()));
        assert_eq!(TodoList::at(&session, session.tree().find("e0")).unwrap().unwrap().to_json(), ONE);
        assert_eq!(TodoList::at(&session, None).unwrap(), None);
    }

    #[test]
    fn a_change_by_the_person_is_read_back() {
        let list = TodoList::of_json(Json::parse(ONE).unwrap()).unwrap();
        let mut session = session(&[]);
        session.append(&list.edited()).unwrap();
        assert_eq!(TodoList::at(&session, session.leaf()).unwrap(), Some(list));
    }
}
