//! The only file of xtask that reads the environment: arguments, variables, the place of the
//! repository.

use std::path::{Path, PathBuf};

/// The arguments after the program's name.
pub(crate) fn args() -> Vec<String> {
    std::env::args().skip(1).collect()
}

/// A variable that is set and not empty.
#[expect(clippy::disallowed_methods, reason = "the one place of xtask that reads variables")]
pub(crate) fn var(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The root folder of the repository.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// The cargo that started us, or the one on the path.
pub(crate) fn cargo() -> String {
    var("CARGO").unwrap_or_else(|| "cargo".to_owned())
}

/// The running program itself.
pub(crate) fn this_program() -> std::io::Result<PathBuf> {
    std::env::current_exe()
}

/// Where disposable files of this user go.
pub(crate) fn cache_home() -> Option<PathBuf> {
    var("XDG_CACHE_HOME").map(PathBuf::from).or_else(|| Some(PathBuf::from(var("HOME")?).join(".cache")))
}
