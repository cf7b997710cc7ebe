//! Whether a project's files may have an effect: the command line decides, else the user's answer, else the user's
//! settings. What asks the user is the front end's.

use std::path::{Path, PathBuf};

use offshoot_agent::resources::of_project;
use offshoot_extensions::contract::ExtensionKind;
use offshoot_packages::contents::extensions;
use offshoot_protocol::{Peer, project_folders};
use offshoot_settings::{ProjectTrust, Settings};

use crate::config::mcp_files::COMMON_FILE;
use crate::config::settings::SettingsFiles;
use crate::config::trust_file::{TrustFile, real};

/// The decision for this run of the program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum RunTrust {
    /// Nobody has decided in this run.
    #[default]
    Undecided,
    /// `--trust` or `--no-trust`.
    EveryFolder(bool),
    /// The user was asked about a folder, or an extension has decided.
    Decided {
        /// Its real path.
        folder: PathBuf,
        /// The decision.
        is_trusted: bool,
        /// The answer that was kept then.
        stored: Option<bool>,
    },
}

/// Whether a folder's files may have an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// They may.
    Given,
    /// They may not.
    Refused,
    /// Nobody has decided yet.
    Unasked,
}

/// Names in a project's folders of offshoot and pi that count only in trusted folders, beside extensions and resources.
const GUARDED: [&str; 3] = ["settings.json", "themes", "mcp.json"];
/// The same of oh-my-pi.
const GUARDED_OF_OMP: [&str; 5] = ["AGENTS.md", "themes", "config.yml", "config.yaml", "settings.json"];

/// The folders of scripts in a folder of settings, and what the scripts are.
pub fn extension_places(peer: Option<Peer>, base: &Path) -> Vec<(PathBuf, ExtensionKind)> {
    let extensions = (base.join("extensions"), ExtensionKind::Extension);
    let tools = (base.join("tools"), ExtensionKind::Tool);
    let hooks = |names: &[&str]| names.iter().map(|name| (base.join(name), ExtensionKind::Hook)).collect::<Vec<_>>();
    let hooks = match peer {
        None | Some(Peer::Pi) => hooks(&["hooks"]),
        Some(Peer::Omp) => hooks(&["hooks/pre", "hooks/post"]),
    };
    std::iter::once(extensions).chain(hooks).chain([tools]).collect()
}

/// The project's folders of extensions, hooks and tools that have any.
pub fn extension_folders(folder: &Path) -> Vec<PathBuf> {
    let all = project_folders(folder).into_iter().flat_map(|(peer, base)| extension_places(peer, &base));
    all.map(|(place, _)| place).filter(|place| !extensions(place).is_empty()).collect()
}

/// Whether a folder has files that count only if it is trusted.
pub fn has_trusted_files(folder: &Path, home: Option<&Path>) -> bool {
    let is_guarded = |(peer, base): &(Option<Peer>, PathBuf)| match peer {
        None | Some(Peer::Pi) => GUARDED.iter().any(|name| base.join(name).exists()),
        Some(Peer::Omp) => GUARDED_OF_OMP.iter().any(|name| base.join(name).exists()),
    };
    project_folders(folder).iter().any(is_guarded)
        || folder.join(COMMON_FILE).exists()
        || !extension_folders(folder).is_empty()
        || !of_project(folder, home).is_empty()
}

impl RunTrust {
    /// Whether a folder is trusted, and why the stored answers cannot be read, if so. `data` is the data folder.
    pub fn of(&self, data: Option<&Path>, folder: &Path) -> (Trust, Option<String>) {
        let decided = |is_trusted: bool| if is_trusted { Trust::Given } else { Trust::Refused };
        match self {
            Self::EveryFolder(is_trusted) => return (decided(*is_trusted), None),
            // An answer that was kept since is the newer one.
            Self::Decided { folder: asked, is_trusted, stored } if *asked == real(folder) => {
                let kept = data.and_then(|data| TrustFile::of(data).answer(folder).ok().flatten());
                return (decided(kept.filter(|_| kept != *stored).unwrap_or(*is_trusted)), None);
            }
            Self::Decided { .. } | Self::Undecided => {}
        }
        let Some(data) = data else { return (Trust::Unasked, None) };
        match TrustFile::of(data).answer(folder) {
            Ok(Some(is_trusted)) => (decided(is_trusted), None),
            Ok(None) => (usual_trust(data, folder), None),
            Err(error) => (Trust::Unasked, Some(error.with_hints_on_one_line())),
        }
    }

    /// The settings files of a folder. A project's file is left out, with its reason, unless the folder is trusted. One
    /// that does not exist may be made.
    pub fn settings_files(&self, data: Option<&Path>, folder: &Path) -> SettingsFiles {
        let files = SettingsFiles::of(data, folder);
        let of_omp = files.existing_omp_project();
        let existing: Vec<PathBuf> =
            files.existing_project().map(Path::to_path_buf).into_iter().chain(of_omp).collect();
        if existing.is_empty() {
            return files;
        }
        let without = |why: &str| {
            let refusals = existing.iter().map(|file| format!("{} is not used: {why}", file.display())).collect();
            files.clone().without_project(refusals)
        };
        match self.of(data, folder) {
            (Trust::Given, _) => files,
            (_, Some(trouble)) => without(&trouble),
            // The user has just said so.
            (Trust::Refused, None) if *self != Self::Undecided => files.without_project(Vec::new()),
            (Trust::Refused, None) => without("you do not trust this folder; --trust uses it this once"),
            (Trust::Unasked, None) => {
                without("this folder is not trusted yet; --trust uses it this once, and `offshoot` on a terminal asks")
            }
        }
    }
}

/// What the user's settings say of folders without an answer. Settings that cannot be read are reported where they are used.
fn usual_trust(data: &Path, folder: &Path) -> Trust {
    let files = SettingsFiles::of(Some(data), folder).without_project(Vec::new());
    match files.load().map(|(layers, _)| Settings::from(&layers).project_trust).unwrap_or_default() {
        ProjectTrust::Always => Trust::Given,
        ProjectTrust::Never => Trust::Refused,
        ProjectTrust::Ask => Trust::Unasked,
    }
}
