//! Answers what extensions ask, from the session's own thread and from the agent.

use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Weak};

use offshoot_agent::agent_session::AgentSession;
use offshoot_agent::extensions::StreamEvent;
use offshoot_agent::forecast::{RequestPlace, request_forecast};
use offshoot_agent::lenient_json;
use offshoot_agent::request_queue::{AgentState, Askable, BuiltIn, BuiltInTool, Inspect};
use offshoot_agent::tool::{ToolContext, ToolOutcome};
use offshoot_agent::writer::OwnedSession;
use offshoot_protocol::model::Model;
use offshoot_protocol::request::{AppendEntry, Forked, PrepareSession, SetActiveTools, SetThinkingLevel};
use offshoot_protocol::{AgentError, ThinkingLevel};
use offshoot_session::clock::{Clock, Millis};
use offshoot_session::id::EntryId;
use offshoot_session::json::Json;
use offshoot_session::text::spell_name;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::complete;
use crate::contract::{CALL, ENDED, HostFuture, LoadedExtension, ProgramMode, Services};
use crate::nested;
use crate::payload::model;
use crate::program::{Operated, Program};
use crate::prompt_options::system_prompt_options;
use crate::session_calls;
use crate::shared::Shared;
use crate::steps::passing;
use crate::tool::shape;

pub(crate) struct AgentServices {
    pub(crate) shared: Weak<Shared>,
    pub(crate) runtime: Handle,
    pub(crate) clock: Arc<dyn Clock + Sync>,
}

impl AgentServices {
    pub(crate) fn shared(&self) -> Result<Arc<Shared>, String> {
        self.shared.upgrade().ok_or_else(|| ENDED.to_owned())
    }

    pub(crate) fn agent(&self) -> Result<AgentSession, String> {
        self.shared()?.agent().ok_or_else(|| ENDED.to_owned())
    }

    /// Called on a thread of a host, never on one of the runtime.
    fn ask<R: Askable>(&self, request: R) -> Result<R::Reply, String> {
        let agent = self.agent()?;
        self.runtime.block_on(async move { agent.ask(request).await }).map_err(|error| error.to_string())
    }

    pub(crate) fn state(&self) -> Result<AgentState, String> {
        self.ask(Inspect)
    }

    fn session(&self, method: &str, params: &str) -> Result<String, String> {
        if let Some(prepared) = session_calls::prepared(method, params) {
            let prepared = prepared.map_err(|error| error.to_string())?;
            return Ok(json!(self.ask(PrepareSession(prepared))?.file).to_string());
        }
        if method == "usesDefaultSessionDir" {
            return Ok(self.shared()?.program.look(method, &value::<Value>(params)?).to_string());
        }
        let (name, params) = (method.to_owned(), params.to_owned());
        let done = self.on_session(move |owned| session_calls::run(owned, &name, &params))?;
        let done = done.ok_or_else(|| unknown(&format!("session.{method}")))?;
        done.map_err(|error| error.to_string())
    }

