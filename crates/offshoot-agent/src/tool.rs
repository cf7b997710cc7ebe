//! The seam to tools, and the tools: arguments in, blocks out. A tool knows files and processes, no sessions, models or
//! front ends.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

use crate::message::Block;
use crate::provider::{Secret, ToolSpec};

pub mod truncate;
mod args;
mod decode;
mod diff;
mod hide;
mod output;
mod paths;
mod files;
mod picture;
pub mod bash;
mod read;
mod replace;
mod edit;
mod walk;
mod listing;
mod find;
mod grep;
mod ls;
mod write;

pub use bash::{Bash, BashRun, Shell};
pub use edit::Edit;
pub use find::Find;
pub use grep::Grep;
pub(crate) use hide::is_telling;
pub use ls::Ls;
pub use read::Read;
pub use write::Write;

/// Where a tool works.
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// The working folder; relative paths start here.
    pub cwd: PathBuf,
    /// The user's home, for `~`.
    pub home: Option<PathBuf>,
    /// Where whole outputs go that are too long to show (created when needed, mode 0700).
    pub spill: PathBuf,
    /// Whether pictures may be returned.
    pub images: bool,
    /// A key that commands may know (`env` shows it) and nobody is to see: it is taken out of what they print.
    pub hidden: Option<Secret>,
}

/// How the result of a call that the user stopped ends.
const STOPPED: &str = "The user stopped this tool call before it was done.";

/// What a tool gives back.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolOutcome {
    /// Text and pictures for the model.
    pub content: Vec<Block>,
    /// What only people and renderers see, in pi's shape.
    pub details: Option<Value>,
    /// Whether it failed; the content says how.
    pub is_error: bool,
}

impl ToolOutcome {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        let block = Block::Text { text: text.into(), text_signature: None };
        Self { content: vec![block], details: None, is_error: false }
    }

    /// A failure, in words that help the model to do better.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// The outcome of a call that the user stopped: what it had shown, then that it was stopped.
    pub fn stopped(shown: Option<Self>) -> Self {
        let mut outcome = shown.unwrap_or_default();
        outcome.is_error = true;
        match outcome.content.last_mut() {
            Some(Block::Text { text, .. }) if !text.is_empty() => {
                let gap = if text.ends_with('\n') { "\n" } else { "\n\n" };
                *text = format!("{text}{gap}{STOPPED}");
            }
            _ => outcome.content.push(Block::text(STOPPED)),
        }
        outcome
    }
}

/// A tool at work. Dropping it stops it: no process of it survives. The last partial outcome that it has sent by then, in its
/// drop too, is kept in the result.
pub type Running = Pin<Box<dyn Future<Output = ToolOutcome> + Send>>;

/// One tool. Arguments that do not fit its schema give a failed outcome, never a panic. Runs within a tokio runtime whose
/// timers and input are enabled.
pub trait Tool: Send + Sync {
    /// Its name, by which the model calls it.
    fn name(&self) -> &str;

    /// What the model is told.
    fn spec(&self) -> ToolSpec;

    /// Whether calls of it may run beside each other, and beside those of other such tools: it changes nothing.
    fn is_shared(&self) -> bool {
        false
    }

    /// What it does in a few words, for the list in the system prompt; `None`: it is not listed there.
    fn summary(&self) -> Option<&str> {
        None
    }

    /// Rules for the system prompt that hold while the tool is on.
    fn guidelines(&self) -> &[&str] {
        &[]
    }

    /// Starts a call. Partial outcomes may be sent while it runs; each replaces the one before.
    fn run(&self, arguments: Value, place: Arc<ToolContext>, partial: UnboundedSender<ToolOutcome>) -> Running;
}

/// The names that are on when nobody chooses.
pub const DEFAULT: &str = "read,bash,edit,write";

/// Every tool there is, in the order in which models are told of them.
pub fn all(shell: &Shell) -> Vec<Arc<dyn Tool>> {
    let bash = Bash { shell: shell.clone() };
    vec![Arc::new(Read), Arc::new(bash), Arc::new(Edit), Arc::new(Write), Arc::new(Grep), Arc::new(Find), Arc::new(Ls)]
}

/// A name that no tool has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no tool {name:?}{}; there are {known}", hint(nearest.as_deref()))]
pub struct UnknownTool {
    /// The name.
    pub name: String,
    /// The name that was probably meant.
    pub nearest: Option<String>,
    /// All names there are.
    pub known: String,
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map(|name| format!(" (did you mean {name}?)")).unwrap_or_default()
}

/// The tools of these names, parted by commas, each once and in this order. No name at all: no tools.
///
/// # Errors
///
/// If a name is not that of a tool.
pub fn select(names: &str, shell: &Shell) -> Result<Vec<Arc<dyn Tool>>, UnknownTool> {
    let tools = all(shell);
    let known: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
    let mut chosen = Vec::new();
    for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        let Some(at) = known.iter().position(|known| *known == name) else {
            let small: &str = &name.to_lowercase();
            let nearest = similar::get_close_matches(small, &known, 1, 0.5).first().map(|name| (*name).to_owned());
            return Err(UnknownTool { name: name.to_owned(), nearest, known: known.join(", ") });
        };
        if !chosen.contains(&at) {
            chosen.push(at);
        }
    }
    Ok(chosen.into_iter().filter_map(|at| tools.get(at).cloned()).collect())
}

/// Work on files, off the runtime's own threads. A change that has begun is finished even when nobody waits any more.
async fn blocking(work: impl FnOnce() -> Result<ToolOutcome, ToolOutcome> + Send + 'static) -> ToolOutcome {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(outcome) | Err(outcome)) => outcome,
        Err(error) => ToolOutcome::failed(format!("the tool broke down, which is a bug of offshoot: {error}")),
    }
}

#[cfg(test)]
mod testing {
    //! What the tests of every tool need.

    use super::{Arc, Block, Tool, ToolContext, ToolOutcome, Value};

    /// A place that ends at this folder.
    pub(super) fn place(dir: &std::path::Path) -> ToolContext {
        ToolContext {
            cwd: dir.to_owned(),
            home: Some(dir.join("home")),
            spill: dir.join("spill"),
            images: true,
            hidden: None,
        }
    }

    /// Runs a tool to its end.
    pub(super) fn call(tool: &dyn Tool, arguments: Value, place: ToolContext) -> ToolOutcome {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (partial, _) = tokio::sync::mpsc::unbounded_channel();
        runtime.block_on(tool.run(arguments, Arc::new(place), partial))
    }

    pub(super) fn text_of(outcome: &ToolOutcome) -> String {
        let texts = outcome.content.iter().filter_map(|block| match block {
            Block::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}
