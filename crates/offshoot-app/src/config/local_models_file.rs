//! The models that servers on this machine were found to have, in the cache folder. Asks no server.

use std::io;
use std::path::PathBuf;

use offshoot_agent::model::LocalModels;
use offshoot_session::medium::{read_regular_text, replace_file};

use super::Environment;

/// A larger file is not one that this program wrote.
const LIMIT: u64 = 4 << 20;

fn file(environment: &Environment) -> Option<PathBuf> {
    environment.cache.as_ref().map(|cache| cache.join("local-models.json"))
}

/// What was found, each server once; nothing if it cannot be read.
pub fn known(environment: &Environment) -> Vec<LocalModels> {
    let text = file(environment).and_then(|path| read_regular_text(&path, LIMIT).ok()).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Remembers what was found. Servers that did not answer keep what they had: they may only be switched off.
///
/// # Errors
/// The file cannot be written.
pub fn remember(environment: &Environment, found: &[LocalModels]) -> io::Result<()> {
    let Some(path) = file(environment).filter(|_| !found.is_empty()) else { return Ok(()) };
    let mut all = known(environment);
    all.retain(|known| found.iter().all(|found| found.server != known.server));
    all.extend(found.iter().cloned());
    all.sort_by_key(|known| known.server);
    replace_file(&path, &serde_json::to_string(&all)?, 0o600)
}