    /// Runs on the session's thread, and waits for it.
    fn on_session<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut OwnedSession) -> T + Send + 'static,
    ) -> Result<T, String> {
        let (answer, answered) = sync_channel(1);
        self.agent()?.session_thread().send(work, move |done| drop(answer.send(done)));
        answered.recv().map_err(|_| ENDED.to_owned())?.map_err(|error| error.to_string())
    }

    fn pi(&self, method: &str, text: &str) -> Result<String, String> {
        let params: &Value = &value(text)?;
        let data = Json::parse(text).ok().and_then(|params| params.get("data")).filter(|data| !data.is_null());
        let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        match method {
            "appendEntry" => {
                let data = data.map(|data| data.text().to_owned());
                Ok(json!(self.ask(AppendEntry { custom_type: text("customType"), data })?).to_string())
            }
            "sendMessage" => self.send_message(params),
            "sendUserMessage" => self.send_user_message(params),
            "setSessionName" => self.operate("name", vec![("text", vec![text("name")])]),
            "getSessionName" => self.session("getSessionName", NOTHING),
            "setLabel" => {
                let entry = ("entry", vec![text("entryId")]);
                match params.get("label").and_then(Value::as_str).filter(|label| !label.is_empty()) {
                    Some(label) => self.operate("label", vec![entry, ("text", vec![label.to_owned()])]),
                    None => self.operate("label", vec![entry, ("clear", Vec::new())]),
                }
            }
            "getActiveTools" => Ok(json!(self.state()?.active_tools).to_string()),
            "getAllTools" => {
                let tools = self.state()?.tools.0;
                let info = |tool: &Arc<dyn offshoot_agent::tool::Tool>| {
                    let spec = tool.spec();
                    let path = tool.provider().map_or_else(|| format!("<builtin:{}>", spec.name), str::to_owned);
                    let source = if tool.provider().is_some() { "extension" } else { "builtin" };
                    json!({
                        "name": spec.name, "description": spec.description, "parameters": spec.parameters,
                        "sourceInfo": {"path": path, "source": source, "scope": "temporary", "origin": "top-level"}
                    })
                };
                Ok(Value::Array(tools.iter().map(info).collect()).to_string())
            }
            "setActiveTools" => {
                let names = params.get("names").or(params.get("toolNames")).and_then(Value::as_array).cloned();
                let names = names.unwrap_or_default().iter().filter_map(Value::as_str).map(str::to_owned).collect();
                self.done(SetActiveTools(names))
            }
            "getCommands" => {
                let (shared, resources) = (self.shared()?, self.state()?.resources);
                let mut all = shared.command_infos();
                all.extend(shared.program.resource_commands(&resources));
                Ok(Value::Array(all).to_string())
            }
            "getSettings" => Ok(self.shared()?.program.look("getSettings", &Value::Null).to_string()),
            "getThinkingLevel" => Ok(json!(self.state()?.thinking.as_str()).to_string()),
            "setThinkingLevel" => {
                let level = ThinkingLevel::parse(&text("level"));
                let level = level.ok_or_else(|| format!("there is no thinking level {:?}", text("level")))?;
                self.done(SetThinkingLevel(level))
            }
            _ => Err(unknown(&format!("pi.{method}"))),
        }
    }

    /// Runs an operation of the program's table; see [`AgentServices::ask`].
    fn operate(&self, operation: &'static str, given: Vec<(&'static str, Vec<String>)>) -> Result<String, String> {
        let (shared, agent) = (self.shared()?, self.agent()?);
        let done = self.runtime.block_on(shared.program.operate(agent, operation, given));
        done.map(|_| "null".to_owned()).map_err(|error| error.to_string())
    }

    pub(crate) fn done(&self, request: impl Askable) -> Result<String, String> {
        self.ask(request).map(|_| "null".to_owned())
    }

    fn ctx(&self, method: &str, params: &Value) -> Result<String, String> {
        let value = match method {
            "isIdle" => json!(!self.state()?.is_streaming),
            "hasPendingMessages" => {
                let state = self.state()?;
                json!(!(state.steering.is_empty() && state.follow_up.is_empty()))
            }
            "getSystemPrompt" => json!(self.state()?.system),
            "getModel" => model(&self.state()?.model),
            "getContextUsage" => {
                let AgentState { model, overhead, .. } = self.state()?;
                let window = model.context_window;
                let weight = self.on_session(|owned| {
                    let session = owned.session();
                    let weight = offshoot_session::context::weigh(session, session.leaf(), session.dialect());
                    weight.map_err(AgentError::from)
                });
                let weight = weight?.map_err(|error| error.to_string())?;
                let tokens = weight.total(overhead);
                #[expect(clippy::cast_precision_loss, reason = "a percentage")]
                let percent = if window == 0 { 0.0 } else { tokens as f64 * 100.0 / window as f64 };
                json!({
                    "tokens": tokens, "contextWindow": window, "percent": percent,
                    "messageTokens": weight.messages, "overheadTokens": overhead
                })
            }
            "boundaryContext" => return self.boundary_context(params),
            "getScopedModels" => {
                let scoped = self.shared()?.program.scoped_models();
                let one = |(found, level): &(Arc<Model>, Option<ThinkingLevel>)| match level {
                    Some(level) => json!({"model": model(found), "thinkingLevel": level.as_str()}),
                    None => json!({"model": model(found)}),
                };
                Value::Array(scoped.iter().map(one).collect())
            }
            "isProjectTrusted" => json!(self.shared()?.program.look("isProjectTrusted", &Value::Null)),
            "getSystemPromptOptions" => system_prompt_options(&self.state()?, &self.session("getCwd", NOTHING)?),
            _ => return Err(unknown(&format!("ctx.{method}"))),
        };
        Ok(value.to_string())
    }

    /// The context at the end of a turn or a run, as drafts would leave it.
    fn boundary_context(&self, params: &Value) -> Result<String, String> {
        let drafts = params["entries"].to_string();
        let entries = self.on_session(move |owned| session_calls::context_entries(owned, &drafts))?;
        let entries: Vec<Value> = value(&entries.map_err(|error| error.to_string())?)?;
        let messages: Vec<&Value> = entries.iter().filter_map(|entry| entry["messages"].as_array()).flatten().collect();
        let AgentState { steering, follow_up, .. } = self.state()?;
        let waiting = |text: String| json!({"role": "user", "content": [{"type": "text", "text": text}]});
        let pending: Vec<Value> = steering.into_iter().chain(follow_up).map(waiting).collect();
        let is_answered = messages.last().is_none_or(|last| last["role"] == "assistant");
        Ok(json!({
            "contextMessages": messages, "llmMessages": messages, "canContinue": !(pending.is_empty() && is_answered),
            "pendingMessages": pending, "contextEntries": entries
        })
        .to_string())
    }

    fn models(&self, method: &str, params: &Value) -> Result<String, String> {
        let program = &self.shared()?.program;
        let is = |model: &Arc<Model>| {
            params.get("provider").and_then(Value::as_str) == Some(&model.provider)
                && params.get("id").and_then(Value::as_str) == Some(&model.id)
        };
        let value = match method {
            "getAll" => program.models(false).iter().map(|found| model(found)).collect(),
            "getAvailable" => program.models(true).iter().map(|found| model(found)).collect(),
            "find" => program.models(false).iter().find(|found| is(found)).map_or(Value::Null, |found| model(found)),
            "hasAuth" => json!(program.models(true).iter().any(is)),
            "isUsingOAuth" => {
                let provider = params.get("provider").and_then(Value::as_str).unwrap_or_default();
                json!(program.credentials(provider).is_some())
            }
            _ => return Err(unknown(&format!("models.{method}"))),
        };
        Ok(value.to_string())
    }
}

