//! The seam to tools: arguments in, blocks out. A tool knows files and processes, no sessions, models or front ends.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

use crate::message::Block;
use crate::provider::ToolSpec;

/// Where a tool works.
#[derive(Debug, Clone)]
pub struct Place {
    /// The working folder; relative paths start here.
    pub cwd: PathBuf,
    /// The user's home, for `~`.
    pub home: Option<PathBuf>,
    /// Where whole outputs go that are too long to show (created when needed, mode 0700).
    pub spill: PathBuf,
    /// Whether pictures may be returned.
    pub images: bool,
}

/// What a tool gives back.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// Text and pictures for the model.
    pub content: Vec<Block>,
    /// What only people and renderers see, in pi's shape.
    pub details: Option<Value>,
    /// Whether it failed; the content says how.
    pub is_error: bool,
}

impl Outcome {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        let block = Block::Text { text: text.into(), text_signature: None };
        Self { content: vec![block], details: None, is_error: false }
    }

    /// A failure, in words that help the model to do better.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }
}

/// A tool at work. Dropping it stops it: no process of it survives.
pub type Running = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// One tool. Arguments that do not fit its schema give a failed outcome, never a panic.
pub trait Tool: Send + Sync {
    /// What the model is told.
    fn spec(&self) -> ToolSpec;

    /// Whether calls of it may run beside each other, and beside those of other such tools: it changes nothing.
    fn is_shared(&self) -> bool {
        false
    }

    /// Starts a call. Partial outcomes may be sent while it runs; each replaces the one before.
    fn run(&self, arguments: Value, place: Arc<Place>, partial: UnboundedSender<Outcome>) -> Running;
}
