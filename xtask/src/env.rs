//! The only file of the tools that reads the environment.

#![expect(clippy::disallowed_methods, reason = "the one place of the tools that reads the environment")]

use std::path::{Path, PathBuf};

pub fn args() -> Vec<String> {
    std::env::args().skip(1).collect()
}

/// A variable that is set and not empty.
pub fn var(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// The cargo that started this program, or the one on `PATH`.
pub fn cargo() -> String {
    var("CARGO").unwrap_or_else(|| "cargo".to_owned())
}

pub fn this_program() -> std::io::Result<PathBuf> {
    std::env::current_exe()
}

pub fn cache_home() -> Option<PathBuf> {
    var("XDG_CACHE_HOME").map(PathBuf::from).or_else(|| Some(PathBuf::from(var("HOME")?).join(".cache")))
}