impl Services for AgentServices {
    fn now(&self, method: &str, text: &str) -> Result<String, String> {
        if let Some(name) = method.strip_prefix("session.") {
            return self.session(name, text);
        }
        if let Some(name) = method.strip_prefix("pi.") {
            return self.pi(name, text);
        }
        let params: Value = value(text)?;
        match method.split_once('.') {
            Some(("ctx", name)) => self.ctx(name, &params),
            Some(("models", name)) => self.models(name, &params),
            Some(("ui", name)) => Ok(self.shared()?.program.look(name, &params).to_string()),
            Some(("host", "registered")) => self.shared()?.registered_later(&params, &self.runtime),
            Some(("host", "unregistered")) => self.shared()?.unregistered(&params, &self.runtime),
            _ => Err(unknown(method)),
        }
    }

    fn later(
        &self,
        method: String,
        params: Value,
        progress: UnboundedSender<Value>,
    ) -> HostFuture<'static, Result<Value, String>> {
        let (shared, clock) = (self.shared(), self.clock.clone());
        Box::pin(async move {
            let shared = shared?;
            let agent = || shared.agent().ok_or_else(|| ENDED.to_owned());
            match method.split_once('.') {
                Some(("ui", name)) => {
                    let _open = shared.ui_prompt(name, &params);
                    Ok(shared.program.ask_user(name.to_owned(), params).await)
                }
                Some(("pi", "setModel")) => {
                    let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
                    let (provider, id) = (text("provider"), text("id"));
                    let usable = shared.program.models(true);
                    let found = usable.into_iter().find(|model| model.provider == provider && model.id == id);
                    let Some(found) = found else { return Ok(json!(false)) };
                    agent()?.set_model(found).await.map_err(|error| error.to_string())?;
                    Ok(json!(true))
                }
                Some(("models", "stream")) => {
                    let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default();
                    let (provider, id) = (text("provider"), text("id"));
                    let all = shared.program.models(false);
                    let found = all.into_iter().find(|model| model.provider == provider && model.id == id);
                    let model = found.ok_or_else(|| format!("there is no model {provider}/{id}"))?;
                    complete::stream(&agent()?, model, &params, progress).await
                }
                Some(("provider", "payload")) => {
                    let extensions = agent()?.extensions().ok_or_else(|| ENDED.to_owned())?;
                    let body = params.get("payload").map(Value::to_string).unwrap_or_default();
                    let changed = extensions.before_body(body).await;
                    Ok(changed.and_then(|body| serde_json::from_str(&body).ok()).unwrap_or_default())
                }
                Some(("provider", "response")) => {
                    let extensions = agent()?.extensions().ok_or_else(|| ENDED.to_owned())?;
                    let status =
                        params.get("status").and_then(Value::as_u64).and_then(|status| u16::try_from(status).ok());
                    let headers = params.get("headers").and_then(Value::as_object).cloned().unwrap_or_default();
                    let text = |value: Value| value.as_str().unwrap_or_default().to_owned();
                    let headers = headers.into_iter().map(|(name, value)| (name, text(value))).collect();
                    extensions.after_response(status.unwrap_or_default(), headers).await;
                    Ok(Value::Null)
                }
                Some(("provider", "streamEvent")) => {
                    let extensions = agent()?.extensions().ok_or_else(|| ENDED.to_owned())?;
                    let text = |name: &str| params[name].as_str().unwrap_or_default().to_owned();
                    let (provider, api, model) = (text("provider"), text("api"), text("model"));
                    let data = params["data"].to_string();
                    extensions.stream_event(StreamEvent { provider, api, model, data }).await;
                    Ok(Value::Null)
                }
                Some(("tools", "run")) => run_built_in(&agent()?, &params, progress).await,
                Some(("models", "getApiKey")) => {
                    let text = |name: &str| params.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
                    shared.key(text("provider"), text("id")).await
                }
                Some(("oauth", step)) => shared.sign_in_step(step, &params).await,
                Some(("ctx", "executeTool")) => nested::execute(&agent()?, &shared.nested, &params, progress).await,
                Some(("ctx", "forecast")) => forecast(&agent()?, &params, clock.now()).await,
                Some(("ctx", "reload")) => {
                    shared.reload().await;
                    Ok(Value::Null)
                }
                Some(("ctx", name)) => {
                    let is = |name: &str| params.get(name).and_then(Value::as_bool) == Some(true);
                    let call = params.get(CALL).and_then(Value::as_u64);
                    shared.prepare_with(call.filter(|_| is("hasSetup")));
                    let answer = command(&agent()?, shared.program.as_ref(), name, &params).await;
                    shared.prepare_with(None);
                    let is_open = answer.as_ref().is_ok_and(|answer| answer["cancelled"] == json!(false));
                    if let Some(call) = call.filter(|_| is_open && is("hasWithSession")) {
                        shared.call_back("withSession", call).await;
                    }
                    answer
                }
                _ => Err(unknown(&method)),
            }
        })
    }

    fn note(&self, method: &str, params: Value) {
        let Ok(shared) = self.shared() else { return };
        match method.split_once('.') {
            Some(("ui", name)) => shared.program.tell_user(name, params),
            Some(("ctx", "abort")) => {
                if let Some(agent) = shared.agent() {
                    // The handler that asks for it keeps running.
                    drop(self.runtime.spawn(async move { agent.abort_run().await }));
                }
            }
            Some(("ctx", "shutdown")) => shared.program.shutdown(),
            _ => shared.program.tell_user(method, params),
        }
    }

    fn registered(&self, loaded: LoadedExtension) {
        if let Ok(shared) = self.shared() {
            shared.replaced(loaded, &self.runtime);
        }
    }
}

