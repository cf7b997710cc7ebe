//! The program, its inputs, and a home folder with a model that is never asked.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use portable_pty::CommandBuilder;

use super::terminal::Terminal;

/// A conversation needs a known model; no request is sent to this one.
pub(super) const MODELS: &str = r#"{"providers": {"none": {"baseUrl": "http://127.0.0.1:9", "api": "anthropic-messages",
    "apiKey": "none", "models": [{"id": "m1", "contextWindow": 200000, "maxTokens": 8000, "reasoning": true,
    "cost": {"input": 3, "output": 15, "cacheRead": 0, "cacheWrite": 0}, "input": ["text", "image"]}]}}}
"#;

pub(super) struct Stage {
    pub(super) binary: PathBuf,
    pub(super) scratch: PathBuf,
    pub(super) project: PathBuf,
    pub(super) fifty: PathBuf,
    pub(super) hundred: PathBuf,
    pub(super) million: PathBuf,
    pub(super) crowd: PathBuf,
    pub(super) archive: PathBuf,
}

impl Stage {
    pub(super) fn fresh_home(&self) -> Result<Home<'_>> {
        let home = Home { stage: self, path: self.scratch.join("home") };
        if home.path.exists() {
            fs::remove_dir_all(&home.path)?;
        }
        let data = home.path.join("data");
        fs::create_dir_all(&data)?;
        let models = data.join("models.json");
        #[expect(clippy::disallowed_methods, reason = "a scratch file")]
        fs::write(&models, MODELS).with_context(|| models.display().to_string())?;
        Ok(home)
    }
}

pub(super) struct Home<'a> {
    stage: &'a Stage,
    path: PathBuf,
}

impl Home<'_> {
    pub(super) fn run(&self, arguments: &[&Path]) -> Result<Terminal> {
        let mut command = CommandBuilder::new(&self.stage.binary);
        command.args(arguments);
        command.cwd(&self.stage.project);
        command.env_clear();
        command.env("HOME", &self.path);
        command.env("OFFSHOOT_HOME", self.path.join("data"));
        command.env("XDG_CACHE_HOME", self.path.join("cache"));
        command.env("XDG_STATE_HOME", self.path.join("state"));
        command.env("TERM", "xterm-256color");
        command.env("COLORTERM", "truecolor");
        Terminal::start(command)
    }

    /// Removes the caches: side indexes and the catalogue.
    pub(super) fn forget(&self) -> Result<()> {
        let caches = self.path.join("cache");
        fs::remove_dir_all(&caches).with_context(|| format!("cannot remove {}", caches.display()))
    }
}
