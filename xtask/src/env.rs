//! The only file of the house's tools that reads the environment: arguments, variables, the place of the
//! repository.

#![expect(clippy::disallowed_methods, reason = "the one place of the tools that reads the environment")]

use std::path::{Path, PathBuf};

/// The arguments after the program's name.
pub fn args() -> Vec<String> {
    std::env::args().skip(1).collect()
}

/// A variable that is set and not empty.
pub fn var(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The root folder of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// The cargo that started us, or the one on the path.
pub fn cargo() -> String {
    var("CARGO").unwrap_or_else(|| "cargo".to_owned())
}

/// The running program itself.
pub fn this_program() -> std::io::Result<PathBuf> {
    std::env::current_exe()
}

/// Where disposable files of this user go.
pub fn cache_home() -> Option<PathBuf> {
    var("XDG_CACHE_HOME").map(PathBuf::from).or_else(|| Some(PathBuf::from(var("HOME")?).join(".cache")))
}