/// What the next request from an entry, or from the leaf, would cost.
async fn forecast(agent: &AgentSession, params: &Value, now: Millis) -> Result<Value, String> {
    let entry = params.get("entryId").and_then(Value::as_str).map(str::to_owned);
    let AgentState { model, overhead, .. } = agent.state().await.map_err(|error| error.to_string())?;
    let forecast = agent.read(move |session| {
        let target = entry.map(|entry| session.find(&entry)).transpose()?.or(session.leaf());
        request_forecast((session, session.dialect()), RequestPlace { target, more_tokens: 0, overhead }, &model, now)
    });
    let forecast = forecast.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
    lenient_json::from_str(&forecast.to_json()).map_err(|error| error.to_string())
}

/// Runs one of offshoot's own tools for an extension that wraps it.
async fn run_built_in(agent: &AgentSession, params: &Value, progress: UnboundedSender<Value>) -> Result<Value, String> {
    let name = params.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let unknown = || format!("offshoot has no tool {name}");
    let found = agent.ask(BuiltIn(name.clone())).await.map_err(|error| error.to_string())?;
    let Some(BuiltInTool { tool, place }) = found else { return Err(unknown()) };
    let tool = tool.0.first().cloned().ok_or_else(unknown)?;
    let mut place = ToolContext::clone(&place);
    if let Some(cwd) = params.get("cwd").and_then(Value::as_str) {
        place.cwd = cwd.into();
    }
    place.call_id = params.get("toolCallId").and_then(Value::as_str).unwrap_or_default().to_owned();
    let (partial, steps) = unbounded_channel();
    let running = tool.run(params.get("params").cloned().unwrap_or_default(), Arc::new(place), partial);
    // Nobody may be listening any more.
    let pass = |step: ToolOutcome| drop(progress.send(shape(&step)));
    Ok(shape(&passing(running, steps, pass).await))
}

