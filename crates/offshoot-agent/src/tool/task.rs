//! The tool `task`: work for other agents, each in a session of its own. Takes omp's arguments, in its form with a list and in its flat
//! one. Who starts the agents is not known here.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::{Running, TaskCall, TaskLimits, TaskOrder, Tier, Tool, ToolContext, ToolOutcome, args};
use crate::provider::ToolSpec;

/// Give work to other agents, side by side, each in a conversation of its own. They know nothing of this one, unless fork: a task says
/// all that is needed. Returns what each said last. Agents: task (any work, all tools), scout (finds things in files), reviewer (reviews), plan
/// (writes a plan); the last three change nothing.
#[derive(Debug, Deserialize, JsonSchema)]
struct TaskInput {
    /// For all of them.
    context: Option<String>,
    /// One for each agent.
    tasks: Vec<TaskInputOrder>,
    /// Answer at once; results come later.
    #[serde(default)]
    background: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct TaskInputOrder {
    task: String,
    /// A word, such as Alpha.
    name: Option<String>,
    /// By default task.
    agent: Option<String>,
    #[schemars(skip)]
    model: Option<String>,
    #[schemars(skip)]
    thinking: Option<String>,
    /// What it may use at most.
    limits: Option<TaskLimits>,
    /// Schema of its last message.
    #[serde(rename = "outputSchema")]
    output_schema: Option<serde_json::Map<String, Value>>,
    /// Begin with this conversation.
    fork: Option<bool>,
}

/// The name of [`Task`].
pub const TASK_TOOL: &str = "task";
/// More are not started by one call.
const MOST_TASKS: usize = 32;

/// The tool `task`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Task;

impl Tool for Task {
    fn name(&self) -> &str {
        TASK_TOOL
    }

    fn spec(&self) -> ToolSpec {
        args::spec::<TaskInput>(TASK_TOOL)
    }

    fn summary(&self) -> Option<&str> {
        Some("give work to other agents")
    }

    fn starts_agents(&self) -> bool {
        true
    }

    /// It does nothing by itself: every call of an agent that it starts is judged for itself.
    fn tier(&self, _arguments: &Value, _place: &ToolContext) -> Tier {
        Tier::Read(Vec::new())
    }

    fn run(&self, arguments: Value, place: Arc<ToolContext>, partial: UnboundedSender<ToolOutcome>) -> Running {
        Box::pin(async move {
            let call = match task_call(arguments) {
                Ok(call) => call,
                Err(failed) => return failed,
            };
            let Some(runner) = place.conversation.tasks() else {
                return ToolOutcome::failed("No agents can be started here. Do the work yourself.");
            };
            runner.run(call, partial).await
        })
    }
}

/// What a call asks for, or its result if the arguments do not fit.
pub(crate) fn task_call(arguments: Value) -> Result<TaskCall, ToolOutcome> {
    let TaskInput { context, tasks, background } = args::parse(TASK_TOOL, with_list(arguments))?;
    if tasks.is_empty() || tasks.len() > MOST_TASKS {
        return Err(ToolOutcome::failed(format!("Nothing is started: {} tasks, not 1 to {MOST_TASKS}.", tasks.len())));
    }
    if let Some(at) = tasks.iter().position(|order| order.task.trim().is_empty()) {
        return Err(ToolOutcome::failed(format!("Nothing is started: task {} is empty.", at + 1)));
    }
    let order = |TaskInputOrder { task, name, agent, model, thinking, limits, output_schema, fork }| TaskOrder {
        task,
        name: said(name),
        agent: said(agent),
        model: said(model),
        thinking: said(thinking),
        limits: limits.unwrap_or_default(),
        output_schema: output_schema.map(Value::Object),
        fork: fork.unwrap_or_default(),
    };
    let tasks = tasks.into_iter().map(order).collect();
    Ok(TaskCall { context: said(context), tasks, background: background.unwrap_or_default() })
}

fn said(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

/// Of the flat form a list with one task.
fn with_list(arguments: Value) -> Value {
    let Value::Object(mut object) = arguments else { return arguments };
    if object.contains_key("tasks") || !object.contains_key("task") {
        return Value::Object(object);
    }
    let whole = ["context", "background"].map(|name| (name, object.remove(name)));
    let mut call = json!({"tasks": [Value::Object(object)]});
    if let Some(call) = call.as_object_mut() {
        call.extend(whole.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    }
    call
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_omp_are_understood() {
        let list = json!({"context": "c", "tasks": [{"task": "a", "name": "Alpha", "agent": "scout",
            "limits": {"usd": "0.5", "requests": 3.0}}, {"task": "b", "agent": " "}], "i": "intent"});
        let call = task_call(list).unwrap();
        let limits = TaskLimits { usd: Some(0.5), requests: Some(3), ..TaskLimits::default() };
        let alpha = TaskOrder {
            task: "a".to_owned(),
            name: Some("Alpha".to_owned()),
            agent: Some("scout".to_owned()),
            limits,
            ..TaskOrder::default()
        };
        let other = TaskOrder { task: "b".to_owned(), ..TaskOrder::default() };
        assert_eq!(
            call,
            TaskCall { context: Some("c".to_owned()), tasks: vec![alpha, other.clone()], background: false }
        );
        let flat = task_call(json!({"task": "b", "context": "c", "model": null, "background": true})).unwrap();
        assert_eq!(flat, TaskCall { context: Some("c".to_owned()), tasks: vec![other], background: true });
        let formed = task_call(json!({"task": "b", "fork": true, "outputSchema": {"type": "object"}})).unwrap();
        assert!(formed.tasks[0].fork && formed.tasks[0].output_schema == Some(json!({"type": "object"})));
        for wrong in
            [json!({}), json!({"tasks": []}), json!({"tasks": [{"task": " "}]}), json!([]), json!({"tasks": 3})]
        {
            assert!(task_call(wrong.clone()).unwrap_err().is_error, "{wrong}");
        }
        let nothing = task_call(json!({"task": "b", "limits": {"usd": -1}})).unwrap();
        assert_eq!(nothing.tasks[0].limits.usd, Some(0.0));
    }

    /// Every request pays for it.
    #[test]
    fn its_description_stays_small() {
        let spec = Task.spec();
        let bytes = serde_json::to_string(&json!([spec.name, spec.description, spec.parameters])).unwrap().len();
        assert!(bytes < 1200, "{bytes}");
    }
}
