//! The options that extensions have registered, kept from the last time that they were loaded: the command line is read before.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use offshoot_protocol::{PeerFolder, project_folders};
use offshoot_session::medium::{read_regular_text, replace_file};
use serde::{Deserialize, Serialize};

use crate::config::Environment;
use crate::config::settings::peer_folders;
use crate::trust::extension_places;

const LIMIT: u64 = 1 << 20;

/// An option of an extension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownFlag {
    /// Without its dashes.
    pub name: String,
    /// What `--help` says of it.
    #[serde(default)]
    pub description: String,
    /// `boolean` or `string`.
    #[serde(default)]
    pub kind: String,
}

/// By the file of their extension.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownFlags {
    flags: BTreeMap<PathBuf, Vec<KnownFlag>>,
    /// Whether an extension may be there that has not been loaded yet.
    pub may_be_new: bool,
}

fn file(environment: &Environment) -> Option<PathBuf> {
    environment.cache.as_ref().map(|cache| cache.join("extension-flags.json"))
}

/// What cannot be read is reported where the settings are read.
fn lists_extensions(settings: &Path) -> bool {
    let text = read_regular_text(settings, LIMIT).unwrap_or_default();
    let settings: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    ["extensions", "hooks", "packages"].iter().any(|key| settings[*key].as_array().is_some_and(|list| !list.is_empty()))
}

impl KnownFlags {
    /// Reads what was kept; nothing if it cannot be read.
    pub fn read(environment: &Environment) -> Self {
        let Some(path) = file(environment) else { return Self::default() };
        let text = read_regular_text(&path, LIMIT).unwrap_or_default();
        let flags = serde_json::from_str(&text).unwrap_or_default();
        let changed = |path: &Path| fs::metadata(path).and_then(|data| data.modified()).ok();
        let since = changed(&path);
        let own = environment.data.iter().map(|data| (None, data.clone()));
        let peers = peer_folders(environment).into_iter().map(|PeerFolder { peer, path }| (Some(peer), path));
        let bases: Vec<_> = own.chain(peers).chain(project_folders(&environment.cwd)).collect();
        let mut places = bases.iter().flat_map(|(peer, base)| extension_places(*peer, base)).map(|(place, _)| place);
        let is_newer = |path: &Path| changed(path).is_some_and(|at| since.is_none_or(|since| at > since));
        let has_newer =
            |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().any(|file| is_newer(&file.path()));
        // Settings may list others, elsewhere.
        let mut lists = bases.iter().map(|(_, base)| base.join("settings.json"));
        let may_be_new = places.any(|place| is_newer(&place) || has_newer(&place))
            || lists.any(|settings| is_newer(&settings) && lists_extensions(&settings));
        Self { flags, may_be_new }
    }

    /// The option of this name.
    pub fn get(&self, name: &str) -> Option<&KnownFlag> {
        self.all().find(|(_, flag)| flag.name == name).map(|(_, flag)| flag)
    }

    /// All options, each with the extension that has it.
    pub fn all(&self) -> impl Iterator<Item = (&Path, &KnownFlag)> {
        self.flags.iter().flat_map(|(path, flags)| flags.iter().map(move |flag| (path.as_path(), flag)))
    }

    /// Keeps the options of loaded extensions, in place of those that they had.
    pub fn keep(environment: &Environment, loaded: Vec<(PathBuf, Vec<KnownFlag>)>) {
        let Some(path) = file(environment) else { return };
        let Self { mut flags, .. } = Self::read(environment);
        flags.extend(loaded);
        flags.retain(|path, flags| !flags.is_empty() && path.exists());
        // Without the file the next command line is read without them.
        drop(serde_json::to_string(&flags).map(|text| replace_file(&path, &text, 0o600)));
    }
}
