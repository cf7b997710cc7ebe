//! What several handlers of one event together decide. The order is that of the registry.

use std::path::PathBuf;
use std::sync::Arc;

use offshoot_agent::extensions::{
    Asked, CallVerdict, EndAdditions, EndedTurn, GivenSummary, Leaving, RunAdditions, RunStart, Said, SaidVerdict,
    ShellOperations, ShellVerdict, StreamEvent, SummaryQuestion, SummaryVerdict,
};
use offshoot_agent::provider::HeaderChange;
use offshoot_agent::resources::AddedPaths;
use offshoot_agent::tool::ToolOutcome;
use offshoot_agent::turn::{Call, EndOutcome};
use offshoot_protocol::message::{Block, CustomMessage, Message};
use offshoot_protocol::{BashRun, Reason, Secret, SessionReason};
use offshoot_session::json::{Json, Object, quote};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::contract::{Failure, HandlerAnswer, Host, Payload};
use crate::registry::Listener;
use crate::runner::Runner;
use crate::steps::passing;
use crate::tool::outcome;

impl Runner {
    /// Every handler gets it; what they return has no meaning.
    pub(crate) async fn tell(&mut self, event: &'static str, payload: Value) {
        let payload = Payload::from(payload.to_string());
        for listener in self.listeners(event) {
            self.answer(&listener, event, payload.clone()).await;
        }
    }

    /// A handler's answer; `None` if it failed, which is reported.
    pub(crate) async fn answer(&mut self, listener: &Listener, event: &str, payload: Payload) -> Option<HandlerAnswer> {
        self.ask(listener, event, payload).await.ok()
    }

    /// The first block stops the call. So does a handler that fails: it may be one that guards.
    pub(crate) async fn before_call(&mut self, mut call: Call) -> CallVerdict {
        if let Some(why) = self.lost_judge() {
            return CallVerdict::Block { reason: why, ends_run: false };
        }
        for listener in self.listeners("tool_call") {
            let mut payload = json!({
                "type": "tool_call", "toolName": call.name, "toolCallId": call.id, "input": call.arguments
            });
            self.shared.nested.name_parent(&mut payload, &call.id);
            let answer = match self.ask(&listener, "tool_call", payload.to_string().into()).await {
                Ok(answer) => answer,
                Err(Failure { message, .. }) => {
                    let path = &listener.path;
                    let reason = format!("not run: the extension {path} failed at this call: {message}");
                    return CallVerdict::Block { reason, ends_run: false };
                }
            };
            if let Some(input) = answer.input {
                call.arguments = input;
            }
            if answer.ok["block"].as_bool() == Some(true) {
                let reason = answer.ok["reason"].as_str().filter(|reason| !reason.is_empty());
                let usual = || format!("not run: the extension {} blocked this call", listener.path);
                let ends_run = answer.ok["terminate"].as_bool() == Some(true);
                return CallVerdict::Block { reason: reason.map_or_else(usual, str::to_owned), ends_run };
            }
        }
        CallVerdict::Run(call)
    }

    /// Each handler sees what the ones before made of the result.
    pub(crate) async fn after_call(&mut self, call: Call, mut result: ToolOutcome) -> ToolOutcome {
        for listener in self.listeners("tool_result") {
            let mut payload = json!({
                "type": "tool_result", "toolName": call.name, "toolCallId": call.id, "input": call.arguments,
                "content": result.content, "details": result.details, "isError": result.is_error
            });
            self.shared.nested.name_parent(&mut payload, &call.id);
            let Some(answer) = self.answer(&listener, "tool_result", payload.to_string().into()).await else {
                continue;
            };
            let changed = outcome(json!({"content": answer.ok["content"], "details": answer.ok["details"]}));
            if answer.ok.get("content").is_some_and(Value::is_array) {
                result.content = changed.content;
            }
            if answer.ok.get("details").is_some() {
                result.details = changed.details;
            }
            if let Some(is_error) = answer.ok["isError"].as_bool() {
                result.is_error = is_error;
            }
        }
        result
    }

