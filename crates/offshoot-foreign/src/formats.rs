//! Where each agent keeps its sessions, and how a store of sessions finds and opens them.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use offshoot_session::error::Result;
use offshoot_session::json::Json;
use offshoot_session::medium::{Stamp, read_regular_text};
use offshoot_session::session::{Options, Session};
use offshoot_session::store::{Flavour, ForeignFolder, ForeignFormat, Root};

use crate::agent::Agent;
use crate::aider;
use crate::below::{below, folder_of};
use crate::codex::files::{rollouts, thread_of};
use crate::cursor::store;
use crate::kept_copy::{KeptSource, MANIFEST, is_source_gone};
use crate::old_json;
use crate::opening::open_of;
use crate::rows;
use crate::sources::id_of;
use crate::started;

const OF_AGENTS: [ForeignFormat; 9] = [
    ForeignFormat {
        word: "claude",
        folders: claude_folders,
        started: claude_started,
        open: |path, options| open(Agent::Claude, path, options),
    },
    ForeignFormat {
        word: "codex",
        folders: codex_folders,
        started: started::nothing,
        open: |path, options| open(Agent::Codex, path, options),
    },
    ForeignFormat {
        word: "opencode",
        folders: opencode_folders,
        started: opencode_started,
        open: |path, options| open(Agent::Opencode, path, options),
    },
    ForeignFormat {
        word: "gemini",
        folders: gemini_folders,
        started: gemini_started,
        open: |path, options| open(Agent::Gemini, path, options),
    },
    ForeignFormat {
        word: "goose",
        folders: goose_folders,
        started: started::nothing,
        open: |path, options| open(Agent::Goose, path, options),
    },
    ForeignFormat {
        word: "crush",
        folders: crush_folders,
        started: crush_started,
        open: |path, options| open(Agent::Crush, path, options),
    },
    ForeignFormat {
        word: "copilot",
        folders: copilot_folders,
        started: started::nothing,
        open: |path, options| open(Agent::Copilot, path, options),
    },
    ForeignFormat {
        word: "cursor",
        folders: cursor_folders,
        started: started::nothing,
        open: |path, options| open(Agent::Cursor, path, options),
    },
    ForeignFormat {
        word: "aider",
        folders: aider_folders,
        started: started::nothing,
        open: |path, options| open(Agent::Aider, path, options),
    },
];

static FORMATS: [ForeignFormat; 9] = OF_AGENTS;

/// The same for copies of sessions whose sources are gone.
static KEPT: [ForeignFormat; 9] = {
    let [a, b, c, d, e, f, g, h, i] = OF_AGENTS;
    [kept(&a), kept(&b), kept(&c), kept(&d), kept(&e), kept(&f), kept(&g), kept(&h), kept(&i)]
};

const fn kept(format: &ForeignFormat) -> ForeignFormat {
    let started = |root: &Path, _: Option<&str>| started::of_copies(root);
    ForeignFormat { word: format.word, folders: kept_folders, started, open: format.open }
}

/// The id of what is listed of a store that cannot be read: opening it says why.
const UNREADABLE: &str = "unreadable";

impl Agent {
    /// How its sessions are found and read.
    #[must_use]
    pub fn format(self) -> &'static ForeignFormat {
        FORMATS.iter().find(|format| format.word == self.word()).unwrap_or(&FORMATS[0])
    }

    /// The name of Claude Code's folder for the transcripts of a working directory.
    #[must_use]
    pub fn claude_folder_name(cwd: &str) -> String {
        claude_name(cwd)
    }

    /// The id of a session, which its path says; of Gemini CLI only its start.
    #[must_use]
    pub fn id_of(self, path: &Path) -> Option<String> {
        id_of(self, path)
    }

    /// The agent's own folder as a root of sessions.
    #[must_use]
    pub fn root(self, folder: PathBuf) -> Root {
        Root::new(folder, Flavour::Foreign(self.format()))
    }

    /// The copies of the agent's sessions in an archive as a root of sessions: those whose sources are gone.
    #[must_use]
    pub fn kept_root(self, archive: &Path) -> Root {
        let format = KEPT.iter().find(|format| format.word == self.word()).unwrap_or(&KEPT[0]);
        Root::new(archive.join(self.word()), Flavour::Foreign(format))
    }

    /// Whether a root is one of copies.
    #[must_use]
    pub fn is_kept_root(root: &Root) -> bool {
        root.format().is_some_and(|format| KEPT.iter().any(|kept| std::ptr::eq(kept, format)))
    }

    /// The agent's own folder: a variable may name another one.
    #[must_use]
    pub fn folder(self, home: Option<&Path>, variable: &dyn Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
        let in_home = |name: &str| home.map(|home| home.join(name));
        let data = || variable("XDG_DATA_HOME").or_else(|| in_home(".local/share"));
        match self {
            Self::Claude => variable("CLAUDE_CONFIG_DIR").or_else(|| in_home(".claude")),
            Self::Codex => variable("CODEX_HOME").or_else(|| in_home(".codex")),
            Self::Opencode => data().map(|data| data.join("opencode")),
            Self::Gemini => variable("GEMINI_CLI_HOME").map(|home| home.join(".gemini")).or_else(|| in_home(".gemini")),
            Self::Goose => {
                variable("GOOSE_PATH_ROOT").map(|root| root.join("data")).or_else(|| Some(data()?.join("goose")))
            }
            Self::Crush => data().map(|data| data.join("crush")),
            Self::Copilot => in_home(".copilot"),
            Self::Cursor => variable("CURSOR_CONFIG_DIR").or_else(|| in_home(".cursor")),
            Self::Aider => in_home(".aider"),
        }
    }
}

