//! The process and its pipes, and what waits for an answer.

mod threads;

use std::collections::HashMap;
use std::io::{self, PipeWriter, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use command_fds::{CommandFdExt as _, FdMapping};
use offshoot_agent::{MarkedProcesses, lenient_json};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

use super::lines;
use crate::contract::{CALL, Failure, LoadRequest, LoadedExtension, Payload, Services};
use crate::steps::passing;
use threads::{keep_printed, read_lines, serve_calls, watch, write_lines};

/// A pipe takes 64 KiB: so many lines of this length fit, with pings.
const SHORT: usize = 4 << 10;
const FEW: usize = 8;
/// A context that is not sent before somebody looks at it has this many bytes.
const HELD: usize = 64 << 10;
/// So often it is looked whether something that is waited for goes on.
const LOOKS: u32 = 8;

pub(super) struct Child {
    to: Sender<String>,
    pipe: Arc<Mutex<PipeWriter>>,
    /// Lines that the thread has not written yet.
    queued: Arc<AtomicU64>,
    process: Mutex<Option<std::process::Child>>,
    state: Mutex<State>,
    ended: Condvar,
    is_gone: AtomicBool,
    /// Payloads that the process has not been sent: it asks for them when a handler looks at them.
    held: Mutex<HashMap<u64, Payload>>,
    /// Pings without an answer.
    silence: AtomicU64,
    /// Calls of the process that block it: it cannot answer pings meanwhile.
    blocked: AtomicU64,
    /// Whether an extension has the terminal for a program of its own, which it waits for.
    has_terminal: AtomicBool,
    #[expect(dead_code, reason = "its end, also by a kill of this program, ends the process")]
    life: PipeWriter,
    services: Arc<dyn Services>,
    /// Whether a tool has told of its progress, or a program that an extension waits for has run.
    goes_on: AtomicBool,
    /// The process, and all that extensions start.
    started: MarkedProcesses,
}

#[derive(Default)]
struct State {
    waiting: HashMap<u64, Waiting>,
    /// Calls of the process that have no answer yet.
    calls: HashMap<u64, AbortHandle>,
    ready: Option<oneshot::Sender<Result<Vec<LoadedExtension>, Failure>>>,
    printed: String,
    why: Option<String>,
}

struct Waiting {
    answer: oneshot::Sender<Result<Value, Failure>>,
    progress: Option<UnboundedSender<Value>>,
}

/// The line that loads extensions.
pub(super) fn init(request: &LoadRequest) -> serde_json::Result<String> {
    let mut line = serde_json::to_value(request)?;
    line["t"] = json!("init");
    if let Some(extensions) = line["extensions"].as_array_mut() {
        extensions.iter_mut().enumerate().for_each(|(id, extension)| extension["id"] = json!(id));
    }
    Ok(line.to_string())
}

impl Child {
    pub(super) fn start(
        node: &Path,
        folder: &Path,
        cwd: &Path,
        patience: Duration,
        services: &Arc<dyn Services>,
    ) -> io::Result<Arc<Self>> {
        let (lines_in, lines_out) = io::pipe()?;
        let (results_in, results_out) = io::pipe()?;
        let (answers_in, answers_out) = io::pipe()?;
        let (calls_in, calls_out) = io::pipe()?;
        let (printed_in, printed_out) = io::pipe()?;
        let (life_in, life) = io::pipe()?;
        let mapping = |parent_fd: OwnedFd, child_fd| FdMapping { parent_fd, child_fd };
        let mut command = Command::new(node);
        command.arg("--experimental-import-meta-resolve").arg(folder.join("host.mjs")).stdin(Stdio::null());
        command.stdout(printed_out.try_clone()?).stderr(printed_out).current_dir(cwd);
        let started = MarkedProcesses::default();
        let (name, mark) = started.variable();
        command.env(name, mark);
        // What ends the program with a key must let the extensions end in good order.
        command.process_group(0);
        let fds = vec![
            mapping(lines_in.into(), 3),
            mapping(results_out.into(), 4),
            mapping(answers_in.into(), 5),
            mapping(calls_out.into(), 6),
            mapping(life_in.into(), 7),
        ];
        command.fd_mappings(fds).map_err(|_| io::Error::other("two pipes have one number"))?;
        let process = command.spawn()?;
        // The other ends of the pipes are the process's alone.
        drop(command);
        let (to, outgoing) = channel();
        let (pipe, queued) = (Arc::new(Mutex::new(lines_out)), Arc::new(AtomicU64::new(0)));
        let (pipe_of_thread, queue_of_thread) = (pipe.clone(), queued.clone());
        let child = Arc::new(Self {
            to,
            pipe,
            queued,
            process: Mutex::new(Some(process)),
            state: Mutex::default(),
            ended: Condvar::new(),
            is_gone: AtomicBool::new(false),
            held: Mutex::default(),
            silence: AtomicU64::new(0),
            blocked: AtomicU64::new(0),
            has_terminal: AtomicBool::new(false),
            life,
            services: services.clone(),
            goes_on: AtomicBool::new(false),
            started,
        });
        let runtime = Handle::current();
        let thread = |name: &str| std::thread::Builder::new().name(name.to_owned());
        thread("extensions-out").spawn(move || write_lines(&outgoing, &pipe_of_thread, &queue_of_thread))?;
        let this = Arc::downgrade(&child);
        thread("extensions-in").spawn(move || read_lines(&this, results_in, &runtime))?;
        let this = Arc::downgrade(&child);
        thread("extensions-now").spawn(move || serve_calls(&this, calls_in, answers_out))?;
        let this = Arc::downgrade(&child);
        thread("extensions-print").spawn(move || keep_printed(&this, printed_in))?;
        drop(tokio::spawn(watch(Arc::downgrade(&child), patience)));
        Ok(child)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::Acquire)
    }

    pub(super) fn send(&self, line: String) {
        self.queued.fetch_add(1, Ordering::AcqRel);
        // The thread ends with the pipe.
        drop(self.to.send(line));
    }

    /// Sends a short line without the thread, which saves a switch of threads. So few of them wait for an answer that they fit
    /// into the pipe even if the process reads none of them.
    fn send_now(&self, mut line: String, waiting: usize) {
        let is_safe = line.len() < SHORT && waiting <= FEW && self.queued.load(Ordering::Acquire) == 0;
        match self.pipe.try_lock() {
            Ok(mut pipe) if is_safe => {
                line.push('\n');
                // The reader finds out that the process is gone.
                drop(pipe.write_all(line.as_bytes()));
            }
            Ok(_) | Err(_) => self.send(line),
        }
    }

    pub(super) async fn load(&self, line: String) -> Result<Vec<LoadedExtension>, Failure> {
        let (answer, answered) = oneshot::channel();
        self.state().ready = Some(answer);
        if self.is_gone() {
            return Err(self.failure());
        }
        self.send(line);
        answered.await.unwrap_or_else(|_| Err(self.failure()))
    }

    /// Sends a line and waits for the result of its id, at most so long. Dropping this tells the process to give up.
    pub(super) async fn ask(
        &self,
        id: u64,
        line: String,
        (limit, progress): (Duration, Option<UnboundedSender<Value>>),
    ) -> Result<Value, Failure> {
        if line.len() as u64 > lines::LONGEST {
            return Err(Failure::new(format!("more than {} MiB are not sent to an extension", lines::LONGEST >> 20)));
        }
        let (answer, answered) = oneshot::channel();
        let waiting = {
            let mut state = self.state();
            state.waiting.insert(id, Waiting { answer, progress });
            state.waiting.len()
        };
        let mut asking = Asking { child: self, id, is_answered: false };
        if self.is_gone() {
            return Err(self.failure());
        }
        self.send_now(line, waiting);
        let answer = self.within(limit, answered).await?;
        asking.is_answered = true;
        answer
    }

    /// Gives up what has not answered for so long. Nothing is counted while the process waits for a person, a model, the session or a
    /// program.
    async fn within(
        &self,
        limit: Duration,
        mut answered: oneshot::Receiver<Result<Value, Failure>>,
    ) -> Result<Result<Value, Failure>, Failure> {
        let mut silent = 0;
        while silent < LOOKS {
            match tokio::time::timeout(limit / LOOKS, &mut answered).await {
                Ok(answer) => return Ok(answer.unwrap_or_else(|_| Err(self.failure()))),
                Err(_) if self.waits_for_others() => silent = 0,
                Err(_) => silent += 1,
            }
        }
        Err(Failure::new(format!(
            "it did not answer for {} s, and asked for nothing; it is given up",
            limit.as_secs_f32()
        )))
    }

    fn waits_for_others(&self) -> bool {
        let goes_on = self.goes_on.swap(false, Ordering::AcqRel);
        let is_blocked = self.blocked.load(Ordering::Acquire) > 0 || self.has_terminal.load(Ordering::Acquire);
        goes_on || is_blocked || !self.state().calls.is_empty()
    }

    fn held(&self) -> MutexGuard<'_, HashMap<u64, Payload>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The payload of an event as it is sent. A long conversation stays here.
    pub(super) fn hold(&self, id: u64, payload: Payload) -> Arc<str> {
        if !payload.is_long_context(HELD) {
            return payload.text();
        }
        self.held().insert(id, payload);
        r#"{"type":"context","held":true}"#.into()
    }

    /// The payload of an event that is under way.
    fn held_payload(&self, params: &str) -> Result<String, String> {
        let params: Value = lenient_json::from_str(params).unwrap_or_default();
        let found = params["event"].as_u64().and_then(|id| self.held().get(&id).cloned());
        found
            .map(|payload| payload.text().to_string())
            .ok_or_else(|| "the event is over: its messages are gone".to_owned())
    }

    fn failure(&self) -> Failure {
        let state = self.state();
        let why = state.why.as_deref().unwrap_or("it ended by itself");
        let printed = state.printed.trim_end();
        let last = printed.lines().rev().take(12).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n");
        let said = if last.is_empty() { String::new() } else { format!("\n{last}") };
        Failure::gone(format!("the Node.js process of the extensions is gone: {why}{said}"))
    }

    /// Nothing of it is waited for any more.
    fn lost(&self) {
        self.is_gone.store(true, Ordering::Release);
        let failure = self.failure();
        let mut state = self.state();
        let waiting = std::mem::take(&mut state.waiting);
        let ready = state.ready.take();
        state.calls.drain().for_each(|(_, call)| call.abort());
        drop(state);
        waiting.into_values().for_each(|waiting| drop(waiting.answer.send(Err(failure.clone()))));
        ready.into_iter().for_each(|ready| drop(ready.send(Err(failure.clone()))));
        if let Some(mut process) = self.process.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // It may have ended already.
            drop(process.kill());
            drop(process.wait());
        }
        self.started.kill();
        self.ended.notify_all();
    }

    pub(super) fn kill(&self, why: &str) {
        self.state().why.get_or_insert_with(|| why.to_owned());
        if let Some(process) = self.process.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            drop(process.kill());
        }
    }

    /// Lets it end, and ends it after a while.
    pub(super) async fn end(self: Arc<Self>, limit: Duration) {
        self.send(json!({"t": "shutdown"}).to_string());
        let waiting = tokio::task::spawn_blocking(move || {
            let state = self.state();
            let is_running = |_: &mut State| !self.is_gone();
            let waited = self.ended.wait_timeout_while(state, limit, is_running);
            drop(waited);
            self.kill("the program ended");
            self.started.kill();
        });
        drop(waiting.await);
    }

    fn take(self: &Arc<Self>, line: &[u8], runtime: &Handle) {
        let Ok(mut line) = lenient_json::from_slice::<Value>(line) else {
            return self
                .services
                .note("log", json!({"level": "error", "message": "the host sent a line that is no JSON"}));
        };
        let id = line["id"].as_u64();
        match line["t"].as_str().unwrap_or_default() {
            "result" => {
                let Some(waiting) = id.and_then(|id| self.state().waiting.remove(&id)) else { return };
                let answer = match line.get("error").filter(|error| !error.is_null()) {
                    Some(error) => Err(failure_of(error)),
                    None => Ok(line),
                };
                drop(waiting.answer.send(answer));
            }
            "progress" => {
                self.goes_on.store(true, Ordering::Release);
                let update = line["update"].take();
                let state = self.state();
                let progress = id.and_then(|id| state.waiting.get(&id)).and_then(|waiting| waiting.progress.as_ref());
                progress.into_iter().for_each(|progress| drop(progress.send(update.clone())));
            }
            "ready" => {
                let loaded = serde_json::from_value(line["extensions"].take());
                let loaded = loaded.map_err(|error| Failure::new(format!("the host's answer is odd: {error}")));
                if let Some(ready) = self.state().ready.take() {
                    drop(ready.send(loaded));
                }
            }
            "registered" => match serde_json::from_value(line) {
                Ok(loaded) => self.services.registered(loaded),
                Err(error) => self.services.note("log", json!({"level": "error", "message": error.to_string()})),
            },
            "call" => self.call(line, runtime),
            "cancelCall" => {
                let call = id.and_then(|id| self.state().calls.remove(&id));
                call.into_iter().for_each(|call| call.abort());
            }
            "note" => {
                let params = line["params"].take();
                self.services.note(line["method"].as_str().unwrap_or_default(), params);
            }
            "pong" => {
                self.silence.store(0, Ordering::Release);
                if line["runs"].as_bool() == Some(true) {
                    self.goes_on.store(true, Ordering::Release);
                }
            }
            _ => {}
        }
    }

    fn call(self: &Arc<Self>, mut line: Value, runtime: &Handle) {
        let Some(id) = line["id"].as_u64() else { return };
        let method = line["method"].as_str().unwrap_or_default().to_owned();
        let (progress, steps) = unbounded_channel();
        let mut params = line["params"].take();
        if let Some(params) = params.as_object_mut() {
            params.insert(CALL.to_owned(), json!(id));
        }
        let answering = self.services.later(method, params, progress);
        let this = Arc::downgrade(self);
        let task = runtime.spawn(async move {
            let pass = |step: Value| {
                if let Some(this) = this.upgrade() {
                    this.send(json!({"t": "callProgress", "id": id, "update": step}).to_string());
                }
            };
            let answer = passing(answering, steps, pass).await;
            let Some(this) = this.upgrade() else { return };
            this.state().calls.remove(&id);
            this.send(match answer {
                Ok(ok) => json!({"t": "answer", "id": id, "ok": ok}).to_string(),
                Err(message) => json!({"t": "answer", "id": id, "error": {"message": message}}).to_string(),
            });
        });
        if !task.is_finished() {
            self.state().calls.insert(id, task.abort_handle());
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.lock().unwrap_or_else(PoisonError::into_inner).take() {
            drop(process.kill());
            drop(process.wait());
        }
        self.started.kill();
    }
}

/// What waits for a result. Dropped without one, it tells the process.
struct Asking<'a> {
    child: &'a Child,
    id: u64,
    is_answered: bool,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.child.held().remove(&self.id);
        if !self.is_answered {
            self.child.state().waiting.remove(&self.id);
            // A process that runs on is noticed even if nobody asks again.
            self.child.silence.fetch_max(1, Ordering::AcqRel);
            self.child.send(json!({"t": "cancel", "id": self.id}).to_string());
        }
    }
}

fn failure_of(error: &Value) -> Failure {
    match error {
        Value::String(message) => Failure::new(message.clone()),
        error => serde_json::from_value(error.clone()).unwrap_or_else(|_| Failure::new(error.to_string())),
    }
}