    /// All messages are added; each handler sees the system prompt as the ones before have left it.
    pub(crate) async fn before_run(&mut self, start: RunStart) -> RunAdditions {
        let mut additions = RunAdditions::default();
        let (mut system, mut sections) = (start.system, Map::new());
        for listener in self.listeners("before_agent_start") {
            let payload = json!({
                "type": "before_agent_start", "messageType": "user", "prompt": start.prompt, "images": start.images, "systemPrompt": system,
                "systemPromptOptions": {
                    "sections": sections, "selectedTools": start.tools, "cwd": start.cwd, "skills": [], "contextFiles": []
                }
            });
            let event = "before_agent_start";
            let Some(answer) = self.answer(&listener, event, payload.to_string().into()).await else { continue };
            if let Some(message) = answer.ok.get("message").filter(|message| message.is_object()) {
                match custom_message(message) {
                    Ok(message) => additions.messages.push(message),
                    Err(why) => self.report(&listener, event, &Failure::new(format!("its message is not one: {why}"))),
                }
            }
            if let Some(changed) = answer.ok["systemPromptOptions"]["sections"].as_object() {
                // The host sends what it was given and what was added.
                for (name, text) in changed.iter().filter(|(name, text)| sections.get(*name) != Some(*text)) {
                    let text = text.as_str().unwrap_or_default();
                    system = format!("{system}\n\n<{name}>\n{text}\n</{name}>");
                    additions.system = Some(system.clone());
                }
                sections.clone_from(changed);
            }
            if let Some(text) = answer.ok["systemPromptAppend"].as_str() {
                system = format!("{system}\n\n{text}");
                additions.system = Some(system.clone());
            }
            if let Some(text) = answer.ok["systemPrompt"].as_str() {
                text.clone_into(&mut system);
                additions.system = Some(system.clone());
            }
        }
        additions
    }

    /// Each handler sees what the ones before made of it; the first that handles it is the last.
    pub(crate) async fn said(&mut self, mut said: Said, source: &'static str) -> SaidVerdict {
        for listener in self.listeners("input") {
            let mut payload = json!({"type": "input", "text": said.text, "images": said.images, "source": source});
            if let Some(behavior) = said.while_streaming {
                payload["streamingBehavior"] = json!(behavior.as_str());
            }
            let Some(answer) = self.answer(&listener, "input", payload.to_string().into()).await else { continue };
            match answer.ok["action"].as_str() {
                Some("handled") => return SaidVerdict::Handled,
                Some("transform") => {
                    if let Some(text) = answer.ok["text"].as_str() {
                        text.clone_into(&mut said.text);
                    }
                    if let Some(Value::Array(images)) = answer.ok.get("images") {
                        let images = images.iter().filter_map(|image| serde_json::from_value(image.clone()).ok());
                        said.images = images.filter(|block| matches!(block, Block::Image { .. })).collect();
                    }
                }
                _ => {}
            }
        }
        SaidVerdict::Continue(said)
    }

    /// The first handler with an answer is the last.
    pub(crate) async fn before_shell(&mut self, command: &str, exclude: bool, cwd: PathBuf) -> ShellVerdict {
        for listener in self.listeners("user_bash") {
            let payload =
                json!({"type": "user_bash", "command": command, "excludeFromContext": exclude, "cwd": cwd.clone()});
            let Some(answer) = self.answer(&listener, "user_bash", payload.to_string().into()).await else { continue };
            if let Some(handle) = answer.ok["operations"]["handle"].as_u64() {
                let host = listener.host.clone();
                return ShellVerdict::Elsewhere(Arc::new(HostOperations { host, handle }));
            }
            let Some(result) = answer.ok.get("result").filter(|result| result.is_object()) else { continue };
            return ShellVerdict::Given(BashRun {
                output: result["output"].as_str().unwrap_or_default().to_owned(),
                exit_code: result["exitCode"].as_i64().and_then(|code| i32::try_from(code).ok()),
                cancelled: result["cancelled"].as_bool().unwrap_or(false),
                truncated: result["truncated"].as_bool().unwrap_or(false),
                full_output_path: result["fullOutputPath"].as_str().map(PathBuf::from),
                duration_ms: None,
            });
        }
        ShellVerdict::Usual
    }