fn open(agent: Agent, path: &Path, options: Options) -> Result<Session> {
    Ok(open_of(agent, path, options)?.session)
}

/// Folders of transcripts are named after working directories.
fn claude_folders(root: &Path, cwd: Option<&str>) -> Vec<ForeignFolder> {
    let is_transcript = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "jsonl");
    let found = |folder: PathBuf| {
        let mut files = below(&folder, std::fs::FileType::is_file);
        files.retain(is_transcript);
        folder_of(folder, files)
    };
    claude_projects(root, cwd).into_iter().map(found).collect()
}

fn claude_projects(root: &Path, cwd: Option<&str>) -> Vec<PathBuf> {
    let projects = root.join("projects");
    match cwd {
        Some(cwd) => vec![projects.join(claude_name(cwd))],
        None => below(&projects, std::fs::FileType::is_dir),
    }
}

fn claude_started(root: &Path, cwd: Option<&str>) -> Vec<ForeignFolder> {
    started::of_claude(&claude_projects(root, cwd))
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

/// One store, or one for each channel.
fn opencode_folders(root: &Path, _: Option<&str>) -> Vec<ForeignFolder> {
    let stores = opencode_stores(root).into_iter().map(|store| store_folder(Agent::Opencode, store));
    let old = folder_of(root.join("storage/session"), old_json::opencode_files(root));
    stores.chain([old].into_iter().filter(|old| !old.files.is_empty())).collect()
}

fn opencode_stores(root: &Path) -> Vec<PathBuf> {
    let is_store = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name == "opencode.db" || (name.starts_with("opencode-") && name.ends_with(".db"))
    };
    let mut stores = below(root, std::fs::FileType::is_file);
    stores.retain(is_store);
    stores
}

fn opencode_started(root: &Path, _: Option<&str>) -> Vec<ForeignFolder> {
    started::of_stores(Agent::Opencode, opencode_stores(root))
}

/// A store as a folder of its sessions.
fn store_folder(agent: Agent, store: PathBuf) -> ForeignFolder {
    let stamp = rows::stamp_of(&store);
    let ids = rows::ids_of(agent, &store).unwrap_or_else(|_| vec![UNREADABLE.to_owned()]);
    let files = ids.into_iter().map(|id| (store.join(id), stamp)).collect();
    ForeignFolder { path: store, files }
}

/// Logs lie in a folder for each project.
fn gemini_folders(root: &Path, _: Option<&str>) -> Vec<ForeignFolder> {
    let is_log = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.starts_with("session-") && (name.ends_with(".jsonl") || name.ends_with(".json"))
    };
    let chats = gemini_chats(root).into_iter();
    chats
        .map(|chats| {
            let mut files = below(&chats, std::fs::FileType::is_file);
            files.retain(is_log);
            folder_of(chats, files)
        })
        .collect()
}

fn gemini_chats(root: &Path) -> Vec<PathBuf> {
    below(&root.join("tmp"), std::fs::FileType::is_dir).into_iter().map(|project| project.join("chats")).collect()
}

fn gemini_started(root: &Path, _: Option<&str>) -> Vec<ForeignFolder> {
    started::of_gemini(&gemini_chats(root))
}

/// A store, and the files of older versions beside it.
fn goose_folders(root: &Path, _: Option<&str>) -> Vec<ForeignFolder> {
    let folder = root.join("sessions");
    let mut files = below(&folder, std::fs::FileType::is_file);
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    let store = folder.join("sessions.db");
    let stored = store.is_file().then(|| store_folder(Agent::Goose, store));
    stored.into_iter().chain([folder_of(folder, files)]).collect()
}

/// A store in each project. Crush has a list of them.
fn crush_folders(root: &Path, cwd: Option<&str>) -> Vec<ForeignFolder> {
    crush_stores(root, cwd).into_iter().map(|store| store_folder(Agent::Crush, store)).collect()
}

fn crush_started(root: &Path, cwd: Option<&str>) -> Vec<ForeignFolder> {
    started::of_stores(Agent::Crush, crush_stores(root, cwd))
}