/// The parameters of a method that needs none.
const NOTHING: &str = "{}";

fn value<T: DeserializeOwned>(params: &str) -> Result<T, String> {
    lenient_json::from_str(params).map_err(|error| error.to_string())
}

fn unknown(method: &str) -> String {
    format!("offshoot does not serve {method}")
}

/// What only commands may do, and what takes a model's time.
async fn command(agent: &AgentSession, program: &dyn Program, method: &str, params: &Value) -> Result<Value, String> {
    let text = |name: &str| params.get(name).and_then(Value::as_str).map(str::to_owned);
    let cancelled = |result: Result<_, offshoot_protocol::AgentError>| match result {
        Ok(_) => Ok(json!({"cancelled": false})),
        Err(offshoot_protocol::AgentError::Cancelled) => Ok(json!({"cancelled": true})),
        Err(error) => Err(error.to_string()),
    };
    match method {
        "compact" => {
            let result = agent.compact(text("customInstructions")).await.map_err(|error| error.to_string())?;
            lenient_json::from_str(&result.to_json()).map_err(|error| error.to_string())
        }
        "waitForIdle" => agent.wait_for_idle().await.map(|_| Value::Null).map_err(|error| error.to_string()),
        "newSession" => cancelled(agent.new_session(text("parentSession")).await),
        "switchSession" => {
            let path = text("path").or_else(|| text("sessionPath")).unwrap_or_default();
            cancelled(switch_session(agent, program, path).await)
        }
        "fork" => {
            let entry = text("entryId").unwrap_or_default();
            cancelled(match text("position").as_deref() {
                Some("at") => agent.fork_at(entry).await,
                _ => agent.fork(entry).await,
            })
        }
        "navigateTree" => {
            let is = |name: &str| params.get(name).and_then(Value::as_bool).unwrap_or(false);
            let texts = [
                ("entry", Some(text("targetId").unwrap_or_default())),
                ("instructions", text("customInstructions")),
                ("label", text("label")),
            ];
            let flags = [("summarize", is("summarize")), ("replace_instructions", is("replaceInstructions"))];
            let texts = texts.into_iter().filter_map(|(name, text)| Some((name, vec![text?])));
            let flags = flags.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| (name, Vec::new()));
            let given = texts.chain(flags).collect();
            match program.operate(agent.clone(), "navigate", given).await {
                Ok(Operated { data, .. }) => {
                    let member = |name: &str| data.as_ref().and_then(|data| data.get(name)).cloned();
                    let (text, summary) = (member("editorText"), member("summaryEntryId"));
                    Ok(json!({"cancelled": data.is_none(), "editorText": text, "summaryEntryId": summary}))
                }
                Err(AgentError::Cancelled) => Ok(json!({"cancelled": true})),
                Err(error) => Err(error.to_string()),
            }
        }
        "pick" => {
            let entries = params.get("entries").and_then(Value::as_array).cloned().unwrap_or_default();
            let entries = entries.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            operate(agent, program, "pick", vec![("selection", entries)]).await
        }
        "merge" => {
            let given = [("source", text("entryId")), ("instructions", text("instructions"))];
            let given = given.into_iter().filter_map(|(name, text)| Some((name, vec![text?]))).collect();
            operate(agent, program, "merge", given).await
        }
        _ => Err(unknown(&format!("ctx.{method}"))),
    }
}

