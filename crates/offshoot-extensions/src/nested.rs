//! Calls that tools of extensions make while they run: pi's `executeTool`. They are judged, run and reported as calls of the model.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::extensions::{Extensions, Happening};
use offshoot_agent::request_queue::RunNested;
use offshoot_agent::tool::ToolOutcome;
use offshoot_agent::turn::Call;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::contract::ENDED;
use crate::steps::passing;
use crate::tool::shape;

/// The calls under way, each with the call whose tool makes it.
#[derive(Default)]
pub(crate) struct NestedCalls(Mutex<BTreeMap<String, String>>);

impl NestedCalls {
    fn parents(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the call whose tool makes a call to the payload of an event about it.
    pub(crate) fn name_parent(&self, payload: &mut Value, call: &str) {
        if let Some(parent) = self.parents().get(call) {
            payload["parentToolCallId"] = json!(parent);
        }
    }
}

/// A call under way. If its caller no longer waits for it, it is forgotten, and its end is told.
struct Running<'a> {
    calls: &'a NestedCalls,
    extensions: Arc<dyn Extensions>,
    parent: String,
    call: Call,
    has_ended: bool,
}

impl Running<'_> {
    fn tell(&self, event: &'static str, more: Value) {
        let Call { id, name, .. } = &self.call;
        let mut members = json!({"type": event, "toolCallId": id, "toolName": name, "parentToolCallId": self.parent});
        if let (Some(members), Value::Object(more)) = (members.as_object_mut(), more) {
            members.extend(more);
        }
        self.extensions.tell_happening(Happening::NestedCall { event, members });
    }

    fn end(&mut self, outcome: &ToolOutcome) {
        self.has_ended = true;
        self.tell("tool_execution_end", json!({"result": shape(outcome), "isError": outcome.is_error}));
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.end(&ToolOutcome { is_error: true, ..ToolOutcome::stopped(None) });
        }
        self.calls.parents().remove(&self.call.id);
    }
}

/// Runs a call to its end. What goes wrong in the tool is an outcome, not an error.
pub(crate) async fn execute(
    agent: &AgentSession,
    calls: &NestedCalls,
    params: &Value,
    progress: UnboundedSender<Value>,
) -> Result<Value, String> {
    let extensions = agent.extensions().ok_or_else(|| ENDED.to_owned())?;
    let text = |name: &str| params[name].as_str().unwrap_or_default().to_owned();
    let call = Call { id: text("toolCallId"), name: text("name"), arguments: params["args"].clone() };
    let parent = text("parentToolCallId");
    calls.parents().insert(call.id.clone(), parent.clone());
    let mut running = Running { calls, extensions, parent: parent.clone(), call: call.clone(), has_ended: false };
    let args = &call.arguments;
    running.tell("tool_execution_start", json!({"args": args}));
    let (partial, steps) = unbounded_channel();
    let asked = agent.ask(RunNested { parent, call: call.clone(), steps: partial });
    let pass = |step: ToolOutcome| {
        running.tell("tool_execution_update", json!({"args": args, "partialResult": shape(&step)}));
        drop(progress.send(shape(&step)));
    };
    let outcome = passing(asked, steps, pass).await.map_err(|error| error.to_string())?;
    running.end(&outcome);
    let made = json!({"type": "toolCall", "id": call.id, "name": call.name, "arguments": args});
    Ok(json!({"toolCall": made, "result": shape(&outcome), "isError": outcome.is_error}))
}
