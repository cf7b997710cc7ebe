//! The tools of servers as an earlier run has seen them, so that a session declares the same tools at once. Disposable.

use std::path::{Path, PathBuf};

use offshoot_session::medium::{read_regular_text, replace_file};
use serde_json::{Value, json};

use crate::definition::ToolDefinition;

/// Larger files are not read.
const LARGEST: u64 = 32 << 20;

/// The folder of definitions; `None`: none are kept.
#[derive(Debug, Clone, Default)]
pub struct DefinitionCache(Option<PathBuf>);

impl DefinitionCache {
    /// The folder need not exist.
    pub fn new(folder: Option<PathBuf>) -> Self {
        Self(folder)
    }

    fn file(&self, hash: &str) -> Option<PathBuf> {
        self.0.as_deref().map(|folder: &Path| folder.join(format!("{hash}.json")))
    }

    /// The tools of the server whose entry has this hash.
    pub(crate) fn read(&self, server: &str, hash: &str) -> Option<Vec<ToolDefinition>> {
        let text = read_regular_text(&self.file(hash)?, LARGEST).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        let tools = value["tools"].as_array()?;
        tools.iter().map(|tool| ToolDefinition::of(server, tool).ok()).collect()
    }

    /// What cannot be kept is listed again by the next run.
    pub(crate) fn write(&self, hash: &str, tools: &[ToolDefinition]) {
        let Some(file) = self.file(hash) else { return };
        let tools: Vec<Value> = tools.iter().map(ToolDefinition::to_json).collect();
        let text = json!({"tools": tools}).to_string();
        if read_regular_text(&file, LARGEST).ok().as_deref() != Some(&text) {
            drop(replace_file(&file, &text, 0o600));
        }
    }
}
