//! The tools and the era of servers, and whether they have resources, as an earlier run has found them, so that a session declares the same tools at once, and no server is
//! asked again for what it does not know. Disposable.

use std::path::{Path, PathBuf};

use offshoot_session::medium::{read_regular_text, replace_file};
use serde_json::{Value, json};

use crate::definition::ToolDefinition;
use crate::era::Era;

/// Larger files are not read.
const LARGEST: u64 = 32 << 20;

/// What an earlier run has found out about a server.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct KnownServer {
    pub(crate) tools: Vec<ToolDefinition>,
    pub(crate) era: Option<Era>,
    /// Its tools for resources are declared at once, too.
    pub(crate) has_resources: bool,
}

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

    /// What is known of the server whose entry has this hash.
    pub(crate) fn read(&self, server: &str, hash: &str) -> Option<KnownServer> {
        let text = read_regular_text(&self.file(hash)?, LARGEST).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        let tools = value["tools"].as_array()?;
        let tools = tools.iter().map(|tool| ToolDefinition::of(server, tool).ok()).collect::<Option<_>>()?;
        let has_resources = value["resources"].as_bool().unwrap_or_default();
        Some(KnownServer { tools, era: value["era"].as_str().and_then(Era::parse), has_resources })
    }

    /// What cannot be kept is listed again by the next run.
    pub(crate) fn write(&self, hash: &str, known: &KnownServer) {
        let Some(file) = self.file(hash) else { return };
        let KnownServer { tools, era, has_resources } = known;
        let tools: Vec<Value> = tools.iter().map(ToolDefinition::to_json).collect();
        let text = json!({"tools": tools, "era": era.map(Era::as_str), "resources": has_resources}).to_string();
        if read_regular_text(&file, LARGEST).ok().as_deref() != Some(&text) {
            drop(replace_file(&file, &text, 0o600));
        }
    }
}