    /// Each handler sees what the ones before made of the headers. One with the value null is not sent.
    pub(crate) async fn before_headers(&mut self, headers: Vec<(String, Secret)>) -> Option<Vec<HeaderChange>> {
        let value = |value: &Secret| json!(value.expose());
        let mut map: Map<String, Value> = headers.iter().map(|(name, text)| (name.clone(), value(text))).collect();
        let mut is_changed = false;
        for listener in self.listeners("before_provider_headers") {
            let payload = json!({"type": "before_provider_headers", "headers": map}).to_string();
            let answer = self.answer(&listener, "before_provider_headers", payload.into()).await;
            if let Some(Value::Object(changed)) =
                answer.and_then(|mut answer| answer.ok.get_mut("headers").map(Value::take))
            {
                map = changed;
                is_changed = true;
            }
        }
        let change = |(name, value): (String, Value)| match value {
            Value::Null => (name, None),
            Value::String(text) => (name, Some(Secret::new(text))),
            other => (name, Some(Secret::new(other.to_string()))),
        };
        is_changed.then(|| map.into_iter().map(change).collect())
    }

    /// Each handler sees the body as the ones before have left it.
    pub(crate) async fn before_body(&mut self, body: String) -> Option<String> {
        let mut changed: Option<String> = None;
        for listener in self.listeners("before_provider_request") {
            let now = changed.as_ref().unwrap_or(&body);
            let payload = format!(r#"{{"type":"before_provider_request","payload":{now}}}"#);
            let answer = self.answer(&listener, "before_provider_request", payload.into()).await;
            if let Some(answer) = answer.filter(|answer| answer.ok.is_object()) {
                changed = Some(answer.ok.to_string());
            }
        }
        changed
    }

    pub(crate) async fn after_response(&mut self, status: u16, headers: Vec<(String, String)>) {
        let headers: Map<String, Value> = headers.into_iter().map(|(name, value)| (name, json!(value))).collect();
        let payload = json!({"type": "after_provider_response", "status": status, "headers": headers});
        self.tell("after_provider_response", payload).await;
    }

    /// Data that are not JSON are handed on as text.
    pub(crate) async fn stream_event(&mut self, event: StreamEvent) {
        let StreamEvent { provider, api, model, data } = event;
        let data = if Json::parse(&data).is_ok() { data } else { quote(&data) };
        let payload = Object::new().str("type", "provider_stream_event").str("provider", &provider).str("api", &api);
        let payload = Payload::from(payload.str("model", &model).raw("data", data).finish());
        for listener in self.listeners("provider_stream_event") {
            self.answer(&listener, "provider_stream_event", payload.clone()).await;
        }
    }

    /// Each handler sees the message as the ones before have left it. Its role stays.
    pub(crate) async fn message_end(&mut self, mut message: Message, is_new: bool) -> Message {
        let as_json = |message: &Message| serde_json::to_value(message).unwrap_or_default();
        if is_new {
            self.tell("message_start", json!({"type": "message_start", "message": as_json(&message)})).await;
        }
        for listener in self.listeners("message_end") {
            let now = as_json(&message);
            let payload = json!({"type": "message_end", "message": now}).to_string();
            let Some(answer) = self.answer(&listener, "message_end", payload.into()).await else { continue };
            let Some(given) = answer.ok.get("message").filter(|given| given.is_object()) else { continue };
            let replaced = match given["role"] == now["role"] {
                true => {
                    serde_json::from_value(given.clone()).map_err(|error| format!("its message is not one: {error}"))
                }
                false => Err("message_end handlers must return a message with the same role".to_owned()),
            };
            match replaced {
                Ok(replaced) => message = replaced,
                Err(why) => self.report(&listener, "message_end", &Failure::new(why)),
            }
        }
        message
    }

    pub(crate) async fn turn_end(&mut self, turn: EndedTurn) -> EndAdditions {
        let index = self.state.end_turn();
        let payload = json!({
            "type": "turn_end", "turnIndex": index, "message": turn.message, "toolResults": turn.results,
            "messageEntryId": turn.message_id, "toolResultEntryIds": turn.result_ids, "outcome": turn.outcome.as_str()
        });
        self.boundary("turn_end", payload).await
    }

    pub(crate) async fn before_settling(&mut self, outcome: EndOutcome) -> EndAdditions {
        self.boundary("agent_before_settle", json!({"type": "agent_before_settle", "outcome": outcome.as_str()})).await
    }

    /// The last answer counts, for entries and for `continue`; each handler sees those of the ones before.
    async fn boundary(&mut self, event: &'static str, mut payload: Value) -> EndAdditions {
        let mut additions = EndAdditions::default();
        for listener in self.listeners(event) {
            payload["entries"] = json!(additions.entries);
            payload["continue"] = json!(additions.continues);
            let Some(answer) = self.answer(&listener, event, payload.to_string().into()).await else { continue };
            if let Some(entries) = answer.ok.get("entries").and_then(Value::as_array) {
                additions.entries.clone_from(entries);
            }
            if let Some(continues) = answer.ok.get("continue").and_then(Value::as_bool) {
                additions.continues = continues;
            }
        }
        additions
    }

    /// The first handler that says no is the last.
    pub(crate) async fn may_leave(&mut self, leaving: &Leaving) -> bool {
        let (event, payload) = match leaving {
            Leaving::New => ("session_before_switch", json!({"type": "session_before_switch", "reason": "new"})),
            Leaving::Resume(file) => (
                "session_before_switch",
                json!({"type": "session_before_switch", "reason": "resume", "targetSessionFile": file}),
            ),
            Leaving::Fork { entry, is_before } => {
                let position = if *is_before { "before" } else { "at" };
                let payload = json!({"type": "session_before_fork", "entryId": entry, "position": position});
                ("session_before_fork", payload)
            }
        };
        let payload = Payload::from(payload.to_string());
        for listener in self.listeners(event) {
            let answer = self.answer(&listener, event, payload.clone()).await;
            if answer.is_some_and(|answer| answer.ok["cancel"].as_bool() == Some(true)) {
                return false;
            }
        }
        true
    }

    /// The paths of all handlers, in their order. One that is not absolute begins in the session's folder.
    pub(crate) async fn discovered(&mut self, reason: SessionReason) -> DiscoveredPaths {
        let cwd = self.hosts.first().map(|(_, request)| request.cwd.clone()).unwrap_or_default();
        let payload = Payload::from(json!({"type": "resources_discover", "cwd": cwd, "reason": reason}).to_string());
        let mut found = DiscoveredPaths::default();
        for listener in self.listeners("resources_discover") {
            let Some(answer) = self.answer(&listener, "resources_discover", payload.clone()).await else { continue };
            let paths = |name: &str| {
                let words = answer.ok.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
                words.iter().filter_map(Value::as_str).map(|word| cwd.join(word)).collect::<Vec<_>>()
            };
            found.paths.skills.extend(paths("skillPaths"));
            found.paths.templates.extend(paths("promptPaths"));
            found.themes.extend(paths("themePaths"));
        }
        found
    }

    /// The last answer counts; a `cancel` at once.
    pub(crate) async fn before_compaction(&mut self, question: SummaryQuestion) -> SummaryVerdict {
        let instructions = question.instructions.as_deref().map(|text| json!(text).to_string());
        let instructions = instructions.map(|text| format!(r#","customInstructions":{text}"#)).unwrap_or_default();
        let payload = format!(
            r#"{{"type":"session_before_compact","preparation":{},"branchEntries":{},"reason":"{}","willRetry":false{instructions}}}"#,
            question.preparation,
            question.entries,
            question.reason.map(Reason::as_str).unwrap_or_default()
        );
        let payload = Payload::from(payload);
        let mut verdict = SummaryVerdict::Usual;
        for listener in self.listeners("session_before_compact") {
            let answer = self.answer(&listener, "session_before_compact", payload.clone()).await;
            let Some(answer) = answer else { continue };
            if answer.ok["cancel"].as_bool() == Some(true) {
                return SummaryVerdict::Cancelled;
            }
            if let Some(given) = answer.ok.get("compaction").and_then(Value::as_object) {
                verdict = SummaryVerdict::Given(summary(given));
            }
        }
        verdict
    }

    pub(crate) async fn before_move(&mut self, question: SummaryQuestion) -> SummaryVerdict {
        let payload = format!(r#"{{"type":"session_before_tree","preparation":{}}}"#, question.preparation);
        let payload = Payload::from(payload);
        let mut verdict = SummaryVerdict::Usual;
        for listener in self.listeners("session_before_tree") {
            let answer = self.answer(&listener, "session_before_tree", payload.clone()).await;
            let Some(answer) = answer else { continue };
            let ok = &answer.ok;
            if ok["cancel"].as_bool() == Some(true) {
                return SummaryVerdict::Cancelled;
            }
            if let Some(given) = ok.get("summary").and_then(Value::as_object) {
                verdict = SummaryVerdict::Given(summary(given));
            } else if ["customInstructions", "replaceInstructions", "label"].iter().any(|name| ok.get(*name).is_some())
            {
                verdict = SummaryVerdict::Instructed {
                    instructions: ok["customInstructions"].as_str().map(str::to_owned),
                    replace: ok["replaceInstructions"].as_bool(),
                    label: ok["label"].as_str().map(str::to_owned),
                };
            }
        }
        verdict
    }
}

/// Files and folders that extensions add.
#[derive(Default)]
pub(crate) struct DiscoveredPaths {
    pub(crate) paths: AddedPaths,
    pub(crate) themes: Vec<PathBuf>,
}

/// Operations of a handler's answer, which its host keeps.
struct HostOperations {
    host: Arc<dyn Host>,
    handle: u64,
}

impl ShellOperations for HostOperations {
    fn run(
        &self,
        command: String,
        cwd: PathBuf,
        printed: UnboundedSender<String>,
    ) -> Asked<'_, Result<Option<i32>, String>> {
        Box::pin(async move {
            let what = json!({"kind": "bashOperations.exec", "handle": self.handle, "command": command, "cwd": cwd});
            let (progress, steps) = unbounded_channel();
            let print = |step: Value| drop(printed.send(step["data"].as_str().unwrap_or_default().to_owned()));
            let ended = passing(self.host.invoke(what, progress), steps, print).await;
            let code = ended.map_err(|failure| failure.message)?["exitCode"].as_i64();
            Ok(code.and_then(|code| i32::try_from(code).ok()))
        })
    }
}

fn custom_message(message: &Value) -> Result<CustomMessage, String> {
    let mut message = message.clone();
    message["timestamp"] = json!(0);
    serde_json::from_value(message).map_err(|error| error.to_string())
}

fn summary(given: &Map<String, Value>) -> GivenSummary {
    let text = |name: &str| given.get(name).and_then(Value::as_str).map(str::to_owned);
    let json = |name: &str| given.get(name).filter(|value| !value.is_null()).map(Value::to_string);
    GivenSummary {
        text: text("summary").unwrap_or_default(),
        first_kept: text("firstKeptEntryId"),
        tokens_before: given.get("tokensBefore").and_then(Value::as_u64),
        details: json("details"),
        usage: json("usage"),
    }
}
