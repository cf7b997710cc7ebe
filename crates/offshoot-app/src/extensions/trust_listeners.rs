//! Which extensions decide about the trust of projects, kept from the last time that they were loaded: those that do not need
//! not be loaded before the first frame.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use offshoot_extensions::contract::{ExtensionSource, LoadedExtension};
use offshoot_session::medium::{read_regular_text, replace_file};
use serde::{Deserialize, Serialize};

use crate::config::Environment;

const LIMIT: u64 = 1 << 20;

/// What was seen of a file when it was loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    bytes: u64,
    /// In milliseconds.
    changed: u64,
    decides: bool,
}

/// By the files of extensions.
#[derive(Debug, Default)]
pub struct TrustListeners(BTreeMap<PathBuf, Seen>);

fn file(environment: &Environment) -> Option<PathBuf> {
    environment.cache.as_ref().map(|cache| cache.join("extension-trust.json"))
}

fn seen(path: &Path, decides: bool) -> Option<Seen> {
    let data = fs::metadata(path).ok()?;
    let changed = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?.as_millis();
    Some(Seen { bytes: data.len(), changed: u64::try_from(changed).ok()?, decides })
}

impl TrustListeners {
    /// Reads what was kept; nothing if it cannot be read.
    pub fn read(environment: &Environment) -> Self {
        let text = file(environment).and_then(|path| read_regular_text(&path, LIMIT).ok()).unwrap_or_default();
        Self(serde_json::from_str(&text).unwrap_or_default())
    }

    /// Whether one of them decides, or has not been loaded as it is now.
    pub fn may_have_one(&self, sources: &[ExtensionSource]) -> bool {
        sources.iter().any(|source| {
            self.0.get(&source.path).is_none_or(|known| seen(&source.path, false).as_ref() != Some(known))
        })
    }

    /// Keeps what was loaded. Without the file the extensions are loaded once more than needed.
    pub fn keep(environment: &Environment, extensions: &[(ExtensionSource, LoadedExtension)]) {
        let Some(path) = file(environment) else { return };
        let Self(mut all) = Self::read(environment);
        for (source, loaded) in extensions.iter().filter(|(_, loaded)| loaded.error.is_none()) {
            let decides = loaded.handlers.iter().any(|handler| handler.event == "project_trust");
            all.extend(seen(&source.path, decides).map(|seen| (source.path.clone(), seen)));
        }
        all.retain(|path, _| path.exists());
        drop(serde_json::to_string(&all).map(|text| replace_file(&path, &text, 0o600)));
    }
}