fn crush_stores(root: &Path, cwd: Option<&str>) -> Vec<PathBuf> {
    let mut stores = match cwd {
        Some(cwd) => vec![Path::new(cwd).join(".crush/crush.db")],
        None => known_crush_stores(root),
    };
    stores.retain(|store| store.is_file());
    stores
}

/// The stores of all projects that Crush knows.
fn known_crush_stores(root: &Path) -> Vec<PathBuf> {
    const LARGEST: u64 = 4 << 20;
    const MOST: usize = 10_000;
    let text = read_regular_text(&root.join("projects.json"), LARGEST).unwrap_or_default();
    let projects = Json::parse(&text).ok().and_then(|json| json.get("projects")).unwrap_or(Json::NULL);
    let store = |project: Json<'_>| {
        let data = project.str("data_dir").map(|data| PathBuf::from(data.as_ref()));
        let data = data.or_else(|| Some(Path::new(project.str("path")?.as_ref()).join(".crush")))?;
        data.is_absolute().then(|| data.join("crush.db"))
    };
    let mut stores: Vec<PathBuf> = projects.items().take(MOST).filter_map(store).collect();
    stores.sort();
    stores.dedup();
    stores
}

fn copilot_folders(root: &Path, _: Option<&str>) -> Vec<ForeignFolder> {
    let sessions = below(&root.join("session-state"), std::fs::FileType::is_dir).into_iter();
    sessions
        .map(|folder| {
            let file = folder.join("events.jsonl");
            let files = if file.is_file() { vec![file] } else { Vec::new() };
            folder_of(folder, files)
        })
        .collect()
}

/// Each chat has a store in a folder for its working directory. Transcripts lie in a folder for each project, and count where there is no
/// store; those of older versions are text.
fn cursor_folders(root: &Path, cwd: Option<&str>) -> Vec<ForeignFolder> {
    let chats = below(&root.join("chats"), std::fs::FileType::is_dir).into_iter();
    let chats = chats.flat_map(|folder| below(&folder, std::fs::FileType::is_dir)).map(|chat| chat.join("store.db"));
    let stores: Vec<PathBuf> = chats.filter(|store| store.is_file()).collect();
    let has_store: HashSet<String> = stores.iter().filter_map(|store| store::id_of(store)).collect();
    let is_here = |store: &PathBuf| cwd.is_none_or(|cwd| store::cwd_of(store).is_none_or(|own| own == cwd));
    let stored = stores.into_iter().filter(is_here).map(|store| store_folder(Agent::Cursor, store));
    let projects = root.join("projects");
    let projects = match cwd {
        Some(cwd) => vec![projects.join(claude_name(cwd.trim_start_matches('/')))],
        None => below(&projects, std::fs::FileType::is_dir),
    };
    let ends = |file: &PathBuf, end: &str| file.extension().is_some_and(|extension| extension == end);
    let is_alone = |file: &PathBuf| file.file_stem().is_none_or(|stem| !has_store.contains(&*stem.to_string_lossy()));
    let transcripts = projects.into_iter().flat_map(|project| {
        let folder = project.join("agent-transcripts");
        let mut old = below(&folder, std::fs::FileType::is_file);
        old.retain(|file| ends(file, "txt") && is_alone(file));
        let chats = below(&folder, std::fs::FileType::is_dir).into_iter().map(|chat| {
            let mut files = below(&chat, std::fs::FileType::is_file);
            files.retain(|file| ends(file, "jsonl") && is_alone(file));
            folder_of(chat, files)
        });
        chats.chain([folder_of(folder, old)]).filter(|folder| !folder.files.is_empty()).collect::<Vec<_>>()
    });
    stored.chain(transcripts).collect()
}

/// The history of a working directory, with its runs.
fn aider_folders(_: &Path, cwd: Option<&str>) -> Vec<ForeignFolder> {
    let history = cwd.map(|cwd| Path::new(cwd).join(aider::HISTORY)).filter(|history| history.is_file());
    let runs = |history: PathBuf| {
        let stamp = std::fs::metadata(&history).ok().map(|meta| Stamp::of(&meta));
        let ids = aider::ids_of(&history).unwrap_or_else(|_| vec![aider::UNREADABLE.to_owned()]);
        let files = ids.into_iter().map(|id| (history.join(id), stamp)).collect();
        ForeignFolder { path: history, files }
    };
    history.into_iter().map(runs).collect()
}

/// The copies in the folder of an agent whose sources are gone. A session that is there is read where it is.
fn kept_folders(root: &Path, _: Option<&str>) -> Vec<ForeignFolder> {
    let copies = below(root, std::fs::FileType::is_dir).into_iter();
    let gone =
        copies.filter(|copy| KeptSource::at(&copy.join(MANIFEST)).is_some_and(|kept| is_source_gone(&kept.source)));
    gone.map(|copy| folder_of(copy.clone(), vec![copy.join(MANIFEST)])).collect()
}
