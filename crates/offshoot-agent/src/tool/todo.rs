//! The tool `todo`: what is to be done, as a list that belongs to the branch. Its results have omp's form, so that omp and offshoot
//! go on with each other's lists. Who keeps the list is not known here.

mod change;
mod typed;

use std::sync::Arc;

use offshoot_session::todo::{TODO_TOOL, TodoList, TodoPhase, TodoStatus, TodoTask};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::{Running, Tier, Tool, ToolContext, ToolOutcome, args};
use crate::provider::ToolSpec;

pub use typed::TodoEdit;

/// Keep a list of what is to be done, for work of three or more steps. Tasks and phases are named by their whole text. The first
/// open task becomes the one in progress.
#[derive(Debug, Deserialize, JsonSchema)]
struct TodoInput {
    /// init takes list or items, append a phase and items; the others take a task or a phase, done, drop and rm none for all.
    op: TodoOperation,
    /// Phases with tasks.
    list: Option<Vec<TodoPhaseInput>>,
    /// Its text.
    task: Option<String>,
    /// Its name.
    phase: Option<String>,
    /// Texts of tasks.
    items: Option<Vec<String>>,
    /// What a blocked task waits for.
    reason: Option<String>,
}

impl TodoInput {
    fn of(op: TodoOperation) -> Self {
        Self { op, list: None, task: None, phase: None, items: None, reason: None }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct TodoPhaseInput {
    phase: String,
    items: Vec<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum TodoOperation {
    Init,
    Start,
    Done,
    Drop,
    Block,
    Unblock,
    Rm,
    Append,
    View,
}

impl TodoOperation {
    fn as_str(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Start => "start",
            Self::Done => "done",
            Self::Drop => "drop",
            Self::Block => "block",
            Self::Unblock => "unblock",
            Self::Rm => "rm",
            Self::Append => "append",
            Self::View => "view",
        }
    }
}

/// The tool `todo`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Todo;

impl Tool for Todo {
    fn name(&self) -> &str {
        TODO_TOOL
    }

    fn spec(&self) -> ToolSpec {
        args::spec::<TodoInput>(TODO_TOOL)
    }

    fn summary(&self) -> Option<&str> {
        Some("keep a list of what is to be done")
    }

    /// It changes nothing outside the conversation.
    fn tier(&self, _arguments: &Value, _place: &ToolContext) -> Tier {
        Tier::Read(Vec::new())
    }

    fn run(&self, arguments: Value, place: Arc<ToolContext>, _: UnboundedSender<ToolOutcome>) -> Running {
        Box::pin(async move {
            let input: TodoInput = match args::parse(TODO_TOOL, with_operation(arguments)) {
                Ok(input) => input,
                Err(failed) => return failed,
            };
            let Some(lists) = place.conversation.todo_lists() else {
                return ToolOutcome::failed("there is no conversation whose list this could be");
            };
            let mut list = lists.lock().await;
            let before = match lists.current(&mut list).await {
                Ok(before) => before.clone(),
                Err(why) => return ToolOutcome::failed(format!("cannot read the list: {why}")),
            };
            match change::changed(&before, &input) {
                Ok(after) => {
                    *list = Some(after.clone());
                    outcome(input.op, &before, &after)
                }
                Err(why) => {
                    let words = format!("Nothing is changed: {why}.\n{}", todo_words(&before));
                    ToolOutcome { details: Some(details(input.op, &before)), ..ToolOutcome::failed(words) }
                }
            }
        })
    }
}

/// Models leave the operation out where there is only one that it can be.
fn with_operation(mut arguments: Value) -> Value {
    let Some(object) = arguments.as_object_mut().filter(|object| !object.contains_key("op")) else { return arguments };
    let has = |name: &str| object.get(name).and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    let op = match (has("list"), has("items"), object.contains_key("phase")) {
        (true, ..) => "init",
        (false, true, true) => "append",
        _ => return arguments,
    };
    object.insert("op".to_owned(), json!(op));
    arguments
}

fn details(op: TodoOperation, list: &TodoList) -> Value {
    let phases: Value = serde_json::from_str(&list.to_json()).unwrap_or_default();
    json!({"op": op.as_str(), "phases": phases, "storage": "session"})
}

fn outcome(op: TodoOperation, before: &TodoList, after: &TodoList) -> ToolOutcome {
    let mut details = details(op, after);
    let was_done = |task: &TodoTask| {
        before.tasks().any(|known| known.content == task.content && known.status == TodoStatus::Completed)
    };
    let completed: Vec<Value> = after
        .phases
        .iter()
        .flat_map(|phase| phase.tasks.iter().map(move |task| (phase, task)))
        .filter(|(_, task)| op != TodoOperation::View && task.status == TodoStatus::Completed && !was_done(task))
        .map(|(phase, task)| json!({"phase": phase.name, "content": task.content}))
        .collect();
    if !completed.is_empty() {
        details["completedTasks"] = Value::Array(completed);
    }
    ToolOutcome { details: Some(details), ..ToolOutcome::text(todo_words(after)) }
}

/// The list as text, as the model reads it.
#[must_use]
pub fn todo_words(list: &TodoList) -> String {
    let count = |takes: fn(TodoStatus) -> bool| list.tasks().filter(|task| takes(task.status)).count();
    let all = list.tasks().count();
    if all == 0 {
        return "The list is empty.".to_owned();
    }
    let (closed, open) = (count(TodoStatus::is_closed), count(TodoStatus::is_open));
    let mut text = format!("{closed} of {all} closed, {open} open");
    match all - closed - open {
        0 => text.push('.'),
        blocked => text.push_str(&format!(", {blocked} blocked.")),
    }
    for TodoPhase { name, tasks } in list.phases.iter().filter(|phase| !phase.tasks.is_empty()) {
        text.push_str(&format!("\n{name}:"));
        for task in tasks {
            text.push_str(&format!("\n  [{}] {}", mark(task.status), task.content));
            match (task.status, &task.blocker) {
                (TodoStatus::InProgress, _) => text.push_str(" (in progress)"),
                (TodoStatus::Abandoned, _) => text.push_str(" (dropped)"),
                (TodoStatus::Blocked, Some(reason)) => text.push_str(&format!(" (blocked: {reason})")),
                (TodoStatus::Blocked, None) => text.push_str(" (blocked)"),
                (TodoStatus::Pending | TodoStatus::Completed, _) => {}
            }
        }
    }
    text
}

fn mark(status: TodoStatus) -> char {
    match status {
        TodoStatus::Pending => ' ',
        TodoStatus::InProgress => '>',
        TodoStatus::Completed => 'x',
        TodoStatus::Abandoned => '-',
        TodoStatus::Blocked => '!',
    }
}