/// At the terminal the person names the folder of a session from elsewhere.
async fn switch_session(agent: &AgentSession, program: &dyn Program, path: String) -> Result<Forked, AgentError> {
    let refusal = match agent.switch_session(&path).await {
        Err(AgentError::Folder(refusal)) if program.mode() == ProgramMode::Tui => refusal,
        Err(AgentError::Folder(refusal)) => {
            let way = "a person opens it with `--session` and `--session-folder`";
            return Err(AgentError::Failed(format!("{refusal}: {way}")));
        }
        switched => return switched,
    };
    let choices = refusal.choices();
    let shown: Vec<String> =
        choices.iter().map(|folder| spell_name(&folder.display().to_string()).into_owned()).collect();
    let asked = json!({"title": format!("{refusal}. Where should the agent work on it?"), "options": shown});
    let chosen = program.ask_user("select".to_owned(), asked).await;
    let chosen = shown.iter().position(|one| chosen.as_str() == Some(one)).and_then(|at| choices.get(at));
    match chosen {
        Some(folder) => agent.switch_session_in(path, *folder).await,
        None => Err(AgentError::Cancelled),
    }
}

async fn operate(
    agent: &AgentSession,
    program: &dyn Program,
    operation: &'static str,
    given: Vec<(&'static str, Vec<String>)>,
) -> Result<Value, String> {
    let done = program.operate(agent.clone(), operation, given).await.map_err(|error| error.to_string())?;
    let Operated { said, warning, .. } = done;
    let leaf = agent.read(|session| session.leaf_id().map(EntryId::as_str).map(str::to_owned)).await;
    Ok(json!({"said": said, "warning": warning, "leafId": leaf.ok().flatten()}))
}
