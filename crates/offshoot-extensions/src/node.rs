//! The host that runs extensions in a Node.js process of its own: lines of JSON over four pipes.
//!
//! Two of them carry what may wait, two the calls that block the process until they are answered. What extensions print is
//! kept apart and never read as the protocol.

mod find;
mod files;
mod imports;
mod lines;
mod transform;
mod child;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use crate::contract::{
    Failure, HandlerAnswer, HandlerId, Host, HostFuture, LoadRequest, LoadedExtension, Payload, Services,
};
use child::Child;
pub use find::{NodeSearch, find_node};
pub use imports::imports;
pub use transform::transformed;

/// How long the process may take to load extensions.
const LOADING: Duration = Duration::from_secs(60);
/// A command or a tool may wait so much longer than a handler of an event.
const CALLED: u32 = 6;
/// How long it may take to end.
const ENDING: Duration = Duration::from_secs(2);

/// What the host needs to know.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say what they are")]
pub struct NodeOptions {
    pub search: NodeSearch,
    /// Where the files of the host are unpacked.
    pub cache: PathBuf,
    /// How long the process may work without yielding.
    pub patience: Duration,
    /// How long a handler may wait for nothing that offshoot knows of; commands and tools may so six times as long.
    pub limit: Duration,
}

/// The Node.js process, started when extensions are loaded.
pub struct NodeHost {
    options: NodeOptions,
    child: Mutex<Option<Arc<Child>>>,
    /// One sequence for everything that is asked of the process.
    next: Arc<AtomicU64>,
}

impl std::fmt::Debug for NodeHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NodeHost")
    }
}

impl NodeHost {
    /// Starts nothing yet.
    #[must_use]
    pub fn new(options: NodeOptions) -> Self {
        Self { options, child: Mutex::new(None), next: Arc::default() }
    }

    fn child(&self) -> Option<Arc<Child>> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner).clone().filter(|child| !child.is_gone())
    }

    fn started(&self, cwd: &std::path::Path, services: &Arc<dyn Services>) -> Result<Arc<Child>, Failure> {
        if let Some(child) = self.child() {
            return Ok(child);
        }
        let node = find_node(&self.options.search).map_err(Failure::gone)?;
        let folder = files::unpacked(&self.options.cache).map_err(|error| {
            Failure::gone(format!("could not write the host to {}: {error}", self.options.cache.display()))
        })?;
        let child = Child::start(&node, &folder, cwd, self.options.patience, services)
            .map_err(|error| Failure::gone(format!("could not start {}: {error}", node.display())))?;
        *self.child.lock().unwrap_or_else(PoisonError::into_inner) = Some(child.clone());
        Ok(child)
    }

    fn id(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn running(&self) -> Result<Arc<Child>, Failure> {
        self.child().ok_or_else(|| Failure::gone("the Node.js process has ended"))
    }
}

impl Host for NodeHost {
    fn name(&self) -> &'static str {
        "node"
    }

    fn is_running(&self) -> bool {
        self.child().is_some()
    }

    fn load(
        &self,
        request: LoadRequest,
        services: Arc<dyn Services>,
    ) -> HostFuture<'_, Result<Vec<LoadedExtension>, Failure>> {
        Box::pin(async move {
            let (options, cwd) = (self.options.search.clone(), request.cwd.clone());
            // Looking for a program and starting it may block.
            drop(tokio::task::spawn_blocking(move || find_node(&options)).await);
            let child = self.started(&cwd, &services)?;
            let line = child::init(&request).map_err(|error| Failure::new(error.to_string()))?;
            match tokio::time::timeout(LOADING, child.load(line)).await {
                Ok(loaded) => loaded,
                Err(_) => {
                    child.kill("it did not load its extensions in time");
                    Err(Failure::gone(format!("the extensions were not loaded after {} s", LOADING.as_secs())))
                }
            }
        })
    }

    fn handle(&self, handler: HandlerId, payload: Payload) -> HostFuture<'_, Result<HandlerAnswer, Failure>> {
        Box::pin(async move {
            let (child, id) = (self.running()?, self.id());
            let payload = child.hold(id, payload);
            let line = format!(r#"{{"t":"event","id":{id},"handler":{handler},"payload":{payload},"ctx":{{}}}}"#);
            let mut answer = child.ask(id, line, (self.options.limit, None)).await?;
            let input = answer.as_object_mut().and_then(|answer| answer.remove("input"));
            let ok = answer.get_mut("ok").map(Value::take).unwrap_or_default();
            Ok(HandlerAnswer { ok, input })
        })
    }

    fn invoke(&self, what: Value, progress: UnboundedSender<Value>) -> HostFuture<'_, Result<Value, Failure>> {
        Box::pin(async move {
            let (child, id) = (self.running()?, self.id());
            let mut line = json!({"t": "invoke", "id": id});
            if let (Some(line), Value::Object(what)) = (line.as_object_mut(), what) {
                line.extend(what);
            }
            let mut answer = child.ask(id, line.to_string(), (self.options.limit * CALLED, Some(progress))).await?;
            Ok(answer.get_mut("ok").map(Value::take).unwrap_or_default())
        })
    }

    fn limit(&self, limits: &str) {
        if let Some(child) = self.child() {
            child.send(json!({"t": "limits", "limits": limits}).to_string());
        }
    }

    fn close(&self) -> HostFuture<'_, ()> {
        Box::pin(async move {
            let child = self.child.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(child) = child {
                child.end(ENDING).await;
            }
        })
    }
}
