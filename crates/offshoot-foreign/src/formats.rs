//! Where each agent keeps its sessions, and how a store of sessions finds and opens them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use offshoot_session::error::{Error, Result};
use offshoot_session::medium::Stamp;
use offshoot_session::session::{Options, Session};
use offshoot_session::store::{Flavour, ForeignFolder, ForeignFormat, Root};

use crate::agent::Agent;
use crate::codex::files::{rollouts, thread_of};
use crate::opening::open_foreign;

static CLAUDE: ForeignFormat = ForeignFormat { word: "claude", folders: claude_folders, open };
static CODEX: ForeignFormat = ForeignFormat { word: "codex", folders: codex_folders, open };

impl Agent {
    /// How its sessions are found and read.
    #[must_use]
    pub fn format(self) -> &'static ForeignFormat {
        match self {
            Self::Claude => &CLAUDE,
            Self::Codex => &CODEX,
        }
    }

    /// The id of a session, which the name of its file says.
    #[must_use]
    pub fn id_of(self, path: &Path) -> Option<String> {
        match self {
            Self::Claude => path.file_stem()?.to_str().map(str::to_owned),
            Self::Codex => thread_of(path),
        }
    }

    /// The agent's own folder as a root of sessions.
    #[must_use]
    pub fn root(self, folder: PathBuf) -> Root {
        Root::new(folder, Flavour::Foreign(self.format()))
    }

    /// The agent's folder in a home directory, if no variable names another.
    #[must_use]
    pub fn usual_folder(self, home: &Path) -> PathBuf {
        match self {
            Self::Claude => home.join(".claude"),
            Self::Codex => home.join(".codex"),
        }
    }

    /// The variable that names another folder.
    #[must_use]
    pub fn variable(self) -> &'static str {
        match self {
            Self::Claude => "CLAUDE_CONFIG_DIR",
            Self::Codex => "CODEX_HOME",
        }
    }
}

fn open(path: &Path, options: Options) -> Result<Session> {
    match open_foreign(path, || options)? {
        Some(foreign) => Ok(foreign.session),
        None => Err(Error::NotASession {
            path: path.to_path_buf(),
            line: 1,
            offset: 0,
            why: "the first records are those of no agent that is known here",
        }),
    }
}

/// Folders of transcripts are named after working directories.
fn claude_folders(root: &Path, cwd: Option<&str>) -> Vec<ForeignFolder> {
    let projects = root.join("projects");
    let folders = match cwd {
        Some(cwd) => vec![projects.join(claude_name(cwd))],
        None => below(&projects, std::fs::FileType::is_dir),
    };
    let is_transcript = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "jsonl");
    let found = |folder: PathBuf| {
        let mut files = below(&folder, std::fs::FileType::is_file);
        files.retain(is_transcript);
        folder_of(folder, files)
    };
    folders.into_iter().map(found).collect()
}

/// Every character but letters and digits is a hyphen.
pub(crate) fn claude_name(cwd: &str) -> String {
    cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// Rollouts lie in folders by date, so every one may be of a working directory.
fn codex_folders(root: &Path, _: Option<&str>) -> Vec<ForeignFolder> {
    let mut folders: Vec<ForeignFolder> = Vec::new();
    let mut files: Vec<PathBuf> = Vec::new();
    for file in newest(rollouts(root)) {
        if files.first().is_some_and(|first| first.parent() != file.parent()) {
            folders.extend(group(&mut files));
        }
        files.push(file);
    }
    folders.extend(group(&mut files));
    folders
}

/// The newest rollout of each thread: one that was reverted has several.
fn newest(files: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut newest: HashMap<String, PathBuf> = HashMap::new();
    for file in files {
        let Some(thread) = thread_of(&file) else { continue };
        let known = newest.entry(thread).or_insert_with(|| file.clone());
        // Names begin with the time.
        if known.file_name() < file.file_name() {
            *known = file;
        }
    }
    let mut files: Vec<PathBuf> = newest.into_values().collect();
    files.sort();
    files
}

fn group(files: &mut Vec<PathBuf>) -> Option<ForeignFolder> {
    let folder = files.first()?.parent()?.to_path_buf();
    Some(folder_of(folder, std::mem::take(files)))
}

fn folder_of(path: PathBuf, files: Vec<PathBuf>) -> ForeignFolder {
    let stamped = |file: PathBuf| {
        let stamp = std::fs::symlink_metadata(&file).ok().map(|meta| Stamp::of(&meta));
        (file, stamp)
    };
    ForeignFolder { files: files.into_iter().map(stamped).collect(), path }
}

/// What lies in a folder, sorted. Links are not followed.
fn below(folder: &Path, kind: fn(&std::fs::FileType) -> bool) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let fitting = entries.filter(|entry| entry.file_type().is_ok_and(|found| kind(&found)));
    let mut paths: Vec<PathBuf> = fitting.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}
